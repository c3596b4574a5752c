"""Every learner in a plant of its own: where it would be, what it would pay, and where its cost falls, compiled.

With A_K = A - B K, z = (x, u) and w_{-1} = 0, ::

    z_t(M) = z_t(0) + features_t M,    the state and the input, had M been in use all along,

is affine in M. The columns of `features` for M[k] in round t are those for M[1] in round t - k + 1, so that one new
block a round is all there is to compute: ::

    d x_t / d M[1][a, i] = A_K d x_{t-1} / d M[1][a, i] + B e_a w_{t-2, i}
    d u_t / d M[1][a, i] = -K d x_t / d M[1][a, i] + e_a w_{t-1, i}

A learner that moves is not at z_t(M) but in a state x^i_t of its own, which has seen all its policies. By the cost of
that state it is judged, so that what moving costs is counted as it is; by the gradient at z_t(M) it moves.
"""

from driftwise._compile import LARGEST, hot
from driftwise._validate import Array
from driftwise.control.engine import HEAD, OUTLIER, ROUND, SETTLED, Loop, Memory
from driftwise.control.kernels import QUADRATIC, CostData, cost_gradient, cost_value
from driftwise.control.tuning.pool import ROUNDS, SQUARES, Desk, Pool, Rules
from driftwise.domains.kernels import dot
from driftwise.engine.kernels import OK, REFUSED


@hot
def _new_block(loop: Loop, pool: Pool, desk: Desk, last: Array, before: Array) -> None:
    """Make room for the features of M[1] and write them, from w_{t-1} and w_{t-2}."""
    B, K, closed, features, block = loop.B, loop.K, loop.closed, pool.features, desk.block
    dx, du = B.shape
    for r in range(dx):
        for a in range(du):
            for i in range(dx):
                block[r, a * dx + i] = B[r, a] * before[i]
        for k in range(dx):
            for c in range(du * dx):
                block[r, c] += closed[r, k] * features[k, c]
    for r in range(dx + du):
        row = features[r]
        for c in range(row.size - 1, du * dx - 1, -1):
            row[c] = row[c - du * dx]
    for r in range(dx):
        for c in range(du * dx):
            features[r, c] = block[r, c]
    for a in range(du):
        row = features[dx + a]
        for c in range(du * dx):
            row[c] = 0.0
        for i in range(dx):
            row[a * dx + i] = last[i]
        for r in range(dx):
            for c in range(du * dx):
                row[c] -= K[a, r] * block[r, c]


@hot
def _follow(loop: Loop, state: Array, extra: Array, w: Array, out: Array) -> None:
    """Move a state on by A_K x + B s + w; `out` is room to work in."""
    B, closed = loop.B, loop.closed
    for r in range(state.size):
        out[r] = w[r]
        for k in range(state.size):
            out[r] += closed[r, k] * state[k]
        for a in range(extra.size):
            out[r] += B[r, a] * extra[a]
    for r in range(state.size):
        state[r] = out[r]


@hot
def enter(loop: Loop, memory: Memory, pool: Pool, desk: Desk) -> None:
    """Begin a round, after `engine.act`: let every learner see the new disturbance, and choose its input."""
    K, past = loop.K, memory.past
    dx, du = loop.B.shape
    N, n = pool.policies.shape
    head, H = memory.marks[HEAD], n // (du * dx)
    last, before, room, free = desk.slopes[0, :dx], desk.slopes[1, :dx], desk.points[0, :dx], pool.free
    for i in range(dx):
        last[i], before[i] = past[i, head], past[i, head + 1]
    if memory.marks[ROUND] == 0:
        for i in range(dx):
            free[i] = memory.x[i]
            for m in range(N):
                pool.states[m, i] = memory.x[i]
    else:
        _new_block(loop, pool, desk, last, before)
        _follow(loop, free[:dx], free[:0], last, room)
        for m in range(N):
            _follow(loop, pool.states[m], pool.extras[m], last, room)
    for a in range(du):
        free[dx + a] = 0.0
        for i in range(dx):
            free[dx + a] -= K[a, i] * free[i]
    for m in range(N):
        policy, extra, own = pool.policies[m], pool.extras[m], pool.inputs[m]
        for a in range(du):
            extra[a] = own[a] = 0.0
            for k in range(H):
                for i in range(dx):
                    extra[a] += policy[(k * du + a) * dx + i] * past[i, head + k]
            for i in range(dx):
                own[a] -= K[a, i] * pool.states[m, i]
            own[a] += extra[a]


