"""The self-tuned family of rounds: rates from what was observed, and a dead zone around the mixture.

It needs no horizon and no bound on gradients. Losses are compared only with losses, distances only with distances, so
decisions stay the same when losses and the price of moving are multiplied by a number, or when losses are shifted::

    eta_{t,i} = D 2^(i-5) / sqrt(sum_{s<=t} |g_s|^2 + lambda |g_s|)
    eps_t     = 2 / (sum_{s<=t} gap_s + sum_{s<t} lambda D |p_{s+1} - p_s|_1)

where gap_s is AdaHedge's mixability gap, measured with the rate that p_s was made with: what the mixture lost beyond
Hedge's own potential. The decision is the nearest point to the last one within
D / (4 sqrt(t)) * lambda / (lambda + |g|) of the mixture, |g| being the root mean square of the gradients.

Sums never forget, so one absurd gradient would make all later steps short. Everything above sees gradients that are
clipped in length, to a multiple of their usual size so far, or of the last one as it came, so that a true change of
scale is let through after one round::

    limit_t = c_n max(sqrt(mean of |g_s|^2 over s < t with g_s != 0), |raw g_{t-1}|),   c_n = sqrt(n) / 2 from 3 to 10

for n gradients other than 0 so far. What is more than 100 times that is a mistake, and counts without c_n. Where what
was cut off would add up to more than sqrt(t) times the largest gradient so far, nothing is cut. Before the second
gradient nobody is judged by the size of the first; if it turns out to be more than 10 times as large as the second, it
is taken back.
"""

import math

from driftwise._compile import helper, plugin
from driftwise._lanes import load, splat, store
from driftwise._memory import Pointer, at, call, find, part, whole_at
from driftwise.engine import layout as slot
from driftwise.engine.hedge import judge, shifted, tuned_rate
from driftwise.engine.rounds import FAMILY, OK, add_losses, grow, lanes_in_play, mix, move_all


@plugin("int64(P, P)")
def within_simplices(c: Pointer, wide: Pointer) -> int:
    """Subtract from a gradient of shape (d, 4) its mean over each simplex, which costs all decisions the same.

    A loss that all coordinates of a simplex share is a shift of the losses.
    """
    for b in range(whole_at(c, slot.SIMPLEX_COUNT)):
        edges = part(at(c, slot.SIMPLICES), 2 * b)
        start, stop, mean = int(edges[0]), int(edges[1]), splat(0.0)
        for k in range(start, stop):
            mean = mean + load(wide, 4 * k) / (edges[1] - edges[0])
        for k in range(start, stop):
            store(wide, 4 * k, load(wide, 4 * k) - mean)
    return OK


RAMP = 0.5
"""The limit is this times the root of the gradients so far, between its first and its last value, in usual sizes.

So a clipped gradient makes a sum of equal squares at most 1 + RAMP^2 times as large, except in the first rounds.
"""

ABSURD = 100.0
"""How many times the limit is no jump, but a mistake: it counts as a gradient of the usual size."""


@helper
def _forget_first(s: Pointer) -> None:
    """Take the first gradient back: all that has been made of its size are sums, as nobody has been judged by it."""
    s[slot.CUT] += s[slot.LAST]
    s[slot.SEEN] = s[slot.SQUARES] = s[slot.AGREED] = s[slot.CHANCE] = s[slot.GUESSED] = 0.0


@helper
def kept_share(c: Pointer, s: Pointer, size: float) -> float:
    """Return the part of a gradient of this size that counts, above 0 and at most 1, and note the size."""
    if c[slot.LATE] == 0.0 or size == 0.0:
        return 1.0
    counted, last = s[slot.COUNTED], s[slot.LAST]
    usual = max(math.sqrt(s[slot.SQUARES] / counted), last) if counted > 0.0 else math.inf
    limit = min(max(RAMP * math.sqrt(counted), c[slot.EARLY]), c[slot.LATE]) * usual
    limit = usual if size > ABSURD * limit else limit
    if counted == 1.0 and last > c[slot.LATE] * size:
        _forget_first(s)
    s[slot.COUNTED], s[slot.LAST], s[slot.LARGEST] = counted + 1.0, size, max(s[slot.LARGEST], size)
    cut = s[slot.CUT] + (size - limit)
    if size <= limit or cut > math.sqrt(s[slot.UPDATES]) * s[slot.LARGEST]:
        return 1.0
    s[slot.CUT] = cut
    return limit / size


