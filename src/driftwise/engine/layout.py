"""A learner's constants and state as one vector of doubles: the tables of its parts, by name and shape.

A learner is a *cell*: constants, then state, then scratch space, its *room*. The constants begin with a header of
single numbers and of slots that say where the parts are, so a kernel needs only the three pointers. A fleet is many
states side by side.

Base-learners are *lanes* (see ``driftwise._lanes``). With k kinds for every step size, four sizes of one kind make a
block, and the blocks of the same four sizes follow one another, kind by kind: those in play are a prefix of all. The
point of a block has shape (d, 4).
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from driftwise._lanes import WIDTH
from driftwise._memory import Array, Part, Section

FIXED, TIME_VARYING, DOUBLING, SELF_TUNED, ADAPTIVE = 0, 1, 2, 3, 4

# The header of the constants, part one: single numbers.
(
    STATE_AT,  # where in the cell the state begins
    ROOM_AT,  # where in the cell the room begins
    DECISION_AT,  # where in the cell the decision is
    DIM,  # d
    KINDS,  # base-learners for each step size
    SIZES,  # step sizes, those not in play yet included
    HEEDLESS,  # number of kinds, from the first, that ignore hints
    SCHEDULE,  # which clock
    EPOCH,  # rounds that share a decision
    OWN,  # doubles from one block's gradient to the next: 4 d if every base-learner has its own, else 0
    RATE,  # Hedge's unit rate
    SWITCHING,  # lambda; 1 where moves are noted with their price
    PRICE,  # the most that a unit of distance costs
    GROWTH,  # c in the number of base-learners
    CLOCK,  # the clock of the fixed schedule
    MAP_NUMBER,  # the mirror map's own number: p of the p-norm, the share of the start in entropic steps
    BASE,  # which mirror step
    ADDS_UP,  # whether prices add up over the coordinates
    FOLDED,  # whether base-learners keep sums of gradients
    ENTROPIC,  # the simplex's scale where steps are entropic, else 0
    SIMPLEX_COUNT,  # simplices in the domain
    DIAMETER,  # D
    DEAD_ZONE,  # its unit radius
    ROUND_CALL,  # addresses of plugins: the round of the family,
    MOVE_CALL,  # how a base-learner moves,
    STEP_CALL,  # the step alone, where moving is a step and its price,
    WAIT_CALL,  # how a patient one moves,
    PLACE_CALL,  # what else to do where a newcomer is put, if anything,
    TANGENT_CALL,  # what to subtract from a gradient, if anything,
    FORGET_CALL,  # and taking a hint back
    THIN,  # whether steps read a gradient for all as it is, of shape (d,), not spread over four lanes
    CHARGE,  # what a unit of weight that shifts is charged, in the adaptive schedule
    EARLY,  # how many times the usual size gradients may have in the first rounds,
    LATE,  # and later; 0 if they are not clipped
) = range(34)

# The header, part two: where the parts are.
STEPS, LOG_PRIOR, PATIENCE, PRICES, DOMAIN, SIMPLICES, RATES = range(34, 41)
DECISION, HELD, LOG_START, CENTRE, PLAYED, HINT = range(41, 47)
PRIOR, WEIGHTS, TOTALS, MOVES, POINTS, DUALS = range(47, 53)
GRADIENT, VALUES, INNER, LOSSES, FORESEEN, GUIDE, BEYOND, BEFORE, OLD, STILL = range(53, 63)
ETA, GOING, TRIAL, ROW, SPARE = range(63, 68)
HEADER = 68

CONSTANTS = Section(
    HEADER,
    [
        Part("steps", STEPS, ("lanes",)),  # step sizes at clock 1
        Part("log_prior", LOG_PRIOR, ("lanes",)),  # logarithm of Hedge's prior; -inf for padding
        Part("patience", PATIENCE, ("kinds",)),  # what part of the price gradients must outweigh before a move
        Part("prices", PRICES, ("priced", "dim")),  # up and down, where coordinates have prices
        Part("domain", DOMAIN, ("plan",)),  # the domain's plan
        Part("simplices", SIMPLICES, ("simplices", 2)),  # first coordinate of each, and one past its last
        Part("rates", RATES, ("rated",)),  # rate of each base-learner, in the adaptive schedule
    ],
)

# Single numbers of the state.
(
    ROUND,  # rounds observed
    UPDATES,  # updates made
    WAITING,  # rounds held in an epoch that is not over
    ACTIVE,  # step sizes in play
    POWER,  # 2 to the power of ACTIVE
    HINTED,  # whether this round has a hint
    MIXTURE,  # total loss of the mixture; a newcomer's total
    EPS,  # the rate that the weights were made with
    SPENT,  # what mixing has cost
    SEEN,  # sum of |g|^2 + lambda |g|, g being clipped where gradients are
    SQUARES,  # sum of |g|^2
    AGREED,  # over the rounds with a hint m: sum of <g, m>,
    CHANCE,  # of its square,
    GUESSED,  # and of |m|^2
    TRUST,  # what part of this round's hint is trusted
    NOW,  # the clock of the current update
    COUNTED,  # rounds with a gradient other than 0, where gradients are clipped,
    LAST,  # size of the last gradient, before it was clipped,
    LARGEST,  # of the largest,
    CUT,  # and sum of what clipping took off them
) = range(20)

STATE = Section(
    20,
    [
        Part("decision", DECISION, ("dim",)),  # w_t
        Part("held", HELD, ("epoch", "dim")),  # sum of the gradients of an epoch that is not over
        Part("log_start", LOG_START, ("entropy", "dim")),  # logarithm of the shares at the start
        Part("centre", CENTRE, ("zone", "dim")),  # the mixture, where there is a dead zone around it
        Part("played", PLAYED, ("zone", "dim")),  # w_{t-1}, where there is a dead zone
        Part("hint", HINT, ("dim",)),  # the guess of this round's gradient
        Part("prior", PRIOR, ("lanes",)),  # log prior of those in play, -inf of the others
        Part("weights", WEIGHTS, ("lanes",)),  # p_t
        Part("totals", TOTALS, ("lanes",)),  # sum of the surrogate losses; in the adaptive schedule, minus the credit
        Part("moves", MOVES, ("lanes",)),  # |w_{t,i} - w_{t-1,i}|, or its price where coordinates have prices
        Part("points", POINTS, ("blocks", "dim", WIDTH)),  # w_{t,i}
        Part("duals", DUALS, ("duals", "dim", WIDTH)),  # sums of gradients; those not yet acted on, with patience
    ],
)

ROOM = Section(
    0,
    [
        Part("gradient", GRADIENT, ("gradients", "dim", WIDTH)),  # of the round, for all lanes or each; (dim,) if THIN
        Part("values", VALUES, ("own",)),  # losses at the base-learners' own points
        Part("inner", INNER, ("lanes",)),  # <g, w_{t,i}>
        Part("losses", LOSSES, ("lanes",)),  # surrogate losses; then the weights before
        Part("foreseen", FORESEEN, ("lanes",)),  # what the hint was worth to each
        Part("guide", GUIDE, ("dim", WIDTH)),  # what those who heed the hint move by; (dim,) if THIN
        Part("beyond", BEYOND, ("gradients", "dim", WIDTH)),  # what gradients have beyond the price of a move
        Part("before", BEFORE, ("dim", WIDTH)),  # points of a block before a step,
        Part("old", OLD, ("dim", WIDTH)),  # before a move that has a price,
        Part("still", STILL, ("dim", WIDTH)),  # and before a move that may not happen
        Part("eta", ETA, ("lanes",)),  # steps of the update
        Part("going", GOING, (WIDTH,)),  # one number for each lane of a block, such as whether it moves
        Part("trial", TRIAL, (WIDTH, "dim")),  # points on their way, one after the other
        Part("row", ROW, ("dim",)),  # one gradient
        Part("spare", SPARE, ("spare",)),  # for the projection
    ],
)

Sides = Mapping[str, int]


def lanes_of(sizes: int, kinds: int) -> int:
    """Return the number of lanes for this many step sizes of each kind."""
    return -(-sizes // WIDTH) * WIDTH * kinds


def lane_order(sizes: int, kinds: int) -> NDArray[np.int64]:
    """Return the lanes of the base-learners in public order: step size by step size, kind by kind."""
    size, kind = np.divmod(np.arange(sizes * kinds), kinds)
    return np.asarray(((size // WIDTH) * kinds + kind) * WIDTH + size % WIDTH)


def new_cell(sides: Sides) -> Array:
    """Return a cell of zeros whose header says where everything is."""
    sizes = [section.size(sides) for section in (CONSTANTS, STATE, ROOM)]
    cell = np.zeros(sum(sizes))
    for section in (CONSTANTS, STATE, ROOM):
        section.write_offsets(cell, sides)
    cell[STATE_AT], cell[ROOM_AT] = sizes[0], sizes[0] + sizes[1]
    cell[DECISION_AT] = cell[STATE_AT] + cell[DECISION]
    return cell


def state_of(cell: Array) -> Array:
    """Return the state of a cell: all that it knows."""
    return cell[int(cell[STATE_AT]) : int(cell[ROOM_AT])]
