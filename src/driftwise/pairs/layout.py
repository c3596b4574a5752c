"""A pool of (estimator, mover) pairs as one vector of doubles: the table of its parts, by name and shape.

Pairs are lanes (see ``driftwise._lanes``): the movers of one estimator fill whole blocks of four, and padding has a log
prior of -inf. An estimator is a row of `proposals`. Estimators of one *family* share a plugin and a record of their
own, whose layout only that family knows; the vector says where each record begins.

What a family reads of a round is the *board*: in the room of the vector, and the same for all of them.
"""

from driftwise._lanes import WIDTH
from driftwise._memory import Part, Workspace

SCORE, EACH, GRADIENT = 0, 1, 2
"""What a round brings: a loss of a score <x, w>, a loss of each coordinate, or only a gradient."""

FAMILY = "int64(P, P, P, P)"
"""Signature of a family: the pool, the family's record, the terms of the loss, and the cell of self-tuned Scream."""

# The header, part one: what the pool was built with.
(
    DIM,  # d
    LANES,  # pairs and padding
    ESTIMATORS,  # rows of proposals
    FAMILIES,  # families of estimators
    FORM,  # SCORE, EACH or GRADIENT
    FULL,  # whether moments and filters have full matrices, or only diagonals
    ADDS_UP,  # whether prices add up over the coordinates
    APART,  # whether every coordinate is moved by itself: a loss of each coordinate, prices that add up
    FACTOR,  # what the rate is before it is divided by the overhead
    HALF_WIDTH,  # half the diameter of the domain
    SIMPLICES,  # simplices in the domain
    ROOM_AT,  # where the room begins
    BEND,  # second derivative of the link where it is the same everywhere, else 0
    SHIFTED,  # whether the link is a function of score less target, so that a target can be clipped
    OFFSETS,  # whether the best level is not the mean of the targets, so that estimators need an offset
    PRICE,  # the most that a unit of distance costs
) = range(16)

# The header, part two: single numbers of the state.
(
    ROUNDS,  # rounds observed
    RATE,  # the rate that the weights were made with
    OVERHEAD,  # what mixing has cost
    CHARGE,  # what the change of weights added to the price of the decision's move
    MOVED,  # the price of the decision's move
    PAID,  # what the decisions have cost, on clipped losses and above `LEVEL`
    DECIDED,  # 1 if the decision of this round has been made already
    LEVEL,  # sum of the least charges, above which totals are counted
    BEYOND,  # what clipping took off the losses of the decisions
    CLIPS,  # rounds that were clipped
    SQUARE,  # running mean square of clipped residuals, or of clipped gradients
    LAST_SIZE,  # size of the last residual or gradient, before clipping
    CURVE,  # running mean of the link's second derivative, over the usual residuals
    LEVERAGE,  # size of the last features in units of their running mean squares
    REFERENCE,  # running mean square of the slope at the start, in units of its curvature
    MEDIAN,  # median of the features' mean squares
    LARGE,  # features with mean squares above this stand alone
    NUISANCE,  # 1 if there is room for an intercept: no feature has been constant
    LONGEST,  # the largest gradient so far
    TRACE,  # mean of the features' mean squares, without those that are far from the median
    PRIMED,  # rounds since features were first seen
    ROOT,  # root of the curvature that this round's features are in units of
    SUFFERED,  # the clipped loss of the decision
    LENGTH,  # length of this round's clipped gradient
    ENERGY,  # sum of the squares of these
    AIM,  # where the score of a gradient's direction should be, as an estimator reads it
    SCREAM_ROW,  # the row of self-tuned Scream among the proposals, -1 if there is none
    FIRST_GIVEN,  # the first row of proposals that are given
    GIVEN,  # how many of them
    JUDGE_CALL,  # addresses: of the plugin that reads a round of this form,
    LEARN_CALL,  # of the whole round,
    DECIDE_CALL,  # of the movers and the mixture,
    ASIDE_CALL,  # of a gradient where whole losses are usual,
    WEIGH_CALL,  # and of the weights
) = range(16, 50)

# The header, part three: where the parts are.
PLAN, PRICES, TAU, WAITS, LOG_PRIOR, OWNER, RECORDS, EDGES = range(50, 58)
START, DECISION, LAST, POINTS, WEIGHTS, PRIOR, TOTALS, OWN, SKI, CUT = range(58, 68)
PROPOSALS, FORMED, GAINS, HORIZONS, BENDS, PRESENT, OFFSET, SPREAD, LEVELS = range(68, 77)
MOMENTS, SQUARES, LASTS, CURVES, FIRST, STEADY, RECORD = range(77, 84)
X, TANGENT, TARGETS, SCALES, SIZES, VALUES, CHARGES, OFFERED, RAW, SCRATCH, TRIAL, SPARE = range(84, 96)
HEADER = 96

