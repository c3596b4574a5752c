"""A frozen policy as a linear system from samples to inputs, for python-control.

The finite response sum_i M[i] w_{t-i} is kept in transposed form, as a chain of H - 1 (with an observer, H) partial
sums of the size of an input: r_i' = r_{i+1} + M[i+1] w.
"""

from typing import Any

import numpy as np

from driftwise._extras import optional
from driftwise._validate import Array, number
from driftwise.control.frozen.law import Law


def controller_matrices(law: Law) -> tuple[Array, Array, Array, Array]:
    """Return (F, G, Q, D) of s' = F s + G y, u = Q s + D y, with y the sample, relative to the set-point.

    Its state is [z, r_1, r_2, ...]; where states are measured, the first n of z are where the model expects them.
    """
    sides = law.sides
    nz, n, du, width = sides["nz"], sides["n"], sides["du"], sides["width"]
    late = 0 if law.observed else 1  # M[1] answers at once to the sample that reveals w
    links = sides["lags"] - late
    size = nz + links * du
    # What is in z once the sample is in, and what is in w, of the state s and of the sample y.
    z_s, z_y = np.eye(nz, size), np.zeros((nz, width))
    w_s, w_y = np.zeros((n, size)), np.zeros((n, width))
    if law.observed:
        w_s[:, :n], w_y[:] = -law.L @ law.C, law.L
    else:
        w_s[:, :n], w_y[:] = -np.eye(n), np.eye(n)
        z_s[:n], z_y[:n] = 0.0, np.eye(n)
    Q, D = -law.K @ z_s, -law.K @ z_y
    if late:
        Q, D = Q + law.M[0] @ w_s, D + law.M[0] @ w_y
    if links:
        Q[:, nz : nz + du] += np.eye(du)
    F, G = np.zeros((size, size)), np.zeros((size, width))
    F[:nz], G[:nz] = law.A @ z_s + law.B @ Q, law.A @ z_y + law.B @ D
    if law.observed:
        F[:n] += w_s
        G[:n] += w_y
    for i in range(links):
        rows = slice(nz + i * du, nz + (i + 1) * du)
        F[rows], G[rows] = law.M[i + late] @ w_s, law.M[i + late] @ w_y
        if i + 1 < links:
            F[rows, nz + (i + 1) * du : nz + (i + 2) * du] += np.eye(du)
    return F, G, Q, D


def to_statespace(owner: str, law: Law, dt: float | bool | None) -> Any:
    """Return the controller as a `control.StateSpace`."""
    period: float | bool = True if dt is None or dt is True else number(owner, "dt", dt, low=0.0, exclusive=True)
    return optional(owner, "control", "control").StateSpace(*controller_matrices(law), period)
