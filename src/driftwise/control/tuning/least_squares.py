"""Learners that fit a quadratic cost: recursive least squares, with one sweep over the coordinates a round, compiled.

All costs so far, discounted, are M'PM + 2 q'M and a constant. Solving P M = -q in every round takes time, and where P
is nearly singular it leads far away. One sweep of Gauss-Seidel from where the learner is, at half of its length, takes
n^2 operations, only ever lowers the sum, and hardly moves in directions that disturbances do not excite. Measured, it
costs less as well, as what a few rounds happen to say is not followed to the end; and unlike steepest descent with a
line search it does not make much of rounding errors.
"""

import math

from driftwise._compile import hot
from driftwise.control.tuning.pool import Desk, Pool, Rules
from driftwise.domains.kernels import dot, project

RIDGE = 1.0
"""Weight of M = 0, in rounds with features of average size."""

SHARE = 0.5
"""Of the way to the least sum along a coordinate."""


@hot
def accumulate(rules: Rules, pool: Pool, desk: Desk) -> None:
    """Add the cost of this round to the sums, of P on and below the diagonal."""
    features, weighted = pool.features, desk.weighted
    for c in range(features.shape[1]):
        row, side = desk.rows[0, : c + 1], 0.0
        for k in range(row.size):
            row[k] = 0.0
        for r in range(pool.free.size):
            weight, feature = weighted[r, c], features[r, : c + 1]
            side += weight * pool.free[r]
            for k in range(row.size):
                row[k] += weight * feature[k]
        for f in range(pool.ages.size):
            share, moments = rules.forgetting[f], pool.moments[f, c, : c + 1]
            for k in range(row.size):
                moments[k] = share * moments[k] + row[k]
            pool.sides[f, c] = share * pool.sides[f, c] + side
    for f in range(pool.ages.size):
        pool.ages[f] = rules.forgetting[f] * pool.ages[f] + 1.0


@hot
def fit(rules: Rules, pool: Pool, desk: Desk, f: int, m: int) -> None:
    """Let learner m take its step, by the sums of the f-th forgetting factor."""
    moments, sides, policy = pool.moments[f], pool.sides[f], pool.policies[m]
    before, slopes = desk.rows[1], desk.rows[2]
    n, ridge, moved = policy.size, 0.0, 0.0
    for c in range(n):
        ridge += moments[c, c]
        before[c], slopes[c] = policy[c], sides[c]
    ridge *= RIDGE / (n * pool.ages[f])
    if not ridge > 0.0:
        return
    # What lies above the diagonal meets coordinates that are still where they were, as in any sweep.
    for c in range(n):
        row, above = moments[c, :c], slopes[:c]
        for k in range(c):
            above[k] += row[k] * before[c]
    for c in range(n):
        diagonal = moments[c, c] + ridge
        slope = slopes[c] + dot(moments[c, :c], policy[:c]) + diagonal * policy[c]
        policy[c] -= SHARE * slope / diagonal
        moved += (policy[c] - before[c]) * (policy[c] - before[c])
    share = rules.size / math.sqrt((pool.ages[f] + rules.memory) * moved)
    if not share >= 1.0:
        for c in range(n):
            # False for numbers that overflowed: then the learner stays.
            policy[c] = before[c] + share * (policy[c] - before[c]) if share > 0.0 else before[c]
    project(rules.blocks, rules.numbers, pool.policies, m)
