"""Learners that fit a quadratic cost: recursive least squares, with one sweep over the coordinates a round, compiled.

All costs so far, discounted, are M'PM + 2 q'M and a constant. Solving P M = -q in every round takes time, and where P
is nearly singular it leads far away. One sweep of Gauss-Seidel from where the learner is, at half of its length, takes
n^2 operations, only ever lowers the sum, and hardly moves in directions that disturbances do not excite. Measured, it
costs less as well, as what a few rounds happen to say is not followed to the end; and unlike steepest descent with a
line search it does not make much of rounding errors.
"""

import math

from driftwise._compile import hot
from driftwise.control.tuning.plants import dot
from driftwise.control.tuning.pool import Desk, Pool, Rules
from driftwise.domains.kernels import project

RIDGE = 1.0
"""Weight of M = 0, in rounds with features of average size."""

SHARE = 0.5
"""Of the way to the least sum along a coordinate."""


@hot
def accumulate(rules: Rules, pool: Pool, desk: Desk) -> None:
    """Add the cost of this round to the sums."""
    features, weighted, row = pool.features, desk.weighted, desk.rows[0]
    for c in range(row.size):
        for k in range(row.size):
            row[k] = 0.0
        side = 0.0
        for r in range(pool.free.size):
            side += weighted[r, c] * pool.free[r]
            for k in range(row.size):
                row[k] += weighted[r, c] * features[r, k]
        for f in range(pool.ages.size):
            share, moments = rules.forgetting[f], pool.moments[f, c]
            for k in range(row.size):
                moments[k] = share * moments[k] + row[k]
            pool.sides[f, c] = share * pool.sides[f, c] + side
    for f in range(pool.ages.size):
        pool.ages[f] = rules.forgetting[f] * pool.ages[f] + 1.0


@hot
def fit(rules: Rules, pool: Pool, desk: Desk, f: int, m: int) -> None:
    """Let learner m take its step, by the sums of the f-th forgetting factor."""
    moments, sides, policy, before = pool.moments[f], pool.sides[f], pool.policies[m], desk.rows[1]
    n, ridge = policy.size, 0.0
    for c in range(n):
        ridge += moments[c, c]
    ridge *= RIDGE / (n * pool.ages[f])
    if not ridge > 0.0:
        return
    moved = 0.0
    for c in range(n):
        before[c] = policy[c]
        slope = sides[c] + dot(moments[c], policy) + ridge * policy[c]
        policy[c] -= SHARE * slope / (moments[c, c] + ridge)
        moved += (policy[c] - before[c]) * (policy[c] - before[c])
    # False for numbers that overflowed: then the learner stays.
    share = rules.size / math.sqrt(pool.ages[f] * moved)
    if not share >= 1.0:
        share = share if share > 0.0 else 0.0
        for c in range(n):
            policy[c] = before[c] + share * (policy[c] - before[c])
    project(rules.blocks, rules.numbers, pool.policies, m)
