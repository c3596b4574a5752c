"""Mirror maps and their compiled steps, against finite differences and a general-purpose solver."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

import driftwise as dw
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
    pnorm_step,
)
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


def step(mirror: MirrorMap, domain: dw.Domain, gradient: Array, eta: float, point: Array) -> Array:
    """Take one step from `point` with the kernel that a learner would use."""
    kind = mirror.kind(domain)
    if kind == EUCLIDEAN:
        return domain.project(point - eta * gradient)
    out = point.copy()
    if kind == ENTROPY:
        entropy_point(np.log(point), gradient, eta, float(domain.numbers[0]), out)
    else:
        pnorm_step(kind, mirror.exponent, domain.numbers, gradient, eta, out)
    return out


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
    start, out = np.array([0.5, 1.0, 0.5]), np.empty(3)
    entropy_point(np.log(start), np.array([1.0, 0.0, -1.0]), 0.4, 2.0, out)
    weights = start * np.exp([-0.2, 0.0, 0.2])
    np.testing.assert_allclose(out, 2.0 * weights / weights.sum(), rtol=1e-15)


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


@pytest.mark.parametrize(("mirror", "text"), [(Euclidean(), "Euclidean()"), (PNorm(1.5), "PNorm(1.5)")])
def test_repr(mirror: MirrorMap, text: str) -> None:
    assert repr(mirror) == text
