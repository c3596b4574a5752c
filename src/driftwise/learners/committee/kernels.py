"""The arithmetic of a round, compiled: the engine's Hedge and its price of a move, over the user's own members.

A round in NumPy, where ``above`` is what a member was charged beyond the least of those awake::

    p = prior * exp(-rate * totals) * awake;  p /= p.sum()
    mix = -log(sum(p * exp(-rate * above))) / rate
    gap = p @ above - mix
    totals += where(awake, above, mix);  totals -= totals.min()
    overhead += gap + charge;  rate = ln(n) / overhead

With movers a pair of member and mover is a member here. What its own move costs is known before the weights are made,
and is then announced: it joins the totals first, as a round without overhead, and losses alone are charged at the end.

Of the two ways to act only the one that is used is compiled.
"""

import math

from driftwise._compile import aside, brief, entry, helper
from driftwise._memory import Array, Pointer, at, part, whole_at
from driftwise.engine.hedge import TIE, judge, tuned_rate, weigh
from driftwise.engine.prices import move_price
from driftwise.learners.committee import layout as slot


@aside
def _own_prices(c: Pointer, d: int, weights: Pointer) -> float:
    """Price the own moves of those awake, and return the weighted mean of these prices."""
    own, kept, rows, mean = at(c, slot.OWN), at(c, slot.KEPT), at(c, slot.ROWS), 0.0
    prior, seen, prices = at(c, slot.PRIOR), at(c, slot.SEEN), at(c, slot.PRICES)
    for i in range(whole_at(c, slot.MEMBERS)):
        own[i] = 0.0
        if prior[i] > -math.inf:
            if seen[i] > 0.0:
                own[i] = move_price(part(kept, i * d), part(rows, i * d), 1, prices, d, c[slot.ADDS_UP] > 0.0)
            mean += weights[i] * own[i]
            seen[i] = 1.0
    return mean


@helper
def mix_in(c: Pointer) -> None:
    """Write the weighted mean of the proposals of those awake; rounding does not carry it out of their range."""
    d, prior, weights, rows = whole_at(c, slot.DIM), at(c, slot.PRIOR), at(c, slot.WEIGHTS), at(c, slot.ROWS)
    decision, last = at(c, slot.DECISION), at(c, slot.LAST)
    weigh(whole_at(c, slot.LANES), c[slot.RATE], prior, at(c, slot.TOTALS), weights)
    own = _own_prices(c, d, weights)
    for k in range(d):
        mean, low, high = 0.0, math.inf, -math.inf
        for i in range(whole_at(c, slot.MEMBERS)):
            if prior[i] > -math.inf:
                x = rows[i * d + k]
                mean += weights[i] * x
                low = x if x < low else low
                high = x if x > high else high
        mean = low if mean < low else mean
        last[k] = decision[k]
        decision[k] = high if mean > high else mean
    extra = move_price(last, decision, 1, at(c, slot.PRICES), d, c[slot.ADDS_UP] > 0.0) - own
    c[slot.CHARGE] = extra if extra > 0.0 and c[slot.ROUNDS] > 0.0 else 0.0


@brief
def act_by_mixing(committee: Array) -> None:
    """Decide by the weighted mean."""
    mix_in(part(committee, 0))


@entry
def act_by_following(committee: Array) -> None:
    """Note what the change of member in `follow.redraw` is expected to cost above the new member's own move."""
    c = part(committee, 0)
    d, n, kept, rows = whole_at(c, slot.DIM), whole_at(c, slot.MEMBERS), at(c, slot.KEPT), at(c, slot.ROWS)
    weights, before, own = at(c, slot.WEIGHTS), at(c, slot.BEFORE), at(c, slot.OWN)
    weigh(whole_at(c, slot.LANES), c[slot.RATE], at(c, slot.PRIOR), at(c, slot.TOTALS), weights)
    _own_prices(c, d, weights)
    prices, moved, cost = at(c, slot.PRICES), 0.0, 0.0
    for j in range(n):
        moved += weights[j] - before[j] if weights[j] > before[j] else 0.0
    for j in range(n):
        gain = weights[j] - before[j]
        if gain > 0.0:
            for i in range(n):
                lost = before[i] - weights[i]
                if lost > 0.0:
                    price = move_price(part(kept, i * d), part(rows, j * d), 1, prices, d, c[slot.ADDS_UP] > 0.0)
                    cost += lost * (gain / moved) * (price - own[j])
    c[slot.CHARGE] = cost if cost > 0.0 else 0.0


@helper
def _add_charges(c: Pointer) -> float:
    """Add the charges, which stand in the committee, to the totals, and return the gap of mean charge and mix loss."""
    prior, totals, charges = at(c, slot.PRIOR), at(c, slot.TOTALS), at(c, slot.CHARGES)
    least, mean, mix = judge(whole_at(c, slot.LANES), c[slot.RATE], prior, totals, charges, at(c, slot.WEIGHTS), 0.0)
    for i in range(whole_at(c, slot.MEMBERS)):
        totals[i] += charges[i] - least if prior[i] > -math.inf else mix
    return float(mean - mix)


@brief
def announce(committee: Array) -> int:
    """Add the prices of the own moves to the totals, before the weights are made; return 1 if that was done.

    It is not done while there is no evidence for anybody: weights are then the prior, whatever the totals are.
    """
    c = part(committee, 0)
    if c[slot.RATE] == 0.0:
        return 0
    d, prior, charges = whole_at(c, slot.DIM), at(c, slot.PRIOR), at(c, slot.CHARGES)
    kept, rows, prices = at(c, slot.KEPT), at(c, slot.ROWS), at(c, slot.PRICES)
    least, most = math.inf, 0.0
    for i in range(whole_at(c, slot.MEMBERS)):
        charges[i] = 0.0
        if prior[i] > -math.inf:
            if at(c, slot.SEEN)[i] > 0.0:
                charges[i] = move_price(part(kept, i * d), part(rows, i * d), 1, prices, d, c[slot.ADDS_UP] > 0.0)
            least, most = min(least, charges[i]), max(most, charges[i])
    if most - least > TIE * most:
        weigh(whole_at(c, slot.LANES), c[slot.RATE], prior, at(c, slot.TOTALS), at(c, slot.WEIGHTS))
        _add_charges(c)
    return 1


@helper
def end_in(c: Pointer) -> None:
    """Add the charges, which stand in the committee, to the totals, and what the round cost to the overhead."""
    c[slot.OVERHEAD] += _add_charges(c) + c[slot.CHARGE]
    c[slot.RATE] = tuned_rate(c[slot.FACTOR], c[slot.OVERHEAD])
    c[slot.ROUNDS] += 1.0


@brief
def observe(committee: Array) -> None:
    """End a round with the charges."""
    end_in(part(committee, 0))


@brief
def weigh_everybody(committee: Array, weights: Array) -> None:
    """Write what the weights would be if all members were awake."""
    c = part(committee, 0)
    weigh(whole_at(c, slot.LANES), c[slot.RATE], at(c, slot.LOG_PRIOR), at(c, slot.TOTALS), part(weights, 0))
