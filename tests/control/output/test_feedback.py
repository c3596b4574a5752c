"""Control by outputs: what it costs beside LQG, what it survives, and that it goes to the machine."""

import math
import pickle
from typing import Any

import numpy as np
import pytest

from driftwise import control
from driftwise.errors import InputError, OrderError, ParameterError, StabilityError

PLANT = control.LinearSystem([[1.0, 1.0], [0.0, 1.0]], [[0.5], [1.0]], C=[[1.0, 0.0]])
FLIGHT = control.LinearSystem(
    [[1.05, 0.1, 0.0], [0.0, 0.9, 0.1], [0.1, 0.0, 0.8]], [[0.0, 0.1], [0.1, 0.0], [0.0, 0.2]], C=np.eye(3)[:2]
)
COST = control.QuadraticCost(1.0, 1.0)
WAVES = control.SinusoidDisturbance(0.3, period=40.0, seed=1)
NOISE = 0.03 * np.random.default_rng(0).standard_normal((600, 2))


def lqg_cost(plant: control.LinearSystem, rows: Any, noise: Any, L: Any, K: Any) -> float:
    """What u = -K x^ costs with a predictor, stated by itself."""
    x, guess, total = np.zeros(plant.state_dim), np.zeros(plant.state_dim), 0.0
    assert plant.C is not None
    for w, v in zip(rows, noise, strict=True):
        u = -K @ guess
        total += float(x @ x + u @ u)
        guess = plant.A @ guess + plant.B @ u + L @ (plant.C @ x + v - plant.C @ guess)
        x = plant.A @ x + plant.B @ u + w
    return total


@pytest.mark.parametrize("plant", [PLANT, FLIGHT])
def test_at_zero_it_is_lqg(plant: control.LinearSystem) -> None:
    """With all of the weight on u = -K x^ it is the engineer's own controller, to the last digits."""
    mine = control.OutputFeedback(plant, measurement_noise=0.01, guard=False, cost=COST)
    mine.inner._pool_parts["prior"][1:] = -math.inf
    mine.inner._pool_parts["weights"][:] = np.eye(mine.inner._pool_parts["weights"].size)[0]
    rows, noise = WAVES.sample(200, plant.state_dim), NOISE[:200, : mine.output_dim]
    trace = control.simulate(plant, mine, COST, rows, noise=noise)
    assert trace.total == pytest.approx(lqg_cost(plant, rows, noise, mine._observed.L, mine.K), rel=1e-9)


@pytest.mark.parametrize("offset_free", [False, True])
@pytest.mark.parametrize("plant", [PLANT, FLIGHT])
def test_it_learns_on_the_innovations(plant: control.LinearSystem, offset_free: bool) -> None:
    mine = control.OutputFeedback(plant, measurement_noise=0.01, offset_free=offset_free)
    rows, noise = WAVES.sample(600, plant.state_dim), NOISE[:, : mine.output_dim]
    trace = control.simulate(plant, mine, COST, rows, noise=noise)
    plain = lqg_cost(plant, rows, noise, mine._observed.plain, mine.K)
    # Without an idea of where disturbances enter, estimating those that stay may do a little harm at first.
    assert trace.total <= (0.9 if not offset_free else 1.1) * plain


def test_an_offset_free_observer_finds_what_stays() -> None:
    mine = control.OutputFeedback(PLANT, measurement_noise=0.01, offset_free=True)
    push = np.tile(0.2 * PLANT.B.ravel(), (300, 1))
    trace = control.simulate(PLANT, mine, COST, push)
    assert mine._estimate[2] == pytest.approx(0.2, rel=0.05)
    assert np.abs(trace.states[-50:, 0]).max() < 0.05


def test_your_own_observer_is_used_and_made_offset_free() -> None:
    L = np.array([[0.8], [0.3]])
    for offset_free in (False, True):
        mine = control.OutputFeedback(PLANT, observer=L, offset_free=offset_free)
        np.testing.assert_array_equal(mine._observed.L[:2], L)
        trace = control.simulate(PLANT, mine, COST, np.tile([0.1, 0.2], (200, 1)))
        assert np.isfinite(trace.total)
    assert "LQG" in mine.members


