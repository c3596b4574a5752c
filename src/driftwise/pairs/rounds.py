"""A round of a pool: everybody is judged, Hedge weighs, and every family of estimators learns.

::

    charge_j   = loss(w_j) + price of its own move
    p_j        ~ prior_j exp(-rate sum of charges_j),   rate = ln(n) / (2 overhead)
    overhead  += mixability gap + what the decision's move cost beyond the pairs' own moves
"""

import math

from driftwise._compile import aside, helper, plugin
from driftwise._lanes import greater, load, most_of, size, splat, store, where_above
from driftwise._memory import Pointer, at, call, part, whole_at
from driftwise.domains.kernels import project
from driftwise.engine.hedge import judge, tuned_rate, weigh
from driftwise.engine.rounds import learn as observe
from driftwise.losses.kernels import SHAPE, SLOPE
from driftwise.pairs import layout as slot
from driftwise.pairs.judging import OK, REFUSED, acceptable


@plugin("int64(P)")
def reweigh(v: Pointer) -> int:
    """Compute the weights from the totals, at the current rate."""
    weigh(whole_at(v, slot.LANES), v[slot.RATE], at(v, slot.PRIOR), at(v, slot.TOTALS), at(v, slot.WEIGHTS))
    return OK


@helper
def _settle(v: Pointer) -> None:
    """Charge every pair, and weigh them anew."""
    lanes, owner, prior, totals = whole_at(v, slot.LANES), at(v, slot.OWNER), at(v, slot.PRIOR), at(v, slot.TOTALS)
    values, ski, nobody, largest = at(v, slot.VALUES), at(v, slot.SKI), splat(-math.inf), splat(0.0)
    for i in range(0, lanes, 4):
        largest = greater(largest, where_above(load(prior, i), nobody, size(load(values, i)), splat(0.0)))
    least, _, mix = judge(lanes, v[slot.RATE], prior, totals, values, at(v, slot.WEIGHTS), most_of(largest))
    for i in range(0, lanes, 4):
        e = int(owner[i // 4])
        offer = splat(at(v, slot.OFFERED)[e]) if e >= 0 else load(values, i)
        store(ski, i, greater(load(ski, i) + (load(values, i) - offer), splat(0.0)))
        above = greater(load(values, i) - splat(least), splat(0.0))
        store(totals, i, load(totals, i) + where_above(load(prior, i), nobody, above, splat(0.0)))
    v[slot.PAID] += v[slot.SUFFERED] - least + v[slot.MOVED]
    v[slot.LEVEL] += least
    v[slot.OVERHEAD] += max(v[slot.SUFFERED] - least - mix, 0.0) + v[slot.CHARGE]
    rate = tuned_rate(v[slot.FACTOR], v[slot.OVERHEAD])
    v[slot.RATE] = rate if rate > 0.0 else v[slot.RATE]
    weigh(lanes, v[slot.RATE], prior, totals, at(v, slot.WEIGHTS))


@aside
def _learn_offsets(v: Pointer, terms: Pointer) -> None:
    """Move what is added to each forecast of the targets against the slope of the loss there.

    A forecast says where the targets are in the mean; a loss that is not symmetric wants a quantile of them. So the
    offset follows the quantile of the forecast's own errors, by stochastic approximation::

        spread += rate (|y - forecast| - spread)
        offset -= 4 rate spread slope / (steepness of the loss),   rate = max(1 / (t + 2), 0.02)
    """
    d, targets, slopes, squares = whole_at(v, slot.DIM), at(v, slot.TARGETS), at(v, slot.SCRATCH), at(v, slot.SQUARES)
    rate = max(1.0 / (v[slot.ROUNDS] + 2.0), 0.02)
    for e in range(whole_at(v, slot.ESTIMATORS)):
        if at(v, slot.FORMED)[e] > 0.0 and v[slot.ROUNDS] > 0.0:
            offset, spread = part(at(v, slot.OFFSET), e * d), part(at(v, slot.SPREAD), e * d)
            level = part(at(v, slot.LEVELS), e * d)
            for k in range(d):
                slopes[k] = level[k] + offset[k]
            call(whole_at(terms, SLOPE), slopes, targets, at(terms, SHAPE), d, slopes)
            for k in range(d):
                spread[k] += (abs(targets[k] - level[k]) - spread[k]) * max(1.0 / v[slot.ROUNDS], 0.02)
                steep = 2.0 * at(v, slot.CURVES)[k] * math.sqrt(squares[k])
                if steep > 0.0:
                    offset[k] -= 4.0 * rate * spread[k] * min(max(slopes[k] / steep, -1.0), 1.0)


@aside
def _form(v: Pointer) -> None:
    """Turn what families have written into proposals: with an offset where there is one, and in the domain."""
    d = whole_at(v, slot.DIM)
    for e in range(whole_at(v, slot.ESTIMATORS)):
        if at(v, slot.FORMED)[e] > 0.0:
            u = part(at(v, slot.PROPOSALS), e * d)
            if v[slot.OFFSETS] > 0.0:
                for k in range(d):
                    at(v, slot.LEVELS)[e * d + k] = u[k]
                    u[k] += at(v, slot.OFFSET)[e * d + k]
            project(at(v, slot.PLAN), u, at(v, slot.SPARE))


@plugin("int64(P, P, P, P, P)")
def learn(v: Pointer, terms: Pointer, features: Pointer, target: Pointer, scream: Pointer) -> int:
    """Take in a round; one that is refused changes nothing."""
    status = call(whole_at(v, slot.JUDGE_CALL), v, terms, features, target)
    if status != OK:
        return int(status)
    _settle(v)
    if v[slot.OFFSETS] > 0.0:
        _learn_offsets(v, terms)
    for e in range(whole_at(v, slot.ESTIMATORS)):
        at(v, slot.HORIZONS)[e] = v[slot.ROUNDS] + 2.0
    records, record = at(v, slot.RECORDS), at(v, slot.RECORD)
    for f in range(whole_at(v, slot.FAMILIES)):
        call(int(records[2 * f]), v, part(record, int(records[2 * f + 1])), terms, scream)
    _form(v)
    v[slot.ROUNDS] += 1.0
    return OK


@plugin("int64(P, P, P)")
def learn_aside(v: Pointer, gradient: Pointer, scream: Pointer) -> int:
    """Judge everybody by a gradient, where estimators are made for whole losses; only self-tuned Scream learns."""
    d, decision, points, values = whole_at(v, slot.DIM), at(v, slot.DECISION), at(v, slot.POINTS), at(v, slot.VALUES)
    if not acceptable(gradient, d):
        return REFUSED
    for i in range(0, whole_at(v, slot.LANES), 4):
        inner = splat(0.0)
        for k in range(d):
            inner = inner + gradient[k] * (load(points, i * d + 4 * k) - splat(decision[k]))
        store(values, i, inner)
    for e in range(whole_at(v, slot.ESTIMATORS)):
        u, at(v, slot.OFFERED)[e] = part(at(v, slot.PROPOSALS), e * d), 0.0
        for k in range(d):
            at(v, slot.OFFERED)[e] += gradient[k] * (u[k] - decision[k])
    v[slot.SUFFERED] = 0.0
    _settle(v)
    if v[slot.SCREAM_ROW] >= 0.0:
        observe(scream, gradient)
    v[slot.ROUNDS] += 1.0
    return OK
