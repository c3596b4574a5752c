"""What a plant is, and how one comes from physical constants, sampled with a zero-order hold.

States and inputs are divided by the deviations that count as equally bad, so that the cost x'x + u'u is the one an
engineer would begin with.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike

from driftwise._validate import Array

GRAVITY = 9.81


class Plant(NamedTuple):
    """x' = A x + B u + E d in scaled units; the inputs are held between samples, and so is the load d."""

    A: Array
    B: Array
    load: Array
    """E: how physical loads, such as a force, a torque or the weather, move the states."""
    regulated: Array
    """Outputs whose offset integral action is to remove, at most as many as there are inputs."""
    measured: Array
    """Outputs that sensors give, for control without the state."""


def sampled(
    A: ArrayLike,
    B: ArrayLike,
    load: ArrayLike,
    step: float,
    *,
    states: Sequence[float],
    inputs: Sequence[float],
    regulated: Sequence[int],
    measured: Sequence[int],
) -> Plant:
    """Return dx/dt = A x + B u + E d at every `step`, with u and d held, in units of `states` and `inputs`.

    Parameters
    ----------
    A, B, load : array
        The plant in continuous time and physical units; B and E have a column for each input or load.
    step : float
        Time between two samples.
    states, inputs : sequence of float
        Deviations of every state and input that are equally bad.
    regulated, measured : sequence of int
        States that integral action regulates, and those that sensors give.
    """
    scale = np.array(states, dtype=np.float64)
    drift = np.array(A, dtype=np.float64)
    entries = np.hstack([np.array(B, dtype=np.float64) * np.array(inputs), np.array(load, dtype=np.float64)])
    n, columns = entries.shape
    held = np.zeros((n + columns, n + columns))
    held[:n, :n], held[:n, n:] = drift * scale / scale[:, None], entries / scale[:, None]
    moved = scipy.linalg.expm(step * held)[:n]
    split = n + len(inputs)
    outputs = np.eye(n)
    drift, push, load = (np.ascontiguousarray(part) for part in np.hsplit(moved, [n, split]))
    return Plant(drift, push, load, outputs[list(regulated)], outputs[list(measured)])
