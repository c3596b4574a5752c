"""A disturbance-action controller, compiled: the two halves of a round (Algorithm 3 of the paper).

With A_K = A - B K and w_s = 0 for s < 0, in round t the controller knows w_0, ..., w_{t-1}, and ::

    s_tau(M) = sum_{k=1..H} M[k] w_{tau-k}
    u_t      = -K x_t + s_t(M_t)
    y_t(M)   = sum_{j=0..H} A_K^j (w_{t-1-j} + B s_{t-1-j}(M))
    v_t(M)   = -K y_t(M) + s_t(M)
    grad_{M[k]} c_t(y_t(M), v_t(M)) = sum_{j=0..H+1} q_j w_{t-j-k}'
               with q_0 = g_u and q_{j+1} = B' (A_K')^j (g_x - K' g_u)

where g_x, g_u are the gradients of the cost at (y_t, v_t). The learner itself is one of ``driftwise.engine``: the
policy M, flat, is its decision, and this gradient is what it observes.

Disturbances are kept one row a coordinate, newest first, so that the inner loops run along time: their entries do
not depend on one another, and the processor takes several at once.
"""

import math

from driftwise._compile import LARGEST, aside, brief, helper, plugin
from driftwise._lanes import load, store
from driftwise._memory import Pointer, at, call, part, whole_at
from driftwise._validate import Array
from driftwise.control.costs.kernels import slopes_of
from driftwise.control.plants.kernels import clip
from driftwise.control.policies import layout as slot
from driftwise.domains.kernels import dot
from driftwise.engine.layout import DECISION_AT
from driftwise.engine.rounds import OK, REFUSED, learn, write_weights

OUTLIER, SETTLED = 3.0, 10.0
"""Gradients over OUTLIER times the root mean square count as that much, once SETTLED gradients have been seen."""


@aside
def clear(out: Pointer, size: int) -> None:
    """Write zeros."""
    for k in range(size):
        out[k] = 0.0


@aside
def copy_to(out: Pointer, given: Pointer, size: int) -> None:
    """Write what is given."""
    for k in range(size):
        out[k] = given[k]


@aside
def add_scaled(out: Pointer, factor: float, row: Pointer, size: int) -> None:
    """Add a multiple of a row, four entries at a time."""
    whole = size - size % 4
    for k in range(0, whole, 4):
        store(out, k, load(out, k) + factor * load(row, k))
    for k in range(whole, size):
        out[k] += factor * row[k]


@helper
def _disturbance(cell: Pointer, x: Pointer, i: int) -> float:
    """Return coordinate i of w_{t-1} = x_t - A x_{t-1} - B u_{t-1}."""
    dx, du = whole_at(cell, slot.DX), whole_at(cell, slot.DU)
    A, B, before, applied = at(cell, slot.A_AT), at(cell, slot.B_AT), at(cell, slot.X_AT), at(cell, slot.U_AT)
    w: float = x[i]
    for k in range(dx):
        w -= A[i * dx + k] * before[k]
    for k in range(du):
        w -= B[i * du + k] * applied[k]
    return w


@helper
def admits(cell: Pointer, x: Pointer) -> bool:
    """Tell whether a state, and the disturbance that explains it, are finite and small enough to be squared."""
    wrong = 0
    for i in range(whole_at(cell, slot.DX)):
        wrong += not abs(x[i]) <= LARGEST
    if cell[slot.ROUND] > 0.0 and wrong == 0:
        for i in range(whole_at(cell, slot.DX)):
            wrong += not abs(_disturbance(cell, x, i)) <= LARGEST
    return wrong == 0


@aside
def decide(cell: Pointer, policy: Pointer, x: Pointer) -> int:
    """Begin a round: recover the last disturbance from x and write the input, or refuse and change nothing."""
    if not admits(cell, x):
        return REFUSED
    dx, du, H = whole_at(cell, slot.DX), whole_at(cell, slot.DU), whole_at(cell, slot.LAGS)
    columns = whole_at(cell, slot.COLUMNS)
    K, u, past, square = at(cell, slot.K_AT), at(cell, slot.U_AT), at(cell, slot.PAST_AT), 0.0
    if cell[slot.ROUND] > 0.0:
        if cell[slot.HEAD] == 0.0:
            cell[slot.HEAD] = columns - 2 * H
            for i in range(dx):
                for k in range(2 * H - 1, -1, -1):
                    past[(i + 1) * columns - 2 * H + k] = past[i * columns + k]
        cell[slot.HEAD] -= 1.0
        for i in range(dx):
            w = _disturbance(cell, x, i)
            past[i * columns + whole_at(cell, slot.HEAD)] = w
            square += w * w
        cell[slot.FARTHEST] = max(cell[slot.FARTHEST], math.sqrt(square))
    else:
        cell[slot.BEGAN] = math.sqrt(dot(x, x, dx))
    newest = part(past, whole_at(cell, slot.HEAD))
    for a in range(du):
        u[a] = 0.0
        for i in range(dx):
            u[a] -= K[a * dx + i] * x[i]
    for k in range(H):
        for a in range(du):
            total = u[a]
            for i in range(dx):
                total += policy[(k * du + a) * dx + i] * newest[i * columns + k]
            u[a] = total
    clip(at(cell, slot.LIMIT_AT), u, du)
    copy_to(at(cell, slot.X_AT), x, dx)
    return OK


