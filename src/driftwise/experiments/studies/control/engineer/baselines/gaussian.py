"""LQG and offset-free LQG: the linear-quadratic gain on what a Kalman filter makes of the measured outputs.

Offset-free LQG also estimates disturbances that enter like the load, or like the inputs, as random walks, and adds the
best answer to a disturbance that stays.
"""

import numpy as np
import scipy.linalg

from driftwise._validate import Array
from driftwise.experiments.studies.control.engineer.baselines.design import design
from driftwise.experiments.studies.control.engineer.baselines.law import Law
from driftwise.experiments.studies.control.engineer.plants import Plant

FLOOR = 1e-6
"""Variance that every state is assumed to be disturbed with, beside the load."""
WANDERING = 0.05
"""Assumed variance of a round's change of the load, in offset-free LQG; an AR(1) load has 0.06."""


def lqg(plant: Plant, noise: float, *, current: bool = False) -> Law:
    """Return LQG, for a load that is white noise of variance 1.

    Parameters
    ----------
    plant : Plant
        The plant; its `measured` outputs are seen.
    noise : float
        Standard deviation of the noise of every measurement.
    current : bool, default False
        Whether an input may depend on the measurement of its own round, as in a filter, or not, as in a predictor.
    """
    return _estimating(plant.A, plant.B, plant.measured, design(plant.A, plant.B).K, spread(plant), noise, current)


def spread(plant: Plant) -> Array:
    """Return the covariance that LQG assumes of the disturbances."""
    return np.asarray(plant.load @ plant.load.T + FLOOR * np.eye(len(plant.A)))


def offset_free(plant: Plant, noise: float, *, current: bool = False, through_inputs: bool = False) -> Law:
    """Return offset-free LQG, for disturbances that are random walks.

    Parameters
    ----------
    plant, noise, current
        As in `lqg`.
    through_inputs : bool, default False
        Whether the disturbances are modelled as if they were added to the inputs, and not like the load.
    """
    entry = plant.B if through_inputs else plant.load
    (n, m), loads = plant.B.shape, entry.shape[1]
    optimum = design(plant.A, plant.B)
    A = np.block([[plant.A, entry], [np.zeros((loads, n)), np.eye(loads)]])
    C = np.hstack([plant.measured, np.zeros((len(plant.measured), loads))])
    assumed = scipy.linalg.block_diag(FLOOR * np.eye(n), WANDERING * np.eye(loads))
    K = np.hstack([optimum.K, optimum.constant() @ entry])
    return _estimating(A, np.vstack([plant.B, np.zeros((loads, m))]), C, K, assumed, noise, current)


def kalman(A: Array, C: Array, assumed: Array, noise: float) -> Array:
    """Return the gain of the Kalman filter, from innovation to the correction of the state."""
    P = scipy.linalg.solve_discrete_are(A.T, C.T, assumed, noise**2 * np.eye(len(C)))
    return np.asarray(np.linalg.solve(C @ P @ C.T + noise**2 * np.eye(len(C)), C @ P).T)


def _estimating(A: Array, B: Array, C: Array, K: Array, assumed: Array, noise: float, current: bool) -> Law:
    """Return u = -K s of the prediction s, or of the prediction corrected by the measurement of the round."""
    correction = kalman(A, C, assumed, noise)
    kept = np.eye(len(A)) - correction @ C
    if current:
        return Law((A - B @ K) @ kept, (A - B @ K) @ correction, -K @ kept, -K @ correction)
    return Law(A @ kept - B @ K, A @ correction, -K, np.zeros((len(B.T), len(C))))
