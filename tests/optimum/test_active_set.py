"""The active-set method: where it breaks segments, what it says of itself, and that it ends."""

from typing import Any

import numpy as np
import pytest

import driftwise as dw
from driftwise.optimum import active_set
from driftwise.optimum.cones import Solution, solve_segments
from tests.optimum.problems import DIM, DOMAINS, QUADRATIC, built_in, cheapest, cost


@pytest.mark.parametrize(
    ("norms", "starts", "expected"),
    [
        ([0.1, 0.5, 1.0, 0.2, 0.0], [0], set()),
        ([0.1, 1.5, 1.2, 0.2, 0.0], [0], {2}),
        ([0.1, 1.2, 1.5, 0.2, 0.0], [0], {3}),
        ([1.5, 0.2, 1.2, 1.3, 0.0], [0], {1, 4}),
        ([1.5, 1.6, 1.7, 1.2, 0.0], [0, 2], {2, 3}),
        ([1.5, 0.2, 0.3, 1.2, 9.0], [0], {1, 4}),
        ([1.5, 1.5, 1.5, 1.5, 1.5], [0, 1, 2, 3, 4], {1, 2, 3, 4}),
        ([1.0 + 1e-9, 0.0, 1.0 + 1e-7, 0.0, 0.0], [0], {3}),
        ([9.0], [0], set()),
    ],
)
def test_breaks_come_after_the_peak_of_every_stretch_above_lambda(
    norms: list[float], starts: list[int], expected: set[int]
) -> None:
    assert active_set._peaks(np.array(norms), 1.0, np.array(starts)) == expected


@pytest.mark.parametrize("kind", QUADRATIC)
@pytest.mark.parametrize("name", ["ball", "box", "product"])
def test_the_answer_is_the_optimum_with_a_bound_right_below_it(kind: str, name: str) -> None:
    losses, domain = built_in(kind, 30), DOMAINS[name]
    answer = active_set.solve(losses, domain, 0.3, 1e-7, 0.0, 50)
    optimum, found = cheapest(losses, domain, 0.3), cost(losses, answer.decisions, 0.3)
    assert domain.contains(answer.decisions)
    assert found == pytest.approx(optimum, rel=1e-6)
    assert answer.lower_bound <= optimum + 1e-8 * abs(optimum)
    assert found - answer.lower_bound <= 1e-7 * abs(found)
    assert "segments" in answer.words
    assert "cone problems" in answer.words


def test_the_words_count_the_segments() -> None:
    losses = dw.TrackingLoss(np.repeat([0.0, 1.0, -1.0], 10))
    answer = active_set.solve(losses, dw.Ball(1), 0.1, 1e-7, 0.0, 50)
    pieces = 1 + np.count_nonzero(np.abs(np.diff(answer.decisions, axis=0)) > 1e-6)
    assert pieces == 3
    assert answer.words.startswith("segments: 3,")


def test_one_cone_problem_is_not_enough_and_the_words_say_so() -> None:
    losses = built_in("squared", 30)
    answer = active_set.solve(losses, DOMAINS["ball"], 0.1, 1e-7, 0.0, 1)
    assert "limit of 1 cone problems" in answer.words
    # One segment: the best fixed decision, and still a true bound.
    np.testing.assert_array_equal(answer.decisions, np.tile(answer.decisions[0], (30, 1)))
    assert answer.lower_bound <= cheapest(losses, DOMAINS["ball"], 0.1)


@pytest.mark.parametrize("failure", [1, 2])
def test_a_cone_problem_without_an_answer_ends_the_search(failure: int, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def failing(*arguments: Any) -> Solution:
        calls.append(arguments)
        found = solve_segments(*arguments)
        nothing = Solution(np.full_like(found.points, np.nan), found.dual, "NumericalError")
        return nothing if len(calls) == failure else found

    monkeypatch.setattr(active_set, "solve_segments", failing)
    losses = built_in("squared", 30)
    answer = active_set.solve(losses, DOMAINS["shifted ball"], 0.1, 1e-7, 0.0, 50)
    assert len(calls) == failure
    assert "NumericalError" in answer.words
    assert DOMAINS["shifted ball"].contains(answer.decisions)
    assert answer.lower_bound <= cheapest(losses, DOMAINS["shifted ball"], 0.1)


@pytest.mark.parametrize("kind", QUADRATIC)
def test_the_bound_of_rounds_by_themselves_is_their_sum_of_minima(kind: str) -> None:
    losses, domain = built_in(kind, 12), DOMAINS["ball"]
    best = np.empty((12, DIM))
    for t in range(12):
        x, y = losses.data.features[t], losses.data.targets[t]
        if kind == "tracking":
            best[t] = x / max(1.0, float(np.linalg.norm(x)))
        elif kind == "linear":
            best[t] = -x / np.linalg.norm(x)
        else:
            best[t] = x * np.clip(y / (x @ x), -1.0 / np.linalg.norm(x), 1.0 / np.linalg.norm(x))
    answer = active_set.solve_apart(losses, domain)
    expected = cost(losses, best, 0.0)
    assert cost(losses, answer.decisions, 0.0) == pytest.approx(expected, abs=1e-12)
    assert answer.lower_bound == pytest.approx(expected, abs=1e-12)
