"""Mirror maps and their steps, compiled and in NumPy, against finite differences and a general-purpose solver."""

import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

import driftwise as dw
from driftwise._compile import entry
from driftwise._memory import part
from driftwise._validate import Array
from driftwise.errors import InputError, ParameterError
from driftwise.mirror import (
    ENTROPY,
    EUCLIDEAN,
    PNORM_BOX,
    PNORM_SIMPLEX,
    Euclidean,
    MirrorMap,
    NegativeEntropy,
    PNorm,
    entropy_point,
    pnorm_point,
    pnorm_step,
)
from tests.domains.cases import points, powers
from tests.strategies import seeds, vectors

BOX = dw.Box([-1.0, 0.0, 0.5, -2.0], [1.0, 2.0, 1.5, -1.0])
SIMPLEX = dw.Simplex(4, scale=2.0)
EXPONENTS = (1.05, 1.2, 1.5, 2.0)
PAIRS: list[tuple[MirrorMap, dw.Domain, float]] = [
    (Euclidean(), dw.Ball(4, 2.0, [1.0, 0.0, 0.0, 0.0]), 2.0),
    (Euclidean(), SIMPLEX, 2.0),
    (NegativeEntropy(), SIMPLEX, 1.0),
    (NegativeEntropy(), dw.Simplex(4), 1.0),
    *((PNorm(p), domain, p) for p in EXPONENTS for domain in (BOX, SIMPLEX)),
]
MAPS = pytest.mark.parametrize(("mirror", "domain", "exponent"), PAIRS, ids=repr)


def inner_members(domain: dw.Domain, rng: np.random.Generator, count: int) -> Array:
    """Return members away from the relative boundary, where every map is smooth."""
    members = domain.project(3.0 * rng.standard_normal((64, domain.dim)))
    return np.asarray(0.9 * members[:count] + 0.1 * members.mean(axis=0))


@entry
def _pnorm_step(kind: int, p: float, numbers: Array, gradient: Array, eta: float, point: Array, room: Array) -> None:
    place, work = part(point, 0), part(room, 0)
    pnorm_step(kind, p, part(numbers, 0), part(gradient, 0), eta, place, point.size, work)


def compiled(kind: int, p: float, numbers: Array, gradient: Array, eta: float, point: Array) -> Array:
    """Take one p-norm step by machine code, in no more room than it needs."""
    out = point.copy()
    _pnorm_step(kind, p, numbers.copy(), gradient.copy(), eta, out, np.empty(point.size))
    return out


def step(mirror: MirrorMap, domain: dw.Domain, gradient: Array, eta: float, point: Array) -> Array:
    """Take one step from `point`; a p-norm step is taken by machine code."""
    kind = mirror.kind(domain)
    if kind == EUCLIDEAN:
        return domain.project(point - eta * gradient)
    if kind == ENTROPY:
        return entropy_point(np.log(point), gradient, eta, float(domain.numbers[0]))
    return compiled(kind, mirror.exponent, domain.numbers, gradient, eta, point)


@MAPS
@given(seed=seeds)
@settings(max_examples=20)
def test_strongly_convex_in_its_norm(mirror: MirrorMap, domain: dw.Domain, exponent: float, seed: int) -> None:
    x, y = inner_members(domain, np.random.default_rng(seed), 6)[:2]
    divergence = mirror.divergence(x, y, domain)
    assert divergence >= 0.5 * np.linalg.norm(x - y, exponent) ** 2 - 1e-12
    assert mirror.divergence(x, x, domain) == pytest.approx(0.0, abs=1e-12)
    by_definition = mirror.value(x, domain) - mirror.value(y, domain) - mirror.gradient(y, domain) @ (x - y)
    assert divergence == pytest.approx(by_definition, rel=1e-9, abs=1e-9)


@MAPS
def test_gradient_against_differences(mirror: MirrorMap, domain: dw.Domain, exponent: float) -> None:
    h = 1e-6
    for w in inner_members(domain, np.random.default_rng(0), 8):
        if np.abs(w).min() < 0.01:  # a p-norm has no bounded second derivative at 0
            continue
        ahead = [mirror.value(w + h * e, domain) for e in np.eye(domain.dim)]
        behind = [mirror.value(w - h * e, domain) for e in np.eye(domain.dim)]
        differences = (np.array(ahead) - np.array(behind)) / (2 * h)
        np.testing.assert_allclose(mirror.gradient(w, domain), differences, rtol=1e-5, atol=1e-7)


