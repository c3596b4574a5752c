"""Probes are sized by what they cost."""

import numpy as np
import pytest

from driftwise import control
from driftwise._validate import Array
from driftwise.control.costs import Cost
from driftwise.control.identification.past import Past
from driftwise.control.identification.probes import BESIDE, FIRST, SHARE, STEP, first_sizes, resized, settled
from tests.control.identification.cases import A, B, K, play, signs

COST = control.QuadraticCost(1.0, 1.0)


def past(rounds: int, sizes: Array, cost: Cost = COST, seed: int = 0) -> Past:
    probes = sizes * signs(rounds, 2, seed=seed)
    states, inputs, probes = play(rounds, probes=probes, seed=seed)
    return Past(states, inputs, probes, [cost] * rounds)


def mean_cost(run: Past) -> float:
    return float(np.mean([cost.value(x, u) for cost, x, u in zip(run.costs, run.states, run.inputs, strict=False)]))


def test_first_probes_cost_little_and_are_small_beside_the_input() -> None:
    run = past(30, np.zeros(2))
    usual = np.sqrt(np.mean(run.inputs**2, axis=0))
    expected = np.minimum(BESIDE * usual, np.sqrt(FIRST * mean_cost(run)))
    np.testing.assert_allclose(first_sizes(run), expected)


def test_where_nothing_tells_the_unit_of_an_input_the_first_probe_is_1() -> None:
    run = past(30, np.zeros(2), control.QuadraticCost(1.0, 0.0))
    silent = run._replace(inputs=np.zeros_like(run.inputs))
    np.testing.assert_array_equal(first_sizes(silent), [1.0, 1.0])


def test_probes_of_any_size_end_up_adding_their_share() -> None:
    alone = mean_cost(past(4000, np.zeros(2)))
    for begin in ([0.02, 0.3], [2.0, 0.5]):
        sizes = np.array(begin)
        for _ in range(7):
            after = resized(sizes, past(400, sizes), K, 3)
            assert (after <= STEP * sizes * 1.001).all()
            assert (after >= sizes / STEP / 1.001).all()
            sizes = after
        assert mean_cost(past(4000, sizes)) / alone == pytest.approx(1.0 + SHARE, abs=0.08)


def test_every_input_adds_the_same() -> None:
    sizes = np.array([0.3, 0.3])
    for _ in range(3):
        sizes = resized(sizes, past(3000, sizes), K, 3)
    closed = A - B @ K
    P = np.eye(3) + K.T @ K
    for _ in range(12):
        P, closed = P + closed.T @ P @ closed, closed @ closed
    prices = sizes**2 * np.diag(np.eye(2) + B.T @ P @ B)
    assert prices[0] == pytest.approx(prices[1], rel=0.25)


def test_costs_of_any_kind_will_do() -> None:
    cost = control.HuberCost(1.0, 1.0)
    sizes = np.array([0.02, 0.02])
    for _ in range(7):
        sizes = resized(sizes, past(500, sizes, cost), K, 3)
    ratio = mean_cost(past(2000, sizes, cost)) / mean_cost(past(2000, np.zeros(2), cost))
    assert 1.1 < ratio < 1.5


def test_data_that_do_not_tell_leave_probes_as_they_are() -> None:
    sizes = np.array([0.3, 0.3])
    np.testing.assert_array_equal(resized(sizes, past(20, sizes), K, 3), sizes)
    nothing = past(500, sizes, control.QuadraticCost(0.0, 0.0))
    np.testing.assert_array_equal(resized(sizes, nothing, K, 3), sizes)


def test_probes_are_settled_once_they_hardly_change() -> None:
    assert settled(np.array([1.0, 2.0]), np.array([1.3, 1.6]))
    assert not settled(np.array([1.0, 2.0]), np.array([1.0, 4.0]))
    assert not settled(np.array([1.0, 2.0]), np.array([0.5, 2.0]))
