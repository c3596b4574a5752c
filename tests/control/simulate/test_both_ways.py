"""`simulate` in compiled code and by hand: the same numbers, and the same refusals."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import driftwise as dw
from driftwise import control
from driftwise._validate import Array
from driftwise.errors import InputError
from tests.cases import check_refused
from tests.control.cases import (
    CONTROLLERS,
    COSTS,
    DISTURBANCES,
    PLANT,
    PLANTS,
    ROUNDS,
    UNIT,
    WIDE,
    assert_same,
    by_hand,
    controller,
    costs,
    inputs_to_come,
    squares,
)
from tests.control.simulate.players import Hand, HandLinear, Squares, Steps


@pytest.mark.parametrize("plant", PLANTS)
@pytest.mark.parametrize("name", CONTROLLERS)
def test_the_compiled_run_is_the_run_by_hand_bit_for_bit(name: str, plant: str) -> None:
    system = PLANTS[plant]
    dx, du = system.state_dim, system.input_dim
    start = np.linspace(0.3, -0.2, dx)
    for kind in COSTS:
        sequence = costs(kind, dx, du)
        for noise, make in DISTURBANCES.items():
            mine, other = controller(name, system), controller(name, system)
            assert sequence.data is not None
            assert mine.runs_compiled(with_weights=True)
            record: dict[str, bool] = {"record_weights": True, "record_policies": mine.records_policies}
            trace = control.simulate(system, mine, sequence, make(dx), seed=7, start=start, **record)
            run = by_hand(system, other, sequence, make(dx), seed=7, start=start)
            assert_same(run, trace)
            assert np.isfinite(trace.costs).all(), (kind, noise)
            assert mine.round == other.round == ROUNDS
            assert played(mine) == played(other)
            np.testing.assert_array_equal(mine.disturbances, other.disturbances)
            np.testing.assert_array_equal(mine.weights, other.weights)
            if mine.horizon is None:
                assert inputs_to_come(mine) == inputs_to_come(other)


def played(mine: control.Controller) -> int | None:
    """Return the rounds of a controller's learner, if it has one."""
    return mine.learner.round if isinstance(mine, control.DisturbanceActionController) else None


@pytest.mark.parametrize("plant", PLANTS)
def test_a_method_of_ones_own_is_called_and_the_rest_stays_the_same(plant: str) -> None:
    system = PLANTS[plant]
    Hand.calls = 0
    rows, settings = DISTURBANCES["array"](system.state_dim), {"record_weights": True, "record_policies": True}
    mine = Hand(system, horizon=ROUNDS, memory=3)
    trace = control.simulate(system, mine, UNIT, rows, seed=3, **settings)
    assert Hand.calls == ROUNDS
    expected = control.simulate(system, controller("Scream", system), UNIT, rows, seed=3, **settings)
    for name in ("states", "inputs", "costs", "final_state", "weights", "policies"):
        assert getattr(trace, name).tobytes() == getattr(expected, name).tobytes(), name


