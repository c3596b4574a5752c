"""A run next to its theorem: the right regret, the right bound, and every assumption that can be seen to fail."""

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import driftwise as dw
from driftwise._validate import Array
from driftwise.errors import InputError, ParameterError
from driftwise.regret import Certificate, bounds, certificate, dynamic_policy_regret, dynamic_regret, path_length
from tests.cases import check_refused, custom
from tests.optimum.problems import Still

T, PRICE, G = 400, 2.0, 2.1
BALL, SIMPLEX = dw.Ball(3), dw.Simplex(3)
LOSSES = dw.streams.drifting_regression(rounds=T, dim=3, segment=100, seed=4)
MOVING = LOSSES.generator
FIXED = np.array([0.2, 0.7, 0.1])
P = path_length(MOVING)
MOVED: dict[str, Any] = {"horizon": T, "path_length": P, "gradient_bound": G, "diameter": 2.0}
PRICED: dict[str, Any] = {"gradient_bound": G, "switching_cost": PRICE}
DOUBLING: dict[str, Any] = {"horizon_free": "doubling"}
STEP = 2.0 / math.sqrt((G**2 + PRICE * G) * T)
EPS = math.sqrt(math.log(5.0) / (G * (PRICE + G) * T))
"""OGD's step and Hedge's rate for this price, with a least prior of 1 / 5."""

THEOREMS = {
    "OGD": "Theorem 1",
    "Hedge": "Hedge",
    "Ader": "Zhang",
    "Scream": "Theorem 2",
    "LazyScream": "Theorem 4",
    "SelfTunedScream": "self-tuned Scream",
}

