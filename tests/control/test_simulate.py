import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike

import driftwise as dw
from driftwise import control
from driftwise._validate import Array
from driftwise.control.simulate import _in_one_go
from driftwise.errors import ArgumentError, HorizonError, InputError, OrderError, ParameterError
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
            assert _in_one_go(mine, sequence, True)
            trace = control.simulate(
                system, mine, sequence, make(dx), seed=7, start=start, record_weights=True, record_policies=True
            )
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


class Hand(control.ScreamController):
    """Scream with a method of its own that does nothing new: `simulate` has to call it."""

    calls = 0

    def act(self, x: ArrayLike) -> Array:
        type(self).calls += 1
        return super().act(x)


class Steps(dw.Learner):
    """Gradient descent, written once more."""

    def __init__(self, domain: dw.Domain, step: float) -> None:
        super().__init__(domain)
        self.step, self.point = step, np.zeros(domain.dim)

    def _decide(self) -> Array:
        return self.point

    def _learn(self, gradient: Array) -> None:
        self.point = self.domain.project(self.point - self.step * gradient)


class Squares(control.QuadraticCost):
    """x'x + u'u with an arithmetic of its own."""

    def __init__(self) -> None:
        super().__init__(1.0, 1.0)

    def value(self, x: ArrayLike, u: ArrayLike) -> float:
        return float(np.sum(np.square(x)) + np.sum(np.square(u)))


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