@aside
def foresee(cell: Pointer, policy: Pointer) -> None:
    """Write y_t(M) and v_t(M): where the plant would be, and the input, had M been in place for H + 1 rounds."""
    dx, du, H = whole_at(cell, slot.DX), whole_at(cell, slot.DU), whole_at(cell, slot.LAGS)
    columns = whole_at(cell, slot.COLUMNS)
    B, K, turned = at(cell, slot.B_AT), at(cell, slot.K_AT), at(cell, slot.TURNED_AT)
    newest, sums = part(at(cell, slot.PAST_AT), whole_at(cell, slot.HEAD)), at(cell, slot.SUMS_AT)
    y, z, v = at(cell, slot.Y_AT), at(cell, slot.Z_AT), at(cell, slot.V_AT)
    clear(sums, du * (H + 2))
    for i in range(dx):
        for k in range(H):
            tail = part(newest, i * columns + k)
            for a in range(du):
                add_scaled(part(sums, a * (H + 2)), policy[(k * du + a) * dx + i], tail, H + 2)
    clear(y, dx)
    for j in range(H, -1, -1):
        for i in range(dx):
            total = newest[i * columns + j]
            for a in range(du):
                total += B[i * du + a] * sums[a * (H + 2) + j + 1]
            z[i] = total
        for k in range(dx):
            add_scaled(z, y[k], part(turned, k * dx), dx)
        copy_to(y, z, dx)
    for a in range(du):
        total = sums[a * (H + 2)]
        for i in range(dx):
            total -= K[a * dx + i] * y[i]
        v[a] = total


@helper
def normalise(cell: Pointer, square: float) -> float:
    """Divide the gradient by the root mean square of all so far, this one included; return what its square counts for.

    A gradient over three times as large as usual is cut to that size, so that a glitch neither throws the policy far
    away nor makes all later gradients look small.
    """
    count, total = cell[slot.COUNT], cell[slot.SQUARES]
    counted = min(square, OUTLIER * OUTLIER * total / count) if count >= SETTLED else square
    if counted > 0.0:
        # Roots first: a quotient of tiny squares is more than a number can hold.
        factor = math.sqrt(count + 1.0) / math.sqrt(total + counted) * math.sqrt(counted / square)
        gradient = at(cell, slot.GRADIENT_AT)
        for k in range(whole_at(cell, slot.DX) * whole_at(cell, slot.DU) * whole_at(cell, slot.LAGS)):
            gradient[k] *= factor
    return counted


@helper
def _steepness(cell: Pointer) -> float:
    """Return the larger gradient of the cost at (y_t, v_t), in units of the larger of the two."""
    dx, du = whole_at(cell, slot.DX), whole_at(cell, slot.DU)
    y, v, slope_x = at(cell, slot.Y_AT), at(cell, slot.V_AT), at(cell, slot.SLOPE_X_AT)
    slope_u = at(cell, slot.SLOPE_U_AT)
    size = max(dot(y, y, dx), dot(v, v, du))
    slope = max(dot(slope_x, slope_x, dx), dot(slope_u, slope_u, du))
    if not slope > 0.0:
        return 0.0
    return math.sqrt(slope) / math.sqrt(size) if size > 0.0 else math.inf


@helper
def foresee_slopes(cell: Pointer, cost: Pointer, t: int) -> None:
    """Write the gradients of a built-in cost at y_t(M) and v_t(M)."""
    dx, du = whole_at(cell, slot.DX), whole_at(cell, slot.DU)
    slopes_of(
        cost, t, at(cell, slot.Y_AT), at(cell, slot.V_AT), dx, du, at(cell, slot.SLOPE_X_AT), at(cell, slot.SLOPE_U_AT)
    )


