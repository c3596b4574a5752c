"""A round of the pool, compiled: plugins for the one simulation loop and the two verbs, and pieces for other costs."""

from driftwise._compile import brief, plugin
from driftwise._memory import Pointer, at, call, part, whole_at
from driftwise._validate import Array
from driftwise.control.costs.kernels import is_quadratic, slopes_of, value_of
from driftwise.control.policies import layout as loop
from driftwise.control.self_tuned import pool as slot
from driftwise.control.self_tuned.plants import place
from driftwise.engine.rounds import OK


@plugin("int64(P, P, P, int64)")
def learn_by_pool(cell: Pointer, pool: Pointer, cost: Pointer, t: int) -> int:
    """End a round: write what every learner pays and the slopes of a built-in cost, and learn from them or refuse."""
    dx, du, N = whole_at(cell, loop.DX), whole_at(cell, loop.DU), whole_at(pool, slot.COUNT)
    states, inputs, values = at(pool, slot.STATES_AT), at(pool, slot.INPUTS_AT), at(pool, slot.VALUES_AT)
    quadratic = 1 if is_quadratic(cost) and pool[slot.FITS] > 0.0 else 0
    z = dx + du
    place(cell, pool)
    for m in range(N):
        values[m] = value_of(cost, t, part(states, m * dx), part(inputs, m * du), dx, du)
    # Squares are fitted by the curvature W of a quadratic cost, whose columns are the slopes at half the unit vectors.
    for m in range(N + z * quadratic):
        point, slope = part(at(pool, slot.POINTS_AT), m * z), part(at(pool, slot.SLOPES_AT), m * z)
        if m >= N:
            point, slope = at(pool, slot.POINT_AT), part(at(pool, slot.CURVATURE_AT), (m - N) * z)
            for k in range(z):
                point[k] = 0.5 if k == m - N else 0.0
        slopes_of(cost, t, point, part(point, dx), dx, du, slope, part(slope, dx))
    status: int = call(whole_at(pool, slot.FINISH_CALL), cell, pool, quadratic)
    return status


@brief
def place_all(cell: Array, pool: Array) -> None:
    """Write z_t(M^i) of every learner, for a cost of a user's own."""
    place(part(cell, 0), part(pool, 0))


@brief
def finish_round(cell: Array, pool: Array) -> int:
    """End a round whose values and slopes were asked of a cost of a user's own."""
    status: int = call(whole_at(part(pool, 0), slot.FINISH_CALL), part(cell, 0), part(pool, 0), 0)
    return status


@plugin("int64(P, P)")
def pool_weights(pool: Pointer, row: Pointer) -> int:
    """Write the weights of the learners, for the record of a run."""
    for m in range(whole_at(pool, slot.COUNT)):
        row[m] = at(pool, slot.WEIGHTS_AT)[m]
    return OK
