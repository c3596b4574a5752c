"""Every member in a copy of the plant of its own: where it would be, what it would pay, and where its cost falls.

The copies are the model of the plant, z' = A z + B u + [w, 0]. With K its best gain and lead what a set-point adds to
it, member i plays u^i = -K z^i + lead + s^i there; *zero* plays the gain in use instead, and one that was given plays
what it says. For the learners over policies, with A_K = A - B K, ::

    z_t(M) = z_t(0) + features_t M,    the state and the input, had M been in use all along,

is affine in M. The columns of `features` for M[k] in round t are those for M[1] in round t - k + 1, so that one new
block a round is all there is to compute: ::

    d x_t / d M[1][a, i] = A_K d x_{t-1} / d M[1][a, i] + B e_a w_{t-2, i}
    d u_t / d M[1][a, i] = -K d x_t / d M[1][a, i] + e_a w_{t-1, i}

A learner that moves is not at z_t(M) but in a state z^i_t of its own, which has seen all its policies. It is judged by
the cost of that state, so that the cost of moving is counted in full; it moves by the gradient at z_t(M).
"""

from driftwise._compile import LARGEST, aside, helper
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
    n, nz, du = whole_at(pool, slot.STATES), whole_at(pool, slot.NZ), whole_at(pool, slot.DU)
    dim, columns = whole_at(pool, slot.DIM), whole_at(cell, loop.COLUMNS)
    A, B, K = at(pool, slot.A_AT), at(pool, slot.B_AT), at(pool, slot.K_AT)
    newest, features = part(at(cell, loop.PAST_AT), whole_at(cell, loop.HEAD)), at(pool, slot.FEATURES_AT)
    block = at(pool, slot.BLOCK_AT)
    width = du * n
    # The rows of the inputs are -K times those of the states, and what w_{t-2} added to them: A x + B u in the model.
    for r in range(nz):
        row = part(block, r * width)
        clear(row, width)
        for k in range(nz):
            add_scaled(row, A[r * nz + k], part(features, k * dim), width)
        for a in range(du):
            add_scaled(row, B[r * du + a], part(features, (nz + a) * dim), width)
    for r in range(nz + du):
        row = part(features, r * dim)
        for c in range(dim - 1, width - 1, -1):
            row[c] = row[c - width]
    for r in range(nz):
        copy_to(part(features, r * dim), part(block, r * width), width)
    for a in range(du):
        row = part(features, (nz + a) * dim)
        clear(row, width)
        for i in range(n):
            row[a * n + i] = newest[i * columns]
        for r in range(nz):
            add_scaled(row, -K[a * nz + r], part(block, r * width), width)


@helper
def _follow(pool: Pointer, state: Pointer, input: Pointer, w: Pointer) -> None:
    """Move a copy on by A z + B u + w."""
    nz, du, n, room = (
        whole_at(pool, slot.NZ),
        whole_at(pool, slot.DU),
        whole_at(pool, slot.STATES),
        at(pool, slot.POINT_AT),
    )
    clear(room, nz)
    copy_to(room, w, n)
    add_product(at(pool, slot.A_AT), nz, nz, state, room)
    add_product(at(pool, slot.B_AT), nz, du, input, room)
    copy_to(state, room, nz)


@aside
def follow_all(cell: Pointer, pool: Pointer, w: Pointer) -> None:
    """Let every copy see a disturbance."""
    nz, du = whole_at(pool, slot.NZ), whole_at(pool, slot.DU)
    states, inputs, free = at(pool, slot.STATES_AT), at(pool, slot.INPUTS_AT), at(pool, slot.FREE_AT)
    for m in range(whole_at(pool, slot.COUNT)):
        _follow(pool, part(states, m * nz), part(inputs, m * du), w)
    if whole_at(pool, slot.DIM) > 0:
        _follow(pool, free, part(free, nz), w)
        _new_block(cell, pool)


@aside
def begin(pool: Pointer, x: Pointer) -> None:
    """Put every copy where the plant is; the actuator is at rest."""
    n, nz = whole_at(pool, slot.STATES), whole_at(pool, slot.NZ)
    for m in range(whole_at(pool, slot.COUNT) + 1):
        state = part(at(pool, slot.STATES_AT), m * nz) if m < whole_at(pool, slot.COUNT) else at(pool, slot.FREE_AT)
        clear(state, nz)
        copy_to(state, x, n)
    pool[slot.STARTED] = 1.0


@aside
def _answer_policy(cell: Pointer, policy: Pointer, n: int, out: Pointer) -> None:
    """Write sum_i M[i] w_{t-i}."""
    du, columns = whole_at(cell, loop.DU), whole_at(cell, loop.COLUMNS)
    newest = part(at(cell, loop.PAST_AT), whole_at(cell, loop.HEAD))
    for a in range(du):
        total = 0.0
        for k in range(whole_at(cell, loop.LAGS)):
            for i in range(n):
                total += policy[(k * du + a) * n + i] * newest[i * columns + k]
        out[a] = total


