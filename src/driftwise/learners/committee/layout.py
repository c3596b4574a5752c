"""What a committee knows, as one vector of doubles: the table of its parts, by name and shape.

Members are lanes (see ``driftwise._lanes``): what there is one of for each member has a multiple of four entries, and
padding has a log prior of -inf.
"""

import math

import numpy as np
from numpy.typing import NDArray

from driftwise._lanes import WIDTH
from driftwise._memory import Array, Part, Section
from driftwise._validate import array
from driftwise.engine.hedge import TIE
from driftwise.errors import CheckpointError

Flags = NDArray[np.bool_]

# The header, part one: single numbers.
(
    MEMBERS,  # n
    LANES,  # n and padding
    DIM,  # numbers in a proposal
    ADDS_UP,  # whether prices add up over the coordinates
    FACTOR,  # ln n, what the rate is before it is divided by the overhead
    ROUNDS,  # rounds observed
    RATE,  # the rate that weights are made with
    OVERHEAD,  # what weighting has cost
    CHARGE,  # what the change of weights added to the price of the decision's move
) = range(9)

# The header, part two: where the parts are.
LOG_PRIOR, PRICES, PRIOR, WEIGHTS, BEFORE, TOTALS, SEEN, OWN, CHARGES, ROWS, KEPT, DECISION, LAST = range(9, 22)

COMMITTEE = Section(
    22,
    [
        Part("log_prior", LOG_PRIOR, ("lanes",)),
        Part("prices", PRICES, (2, "dim")),  # up and down
        Part("prior", PRIOR, ("lanes",)),  # log prior of those awake, -inf of the others
        Part("weights", WEIGHTS, ("lanes",)),  # p_t
        Part("before", BEFORE, ("lanes",)),  # p_{t-1}
        Part("totals", TOTALS, ("lanes",)),  # what each was charged so far, less the least of them
        Part("seen", SEEN, ("lanes",)),  # whether a member has made a proposal yet
        Part("own", OWN, ("lanes",)),  # the price of its own move, 0 if it sleeps or slept until now
        Part("charges", CHARGES, ("lanes",)),  # the loss of its proposal and the price of its own move
        Part("rows", ROWS, ("members", "dim")),  # the proposals of this round
        Part("kept", KEPT, ("members", "dim")),  # the last proposal of every member
        Part("decision", DECISION, ("dim",)),  # w_t, in mode "mix"
        Part("last", LAST, ("dim",)),  # w_{t-1}, in mode "mix"
    ],
)


Parts = dict[str, Array]

CHANGING = tuple(part.name for part in COMMITTEE.parts if part.name not in ("log_prior", "prices"))
"""Parts that change from round to round."""


def new_committee(log_prior: Array, prices: Array, adds_up: bool) -> Array:
    """Return the vector of a committee that has seen nothing yet; `prices` are rows up and down."""
    members, dim = log_prior.size, prices.shape[1]
    lanes = -(-members // WIDTH) * WIDTH
    sides = {"members": members, "lanes": lanes, "dim": dim}
    vector = np.zeros(COMMITTEE.size(sides))
    COMMITTEE.write_offsets(vector, sides)
    vector[MEMBERS], vector[LANES], vector[DIM], vector[ADDS_UP] = members, lanes, dim, adds_up
    vector[FACTOR] = math.log(max(members, 2))
    parts = COMMITTEE.views(vector, sides)
    parts["log_prior"][:] = parts["prior"][:] = -math.inf
    parts["log_prior"][:members], parts["prices"][:] = log_prior, prices
    return vector


def parts_of(vector: Array) -> Parts:
    """Return the parts of a vector by name, without padding."""
    members, lanes, dim = (int(vector[place]) for place in (MEMBERS, LANES, DIM))
    parts = COMMITTEE.views(vector, {"members": members, "lanes": lanes, "dim": dim})
    padded = {part.name for part in COMMITTEE.parts if part.shape == ("lanes",)}
    return {name: part[:members] if name in padded else part for name, part in parts.items()}


def take_parts(vector: Array, parts: Parts, numbers: Array, saved: Parts) -> None:
    """Write what was saved of a committee into the vector of a new one, whose constants stay."""
    vector[ROUNDS : CHARGE + 1] = array("Committee", "numbers", numbers, (CHARGE + 1 - ROUNDS,))
    if saved.keys() != set(CHANGING):
        raise CheckpointError(f"Committee: a saved state has parts {sorted(CHANGING)}, this one {sorted(saved)}.")
    for name in CHANGING:
        part = parts[name]
        if saved[name].shape != part.shape or np.isnan(saved[name]).any():
            raise CheckpointError(f"Committee: {name} must be numbers of shape {part.shape}.")
        part[:] = saved[name]
    if not (np.all(parts["weights"] >= 0.0) and vector[RATE] >= 0.0 and vector[OVERHEAD] >= 0.0):
        raise CheckpointError("Committee: weights, rate and overhead must be at least 0.")


def begin_round(parts: Parts, awake: Flags, rows: Array) -> None:
    """Write who is awake and what is proposed."""
    totals = parts["totals"]
    totals -= totals.min()  # only differences count, and small numbers keep them better
    parts["before"][:] = parts["weights"]
    parts["prior"][:] = np.where(awake, parts["log_prior"], -math.inf)
    parts["rows"][:] = rows


def keep_rows(parts: Parts, awake: Flags) -> None:
    """Keep the proposals of those awake for the next round."""
    np.copyto(parts["kept"], parts["rows"], where=awake[:, None])


def weigh_again(vector: Array, parts: Parts) -> None:
    """Write the weights of those in play at the present rate, in NumPy."""
    totals = parts["totals"] - parts["totals"].min()
    with np.errstate(over="ignore", invalid="ignore"):
        powers = parts["prior"] - np.minimum(vector[RATE] * totals, 1e300)
    shares = np.exp(powers - powers.max())
    parts["weights"][:] = shares / shares.sum()


def charge(parts: Parts, awake: Flags, losses: Array, announced: bool = False) -> None:
    """Write what every member is charged; charges that differ by rounding only are evidence for nobody.

    Own moves that were announced have been charged already.
    """
    charges = np.add(losses, 0.0 if announced else parts["own"], out=parts["charges"])
    here = charges[awake]
    least, most = here.min(), here.max()
    if not most - least > TIE * max(most, -least):
        charges[:] = 0.0
