"""The model of a plant with its actuator: preview of known disturbances, and set-points."""

import numpy as np
import pytest

from driftwise import control
from driftwise.control.plants.actuator import augment
from driftwise.control.policies.model import (
    Actuator,
    behind,
    follow_reference,
    model_of,
    set_point,
    targets_of,
    weights_of,
)

PLANT = control.random_system(3, 2, radius=1.02, seed=4)
Q, R = np.diag([1.0, 2.0, 0.5]), np.array([[1.0, 0.2], [0.2, 0.7]])


def cheapest(rows: np.ndarray, target: np.ndarray, aim: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Inputs of least cost for disturbances that are all known, by one large least-squares problem."""
    T, (n, m) = len(rows), PLANT.B.shape
    free, drive = np.zeros((T, n)), np.zeros((T, n, T * m))
    state, gain = x.copy(), np.zeros((n, T * m))
    for t in range(T):
        free[t], drive[t] = state, gain
        state, gain = PLANT.A @ state + rows[t], PLANT.A @ gain
        gain = gain.copy()
        gain[:, t * m : (t + 1) * m] += PLANT.B
    P = control.stability.gains.riccati(PLANT.A, PLANT.B, Q, R)[0]  # type: ignore[index]
    LQ, LR, LP = (np.linalg.cholesky(part).T for part in (Q, R, P))
    left = [LQ @ block for block in drive] + [LP @ gain]
    right = [LQ @ (target - one) for one in free] + [LP @ -state]
    for t in range(T):
        pick = np.zeros((m, T * m))
        pick[:, t * m : (t + 1) * m] = LR
        left.append(pick)
        right.append(LR @ aim)
    return np.asarray(np.linalg.lstsq(np.vstack(left), np.concatenate(right), rcond=None)[0]).reshape(T, m)


def test_preview_is_the_cheapest_answer_to_known_disturbances() -> None:
    rows = 0.3 * np.random.default_rng(1).standard_normal((60, 3))
    x = np.array([0.5, -0.2, 0.1])
    model = model_of(PLANT.A, PLANT.B, control.lqr(PLANT, Q, R), Q, R)
    assert model is not None
    wanted = cheapest(rows, np.zeros(3), np.zeros(2), x)[0]
    ahead = min(len(model.preview), 60)
    u = -model.K @ x - sum(model.preview[k] @ model.scale @ rows[k] for k in range(ahead))
    np.testing.assert_allclose(u, wanted, rtol=1e-2, atol=1e-3)
    np.testing.assert_allclose(model.preview.sum(axis=0), model.whole, rtol=0.03, atol=1e-3)
    np.testing.assert_allclose(model.scale.T @ model.scale, model.P, rtol=1e-9)


def test_a_set_point_is_the_end_of_the_cheapest_way_there() -> None:
    target, aim = np.array([1.0, -0.5, 0.3]), np.array([0.2, 0.0])
    model = model_of(PLANT.A, PLANT.B, control.lqr(PLANT), Q, R)
    assert model is not None
    own, best, _ = set_point(model, target, aim)
    rest = np.linalg.solve(np.eye(3) - PLANT.A + PLANT.B @ model.K, PLANT.B @ best)
    same = np.linalg.solve(np.eye(3) - PLANT.A + PLANT.B @ model.own, PLANT.B @ own)
    np.testing.assert_allclose(rest, same, atol=1e-9)
    wanted = cheapest(np.zeros((400, 3)), target, aim, rest)
    np.testing.assert_allclose(best - model.K @ rest, wanted[5], rtol=1e-4, atol=1e-6)


def test_a_reference_that_is_known_ahead_is_met() -> None:
    model = model_of(PLANT.A, PLANT.B, control.lqr(PLANT, Q, R), Q, R)
    assert model is not None
    step = np.vstack([np.zeros((5, 3)), np.tile([1.0, 0.5, -0.2], (1, 1))])
    own, best, _ = follow_reference(model, step, np.zeros(2))
    np.testing.assert_allclose(own, best, atol=1e-12)
    assert np.abs(best).max() > 1e-6, "a step five rounds ahead is prepared for"
    constant = follow_reference(model, step[-1:], np.zeros(2))
    for mine, expected in zip(constant, set_point(model, step[-1], np.zeros(2)), strict=True):
        np.testing.assert_allclose(mine, expected, atol=1e-9)


@pytest.mark.parametrize("actuator", [Actuator(), Actuator(2, 0.5), Actuator(0, 1.0, (0.6,)), Actuator(1, 2.0, (0.3,))])
def test_an_actuator_is_part_of_the_model(actuator: Actuator) -> None:
    A, B = behind(PLANT.A, PLANT.B, actuator)
    expected = augment(PLANT.A, actuator.gain * PLANT.B, actuator.delay, np.full(2, actuator.lag[0]))
    for mine, other in zip((A, B), expected, strict=True):
        np.testing.assert_array_equal(mine, other)
    model = model_of(A, B, control.lqr(PLANT), np.eye(3), np.eye(2))
    assert model is not None
    assert np.abs(np.linalg.eigvals(A - B @ model.K)).max() < 1.0
    assert model.own.shape == model.K.shape == (2, len(A))
    assert not model.own[:, 3:].any()


def test_actuators_have_names() -> None:
    assert Actuator().words() == "none"
    assert Actuator(1, 0.5).words() == "a delay of 1 sample and a gain of 0.5"
    assert Actuator(3, 1.0, (0.5, 0.5)).words() == "a delay of 3 samples and a lag of 0.5, 0.5"


def test_weights_and_targets_are_read_off_costs() -> None:
    cost = control.QuadraticCost(2.0, [1.0, 3.0], target=[1.0, 2.0, 3.0])
    found = weights_of(control.SoftLimits(cost, high=5.0), 3, 2)
    assert found is not None
    np.testing.assert_array_equal(found[0], 2.0 * np.eye(3))
    np.testing.assert_array_equal(found[1], np.diag([1.0, 3.0]))
    target, aim = targets_of(cost, 3, 2)
    np.testing.assert_array_equal(target, [1.0, 2.0, 3.0])
    assert not aim.any()
    assert weights_of(control.AbsoluteCost(1.0, 1.0), 3, 2) is None
    assert weights_of(None, 3, 2) is None


def test_a_plant_that_no_gain_holds_has_no_model() -> None:
    assert model_of(np.diag([2.0, 0.5]), np.array([[0.0], [1.0]]), np.zeros((1, 2)), np.eye(2), np.eye(1)) is None
