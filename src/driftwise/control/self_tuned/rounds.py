"""A round of the pool, compiled: plugins for the one simulation loop and the two verbs, and pieces for other costs."""

from driftwise._compile import aside, brief, helper, plugin
from driftwise._memory import Pointer, at, call, part, whole_at
from driftwise._validate import Array
from driftwise.control.costs.kernels import slopes_of, value_of
from driftwise.control.policies import layout as loop
from driftwise.control.policies.engine import PAUSED, clear, copy_to, make_room, remember
from driftwise.control.policies.guard import FORGOTTEN, note
from driftwise.control.self_tuned import pool as slot
from driftwise.control.self_tuned.bank import explain, forget, judge_all, lose_track, write_story
from driftwise.control.self_tuned.copies import begin, choose, follow_all, place
from driftwise.control.self_tuned.forecasts import answer_forecasts, hear, temper
from driftwise.engine.rounds import OK, REFUSED

FARTHEST = 1e90
"""Cost at which a copy of the plant has run away."""


@helper
def _step(cell: Pointer, pool: Pointer, w: Pointer, learn: int) -> None:
    """Let every member see a disturbance, and choose its input."""
    n, columns = whole_at(pool, slot.STATES), whole_at(cell, loop.COLUMNS)
    newest = part(at(cell, loop.PAST_AT), whole_at(cell, loop.HEAD))
    for i in range(n):
        newest[i * columns] = w[i]
    follow_all(cell, pool, w)
    hear(pool, w, learn)


@plugin("int64(P, P)")
def enter(cell: Pointer, pool: Pointer) -> int:
    """Begin a round, after the state has been taken in: explain it, and write what all members together would add."""
    n, du, told = whole_at(pool, slot.STATES), whole_at(pool, slot.DU), whole_at(pool, slot.STORY)
    x, heard, applied = at(cell, loop.X_AT), at(cell, loop.HEARD_AT), at(cell, loop.U_AT)
    if pool[slot.STARTED] == 0.0:
        begin(pool, x)
    else:
        fresh = 1 if cell[loop.LOST] == 0.0 else 0
        if fresh == 1:
            before = part(at(pool, slot.STORY_AT), ((told - 1) % slot.REPLAY) * (n + du))
            judge_all(pool, before, applied, x, heard)
            if pool[slot.FORGET] == 1.0:
                forget(pool)
                cell[loop.AFRESH] = max(cell[loop.AFRESH], 1.0)
                note(cell, FORGOTTEN, 0.0)
            # Members see a disturbance that is far larger than usual cut, and the guard sees it as it is.
            for i in range(n):
                heard[i] *= pool[slot.COUNTED]
        else:
            lose_track(pool, applied)
            temper(pool, heard)
        _step(cell, pool, heard, fresh)
        if fresh == 1 and pool[slot.COUNTED] > 0.0:
            for i in range(n):
                heard[i] /= pool[slot.COUNTED]
    answer_forecasts(pool)
    choose(cell, pool)
    return OK


@aside
def _teach(cell: Pointer, pool: Pointer, cost: Pointer, t: int) -> int:
    """Write what every member pays and the slopes of a built-in cost, and learn from them or refuse."""
    n, nz, du, N = (
        whole_at(pool, slot.STATES),
        whole_at(pool, slot.NZ),
        whole_at(pool, slot.DU),
        whole_at(pool, slot.COUNT),
    )
    states, inputs, values = at(pool, slot.STATES_AT), at(pool, slot.INPUTS_AT), at(pool, slot.VALUES_AT)
    learners = N - whole_at(pool, slot.FIRST)
    z = nz + du
    place(pool)
    for m in range(N):
        values[m] = value_of(cost, t, part(states, m * nz), part(inputs, m * du), n, du)
        if not abs(values[m]) <= FARTHEST and abs(values[0]) <= FARTHEST:
            # A copy that has run away begins again where u = -K x is; what it paid before stays.
            copy_to(part(states, m * nz), states, nz)
            copy_to(part(inputs, m * du), inputs, du)
            values[m] = values[0]
    for m in range(learners):
        point, slope = part(at(pool, slot.POINTS_AT), m * z), part(at(pool, slot.SLOPES_AT), m * z)
        clear(slope, z)
        slopes_of(cost, t, point, part(point, nz), n, du, slope, part(slope, nz))
    status: int = call(whole_at(pool, slot.FINISH_CALL), pool)
    return status


@helper
def _end(cell: Pointer, pool: Pointer) -> int:
    """Count the round, and say whether anything is to be done that compiled code cannot."""
    write_story(cell, pool)
    remember(cell, 0.0)
    check = whole_at(pool, slot.CHECK)
    due = check > 0 and whole_at(cell, loop.ROUND) % check == 0
    return PAUSED if due or cell[loop.AFRESH] > 0.0 or pool[slot.WANTED] != pool[slot.SELECTED] else OK


@plugin("int64(P, P, P, int64)")
def learn_by_pool(cell: Pointer, pool: Pointer, cost: Pointer, t: int) -> int:
    """End a round with a built-in cost, or refuse it."""
    if _teach(cell, pool, cost, t) != OK:
        return REFUSED
    return _end(cell, pool)


@brief
def replay(cell: Array, pool: Array, cost: Array, delivered: Array) -> int:
    """Let a new pool live through the rounds that are kept, with the inputs as its model has them delivered."""
    mine, me, given = part(pool, 0), part(cell, 0), part(cost, 0)
    n, du, told = whole_at(mine, slot.STATES), whole_at(mine, slot.DU), whole_at(mine, slot.STORY)
    first = max(0, told - slot.REPLAY)
    heard, story = at(me, loop.HEARD_AT), at(mine, slot.STORY_AT)
    begin(mine, part(story, (first % slot.REPLAY) * (n + du)))
    for k in range(first, told):
        row = part(story, (k % slot.REPLAY) * (n + du))
        if k > first:
            before = part(story, ((k - 1) % slot.REPLAY) * (n + du))
            explain(mine, before, row, part(delivered, (k - 1 - first) * du), heard)
            make_room(me)
            _step(me, mine, heard, 1)
        answer_forecasts(mine)
        choose(me, mine)
        if _teach(me, mine, given, 0) != OK:
            return REFUSED
    return OK


@brief
def place_all(pool: Array) -> None:
    """Write z_t(M^i) of every learner, for a cost of a user's own."""
    place(part(pool, 0))


@brief
def finish_round(cell: Array, pool: Array) -> int:
    """End a round whose values and slopes were asked of a cost of a user's own."""
    status: int = call(whole_at(part(pool, 0), slot.FINISH_CALL), part(pool, 0))
    return status if status != OK else _end(part(cell, 0), part(pool, 0))


@plugin("int64(P, P)")
def pool_weights(pool: Pointer, row: Pointer) -> int:
    """Write the weights of the members, for the record of a run."""
    copy_to(row, at(pool, slot.WEIGHTS_AT), whole_at(pool, slot.COUNT))
    return OK
