"""LQR, and LQI: a linear-quadratic gain with integral action on the outputs that must not keep an offset."""

import numpy as np
import scipy.linalg

from driftwise.experiments.studies.control.engineer.baselines.design import design
from driftwise.experiments.studies.control.engineer.baselines.law import Law
from driftwise.experiments.studies.control.engineer.plants import Plant

WEIGHTS = (1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0, 100.0)
"""Weights of the integrators that are tried; the best of them in hindsight counts. Fewer would flatter what is compared
with the best alternative: the middle three alone make it up to a ninth dearer."""


def regulator(plant: Plant) -> Law:
    """Return u = -K x with the gain of the cost x'x + u'u."""
    n, m = plant.B.shape
    return Law(np.zeros((0, 0)), np.zeros((0, n)), np.zeros((m, 0)), -design(plant.A, plant.B).K)


def integral(plant: Plant, weight: float) -> Law:
    """Return u = -K x - L z, where z sums up the regulated outputs, by one linear-quadratic design.

    Parameters
    ----------
    plant : Plant
        The plant.
    weight : float
        Weight of z'z in the cost that the gains are designed for.
    """
    (n, m), outputs = plant.B.shape, len(plant.regulated)
    A = np.block([[plant.A, np.zeros((n, outputs))], [plant.regulated, np.eye(outputs)]])
    cost = scipy.linalg.block_diag(np.eye(n), weight * np.eye(outputs))
    K = design(A, np.vstack([plant.B, np.zeros((outputs, m))]), cost).K
    return Law(np.eye(outputs), plant.regulated, -K[:, n:], -K[:, :n])
