"""The strongly adaptive family of rounds: every base-learner has a rate and a credit of its own.

Base-learner k is made for intervals of a length n_k: its step and its rate shrink with the root of that length. Its
credit is a cumulative sum of what it would have saved, which never falls below zero (Page's CUSUM), and weights are
Hedge's on the credits. With a_k the surrogate loss of a round, ``<g, w_k>`` plus the price of its own last move::

    r_k  = sum_j p_j a_j - a_k
    s_k  = charge eta_k max(r_k, 0) for every k, or charge eta_k max(-r_k, 0), whichever has the larger mean under p
    R_k  = r_k + sum_j p_j s_j - s_k
    C_k <- max(0, C_k + log(1 + clip(eta_k R_k, -1/2, 1/2)))
    p_k  ~ exp(C_k)

The *surcharge* s_k pays for the moves that a change of weights causes: after a round p shifts by at most
``max(sum_k p_k eta_k max(R_k, 0), sum_k p_k eta_k max(-R_k, 0))`` in total variation. The limits matter only where
gradients are larger than the learner was built for.
"""

import math

from driftwise._compile import helper, plugin
from driftwise._lanes import greater, load, splat, store, total
from driftwise._memory import Pointer, at, find, whole_at
from driftwise.engine import layout as slot
from driftwise.engine.hedge import mean_of
from driftwise.engine.rounds import FAMILY, OK, grow, lanes_in_play, mix, move_all

LIMIT = 0.5
"""The most that a rate times a regret, up or down, counts as in one round."""


@helper
def _level(c: Pointer, s: Pointer, room: Pointer) -> float:
    """Return <g, w> at the decision, from which surrogate losses are counted."""
    stride, level = 1 if c[slot.THIN] > 0.0 else 4, 0.0
    g, decision = find(room, c, slot.GRADIENT), find(s, c, slot.DECISION)
    for k in range(whole_at(c, slot.DIM)):
        level += g[stride * k] * decision[k]
    return level


@helper
def _charge(c: Pointer, s: Pointer, room: Pointer) -> None:
    """Turn the surrogate losses into regrets with surcharges."""
    lanes, rates = lanes_in_play(c, s), at(c, slot.RATES)
    losses, weights, nothing = find(room, c, slot.LOSSES), find(s, c, slot.WEIGHTS), splat(0.0)
    mean, gained, lost = splat(mean_of(lanes, weights, losses)), splat(0.0), splat(0.0)
    for i in range(0, lanes, 4):
        regret, share = mean - load(losses, i), load(weights, i) * load(rates, i)
        gained = gained + share * greater(regret, nothing)
        lost = lost + share * greater(nothing - regret, nothing)
        store(losses, i, regret)
    up, down = total(gained), total(lost)
    side, paid = splat(1.0 if up >= down else -1.0), splat(c[slot.CHARGE] * max(up, down))
    charge = splat(c[slot.CHARGE])
    for i in range(0, lanes, 4):
        regret = load(losses, i)
        store(losses, i, regret + paid - charge * load(rates, i) * greater(side * regret, nothing))


@plugin(FAMILY)
def adaptive_round(c: Pointer, s: Pointer, room: Pointer) -> int:
    """Judge and move every base-learner, add to its credit, mix them again, and let longer ones join."""
    s[slot.UPDATES] += 1.0
    move_all(c, s, room, 1.0, _level(c, s, room))
    _charge(c, s, room)
    regrets, rates, totals = find(room, c, slot.LOSSES), at(c, slot.RATES), find(s, c, slot.TOTALS)
    for i in range(lanes_in_play(c, s)):
        totals[i] = min(totals[i] - math.log1p(min(max(rates[i] * regrets[i], -LIMIT), LIMIT)), 0.0)
    s[slot.EPS] = c[slot.RATE]
    mix(c, s)
    if c[slot.GROWTH] > 0.0:
        grow(c, s, s[slot.UPDATES] + 1.0, False)
    return OK
