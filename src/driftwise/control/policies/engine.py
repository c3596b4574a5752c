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
from driftwise.control.costs.kernels import slopes_of, targets_differ
from driftwise.control.policies import layout as slot
from driftwise.control.policies.guard import NOT_FINITE, note, temper, watch, watch_bounds
from driftwise.control.policies.lags import answers, slopes, transpose, weighted_sum
from driftwise.domains.kernels import dot
from driftwise.engine.layout import DECISION_AT
from driftwise.engine.rounds import OK, REFUSED, learn, write_weights

PAUSED = 3
"""A round ended well, and something is to be done that compiled code cannot do: the controller attends to it."""

ROUNDING = 1e-9
"""Relative difference between two inputs that is taken to be rounding."""

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
def _expected(cell: Pointer, i: int) -> float:
    """Return coordinate i of A x_{t-1} + B u_{t-1}, which is x_t without a disturbance."""
    dx, du = whole_at(cell, slot.DX), whole_at(cell, slot.DU)
    A, B, before, applied = at(cell, slot.A_AT), at(cell, slot.B_AT), at(cell, slot.X_AT), at(cell, slot.U_AT)
    total = 0.0
    for k in range(dx):
        total += A[i * dx + k] * before[k]
    for k in range(du):
        total += B[i * du + k] * applied[k]
    return total


@helper
def admits(cell: Pointer, x: Pointer) -> bool:
    """Tell whether a state, and the disturbance that explains it, are finite and small enough to be squared.

    After samples were lost any state explains itself: the model may have gone astray meanwhile.
    """
    wrong = 0
    for i in range(whole_at(cell, slot.STATES)):
        wrong += not abs(x[i]) <= LARGEST
    if cell[slot.ROUND] > 0.0 and cell[slot.LOST] == 0.0 and wrong == 0:
        for i in range(whole_at(cell, slot.STATES)):
            wrong += not abs(x[i] - _expected(cell, i)) <= LARGEST
    return wrong == 0


@aside
def make_room(cell: Pointer) -> None:
    """Make room for the next disturbance in the history."""
    dx, H, columns = whole_at(cell, slot.DX), whole_at(cell, slot.LAGS), whole_at(cell, slot.COLUMNS)
    past = at(cell, slot.PAST_AT)
    if cell[slot.HEAD] == 0.0:
        cell[slot.HEAD] = columns - 2 * H
        for i in range(dx):
            for k in range(2 * H - 1, -1, -1):
                past[(i + 1) * columns - 2 * H + k] = past[i * columns + k]
    cell[slot.HEAD] -= 1.0


@aside
def take_in(cell: Pointer, x: Pointer, known: int) -> None:
    """Begin a round: recover the last disturbance from a state that is admitted, or coast if it is not known.

    What explains the first state after samples were lost is of several rounds, and no disturbance.
    """
    dx, n, lost = whole_at(cell, slot.DX), whole_at(cell, slot.STATES), cell[slot.LOST] > 0.0
    columns, past, square = whole_at(cell, slot.COLUMNS), at(cell, slot.PAST_AT), 0.0
    heard, z = at(cell, slot.HEARD_AT), at(cell, slot.Z_AT)
    going = cell[slot.ROUND] > 0.0
    for i in range(dx):
        z[i] = min(max(_expected(cell, i), -LARGEST), LARGEST) if going else 0.0
    if going:
        make_room(cell)
    for i in range(dx):
        w = 0.0
        if known == 1 and i < n:
            w = x[i] - z[i] if abs(x[i] - z[i]) <= LARGEST else 0.0
            z[i] = x[i]
        if going:
            heard[i] = w
            past[i * columns + whole_at(cell, slot.HEAD)] = 0.0 if lost else w
            square += 0.0 if lost else w * w
    if going:
        cell[slot.FARTHEST] = max(cell[slot.FARTHEST], math.sqrt(square))
    else:
        cell[slot.BEGAN] = math.sqrt(dot(z, z, dx))
    copy_to(at(cell, slot.X_AT), z, dx)


@aside
def answer(cell: Pointer, policy: Pointer) -> None:
    """Write what a policy adds to the input: sum_i M[i] w_{t-i}."""
    dx, du, H = whole_at(cell, slot.DX), whole_at(cell, slot.DU), whole_at(cell, slot.LAGS)
    columns, extra = whole_at(cell, slot.COLUMNS), at(cell, slot.EXTRA_AT)
    newest = part(at(cell, slot.PAST_AT), whole_at(cell, slot.HEAD))
    clear(extra, du)
    for k in range(H):
        for a in range(du):
            total = extra[a]
            for i in range(dx):
                total += policy[(k * du + a) * dx + i] * newest[i * columns + k]
            extra[a] = total


