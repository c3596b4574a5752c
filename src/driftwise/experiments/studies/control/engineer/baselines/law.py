"""Linear control laws with a state of their own, and what one costs around a linear plant.

LQR, integral action, disturbance observers and LQG are all of this form. Loop and law together are one linear system,
whose states follow from the disturbances without a step by step simulation.
"""

import math
from typing import NamedTuple

import numpy as np

from driftwise._validate import Array
from driftwise.experiments.studies.control.identification import accumulate


class Law(NamedTuple):
    """The law u = C s + D y, s' = F s + G y of what is measured, y, from s = 0 on."""

    F: Array
    G: Array
    C: Array
    D: Array


def trajectory(
    A: Array, B: Array, law: Law, rows: Array, outputs: Array | None = None, noise: Array | None = None
) -> tuple[Array, Array]:
    """Return states and inputs of a run from rest, nan or infinite from some round on if they diverge.

    Parameters
    ----------
    A, B : array
        The plant; the disturbance enters its first states.
    law : Law
        What decides on the inputs.
    rows : array of shape (T, entered states)
        Disturbances.
    outputs : array of shape (measured, states), optional
        What is measured; the first states, as many as are disturbed, when left out.
    noise : array of shape (T, measured), optional
        Noise of the measurements.
    """
    n, own, (T, entered) = len(A), len(law.F), rows.shape
    seen = np.eye(n)[:entered] if outputs is None else outputs
    loop = np.block([[A + B @ law.D @ seen, B @ law.C], [law.G @ seen, law.F]])
    shocks = np.zeros((T, n + own))
    shocks[:, :entered] = rows
    if noise is not None:
        shocks[:, :n] += noise @ (B @ law.D).T
        shocks[:, n:] += noise @ law.G.T
    with np.errstate(over="ignore", invalid="ignore"):
        after = accumulate(loop, shocks)
        states = np.vstack([np.zeros(n + own), after[:-1]])
        inputs = states @ np.hstack([law.D @ seen, law.C]).T
        if noise is not None:
            inputs = inputs + noise @ law.D.T
    return states[:, :n], inputs


def total_cost(states: Array, inputs: Array, count: int) -> float:
    """Return the sum of x'x + u'u with the first `count` states, infinite if the run diverged."""
    with np.errstate(over="ignore", invalid="ignore"):
        total = float(np.sum(states[:, :count] ** 2) + np.sum(inputs**2))
    return total if math.isfinite(total) else math.inf
