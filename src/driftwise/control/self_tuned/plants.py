"""Every learner in a plant of its own: where it would be, what it would pay, and where its cost falls, compiled.

With A_K = A - B K, z = (x, u) and w_{-1} = 0, ::

    z_t(M) = z_t(0) + features_t M,    the state and the input, had M been in use all along,

is affine in M. The columns of `features` for M[k] in round t are those for M[1] in round t - k + 1, so that one new
block a round is all there is to compute: ::

    d x_t / d M[1][a, i] = A_K d x_{t-1} / d M[1][a, i] + B e_a w_{t-2, i}
    d u_t / d M[1][a, i] = -K d x_t / d M[1][a, i] + e_a w_{t-1, i}

A learner that moves is not at z_t(M) but in a state x^i_t of its own, which has seen all its policies. It is judged by
the cost of that state, so that the cost of moving is counted in full; it moves by the gradient at z_t(M).
"""

from driftwise._compile import LARGEST, aside, helper, plugin
from driftwise._memory import Pointer, at, part, whole_at
from driftwise.control.plants.kernels import add_product
from driftwise.control.policies import layout as loop
from driftwise.control.policies.engine import OUTLIER, SETTLED, add_scaled, clear, copy_to
from driftwise.control.self_tuned import pool as slot
from driftwise.domains.kernels import dot
from driftwise.engine.rounds import OK, REFUSED


@aside
def _new_block(cell: Pointer, pool: Pointer) -> None:
    """Make room for the features of M[1] and write them, from w_{t-1} and w_{t-2}."""
    dx, du, columns = whole_at(cell, loop.DX), whole_at(cell, loop.DU), whole_at(cell, loop.COLUMNS)
    dim = whole_at(pool, slot.DIM)
    B, K, closed = at(cell, loop.B_AT), at(cell, loop.K_AT), at(cell, loop.CLOSED_AT)
    newest, features = part(at(cell, loop.PAST_AT), whole_at(cell, loop.HEAD)), at(pool, slot.FEATURES_AT)
    block = at(pool, slot.BLOCK_AT)
    width = du * dx
    for r in range(dx):
        row = part(block, r * width)
        for a in range(du):
            for i in range(dx):
                row[a * dx + i] = B[r * du + a] * newest[i * columns + 1]
        for k in range(dx):
            add_scaled(row, closed[r * dx + k], part(features, k * dim), width)
    for r in range(dx + du):
        row = part(features, r * dim)
        for c in range(dim - 1, width - 1, -1):
            row[c] = row[c - width]
    for r in range(dx):
        copy_to(part(features, r * dim), part(block, r * width), width)
    for a in range(du):
        row = part(features, (dx + a) * dim)
        clear(row, width)
        for i in range(dx):
            row[a * dx + i] = newest[i * columns]
        for r in range(dx):
            add_scaled(row, -K[a * dx + r], part(block, r * width), width)


@helper
def _follow(cell: Pointer, state: Pointer, extra: Pointer, extras: int, room: Pointer) -> None:
    """Move a state on by A_K x + B s + w, where s has so many entries: du, or 0."""
    dx, columns = whole_at(cell, loop.DX), whole_at(cell, loop.COLUMNS)
    newest = part(at(cell, loop.PAST_AT), whole_at(cell, loop.HEAD))
    for r in range(dx):
        room[r] = newest[r * columns]
    add_product(at(cell, loop.CLOSED_AT), dx, dx, state, room)
    add_product(at(cell, loop.B_AT), dx, extras, extra, room)
    copy_to(state, room, dx)


@aside
def _choose(cell: Pointer, policy: Pointer, state: Pointer, extra: Pointer, own: Pointer) -> None:
    """Write the input of a learner in its own state, and what its policy adds to -K x."""
    dx, du, columns = whole_at(cell, loop.DX), whole_at(cell, loop.DU), whole_at(cell, loop.COLUMNS)
    K, newest = at(cell, loop.K_AT), part(at(cell, loop.PAST_AT), whole_at(cell, loop.HEAD))
    for a in range(du):
        added, total = 0.0, 0.0
        for k in range(whole_at(cell, loop.LAGS)):
            for i in range(dx):
                added += policy[(k * du + a) * dx + i] * newest[i * columns + k]
        for i in range(dx):
            total -= K[a * dx + i] * state[i]
        extra[a], own[a] = added, total + added


