"""The bound on intervals: against runs with hostile gradients, and as a function."""

import math
from typing import Any

import numpy as np
import pytest

import driftwise as dw
from driftwise.errors import ParameterError
from driftwise.learners.strongly_adaptive import adaptive_lanes
from driftwise.regret import bounds
from tests.cases import check_refused, every_pair

USUAL: dict[str, Any] = {"gradient_bound": 1.0, "diameter": 2.0, "switching_cost": 1.0}


def largest_ratio(vectors: np.ndarray[Any, Any], trace: dw.Trace, lambda_: float, horizon: int | None) -> float:
    """Return the largest regret over bound of intervals of many lengths; the losses are linear on the unit ball."""
    suffered, largest, T = trace.losses + trace.move_costs, -math.inf, len(trace.losses)
    G = float(np.linalg.norm(vectors, axis=1).max())
    for length in (1, 3, 10, 30, 100, 300, 1000, T):
        for start in range(0, T - length + 1, max(length // 3, T // 20)):
            inside = slice(start, start + length)
            regret = suffered[inside].sum() + np.linalg.norm(vectors[inside].sum(axis=0))
            bound = bounds.strongly_adaptive(
                start=start,
                stop=start + length,
                gradient_bound=G,
                diameter=2.0,
                switching_cost=lambda_,
                horizon=horizon,
            )
            largest = max(largest, float(regret / bound))
    return largest


@every_pair(block=[1, 5, 40, 200, 3000], lambda_=[0.0, 0.3, 5.0], horizon=[3000, 100_000, None])
def test_no_regret_is_above_it(block: int, lambda_: float, horizon: int | None) -> None:
    rng = np.random.default_rng(block)
    signs = np.repeat(rng.choice([-1.0, 1.0], (-(-3000 // block), 2)), block, axis=0)[:3000] / math.sqrt(2.0)
    learner = dw.StronglyAdaptive(dw.Ball(2), switching_cost=lambda_, gradient_bound=1.0, horizon=horizon)
    trace = dw.play(learner, dw.LinearLoss(signs), lambda_)
    assert 0.1 < largest_ratio(signs, trace, lambda_, horizon) <= 1.0


@pytest.mark.parametrize("horizon", [100_000, None])
@pytest.mark.parametrize("lambda_", [0.0, 1.0, 30.0])
def test_it_grows_like_the_root_of_the_length(lambda_: float, horizon: int | None) -> None:
    lengths = np.array([1000, 4000, 16_000, 64_000]) * (10 if lambda_ > 10.0 else 1)
    lengths = lengths[lengths <= 64_000]
    found = [
        bounds.strongly_adaptive(
            start=30_000,
            stop=30_000 + int(n),
            gradient_bound=1.0,
            diameter=2.0,
            switching_cost=lambda_,
            horizon=horizon,
        )
        for n in lengths
    ]
    roots = np.array(found) / np.sqrt((1.0 + lambda_) * lengths) / 2.0
    assert roots.max() / roots.min() < 1.35
    assert roots.max() < 10.0


@pytest.mark.parametrize("horizon", [5000, None])
def test_units_come_out_as_they_go_in(horizon: int | None) -> None:
    plain = bounds.strongly_adaptive(start=100, stop=4000, **USUAL, horizon=horizon, path_length=3.0)
    scaled = bounds.strongly_adaptive(
        start=100,
        stop=4000,
        gradient_bound=1e3,
        diameter=2e-2,
        switching_cost=1e3,
        horizon=horizon,
        path_length=3e-2,
    )
    assert scaled == pytest.approx(10.0 * plain)


def test_it_grows_with_the_path_of_the_comparators_and_is_never_above_the_trivial_bound() -> None:
    found = [
        bounds.strongly_adaptive(start=0, stop=20_000, **USUAL, horizon=20_000, path_length=P)
        for P in (0.0, 1.0, 10.0, 100.0, 1000.0, 20_000.0)
    ]
    assert found == sorted(found)
    assert found[3] < found[0] * math.sqrt(1.0 + 50.0)
    lanes = adaptive_lanes(1.0, 20_000)
    assert found[-1] == pytest.approx(20_000 * 2.0 * (1.0 + lanes.steps[0] + lanes.paid))


def test_without_a_horizon_late_intervals_cost_no_more_than_with_one() -> None:
    known, unknown = (
        bounds.strongly_adaptive(start=90_000, stop=100_000, **USUAL, horizon=horizon) for horizon in (100_000, None)
    )
    assert unknown == pytest.approx(known, rel=0.05)
    whole = bounds.strongly_adaptive(start=0, stop=100_000, **USUAL)
    assert whole < 1.5 * bounds.strongly_adaptive(start=0, stop=100_000, **USUAL, horizon=100_000)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"start": 10}, ("start < stop", "start=10")),
        ({"start": -1}, ("start",)),
        ({"horizon": 5}, ("horizon = 5", "stop=10")),
        ({"path_length": 100.0}, ("path_length",)),
        ({"gradient_bound": 0.0}, ("gradient_bound",)),
    ],
)
def test_wrong_calls_are_refused_by_name(change: dict[str, Any], words: tuple[str, ...]) -> None:
    call = {"start": 0, "stop": 10, **USUAL, **change}
    check_refused(lambda: bounds.strongly_adaptive(**call), "bounds.strongly_adaptive", *words, kind=ParameterError)
