"""A disturbance-action controller, compiled: one step and a whole simulation (Algorithm 3 of the paper).

With A_K = A - B K and w_s = 0 for s < 0, in round t the controller knows w_0, ..., w_{t-1}, and ::

    s_tau(M) = sum_{k=1..H} M[k] w_{tau-k}
    u_t      = -K x_t + s_t(M_t)
    y_t(M)   = sum_{j=0..H} A_K^j (w_{t-1-j} + B s_{t-1-j}(M))
    v_t(M)   = -K y_t(M) + s_t(M)
    grad_{M[k]} c_t(y_t(M), v_t(M)) = sum_{j=0..H+1} q_j w_{t-j-k}'
               with q_0 = g_u and q_{j+1} = B' (A_K')^j (g_x - K' g_u)

where g_x, g_u are the gradients of the cost at (y_t, v_t). The learner itself is a row of ``driftwise.engine``:
the policy M, flat, is its decision, and this gradient is what it observes.

Disturbances are kept one row a coordinate, newest first, so that the inner loops run along time: their entries do
not depend on one another, and the processor takes several at once. A part of a row is cut out before such a loop, as
an index that is computed inside it could be negative for all the compiler knows, and would be checked.
"""

import math
from typing import NamedTuple

from driftwise._compile import LARGEST, hot
from driftwise._validate import Array
from driftwise.control.kernels import (
    CostData,
    Integers,
    PlantData,
    advance,
    cost_gradient,
    cost_value,
    push_away,
    saturate,
)
from driftwise.engine.kernels import OK, REFUSED, observe_shared
from driftwise.engine.layout import ACTIVE, COUNT, DIM, views

ROUND, HEAD = 0, 1
"""Entries of the marks: rounds observed, and the column of the newest disturbance."""

SPARE = 64
"""Columns of the history to move through before it is shifted back."""


OUTLIER, SETTLED = 3.0, 10.0
"""Gradients over OUTLIER times the root mean square count as that much, once SETTLED gradients have been seen."""


class Loop(NamedTuple):
    """The nominal closed loop."""

    A: Array
    B: Array
    K: Array
    closed: Array
    """A_K = A - B K."""
    turned: Array
    """A_K', so that both are there with contiguous rows."""
    limit: Array
    """(du,): the controller's own input bound; inf where there is none."""


class Memory(NamedTuple):
    """What a controller remembers besides its learner."""

    marks: Integers
    """(2,): ROUND, HEAD."""
    past: Array
    """(dx, 2H + 1 + SPARE): the disturbances, from column HEAD on, newest first."""
    x: Array
    """(dx,): the state of the last `act`."""
    u: Array
    """(du,): the input of that round, as it was applied."""
    norms: Array
    """(3,): number and sum of the squared norms of the gradients so far, outliers cut; largest disturbance."""


class Room(NamedTuple):
    """Room to work in; nothing in it is kept from one round to the next."""

    w: Array
    y: Array
    z: Array
    v: Array
    slope_x: Array
    slope_u: Array
    sums: Array
    """(du, H + 2): s_{t-j}(M) in column j."""
    pulls: Array
    """(du, H + 2): q_j in column j."""
    spread: Array
    """(du, dx, H): the gradient, with the lag last."""
    gradient: Array
    """(H du dx,): the gradient as the learner takes it."""


@hot
def _within(values: Array) -> bool:
    """Tell whether every number is finite and small enough that its square is."""
    wrong = 0
    for k in range(values.size):
        wrong += not abs(values[k]) <= LARGEST
    return wrong == 0


