"""What a controller is and what it remembers, as one vector of doubles: the tables of its parts, by name and shape.

A controller is a *cell*: a header of single numbers and of slots that say where the parts are, the nominal closed loop,
what is remembered, and room to work in, from which nothing is kept between rounds. Its learner has a cell of
its own.
"""

from collections.abc import Mapping

from driftwise._memory import Array, Part, Workspace

# The header, part one: single numbers.
(
    ROOM_AT,  # where the room begins
    DX,  # number of states
    DU,  # number of inputs
    LAGS,  # H
    COLUMNS,  # disturbances that there is room for
    MEASURED,  # whether gradients are divided by the root mean square of those so far
    ROUND,  # rounds observed
    HEAD,  # column of the newest disturbance
    COUNT,  # gradients so far that were not 0,
    SQUARES,  # and the sum of their squared norms, outliers cut
    FARTHEST,  # largest norm of a disturbance
    BEGAN,  # norm of the first state
    STEEPEST,  # largest gradient of a cost, in units of the larger of state and input
    STATES,  # states that are measured, the first of DX; the others are the memory of the actuator
    LOST,  # samples in a row that were missed or came too late
    OVERRULED,  # largest difference between an input that was applied and what the policy asked for
    HIGHEST,  # largest squared norm of a gradient, or of what it counts for
) = range(17)

# The header, part two: the guard (``policies.guard``).
(
    GUARDED,  # whether there is one
    SHARE,  # what is learnt comes times this
    CAP,  # largest share that the guard allows at present
    ALLOWED,  # largest share that leaves the margins that were asked for
    WATCHED,  # rounds with a disturbance that is not 0
    FAST,  # mean energy of the last disturbances, outliers cut
    RAW,  # the same, nothing cut
    USUAL,  # what FAST is measured against
    TRIP,  # RAW when the guard stepped in
    MARK,  # RAW at the last look at how fast it grows,
    GROWN,  # and looks in a row at which it had more than doubled
    RESTING,  # rounds at u = -K x that are left
    REST,  # rounds that the loop needs to settle
    STRIKES,  # how often what was learnt turned out to be the culprit
    CALM,  # rounds since the last change of CAP
    AFRESH,  # whether learning is to begin again; NEW if no cost has been seen yet
    EVENTS,  # number of events so far
) = range(17, 34)

# The header, part three: where the parts are.
A_AT, B_AT, K_AT, CLOSED_AT, TURNED_AT, LIMIT_AT, RATE_AT, SIGHT_AT, BOUND_AT = range(34, 43)
PAST_AT, X_AT, U_AT, HEARD_AT, EXTRA_AT, LEAD_AT, CENTRE_AT, LEVEL_AT, TARGET_AT, AIM_AT, EVENTS_AT = range(43, 54)
Y_AT, Z_AT, V_AT, SLOPE_X_AT, SLOPE_U_AT, SUMS_AT, PULLS_AT, SPREAD_AT, GRADIENT_AT, STEEP_AT = range(54, 64)
HEADER = 64

NEW = 2.0
"""AFRESH of members that wait for the first cost, to be made for it."""

LOGGED = 64
"""Events that are kept, the newest."""

SPARE = 64
"""Columns of the history to move through before it is shifted back."""

CELL = Workspace(
    HEADER,
    ROOM_AT,
    kept=[
        Part("A", A_AT, ("dx", "dx")),
        Part("B", B_AT, ("dx", "du")),
        Part("K", K_AT, ("du", "dx")),
        Part("closed", CLOSED_AT, ("dx", "dx")),  # A_K = A - B K
        Part("turned", TURNED_AT, ("dx", "dx")),  # A_K', so that both are there with contiguous rows
        Part("limit", LIMIT_AT, (2, "du")),  # the controller's own input bound, lows and highs; 1e100 if there is none
        Part("rate", RATE_AT, ("du",)),  # most that an input may change from a round to the next
        Part("sight", SIGHT_AT, ("dx", "dx")),  # |sight w|^2 is what a disturbance costs under u = -K x
        Part("bound", BOUND_AT, ("dx",)),  # largest states that the guard accepts
        Part("past", PAST_AT, ("dx", "columns")),  # the disturbances, from column HEAD on, newest first
        Part("x", X_AT, ("dx",)),  # the state of the last `act`
        Part("u", U_AT, ("du",)),  # the input of that round, as it was applied
        Part("heard", HEARD_AT, ("dx",)),  # the last disturbance, as the learner explains it
        Part("extra", EXTRA_AT, ("du",)),  # what the learner adds to the input, before the guard has its say
        Part("lead", LEAD_AT, ("du",)),  # what a set-point adds to -K x
        Part("centre", CENTRE_AT, ("dx",)),  # where the loop rests with that, without disturbances
        Part("level", LEVEL_AT, ("du",)),  # and the input there
        Part("target", TARGET_AT, ("dx",)),  # the set-point itself,
        Part("aim", AIM_AT, ("du",)),  # and the input that costs count from
        Part("events", EVENTS_AT, (LOGGED, 3)),  # round, kind and number of the last events
    ],
    room=[
        Part("y", Y_AT, ("dx",)),  # y_t(M)
        Part("z", Z_AT, ("dx",)),  # a state on its way
        Part("v", V_AT, ("du",)),  # v_t(M)
        Part("slope_x", SLOPE_X_AT, ("dx",)),  # gradient of the cost there, in x
        Part("slope_u", SLOPE_U_AT, ("du",)),  # and in u
        Part("sums", SUMS_AT, ("du", "window")),  # s_{t-j}(M) in column j
        Part("pulls", PULLS_AT, ("du", "window")),  # q_j in column j
        Part("spread", SPREAD_AT, ("du", "dx", "lags")),  # the gradient in M, with the lag last
        Part("gradient", GRADIENT_AT, ("lags", "du", "dx")),  # the gradient in M, as the learner takes it
        Part("steep", STEEP_AT, (1,)),  # what STEEPEST becomes if the round is accepted, unless it is more
    ],
)

Sides = Mapping[str, int]


def sides_of(cell: Array) -> Sides:
    """Return the sides of the parts, as the header has them."""
    return _sides(*(int(cell[slot]) for slot in (DX, DU, LAGS, COLUMNS)))


def _sides(dx: int, du: int, lags: int, columns: int) -> Sides:
    return {"dx": dx, "du": du, "lags": lags, "columns": columns, "window": lags + 2}


def new_cell(dx: int, du: int, lags: int, columns: int) -> Array:
    """Return a cell of zeros whose header says where everything is, with the newest disturbance in the last place."""
    cell = CELL.new(_sides(dx, du, lags, columns))
    cell[[DX, DU, LAGS, COLUMNS, STATES]] = dx, du, lags, columns, dx
    cell[[SHARE, CAP, ALLOWED]] = 1.0
    cell[HEAD] = columns - 2 * lags - 1
    return cell


def views(cell: Array) -> dict[str, Array]:
    """Return the parts of a cell by name; what is written to them is written to the cell."""
    return CELL.views(cell, sides_of(cell))
