"""A round of the pool, compiled: what simulations and the two verbs call by address, and pieces for other costs."""

from driftwise._compile import brief, plugin
from driftwise._memory import Pointer, call, part
from driftwise._validate import Array
from driftwise.control.kernels import COST_KIND, QUADRATIC
from driftwise.control.layout import at, whole_at
from driftwise.control.tuning.plants import foresee, judge
from driftwise.control.tuning.pool import COUNT, FINISH_CALL, FITS, WEIGHTS_AT
from driftwise.engine.rounds import OK


@plugin("int64(P, P, P, int64)")
def learn_by_pool(cell: Pointer, pool: Pointer, cost: Pointer, t: int) -> int:
    """End a round: let the pool observe a built-in cost, or refuse it."""
    quadratic = 1 if cost[COST_KIND] == QUADRATIC and pool[FITS] > 0.0 else 0
    judge(cell, pool, cost, t, quadratic)
    status: int = call(whole_at(pool, FINISH_CALL), cell, pool, quadratic)
    return status


@brief
def foresee_all(cell: Array, pool: Array) -> None:
    """Write z_t(M^i) of every learner, for a cost of a user's own."""
    foresee(part(cell, 0), part(pool, 0))


@brief
def finish_round(cell: Array, pool: Array) -> int:
    """End a round whose values and slopes were asked of a cost of a user's own."""
    status: int = call(whole_at(part(pool, 0), FINISH_CALL), part(cell, 0), part(pool, 0), 0)
    return status


@plugin("int64(P, P)")
def pool_weights(pool: Pointer, row: Pointer) -> int:
    """Write the weights of the learners, for the record of a run."""
    for m in range(whole_at(pool, COUNT)):
        row[m] = at(pool, WEIGHTS_AT)[m]
    return OK