KEPT = [
    Part("plan", PLAN, ("plan",)),  # the domain's
    Part("prices", PRICES, (2, "dim")),  # up and down
    Part("tau", TAU, ("lanes",)),  # of the mover: rounds that a move is to pay for; see `pairs.moving`
    Part("waits", WAITS, ("lanes",)),  # 1 if the mover waits while the estimator still learns much
    Part("log_prior", LOG_PRIOR, ("lanes",)),  # -inf for padding
    Part("owner", OWNER, ("blocks",)),  # the estimator of each block
    Part("records", RECORDS, ("families", 2)),  # address of the family's plugin, and where its record begins
    Part("edges", EDGES, ("simplices", 2)),  # first coordinate of each simplex, and one past its last
    Part("start", START, ("dim",)),  # where everybody begins
    Part("decision", DECISION, ("dim",)),  # w_t
    Part("last", LAST, ("dim",)),  # w_{t-1}
    Part("points", POINTS, ("blocks", "dim", WIDTH)),  # where each pair is
    Part("weights", WEIGHTS, ("lanes",)),  # p_t
    Part("prior", PRIOR, ("lanes",)),  # log prior of those in play
    Part("totals", TOTALS, ("lanes",)),  # what each pair was charged, above the least of every round
    Part("own", OWN, ("lanes",)),  # the price of its own move
    Part("ski", SKI, ("lanes",)),  # what staying has cost since the last jump
    Part("cut", CUT, ("lanes",)),  # what clipping took off its losses
    Part("proposals", PROPOSALS, ("estimators", "dim")),  # where each estimator would like to be
    Part("formed", FORMED, ("estimators",)),  # 1 if its family proposes any point, which is then put into the domain
    Part("gains", GAINS, ("estimators",)),  # how much nearer to the truth it expects to be after one more round
    Part("horizons", HORIZONS, ("estimators",)),  # rounds that it expects its proposal to last
    Part("bends", BENDS, ("estimators",)),  # curvature that it assumes, as a multiple of the pool's
    Part("present", PRESENT, ("estimators",)),  # 0 if it has no proposal in this round
    Part("offset", OFFSET, ("offsets", "dim")),  # what it adds to its forecast of the targets, with `OFFSETS`
    Part("spread", SPREAD, ("offsets", "dim")),  # running mean size of the errors of its forecast
    Part("levels", LEVELS, ("offsets", "dim")),  # its forecast
    Part("moments", MOMENTS, ("moments",)),  # running mean of xx', or of x^2
    Part("squares", SQUARES, ("dim",)),  # each coordinate's running mean square of clipped residuals
    Part("lasts", LASTS, ("dim",)),  # each coordinate's last residual
    Part("curves", CURVES, ("dim",)),  # each coordinate's curvature
    Part("first", FIRST, ("dim",)),  # the first features
    Part("steady", STEADY, ("dim",)),  # 1 where a feature has always been what it was at first, and not 0
    Part("record", RECORD, ("record",)),  # the records of the families, one after another
]

ROOM = [
    Part("x", X, ("terms",)),  # features in units of the loss's curvature, and an intercept
    Part("tangent", TANGENT, ("terms",)),  # the same without what is the same for all points of a simplex
    Part("targets", TARGETS, ("dim",)),  # clipped targets: one, or one for each coordinate; or the clipped gradient
    Part("scales", SCALES, ("dim",)),  # mean square of each feature, in units of the loss's curvature
    Part("sizes", SIZES, ("dim",)),  # the same, but the mean of all for features that are not far from the median
    Part("values", VALUES, ("lanes",)),  # loss of each pair
    Part("charges", CHARGES, ("lanes",)),  # the same and the price of its own move
    Part("offered", OFFERED, ("estimators",)),  # loss of each proposal
    Part("raw", RAW, ("terms",)),  # features or gradient before clipping
    Part("scratch", SCRATCH, ("scratch",)),
    Part("trial", TRIAL, ("dim",)),
    Part("spare", SPARE, ("spare",)),  # for projections
]

POOL = Workspace(HEADER, ROOM_AT, KEPT, ROOM)
