"""Learners that fit a quadratic cost: recursive least squares, with one sweep over the coordinates a round, compiled.

All costs so far, discounted, are M'PM + 2 q'M and a constant. Solving P M = -q in every round takes time, and where P
is nearly singular it leads far away. One sweep of Gauss-Seidel from where the learner is, at half of its length, takes
n^2 operations, only ever lowers the sum, and hardly moves in directions that disturbances do not excite. Measured, it
also costs less than the exact solution, which follows every accident of a few rounds; and unlike steepest descent with
a line search it does not amplify rounding errors.
"""

import math

from driftwise._compile import aside, helper
from driftwise._lanes import load, store
from driftwise._memory import Pointer, at, part, whole_at
from driftwise.control.policies.engine import add_scaled, clear, copy_to
from driftwise.control.self_tuned import pool as slot
from driftwise.domains.kernels import dot, project

RIDGE = 1.0
"""Weight of M = 0, in rounds with features of average size."""

SHARE = 0.5
"""Fraction of the way to the minimum along a coordinate."""


@helper
def _fade_and_add(out: Pointer, share: float, row: Pointer, size: int) -> None:
    """Discount what is there and add a row, four entries at a time."""
    whole = size - size % 4
    for k in range(0, whole, 4):
        store(out, k, share * load(out, k) + load(row, k))
    for k in range(whole, size):
        out[k] = share * out[k] + row[k]


@aside
def accumulate(pool: Pointer, z: int) -> None:
    """Add the cost of this round to the sums, of P on and below the diagonal; z is the number of features' rows."""
    dim, fits = whole_at(pool, slot.DIM), whole_at(pool, slot.FITS)
    features, weighted, free = at(pool, slot.FEATURES_AT), at(pool, slot.WEIGHTED_AT), at(pool, slot.FREE_AT)
    row, forgetting = at(pool, slot.ROW_AT), at(pool, slot.FORGETTING_AT)
    moments, sides, ages = at(pool, slot.MOMENTS_AT), at(pool, slot.SIDES_AT), at(pool, slot.AGES_AT)
    for c in range(dim):
        side = 0.0
        clear(row, c + 1)
        for r in range(z):
            weight = weighted[r * dim + c]
            side += weight * free[r]
            add_scaled(row, weight, part(features, r * dim), c + 1)
        for f in range(fits):
            _fade_and_add(part(moments, (f * dim + c) * dim), forgetting[f], row, c + 1)
            sides[f * dim + c] = forgetting[f] * sides[f * dim + c] + side
    for f in range(fits):
        ages[f] = forgetting[f] * ages[f] + 1.0


@aside
def fit(pool: Pointer, f: int, m: int) -> None:
    """Let learner m take its step, by the sums of the f-th forgetting factor."""
    n, age = whole_at(pool, slot.DIM), at(pool, slot.AGES_AT)[f]
    moments, policy = part(at(pool, slot.MOMENTS_AT), f * n * n), part(at(pool, slot.POLICIES_AT), m * n)
    before, falls = at(pool, slot.BEFORE_AT), at(pool, slot.FALLS_AT)
    ridge, moved = 0.0, 0.0
    for c in range(n):
        ridge += moments[c * n + c]
    ridge *= RIDGE / (n * age)
    if not ridge > 0.0:
        return
    copy_to(before, policy, n)
    copy_to(falls, part(at(pool, slot.SIDES_AT), f * n), n)
    # What lies above the diagonal meets coordinates that are still where they were, as in any sweep.
    for c in range(n):
        add_scaled(falls, before[c], part(moments, c * n), c)
    for c in range(n):
        diagonal = moments[c * n + c] + ridge
        slope = falls[c] + dot(part(moments, c * n), policy, c) + diagonal * policy[c]
        policy[c] -= SHARE * slope / diagonal
        moved += (policy[c] - before[c]) * (policy[c] - before[c])
    share = pool[slot.SIZE] / math.sqrt((age + pool[slot.MEMORY]) * moved)
    if not share >= 1.0:
        for c in range(n):
            # False for numbers that overflowed: then the learner stays.
            policy[c] = before[c] + share * (policy[c] - before[c]) if share > 0.0 else before[c]
    project(at(pool, slot.PLAN_AT), policy, at(pool, slot.SPARE_AT))