@hot
def foresee(pool: Pool, desk: Desk) -> None:
    """Write z_t(M^i) of every learner."""
    for m in range(pool.policies.shape[0]):
        for r in range(pool.free.size):
            desk.points[m, r] = pool.free[r] + dot(pool.features[r], pool.policies[m])


@hot
def judge(pool: Pool, desk: Desk, cost: CostData, t: int) -> None:
    """Write what every learner pays, and the slopes of a built-in cost; the curvature, too, if it is quadratic."""
    points, slopes, dx = desk.points, desk.slopes, pool.states.shape[1]
    foresee(pool, desk)
    for m in range(pool.policies.shape[0]):
        desk.values[m] = cost_value(cost, t, pool.states[m], pool.inputs[m])
        cost_gradient(cost, t, points[m, :dx], points[m, dx:], slopes[m, :dx], slopes[m, dx:])
    if cost.kind == QUADRATIC and pool.ages.size > 0:
        unit, curvature = points[0], desk.curvature
        for r in range(unit.size):
            for k in range(unit.size):
                unit[k] = 0.5 * (k == r)
            cost_gradient(cost, t, unit[:dx], unit[dx:], curvature[r, :dx], curvature[r, dx:])


@hot
def _trust(rules: Rules, pool: Pool, desk: Desk) -> float:
    """Return what this round counts for: less than 1 if states and inputs are over three times as large as usual.

    So a glitch neither throws a policy far away nor makes all later rounds look small. The size is that of z_t(0) and
    of what policies of size D would add: it depends on disturbances, and not on what costs are measured in.
    """
    size, added, rounds = dot(pool.free, pool.free), 0.0, pool.sums[ROUNDS]
    for r in range(pool.free.size):
        added += dot(pool.features[r], pool.features[r])
    size += rules.size * rules.size * added
    desk.size[0] = min(size, OUTLIER * OUTLIER * pool.sums[SQUARES] / rounds) if rounds >= SETTLED else size
    return float(desk.size[0] / size) if size > 0.0 else 1.0


@hot
def descend(rules: Rules, pool: Pool, desk: Desk, quadratic: bool) -> int:
    """Write the gradients in every M^i, or refuse numbers that are out of range; `pool` stays as it is."""
    N, n = pool.policies.shape
    features, weighted, gradients, values = pool.features, desk.weighted, desk.gradients, desk.values
    trust = _trust(rules, pool, desk)
    for m in range(N):
        if not abs(values[m]) <= LARGEST:
            return REFUSED
        row = gradients[m]
        for c in range(n):
            row[c] = 0.0
        for r in range(pool.free.size):
            slope, feature = trust * desk.slopes[m, r], features[r]
            for c in range(n):
                row[c] += slope * feature[c]
        if not dot(row, row) <= LARGEST * LARGEST:
            return REFUSED
    trace = 0.0
    for r in range(pool.free.size * quadratic):
        row = weighted[r]
        for c in range(n):
            row[c] = 0.0
        for k in range(pool.free.size):
            weight, feature = trust * desk.curvature[r, k], features[k]
            for c in range(n):
                row[c] += weight * feature[c]
        trace += dot(row, features[r])
    for m in range(N - 1, -1, -1):
        values[m] = trust * (values[m] - values[0])
    return OK if abs(trace) <= LARGEST else REFUSED