@hot
def act(loop: Loop, memory: Memory, room: Room, policy: Array, x: Array, u: Array) -> int:
    """Recover the last disturbance from the state x, remember it, and write the input; refuse what is not finite."""
    A, B, K, limit = loop.A, loop.B, loop.K, loop.limit
    marks, past, w = memory.marks, memory.past, room.w
    dx, du = B.shape
    H = room.spread.shape[2]
    if not _within(x):
        return REFUSED
    if marks[ROUND] > 0:
        for i in range(dx):
            w[i] = x[i]
            for k in range(dx):
                w[i] -= A[i, k] * memory.x[k]
            for k in range(du):
                w[i] -= B[i, k] * memory.u[k]
        if not _within(w):
            return REFUSED
        if marks[HEAD] == 0:
            marks[HEAD] = past.shape[1] - 2 * H
            for i in range(dx):
                for k in range(2 * H - 1, -1, -1):
                    past[i, marks[HEAD] + k] = past[i, k]
        marks[HEAD] -= 1
        size = 0.0
        for i in range(dx):
            past[i, marks[HEAD]] = w[i]
            size += w[i] * w[i]
        memory.norms[2] = max(memory.norms[2], math.sqrt(size))
    head = marks[HEAD]
    for a in range(du):
        u[a] = 0.0
        for i in range(dx):
            u[a] -= K[a, i] * x[i]
    for k in range(H):
        for a in range(du):
            for i in range(dx):
                u[a] += policy[(k * du + a) * dx + i] * past[i, head + k]
    saturate(limit, u)
    for i in range(dx):
        memory.x[i] = x[i]
    for a in range(du):
        memory.u[a] = u[a]
    return OK


@hot
def foresee(loop: Loop, memory: Memory, room: Room, policy: Array) -> None:
    """Write y_t(M) and v_t(M): where the plant would be, and the input, had M been in place for H + 1 rounds."""
    B, K, turned = loop.B, loop.K, loop.turned
    past, sums, y, z, v = memory.past, room.sums, room.y, room.z, room.v
    dx, du = B.shape
    head, H = memory.marks[HEAD], room.spread.shape[2]
    for a in range(du):
        for j in range(H + 2):
            sums[a, j] = 0.0
    for i in range(dx):
        for k in range(H):
            tail = past[i, head + k : head + k + H + 2]
            for a in range(du):
                weight = policy[(k * du + a) * dx + i]
                for j in range(H + 2):
                    sums[a, j] += weight * tail[j]
    for i in range(dx):
        y[i] = 0.0
    for j in range(H, -1, -1):
        for i in range(dx):
            z[i] = past[i, head + j]
            for a in range(du):
                z[i] += B[i, a] * sums[a, j + 1]
        for k in range(dx):
            for i in range(dx):
                z[i] += turned[k, i] * y[k]
        for i in range(dx):
            y[i] = z[i]
    for a in range(du):
        v[a] = sums[a, 0]
        for i in range(dx):
            v[a] -= K[a, i] * y[i]


@hot
def pull_back(loop: Loop, memory: Memory, room: Room) -> float:
    """Write the gradient in M from the cost's gradients in y and v, and return its squared norm."""
    B, K, closed = loop.B, loop.K, loop.closed
    past, pulls, spread, gradient = memory.past, room.pulls, room.spread, room.gradient
    y, z = room.y, room.z
    dx, du = B.shape
    head, H = memory.marks[HEAD], spread.shape[2]
    for i in range(dx):
        y[i] = room.slope_x[i]
        for a in range(du):
            y[i] -= K[a, i] * room.slope_u[a]
    for a in range(du):
        pulls[a, 0] = room.slope_u[a]
    for j in range(1, H + 2):
        for a in range(du):
            pulls[a, j] = 0.0
        for i in range(dx):
            for a in range(du):
                pulls[a, j] += B[i, a] * y[i]
        if j <= H:
            for k in range(dx):
                z[k] = 0.0
            for i in range(dx):
                for k in range(dx):
                    z[k] += closed[i, k] * y[i]
            for k in range(dx):
                y[k] = z[k]
    for a in range(du):
        for i in range(dx):
            for k in range(H):
                spread[a, i, k] = 0.0
    for i in range(dx):
        for j in range(H + 2):
            tail = past[i, head + j : head + j + H]
            for a in range(du):
                for k in range(H):
                    spread[a, i, k] += pulls[a, j] * tail[k]
    total = 0.0
    for a in range(du):
        for i in range(dx):
            square = 0.0
            for k in range(H):
                gradient[(k * du + a) * dx + i] = spread[a, i, k]
                square += spread[a, i, k] * spread[a, i, k]
            total += square
    return total


