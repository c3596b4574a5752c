"""The four controllers of the paper: their learners, and how they do on systems and disturbances with known costs."""

import functools
import math

import numpy as np
import pytest

import driftwise as dw
from driftwise import control
from driftwise._validate import Array
from tests.cases import paper_pool
from tests.control.cases import DATA, LEARNING, PLANT, UNIT

CERTIFIED = {"scale": "certified", "memory": 4, "horizon": 100}


def steps(mine: control.LearningController) -> Array:
    return mine.learner.step_sizes


def test_step_sizes_are_those_of_the_paper() -> None:
    for scale in ({"scale": "certified"}, {"scale": "measured"}, {"gradient_bound": 3.0}):
        settings = {"memory": 4, "horizon": 100, **scale}
        mine = {name: kind(PLANT, **settings) for name, kind in LEARNING.items()}  # type: ignore[arg-type]
        found = mine["Scream"].constants
        D, G, lambda_, T = found.diameter, found.gradient_bound, found.switching_cost, 100
        first = math.sqrt(D**2 / ((lambda_ * G + G**2) * T))
        np.testing.assert_allclose(steps(mine["gradient"]), [first])
        np.testing.assert_allclose(steps(mine["Scream"]), first * 2.0 ** np.arange(paper_pool(T, 1.0)))
        ader = D / G * math.sqrt(7.0 / (2.0 * T))
        np.testing.assert_allclose(steps(mine["Ader"]), ader * 2.0 ** np.arange(paper_pool(T, 4.0 / 7.0)))
        epoch = max(1, math.ceil(math.sqrt(lambda_ / G)))
        blocks, held = -(-T // epoch), epoch * G
        lazy = math.sqrt(D**2 / ((lambda_ * held + held**2) * blocks))
        np.testing.assert_allclose(steps(mine["lazy Scream"]), lazy * 2.0 ** np.arange(paper_pool(blocks, 1.0)))


def test_scream_prices_movement_and_ader_does_not() -> None:
    scream, ader = (LEARNING[name](PLANT, **CERTIFIED) for name in ("Scream", "Ader"))  # type: ignore[arg-type]
    for mine, price in ((scream, scream.constants.switching_cost), (ader, 0.0)):
        assert isinstance(mine.learner, dw.Ensemble)
        assert mine.learner.program.switching_cost == price
        i = np.arange(1.0, mine.weights.size + 1.0)
        prior = 1.0 / (i * (i + 1.0))
        np.testing.assert_allclose(mine.weights, prior / prior.sum(), rtol=1e-12)
    D, G = ader.constants.diameter, ader.constants.gradient_bound
    assert isinstance(ader.learner, dw.Ensemble)
    assert ader.learner.program.rate == pytest.approx(math.sqrt(2.0) / (G * D))
    assert isinstance(scream.learner, dw.Ensemble)
    lambda_ = scream.constants.switching_cost
    meta = G * D * (1.0 + 2.0 * lambda_ / math.sqrt(lambda_ * G + G**2))
    assert scream.learner.program.rate == pytest.approx(math.sqrt(2.0 / (meta * (lambda_ * D + meta))))


def test_one_step_size_has_one_weight() -> None:
    np.testing.assert_array_equal(LEARNING["gradient"](PLANT, horizon=50).weights, [1.0])


def test_a_lazy_policy_is_held_for_an_epoch() -> None:
    mine = control.LazyScreamController(PLANT, horizon=60, alpha=10.0)
    rows = 0.3 * np.sin(np.arange(60)[:, None] / 5.0 + np.array([0.0, 1.0]))
    trace = control.simulate(PLANT, mine, UNIT, rows, record_policies=True)
    assert trace.policies is not None
    moved = np.abs(np.diff(trace.policies, axis=0)).max(axis=(1, 2, 3)) > 0.0
    epoch = math.ceil(math.sqrt(10.0))
    np.testing.assert_array_equal(np.flatnonzero(moved)[1:] % epoch, epoch - 1)
    assert moved.sum() >= 60 // epoch - 2


@functools.cache
def cases() -> dict[str, Array]:
    with np.load(DATA) as stored:
        return {name: stored[name] for name in stored.files}


@functools.cache
def total(name: str, system: str, disturbance: str, horizon: bool = True) -> float:
    data = cases()
    plant, rows = control.LinearSystem(data[f"{system}_A"], data[f"{system}_B"]), data[f"{system}_{disturbance}"]
    if name == "LQR":
        mine: control.Controller = control.LinearController(plant, data[f"{system}_K"])
    else:
        mine = LEARNING[name](plant, horizon=len(rows) if horizon else None)
    return control.simulate(plant, mine, UNIT, rows).total


@pytest.mark.parametrize(
    ("system", "disturbance", "lqr", "peer"),
    [
        ("double_integrator", "sinusoid", 4065, 3032),
        ("double_integrator", "random_walk", 21540, 12060),
        ("ten_states", "sinusoid", 7024, 6403),
        ("ten_states", "random_walk", 19236, 14057),
    ],
)
@pytest.mark.parametrize("horizon", [True, False])
@pytest.mark.parametrize("name", LEARNING)
def test_correlated_disturbances_are_learnt(
    name: str, horizon: bool, system: str, disturbance: str, lqr: float, peer: float
) -> None:
    """`peer` is what GPC with fixed steps, as another library ships it, was measured at."""
    assert total("LQR", system, disturbance) == pytest.approx(lqr, abs=0.5)
    found = total(name, system, disturbance, horizon)
    assert found < peer
    if system == "double_integrator":
        assert found <= 0.5 * lqr


@pytest.mark.parametrize("system", ["double_integrator", "ten_states"])
@pytest.mark.parametrize("name", ["gradient", "Scream", "lazy Scream"])
def test_where_there_is_nothing_to_learn_little_is_lost(name: str, system: str) -> None:
    lqr = total("LQR", system, "gaussian")
    assert abs(total(name, system, "gaussian") - lqr) <= 0.1 * lqr
    assert total("Ader", system, "gaussian") > 1.1 * lqr  # moves without asking what moving costs


def test_the_stored_gain_is_that_of_lqr() -> None:
    for system in ("double_integrator", "ten_states"):
        plant = control.LinearSystem(cases()[f"{system}_A"], cases()[f"{system}_B"])
        np.testing.assert_allclose(control.lqr(plant), cases()[f"{system}_K"], rtol=0.0, atol=1e-9)


@pytest.mark.parametrize("name", LEARNING)
def test_totals_do_not_change_by_accident(name: str) -> None:
    expected = {"gradient": 738.0, "Ader": 642.5, "Scream": 569.9, "lazy Scream": 601.7}
    assert total(name, "double_integrator", "sinusoid") == pytest.approx(expected[name], abs=0.1)
