"""The meta-base decomposition, against sums written out by hand."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import driftwise as dw
from driftwise._validate import Array
from driftwise.errors import InputError, ParameterError
from driftwise.learners import Ensemble, Meta, Pool, Surrogate
from driftwise.regret import Decomposition, decompose, decomposition, dynamic_regret
from tests.cases import check_refused, knowledge, stream
from tests.optimum.problems import Still

T, PRICE, G = 70, 1.5, 2.1
BALL = dw.Ball(2)
LOSSES = dw.streams.drifting_regression(rounds=T, dim=2, segment=20, seed=3)
MOVING = LOSSES.generator
SETTINGS: dict[str, Any] = {"gradient_bound": G, "switching_cost": PRICE}

LEARNERS: dict[str, Callable[[], Ensemble]] = {
    "Scream": lambda: dw.Scream(BALL, **SETTINGS, horizon=T),
    "Scream growing": lambda: dw.Scream(BALL, **SETTINGS),
    "Scream doubling": lambda: dw.Scream(BALL, **SETTINGS, horizon_free="doubling"),
    "LazyScream": lambda: dw.LazyScream(BALL, **SETTINGS, horizon=T, epoch=4),
    "LazyScream growing": lambda: dw.LazyScream(BALL, **SETTINGS, epoch=4),
    "Ader improved": lambda: dw.Ader(BALL, gradient_bound=G, horizon=T),
    "Ader original": lambda: dw.Ader(BALL, gradient_bound=G, horizon=T, variant="original"),
    "Ensemble": lambda: Ensemble(
        BALL, pool=Pool([0.1, 5.0]), meta=Meta(2.0, [3.0, 1.0]), surrogate=Surrogate(1.0), horizon=T
    ),
    "OGD": lambda: dw.OGD(BALL, **SETTINGS, horizon=T),
}


def _watched(learner: dw.Ensemble, losses: dw.LossStream) -> tuple[list[Array], list[Array], list[Array]]:
    """Play with the two verbs; return base decisions, weights and gradients of every round."""
    points, weights, gradients = [], [], []
    for t in range(len(losses)):
        w = learner.act()
        points.append(learner.base_decisions)
        weights.append(learner.weights)
        gradients.append(losses.gradient(t, w))
        learner.observe(losses[t])
    return points, weights, gradients


def _by_hand(learner: dw.Ensemble, losses: dw.LossStream, v: Array, lambda_: float) -> dict[str, list[float]]:
    """Return the decomposition of Section 4.3, one base-learner at a time; those yet to join follow the decision."""
    points, weights, gradients = _watched(learner.clone(), losses)
    count = len(_after(learner, losses).step_sizes)
    decisions = [p @ w for p, w in zip(weights, points, strict=True)]
    rows = [np.vstack([q, np.tile(w, (count - len(q), 1))]) for q, w in zip(points, decisions, strict=True)]
    odds = [np.concatenate([p, np.zeros(count - len(p))]) for p in weights]
    result: dict[str, list[float]] = {"meta": [], "base": [], "totals": [], "moves": []}
    for i in range(count):
        meta = base = total = moved = 0.0
        for t in range(len(losses)):
            g, last = gradients[t], max(t - 1, 0)
            fed = [float(g @ rows[t][j] + lambda_ * np.linalg.norm(rows[t][j] - rows[last][j])) for j in range(count)]
            step = float(np.linalg.norm(rows[t][i] - rows[last][i]))
            meta += sum(odds[t][j] * fed[j] for j in range(count)) - fed[i]
            meta += lambda_ * learner.domain.diameter * float(np.abs(odds[t] - odds[last]).sum())
            base += float(g @ (rows[t][i] - v[t])) + lambda_ * step
            total += fed[i]
            moved += step
        for name, value in zip(result, (meta, base, total, moved), strict=True):
            result[name].append(value)
    return result


def _after(learner: dw.Ensemble, losses: dw.LossStream) -> dw.Ensemble:
    """Return a copy of the learner as it is after the run."""
    copy = learner.clone()
    dw.play(copy, losses)
    return copy


def _check_same(found: Decomposition, expected: Decomposition) -> None:
    for part in ("meta", "base", "totals", "moves", "step_sizes"):
        np.testing.assert_allclose(getattr(found, part), getattr(expected, part), rtol=1e-10, atol=1e-10)
    assert found.regret == expected.regret


@pytest.mark.parametrize("name", LEARNERS)
def test_every_part_is_the_sum_of_the_paper(name: str) -> None:
    learner = LEARNERS[name]()
    found = decompose(dw.play(learner.clone(), LOSSES, PRICE), MOVING)
    for part, expected in _by_hand(learner, LOSSES, MOVING, PRICE).items():
        np.testing.assert_allclose(getattr(found, part), expected, rtol=1e-9, atol=1e-9, err_msg=part)
    np.testing.assert_array_equal(found.step_sizes, _after(learner, LOSSES).step_sizes)


@pytest.mark.parametrize("name", LEARNERS)
def test_meta_and_base_add_up_to_the_same_for_all_and_bound_the_regret(name: str) -> None:
    trace = dw.play(LEARNERS[name](), LOSSES, PRICE)
    found = decompose(trace, MOVING)
    np.testing.assert_allclose(found.meta + found.base, found.total, rtol=1e-12)
    assert found.regret == dynamic_regret(trace, LOSSES, MOVING)
    assert found.regret <= found.total
    assert found.best == int(np.argmin(found.totals))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", ["linear", "absolute", "filtered", "tracking"])
def test_the_regret_is_bounded_on_other_losses_and_sequences(kind: str, seed: int) -> None:
    losses = stream(kind, 2, T)
    v = BALL.project(np.random.default_rng(seed).normal(size=(T, 2)))
    found = decompose(dw.play(LEARNERS["Scream"](), losses, PRICE), v)
    assert found.regret <= found.total + 1e-9
    np.testing.assert_allclose(found.meta + found.base, found.total, rtol=1e-10, atol=1e-10)


def test_on_linear_losses_without_a_price_the_bound_is_the_regret() -> None:
    found = decompose(dw.play(LEARNERS["Ader improved"](), stream("linear", 2, T)), np.zeros(2))
    assert found.total == pytest.approx(found.regret, rel=1e-10)


def test_one_learner_alone_has_no_meta_regret() -> None:
    trace = dw.play(LEARNERS["OGD"](), LOSSES, PRICE)
    found = decompose(trace, MOVING)
    assert found.meta.tolist() == pytest.approx([0.0], abs=1e-10)
    assert found.moves.tolist() == pytest.approx([trace.moves.sum()], rel=1e-10)
    slopes = [LOSSES.gradient(t, trace.decisions[t]) for t in range(T)]
    own = sum(float(g @ w) for g, w in zip(slopes, trace.decisions, strict=True)) + trace.total_switching
    assert found.totals.tolist() == pytest.approx([own], rel=1e-10)


def test_a_single_comparator_stands_for_all_rounds() -> None:
    trace = dw.play(LEARNERS["Scream"](), LOSSES, PRICE)
    _check_same(decompose(trace, [0.3, -0.2]), decompose(trace, np.tile([0.3, -0.2], (T, 1))))


def test_the_price_is_that_of_the_trace_unless_given() -> None:
    free, priced = (dw.play(LEARNERS["Scream"](), LOSSES, price) for price in (0.0, PRICE))
    _check_same(decompose(free, MOVING, PRICE), decompose(priced, MOVING))
    _check_same(decompose(priced, MOVING, 0.0), decompose(free, MOVING))
    assert decompose(free, MOVING).total < decompose(priced, MOVING).total


@pytest.mark.parametrize("size", [1, 7, T - 1, T])
@pytest.mark.parametrize("name", ["Scream growing", "Scream doubling", "LazyScream", "Ader original"])
def test_how_many_rounds_are_held_at_once_does_not_matter(
    name: str, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = dw.play(LEARNERS[name](), LOSSES, PRICE)
    expected = decompose(trace, MOVING)
    monkeypatch.setattr(decomposition, "CHUNK", size)
    _check_same(decompose(trace, MOVING), expected)


@pytest.mark.parametrize("name", LEARNERS)
def test_the_trace_is_not_changed(name: str) -> None:
    trace = dw.play(LEARNERS[name](), LOSSES, PRICE)
    assert isinstance(trace.learner, Ensemble)
    before = knowledge(trace.learner)
    _check_same(decompose(trace, MOVING), decompose(trace, MOVING))
    assert knowledge(trace.learner) == before
    assert trace.learner.round == 0


def test_a_run_that_began_in_the_middle_is_decomposed_from_there() -> None:
    learner = dw.Scream(BALL, **SETTINGS, horizon=2 * T)
    dw.play(learner, LOSSES)
    middle = learner.clone()
    found = decompose(dw.play(learner, LOSSES, PRICE), MOVING)
    for part, expected in _by_hand(middle, LOSSES, MOVING, PRICE).items():
        np.testing.assert_allclose(getattr(found, part), expected, rtol=1e-9, atol=1e-9, err_msg=part)


def test_the_text_has_every_base_learner_and_marks_the_best() -> None:
    found = decompose(dw.play(LEARNERS["Scream"](), LOSSES, PRICE), MOVING)
    lines = str(found).splitlines()
    assert f"{found.regret:.6g} <= meta + base = {found.total:.6g}" in lines[0]
    assert len(lines) == 2 + found.meta.size
    for i, line in enumerate(lines[2:]):
        numbers = (f"{found.step_sizes[i]:.4g}", *(f"{row[i]:.6g}" for row in (found.totals, found.meta, found.base)))
        assert tuple(line.split()[:4]) == numbers
        assert ("least own total" in line) == (i == found.best)


@pytest.mark.parametrize(
    ("make", "comparators", "price", "words", "kind"),
    [
        (lambda: Still(BALL), MOVING, None, ("Still", "no base-learners", "Scream"), InputError),
        (LEARNERS["Scream"], MOVING[1:], None, ("comparators", "(70, 2)", "(69, 2)"), InputError),
        (LEARNERS["Scream"], [2.0, 0.0], None, ("comparators", "Ball(2"), InputError),
        (LEARNERS["Scream"], MOVING, -1.0, ("switching_cost", "-1.0"), ParameterError),
        (LEARNERS["Scream"], MOVING, math.nan, ("switching_cost", "nan"), ParameterError),
    ],
)
def test_what_cannot_be_decomposed_is_refused(
    make: Callable[[], dw.Learner], comparators: Any, price: float | None, words: tuple[str, ...], kind: type[Exception]
) -> None:
    trace = dw.play(make(), LOSSES)
    check_refused(lambda: decompose(trace, comparators, price), "decompose", *words, kind=kind)


class Opposite(dw.OGD):
    """A subclass whose decision is not the mixture of its base-learners."""

    def _decide(self) -> Array:
        return -super()._decide()


def test_what_is_said_of_a_subclass_is_true_or_refused() -> None:
    trace = dw.play(Opposite(BALL, step=0.3), LOSSES, PRICE)
    try:
        found = decompose(trace, MOVING)
    except InputError:
        return
    assert found.regret <= found.total


def test_prices_that_the_theory_does_not_know_are_refused_with_a_number_that_will_do() -> None:
    cost = dw.MoveCost(up=[3.0, 1.0], down=[2.0, 4.0])
    trace = dw.play(LEARNERS["Scream"](), LOSSES, cost)
    words = ("decompose", "largest(2)", "give switching_cost=5")
    check_refused(lambda: decompose(trace, MOVING), *words, kind=ParameterError)
    check_refused(lambda: decompose(trace, MOVING, cost), *words, kind=ParameterError)
    assert decompose(trace, MOVING, 5.0).regret >= dynamic_regret(trace, LOSSES, MOVING)
    assert decompose(trace, MOVING, dw.MoveCost(PRICE, norm="l2")).regret == decompose(trace, MOVING, PRICE).regret
