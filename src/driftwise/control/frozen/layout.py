"""A frozen policy in memory: one vector of doubles, its *cell*, and the table of its parts."""

import numpy as np

from driftwise._compile import LARGEST
from driftwise._memory import Array, Part, Workspace
from driftwise.control.frozen.law import Law

# The header, part one: single numbers.
(
    ROOM_AT,  # where the room begins
    NZ,  # number of coordinates of the model
    N,  # how many of them are states
    DU,  # number of inputs
    DY,  # number of outputs of the plant; 0 if its states are measured
    LAGS,  # H
    HEAD,  # row of the newest disturbance
    ROUND,  # inputs given so far
    SEEN,  # whether there has been a sample of the state
) = range(9)

# The header, part two: where the parts are.
A_AT, B_AT, K_AT, M_AT, C_AT, L_AT = range(9, 15)
LEVEL_AT, REST_AT, BASE_AT, LOW_AT, HIGH_AT, RATE_AT, FIRST_AT = range(15, 22)
Z_AT, U_AT, PAST_AT, GAP_AT = range(22, 26)
SAMPLE_AT, AHEAD_AT = range(26, 28)
HEADER = 28

CELL = Workspace(
    HEADER,
    ROOM_AT,
    kept=[
        Part("A", A_AT, ("nz", "nz")),
        Part("B", B_AT, ("nz", "du")),
        Part("K", K_AT, ("du", "nz")),
        Part("M", M_AT, ("lags", "du", "n")),
        Part("C", C_AT, ("dy", "n")),
        Part("L", L_AT, ("n", "dy")),
        Part("level", LEVEL_AT, ("width",)),  # the sample at the set-point: the origin, or C times it
        Part("rest", REST_AT, ("du",)),
        Part("base", BASE_AT, ("du",)),  # rest + offset
        Part("low", LOW_AT, ("du",)),
        Part("high", HIGH_AT, ("du",)),
        Part("rate", RATE_AT, ("du",)),
        Part("first", FIRST_AT, ("du",)),  # the input before the first one: 0, or the limit that is nearest to 0
        Part("z", Z_AT, ("nz",)),  # the state of the model, relative to the set-point
        Part("u", U_AT, ("du",)),  # the last input, as it was applied
        Part("past", PAST_AT, ("lags", "n")),  # a ring of disturbances; row HEAD is the newest
        Part("gap", GAP_AT, ("dy",)),  # the last innovation
    ],
    room=[
        Part("sample", SAMPLE_AT, ("width",)),  # what was measured in this round
        Part("ahead", AHEAD_AT, ("nz",)),  # where the model expects the state
    ],
)

BOUNDLESS = 2.0 * LARGEST
"""A rate that never limits: inputs are at most `LARGEST` in size."""


def constants(law: Law) -> dict[str, Array]:
    """Return the numbers that a step computes with, by name; they are the same in the cell and in exported code."""
    low, high = np.clip(law.limits, -LARGEST, LARGEST)
    return {
        "A": law.A,
        "B": law.B,
        "K": law.K,
        "M": law.M,
        "C": law.C,
        "L": law.L,
        "level": law.C @ law.origin if law.observed else law.origin,
        "rest": law.rest,
        "base": law.rest + law.offset,
        "low": low,
        "high": high,
        "rate": np.minimum(law.rate, BOUNDLESS),
        "first": np.clip(0.0, low, high),
    }


def new_cell(law: Law) -> Array:
    """Return the cell of a law that has not acted yet."""
    sides = law.sides
    cell = CELL.new(sides)
    cell[[NZ, N, DU, DY, LAGS]] = [sides[name] for name in ("nz", "n", "du", "dy", "lags")]
    parts = CELL.views(cell, sides)
    for name, values in constants(law).items():
        parts[name][...] = values
    parts["u"][:] = parts["first"]
    return cell
