"""What all members together answer to past disturbances, as one linear map: the policy in use, frozen.

With the coefficients of the autoregressions as they are now, every member's s_t is linear in past disturbances, up to
the cutting of forecasts and a constant. In its copy of the model, with S_k the answer to a disturbance k rounds ago, ::

    Z_1 = [1, 0],   Z_{k+1} = (A - B K) Z_k + B S_k,   V_k = (own gain - K) Z_k + S_k

is what it adds to the gain in use, and the policy is M[k] = sum_i p_i V_k^i.
"""

from collections.abc import Callable

import numpy as np

from driftwise._validate import Array
from driftwise.control.policies.model import Model
from driftwise.control.self_tuned.pool import AUTOREGRESSIONS, HOLDS, Given


def forecast_answer(model: Model, coefficients: Array, cuts: Array, order: int) -> tuple[Array, Array]:
    """Return what an autoregression answers to the last y, shape (order, du, n), and without any, shape (du,).

    `coefficients` is (entries, n), of which the first `order` are for lags, and a last one is for the constant.
    """
    ahead, du, n = model.preview.shape
    lags, constant = coefficients[:order], coefficients[order] * cuts if len(coefficients) > order else np.zeros(n)
    # Row j: the forecast's dependence on the y of j + 1 rounds ago, coordinate by coordinate.
    past, rows, total = np.eye(order)[:, :, None] * np.ones(n), np.zeros((order, du, n)), np.zeros(du)
    levels = np.zeros((order, n))
    for s in range(ahead):
        now, level = np.einsum("jn,jkn->kn", lags, past), constant + (lags * levels).sum(axis=0)
        past, levels = np.concatenate([now[None], past[:-1]]), np.concatenate([level[None], levels[:-1]])
        rows -= model.preview[s][None] * now[:, None, :]
        total -= model.preview[s] @ level
    return rows, total


def answers(
    model: Model, given: Given, weights: Array, parts: dict[str, Array], ready: Callable[[int], bool], memory: int
) -> tuple[Array, Array]:
    """Return M of shape (memory, du, n), and the constant that comes with it.

    Parameters
    ----------
    model, given : Model, Given
        The model, and members that were given.
    weights, parts : array, dict of array
        The weights of the members, and the parts of the pool.
    ready : callable
        Tells of an autoregression, by its number, whether it has seen enough to forecast.
    memory : int
        Disturbances to look back on.
    """
    (nz, du), n = model.B.shape, len(model.scale)
    closed, turn = model.A - model.B @ model.K, model.own - model.K
    M, offset = np.zeros((memory, du, n)), np.zeros(du)

    def add(weight: float, S: Array, constant: Array) -> None:
        Z = np.eye(nz)[:, :n]
        for k in range(memory):
            M[k] += weight * (turn @ Z + S[k])
            Z = closed @ Z + model.B @ S[k]
        offset[:] += weight * (turn @ np.linalg.solve(np.eye(nz) - closed, model.B @ constant) + constant)

    nothing, still = np.zeros(du), np.zeros((memory, du, n))
    for share, weight in zip(HOLDS, weights[1:], strict=False):
        add(weight, -share * (1.0 - share) ** np.arange(memory)[:, None, None] * (model.whole @ model.scale), nothing)
    place = 0
    for r, one in enumerate(AUTOREGRESSIONS):
        q, wide = one.size, parts["recent"].shape[1]
        lanes = wide if one.each else 4
        start = place + q * (q + 1) * lanes
        place = start + q * wide
        S, constant = still.copy(), nothing
        if ready(r):
            coefficients = parts["regressions"][start:place].reshape(q, wide)[:, :n]
            with np.errstate(all="ignore"):
                rows, level = forecast_answer(model, coefficients, parts["cuts"][:n], one.order)
            # Forecasts that grow without end are cut where they are used; there is no linear map for that.
            if np.isfinite(rows).all() and np.isfinite(level).all():
                S[: one.order], constant = (rows @ model.scale)[:memory], level
        add(weights[1 + len(HOLDS) + r], S, constant)
    first = 1 + len(HOLDS) + len(AUTOREGRESSIONS)
    for g in range(len(given.names)):
        # What it plays is told apart from the gain in use by that gain in its own copy.
        power, Z = given.B, np.eye(nz)[:, :n]
        for k in range(memory):
            played = given.C[g] @ power
            M[k] += weights[first + g] * (model.own @ Z + played)
            power, Z = given.A @ power, model.A @ Z + model.B @ played
    for policy, weight in zip(parts["policies"], weights[first + len(given.names) :], strict=True):
        S = still.copy()
        rows = policy.reshape(-1, du, n)[:memory]
        S[: len(rows)] = rows
        add(weight, S, nothing)
    return M, offset
