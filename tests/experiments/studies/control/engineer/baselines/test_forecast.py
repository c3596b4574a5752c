"""The forecast with preview is the same as one in NumPy, and beats LQR where there is something to forecast."""

import math

import numpy as np
import pytest

from driftwise._validate import Array
from driftwise.experiments.studies.control.engineer.baselines.design import design
from driftwise.experiments.studies.control.engineer.baselines.forecast import (
    FORGETTING,
    ORDER,
    REACH,
    RIDGE,
    forecast_trajectory,
)
from driftwise.experiments.studies.control.engineer.baselines.integral import WEIGHTS
from driftwise.experiments.studies.control.engineer.baselines.law import total_cost, trajectory
from driftwise.experiments.studies.control.engineer.baselines.named import (
    ARF,
    BASELINES,
    DOB,
    LAWS,
    LQI,
    LQR,
    baseline_cost,
)
from driftwise.experiments.studies.control.engineer.disturbances import disturbances
from driftwise.experiments.studies.control.engineer.faults import Fault, truth
from driftwise.experiments.studies.control.engineer.plants import MAKERS, Plant


def in_numpy(A: Array, B: Array, plant: Plant, rows: Array) -> Array:
    """Return the inputs, with the least squares of every state solved anew in every round."""
    n, optimum = len(plant.A), design(plant.A, plant.B)
    gains, z, before = optimum.preview(), np.zeros(len(A)), np.zeros(n)
    inputs: list[Array] = []
    seen: list[Array] = []
    for t, row in enumerate(rows):
        x = z[:n].copy()
        if t > 0:
            seen.append(x - plant.A @ before - plant.B @ inputs[-1])
        u = -optimum.K @ x
        if len(seen) >= 2 * (ORDER + 1):
            w = np.array(seen)
            for i in range(n):
                lags = [[*w[s - ORDER : s, i][::-1], 1.0] for s in range(ORDER, len(w))]
                weights = FORGETTING ** np.arange(len(lags))[::-1]
                squares = np.array(lags).T @ (weights[:, None] * np.array(lags))
                ridge = RIDGE * np.trace(squares) / len(squares) * np.eye(len(squares))
                fitted = np.linalg.solve(squares + ridge, np.array(lags).T @ (weights * w[ORDER:, i]))
                series, reach = list(w[-ORDER:, i]), REACH * np.abs(w[:, i]).max()
                for gain in gains:
                    series.append(np.clip(fitted[:-1] @ series[-1 : -ORDER - 1 : -1] + fitted[-1], -reach, reach))
                    u = u - gain[:, i] * series[-1]
        before = x
        inputs.append(u)
        z = A @ z + B @ u
        z[:n] += row
    return np.array(inputs)


@pytest.mark.parametrize("kind", ["AR(1)", "daily cycle", "white"])
def test_compiled_rounds_are_those_in_numpy(kind: str) -> None:
    plant = MAKERS["lateral flight"]()
    true = truth(plant, "lateral flight", Fault("", mismatch=0.05, delay=1)).augmented
    rows = disturbances(plant, "lateral flight", kind, "states", 60)
    _, inputs = forecast_trajectory(*true, plant, rows)
    np.testing.assert_allclose(inputs, in_numpy(*true, plant, rows), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("name", MAKERS)
def test_a_sine_is_foreseen(name: str) -> None:
    plant = MAKERS[name]()
    rows = disturbances(plant, name, "sine", "load", 1500)
    totals = {other: baseline_cost(other, (plant.A, plant.B), plant, rows) for other in BASELINES}
    assert totals[ARF] < totals[LQR]
    assert totals[ARF] < totals[DOB]


def test_noise_costs_it_little_and_a_run_that_diverges_infinitely_much() -> None:
    plant = MAKERS["short period"]()
    rows = disturbances(plant, "short period", "white", "states", 1500)
    lqr, forecast = (baseline_cost(name, (plant.A, plant.B), plant, rows) for name in (LQR, ARF))
    assert lqr < forecast < 1.15 * lqr
    away = (30.0 * plant.A, plant.B)
    assert baseline_cost(ARF, away, plant, rows) == baseline_cost(LQR, away, plant, rows) == math.inf


def test_the_best_version_counts() -> None:
    plant = MAKERS["crane"]()
    rows = disturbances(plant, "crane", "steps", "load", 800)
    each = [total_cost(*trajectory(plant.A, plant.B, make(plant), rows), 4) for make in LAWS[LQI]]
    assert len(set(each)) == len(WEIGHTS)
    assert baseline_cost(LQI, (plant.A, plant.B), plant, rows) == min(each)
