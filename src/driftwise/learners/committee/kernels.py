"""The arithmetic of a round, compiled: the engine's Hedge and its price of a move, over the user's own members.

A round in NumPy, where ``above`` is what a member was charged beyond the least of those awake::

    p = prior * exp(-rate * totals) * awake;  p /= p.sum()
    mix = -log(sum(p * exp(-rate * above))) / rate
    gap = p @ above - mix
    totals += where(awake, above, mix);  totals -= totals.min()
    overhead += gap + charge;  rate = ln(n) / overhead

Of the two ways to act only the one that is used is compiled.
"""

import math

from driftwise._compile import aside, brief, entry
from driftwise._memory import Array, Pointer, at, part, whole_at
from driftwise.engine.hedge import judge, tuned_rate, weigh
from driftwise.engine.prices import move_price
from driftwise.learners.committee.layout import (
    ADDS_UP,
    BEFORE,
    CHARGE,
    CHARGES,
    DECISION,
    DIM,
    FACTOR,
    KEPT,
    LANES,
    LAST,
    LOG_PRIOR,
    MEMBERS,
    OVERHEAD,
    OWN,
    PRICES,
    PRIOR,
    RATE,
    ROUNDS,
    ROWS,
    SEEN,
    TOTALS,
    WEIGHTS,
)


@aside
def _own_prices(c: Pointer, d: int, weights: Pointer) -> float:
    """Price the own moves of those awake, and return the weighted mean of these prices."""
    own, kept, rows, mean = at(c, OWN), at(c, KEPT), at(c, ROWS), 0.0
    prior, seen, prices = at(c, PRIOR), at(c, SEEN), at(c, PRICES)
    for i in range(whole_at(c, MEMBERS)):
        own[i] = 0.0
        if prior[i] > -math.inf:
            if seen[i] > 0.0:
                own[i] = move_price(part(kept, i * d), part(rows, i * d), 1, prices, d, c[ADDS_UP] > 0.0)
            mean += weights[i] * own[i]
            seen[i] = 1.0
    return mean


@brief
def act_by_mixing(committee: Array) -> None:
    """Write the weighted mean of the proposals of those awake; rounding does not carry it out of their range."""
    c = part(committee, 0)
    d, prior, weights, rows = whole_at(c, DIM), at(c, PRIOR), at(c, WEIGHTS), at(c, ROWS)
    decision, last = at(c, DECISION), at(c, LAST)
    weigh(whole_at(c, LANES), c[RATE], prior, at(c, TOTALS), weights)
    own = _own_prices(c, d, weights)
    for k in range(d):
        mean, low, high = 0.0, math.inf, -math.inf
        for i in range(whole_at(c, MEMBERS)):
            if prior[i] > -math.inf:
                x = rows[i * d + k]
                mean += weights[i] * x
                low = x if x < low else low
                high = x if x > high else high
        mean = low if mean < low else mean
        last[k] = decision[k]
        decision[k] = high if mean > high else mean
    extra = move_price(last, decision, 1, at(c, PRICES), d, c[ADDS_UP] > 0.0) - own
    c[CHARGE] = extra if extra > 0.0 and c[ROUNDS] > 0.0 else 0.0


@entry
def act_by_following(committee: Array) -> None:
    """Note what the change of member in `follow.redraw` is expected to cost above the new member's own move."""
    c = part(committee, 0)
    d, n, kept, rows = whole_at(c, DIM), whole_at(c, MEMBERS), at(c, KEPT), at(c, ROWS)
    weights, before, own = at(c, WEIGHTS), at(c, BEFORE), at(c, OWN)
    weigh(whole_at(c, LANES), c[RATE], at(c, PRIOR), at(c, TOTALS), weights)
    _own_prices(c, d, weights)
    prices, moved, cost = at(c, PRICES), 0.0, 0.0
    for j in range(n):
        moved += weights[j] - before[j] if weights[j] > before[j] else 0.0
    for j in range(n):
        gain = weights[j] - before[j]
        if gain > 0.0:
            for i in range(n):
                lost = before[i] - weights[i]
                if lost > 0.0:
                    price = move_price(part(kept, i * d), part(rows, j * d), 1, prices, d, c[ADDS_UP] > 0.0)
                    cost += lost * (gain / moved) * (price - own[j])
    c[CHARGE] = cost if cost > 0.0 else 0.0


@brief
def observe(committee: Array) -> None:
    """Add the charges, which stand in the committee, to the totals, and what the round cost to the overhead."""
    c = part(committee, 0)
    prior, totals, charges = at(c, PRIOR), at(c, TOTALS), at(c, CHARGES)
    least, mean, mix = judge(whole_at(c, LANES), c[RATE], prior, totals, charges, at(c, WEIGHTS), 0.0)
    for i in range(whole_at(c, MEMBERS)):
        totals[i] += charges[i] - least if prior[i] > -math.inf else mix
    c[OVERHEAD] += mean - mix + c[CHARGE]
    c[RATE] = tuned_rate(c[FACTOR], c[OVERHEAD])
    c[ROUNDS] += 1.0


@brief
def weigh_everybody(committee: Array, weights: Array) -> None:
    """Write what the weights would be if all members were awake."""
    c = part(committee, 0)
    weigh(whole_at(c, LANES), c[RATE], at(c, LOG_PRIOR), at(c, TOTALS), part(weights, 0))
