"""Measures of regret, against plain loops."""

import functools
import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import driftwise as dw
from driftwise._validate import Array
from driftwise.errors import ArgumentError, DriftwiseError, InputError, ParameterError
from driftwise.regret import (
    best_fixed,
    dynamic_policy_regret,
    dynamic_regret,
    path_length,
    regret_over_time,
    static_policy_regret,
)
from tests.cases import check_refused, custom
from tests.optimum.problems import DIM, GENERAL, QUADRATIC, built_in, cheapest_held
from tests.strategies import vectors

ROUNDS, LAMBDA = 24, 0.7
MEASURES: tuple[Any, ...] = (dynamic_policy_regret, dynamic_regret, regret_over_time)


KINDS = (*QUADRATIC, *GENERAL, "custom", "custom with memory")


@functools.cache
def run(kind: str) -> dw.Trace:
    memory = 2 if kind == "custom with memory" else 0
    own = kind.startswith("custom")
    losses = custom(DIM, ROUNDS, memory, compile="never") if own else built_in(kind, ROUNDS)
    return dw.play(dw.OGD(dw.Ball(DIM), step=0.3), losses, LAMBDA)


def moving(seed: int = 1) -> Array:
    return dw.Ball(DIM).project(np.random.default_rng(seed).standard_normal((ROUNDS, DIM)))


def windows(losses: dw.LossStream, w: Array) -> float:
    """Return the losses of the windows, added up in a plain loop."""
    total = 0.0
    for t in range(ROUNDS):
        total += losses.value(t, [w[max(t - age, 0)] for age in range(losses.memory, -1, -1)])
    return total


@pytest.mark.parametrize("kind", KINDS)
def test_policy_regret_is_what_a_loop_over_windows_finds(kind: str) -> None:
    trace, v = run(kind), moving()
    expected = windows(trace.stream, trace.decisions) - windows(trace.stream, v)
    assert dynamic_policy_regret(trace, trace.stream, v) == pytest.approx(expected, abs=1e-11)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("order", [1.0, 2.0, math.inf])
def test_dynamic_regret_is_what_a_loop_over_rounds_finds(kind: str, order: float) -> None:
    trace, v = run(kind), moving()
    losses, w, expected = trace.stream, trace.decisions, []
    for t in range(ROUNDS):
        step = np.linalg.norm(w[t] - w[max(t - 1, 0)], ord=order)
        expected.append(losses.unary_value(t, w[t]) - losses.unary_value(t, v[t]) + LAMBDA * step)
    found = regret_over_time(trace, losses, v, norm=order)
    np.testing.assert_allclose(found, np.cumsum(expected), rtol=0.0, atol=1e-11)
    assert dynamic_regret(trace, losses, v, norm=order) == found[-1]


def test_without_memory_and_with_free_moves_all_measures_agree() -> None:
    trace, v = run("squared"), moving()
    plain = dynamic_regret(trace, trace.stream, v, switching_cost=0.0)
    assert plain == pytest.approx(dynamic_policy_regret(trace, trace.stream, v), abs=1e-12)
    assert dynamic_regret(trace, trace.stream, v) == pytest.approx(plain + trace.total_switching, abs=1e-12)
    assert dynamic_regret(trace, trace.stream, v, 2 * LAMBDA) == pytest.approx(plain + 2 * trace.total_switching)


PRICES = dw.MoveCost(up=[3.0, 1.0, 0.0, 0.5], down=2.0)


def test_prices_up_and_down_count_in_the_regret() -> None:
    trace, v = run("squared"), moving()
    priced = dw.play(trace.learner.clone(), trace.stream, PRICES)
    free = regret_over_time(trace, trace.stream, v, 0.0)
    expected = free + np.cumsum(priced.move_costs)
    np.testing.assert_allclose(regret_over_time(trace, trace.stream, v, PRICES), expected, rtol=1e-12)
    np.testing.assert_allclose(regret_over_time(priced, trace.stream, v), expected, rtol=1e-12)
    assert dynamic_regret(priced, trace.stream, v) - free[-1] == pytest.approx(priced.total_switching, rel=1e-9)
    assert priced.total_switching > 0.0


