"""The self-tuned family of rounds: rates from what was seen, and a dead zone around the mixture.

It needs no horizon and no bound on gradients. Nothing is compared but losses with losses and distances with distances,
so decisions stay the same when losses and the price of moving are multiplied by a number, or losses shifted::

    eta_{t,i} = D 2^(i-5) / sqrt(sum_{s<=t} |g_s|^2 + lambda |g_s|)
    eps_t     = 2 / (sum_{s<=t} gap_s + sum_{s<t} lambda D |p_{s+1} - p_s|_1)

where gap_s is AdaHedge's mixability gap, measured with the rate that p_s was made with: what the mixture lost beyond
Hedge's own potential. The decision is the nearest point to the last one within
D / (4 sqrt(t)) * lambda / (lambda + |g|) of the mixture, |g| being the root mean square of the gradients.
"""

import math

from driftwise._compile import helper, plugin
from driftwise._lanes import load, splat, store
from driftwise._memory import Pointer, at, call, find, part, whole_at
from driftwise.engine.hedge import judge, shifted, tuned_rate
from driftwise.engine.layout import (
    CENTRE,
    DEAD_ZONE,
    DECISION,
    DIAMETER,
    DIM,
    EPS,
    FORGET_CALL,
    GRADIENT,
    GROWTH,
    HINTED,
    LOSSES,
    PLAYED,
    PRICE,
    PRIOR,
    RATE,
    SEEN,
    SIMPLEX_COUNT,
    SIMPLICES,
    SPENT,
    SQUARES,
    TANGENT_CALL,
    TOTALS,
    UPDATES,
    WEIGHTS,
)
from driftwise.engine.rounds import FAMILY, OK, add_losses, grow, lanes_in_play, mix, move_all


@plugin("int64(P, P)")
def within_simplices(c: Pointer, wide: Pointer) -> int:
    """Take off a gradient of shape (d, 4) what it has across a simplex, which no decision can answer.

    A loss that all coordinates of a simplex share is a shift of the losses.
    """
    for b in range(whole_at(c, SIMPLEX_COUNT)):
        edges = part(at(c, SIMPLICES), 2 * b)
        start, stop, mean = int(edges[0]), int(edges[1]), splat(0.0)
        for k in range(start, stop):
            mean = mean + load(wide, 4 * k) / (edges[1] - edges[0])
        for k in range(start, stop):
            store(wide, 4 * k, load(wide, 4 * k) - mean)
    return OK


@helper
def step_scale(seen: float) -> float:
    """Return what a distance is multiplied by to make a step."""
    return 1.0 / math.sqrt(seen) if seen > 0.0 else 0.0


@helper
def follow(c: Pointer, s: Pointer, played: bool) -> None:
    """Move the decision into the dead zone around the mixture, and no farther; `played` if a round has just ended."""
    if c[DEAD_ZONE] == 0.0:
        return
    d, rounds, price = whole_at(c, DIM), max(s[UPDATES], 1.0), c[PRICE]
    decision, centre, last = find(s, c, DECISION), find(s, c, CENTRE), find(s, c, PLAYED)
    distance = 0.0
    for k in range(d):
        if played:
            last[k] = decision[k]
        distance += (centre[k] - last[k]) * (centre[k] - last[k])
    distance, radius = math.sqrt(distance), 0.0
    if price > 0.0:
        usual = math.sqrt(s[SQUARES] / rounds)
        radius = c[DEAD_ZONE] * c[DIAMETER] / math.sqrt(rounds) * (price / (price + usual))
    share = (distance - radius) / distance if distance > radius else 0.0
    for k in range(d):
        decision[k] = last[k] + share * (centre[k] - last[k])


@plugin(FAMILY)
def tuned_round(c: Pointer, s: Pointer, room: Pointer) -> int:
    """Judge and move every base-learner, tune Hedge's rate, mix them anew, and follow the mixture."""
    d, price = whole_at(c, DIM), c[PRICE]
    g, decision = find(room, c, GRADIENT), find(s, c, DECISION)
    if c[TANGENT_CALL] > 0.0:
        call(whole_at(c, TANGENT_CALL), c, g)
    shift, scale, square = 0.0, 0.0, 0.0
    for k in range(d):
        shift += g[4 * k] * decision[k]
        scale += abs(g[4 * k] * decision[k])
        square += g[4 * k] * g[4 * k]
    s[UPDATES] += 1.0
    s[SQUARES] += square
    s[SEEN] += square + price * math.sqrt(square)
    if s[HINTED] > 0.0:
        call(whole_at(c, FORGET_CALL), c, s, room)
    move_all(c, s, room, step_scale(s[SEEN]), shift)
    lanes, losses, weights = lanes_in_play(c, s), find(room, c, LOSSES), find(s, c, WEIGHTS)
    prior, totals = find(s, c, PRIOR), find(s, c, TOTALS)
    _, mean, mixed = judge(lanes, s[EPS], prior, totals, losses, weights, scale)
    s[SPENT] += mean - mixed
    add_losses(c, s, room)
    for i in range(0, lanes, 4):
        store(losses, i, load(weights, i))  # the weights before, for what their change costs
    s[EPS] = tuned_rate(c[RATE], s[SPENT])
    mix(c, s)
    cost = price * c[DIAMETER] * shifted(lanes, losses, weights)
    follow(c, s, True)
    s[HINTED] = 0.0
    if c[GROWTH] > 0.0:
        grow(c, s, s[UPDATES] + 1.0, True)
    s[SPENT] += cost
    return OK