RUNS: dict[str, tuple[Callable[[], dw.Learner], Callable[[], float]]] = {
    "OGD": (lambda: dw.OGD(BALL, **PRICED, horizon=T), lambda: bounds.ogd(**MOVED, switching_cost=PRICE)),
    "OGD for more rounds": (
        lambda: dw.OGD(BALL, gradient_bound=G, horizon=4 * T),
        lambda: bounds.ogd(**MOVED, switching_cost=PRICE, step=2.0 / G / math.sqrt(4 * T)),
    ),
    "OGD constant step": (
        lambda: dw.OGD(BALL, step=0.1),
        lambda: bounds.ogd(**{**MOVED, "gradient_bound": _steepest()}, switching_cost=PRICE, step=0.1),
    ),
    "OGD without horizon": (
        lambda: dw.OGD(BALL, **PRICED),
        lambda: bounds.ogd(**MOVED, switching_cost=PRICE, anytime=True),
    ),
    "OGD doubling": (
        lambda: dw.OGD(BALL, gradient_bound=G, **DOUBLING),
        lambda: _in_blocks(lambda H, **block: bounds.ogd(**block, switching_cost=PRICE, step=2.0 / G / math.sqrt(H))),
    ),
    "MirrorDescent without horizon": (
        lambda: dw.MirrorDescent(BALL, **PRICED),
        lambda: bounds.ogd(**MOVED, switching_cost=PRICE, step=STEP / math.sqrt(2.0), anytime=True),
    ),
    "MirrorDescent entropy": (
        lambda: dw.MirrorDescent(SIMPLEX, mirror=dw.mirror.NegativeEntropy(), **PRICED, horizon=T),
        lambda: bounds.mirror_descent(**PRICED, horizon=T, radius=math.sqrt(math.log(3.0))),
    ),
    "MirrorDescent p-norm": (
        lambda: dw.MirrorDescent(dw.Box([-1.0] * 3, [1.0] * 3), mirror=dw.mirror.PNorm(1.5), **PRICED, horizon=T),
        # From 0, the largest |w|_p^2 / (2 (p - 1)) is that of a corner: 3^(2 / p) / 1.
        lambda: bounds.mirror_descent(**PRICED, horizon=T, radius=3.0 ** (2.0 / 3.0)),
    ),
    "Hedge": (
        lambda: dw.Hedge(3, loss_bound=G, switching_cost=PRICE, horizon=T, prior=[0.5, 0.3, 0.2]),
        lambda: bounds.hedge(
            horizon=T, experts=3, loss_bound=G, switching_cost=PRICE, rate=EPS, prior=0.5**0.2 * 0.3**0.7 * 0.2**0.1
        ),
    ),
    "Hedge without horizon": (
        lambda: dw.Hedge(3, loss_bound=G, switching_cost=PRICE),
        lambda: bounds.hedge(
            horizon=T,
            experts=3,
            loss_bound=G,
            switching_cost=PRICE,
            rate=math.sqrt(math.log(3.0) / (G * (PRICE + G) * T)),
            anytime=True,
        ),
    ),
    "Ader without horizon": (lambda: dw.Ader(BALL, gradient_bound=G), lambda: bounds.ader(**MOVED, anytime=True)),
    "Ader improved": (lambda: dw.Ader(BALL, gradient_bound=G, horizon=T), lambda: bounds.ader(**MOVED)),
    "Ader original for more rounds": (
        lambda: dw.Ader(BALL, gradient_bound=G, horizon=T + 50, variant="original"),
        lambda: bounds.ader(**MOVED, tuned_for=T + 50),
    ),
    "Ader doubling": (
        lambda: dw.Ader(BALL, gradient_bound=G, **DOUBLING),
        lambda: _in_blocks(lambda H, **block: bounds.ader(**block, tuned_for=H)),
    ),
    "Scream appendix": (lambda: _scream(), lambda: bounds.scream(**MOVED, switching_cost=PRICE)),
    "Scream theorem": (
        lambda: _scream(rate="theorem"),
        lambda: bounds.scream(**MOVED, switching_cost=PRICE, rate="theorem"),
    ),
    "Scream doubling": (
        lambda: _scream(horizon=None, **DOUBLING),
        lambda: _in_blocks(lambda H, **block: bounds.scream(**block, switching_cost=PRICE, tuned_for=H)),
    ),
    "Scream without horizon": (
        lambda: _scream(horizon=None),
        lambda: bounds.scream(**MOVED, switching_cost=PRICE, anytime=True),
    ),
    "LazyScream without horizon": (
        lambda: dw.LazyScream(BALL, **PRICED, epoch=3),
        lambda: bounds.lazy_scream(**MOVED, switching_cost=PRICE, epoch=3, anytime=True),
    ),
    "SelfTunedScream": (
        lambda: dw.SelfTunedScream(BALL, switching_cost=PRICE),
        lambda: bounds.self_tuned_scream(
            **{**MOVED, "gradient_bound": _slopes("SelfTunedScream")}, switching_cost=PRICE
        ),
    ),
    "LazyScream": (
        lambda: dw.LazyScream(BALL, gradient_bound=G, switching_cost=5.0, horizon=T, rate="theorem"),
        lambda: bounds.lazy_scream(**MOVED, switching_cost=5.0, rate="theorem"),
    ),
    "LazyScream epoch": (
        lambda: dw.LazyScream(BALL, **PRICED, horizon=T + 9, epoch=7),
        lambda: bounds.lazy_scream(**MOVED, switching_cost=PRICE, epoch=7, tuned_for=T + 9),
    ),
    "LazyScream doubling": (
        lambda: dw.LazyScream(BALL, **PRICED, epoch=3, **DOUBLING),
        lambda: _in_blocks(
            lambda H, **block: bounds.lazy_scream(**block, switching_cost=PRICE, epoch=3, tuned_for=H), epoch=3
        ),
    ),
}


def _in_blocks(bound: Callable[..., float], epoch: int = 1) -> float:
    """Return the sum of a bound over blocks of 1, 2, 4, ... epochs, each with rates for all of the block."""
    blocks = {epoch * 2**k: MOVING[epoch * (2**k - 1) : epoch * (2 ** (k + 1) - 1)] for k in range(9)}
    return sum(
        bound(H, **{**MOVED, "horizon": len(v), "path_length": path_length(v)}) for H, v in blocks.items() if len(v)
    )


def _scream(**changed: Any) -> dw.Scream:
    return dw.Scream(BALL, **{**PRICED, "horizon": T, **changed})