@helper
def step_scale(seen: float) -> float:
    """Return the factor that turns a distance into a step."""
    return 1.0 / math.sqrt(seen) if seen > 0.0 else 0.0


@helper
def follow(c: Pointer, s: Pointer, played: bool) -> None:
    """Move the decision into the dead zone around the mixture, and no farther; `played` if a round has just ended."""
    if c[slot.DEAD_ZONE] == 0.0:
        return
    d, rounds, price = whole_at(c, slot.DIM), max(s[slot.UPDATES], 1.0), c[slot.PRICE]
    decision, centre, last = find(s, c, slot.DECISION), find(s, c, slot.CENTRE), find(s, c, slot.PLAYED)
    distance = 0.0
    for k in range(d):
        if played:
            last[k] = decision[k]
        distance += (centre[k] - last[k]) * (centre[k] - last[k])
    distance, radius = math.sqrt(distance), 0.0
    if price > 0.0:
        usual = math.sqrt(s[slot.SQUARES] / rounds)
        radius = c[slot.DEAD_ZONE] * c[slot.DIAMETER] / math.sqrt(rounds) * (price / (price + usual))
    share = (distance - radius) / distance if distance > radius else 0.0
    for k in range(d):
        decision[k] = last[k] + share * (centre[k] - last[k])


@plugin(FAMILY)
def tuned_round(c: Pointer, s: Pointer, room: Pointer) -> int:
    """Judge and move every base-learner, tune Hedge's rate, mix them again, and follow the mixture."""
    d, price = whole_at(c, slot.DIM), c[slot.PRICE]
    g, decision = find(room, c, slot.GRADIENT), find(s, c, slot.DECISION)
    if c[slot.TANGENT_CALL] > 0.0:
        call(whole_at(c, slot.TANGENT_CALL), c, g)
    shift, scale, square = 0.0, 0.0, 0.0
    for k in range(d):
        shift += g[4 * k] * decision[k]
        scale += abs(g[4 * k] * decision[k])
        square += g[4 * k] * g[4 * k]
    s[slot.UPDATES] += 1.0
    size = math.sqrt(square)
    share = kept_share(c, s, size)
    if share < 1.0:
        for k in range(d):
            store(g, 4 * k, splat(share) * load(g, 4 * k))
        shift, scale, size = share * shift, share * scale, share * size
        square = size * size
    s[slot.SQUARES] += square
    s[slot.SEEN] += square + price * size
    if s[slot.HINTED] > 0.0:
        call(whole_at(c, slot.FORGET_CALL), c, s, room)
    move_all(c, s, room, step_scale(s[slot.SEEN]), shift)
    lanes, losses, weights = lanes_in_play(c, s), find(room, c, slot.LOSSES), find(s, c, slot.WEIGHTS)
    prior, totals = find(s, c, slot.PRIOR), find(s, c, slot.TOTALS)
    _, mean, mixed = judge(lanes, s[slot.EPS], prior, totals, losses, weights, scale)
    s[slot.SPENT] += mean - mixed
    add_losses(c, s, room)
    for i in range(0, lanes, 4):
        store(losses, i, load(weights, i))  # the weights before, to price their change
    s[slot.EPS] = tuned_rate(c[slot.RATE], s[slot.SPENT])
    mix(c, s)
    cost = price * c[slot.DIAMETER] * shifted(lanes, losses, weights)
    follow(c, s, True)
    s[slot.HINTED] = 0.0
    if c[slot.GROWTH] > 0.0:
        grow(c, s, s[slot.UPDATES] + 1.0, True)
    s[slot.SPENT] += cost
    return OK