@aside
def put_out(cell: Pointer) -> None:
    """Write the input: -K x, a set-point's part, and the guard's share of what is learnt, within rates and limits."""
    dx, du = whole_at(cell, slot.DX), whole_at(cell, slot.DU)
    K, u, x, extra = at(cell, slot.K_AT), at(cell, slot.U_AT), at(cell, slot.X_AT), at(cell, slot.EXTRA_AT)
    lead, limit, rate, share = at(cell, slot.LEAD_AT), at(cell, slot.LIMIT_AT), at(cell, slot.RATE_AT), cell[slot.SHARE]
    size = 0.0
    for a in range(du):
        size += abs(extra[a])
    if not size <= LARGEST:
        clear(extra, du)
        note(cell, NOT_FINITE, 0.0)
    for a in range(du):
        total, before = lead[a], u[a]
        for i in range(dx):
            total -= K[a * dx + i] * x[i]
        total += share * extra[a]
        total = min(max(total, before - rate[a]), before + rate[a])
        u[a] = min(max(total, limit[a]), limit[du + a])


@helper
def decide(cell: Pointer, learner: Pointer, decision: int, entering: int, x: Pointer, known: int) -> int:
    """Play the first half of a round: from a state to an input. What is refused changes nothing.

    `decision` is the slot in the header of the learner's cell that says where its policy is; a learner with a plugin
    (`entering` is its address, 0 if there is none) says itself what it adds to the input. A state that came late
    (`known` is 2) or is not known (0) teaches nothing, and the guard takes back what was learnt; in place of one that
    is not known, the model goes on.
    """
    if known > 0 and not admits(cell, x):
        return REFUSED
    take_in(cell, x, min(known, 1))
    if known == 1:
        if entering != 0:
            call(entering, cell, learner)
        else:
            temper(cell)
            answer(cell, at(learner, decision))
    if known != 1:
        cell[slot.LOST] += 1.0
    if known != 1 or cell[slot.LOST] == 0.0:
        watch(cell)
    else:
        cell[slot.LOST] = 0.0
        watch_bounds(cell)
    put_out(cell)
    return OK


@aside
def foresee(cell: Pointer, policy: Pointer) -> None:
    """Write y_t(M) and v_t(M): where the plant would be, and the input, had M been in place for H + 1 rounds."""
    dx, du, H = whole_at(cell, slot.DX), whole_at(cell, slot.DU), whole_at(cell, slot.LAGS)
    columns = whole_at(cell, slot.COLUMNS)
    B, K, turned = at(cell, slot.B_AT), at(cell, slot.K_AT), at(cell, slot.TURNED_AT)
    newest, sums = part(at(cell, slot.PAST_AT), whole_at(cell, slot.HEAD)), at(cell, slot.SUMS_AT)
    y, z, v = at(cell, slot.Y_AT), at(cell, slot.Z_AT), at(cell, slot.V_AT)
    spread, pushes = at(cell, slot.SPREAD_AT), at(cell, slot.GRADIENT_AT)
    now, following = (y, z) if H % 2 == 0 else (z, y)  # so that the last one is y
    answers(policy, newest, columns, dx, du, H, sums)
    for i in range(dx):
        total = newest[i * columns + H]
        for a in range(du):
            total += B[i * du + a] * sums[a * (H + 2) + H + 1]
        now[i] = total
        weighted_sum(part(spread, i * H), part(newest, i * columns), part(B, i * du), part(sums, 1), H + 2, du, H)
    transpose(pushes, spread, dx, H)
    for j in range(H - 1, -1, -1):
        weighted_sum(following, part(pushes, j * dx), now, turned, dx, dx, dx)
        now, following = following, now
    for a in range(du):
        v[a] = sums[a * (H + 2)] - dot(part(K, a * dx), y, dx) + at(cell, slot.LEVEL_AT)[a]
    for i in range(dx):
        y[i] += at(cell, slot.CENTRE_AT)[i]


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
    dx, du, n = whole_at(cell, slot.DX), whole_at(cell, slot.DU), whole_at(cell, slot.STATES)
    slope_x, slope_u = at(cell, slot.SLOPE_X_AT), at(cell, slot.SLOPE_U_AT)
    slopes_of(cost, t, at(cell, slot.Y_AT), at(cell, slot.V_AT), n, du, slope_x, slope_u)
    clear(part(slope_x, n), dx - n)


