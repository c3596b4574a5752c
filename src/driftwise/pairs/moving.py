"""How the pairs move, and the decision that is mixed of them: a plugin, and the movers as numbers.

Every pair stands at a point w of its own and looks at the proposal u of its estimator. With d = u - w, `price` the
price of the whole way, and `gain` = d' S d the curvature of the losses along it, S being the running mean of phi'' xx',
it goes

    follow       all the way
    prox(tau)    the part 1 - min(1, price / (tau gain)): the minimiser of tau gain (1 - s)^2 / 2 + s price
    ski rental   all the way, once what staying has cost beyond going reaches the price

Where every coordinate is a problem of its own (a loss of each coordinate, prices that add up, a box), prox decides on
each of them. A mover that *waits* stays while ``gain / 2`` is below the price of the distance by which one more round
brings its estimator nearer to the truth.

A mover is two numbers: tau (inf: follow; 0: what its estimator expects, `horizons`; below 0: ski rental, at -tau
times the price), and whether it waits.
"""

import math

from driftwise._compile import aside, helper, plugin
from driftwise._lanes import Four, any_above, greater, lesser, load, root, splat, store, total, where_above
from driftwise._memory import Pointer, at, part, whole_at
from driftwise.domains.kernels import project
from driftwise.engine.hedge import mean_of, tuned_rate, weigh
from driftwise.engine.layout import DECISION_AT
from driftwise.engine.prices import move_price
from driftwise.pairs import layout as slot

TINY, HUGE = 1e-300, 1e290

ZONE = 0.06
"""Radius of the dead zone around the mixture, in units of D / sqrt(t), where only gradients are known."""


@helper
def _lanes_price(v: Pointer, way: Pointer) -> Four:
    """Return the price of the ways of four pairs; `way` has shape (d, 4)."""
    d, prices, sum_ = whole_at(v, slot.DIM), at(v, slot.PRICES), splat(0.0)
    adds_up = v[slot.ADDS_UP] > 0.0
    for k in range(d):
        change = load(way, 4 * k)
        term = prices[k] * greater(change, splat(0.0)) - prices[d + k] * lesser(change, splat(0.0))
        sum_ = sum_ + (term if adds_up else term * term)
    return sum_ if adds_up else root(sum_)


@aside
def _far_price(v: Pointer, way: Pointer, out: Pointer) -> None:
    """Write the price of the ways of four pairs, where squares overflow or vanish."""
    d, zero = whole_at(v, slot.DIM), at(v, slot.TRIAL)
    for k in range(d):
        zero[k] = 0.0
    for lane in range(4):
        for k in range(d):
            at(v, slot.RAW)[k] = way[4 * k + lane]
        out[lane] = move_price(zero, at(v, slot.RAW), 1, at(v, slot.PRICES), d, v[slot.ADDS_UP] > 0.0)


@aside
def _curvature(v: Pointer, way: Pointer) -> Four:
    """Return d' S d for the ways d of four pairs."""
    d, moments, sum_ = whole_at(v, slot.DIM), at(v, slot.MOMENTS), splat(0.0)
    if v[slot.FORM] == slot.EACH:
        curves = at(v, slot.CURVES)
        for k in range(d):
            sum_ = sum_ + curves[k] * load(way, 4 * k) * load(way, 4 * k)
        return sum_
    for i in range(d):
        across = splat(0.0)
        if v[slot.FULL] > 0.0:
            row = part(moments, i * d)
            for k in range(i):
                across = across + row[k] * load(way, 4 * k)
            across = across + across + row[i] * load(way, 4 * i)
        else:
            across = moments[i] * load(way, 4 * i)
        sum_ = sum_ + across * load(way, 4 * i)
    return greater(sum_, splat(0.0))


@helper
def _assumed(v: Pointer, e: int) -> float:
    """Return what an estimator takes the losses to bend by, in units of `_curvature`."""
    return float(at(v, slot.BENDS)[e] * (1.0 if v[slot.FORM] == slot.EACH else v[slot.CURVE]))