@MAPS
@given(seed=seeds)
@settings(max_examples=20)
def test_radius_bounds_the_divergence_from_the_start(
    mirror: MirrorMap, domain: dw.Domain, exponent: float, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    start = inner_members(domain, rng, 6)[0]
    bound = mirror.radius_squared(domain, start)
    for w in domain.project(10.0 ** rng.uniform(-1, 3, (12, 1)) * rng.standard_normal((12, domain.dim))):
        assert mirror.divergence(w, start, domain) <= bound * (1.0 + 1e-12)


@MAPS
@given(seed=seeds, eta=st.floats(1e-3, 10.0))
@settings(max_examples=15)
def test_step_is_the_minimiser(mirror: MirrorMap, domain: dw.Domain, exponent: float, seed: int, eta: float) -> None:
    rng = np.random.default_rng(seed)
    points = inner_members(domain, rng, 8)
    point, gradient = points[0], rng.standard_normal(domain.dim)

    def objective(w: Array) -> float:
        return float(eta * gradient @ w) + mirror.divergence(w, point, domain)

    best = step(mirror, domain, gradient, eta, point)
    assert domain.contains(best)
    value = objective(best)
    for other in np.concatenate([points, domain.project(best + 0.01 * rng.standard_normal((8, domain.dim)))]):
        for share in (1.0, 0.1, 1e-3):
            assert value <= objective((1.0 - share) * best + share * other) + 1e-12 * (1.0 + abs(value))


@pytest.mark.parametrize("p", [1.2, 1.5, 1.9])
@pytest.mark.parametrize("domain", [BOX, SIMPLEX], ids=repr)
@pytest.mark.parametrize("seed", range(5))
def test_pnorm_step_against_a_solver(p: float, domain: dw.Domain, seed: int) -> None:
    rng = np.random.default_rng(seed)
    mirror, point = PNorm(p), inner_members(domain, rng, 6)[0]
    gradient = rng.standard_normal(domain.dim)

    def objective(w: Array) -> float:
        return float(gradient @ w) + mirror.divergence(w, point, domain)

    simplex = isinstance(domain, dw.Simplex)
    found = minimize(
        objective,
        point,
        method="SLSQP",
        bounds=[(0.0, None)] * domain.dim if simplex else list(zip(BOX.low, BOX.high, strict=True)),
        constraints=[{"type": "eq", "fun": lambda w: w.sum() - SIMPLEX.scale}] if simplex else [],
        options={"ftol": 1e-14, "maxiter": 500},
    )
    ours = step(mirror, domain, gradient, 1.0, point)
    assert objective(ours) <= found.fun + 1e-9
    np.testing.assert_allclose(ours, found.x, atol=2e-4)


@pytest.mark.parametrize("domain", [BOX, SIMPLEX], ids=repr)
@given(gradient=vectors(4, 10.0), seed=seeds)
def test_exponent_two_is_the_euclidean_step(domain: dw.Domain, gradient: Array, seed: int) -> None:
    point = inner_members(domain, np.random.default_rng(seed), 6)[0]
    ours = step(PNorm(2.0), domain, gradient, 0.7, point)
    np.testing.assert_allclose(ours, domain.project(point - 0.7 * gradient), rtol=0.0, atol=1e-12)


@MAPS
@pytest.mark.parametrize("size", [1e-90, 1e90])
@pytest.mark.parametrize("signs", [(1, 1, 1, 1), (-1, 1, -1, 1), (0, 0, 1, 0), (0, 0, -1, 0)])
def test_extreme_gradients_give_finite_members(
    mirror: MirrorMap, domain: dw.Domain, exponent: float, size: float, signs: tuple[int, ...]
) -> None:
    point = inner_members(domain, np.random.default_rng(1), 6)[0]
    for _ in range(3):
        point = step(mirror, domain, size * np.array(signs, float), 1.0, point)
        assert np.isfinite(point).all()
        assert domain.contains(point)
        point = np.maximum(point, 1e-300) if isinstance(mirror, NegativeEntropy) else point


def test_entropy_step_multiplies_by_exponentials() -> None:
    start = np.array([0.5, 1.0, 0.5])
    point = entropy_point(np.log(start), np.array([1.0, 0.0, -1.0]), 0.4, 2.0)
    weights = start * np.exp([-0.2, 0.0, 0.2])
    np.testing.assert_allclose(point, 2.0 * weights / weights.sum(), rtol=1e-15)


@given(points(3, -320.0, 108.0), powers(-100.0, 100.0), powers(-100.0, 100.0))
def test_entropy_steps_of_any_size_stay_on_the_simplex(dual: Array, eta: float, scale: float) -> None:
    point = entropy_point(np.log([0.2, 0.3, 0.5]), dual, eta, scale)
    assert point.min() >= 0.0
    assert point.sum() == pytest.approx(scale, rel=1e-14)


@st.composite
def pnorm_cases(draw: st.DrawFn) -> tuple[dw.Domain, tuple[int, float, Array, Array, float, Array]]:
    """Return a domain 1e-100 to 1e100 wide, and what a p-norm step on it takes: any gradient, any step size."""
    width, dim = draw(powers(-100.0, 100.0)), draw(st.integers(1, 5))
    middle = width * draw(vectors(dim, 2.0))
    low, high = np.clip(middle - width * draw(vectors(dim, 1.0)) ** 2, -1e100, 1e100), np.clip(middle, -1e100, 1e100)
    domain = draw(st.sampled_from([dw.Simplex(dim, width), dw.Box(low, high), dw.Box(low, low + 0.0)]))
    point = domain.project(np.clip(width * draw(vectors(dim, 2.0)), -1e100, 1e100))
    gradient, eta = draw(points(dim, -323.3, 100.0)), draw(st.one_of(st.just(0.0), powers(-323.3, 100.0)))
    p = draw(st.sampled_from(EXPONENTS))
    return domain, (PNorm(p).kind(domain), p, domain.numbers, gradient, eta, point)


@given(pnorm_cases())
@settings(max_examples=200)
def test_pnorm_steps_of_any_size_lead_to_members(
    case: tuple[dw.Domain, tuple[int, float, Array, Array, float, Array]],
) -> None:
    domain, given = case
    point = given[-1]
    for _ in range(2):
        ours, theirs = compiled(*given[:-1], point), pnorm_point(*given[:-1], point)
        size = float(np.abs(domain.numbers).max())
        np.testing.assert_allclose(ours, theirs, rtol=0.0, atol=1e-12 * size)
        for member in (ours, theirs):
            assert np.isfinite(member).all()
            assert domain.contains(member, tol=1e-14)
        if isinstance(domain, dw.Box):
            assert np.all((domain.low <= ours) & (ours <= domain.high))
        point = ours


@given(pnorm_cases())
def test_a_pnorm_step_of_size_0_stands_still(
    case: tuple[dw.Domain, tuple[int, float, Array, Array, float, Array]],
) -> None:
    _, (kind, p, numbers, gradient, _, point) = case
    size = float(np.abs(numbers).max())
    np.testing.assert_allclose(compiled(kind, p, numbers, gradient, 0.0, point), point, rtol=0.0, atol=1e-13 * size)


@pytest.mark.parametrize("p", EXPONENTS)
@pytest.mark.parametrize("step_of", [compiled, pnorm_point])
def test_the_largest_of_huge_moves_decides(p: float, step_of: Any) -> None:
    gradient, start = np.array([-1e50, -1e60, 1e100, 0.0]), np.full(4, 0.5)
    np.testing.assert_array_equal(
        step_of(PNORM_SIMPLEX, p, np.array([2.0]), gradient, 1.0, start), [0.0, 2.0, 0.0, 0.0]
    )


@pytest.mark.parametrize("size", [5e-324, 1e-300, 1e-210])
def test_moves_beyond_the_range_of_numbers(size: float) -> None:
    gradient, start = np.array([1e100, 0.0, -1e100]), np.array([0.0, 0.0, size])
    for step_of in (compiled, pnorm_point):
        for p in EXPONENTS:
            assert step_of(PNORM_SIMPLEX, p, np.array([size]), gradient, 1e100, start).tolist() == [0.0, 0.0, size]
            limits = np.array([-size, -size, -size, size, size, size])
            assert step_of(PNORM_BOX, p, limits, gradient, 1e100, start)[[0, 2]].tolist() == [-size, size]
    assert entropy_point(np.zeros(3), gradient, 1e100, size).tolist() == [0.0, 0.0, size]


@pytest.mark.parametrize("domain", [BOX, SIMPLEX], ids=repr)
@given(seed=seeds, unit=st.integers(-330, 330).map(lambda power: 2.0**power), p=st.sampled_from(EXPONENTS))
def test_pnorm_steps_do_not_depend_on_the_unit(domain: dw.Domain, seed: int, unit: float, p: float) -> None:
    rng = np.random.default_rng(seed)
    point, gradient, kind = inner_members(domain, rng, 6)[0], rng.standard_normal(4), PNorm(p).kind(domain)
    expected = unit * compiled(kind, p, domain.numbers, gradient, 0.3, point)
    assert compiled(kind, p, unit * domain.numbers, unit * gradient, 0.3, unit * point).tobytes() == expected.tobytes()


@given(points(4, -300.0, 100.0), st.sampled_from(EXPONENTS))
def test_pnorm_gradients_of_points_of_any_size(w: Array, p: float) -> None:
    mirror, domain = PNorm(p), dw.Box(np.full(4, -1e100), np.full(4, 1e100))
    gradient, value = mirror.gradient(w, domain), mirror.value(w, domain)
    assert np.isfinite(gradient).all()
    # R is homogeneous of degree 2, so <grad R(w), w> = 2 R(w)
    assert gradient @ w == pytest.approx(2.0 * value, rel=1e-12, abs=1e-300)


INTERPRETED = """
import numpy as np
from tests.test_mirror import BOX, EXPONENTS, SIMPLEX, compiled, inner_members, PNorm
for domain in (BOX, SIMPLEX):
    for p in EXPONENTS:
        point, gradient = inner_members(domain, np.random.default_rng(0), 6)[0], np.array([1.0, -2.0, 1e100, 5e-324])
        for eta in (0.0, 0.3, 1e100):
            print(*compiled(PNorm(p).kind(domain), p, domain.numbers, gradient, eta, point))
"""


def test_plain_python_checks_every_index_and_gives_the_same_steps() -> None:
    def printed(disabled: str) -> Array:
        place = {"NUMBA_DISABLE_JIT": disabled, "PYTHONPATH": os.pathsep.join(sys.path)}
        run = subprocess.run(
            [sys.executable, "-c", INTERPRETED], check=True, capture_output=True, text=True, env={**os.environ, **place}
        )
        return np.array(run.stdout.split(), np.float64)

    np.testing.assert_allclose(printed("1"), printed("0"), rtol=1e-12, atol=1e-15)


def _spread(domain: dw.Domain, rng: np.random.Generator) -> Array:
    """Return members of a domain: inside, at its edge, and its corners."""
    rows = [domain.project(size * rng.standard_normal((60, domain.dim))) for size in (0.1, 1.0, 30.0)]
    if isinstance(domain, dw.Box):
        rows.append(np.where(rng.random((80, domain.dim)) < 0.5, domain.low, domain.high))
    return np.vstack([*rows, domain.project(np.zeros((1, domain.dim))), domain.project(1e3 * np.eye(domain.dim))])


FINITE: list[tuple[MirrorMap, dw.Domain]] = [
    (Euclidean(), BOX),
    (Euclidean(), SIMPLEX),
    *((PNorm(p), domain) for p in EXPONENTS for domain in (BOX, SIMPLEX, dw.Box([0.0, 0.0], [1.0, 3.0]))),
    *((PNorm(p), dw.Box([-1.0, -2.0], [1.0, 2.0])) for p in (1.2, 1.7)),
]


@pytest.mark.parametrize(("mirror", "domain"), FINITE, ids=repr)
@given(seed=seeds)
@settings(max_examples=10)
def test_the_divergence_changes_no_faster_than_its_lipschitz_constant(
    mirror: MirrorMap, domain: dw.Domain, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    members, gamma, p = _spread(domain, rng), mirror.lipschitz(domain), mirror.exponent
    most = mirror.radius_squared(domain)
    for x, y, z in members[rng.integers(len(members), size=(150, 3))]:
        first, second = mirror.divergence(x, z, domain), mirror.divergence(y, z, domain)
        assert first - second <= gamma * np.linalg.norm(x - y, p) * (1.0 + 1e-9) + 1e-9
        assert first <= mirror.radius_squared(domain, z) * (1.0 + 1e-9) + 1e-9
        assert mirror.radius_squared(domain, z) <= most * (1.0 + 1e-9) + 1e-9


@pytest.mark.parametrize("p", EXPONENTS)
def test_the_lipschitz_constant_of_a_simplex_is_reached_between_its_corners(p: float) -> None:
    """Near one corner, away from another: D_R(., z) at z = e_2 is steepest at e_1."""
    mirror, first, second = PNorm(p), np.eye(4)[0] * 2.0, np.eye(4)[1] * 2.0
    q = p / (p - 1.0)
    apart = np.linalg.norm(mirror.gradient(first, SIMPLEX) - mirror.gradient(second, SIMPLEX), q)
    assert mirror.lipschitz(SIMPLEX) == pytest.approx(apart, rel=1e-12)


def test_lipschitz_constants_that_are_known() -> None:
    assert Euclidean().lipschitz(BOX) == BOX.diameter
    assert PNorm(2.0).lipschitz(BOX) == pytest.approx(BOX.diameter, rel=1e-12)
    assert PNorm(1.5).lipschitz(dw.Simplex(1)) == 0.0
    assert NegativeEntropy().lipschitz(SIMPLEX) == NegativeEntropy().radius_squared(SIMPLEX) == np.inf
    # From the middle of a symmetric box, twice the largest |grad R|_q = |w|_p / (p - 1).
    assert PNorm(1.5).lipschitz(dw.Box([-1.0] * 3, [1.0] * 3)) == pytest.approx(4.0 * 3.0 ** (2.0 / 3.0), rel=1e-12)


@pytest.mark.parametrize("share", [-0.1, 1.0, np.nan, "half"])
def test_shares_out_of_range(share: Any) -> None:
    with pytest.raises(ParameterError, match="NegativeEntropy: share must be"):
        NegativeEntropy(share)


def test_entropy_on_the_boundary() -> None:
    mirror, simplex = NegativeEntropy(), dw.Simplex(2)
    assert mirror.value([1.0, 0.0], simplex) == 0.0
    assert mirror.gradient([1.0, 0.0], simplex).tolist() == [1.0, -np.inf]
    assert mirror.divergence([1.0, 0.0], [1.0, 0.0], simplex) == 0.0
    assert mirror.divergence([0.5, 0.5], [1.0, 0.0], simplex) == np.inf


@pytest.mark.parametrize(
    ("mirror", "domain", "kind"),
    [
        (Euclidean(), dw.SpectralBalls((1, 2, 2), 1.0), EUCLIDEAN),
        (NegativeEntropy(), dw.Simplex(2), ENTROPY),
        (PNorm(1.5), BOX, PNORM_BOX),
        (PNorm(1.5), dw.Simplex(2), PNORM_SIMPLEX),
    ],
)
def test_kind(mirror: MirrorMap, domain: dw.Domain, kind: int) -> None:
    assert mirror.kind(domain) == kind


@pytest.mark.parametrize(
    ("mirror", "domain", "message"),
    [
        (NegativeEntropy(), dw.Ball(2), "NegativeEntropy: the domain must be a Simplex, got Ball"),
        (NegativeEntropy(), dw.Box([0.0], [1.0]), "NegativeEntropy: the domain must be a Simplex, got Box"),
        (PNorm(1.5), dw.Ball(2), r"PNorm: the domain must be a Box or a Simplex, got Ball.*use Euclidean\(\)"),
        (PNorm(1.5), dw.Product(dw.Simplex(2)), "PNorm: the domain must be a Box or a Simplex"),
    ],
)
def test_wrong_domain(mirror: MirrorMap, domain: dw.Domain, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        mirror.kind(domain)
    with pytest.raises(ParameterError, match=message):
        mirror.radius_squared(domain, np.full(domain.dim, 0.5))


@pytest.mark.parametrize("p", [1.0, 1.04, 2.01, np.nan, "2", None])
def test_exponents_out_of_range(p: Any) -> None:
    with pytest.raises(ParameterError, match="PNorm: p must be"):
        PNorm(p)


@MAPS
@pytest.mark.parametrize(
    "bad", [[1.0], [np.nan] * 4, "text", [[0.0], [0.0, 1.0]]], ids=["short", "nan", "text", "ragged"]
)
def test_bad_points(mirror: MirrorMap, domain: dw.Domain, exponent: float, bad: Any) -> None:
    good = domain.project(np.ones(4))
    for call in (
        lambda: mirror.value(bad, domain),
        lambda: mirror.gradient(bad, domain),
        lambda: mirror.divergence(bad, good, domain),
        lambda: mirror.divergence(good, bad, domain),
    ):
        with pytest.raises(InputError, match=f"{type(mirror).__name__}: w must be finite real numbers"):
            call()


def test_the_euclidean_gradient_is_a_copy() -> None:
    w = np.ones(2)
    Euclidean().gradient(w, dw.Ball(2))[0] = 9.0
    assert w[0] == 1.0


@pytest.mark.parametrize(
    ("mirror", "text"),
    [
        (Euclidean(), "Euclidean()"),
        (PNorm(1.5), "PNorm(1.5)"),
        (NegativeEntropy(), "NegativeEntropy()"),
        (NegativeEntropy(0.25), "NegativeEntropy(share=0.25)"),
    ],
)
def test_repr(mirror: MirrorMap, text: str) -> None:
    assert repr(mirror) == text
