"""The controller without knobs: what it promises of units, glitches and costs."""

import math
from typing import Any

import numpy as np
import pytest

import driftwise as dw
from driftwise import control
from driftwise.control.self_tuned.pool import AUTOREGRESSIONS, HOLDS, LARGEST_POLICY, PACES, STEPS, STILL
from driftwise.errors import InputError
from tests.control.cases import DATA, PLANT, UNIT, WIDE, inputs_to_come

FORECASTERS = 1 + len(HOLDS) + len(AUTOREGRESSIONS)
WAVES = control.SinusoidDisturbance(0.3, period=25.0, seed=1)
SIZED = {"linear": PLANT, "wide": WIDE}


def total(plant: control.System, rows: Any, cost: Any = UNIT, rounds: int = 600, **settings: Any) -> float:
    return control.simulate(plant, control.SelfTunedController(plant, **settings), cost, rows, rounds=rounds).total


@pytest.mark.parametrize("factor", [1e-6, 1e6])
@pytest.mark.parametrize("name", ["sinusoid", "noise", "absolute"])
def test_the_unit_of_costs_does_not_matter(name: str, factor: float) -> None:
    noise: Any = control.GaussianDisturbance(0.3, seed=2) if name == "noise" else WAVES
    kind: Any = control.AbsoluteCost if name == "absolute" else control.QuadraticCost
    one, other = (
        control.simulate(WIDE, control.SelfTunedController(WIDE), kind(unit, unit), noise, rounds=600)
        for unit in (1.0, factor)
    )
    np.testing.assert_allclose(one.inputs, other.inputs, rtol=0.0, atol=1e-6 * np.abs(one.inputs).max())


@pytest.mark.parametrize("constant", [-3.0, 1000.0])
def test_a_constant_added_to_the_costs_does_not_matter(constant: float) -> None:
    def cost(shift: float) -> control.CustomCost:
        return control.CustomCost(lambda x, u: float(x @ x + u @ u) + shift, lambda x, u: (2.0 * x, 2.0 * u))

    one, other = (
        control.simulate(PLANT, control.SelfTunedController(PLANT), cost(shift), WAVES, rounds=80)
        for shift in (0.0, constant)
    )
    np.testing.assert_allclose(one.inputs, other.inputs, rtol=0.0, atol=1e-6 * np.abs(one.inputs).max())


@pytest.mark.parametrize("scale", [1e-20, 1e20])
def test_the_unit_of_states_does_not_matter(scale: float) -> None:
    rows = WAVES.sample(300, 2)
    one, other = (
        control.simulate(PLANT, control.SelfTunedController(PLANT), UNIT, unit * rows) for unit in (1.0, scale)
    )
    np.testing.assert_allclose(one.inputs, other.inputs / scale, rtol=0.0, atol=1e-6 * np.abs(one.inputs).max())


def test_python_costs_are_judged_like_built_in_ones() -> None:
    huber = control.HuberCost(1.0, 0.5, width=0.2)
    custom = control.CustomCost(huber.value, huber.gradient)
    one, other = (
        control.simulate(PLANT, control.SelfTunedController(PLANT, memory=4), cost, WAVES, rounds=60)
        for cost in (huber, custom)
    )
    np.testing.assert_array_equal(one.inputs, other.inputs)