@plugin("int64(P, P)")
def enter(cell: Pointer, pool: Pointer) -> int:
    """Begin a round, after `engine.decide`: let every learner see the new disturbance, and choose its input."""
    dx, du, N = whole_at(cell, loop.DX), whole_at(cell, loop.DU), whole_at(pool, slot.COUNT)
    dim = whole_at(pool, slot.DIM)
    free, states, extras = at(pool, slot.FREE_AT), at(pool, slot.STATES_AT), at(pool, slot.EXTRAS_AT)
    inputs = at(pool, slot.INPUTS_AT)
    if cell[loop.ROUND] > 0.0:
        _new_block(cell, pool)
        for m in range(N + 1):
            state, count = (part(states, m * dx), du) if m < N else (free, 0)
            _follow(cell, state, part(extras, m * du), count, at(pool, slot.POINT_AT))
    else:
        copy_to(free, at(cell, loop.X_AT), dx)
        for m in range(N):
            copy_to(part(states, m * dx), at(cell, loop.X_AT), dx)
    K = at(cell, loop.K_AT)
    for a in range(du):
        total = 0.0
        for i in range(dx):
            total -= K[a * dx + i] * free[i]
        free[dx + a] = total
    for m in range(N):
        policy = part(at(pool, slot.POLICIES_AT), m * dim)
        _choose(cell, policy, part(states, m * dx), part(extras, m * du), part(inputs, m * du))
    return OK


@aside
def place(cell: Pointer, pool: Pointer) -> None:
    """Write z_t(M^i) of every learner."""
    z, dim = whole_at(cell, loop.DX) + whole_at(cell, loop.DU), whole_at(pool, slot.DIM)
    points, free, features = at(pool, slot.POINTS_AT), at(pool, slot.FREE_AT), at(pool, slot.FEATURES_AT)
    policies = at(pool, slot.POLICIES_AT)
    for m in range(whole_at(pool, slot.COUNT)):
        for r in range(z):
            points[m * z + r] = free[r] + dot(part(features, r * dim), part(policies, m * dim), dim)


@helper
def _trust(cell: Pointer, pool: Pointer) -> float:
    """Return what this round counts for: less than 1 if states and inputs are over three times as large as usual.

    So a glitch neither throws a policy far away nor makes all later rounds look small. The size is that of z_t(0) and
    of what policies of size D would add: it depends on disturbances, and not on what costs are measured in.
    """
    z, dim, rounds = whole_at(cell, loop.DX) + whole_at(cell, loop.DU), whole_at(pool, slot.DIM), pool[slot.ROUNDS]
    free, features = at(pool, slot.FREE_AT), at(pool, slot.FEATURES_AT)
    added = dot(features, features, z * dim)
    size = dot(free, free, z) + pool[slot.SIZE] * pool[slot.SIZE] * added
    usual = min(size, OUTLIER * OUTLIER * pool[slot.SQUARES] / rounds) if rounds >= SETTLED else size
    at(pool, slot.MOVED_AT)[0] = usual
    return usual / size if size > 0.0 else 1.0


@aside
def _weighted_sum(out: Pointer, factor: float, weights: Pointer, features: Pointer, count: int, dim: int) -> None:
    """Write factor times the sum of the rows of `features`, weighted."""
    clear(out, dim)
    for r in range(count):
        add_scaled(out, factor * weights[r], part(features, r * dim), dim)


@aside
def descend(cell: Pointer, pool: Pointer, quadratic: int) -> int:
    """Write the gradients in every M^i, or refuse numbers that are out of range; what is kept stays as it is."""
    z, N, dim = whole_at(cell, loop.DX) + whole_at(cell, loop.DU), whole_at(pool, slot.COUNT), whole_at(pool, slot.DIM)
    features, weighted, gradients = at(pool, slot.FEATURES_AT), at(pool, slot.WEIGHTED_AT), at(pool, slot.GRADIENTS_AT)
    values = at(pool, slot.VALUES_AT)
    trust = _trust(cell, pool)
    for m in range(N):
        row = part(gradients, m * dim)
        if not abs(values[m]) <= LARGEST:
            return REFUSED
        _weighted_sum(row, trust, part(at(pool, slot.SLOPES_AT), m * z), features, z, dim)
        if not dot(row, row, dim) <= LARGEST * LARGEST:
            return REFUSED
    trace = 0.0
    for r in range(z * quadratic):
        row = part(weighted, r * dim)
        _weighted_sum(row, trust, part(at(pool, slot.CURVATURE_AT), r * z), features, z, dim)
        trace += dot(row, part(features, r * dim), dim)
    for m in range(N - 1, -1, -1):
        values[m] = trust * (values[m] - values[0])
    return OK if abs(trace) <= LARGEST else REFUSED