@aside
def pull_back(cell: Pointer) -> float:
    """Write the gradient for the learner from the cost's gradients in y and v.

    Returns its squared norm, or what that counts for where gradients are normalised.
    """
    dx, du, H = whole_at(cell, slot.DX), whole_at(cell, slot.DU), whole_at(cell, slot.LAGS)
    columns = whole_at(cell, slot.COLUMNS)
    B, K, closed = at(cell, slot.B_AT), at(cell, slot.K_AT), at(cell, slot.CLOSED_AT)
    newest, pulls = part(at(cell, slot.PAST_AT), whole_at(cell, slot.HEAD)), at(cell, slot.PULLS_AT)
    spread = at(cell, slot.SPREAD_AT)
    gradient, y, z = at(cell, slot.GRADIENT_AT), at(cell, slot.Y_AT), at(cell, slot.Z_AT)
    slope_u = at(cell, slot.SLOPE_U_AT)
    at(cell, slot.STEEP_AT)[0] = _steepness(cell)
    copy_to(y, at(cell, slot.SLOPE_X_AT), dx)
    for a in range(du):
        add_scaled(y, -slope_u[a], part(K, a * dx), dx)
        pulls[a * (H + 2)] = slope_u[a]
    for j in range(1, H + 2):
        for a in range(du):
            total = 0.0
            for i in range(dx):
                total += B[i * du + a] * y[i]
            pulls[a * (H + 2) + j] = total
        if j <= H:
            clear(z, dx)
            for i in range(dx):
                add_scaled(z, y[i], part(closed, i * dx), dx)
            copy_to(y, z, dx)
    clear(spread, du * dx * H)
    for i in range(dx):
        for j in range(H + 2):
            tail = part(newest, i * columns + j)
            for a in range(du):
                add_scaled(part(spread, (a * dx + i) * H), pulls[a * (H + 2) + j], tail, H)
    square = 0.0
    for row in range(du * dx):
        for k in range(H):
            entry = spread[row * H + k]
            gradient[k * du * dx + row] = entry
            square += entry * entry
    return normalise(cell, square) if cell[slot.MEASURED] > 0.0 and square <= LARGEST * LARGEST else square


@helper
def remember(cell: Pointer, square: float) -> None:
    """End a round: keep what the gradient counts for, unless it was 0, and how steep costs were."""
    cell[slot.ROUND] += 1.0
    cell[slot.STEEPEST] = max(cell[slot.STEEPEST], at(cell, slot.STEEP_AT)[0])
    if square > 0.0:
        cell[slot.COUNT] += 1.0
        cell[slot.SQUARES] += square


@plugin("int64(P, P, P, int64)")
def learn_by_gradient(cell: Pointer, learner: Pointer, cost: Pointer, t: int) -> int:
    """End a round with a learner of ``driftwise.engine``: let it observe a built-in cost, or refuse it."""
    foresee(cell, at(learner, DECISION_AT))
    foresee_slopes(cell, cost, t)
    square = pull_back(cell)
    if not square <= LARGEST * LARGEST or learn(learner, at(cell, slot.GRADIENT_AT)) != OK:
        return REFUSED
    remember(cell, square)
    return OK


@plugin("int64(P, P)")
def learner_weights(learner: Pointer, row: Pointer) -> int:
    """Write the weights of the base-learners in play, for the record of a run."""
    write_weights(learner, row)
    return OK


# What Python calls. A controller whose learner runs in compiled code needs the first two; the others are pieces of a
# round, for costs and learners of a user's own.


@brief
def act(entering: int, cell: Array, learner: Array, decision: int, x: Array) -> int:
    """Begin a round, and let the learner see the new disturbance if it has a plugin for that (0 if not).

    `decision` is the slot in the header of the learner's cell that says where the policy is.
    """
    status = decide(part(cell, 0), at(part(learner, 0), decision), part(x, 0))
    if status == OK and entering != 0:
        call(entering, part(cell, 0), part(learner, 0))
    return status


@brief
def observe(learning: int, cell: Array, learner: Array, cost: Array) -> int:
    """End a round with a built-in cost, by the plugin that learns."""
    status: int = call(learning, part(cell, 0), part(learner, 0), part(cost, 0), 0)
    return status


@brief
def admits_state(cell: Array, x: Array) -> bool:
    """Tell whether `act` would accept a state."""
    return admits(part(cell, 0), part(x, 0))


@brief
def look_ahead(cell: Array, policy: Array) -> None:
    """Write y_t(M) and v_t(M)."""
    foresee(part(cell, 0), part(policy, 0))


@brief
def look_back(cell: Array) -> float:
    """Write the gradient for the learner, from the cost's; return its squared norm, or what it counts for."""
    return pull_back(part(cell, 0))


@brief
def end_round(cell: Array, square: float) -> None:
    """End a round with a gradient that counts for so much."""
    remember(part(cell, 0), square)


@brief
def data_slope(cell: Array, policy: Array, cost: Array) -> float:
    """Do both, for a built-in cost."""
    foresee(part(cell, 0), part(policy, 0))
    foresee_slopes(part(cell, 0), part(cost, 0), 0)
    return pull_back(part(cell, 0))