def test_large_policies_are_not_learnt_and_forecasts_are_made_all_the_same() -> None:
    mine = control.SelfTunedController(PLANT, memory=LARGEST_POLICY // 2 + 1)
    trace = control.simulate(PLANT, mine, UNIT, WAVES, rounds=300)
    assert len(mine.members) == mine.weights.size == FORECASTERS
    assert mine.policy.M.any()
    lqr = control.simulate(PLANT, control.LinearController(PLANT), UNIT, WAVES, rounds=300)
    assert trace.total < 0.7 * lqr.total


@pytest.mark.parametrize("value", [0.0, 0.3])
def test_constant_disturbances_do_not_lead_astray(value: float) -> None:
    """Sums of squares are singular then, and in a thousand rounds forgetting by 0.97 brings anything else down to 0."""
    mine = control.SelfTunedController(PLANT)
    rows = np.full((1500, 2), value)
    rows[1200:] *= -1.0
    trace = control.simulate(PLANT, mine, UNIT, rows)
    lqr = control.simulate(PLANT, control.LinearController(PLANT), UNIT, rows)
    assert np.isfinite(trace.inputs).all()
    assert trace.total <= 0.5 * lqr.total
    assert trace.costs[1190:1260].sum() <= lqr.costs[1190:1260].sum()


@pytest.mark.parametrize("size", [10.0, 1e6])
def test_a_glitch_is_forgotten(size: float) -> None:
    rows = WAVES.sample(900, 2)
    plain = control.simulate(PLANT, control.SelfTunedController(PLANT), UNIT, rows)
    rows[300] += size
    mine = control.SelfTunedController(PLANT)
    trace = control.simulate(PLANT, mine, UNIT, rows)
    assert trace.costs[500:].sum() <= 1.05 * plain.costs[500:].sum()


def test_the_first_rounds_are_not_too_bold() -> None:
    """Policies that were followed as soon as they looked good have thrown this pendulum over."""
    plant, waves = control.InvertedPendulum(), control.SinusoidDisturbance(0.03, period=40.0, seed=1)
    mine, linear = (
        control.simulate(plant, kind(plant), control.pendulum(600), waves, rounds=600)
        for kind in (control.SelfTunedController, control.LinearController)
    )
    assert np.abs(mine.states[:, 0]).max() < 0.5 * math.pi
    assert mine.total <= 0.7 * linear.total


def test_inputs_keep_within_their_bound_and_disturbances_are_recovered_all_the_same() -> None:
    mine = control.SelfTunedController(WIDE, input_bound=[0.02, 0.04], bank=False)
    trace = control.simulate(WIDE, mine, UNIT, 0.2 * WAVES.sample(200, 3))
    np.testing.assert_array_equal(np.abs(trace.inputs).max(axis=0), [0.02, 0.04])
    np.testing.assert_allclose(mine.disturbances[0], trace.disturbances[-2], atol=1e-12)


def test_a_cost_out_of_range_is_refused_and_forgotten() -> None:
    mine = control.SelfTunedController(PLANT, memory=3, guard=False)
    control.simulate(PLANT, mine, UNIT, 50.0 * WAVES.sample(20, 2))
    expected = inputs_to_come(mine)
    twin = mine.clone()
    x = 50.0 * np.random.default_rng(3).standard_normal(2)
    twin.act(x)
    for bad in (control.QuadraticCost(1e101 / 1e2, 1e99), control.QuadraticCost(1e100, 1e100)):
        with pytest.raises(InputError, match=r"leaves the range of numbers.*unchanged"):
            twin.observe(bad)
    assert twin.round == 20
    twin.observe(UNIT)
    rest = mine.clone()
    rest.act(x)
    rest.observe(UNIT)
    assert inputs_to_come(twin) == inputs_to_come(rest)
    assert inputs_to_come(mine) == expected


def test_weights_have_names_and_begin_at_the_prior() -> None:
    mine = control.SelfTunedController(PLANT)
    assert len(mine.members) == mine.weights.size == FORECASTERS + len(STEPS) + len(PACES)
    assert mine.members[:2] == ("zero", "hold 1")
    assert mine.weights[0] == pytest.approx(STILL)
    assert len(set(mine.members)) == mine.weights.size


def test_it_is_a_controller_that_holds_its_pool_as_data() -> None:
    mine = control.SelfTunedController(PLANT, memory=2)
    assert isinstance(mine, control.Controller)
    assert not any(isinstance(part, dw.Learner) for part in vars(mine).values())
    assert mine.domain.shape == (2, 1, 2)


def test_nothing_is_said_to_be_proved() -> None:
    mine = control.SelfTunedController(PLANT)
    assert mine.guarantee.startswith("No bound on the regret is proved")
    trace = control.simulate(PLANT, mine, UNIT, WAVES, rounds=5)
    assert mine.guarantee in trace.summary()
    assert mine.horizon is None


def test_where_there_is_nothing_to_learn_next_to_nothing_is_lost() -> None:
    for seed, plant in enumerate(SIZED.values()):
        noise = control.GaussianDisturbance(0.3, seed=seed)
        lqr = control.simulate(plant, control.LinearController(plant), UNIT, noise, rounds=1000).total
        assert total(plant, noise, rounds=1000) <= 1.01 * lqr


@pytest.mark.parametrize(
    ("system", "disturbance", "tuned"),
    [
        ("double_integrator", "sinusoid", 572),
        ("double_integrator", "random_walk", 1831),
        ("ten_states", "sinusoid", 3444),
        pytest.param("ten_states", "random_walk", 8674, marks=pytest.mark.full),
    ],
)
def test_what_hindsight_would_have_tuned_is_beaten(system: str, disturbance: str, tuned: float) -> None:
    """`tuned` is what gradient descent with the best of many steps was measured at."""
    with np.load(DATA) as data:
        plant, rows = control.LinearSystem(data[f"{system}_A"], data[f"{system}_B"]), data[f"{system}_{disturbance}"]
    assert total(plant, rows, rounds=len(rows)) <= tuned