@pytest.mark.parametrize("name", [name for name in CONTROLLERS if name != "self-tuned"])  # fits built-in squares
@pytest.mark.parametrize(
    "cost", [squares(), Squares(), [UNIT, squares()] * (ROUNDS // 2)], ids=["custom", "own", "mixed"]
)
def test_costs_of_ones_own_run_by_hand_and_give_the_same(name: str, cost: Any) -> None:
    rows = DISTURBANCES["array"](3)
    trace = control.simulate(WIDE, controller(name, WIDE), cost, rows, seed=3)
    expected = control.simulate(WIDE, controller(name, WIDE), UNIT, rows, seed=3)
    assert not _in_one_go(controller(name, WIDE), trace.cost_sequence, False)
    for part in ("states", "inputs", "costs", "final_state"):
        np.testing.assert_allclose(getattr(trace, part), getattr(expected, part), rtol=1e-12, atol=1e-12)


def test_a_learner_of_ones_own_runs_by_hand_and_gives_the_same() -> None:
    domain = dw.SpectralBalls((3, 2, 3), 0.4)
    rows = DISTURBANCES["array"](3)
    own = control.DisturbanceActionController(WIDE, Steps(domain, 0.05))
    built_in = control.DisturbanceActionController(WIDE, dw.OGD(domain, step=0.05))
    assert not _in_one_go(own, costs("scalar", 3, 2), False)
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


def test_two_halves_make_a_whole() -> None:
    rows = DISTURBANCES["array"](2)
    whole = control.simulate(PLANT, controller("Scream"), UNIT, rows, start=[1.0, 0.0])
    mine = controller("Scream")
    first = control.simulate(PLANT, mine, UNIT, rows[:11], start=[1.0, 0.0])
    second = control.simulate(PLANT, mine, UNIT, rows[11:], start=first.final_state)
    for name in ("states", "inputs", "costs"):
        assert np.concatenate([getattr(first, name), getattr(second, name)]).tobytes() == getattr(whole, name).tobytes()
    assert second.final_state.tobytes() == whole.final_state.tobytes()


def test_what_is_recorded() -> None:
    plain = control.simulate(PLANT, controller("Scream"), UNIT, DISTURBANCES["array"](2))
    assert plain.weights is None
    assert plain.policies is None
    trace = control.simulate(
        PLANT, controller("Scream"), UNIT, DISTURBANCES["array"](2), record_weights=True, record_policies=True
    )
    mine = controller("Scream")
    assert trace.weights is not None
    assert trace.policies is not None
    for t in range(ROUNDS):
        np.testing.assert_array_equal(trace.weights[t], mine.weights)
        np.testing.assert_array_equal(trace.policies[t], mine.policy.M)
        mine.act(trace.states[t])
        mine.observe(UNIT, applied=trace.inputs[t])


def test_the_pool_of_a_controller_without_a_horizon_grows_in_the_record() -> None:
    trace = control.simulate(PLANT, controller("no horizon"), UNIT, DISTURBANCES["array"](2), record_weights=True)
    assert trace.weights is not None
    np.testing.assert_allclose(trace.weights.sum(axis=1), 1.0, rtol=0.0, atol=1e-12)
    assert (trace.weights[0] > 0.0).sum() < (trace.weights[-1] > 0.0).sum()


def test_seeds_decide_everything_random() -> None:
    plant, noise = PLANTS["varying"], control.GaussianDisturbance(0.1)

    def run(seed: Any) -> control.ControlTrace:
        return control.simulate(plant, controller("Scream", plant), UNIT, noise, seed, rounds=10)

    assert run(1).states.tobytes() == run(1).states.tobytes() == run(np.random.default_rng(1)).states.tobytes()
    assert np.abs(run(1).states - run(2).states).max() > 1e-3
    own = control.GaussianDisturbance(0.1, seed=5)
    drawn = [control.simulate(PLANT, controller("linear"), UNIT, own, seed, rounds=5).disturbances for seed in (1, 2)]
    np.testing.assert_array_equal(drawn[0], drawn[1])


def test_the_number_of_rounds_comes_from_whatever_knows_it() -> None:
    noise = control.GaussianDisturbance(0.1)

    def rounds(name: str = "linear", cost: Any = UNIT, disturbances: Any = noise, **settings: Any) -> int:
        return len(control.simulate(PLANT, controller(name), cost, disturbances, **settings).costs)

    assert rounds(disturbances=np.zeros((7, 2))) == 7
    assert rounds(cost=[UNIT] * 6) == 6
    assert rounds(cost=costs("scaled", 2, 1)) == ROUNDS
    assert rounds("Scream") == ROUNDS
    assert rounds(rounds=4) == 4
    assert rounds("Scream", cost=[UNIT] * 6, rounds=6) == 6


def test_the_plant_starts_at_the_origin_or_where_it_is_told_to() -> None:
    rows = np.zeros((3, 2))
    assert not control.simulate(PLANT, controller("linear"), UNIT, rows).states.any()
    start = np.array([2.0, -1.0])
    trace = control.simulate(PLANT, controller("linear"), UNIT, rows, start=start)
    np.testing.assert_array_equal(trace.states[0], [2.0, -1.0])
    np.testing.assert_allclose(trace.states[1], (PLANT.A - PLANT.B @ control.lqr(PLANT)) @ start, rtol=1e-13)
    np.testing.assert_array_equal(start, [2.0, -1.0])


def test_what_was_given_is_not_modified() -> None:
    rows = DISTURBANCES["array"](2)
    before = rows.copy()
    trace = control.simulate(PLANT, controller("Scream"), UNIT, rows)
    trace.disturbances[:] = 9.0
    np.testing.assert_array_equal(rows, before)


def test_an_adversary_does_more_harm_than_chance() -> None:
    def total(disturbances: Any) -> float:
        return control.simulate(PLANT, controller("linear"), UNIT, disturbances, rounds=200).total

    enemy = control.AdversarialDisturbance(0.5)
    trace = control.simulate(PLANT, controller("linear"), UNIT, enemy, rounds=200)
    np.testing.assert_allclose(np.linalg.norm(trace.disturbances, axis=1), 0.5, rtol=1e-12)
    assert trace.total > 1.2 * total(enemy.sample(200, 2, seed=1))


NOISE = control.GaussianDisturbance(0.1)
UNSTABLE = control.LinearSystem([[1.5, 0.0], [0.0, 0.5]], [[1.0], [1.0]], input_limit=0.1)


class HandLinear(control.LinearController):
    def act(self, x: ArrayLike) -> Array:
        return super().act(x)


@pytest.mark.parametrize("kind", [control.ScreamController, Hand, control.LinearController, HandLinear])
@pytest.mark.parametrize(
    "cost", [UNIT, control.AbsoluteCost(1.0, 1.0), squares()], ids=["square", "absolute", "custom"]
)
def test_a_plant_that_diverges_is_reported_and_leaves_the_controller_as_it_was(kind: Any, cost: control.Cost) -> None:
    """A limit on the input, and a start beyond what it can hold."""
    mine = kind(UNSTABLE)
    control.simulate(UNSTABLE, mine, UNIT, np.full((5, 2), 0.01))
    before, weights, played = inputs_to_come(mine), mine.weights, mine.round
    check_refused(
        lambda: control.simulate(UNSTABLE, mine, cost, np.zeros((1000, 2)), start=[9.0, 0.0]), kind=InputError
    )
    assert inputs_to_come(mine) == before
    assert mine.round == played == 5
    np.testing.assert_array_equal(mine.weights, weights)


def test_the_message_about_a_plant_that_diverges_says_when_and_what() -> None:
    check_refused(
        lambda: control.simulate(
            UNSTABLE, control.LinearController(UNSTABLE), UNIT, np.zeros((999, 2)), start=[9.0, 0.0]
        ),
        "simulate: in round 2",
        "diverges under LinearController",
        "The controller is as it was before the run",
    )


class Breaking(control.ScreamController):
    """Gives up in the middle of a run."""

    def observe(self, cost: control.Cost, applied: ArrayLike | None = None) -> None:
        super().observe(cost, applied)
        if self.round == 9:
            raise RuntimeError("enough")


def test_any_error_leaves_the_controller_as_it_was() -> None:
    mine = Breaking(PLANT, horizon=20, memory=3)
    before = inputs_to_come(mine)
    with pytest.raises(RuntimeError, match="enough"):
        control.simulate(PLANT, mine, UNIT, np.ones((20, 2)))
    assert mine.round == 0
    assert inputs_to_come(mine) == before


def late() -> control.Controller:
    mine = controller("Scream")
    control.simulate(PLANT, mine, UNIT, np.zeros((ROUNDS - 2, 2)))
    return mine


@pytest.mark.parametrize(
    ("changes", "words", "kind"),
    [
        ({"controller": late}, ("3 rounds", "the 2 that", f"a horizon of {ROUNDS + 1}"), HorizonError),
        ({"controller": "Scream", "disturbances": np.zeros((ROUNDS + 1, 2))}, ("horizon",), HorizonError),
        ({"controller": "Scream", "rounds": ROUNDS + 1, "disturbances": NOISE}, ("horizon",), HorizonError),
        ({"controller": lambda: dw.OGD(dw.Ball(2), step=1.0)}, ("controller", "ScreamController"), ParameterError),
        ({"system": WIDE}, ("was not made for a plant",), InputError),
        ({"system": (PLANT.A, PLANT.B)}, ("system", "LinearSystem"), ParameterError),
        ({"disturbances": np.zeros((3, 3))}, ("disturbances", "(T, 2)"), InputError),
        ({"disturbances": [[math.nan, 0.0]]}, ("disturbances", "nan"), InputError),
        ({"disturbances": 0.5}, ("disturbances", "GaussianDisturbance()"), InputError),
        ({"disturbances": NOISE}, ("rounds=",), InputError),
        ({"costs": [UNIT] * 4}, ("disturbances", "(4, 2)"), InputError),
        ({"costs": costs("scaled", 2, 1), "rounds": 3}, ("costs", "3"), InputError),
        ({"costs": costs("quadratic", 3, 1, 3)}, ("state_dim",), InputError),
        ({"costs": costs("quadratic", 2, 2, 3)}, ("input_dim",), InputError),
        ({"costs": 3.0}, ("costs", "QuadraticCost"), InputError),
        ({"costs": [UNIT, 3.0, UNIT]}, ("costs[1]",), InputError),
        ({"start": [1.0]}, ("start", "(2,)"), InputError),
        ({"start": [1.0, math.inf]}, ("start", "inf"), InputError),
        ({"rounds": 0}, ("rounds",), ParameterError),
        ({"seed": -1}, ("seed",), ParameterError),
        ({"record_weights": 1}, ("record_weights",), ParameterError),
        ({"noise": 1}, ("noise", "simulate("), ArgumentError),
    ],
    ids=lambda value: ", ".join(value) if isinstance(value, dict) else "",
)
def test_bad_input_is_refused(changes: dict[str, Any], words: tuple[str, ...], kind: type[Exception]) -> None:
    given = {"system": PLANT, "controller": "linear", "costs": UNIT, "disturbances": np.zeros((3, 2)), **changes}
    made = given.pop("controller")
    mine = controller(made) if isinstance(made, str) else made()
    check_refused(lambda: control.simulate(controller=mine, **given), *words, kind=kind)


def test_a_refusal_before_the_first_round_leaves_the_controller_alone() -> None:
    mine = controller("Scream")
    before = inputs_to_come(mine)
    for bad in (np.zeros((ROUNDS + 1, 2)), [[math.nan, 0.0]], np.zeros((3, 3))):
        with pytest.raises(dw.errors.DriftwiseError):
            control.simulate(PLANT, mine, UNIT, bad)
    assert inputs_to_come(mine) == before


@pytest.mark.parametrize(
    "kind",
    [
        control.ScreamController,
        Hand,
    ],
)
def test_a_controller_that_waits_for_a_cost_cannot_be_simulated(kind: type[control.ScreamController]) -> None:
    mine = kind(PLANT, horizon=9, memory=3)
    mine.act([1.0, 0.0])
    with pytest.raises(OrderError):
        control.simulate(PLANT, mine, UNIT, np.zeros((3, 2)))


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


def test_a_learner_is_not_played_beyond_its_horizon() -> None:
    learner = dw.OGD(dw.SpectralBalls((2, 1, 2), 1.0), gradient_bound=1.0, horizon=10)
    for _ in range(8):
        learner.act()
        learner.observe(np.zeros(4))
    with pytest.raises(dw.errors.DriftwiseError):
        control.simulate(PLANT, control.DisturbanceActionController(PLANT, learner), UNIT, np.ones((5, 2)))