@helper
def _prox(price: Four, worth: Four) -> Four:
    """Return what part of the way to go if all of it costs `price`, and being there is worth `worth` in all."""
    return splat(1.0) - lesser(price / (worth + splat(TINY)), splat(1.0))


@helper
def _shares(v: Pointer, i: int, e: int, price: Four, gain: Four, whole_way: Four) -> Four:
    """Return what part of their way four pairs go, as far as it is one number for all coordinates."""
    tau, none, one = load(at(v, slot.TAU), i), splat(0.0), splat(1.0)
    rounds = where_above(tau, none, tau, splat(at(v, slot.HORIZONS)[e]))
    share = _prox(price, lesser(rounds, splat(HUGE)) * gain)
    share = where_above(tau, splat(HUGE), one, share)
    staying = load(at(v, slot.SKI), i)
    jump = where_above(none - lesser(tau, splat(HUGE)) * price, staying, none, one)
    share = where_above(none, tau, jump, share)
    patience = load(at(v, slot.WAITS), i) * at(v, slot.GAINS)[e] * price / (whole_way + splat(TINY))
    return where_above(patience, splat(0.5) * gain, none, share)


@aside
def _move_block(v: Pointer, i: int, e: int) -> None:
    """Move the four pairs from lane i on towards the proposal of estimator e."""
    d, points = whole_at(v, slot.DIM), part(at(v, slot.POINTS), i * whole_at(v, slot.DIM))
    u, way, own = part(at(v, slot.PROPOSALS), e * d), at(v, slot.SCRATCH), at(v, slot.OWN)
    far = splat(0.0)
    for k in range(d):
        change = splat(u[k]) - load(points, 4 * k)
        store(way, 4 * k, change)
        far = far + change * change
    if not any_above(far, splat(0.0)):
        for k in range(d):  # squares may have vanished
            store(points, 4 * k, splat(u[k]))
        store(own, i, splat(0.0))
        return
    prices, curves = at(v, slot.PRICES), at(v, slot.CURVES)
    price = _lanes_price(v, way)
    if any_above(price, splat(HUGE)) or any_above(splat(1e-140), price):
        _far_price(v, way, part(own, i))
        price = load(own, i)
    share = _shares(v, i, e, price, _assumed(v, e) * _curvature(v, way), root(far))
    if v[slot.APART] > 0.0:
        # Prox decides on every coordinate; the others on all at once.
        tau, none = load(at(v, slot.TAU), i), splat(0.0)
        rounds = where_above(tau, none, lesser(tau, splat(HUGE)), splat(at(v, slot.HORIZONS)[e]))
        spent = none
        for k in range(d):
            change = load(way, 4 * k)
            cost = prices[k] * greater(change, none) - prices[d + k] * lesser(change, none)
            alone = _prox(cost, rounds * (curves[k] * change * change))
            alone = where_above(tau, splat(HUGE), share, where_above(none, tau, share, alone))
            alone = where_above(share, none, alone, where_above(load(at(v, slot.WAITS), i), none, none, alone))
            store(points, 4 * k, where_above(splat(1.0), alone, load(points, 4 * k) + alone * change, splat(u[k])))
            spent = spent + alone * cost
        store(own, i, spent)
    else:
        for k in range(d):
            went = load(points, 4 * k) + share * load(way, 4 * k)
            store(points, 4 * k, where_above(splat(1.0), share, went, splat(u[k])))
        store(own, i, share * price)
    ski = at(v, slot.SKI)
    store(ski, i, where_above(share, splat(0.0), splat(0.0), load(ski, i)))


@helper
def _blend(v: Pointer) -> None:
    """Write the mixture of the pairs' points as the decision, in the domain whatever rounding does."""
    d, lanes, out = whole_at(v, slot.DIM), whole_at(v, slot.LANES), at(v, slot.DECISION)
    weights, points = at(v, slot.WEIGHTS), at(v, slot.POINTS)
    for k in range(d):
        mean = splat(0.0)
        for i in range(0, lanes, 4):
            mean = mean + load(weights, i) * load(points, i * d + 4 * k)
        out[k] = total(mean)
    project(at(v, slot.PLAN), out, at(v, slot.SPARE))