NORMS = {"MirrorDescent entropy": 1.0, "Hedge": 1.0, "Hedge without horizon": 1.0, "MirrorDescent p-norm": 1.5}
"""Of the runs in other geometries, which are for fixed comparators."""


@functools.cache
def _run(name: str) -> dw.Trace:
    return dw.play(RUNS[name][0](), LOSSES, PRICE)


def _steepest(name: str = "OGD constant step", order: float = 2.0) -> float:
    """Return the largest gradient in a run, in a norm of this order."""
    return float(_slopes(name, order).max())


def _slopes(name: str, order: float = 2.0) -> Array:
    """Return the norm of every gradient in a run."""
    return np.array([np.linalg.norm(LOSSES.gradient(t, w), order) for t, w in enumerate(_run(name).decisions)])


@functools.cache
def _certified(name: str) -> Certificate:
    return certificate(_run(name), FIXED if name in NORMS else MOVING)


@pytest.mark.parametrize("name", RUNS)
def test_measured_is_the_regret_that_the_theorem_is_about(name: str) -> None:
    price = 0.0 if name.startswith("Ader") else PRICE
    against = FIXED if name in NORMS else MOVING
    expected = dynamic_regret(_run(name), LOSSES, against, switching_cost=price, norm=NORMS.get(name, 2.0))
    found = _certified(name)
    assert found.measured == pytest.approx(expected, rel=1e-9)
    assert found.path_length == pytest.approx(0.0 if name in NORMS else P, rel=1e-12)
    movement = f" on l{NORMS[name]:g} movement" if name in NORMS else ""
    assert found.measure == f"dynamic regret{' with switching cost 2' + movement if price else ', moves not counted'}"


@pytest.mark.parametrize("name", RUNS)
def test_bound_is_that_of_the_theorem(name: str) -> None:
    found = _certified(name)
    assert found.bound == pytest.approx(RUNS[name][1](), rel=1e-9)
    assert found.learner == name.split()[0]
    assert THEOREMS.get(found.learner, "B.3, mirror descent") in found.theorem


@pytest.mark.parametrize("name", RUNS)
def test_the_guarantee_holds_and_says_so(name: str) -> None:
    found = _certified(name)
    assert found.ratio == found.measured / found.bound <= 1.0
    assert found.within
    assert found.guaranteed
    names = ["convexity", "gradient bound", "domain", "horizon", "start"]
    names += ["switching cost"] * ("Scream" in name) + ["comparators"] * (name in NORMS)
    assert [assumption.name for assumption in found.assumptions] == names
    assert all(assumption.holds for assumption in found.assumptions)
    dual = {1.0: np.inf, 1.5: 3.0, 2.0: 2.0}[NORMS.get(name, 2.0)]
    assert f"{_steepest(name, dual):.6g}" in found.assumptions[1].text


@pytest.mark.parametrize("name", ["Scream appendix", "Hedge"])
def test_the_text_has_the_numbers_and_every_assumption(name: str) -> None:
    found = _certified(name)
    text = str(found)
    assert f"measured {found.measured:.6g} <= bound {found.bound:.6g}" in text
    assert f"ratio {found.ratio:.2%}" in text
    for part in (found.learner, found.theorem, found.measure, "the theorem applies", f"{found.path_length:.6g}"):
        assert part in text
    for assumption in found.assumptions:
        assert f"{assumption.name:<15} holds        {assumption.text}" in text


def _played(learner: dw.Learner) -> dw.Learner:
    dw.play(learner, dw.streams.drifting_regression(rounds=5, dim=3, seed=1))
    return learner


