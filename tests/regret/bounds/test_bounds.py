"""The guarantees as numbers, against the formulas written out in plain Python."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import driftwise as dw
from driftwise._validate import Array
from driftwise.errors import ArgumentError, ParameterError
from driftwise.regret import bounds
from tests.cases import check_refused, paper_pool

PROBLEMS = [(T, P, 2.5, 1.4) for T, P in [(1, 0.0), (2, 1.4), (3, 0.5), (64, 7.0), (1000, 0.0), (1000, 1398.6)]]
"""Rounds, path length, gradient bound, diameter; two of them with the longest path there is."""

MOVERS: dict[str, Callable[..., float]] = {
    "ogd": bounds.ogd,
    "ogd anytime": lambda **problem: bounds.ogd(**problem, anytime=True),
    "ader": lambda switching_cost, **problem: bounds.ader(**problem),
    "scream": bounds.scream,
    "scream theorem": lambda **problem: bounds.scream(**problem, rate="theorem"),
    "lazy_scream": lambda **problem: bounds.lazy_scream(**problem, epoch=3),
}
"""Bounds of the one kind of problem, rounds and path and G and D and lambda."""

SMALL: dict[str, float] = {"horizon": 20, "path_length": 3.0, "gradient_bound": 1.0, "diameter": 2.0}


def _paper_prior(N: int, i: int) -> float:
    return (N + 1) / N / (i * (i + 1))


def _paper_scream(
    T: int, P: float, G: float, D: float, lambda_: float, rate: str = "appendix", H: int | None = None
) -> float:
    """Return Theorem 2 with its constants, for T of the H rounds that the learner was made for."""
    H = T if H is None else H
    Gm = G * D * (1.0 + 2.0 * lambda_ / math.sqrt(lambda_ * G + G**2))
    eps = {
        "appendix": math.sqrt(2.0 / (Gm * (lambda_ * D + Gm) * H)),
        "theorem": math.sqrt(2.0 / ((2.0 * lambda_ + G) * (lambda_ + G) * D**2 * H)),
    }[rate]
    N = paper_pool(H, 1.0)
    bound_of = []
    for i in range(1, N + 1):
        eta = 2.0 ** (i - 1) * math.sqrt(D**2 / ((lambda_ * G + G**2) * H))
        meta = eps * (lambda_ * D + Gm) * Gm * T + math.log(1.0 / _paper_prior(N, i)) / eps
        bound_of.append(meta + (G**2 + lambda_ * G) * eta * T + (D**2 + 2.0 * D * P) / (2.0 * eta))
    return min(bound_of)


def _named(T: int, P: float, G: float, D: float) -> dict[str, Any]:
    return {"horizon": T, "path_length": P, "gradient_bound": G, "diameter": D}


@pytest.mark.parametrize("rate", ["appendix", "theorem"])
@pytest.mark.parametrize("lambda_", [0.0, 0.4, 30.0])
@pytest.mark.parametrize("problem", PROBLEMS)
def test_scream_is_theorem_2_with_constants(
    problem: tuple[int, float, float, float], lambda_: float, rate: str
) -> None:
    found = bounds.scream(**_named(*problem), switching_cost=lambda_, rate=rate)
    assert found == pytest.approx(_paper_scream(*problem, lambda_, rate), rel=1e-12)


@pytest.mark.parametrize(
    ("lambda_", "epoch", "length"), [(0.0, None, 1), (2.0, None, 2), (90.0, None, 10), (90.0, 3, 3)]
)
@pytest.mark.parametrize("problem", PROBLEMS)
def test_lazy_scream_is_scream_on_epochs(
    problem: tuple[int, float, float, float], lambda_: float, epoch: int | None, length: int
) -> None:
    T, P, G, D = problem
    K = math.ceil(T / length)
    on_epochs = _paper_scream(K, min(P, D * (K - 1)), length * G, D, lambda_)
    found = bounds.lazy_scream(**_named(*problem), switching_cost=lambda_, epoch=epoch)
    assert found == pytest.approx(on_epochs + G * (length - 1) * P, rel=1e-12)


@pytest.mark.parametrize("lambda_", [0.0, 3.0])
@pytest.mark.parametrize("step", [None, 0.2])
@pytest.mark.parametrize("problem", PROBLEMS)
def test_ogd_is_theorem_1(problem: tuple[int, float, float, float], step: float | None, lambda_: float) -> None:
    T, P, G, D = problem
    eta = math.sqrt(D**2 / ((G**2 + lambda_ * G) * T)) if step is None else step
    last = (D**2 + 2.0 * D * P) / (2.0 * eta)
    given = {**_named(*problem), "switching_cost": lambda_, "step": step}
    assert bounds.ogd(**given) == pytest.approx((0.5 * G**2 + lambda_ * G) * eta * T + last, rel=1e-12)
    steps = sum(eta * math.sqrt(T / t) for t in range(1, T + 1))
    assert bounds.ogd(**given, anytime=True) == pytest.approx((0.5 * G**2 + lambda_ * G) * steps + last, rel=1e-12)


@pytest.mark.parametrize(("step", "eta"), [(None, math.sqrt(2.0 * 2.0**2 / ((1.5**2 + 3.0 * 1.5) * 70))), (0.3, 0.3)])
def test_ogd_static_is_the_theorem_of_the_appendix(step: float | None, eta: float) -> None:
    found = bounds.ogd_static(horizon=70, gradient_bound=1.5, diameter=2.0, switching_cost=3.0, step=step)
    assert found == pytest.approx((1.5**2 + 3.0 * 1.5) * eta * 70 + 2.0 * 2.0**2 / eta, rel=1e-12)
    path = bounds.ogd(horizon=70, path_length=0.0, gradient_bound=1.5, diameter=2.0, switching_cost=3.0, step=step)
    assert path < found


@pytest.mark.parametrize("m", [0, 1, 2, 7])
@pytest.mark.parametrize("step", [None, 0.3])
def test_anava_is_never_above_what_the_appendix_restates(step: float | None, m: int) -> None:
    T, G, D, L = 70, 1.5, 2.0, 0.8
    reach = math.sqrt(sum(k**2 for k in range(1, m + 1)))
    eta = D / math.sqrt((G**2 + 2.0 * L * reach * G) * T) if step is None else step
    found = bounds.anava(horizon=T, gradient_bound=G, diameter=D, lipschitz=L, memory=m, step=step)
    assert found == pytest.approx(eta * G**2 * T / 2.0 + D**2 / (2.0 * eta) + L * reach * eta * G * T, rel=1e-12)
    assert found <= 2.0 * eta * G**2 * T + 2.0 * D**2 / eta + 2.0 * L * m**1.5 * eta * G * T


@pytest.mark.parametrize("seed", range(10))
def test_anava_holds_on_runs_with_memory(seed: int) -> None:
    """Losses |mean score of the window - y|, with slopes of G / (m + 1) in one decision and G / sqrt(m + 1) in all."""
    rng = np.random.default_rng(seed)
    T, d, m = 300, 3, int(rng.integers(1, 9))
    x, domain = rng.normal(size=(T, d)), dw.Ball(d)
    y = x[:, 0] * np.sign(np.sin(np.arange(T) / (10.0 * (seed + 1))))

    def value(t: int, window: Array) -> float:
        return float(abs(x[t] @ window.mean(axis=0) - y[t]))

    def gradient(t: int, w: Array) -> Array:
        return np.asarray(np.sign(x[t] @ w - y[t]) * x[t])

    G = float(np.linalg.norm(x, axis=1).max())
    each, joint = G / (m + 1), G / math.sqrt(m + 1)
    losses = dw.CustomLoss(value, gradient, T, d, m, "never")
    step = 2.0 / math.sqrt((G**2 + 2.0 * joint * m**1.5 * G) * T)
    trace = dw.play(dw.OGD(domain, step=step), losses)
    found = bounds.anava(horizon=T, gradient_bound=G, diameter=2.0, lipschitz=joint, memory=m, step=step)
    best = domain.project(rng.normal(size=(50, d)))
    regret = max(trace.total_loss - losses.policy_losses(np.tile(v, (T, 1))).sum() for v in [*best, np.zeros(d)])
    assert regret <= found
    of_each = each * m * (m + 1) / 2.0
    usual: dict[str, Any] = {"horizon": T, "gradient_bound": G, "diameter": 2.0, "step": step}
    # Of constants for each decision Theorem 1 makes the better use, as Cauchy and Schwarz say.
    assert bounds.ogd(**usual, path_length=0.0, switching_cost=of_each) <= found * (1.0 + 1e-12)
    less = bounds.anava(**usual, lipschitz=0.5 * joint, memory=m)
    assert less < found


@pytest.mark.parametrize(("step", "eta"), [(None, 0.7 / math.sqrt((1.5**2 + 3.0 * 1.5) * 70)), (0.3, 0.3)])
def test_mirror_descent_is_the_theorem_of_the_appendix(step: float | None, eta: float) -> None:
    given: dict[str, Any] = {"horizon": 70, "gradient_bound": 1.5, "radius": 0.7, "switching_cost": 3.0, "step": step}
    price = eta * (1.5**2 + 3.0 * 1.5) * 70
    assert bounds.mirror_descent(**given) == pytest.approx(0.7**2 / eta + price, rel=1e-12)
    moving = bounds.mirror_descent(**given, path_length=5.0, lipschitz=1.2)
    assert moving == pytest.approx((0.7**2 + 1.2 * 5.0) / eta + price, rel=1e-12)
    policy = bounds.mirror_descent(**given, path_length=5.0, lipschitz=1.2, policy=True)
    assert policy == pytest.approx(moving + 3.0 * 5.0, rel=1e-12)


@pytest.mark.parametrize(("prior", "log"), [(None, math.log(6)), (0.5, math.log(2)), (1.0, 0.0)])
def test_hedge_is_the_corollary_of_the_appendix(prior: float | None, log: float) -> None:
    C, lambda_, T = 1.5, 3.0, 70
    given: dict[str, Any] = {"horizon": T, "experts": 6, "loss_bound": C, "switching_cost": lambda_, "prior": prior}
    price = (lambda_ * C + C**2) * T
    assert bounds.hedge(**given) == pytest.approx(2.0 * math.sqrt(log * price), rel=1e-12)
    assert bounds.hedge(**given, rate=0.1) == pytest.approx(log / 0.1 + 0.1 * price, rel=1e-12)


@pytest.mark.parametrize("rate", [None, 0.1])
@pytest.mark.parametrize(("prior", "least"), [(None, None), (0.5, 0.02)])
def test_hedge_with_a_share_pays_for_every_change(prior: float | None, least: float | None, rate: float | None) -> None:
    C, lambda_, T, N, P, a = 1.5, 3.0, 70, 6, 4.0, 0.01
    log = math.log(1.0 / (prior or 1.0 / N)) + 2.0 * math.log(1.0 / (a * (least or 1.0 / N)))
    log += (T - 1) * math.log(1.0 / (1.0 - a))
    price = (lambda_ * C + C**2) * T
    eps = math.sqrt(log / price) if rate is None else rate
    given: dict[str, Any] = {"horizon": T, "experts": N, "loss_bound": C, "switching_cost": lambda_, "prior": prior}
    found = bounds.hedge(**given, rate=rate, path_length=P, share=a, least=least)
    assert found == pytest.approx(log / eps + eps * price + 2.0 * a * lambda_ * (T - 1), rel=1e-12)
    assert found > bounds.hedge(**given, rate=rate, share=a, least=least) > bounds.hedge(**given, rate=rate)


@pytest.mark.parametrize("more", [0, 1, 900])
@pytest.mark.parametrize("problem", PROBLEMS)
def test_ader_is_hedge_over_gradient_descents(problem: tuple[int, float, float, float], more: int) -> None:
    T, P, G, D = problem
    H = T + more
    eps, N = math.sqrt(2.0 / (H * G**2 * D**2)), paper_pool(H, 4.0 / 7.0)
    bound_of = []
    for i in range(1, N + 1):
        eta = 2.0 ** (i - 1) * D / G * math.sqrt(7.0 / (2.0 * H))
        meta = 0.5 * eps * G**2 * D**2 * T + math.log(1.0 / _paper_prior(N, i)) / eps
        bound_of.append(meta + 0.5 * G**2 * eta * T + (D**2 + 2.0 * D * P) / (2.0 * eta))
    assert bounds.ader(**_named(*problem), tuned_for=H) == pytest.approx(min(bound_of), rel=1e-12)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_rates_for_more_rounds_than_were_played(problem: tuple[int, float, float, float]) -> None:
    T, P, G, D = problem
    found = bounds.scream(**_named(*problem), switching_cost=2.0, tuned_for=T + 50)
    assert found == pytest.approx(_paper_scream(T, P, G, D, 2.0, H=T + 50), rel=1e-12)
    K, H = math.ceil(T / 3), math.ceil((T + 50) / 3)
    lazy = bounds.lazy_scream(**_named(*problem), switching_cost=2.0, epoch=3, tuned_for=T + 50)
    held = _paper_scream(K, min(P, D * (K - 1)), 3 * G, D, 2.0, H=H)
    assert lazy == pytest.approx(held + 2.0 * G * P, rel=1e-12)


@pytest.mark.parametrize("name", [name for name in MOVERS if name != "ader"])
@pytest.mark.parametrize(("lambda_", "P"), [(0.0, 3.0), (7.0, 0.0), (7.0, 3.0)])
def test_policy_regret_adds_the_price_of_the_comparators_own_path(name: str, lambda_: float, P: float) -> None:
    problem = {**SMALL, "path_length": P, "switching_cost": lambda_}
    added = MOVERS[name](**problem, policy=True) - MOVERS[name](**problem)
    assert added == pytest.approx(lambda_ * P, rel=1e-9)


@pytest.mark.parametrize("which", ["horizon", "path_length", "gradient_bound", "diameter", "switching_cost"])
@pytest.mark.parametrize("name", MOVERS)
@given(data=st.data())
def test_a_harder_problem_never_has_a_smaller_bound(name: str, which: str, data: st.DataObject) -> None:
    size, price = st.floats(0.01, 100.0), st.floats(0.0, 1000.0)
    T, D = data.draw(st.integers(1, 3000)), data.draw(size)
    problem = {
        "horizon": T,
        "path_length": 0.5 * D * (T - 1) * data.draw(st.floats(0.0, 1.0)),
        "gradient_bound": data.draw(size),
        "diameter": D,
        "switching_cost": data.draw(price),
    }
    harder = dict(problem)
    harder[which] = (
        T + data.draw(st.integers(0, 3000)) if which == "horizon" else problem[which] * data.draw(st.floats(1.0, 2.0))
    )
    assert MOVERS[name](**harder) >= MOVERS[name](**problem) * (1.0 - 1e-12)


@pytest.mark.parametrize("rate", ["appendix", "theorem"])
@pytest.mark.parametrize("lambda_", [0.5, 20.0])
@pytest.mark.parametrize("T", [1, 15, 16, 300])
def test_the_rates_in_the_bound_are_those_of_the_learner(T: int, lambda_: float, rate: str) -> None:
    """The bounds from the step sizes, weights and rate that learners really have."""
    domain, G, P = dw.Ball(2, radius=0.7), 2.5, 0.3 * (T - 1)
    D = domain.diameter
    learner = dw.Scream(domain, switching_cost=lambda_, gradient_bound=G, horizon=T, rate=rate)
    eps, eta = learner.program.rate / math.sqrt(T), learner.step_sizes
    Gm = G * D * (1.0 + 2.0 * lambda_ / math.sqrt(lambda_ * G + G**2))
    meta = eps * (lambda_ * D + Gm) * Gm * T - np.log(learner.weights) / eps
    base = (G**2 + lambda_ * G) * eta * T + (D**2 + 2.0 * D * P) / (2.0 * eta)
    found = bounds.scream(**_named(T, P, G, D), switching_cost=lambda_, rate=rate)
    assert found == pytest.approx(np.min(meta + base), rel=1e-12)
    ader = dw.Ader(domain, gradient_bound=G, horizon=T)
    eps, eta = ader.program.rate / math.sqrt(T), ader.step_sizes
    meta = 0.5 * eps * (G * D) ** 2 * T - np.log(ader.weights) / eps
    base = 0.5 * G**2 * eta * T + (D**2 + 2.0 * D * P) / (2.0 * eta)
    assert bounds.ader(**_named(T, P, G, D)) == pytest.approx(np.min(meta + base), rel=1e-12)


@pytest.mark.parametrize("T", [1, 300])
def test_the_step_that_is_left_out_is_that_of_the_learner(T: int) -> None:
    domain = dw.Ball(2, radius=0.7)
    (step,) = dw.OGD(domain, gradient_bound=2.5, switching_cost=3.0, horizon=T).step_sizes
    given: dict[str, Any] = {**_named(T, 0.0, 2.5, 1.4), "switching_cost": 3.0}
    assert bounds.ogd(**given) == pytest.approx(bounds.ogd(**given, step=step), rel=1e-12)
    (rate,) = dw.Hedge(5, loss_bound=2.5, switching_cost=3.0, horizon=T).step_sizes
    given = {"horizon": T, "experts": 5, "loss_bound": 2.5, "switching_cost": 3.0}
    assert bounds.hedge(**given) == pytest.approx(bounds.hedge(**given, rate=rate), rel=1e-12)


BAD: list[tuple[str, Any]] = [
    *[("horizon", value) for value in (0, -1, 2.5, math.nan, True, "10")],
    *[("path_length", value) for value in (-1.0, math.nan, math.inf, "far", 39.0)],
    *[("gradient_bound", value) for value in (0.0, -1.0, math.nan, None)],
    *[("diameter", value) for value in (0.0, -1.0, math.nan, math.inf)],
    *[("switching_cost", value) for value in (-1.0, math.nan, math.inf, [1.0])],
]


@pytest.mark.parametrize(("name", "value"), BAD)
@pytest.mark.parametrize("bound", [bounds.ogd, bounds.ader, bounds.scream, bounds.lazy_scream])
def test_impossible_problems_are_refused_by_name(bound: Callable[..., float], name: str, value: Any) -> None:
    problem = {**SMALL, "switching_cost": 1.0}
    if bound is bounds.ader:
        del problem["switching_cost"]
    check_refused(
        lambda: bound(**{**problem, name: value}),
        f"bounds.{bound.__name__}: {name}" if name in problem else "unexpected keyword argument",
        kind=ParameterError if name in problem else ArgumentError,
    )


def test_the_longest_path_there_is_is_accepted() -> None:
    assert bounds.ogd(**{**SMALL, "path_length": 38.0}) > 0.0  # type: ignore[arg-type]
    check_refused(
        lambda: bounds.ogd(**{**SMALL, "path_length": 38.1}),  # type: ignore[arg-type]
        "at most diameter * (horizon - 1) = 38",
        "20 rounds",
        "38.1",
        kind=ParameterError,
    )


MIRROR: dict[str, Any] = {"horizon": 20, "gradient_bound": 1.0, "radius": 1.0}
EXPERTS: dict[str, Any] = {"horizon": 20, "experts": 3, "loss_bound": 1.0}
STATIC: dict[str, Any] = {"horizon": 20, "gradient_bound": 1.0, "diameter": 2.0}
SCREAM: dict[str, Any] = {**SMALL, "switching_cost": 1.0}


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: bounds.mirror_descent(**MIRROR, path_length=2.0), ("mirror_descent", "path_length=2", "lipschitz")),
        (lambda: bounds.mirror_descent(**{**MIRROR, "radius": 0.0}), ("radius", "0.0")),
        (lambda: bounds.mirror_descent(**MIRROR, lipschitz=math.nan), ("lipschitz", "nan")),
        (lambda: bounds.hedge(**{**EXPERTS, "experts": 1}), ("experts", "got 1")),
        (lambda: bounds.hedge(**{**EXPERTS, "loss_bound": 0.0}), ("loss_bound", "0.0")),
        (lambda: bounds.hedge(**EXPERTS, prior=1.5), ("prior", "1.5")),
        (lambda: bounds.hedge(**EXPERTS, prior=0.0), ("prior", "0.0")),
        (lambda: bounds.hedge(**EXPERTS, rate=0.0), ("rate", "0.0")),
        (lambda: bounds.hedge(**EXPERTS, path_length=2.0), ("path_length=2", "share above 0")),
        (lambda: bounds.hedge(**EXPERTS, share=1.0), ("share", "below 1", "got 1")),
        (lambda: bounds.hedge(**EXPERTS, share=0.1, least=0.5), ("least", "0.5")),
        (lambda: bounds.scream(**SCREAM, move_diameter=-1.0), ("move_diameter", "-1.0")),
        (lambda: bounds.scream(**SCREAM, rate="paper"), ("rate", "'appendix', 'theorem'", "'paper'")),
        (lambda: bounds.scream(**SCREAM, tuned_for=19), ("tuned_for", "at least 20", "got 19")),
        (lambda: bounds.ader(**SMALL, tuned_for=19), ("tuned_for", "at least 20", "got 19")),  # type: ignore[arg-type]
        (lambda: bounds.lazy_scream(**SCREAM, epoch=0), ("bounds.lazy_scream: epoch", "got 0")),
        (lambda: bounds.ogd(**SCREAM, step=0.0), ("step", "0.0")),
        (lambda: bounds.ogd(**SCREAM, anytime=1), ("anytime", "got 1")),  # type: ignore[arg-type]
        (lambda: bounds.scream(**SCREAM, policy="yes"), ("policy", "got 'yes'")),  # type: ignore[arg-type]
        (lambda: bounds.ogd_static(horizon=5, gradient_bound=1.0, diameter=0.0), ("bounds.ogd_static", "diameter")),
        (lambda: bounds.anava(**STATIC, lipschitz=-1.0, memory=2), ("bounds.anava", "lipschitz", "-1.0")),
        (lambda: bounds.anava(**STATIC, lipschitz=1.0, memory=-1), ("bounds.anava", "memory", "-1")),
    ],
)
def test_wrong_settings_are_refused_by_name(call: Callable[[], object], words: tuple[str, ...]) -> None:
    check_refused(call, *words, kind=ParameterError)


def test_unknown_and_missing_arguments_are_shown_the_signature() -> None:
    untyped: Any = bounds.scream
    check_refused(lambda: untyped(**SCREAM, horizn=3), "horizn", "Did you mean horizon?", kind=ArgumentError)
    check_refused(lambda: untyped(horizon=3), "path_length", kind=ArgumentError)
    check_refused(lambda: untyped(3, 1.0), "positional", kind=ArgumentError)


@pytest.mark.parametrize("bound", [bounds.ogd, bounds.scream, bounds.lazy_scream])
def test_a_gradient_bound_that_vanishes_when_squared_is_refused(bound: Callable[..., float]) -> None:
    problem = {**SCREAM, "gradient_bound": 1e-200, "switching_cost": 0.0}
    check_refused(lambda: bound(**problem), "gradient_bound", "1e-200", kind=ParameterError)
