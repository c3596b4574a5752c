"""What a learner is and what it knows, as plain arrays: their parts, by name.

A learner is one int64 and one float64 vector of constants (`Config` names their parts), and what it knows is one int64
vector of counters and one float64 vector (`Views`), so a fleet is a matrix of states.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from driftwise._compile import inlined
from driftwise._validate import Array
from driftwise.domains.kernels import COLUMNS, Blocks

Integers = NDArray[np.int64]

ROUND, UPDATES, HELD, ACTIVE, HINTED = 0, 1, 2, 3, 4
"""Entries of the counters: rounds observed, updates made, rounds held in the epoch, base-learners in play, whether this
round has a hint."""

COUNTERS = 5

SCHEDULE, BASE, EPOCH, COUNT, DIM, KINDS, NORM, HEEDLESS, PLAIN = 0, 1, 2, 3, 4, 5, 6, 7, 8
"""First integers of a configuration: which clock, which mirror step, rounds that share a decision, N, d, base-learners
for each step size, how moves are priced, how many of each step size make nothing of hints, and whether there is nothing
but what the paper has (neither the self-tuned schedule nor patience nor prices)."""

INTEGERS = 9

RATE, SWITCHING, GROWTH, CLOCK, EXPONENT, DIAMETER, DEAD_ZONE, PRICE = 0, 1, 2, 3, 4, 5, 6, 7
"""First floats of a configuration: Hedge's unit rate, lambda, pool growth, the fixed clock, p of the p-norm, D, the
dead zone's unit radius, the most that a unit of distance costs (lambda itself, unless coordinates have prices)."""

FLOATS = 8

FIXED, TIME_VARYING, DOUBLING, SELF_TUNED = 0, 1, 2, 3

EUCLIDEAN_PRICE, L1_PRICES, L2_PRICES = 0, 1, 2
"""How moves are priced: lambda times the distance, or by prices up and down whose sum, or root of squares, counts."""

SPENT, SIZES, SQUARES, AGREED, CHANCE, GUESSED, TRUST = 0, 1, 2, 3, 4, 5, 6
"""What is added up: cost of mixing, |g|^2 + lambda |g|, |g|^2 (these in the self-tuned schedule only); <g, m>, its
square and |m|^2 over the rounds with a hint m; and what part of this round's hint is believed."""

TUNED = 7


class Config(NamedTuple):
    """What a learner is: the parts of its two constant vectors, by name."""

    choices: Integers
    """(9,): SCHEDULE, BASE, EPOCH, COUNT, DIM, KINDS, NORM, HEEDLESS, PLAIN."""
    blocks: Blocks
    """The domain's table of blocks."""
    settings: Array
    """(8,): RATE, SWITCHING, GROWTH, CLOCK, EXPONENT, DIAMETER, DEAD_ZONE, PRICE."""
    steps: Array
    """(N,): step sizes at clock 1."""
    log_prior: Array
    """(N,): logarithm of Hedge's prior, up to a constant."""
    patience: Array
    """(N,): how much of the price of a move the gradients that a base-learner holds must outweigh before it moves."""
    prices: Array
    """(2, d): prices up and down, or (0, d) where moves are priced by their length."""
    numbers: Array
    """The domain's numbers."""


class Views(NamedTuple):
    """What a learner knows: the parts of its state vector, by name."""

    decision: Array
    """(1, d): w_t."""
    held: Array
    """(1, d): sum of the gradients of an epoch that is not over; room for the gradient in the self-tuned schedule."""
    log_start: Array
    """(d,): logarithm of the shares at the start, for the entropy step."""
    centre: Array
    """(1, d): sum_i p_{t,i} w_{t,i}, where there is a dead zone around it."""
    played: Array
    """(1, d): w_{t-1}, where there is a dead zone."""
    hint: Array
    """(1, d): the guess of this round's gradient."""
    mixture: Array
    """(1,): what the mixture has suffered; a newcomer's total."""
    tuned: Array
    """(7,): SPENT, SIZES, SQUARES, AGREED, CHANCE, GUESSED, TRUST."""
    weights: Array
    """(N,): p_t."""
    totals: Array
    """(N,): sum of the surrogate losses."""
    moves: Array
    """(N,): |w_{t,i} - w_{t-1,i}|, or its price where coordinates have prices."""
    fresh: Array
    """(N,): surrogate losses of a round; room to work in."""
    points: Array
    """(N, d): w_{t,i}."""
    trial: Array
    """(1, d): room to work in."""
    duals: Array
    """(N, d), or (0, d) when the base step needs none: sums of gradients (those not yet acted on, with patience)."""


@inlined
def config(integers: Integers, floats: Array) -> Config:
    """Cut the constant vectors of a learner into their parts."""
    n, d = integers[COUNT], integers[DIM]
    rows = 0 if integers[NORM] == EUCLIDEAN_PRICE else 2
    a = FLOATS + 3 * n
    b = a + rows * d
    return Config(
        integers[:INTEGERS],
        integers[INTEGERS:].reshape(((integers.size - INTEGERS) // COLUMNS, COLUMNS)),
        floats[:FLOATS],
        floats[FLOATS : FLOATS + n],
        floats[FLOATS + n : FLOATS + 2 * n],
        floats[FLOATS + 2 * n : a],
        floats[a:b].reshape((rows, d)),
        floats[b:],
    )


@inlined
def views(state: Array, count: int, dim: int) -> Views:
    """Cut a state vector into its parts (the duals are empty unless the base step needs them)."""
    a = 7 * dim
    b = a + 1 + TUNED
    c = b + 4 * count
    e = c + count * dim
    return Views(
        state[:dim].reshape((1, dim)),
        state[dim : 2 * dim].reshape((1, dim)),
        state[2 * dim : 3 * dim],
        state[4 * dim : 5 * dim].reshape((1, dim)),
        state[5 * dim : 6 * dim].reshape((1, dim)),
        state[6 * dim : a].reshape((1, dim)),
        state[a : a + 1],
        state[a + 1 : b],
        state[b : b + count],
        state[b + count : b + 2 * count],
        state[b + 2 * count : b + 3 * count],
        state[b + 3 * count : c],
        state[c:e].reshape((count, dim)),
        state[3 * dim : 4 * dim].reshape((1, dim)),
        state[e:].reshape(((state.size - e) // dim, dim)),
    )


def state_size(count: int, dim: int, duals: bool) -> int:
    """Return the length of a state vector, in the order of `views`."""
    return 7 * dim + 1 + TUNED + 4 * count + count * dim + (count * dim if duals else 0)