@aside
def pull_back(cell: Pointer) -> float:
    """Write the gradient for the learner from the cost's gradients in y and v.

    Returns its squared norm, or what that counts for where gradients are normalised.
    """
    dx, du, H = whole_at(cell, slot.DX), whole_at(cell, slot.DU), whole_at(cell, slot.LAGS)
    columns = whole_at(cell, slot.COLUMNS)
    B, K, closed = at(cell, slot.B_AT), at(cell, slot.K_AT), at(cell, slot.CLOSED_AT)
    newest, pulls = part(at(cell, slot.PAST_AT), whole_at(cell, slot.HEAD)), at(cell, slot.PULLS_AT)
    gradient, y, z, v = at(cell, slot.GRADIENT_AT), at(cell, slot.Y_AT), at(cell, slot.Z_AT), at(cell, slot.V_AT)
    slope_u, spread = at(cell, slot.SLOPE_U_AT), at(cell, slot.SPREAD_AT)
    at(cell, slot.STEEP_AT)[0] = _steepness(cell)
    copy_to(y, at(cell, slot.SLOPE_X_AT), dx)
    for a in range(du):
        add_scaled(y, -slope_u[a], part(K, a * dx), dx)
        pulls[a * (H + 2)] = slope_u[a]
    clear(spread, du * dx)
    for j in range(1, H + 2):
        weighted_sum(v, spread, y, B, du, dx, du)
        for a in range(du):
            pulls[a * (H + 2) + j] = v[a]
        weighted_sum(z, spread, y, closed, dx, dx, dx)
        y, z = z, y
    slopes(pulls, newest, columns, dx, du, H, spread, gradient)
    square = dot(gradient, gradient, du * dx * H)
    return normalise(cell, square) if cell[slot.MEASURED] > 0.0 and square <= LARGEST * LARGEST else square


@helper
def _overruled(cell: Pointer) -> float:
    """Return by how much the input that was applied differs from what the policy asked for, in any coordinate."""
    dx, du = whole_at(cell, slot.DX), whole_at(cell, slot.DU)
    K, u, x, extra = at(cell, slot.K_AT), at(cell, slot.U_AT), at(cell, slot.X_AT), at(cell, slot.EXTRA_AT)
    lead, share, largest = at(cell, slot.LEAD_AT), cell[slot.SHARE], 0.0
    for a in range(du):
        total = lead[a] + share * extra[a]
        size = abs(u[a]) + abs(total)
        for i in range(dx):
            total -= K[a * dx + i] * x[i]
            size += abs(K[a * dx + i] * x[i])
        off = abs(u[a] - total)
        largest = max(largest, off if off > ROUNDING * size else 0.0)
    return largest


@helper
def remember(cell: Pointer, square: float) -> None:
    """End a round: keep what the gradient counts for, unless it was 0, how steep costs were, and what was overruled."""
    cell[slot.ROUND] += 1.0
    cell[slot.OVERRULED] = max(cell[slot.OVERRULED], _overruled(cell))
    cell[slot.HIGHEST] = max(cell[slot.HIGHEST], square)
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
def act(entering: int, cell: Array, learner: Array, decision: int, x: Array, known: int) -> int:
    """Play the first half of a round; see `decide`."""
    return decide(part(cell, 0), part(learner, 0), decision, entering, part(x, 0), known)


@helper
def moved_on(cell: Pointer, cost: Pointer, t: int, status: int) -> int:
    """Return PAUSED after a round that went well whose cost has another set-point; otherwise its status."""
    n, du, target, aim = (
        whole_at(cell, slot.STATES),
        whole_at(cell, slot.DU),
        at(cell, slot.TARGET_AT),
        at(cell, slot.AIM_AT),
    )
    return PAUSED if status == OK and targets_differ(cost, t, target, aim, n, du) == 1 else status


@brief
def observe(learning: int, cell: Array, learner: Array, cost: Array) -> int:
    """End a round with a built-in cost, by the plugin that learns."""
    status: int = call(learning, part(cell, 0), part(learner, 0), part(cost, 0), 0)
    return moved_on(part(cell, 0), part(cost, 0), 0, status)


@brief
def report(cell: Array, kind: float, number: float) -> None:
    """Write down an event that only Python can see."""
    note(part(cell, 0), kind, number)


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
