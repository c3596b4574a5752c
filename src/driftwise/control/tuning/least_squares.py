"""Learners that fit a quadratic cost: recursive least squares, with one step of descent a round, compiled.

All costs so far, discounted, are M'PM + 2 q'M and a constant. Solving P M = -q in every round takes long, and where P is
nearly singular it leads far away. One step of steepest descent with an exact line search, from where the learner is,
takes n^2 operations and cannot: a direction that disturbances do not excite has no slope. Measured, it costs less as
well, as what a few rounds happen to say is not followed to the end.
"""

import math

from driftwise._compile import hot
from driftwise.control.tuning.plants import dot
from driftwise.control.tuning.pool import Desk, Pool, Rules
from driftwise.domains.kernels import project

RIDGE = 1.0
"""Weight of M = 0, in rounds with features of average size."""


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
    moments, policy, down, image = pool.moments[f], pool.policies[m], desk.rows[1], desk.rows[2]
    n, ridge = policy.size, 0.0
    for c in range(n):
        ridge += moments[c, c]
    ridge *= RIDGE / (n * pool.ages[f])
    for c in range(n):
        down[c] = -pool.sides[f, c] - dot(moments[c], policy) - ridge * policy[c]
    square = dot(down, down)
    for c in range(n):
        image[c] = dot(moments[c], down) + ridge * down[c]
    bend = dot(down, image)
    # False for numbers that overflowed or are 0, and where costs that are not convex bend downwards.
    if not 0.0 < square / bend < math.inf:
        return
    length = square / bend
    farthest = rules.size / math.sqrt(pool.ages[f])
    length = min(length, farthest / math.sqrt(square))
    for c in range(n):
        policy[c] += length * down[c]
    project(rules.blocks, rules.numbers, pool.policies, m)