@aside
def choose(cell: Pointer, pool: Pointer) -> None:
    """Write the inputs of all members in their copies, and the mixture of what they add to the gain in use."""
    n, nz, du, N = (
        whole_at(pool, slot.STATES),
        whole_at(pool, slot.NZ),
        whole_at(pool, slot.DU),
        whole_at(pool, slot.COUNT),
    )
    dim, first = whole_at(pool, slot.DIM), whole_at(pool, slot.FIRST)
    K, own, lead, best = at(pool, slot.K_AT), at(pool, slot.OWN_AT), at(cell, loop.LEAD_AT), at(pool, slot.BEST_LEAD_AT)
    states, extras, inputs = at(pool, slot.STATES_AT), at(pool, slot.EXTRAS_AT), at(pool, slot.INPUTS_AT)
    free, added, weights = at(pool, slot.FREE_AT), at(cell, loop.EXTRA_AT), at(pool, slot.WEIGHTS_AT)
    absolute = first - whole_at(pool, slot.GIVEN)
    for m in range(first, N):
        _answer_policy(cell, part(at(pool, slot.POLICIES_AT), (m - first) * dim), n, part(extras, m * du))
    for a in range(du):
        free[nz + a] = best[a] - dot(part(K, a * nz), free, nz)
        total = 0.0
        for m in range(N):
            state = part(states, m * nz)
            usual = lead[a] - dot(part(own, a * nz), state, nz)
            wanted = usual
            if absolute <= m < first:
                wanted = lead[a] + extras[m * du + a]
            elif m > 0:
                wanted = best[a] - dot(part(K, a * nz), state, nz) + extras[m * du + a]
            inputs[m * du + a] = wanted
            total += weights[m] * (wanted - usual)
        added[a] = total


@aside
def place(pool: Pointer) -> None:
    """Write z_t(M^i) of every learner over policies."""
    z, dim = whole_at(pool, slot.NZ) + whole_at(pool, slot.DU), whole_at(pool, slot.DIM)
    points, free, features = at(pool, slot.POINTS_AT), at(pool, slot.FREE_AT), at(pool, slot.FEATURES_AT)
    policies = at(pool, slot.POLICIES_AT)
    for m in range(whole_at(pool, slot.COUNT) - whole_at(pool, slot.FIRST)):
        for r in range(z):
            points[m * z + r] = free[r] + dot(part(features, r * dim), part(policies, m * dim), dim)


@helper
def _trust(pool: Pointer) -> float:
    """Return what this round counts for: less than 1 if states and inputs are over three times as large as usual.

    So a glitch neither throws a policy far away nor makes all later rounds look small. The size is that of *zero*, and
    of what policies of size D would add: it depends on disturbances, and not on what costs are measured in.
    """
    nz, du, dim = whole_at(pool, slot.NZ), whole_at(pool, slot.DU), whole_at(pool, slot.DIM)
    still, features, rounds = at(pool, slot.STATES_AT), at(pool, slot.FEATURES_AT), pool[slot.ROUNDS]
    own = at(pool, slot.INPUTS_AT)
    added = dot(features, features, (nz + du) * dim)
    size = dot(still, still, nz) + dot(own, own, du) + pool[slot.SIZE] * pool[slot.SIZE] * added
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
def _look_ahead(pool: Pointer, trust: float) -> int:
    """Write c_{t-1} + V(z_t) - V(z_{t-1}) in place of c_t, or refuse numbers that are out of range.

    V is what a state costs from here on. On a plant that is slow, a member that does the right thing pays first and
    gains later; V of where it has come to says so at once. In the sum over rounds nothing changes but the last V.
    """
    nz, N, P = whole_at(pool, slot.NZ), whole_at(pool, slot.COUNT), at(pool, slot.VALUE_AT)
    tilt, tail, aheads = at(pool, slot.TILT_AT), at(pool, slot.TAIL_AT), at(pool, slot.AHEADS_AT)
    values, pending, largest = at(pool, slot.VALUES_AT), at(pool, slot.PENDING_AT), 0.0
    for m in range(N):
        state, ahead = part(at(pool, slot.STATES_AT), m * nz), 0.0
        for r in range(nz):
            ahead += state[r] * (dot(part(P, r * nz), state, nz) + 2.0 * (tilt[r] + tail[r]))
        if not abs(ahead) <= LARGEST:
            return REFUSED
        aheads[m], largest = ahead, max(largest, abs(ahead))
    at(pool, slot.MOVED_AT)[1] += trust * largest
    for m in range(N):
        ahead, now = trust * (aheads[m] - aheads[0]), values[m]
        values[m] = pending[m] + ahead
        pending[m] = now - slot.FADING * ahead
    return OK


@aside
def descend(pool: Pointer) -> int:
    """Write the gradients in every M^i, or refuse numbers that are out of range; what is kept stays as it is."""
    z, N, dim = whole_at(pool, slot.NZ) + whole_at(pool, slot.DU), whole_at(pool, slot.COUNT), whole_at(pool, slot.DIM)
    features, gradients = at(pool, slot.FEATURES_AT), at(pool, slot.GRADIENTS_AT)
    values, largest = at(pool, slot.VALUES_AT), 0.0
    trust = _trust(pool)
    if not at(pool, slot.MOVED_AT)[0] <= LARGEST * LARGEST:
        return REFUSED
    for m in range(N):
        if not abs(values[m]) <= LARGEST:
            return REFUSED
        largest = max(largest, abs(values[m]))
    at(pool, slot.MOVED_AT)[1] = trust * largest
    for m in range(N - whole_at(pool, slot.FIRST)):
        row = part(gradients, m * dim)
        _weighted_sum(row, trust, part(at(pool, slot.SLOPES_AT), m * z), features, z, dim)
        if not dot(row, row, dim) <= LARGEST * LARGEST:
            return REFUSED
    for m in range(N - 1, -1, -1):
        values[m] = trust * (values[m] - values[0])
    return _look_ahead(pool, trust) if pool[slot.LOOKING] == 1.0 else OK