@pytest.mark.parametrize(
    ("make", "price", "comparators", "name", "words"),
    [
        (lambda: _scream(gradient_bound=0.1), PRICE, MOVING, "gradient bound", ("the bound 0.1",)),
        (lambda: dw.SelfTunedScream(BALL, switching_cost=1.0), PRICE, MOVING, "switching cost", ("built for 1",)),
        (lambda: _played(dw.SelfTunedScream(BALL, switching_cost=PRICE)), PRICE, MOVING, "start", ("5 rounds",)),
        (lambda: dw.Hedge(3, loss_bound=G, **DOUBLING), PRICE, FIXED, "horizon", ("none was given",)),
        (lambda: _played(_scream(horizon=T + 5)), PRICE, MOVING, "start", ("5 rounds",)),
        (lambda: _played(dw.OGD(BALL, step=0.1)), PRICE, MOVING, "start", ("5 rounds",)),
        (_scream, 2.5, MOVING, "switching cost", ("built for 2", "priced at 2.5")),
        (lambda: dw.LazyScream(BALL, **PRICED, horizon=T), 2.5, MOVING, "switching cost", ("priced at 2.5",)),
        (lambda: dw.Hedge(3, rate=0.1), PRICE, np.eye(3)[np.arange(T) // 200], "comparators", ("fixed", "by 2")),
    ],
)
def test_each_assumption_can_be_seen_violated(
    make: Callable[[], dw.Learner], price: float, comparators: Array, name: str, words: tuple[str, ...]
) -> None:
    found = certificate(dw.play(make(), LOSSES, price), comparators)
    (broken,) = [assumption for assumption in found.assumptions if not assumption.holds]
    assert broken.name == name
    assert not found.guaranteed
    assert f"{name:<15} NOT MET" in str(found)
    assert "an assumption is not met: the bound is no guarantee here" in str(found)
    for word in words:
        assert word in broken.text


def test_a_bound_that_fails_is_shown_to_fail() -> None:
    """A learner that was promised tiny gradients, on losses that are not tiny."""
    losses = dw.LinearLoss(np.where(np.arange(T)[:, None] % 2, 1.0, -1.0) * np.ones(3))
    found = certificate(dw.play(dw.OGD(BALL, gradient_bound=1e-3, horizon=T), losses, 50.0), np.zeros(3))
    assert found.ratio > 1.0
    assert not found.within
    assert f"measured {found.measured:.6g} > bound {found.bound:.6g}" in str(found)


MEMORY = dw.FilteredLoss([0.5, 0.3, 0.2], LOSSES.data.features, LOSSES.data.targets)
LIPSCHITZ = MEMORY.switching_costs(BALL).tight
BUILT: dict[str, Any] = {"gradient_bound": G, "switching_cost": LIPSCHITZ, "horizon": T}
BOUNDED: dict[str, Any] = {**MOVED, "switching_cost": LIPSCHITZ, "policy": True}


@pytest.mark.parametrize(
    ("make", "bound"),
    [
        (lambda: dw.OGD(BALL, **BUILT), lambda: bounds.ogd(**BOUNDED)),
        (lambda: dw.Scream(BALL, **BUILT), lambda: bounds.scream(**BOUNDED)),
        (lambda: dw.LazyScream(BALL, **BUILT, epoch=2), lambda: bounds.lazy_scream(**BOUNDED, epoch=2)),
    ],
)
def test_memory_is_measured_as_policy_regret(make: Callable[[], dw.Learner], bound: Callable[[], float]) -> None:
    trace = dw.play(make(), MEMORY)
    found = certificate(trace, MOVING)
    assert found.measure == "dynamic policy regret with switching cost 0"
    assert found.measured == pytest.approx(dynamic_policy_regret(trace, MEMORY, MOVING), rel=1e-9)
    assert found.bound == pytest.approx(bound(), rel=1e-9)
    assert found.guaranteed
    assert found.ratio <= 1.0


def test_memory_and_a_price_add_up() -> None:
    trace = dw.play(_scream(switching_cost=LIPSCHITZ + 1.0), MEMORY, 1.0)
    found = certificate(trace, MOVING)
    assert found.measured == pytest.approx(dynamic_policy_regret(trace, MEMORY, MOVING) + trace.total_switching)
    assert found.bound == pytest.approx(bounds.scream(**MOVED, switching_cost=LIPSCHITZ + 1.0) + LIPSCHITZ * P)
    assert found.guaranteed
    assert not certificate(dw.play(_scream(switching_cost=LIPSCHITZ), MEMORY, 1.0), MOVING).guaranteed


@pytest.mark.parametrize(("memory", "unknown"), [(0, []), (2, ["memory"])])
def test_what_cannot_be_known_of_custom_losses_is_not_checked(memory: int, unknown: list[str]) -> None:
    trace = dw.play(_scream(horizon=30), custom(3, 30, memory, compile="never"), PRICE)
    found = certificate(trace, np.zeros(3))
    assert [assumption.name for assumption in found.assumptions if assumption.holds is None] == unknown
    assert found.guaranteed is (not unknown)
    assert f"the theorem applies{' if what was not checked holds' if unknown else ''}\n" in str(found)
    assert f"{'convexity':<15} holds" in str(found)


@pytest.mark.parametrize(
    "make", [lambda: type("Mine", (dw.Scream,), {})(BALL, **PRICED, horizon=T), lambda: Still(BALL)]
)
def test_no_theorem_is_known_for_learners_of_ones_own(make: Callable[[], dw.Learner]) -> None:
    trace = dw.play(make(), LOSSES)
    check_refused(lambda: certificate(trace, MOVING), "no theorem", type(trace.learner).__name__, kind=InputError)


@pytest.mark.parametrize(
    ("comparators", "words"),
    [
        (MOVING[:-1], ("comparators", "(400, 3)", "(399, 3)")),
        (MOVING[:, :2], ("comparators", "(400, 3)", "(400, 2)")),
        (np.where(np.arange(T)[:, None] == 9, 2.0, MOVING), ("comparators", "Ball(3", "round 9", "project")),
        ([2.0, 0.0, 0.0], ("comparators", "Ball(3", "does not")),
        ([math.nan, 0.0, 0.0], ("comparators", "nan")),
        ("best", ("comparators",)),
    ],
)
def test_impossible_comparators_and_runs_are_refused(comparators: Any, words: tuple[str, ...]) -> None:
    check_refused(lambda: certificate(_run("OGD"), comparators), "certificate", *words, kind=InputError)
    untyped: Any = certificate
    check_refused(lambda: untyped(LOSSES, MOVING), "certificate: trace", kind=ParameterError)


LOPSIDED = dw.MoveCost(up=[3.0, 0.0, 1.0], down=[2.0, 4.0, 1.0], norm="l2")
DEAR = dw.MoveCost(up=[3.0, 2.5, 4.0], down=[2.0, 4.0, 3.0], norm="l2")
ADDED = dw.MoveCost(up=[3.0, 2.5, 4.0], down=[2.0, 4.0, 3.0])


def _price(cost: float | dw.MoveCost, moves: Array) -> Array:
    """Return what moves cost."""
    if isinstance(cost, dw.MoveCost):
        return np.asarray(cost(moves))
    return np.asarray(cost * np.linalg.norm(moves, axis=1))


def _once_and_per_unit(cost: float | dw.MoveCost) -> tuple[float, float]:
    """Return what a run in the ball pays beyond the means of up and down, and the most for a unit of distance."""
    if not isinstance(cost, dw.MoveCost):
        return 0.0, cost
    up, down = cost.prices(3)
    if cost.norm == "l2":
        return 0.0, float(max(up.max(), down.max()))
    return float(np.linalg.norm(up - down)), float(np.linalg.norm((up + down) / 2.0))


@pytest.mark.parametrize(
    ("built", "played", "holds"),
    [
        (DEAR, 2.0, True),
        (DEAR, 2.1, False),  # the first coordinate goes down for 2
        (ADDED, 2.0, True),
        (ADDED, 2.1, False),
        (4.0, LOPSIDED, True),
        (3.9, LOPSIDED, False),
        (2.0 * math.sqrt(3.0), dw.MoveCost(2.0), True),
        (3.4, dw.MoveCost(2.0), False),
        (DEAR, DEAR, True),
        (ADDED, ADDED, True),
        (ADDED, DEAR, True),
        (DEAR, ADDED, False),
        (DEAR, LOPSIDED, True),
        (LOPSIDED, DEAR, False),
        (dw.MoveCost(PRICE, norm="l2"), PRICE, True),
    ],
)
@pytest.mark.parametrize("kind", [dw.Scream, dw.LazyScream])
def test_the_theorems_extend_to_prices_that_are_nowhere_above_those_of_the_learner(
    kind: Any, built: float | dw.MoveCost, played: float | dw.MoveCost, holds: bool
) -> None:
    trace = dw.play(kind(BALL, switching_cost=built, gradient_bound=G, horizon=T), LOSSES, played)
    found = certificate(trace, MOVING)
    moves = np.vstack([np.eye(3), -np.eye(3), np.random.default_rng(0).normal(size=(2000, 3))])
    assert bool(np.all(_price(played, moves) <= _price(built, moves) * (1.0 + 1e-9))) is holds
    assert found.guaranteed is holds
    text = found.assumptions[-1].text
    assert found.assumptions[-1].name == "switching cost"
    assert all(str(cost) in text or f"{cost:g}" in text for cost in (built, played) if cost != PRICE)
    bound = {dw.Scream: bounds.scream, dw.LazyScream: bounds.lazy_scream}[kind]
    once, per_unit = _once_and_per_unit(built)
    assert found.bound == pytest.approx(bound(**MOVED, switching_cost=per_unit) + once, rel=1e-9)
    free = dynamic_regret(trace, LOSSES, MOVING, switching_cost=0.0)
    assert found.measured == pytest.approx(free + trace.total_switching, rel=1e-9)
    assert found.within


def test_memory_counts_beside_prices() -> None:
    learner = dw.Scream(BALL, switching_cost=4.0 + LIPSCHITZ, gradient_bound=G, horizon=T)
    found = certificate(dw.play(learner, MEMORY, LOPSIDED), MOVING)
    assert found.guaranteed
    assert f"{LIPSCHITZ:.6g} for memory" in found.assumptions[-1].text
    learner = dw.Scream(BALL, switching_cost=3.9 + LIPSCHITZ, gradient_bound=G, horizon=T)
    assert not certificate(dw.play(learner, MEMORY, LOPSIDED), MOVING).guaranteed


def test_memory_is_added_to_prices_that_add_up() -> None:
    """Of a distance, l1 is never less than l2, so raising every price of l1 by memory's is enough."""
    for raised, holds in ((LIPSCHITZ, True), (0.99 * LIPSCHITZ, False)):
        up, down = ADDED.prices(3) + raised
        learner = dw.Scream(BALL, switching_cost=dw.MoveCost(up, down), gradient_bound=G, horizon=T)
        found = certificate(dw.play(learner, MEMORY, ADDED), MOVING)
        assert found.guaranteed is holds
    once, per_unit = _once_and_per_unit(dw.MoveCost(*(ADDED.prices(3) + LIPSCHITZ)))
    learner = dw.Scream(BALL, switching_cost=dw.MoveCost(*(ADDED.prices(3) + LIPSCHITZ)), gradient_bound=G, horizon=T)
    found = certificate(dw.play(learner, MEMORY, ADDED), MOVING)
    assert found.bound == pytest.approx(bounds.scream(**MOVED, switching_cost=per_unit) + once + LIPSCHITZ * P)
    assert found.within


def test_learners_that_know_no_price_are_held_against_the_most_that_a_move_may_cost() -> None:
    found = certificate(dw.play(dw.OGD(BALL, **PRICED, horizon=T), LOSSES, LOPSIDED), MOVING)
    assert found.guaranteed
    assert found.measure == f"dynamic regret with switching cost {LOPSIDED}"
    assert found.bound == pytest.approx(bounds.ogd(**MOVED, switching_cost=4.0, step=STEP), rel=1e-9)
    hedge = dw.Hedge(3, loss_bound=G, rate=0.1)
    trace = dw.play(hedge, LOSSES, LOPSIDED)
    found = certificate(trace, FIXED)
    assert found.measure == f"dynamic regret with switching cost {LOPSIDED}"
    assert found.guaranteed
    assert found.measured == pytest.approx(dynamic_regret(trace, LOSSES, FIXED, switching_cost=LOPSIDED), rel=1e-9)
    steepest = float(np.asarray([LOPSIDED.up, LOPSIDED.down]).max())
    expected = bounds.hedge(
        horizon=T,
        experts=3,
        loss_bound=G,
        switching_cost=steepest,
        rate=0.1,
        prior=math.exp(FIXED @ np.log([1 / 3] * 3)),
    )
    assert found.bound == pytest.approx(expected, rel=1e-9)
    ader = dw.Ader(BALL, gradient_bound=G, horizon=T)  # whose theorem counts no moves, whatever they cost
    found = certificate(dw.play(ader, LOSSES, LOPSIDED), MOVING)
    assert found.measure == "dynamic regret, moves not counted"


def _shared(share: float = 0.01) -> dw.Hedge:
    return dw.Hedge(3, loss_bound=G, switching_cost=PRICE, horizon=T, prior=[0.5, 0.3, 0.2], share=share)


MOVING_EXPERTS = np.eye(3)[np.arange(T) // 100 % 3]


def test_shared_weights_cover_experts_that_change() -> None:
    found = certificate(dw.play(_shared(), LOSSES, PRICE), MOVING_EXPERTS)
    assert found.guaranteed
    assert found.path_length == 6.0
    given: dict[str, Any] = {"horizon": T, "experts": 3, "loss_bound": G, "switching_cost": PRICE, "rate": EPS}
    assert found.bound == pytest.approx(bounds.hedge(**given, prior=0.5, path_length=6.0, share=0.01, least=0.2))
    assert "move by 6" in found.assumptions[-1].text
    assert "weights keep 0.01" in found.assumptions[-1].text
    assert not certificate(dw.play(_shared(0.0), LOSSES, PRICE), MOVING_EXPERTS).guaranteed


def test_shared_shares_of_a_larger_simplex_are_covered_too() -> None:
    domain, mirror = dw.Simplex(3, 2.0), dw.mirror.NegativeEntropy(0.02)
    learner = dw.MirrorDescent(domain, mirror=mirror, **PRICED, horizon=T)
    found = certificate(dw.play(learner, LOSSES, PRICE), 2.0 * MOVING_EXPERTS)
    assert found.guaranteed
    assert found.ratio <= 1.0
    # In shares of 2: losses and prices are twice as large, and the step is that of the shares times 2^2.
    (step,) = learner.step_sizes
    given: dict[str, Any] = {"horizon": T, "experts": 3, "loss_bound": 2.0 * G, "switching_cost": 2.0 * PRICE}
    assert found.bound == pytest.approx(bounds.hedge(**given, rate=step / 4.0, path_length=6.0, share=0.02), rel=1e-9)


class _Spiteful:
    """Losses that always punish the expert with most weight, and reward another, which changes now and then."""

    def __init__(self, share: float, rate: float, seed: int) -> None:
        rng = np.random.default_rng(seed)
        learner, n, T = dw.Hedge(5, rate=rate, share=share), 5, 400
        good, rows, best = 0, [], []
        for t in range(T):
            w = learner.act()
            if t % 60 == 0:
                good = int(np.argmin(w))
            row = rng.choice([-1.0, 1.0], n) if seed % 2 else np.zeros(n)
            row[int(np.argmax(w))], row[good] = 1.0, -1.0
            learner.observe(row)
            rows.append(row)
            best.append(good)
        self.losses, self.best = dw.LinearLoss(np.array(rows)), np.eye(n)[best]


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("share", [1.0 / 400, 0.05])
@pytest.mark.parametrize("price", [0.0, 0.1, 5.0])
def test_a_spiteful_choice_of_losses_stays_within_the_bound_of_shared_weights(
    share: float, seed: int, price: float
) -> None:
    rate = [0.02, 0.1, 0.4, 2.0][seed // 2]
    world = _Spiteful(share, rate, seed)
    learner = dw.Hedge(5, rate=rate, share=share)
    found = certificate(dw.play(learner, world.losses, price), world.best)
    assert found.guaranteed
    assert 0.0 < found.ratio <= 1.0


@pytest.mark.parametrize("where", ["box", "simplex"])
@pytest.mark.parametrize("p", [1.1, 1.5, 2.0])
def test_p_norms_cover_comparators_that_move(p: float, where: str) -> None:
    domain: dw.Domain = dw.Box([-1.0, -0.5, 0.0], [1.0, 0.5, 2.0]) if where == "box" else SIMPLEX
    mirror, walk = dw.mirror.PNorm(p), domain.project(2.0 * MOVING)
    losses = dw.TrackingLoss(walk)
    steep = 10.0
    learner = dw.MirrorDescent(domain, mirror=mirror, gradient_bound=steep, switching_cost=PRICE, horizon=T)
    found = certificate(dw.play(learner.clone(), losses, PRICE), walk)
    assert found.guaranteed
    assert found.ratio <= 1.0
    moved = float(np.linalg.norm(np.diff(walk, axis=0), p, axis=1).sum())
    assert found.path_length == pytest.approx(moved, rel=1e-9)
    radius = math.sqrt(mirror.radius_squared(domain, learner.base_decisions[0]))
    given: dict[str, Any] = {"horizon": T, "gradient_bound": steep, "switching_cost": PRICE, "radius": radius}
    expected = bounds.mirror_descent(**given, path_length=moved, lipschitz=mirror.lipschitz(domain))
    assert found.bound == pytest.approx(expected, rel=1e-9)
    assert f"{mirror.lipschitz(domain):g}-Lipschitz" in found.assumptions[-1].text


def test_the_original_ader_needs_gradients_within_the_bound_everywhere() -> None:
    """Losses with a slope of 1 at the decision and of 30 on the other side of 0: the bound does not hold for them."""
    domain, rounds, steep = dw.Box([-1.0], [1.0]), 2000, 30.0
    learner = dw.Ader(domain, gradient_bound=1.0, horizon=rounds, variant="original", start=[1.0])
    player, x = learner.clone(), np.empty((rounds, 1))
    for t in range(rounds):
        x[t] = (steep + 1.0) * (1.0 if player.act()[0] >= 0.0 else -1.0)
        player.observe(dw.QuantileLoss(x[t : t + 1], np.zeros(1), quantile=steep / (steep + 1.0))[0])
    losses = dw.QuantileLoss(x, np.zeros(rounds), quantile=steep / (steep + 1.0))
    found = certificate(dw.play(learner, losses), np.zeros((rounds, 1)))
    assert not found.within
    assert not found.guaranteed
    assert "own points" in found.assumptions[1].text
    enough = dw.Ader(domain, gradient_bound=31.0, horizon=rounds, variant="original", start=[1.0])
    found = certificate(dw.play(enough, losses), np.zeros((rounds, 1)))
    assert found.within
    assert found.guaranteed


def test_a_hint_before_the_run_is_noticed() -> None:
    learner = _scream()
    learner.act(hint=np.ones(3))
    found = certificate(dw.play(learner, LOSSES, PRICE), MOVING)
    assert [one.name for one in found.assumptions if one.holds is False] == ["start"]
    assert "a hint had been given" in str(found)


@pytest.mark.parametrize("seed", range(20))
def test_rounding_is_no_violation(seed: int) -> None:
    rng = np.random.default_rng(seed)
    g = rng.standard_normal(3)
    away = g / np.linalg.norm(g)
    losses, size = dw.LinearLoss(g[None]), float(np.linalg.norm(g))
    for learner in (
        dw.OGD(BALL, gradient_bound=size, horizon=1, start=BALL.project(away)),
        dw.Scream(BALL, gradient_bound=size, switching_cost=0.0, start=BALL.project(away)),
        dw.StronglyAdaptive(BALL, gradient_bound=size, switching_cost=0.0, start=BALL.project(away)),
    ):
        found = certificate(dw.play(learner, losses), BALL.project(-away))
        assert found.guaranteed
        assert found.within


def test_where_nothing_happens_nothing_is_lost() -> None:
    learner = dw.SelfTunedScream(BALL, switching_cost=0.0)
    found = certificate(dw.play(learner, dw.LinearLoss(np.zeros((5, 3)))), np.zeros((5, 3)))
    assert found.bound == found.measured == found.ratio == 0.0
    assert found.within
    assert "ratio 0.00%" in str(found)
