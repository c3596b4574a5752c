"""AR-preview: a linear-quadratic gain with preview of a forecast, made for every state by autoregression of order 8.

This is unconstrained model predictive control with a forecast of the disturbance. Coefficients come from recursive
least squares with a bias, which forgets a thousandth a round.
"""

import math

import numpy as np

from driftwise._compile import LARGEST, aside, entry
from driftwise._validate import Array
from driftwise.experiments.studies.control.engineer.baselines.design import design
from driftwise.experiments.studies.control.engineer.plants import Plant

ORDER = 8
FORGETTING = 0.999
RIDGE = 1e-9
"""Ridge of the normal equations, beside the mean of their diagonal."""
REACH = 1.5
"""Forecasts stay within this times the largest disturbance that was seen."""


def forecast_trajectory(A: Array, B: Array, plant: Plant, rows: Array) -> tuple[Array, Array]:
    """Return states and inputs of a run from rest of u = -K x - sum_k G_k w^_{t+k}; infinite if it diverges.

    Parameters
    ----------
    A, B : array
        The plant as it is; its first states are those of `plant`, and are disturbed.
    plant : Plant
        The plant as it is known, for which gains are designed and disturbances are recovered.
    rows : array of shape (T, states of the known plant)
        Disturbances.
    """
    (n, m), (T, known), q = B.shape, rows.shape, ORDER + 1
    optimum = design(plant.A, plant.B)
    gains = optimum.preview()
    model = np.hstack([plant.A, plant.B, optimum.K.T])
    room = np.zeros((known, ORDER + q * q + 2 * q + 1))
    states, inputs = np.zeros((T, n)), np.zeros((T, m))
    scratch, series = np.zeros((q, q)), np.zeros(ORDER + len(gains))
    played = _run(np.hstack([A, B]), model, gains, rows, room, scratch, series, states, inputs)
    states[played:] = math.inf
    return states, inputs


@aside
def fit(room: Array, i: int, w: float, scratch: Array) -> None:
    """Take w into the least squares of state i, and solve them by Cholesky's method.

    A row of the room holds the last disturbances, the normal matrix, its right side, coefficients, and the reach.
    """
    q = scratch.shape[0]
    squares, products, fitted = q - 1, q - 1 + q * q, q - 1 + q * q + q
    mean = 0.0
    for a in range(q):
        left = room[i, a] if a < q - 1 else 1.0
        for b in range(q):
            at = squares + a * q + b
            room[i, at] = FORGETTING * room[i, at] + left * (room[i, b] if b < q - 1 else 1.0)
        room[i, products + a] = FORGETTING * room[i, products + a] + left * w
        mean += room[i, squares + a * q + a] / q
    for a in range(q):
        for b in range(a + 1):
            total = room[i, squares + a * q + b] + (RIDGE * mean if a == b else 0.0)
            for c in range(b):
                total -= scratch[a, c] * scratch[b, c]
            scratch[a, b] = math.sqrt(max(total, 1e-3 * RIDGE * mean)) if a == b else total / scratch[b, b]
        total = room[i, products + a]
        for c in range(a):
            total -= scratch[a, c] * room[i, fitted + c]
        room[i, fitted + a] = total / scratch[a, a]
    for a in range(q - 1, -1, -1):
        total = room[i, fitted + a]
        for c in range(a + 1, q):
            total -= scratch[c, a] * room[i, fitted + c]
        room[i, fitted + a] = total / scratch[a, a]


@aside
def preview(room: Array, i: int, gains: Array, q: int, series: Array, inputs: Array, t: int) -> None:
    """Subtract G_k times the forecast of state i in k rounds, for every k, from the inputs of round t."""
    fitted, reach = q - 1 + q * q + q, room[i, room.shape[1] - 1]
    for a in range(q - 1):
        series[q - 2 - a] = room[i, a]
    for k in range(gains.shape[0]):
        ahead = room[i, fitted + q - 1]
        for a in range(q - 1):
            ahead += room[i, fitted + a] * series[q - 2 - a + k]
        ahead = min(max(ahead, -reach), reach)
        series[q - 1 + k] = ahead
        for j in range(gains.shape[1]):
            inputs[t, j] -= gains[k, j, i] * ahead


@entry
def _run(
    true: Array,
    model: Array,
    gains: Array,
    rows: Array,
    room: Array,
    scratch: Array,
    series: Array,
    states: Array,
    inputs: Array,
) -> int:
    """Play all rounds, and return how many went well; `true` is [A, B], and `model` is [A, B, K'] as known."""
    T, known = rows.shape
    n, m, q = states.shape[1], inputs.shape[1], scratch.shape[0]
    for t in range(T):
        for i in range(n):
            if not abs(states[t, i]) <= LARGEST:
                return t
        for i in range(known):
            for j in range(m):
                inputs[t, j] -= model[i, known + m + j] * states[t, i]
        if t > 0:
            for i in range(known):
                w = states[t, i]
                for k in range(known):
                    w -= model[i, k] * states[t - 1, k]
                for j in range(m):
                    w -= model[i, known + j] * inputs[t - 1, j]
                if t >= q:
                    fit(room, i, w, scratch)
                for a in range(q - 2, 0, -1):
                    room[i, a] = room[i, a - 1]
                room[i, 0] = w
                last = room.shape[1] - 1
                room[i, last] = max(room[i, last], REACH * abs(w))
                if t >= 2 * q:
                    preview(room, i, gains, q, series, inputs, t)
        if t + 1 < T:
            for i in range(n):
                following = rows[t, i] if i < known else 0.0
                for k in range(n):
                    following += true[i, k] * states[t, k]
                for j in range(m):
                    following += true[i, n + j] * inputs[t, j]
                states[t + 1, i] = following
    return len(rows)