def test_missing_outputs_are_survived() -> None:
    mine, x = control.OutputFeedback(PLANT, measurement_noise=0.01), np.zeros(2)
    rng = np.random.default_rng(3)
    for t in range(300):
        y: Any = PLANT.C @ x if PLANT.C is not None else None
        u = mine.act(None if t % 17 == 5 else np.array([math.nan]) if t % 29 == 7 else y)
        assert np.isfinite(u).all()
        mine.observe(COST)
        x = PLANT.A @ x + PLANT.B @ u + 0.1 * rng.standard_normal(2)
    assert np.abs(x).max() < 10.0
    assert any("missing" in event.text for event in mine.log)


def test_without_a_guard_bad_outputs_are_refused() -> None:
    mine = control.OutputFeedback(PLANT, guard=False)
    for bad in (None, [math.nan], [1.0, 2.0], "y"):
        with pytest.raises(InputError):
            mine.act(bad)
    mine.act([0.1])
    with pytest.raises(OrderError):
        mine.act([0.2])


def test_a_reference_is_followed() -> None:
    mine, x = control.OutputFeedback(PLANT, cost=COST), np.zeros(2)
    assert PLANT.C is not None
    for _ in range(120):
        u = mine.act(PLANT.C @ x, reference=[2.0, 0.0])
        mine.observe(COST)
        x = PLANT.A @ x + PLANT.B @ u
    np.testing.assert_allclose(x, [2.0, 0.0], atol=1e-3)


def test_copies_go_on_alike() -> None:
    mine = control.OutputFeedback(PLANT, offset_free=True)
    rows = WAVES.sample(80, 2)
    first = control.simulate(PLANT, mine, COST, rows[:40])
    for twin in (mine.clone(), pickle.loads(pickle.dumps(mine))):
        again = control.simulate(PLANT, twin, COST, rows[40:], start=first.final_state)
        expected = control.simulate(PLANT, mine.clone(), COST, rows[40:], start=first.final_state)
        np.testing.assert_array_equal(again.inputs, expected.inputs)


@pytest.mark.parametrize("offset_free", [False, True])
def test_frozen_it_does_what_it_did(offset_free: bool) -> None:
    mine = control.OutputFeedback(PLANT, measurement_noise=0.01, offset_free=offset_free)
    rows = WAVES.sample(900, 2)
    control.simulate(PLANT, mine, COST, rows[:600])
    frozen, x, total = mine.freeze(), np.zeros(2), 0.0
    assert PLANT.C is not None
    for w in rows[600:]:
        u = frozen.act(PLANT.C @ x)
        total += float(x @ x + u @ u)
        x = PLANT.A @ x + PLANT.B @ u + w
    live = control.simulate(PLANT, mine, COST, rows[600:]).total
    assert total <= 1.3 * live
    assert mine.margins().gain_up > 1.0


def test_what_cannot_be_is_refused() -> None:
    bare = control.LinearSystem(PLANT.A, PLANT.B)
    blind = control.LinearSystem(np.diag([1.2, 0.5]), [[1.0], [1.0]], C=[[0.0, 1.0]])
    with pytest.raises(ParameterError, match="has no C"):
        control.OutputFeedback(bare)
    with pytest.raises(StabilityError, match="not seen in the outputs"):
        control.OutputFeedback(blind)
    with pytest.raises(StabilityError, match="spectral radius"):
        control.OutputFeedback(PLANT, observer=[[0.0], [0.0]])
    with pytest.raises(ParameterError, match="and not both"):
        control.OutputFeedback(PLANT, observer=[[0.8], [0.3]], measurement_noise=1.0)
    with pytest.raises(InputError, match="covariance"):
        control.OutputFeedback(PLANT, process_noise=[[1.0, 2.0], [2.0, 1.0]])


def test_a_delay_of_the_plant_is_known() -> None:
    late = control.LinearSystem(PLANT.A, PLANT.B, C=PLANT.C, delay=2)
    mine = control.OutputFeedback(late, measurement_noise=0.01)
    trace = control.simulate(late, mine, COST, WAVES, rounds=400)
    assert np.abs(trace.states).max() < 50.0