def test_a_price_that_is_not_that_of_the_trace_is_the_one_that_counts() -> None:
    trace, v = run("squared"), moving()
    taxi = np.abs(np.diff(trace.decisions, axis=0)).sum()
    free = dynamic_regret(trace, trace.stream, v, 0.0)
    assert dynamic_regret(trace, trace.stream, v, 3.0, norm=1.0) == pytest.approx(free + 3.0 * taxi, rel=1e-12)


@pytest.mark.parametrize("kind", ["squared", "filtered", "absolute", "logistic"])
def test_static_regret_is_to_the_best_fixed_decision(kind: str) -> None:
    trace, losses = run(kind), built_in(kind, ROUNDS)
    expected = windows(losses, trace.decisions) - cheapest_held(losses, dw.Ball(DIM))
    assert static_policy_regret(trace) == pytest.approx(expected, abs=1e-6)
    fixed = best_fixed(losses, dw.Ball(DIM))
    assert static_policy_regret(trace) == pytest.approx(dynamic_policy_regret(trace, losses, fixed), abs=1e-10)


def test_static_regret_in_another_domain() -> None:
    trace, losses, small = run("tracking"), built_in("tracking", ROUNDS), dw.Ball(DIM, radius=0.01)
    expected = windows(losses, trace.decisions) - cheapest_held(losses, small)
    assert static_policy_regret(trace, domain=small) == pytest.approx(expected, abs=1e-6)
    assert static_policy_regret(trace, domain=small) < static_policy_regret(trace)


@pytest.mark.parametrize("measure", MEASURES)
def test_one_comparator_stands_for_all_rounds(measure: Any) -> None:
    trace, v = run("filtered"), moving()[0]
    np.testing.assert_array_equal(
        measure(trace, trace.stream, v), measure(trace, trace.stream, np.tile(v, (ROUNDS, 1)))
    )


@pytest.mark.parametrize("measure", MEASURES)
def test_a_run_has_no_regret_to_itself_but_for_its_moves(measure: Any) -> None:
    trace = run("squared")
    found = measure(trace, trace.stream, trace.decisions)
    expected = {dynamic_policy_regret: 0.0, dynamic_regret: trace.total_switching}
    np.testing.assert_allclose(found, expected.get(measure, LAMBDA * np.cumsum(trace.moves)), rtol=0.0, atol=1e-12)


def test_a_run_may_be_judged_by_other_losses_than_it_played() -> None:
    trace, other, v = run("squared"), built_in("tracking", ROUNDS), moving()
    expected = windows(other, trace.decisions) - windows(other, v)
    assert dynamic_policy_regret(trace, other, v) == pytest.approx(expected, abs=1e-11)
    assert dynamic_regret(trace, other, v, 0.0) == pytest.approx(expected, abs=1e-11)
    fixed = windows(other, trace.decisions) - cheapest_held(other, dw.Ball(DIM))
    assert static_policy_regret(trace, other) == pytest.approx(fixed, abs=1e-6)


@given(vectors((7, 3)), st.sampled_from([1.0, 1.5, 2.0, 3.0, math.inf]))
def test_path_length_is_the_sum_of_the_steps(v: Array, order: float) -> None:
    expected = sum(float(np.linalg.norm(b - a, ord=order)) for a, b in itertools.pairwise(v))
    assert path_length(v, order) == pytest.approx(expected, rel=1e-12)


def test_path_length_of_plain_numbers_and_of_one_round() -> None:
    assert path_length([0.0, 1.0, -1.0]) == 3.0
    assert path_length([[3.0, 4.0]]) == 0.0