@helper
def _at_stake(v: Pointer) -> float:
    """Return what the overhead begins with: the scale of what is at stake, before anything has been lost.

    Twice what the first round would have been worth to those who had known it, as its curvature says; or, where only
    gradients are known, the price of crossing the domain.
    """
    bend = 1.0
    if v[slot.FORM] == slot.GRADIENT:
        return float(min(2.0 * v[slot.HALF_WIDTH] * v[slot.PRICE], HUGE))
    if v[slot.FORM] == slot.EACH:
        bend = 0.0
        for k in range(whole_at(v, slot.DIM)):
            bend += at(v, slot.CURVES)[k]
    return float(min(bend * v[slot.REFERENCE], HUGE))


@aside
def _linger(v: Pointer) -> None:
    """Go no farther than into the dead zone around the mixture.

    Its radius is ZONE D / sqrt(t) (price / (price + |g|))^2, |g| being the root mean square of gradients: without
    curvature mixtures waver, and each turn costs a move.
    """
    d, decision, last, far = whole_at(v, slot.DIM), at(v, slot.DECISION), at(v, slot.LAST), 0.0
    usual, rounds = math.sqrt(v[slot.ENERGY] / v[slot.PRIMED]), v[slot.PRIMED]
    part_ = v[slot.PRICE] / (v[slot.PRICE] + usual) if v[slot.PRICE] > 0.0 else 0.0
    radius = 2.0 * ZONE * v[slot.HALF_WIDTH] / math.sqrt(rounds) * part_ * part_
    for k in range(d):
        far += (decision[k] - last[k]) * (decision[k] - last[k])
    far = math.sqrt(far)
    share = (far - radius) / far if far > radius else 0.0
    for k in range(d):
        decision[k] = last[k] + share * (decision[k] - last[k])


@plugin("int64(P, P)")
def decide(v: Pointer, scream: Pointer) -> int:
    """Move every pair whose estimator has a proposal, charge it for that, mix, and note what that costs beyond."""
    d, lanes, owner, own = whole_at(v, slot.DIM), whole_at(v, slot.LANES), at(v, slot.OWNER), at(v, slot.OWN)
    decision, last, weights, totals = at(v, slot.DECISION), at(v, slot.LAST), at(v, slot.WEIGHTS), at(v, slot.TOTALS)
    if v[slot.SCREAM_ROW] >= 0.0:  # read now, as a hint may have moved it
        u, there = part(at(v, slot.PROPOSALS), whole_at(v, slot.SCREAM_ROW) * d), at(scream, DECISION_AT)
        for k in range(d):
            u[k] = there[k]
    if v[slot.ROUNDS] == 1.0 and v[slot.OVERHEAD] == 0.0:
        v[slot.OVERHEAD] = _at_stake(v)
        rate = tuned_rate(v[slot.FACTOR], v[slot.OVERHEAD])
        v[slot.RATE] = rate if rate > 0.0 else v[slot.RATE]
    for i in range(0, lanes, 4):
        e = int(owner[i // 4])
        if e >= 0 and at(v, slot.PRESENT)[e] > 0.0:
            _move_block(v, i, e)
            store(totals, i, load(totals, i) + load(own, i))
        else:
            store(own, i, splat(0.0))
    weigh(lanes, v[slot.RATE], at(v, slot.PRIOR), totals, weights)
    for k in range(d):
        last[k] = decision[k]
    _blend(v)
    if v[slot.FORM] == slot.GRADIENT and v[slot.PRIMED] > 0.0:
        _linger(v)
    price = move_price(last, decision, 1, at(v, slot.PRICES), d, v[slot.ADDS_UP] > 0.0)
    v[slot.MOVED] = price
    v[slot.CHARGE] = max(price - mean_of(lanes, weights, own), 0.0)
    return 0