@hot
def normalise(memory: Memory, room: Room, square: float) -> float:
    """Divide the gradient by the root mean square of all so far, this one included, and return what it counts for.

    One that is over three times as large as usual is cut to that, so that a glitch neither throws the policy far away
    nor makes all later gradients look small.
    """
    count, total = memory.norms[0], memory.norms[1]
    counted = min(square, OUTLIER * OUTLIER * total / count) if count >= SETTLED else square
    if counted > 0.0:
        factor = math.sqrt((count + 1.0) / (total + counted)) * math.sqrt(counted / square)
        for k in range(room.gradient.size):
            room.gradient[k] *= factor
    return counted


@hot
def remember(memory: Memory, applied: Array, square: float) -> None:
    """End a round: keep the input that was applied, and what the gradient counts for unless it was 0."""
    memory.marks[ROUND] += 1
    for a in range(applied.size):
        memory.u[a] = applied[a]
    if square > 0.0:
        memory.norms[0] += 1.0
        memory.norms[1] += square


@hot
def slope(loop: Loop, memory: Memory, room: Room, policy: Array, cost: CostData, t: int, measured: bool) -> float:
    """Write the gradient that the learner observes for built-in costs; return its squared norm or weight."""
    foresee(loop, memory, room, policy)
    cost_gradient(cost, t, room.y, room.v, room.slope_x, room.slope_u)
    square = pull_back(loop, memory, room)
    if measured and square <= LARGEST * LARGEST:
        square = normalise(memory, room, square)
    return square


@hot
def simulate(
    plant: PlantData,
    loop: Loop,
    memory: Memory,
    room: Room,
    cost: CostData,
    integers: Integers,
    floats: Array,
    counters: Integers,
    state: Array,
    learns: bool,
    measured: bool,
    push: float,
    x: Array,
    applied: Array,
    disturbances: Array,
    states: Array,
    inputs: Array,
    costs: Array,
    weights: Array,
    policies: Array,
) -> int:
    """Run a plant and its controller, and return the number of rounds that went well.

    `x` is the state to start from, and at the end the last one reached. `disturbances` are those to come; where the
    adversary reacts (`push` > 0) they are overwritten by what it does.
    """
    dx, du = loop.B.shape
    policy, mixing = state[: integers[DIM]], views(state, integers[COUNT], integers[DIM]).weights
    following = room.z
    for t in range(states.shape[0]):
        for i in range(dx):
            states[t, i] = x[i]
        if weights.shape[0] > 0:
            for k in range(counters[ACTIVE]):
                weights[t, k] = mixing[k]
        if policies.shape[0] > 0:
            for k in range(policy.size):
                policies[t, k] = policy[k]
        if act(loop, memory, room, policy, x, applied) != OK:
            return t
        saturate(plant.limit, applied)
        for a in range(du):
            inputs[t, a] = applied[a]
        costs[t] = cost_value(cost, t, x, applied)
        if not abs(costs[t]) <= LARGEST:
            return t
        square = 0.0
        if learns:
            square = slope(loop, memory, room, policy, cost, t, measured)
            if not square <= LARGEST * LARGEST:
                return t
            if observe_shared(integers, floats, counters, state, room.gradient) != OK:
                return t
        remember(memory, applied, square)
        w = disturbances[t]
        if push > 0.0:
            push_away(plant, t, x, applied, push, w, following)
        advance(plant, t, x, applied, w, following)
        for i in range(dx):
            x[i] = following[i]
    return len(states)