TRACE = run("squared")
PATH: Any = path_length
STATIC: Any = static_policy_regret


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize(
    ("comparators", "words"),
    [
        (np.full((ROUNDS, DIM), 0.9), ("must lie in Ball(4", "round 0")),
        (np.zeros((ROUNDS - 1, DIM)), ("(24, 4)", "(23, 4)")),
        (np.zeros((ROUNDS, DIM - 1)), ("(24, 4)", "(24, 3)")),
        (np.zeros(DIM + 1), ("(4,)", "(5,)")),
        (np.full((ROUNDS, DIM), np.nan), ("finite", "nan")),
        ([[0.0], [0.0, 1.0]], ("comparators",)),
        (0.5, ("comparators",)),
        ("best", ("comparators",)),
    ],
)
def test_comparators_that_do_not_fit_are_refused(measure: Any, comparators: Any, words: tuple[str, ...]) -> None:
    check_refused(lambda: measure(TRACE, TRACE.stream, comparators), "comparators", *words, kind=InputError)


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (lambda: MEASURES[0]("me", TRACE.stream, np.zeros(DIM)), ParameterError, ("trace", "got 'me'")),
        (lambda: MEASURES[1]("me", TRACE.stream, np.zeros(DIM)), ParameterError, ("trace", "got 'me'")),
        (lambda: MEASURES[0](TRACE, built_in("squared", 9), np.zeros(DIM)), InputError, ("24 rounds", "rounds=9")),
        (lambda: MEASURES[0](TRACE, "mine", np.zeros(DIM)), ParameterError, ("losses", "got 'mine'")),
        (lambda: MEASURES[1](TRACE, TRACE.stream, np.zeros(DIM), -1.0), ParameterError, ("switching_cost", "-1.0")),
        (lambda: MEASURES[1](TRACE, TRACE.stream, np.zeros(DIM), math.nan), ParameterError, ("switching_cost", "nan")),
        (lambda: MEASURES[1](TRACE, TRACE.stream, np.zeros(DIM), norm=0.5), ParameterError, ("norm", "got 0.5")),
        (
            lambda: MEASURES[1](TRACE, TRACE.stream, np.zeros(DIM), PRICES, norm=1.0),
            ParameterError,
            ("norm", "has a norm of its own"),
        ),
        (
            lambda: MEASURES[1](TRACE, TRACE.stream, np.zeros(DIM), dw.MoveCost(up=[1.0, 2.0])),
            ParameterError,
            ("2 coordinates", "decisions have 4"),
        ),
        (lambda: MEASURES[1](TRACE, TRACE.stream), ArgumentError, ("comparators",)),
        (lambda: MEASURES[1](TRACE, TRACE.stream, np.zeros(DIM), cost=1.0), ArgumentError, ("cost",)),
        (lambda: STATIC("me"), ParameterError, ("trace", "got 'me'")),
        (lambda: STATIC(TRACE, domain=dw.Ball(3)), InputError, ("dim 4", "Ball(3")),
        (lambda: PATH([[1.0, math.nan]]), InputError, ("path_length", "v", "nan")),
        (lambda: PATH(3.0), InputError, ("path_length", "v")),
        (lambda: PATH([]), InputError, ("path_length", "v")),
        (lambda: PATH([1.0], norm="two"), ParameterError, ("path_length", "norm", "'two'")),
        (lambda: PATH([1.0], norm=-1), ParameterError, ("path_length", "norm", "-1")),
    ],
)
def test_wrong_calls_are_refused_by_name(
    call: Callable[[], object], kind: type[Exception], words: tuple[str, ...]
) -> None:
    check_refused(call, *words, kind=kind)


def test_a_run_of_a_committee_is_measured_like_any_other() -> None:
    losses = dw.TrackingLoss([[1.0], [0.5], [1.0], [-1.0]])
    committee, box = dw.Committee(2, 0.5), dw.Box([-1.0], [2.0])
    trace = dw.play(committee, losses, 0.5, proposals=[[1.0, 0.0]] * 4, record_weights=True)
    assert trace.domain is None
    best = dw.regret.hindsight_optimum(losses, box, switching_cost=0.5)
    regret = trace.total - losses.unary_losses(best.decisions).sum()
    assert dw.regret.dynamic_regret(trace, losses, best.decisions) == pytest.approx(regret)
    fixed = dw.regret.best_fixed(losses, box)
    assert dw.regret.static_policy_regret(trace, domain=box) == pytest.approx(
        trace.total_loss - losses.unary_losses(fixed[None]).sum()
    )
    with pytest.raises(InputError, match=r"no domain of its own, so give domain="):
        dw.regret.static_policy_regret(trace)
    with pytest.raises(DriftwiseError):
        dw.regret.certificate(trace, best.decisions)
    with pytest.raises(DriftwiseError):
        dw.regret.decompose(trace, best.decisions)
    assert dw.regret.plots.weights(trace).get_ylabel() == "member"
