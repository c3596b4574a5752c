"""`simulate`: what a run starts from, draws, records and leaves alone."""

from typing import Any

import numpy as np

from driftwise import control
from tests.control.cases import (
    DISTURBANCES,
    PLANT,
    PLANTS,
    ROUNDS,
    UNIT,
    controller,
    costs,
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