@pytest.mark.parametrize("name", CONTROLLERS)
@pytest.mark.parametrize(
    "cost", [squares(), Squares(), [UNIT, squares()] * (ROUNDS // 2)], ids=["custom", "own", "mixed"]
)
def test_costs_of_ones_own_run_by_hand_and_give_the_same(name: str, cost: Any) -> None:
    rows = DISTURBANCES["array"](3)
    trace = control.simulate(WIDE, controller(name, WIDE), cost, rows, seed=3)
    # Members of a pool are made for the weights of a quadratic cost, which a cost of one's own does not tell.
    same = squares() if name == "self-tuned" and not isinstance(cost, list) else UNIT
    expected = control.simulate(WIDE, controller(name, WIDE), same, rows, seed=3)
    assert trace.cost_sequence.data is None
    for part in ("states", "inputs", "costs", "final_state"):
        np.testing.assert_allclose(getattr(trace, part), getattr(expected, part), rtol=1e-12, atol=1e-12)


def test_a_learner_of_ones_own_runs_by_hand_and_gives_the_same() -> None:
    domain = dw.SpectralBalls((3, 2, 3), 0.4)
    rows = DISTURBANCES["array"](3)
    own = control.DisturbanceActionController(WIDE, Steps(domain, 0.05))
    built_in = control.DisturbanceActionController(WIDE, dw.OGD(domain, step=0.05))
    assert not own.runs_compiled()
    trace = control.simulate(WIDE, own, UNIT, rows, record_policies=True)
    expected = control.simulate(WIDE, built_in, UNIT, rows, record_policies=True)
    assert trace.policies is not None
    assert expected.policies is not None
    assert np.abs(expected.policies).max() > 0.1
    np.testing.assert_allclose(trace.policies, expected.policies, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(trace.inputs, expected.inputs, rtol=1e-12, atol=1e-12)


class Proportional(control.Controller):
    """u = -gain x_0, and nothing is learnt: a controller that somebody else could have written."""

    def __init__(self, gain: float = 0.5, horizon: int | None = None) -> None:
        super().__init__(2, 1, horizon, input_bound=0.25)
        self.gain = gain

    def _decide(self, x: Array) -> Array:
        return -self.gain * x[:1]

    def _learn(self, x: Array, applied: Array, cost: control.Cost) -> None:
        pass


def test_any_controller_can_be_simulated() -> None:
    system = control.LinearSystem([[0.9, 0.1], [0.0, 0.5]], [[1.0], [0.0]], input_limit=0.2)
    trace = control.simulate(
        system, Proportional(), UNIT, control.UniformDisturbance(0.5), rounds=20, record_weights=True
    )
    assert_same(by_hand(system, Proportional(), costs("scalar", 2, 1, 20), control.UniformDisturbance(0.5)), trace)
    assert np.abs(trace.inputs).max() == 0.2
    np.testing.assert_array_equal(trace.weights, np.ones((20, 1)))
    check_refused(
        lambda: control.simulate(system, Proportional(), UNIT, [[0.0, 0.0]], record_policies=True), "no policies"
    )


def test_recorded_weights_have_the_same_shape_by_hand() -> None:
    """The pool grows when round 3 is over."""
    shapes = [
        control.simulate(PLANT, kind(PLANT, memory=3), UNIT, np.ones((3, 2)), record_weights=True).weights
        for kind in (control.ScreamController, Hand)
    ]
    assert shapes[0] is not None
    assert shapes[1] is not None
    assert shapes[0].shape == shapes[1].shape


def both_ways(
    make: Callable[[bool], control.Controller], system: control.System, *run: Any, **settings: Any
) -> list[str]:
    """Return how a compiled run and one by hand end."""
    ends = []
    for hand in (False, True):
        try:
            ends.append(f"a total of {control.simulate(system, make(hand), *run, **settings).total:.9g}")
        except InputError:
            ends.append("refused")
    return ends


def test_costs_beyond_1e100_are_refused_either_way() -> None:
    compiled, hand = both_ways(
        lambda hand: (HandLinear if hand else control.LinearController)(PLANT),
        PLANT,
        UNIT,
        np.zeros((3, 2)),
        start=[1e60, 0.0],
    )
    assert compiled == hand


def test_gradients_beyond_all_numbers_are_refused_either_way() -> None:
    """Thrown far out and back at no cost: the truncated state, 1e90, has a gradient whose square is infinite."""
    plant = control.LinearSystem(0.5, 1.0)
    free_at_first = control.CostSequence.scaled(UNIT, [0.0, 1.0, 1.0], [0.0, 1.0, 1.0])
    compiled, hand = both_ways(
        lambda hand: (Hand if hand else control.ScreamController)(plant, K=[[0.0]], memory=1),
        plant,
        free_at_first,
        [-0.5e90, 0.0, 0.0],
        start=[1e90],
    )
    assert compiled == hand


def test_a_controller_that_does_not_learn_needs_no_gradient() -> None:
    plant = control.LinearSystem(0.5, 10.0)
    compiled, hand = both_ways(
        lambda hand: (HandLinear if hand else control.LinearController)(plant, [[0.0]]), plant, UNIT, [7e49, 0.0, 0.0]
    )
    assert compiled == hand
