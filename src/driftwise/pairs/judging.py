"""What a round says: the loss of every pair and of every proposal, clipped once for all who learn from it.

One glitch must not outweigh everything that was learnt before it. A residual r, of the decision that was played, is
clipped to c max(sigma, |last r|), where sigma is the running root mean square of clipped residuals, c = 3 in the first
20 rounds and 6 from then on; the last one is in it so that a true jump is let through after one round. The first one is
believed as far as decisions can reach, half the diameter of the domain (times |x|). Everybody sees the target moved so
that the residual is the clipped one::

    y_clipped = z - clip(z - y, -limit, limit)

Features that are farther out than any before are shrunk in the same way, with their target: x and y are multiplied by
min(1, c max(1, last q) / q), where q is the root mean square of x_i over its own running size. Losses that are no
functions of score less target (logistic) have bounded slopes, so their targets stay as they are. Gradients are clipped
in length.

What a loss bends by is needed in three places (filters, movers, change points). A parabola says it; of any other link
the secant over the usual residual is taken, ``(slope(z + sigma) - slope(z - sigma)) / (2 sigma)``, and its running
mean. Features are handed on in units of it, so that a filter for squared losses does for all of them.
"""

import math

from driftwise._compile import LARGEST, aside, helper, plugin
from driftwise._lanes import load, splat, store
from driftwise._memory import Pointer, at, call, part, whole_at
from driftwise.losses.kernels import SHAPE, SLOPE, TAP, VALUE
from driftwise.pairs import layout as slot

JUDGE = "int64(P, P, P, P)"
"""Signature of a form: the pool, the terms of the loss, its features (or gradient), and its target."""

OK, REFUSED = 0, 1

EARLY, LATE, LEARNT = 3.0, 6.0, 20.0
"""How many times the usual size is let through, in the first rounds and later, and how many rounds those are."""

ABSURD = 100.0
"""How many times the limit is no jump, but a mistake."""

SLOWEST = 0.02
"""The least rate of running means of sizes, so that they follow a changing world."""

ALIKE = 25.0
"""A feature whose mean square is more than this times the mean of the smaller ones, which are most, stands alone."""

LEAST = 1e-200
"""A mean square below this counts as 0, as its inverse may overflow."""

MOST = 1e280
"""The most that a pair is charged in a round."""


@aside
def acceptable(numbers: Pointer, count: int) -> bool:
    """Tell whether every number is finite and at most 1e100 in size."""
    wrong = 0
    for k in range(count):
        wrong += not abs(numbers[k]) <= LARGEST
    return wrong == 0


@helper
def _tolerance(rounds: float) -> float:
    return EARLY if rounds < LEARNT else LATE


@helper
def _rate(rounds: float) -> float:
    return max(1.0 / (rounds + 1.0), SLOWEST)


@helper
def clipped(size: float, usual: float, last: float, rounds: float, reach: float) -> float:
    """Return a size of at least 0, clipped to what may be true; the first one as far as decisions can reach.

    What is far beyond the limit is no jump, but a mistake: it counts as little as an ordinary surprise.
    """
    if rounds == 0.0:
        return min(size, reach) if reach > 0.0 else size
    limit = _tolerance(rounds) * max(usual, last)
    if size <= limit or limit == 0.0:
        return size
    return 2.0 * usual if size > ABSURD * limit and usual > 0.0 else limit


@aside
def _link(address: int, terms: Pointer, z: float, y: float, room: Pointer) -> float:
    """Return the link or its slope, by its address, at one score."""
    room[0], room[1] = z, y
    call(address, room, part(room, 1), at(terms, SHAPE), 1, part(room, 2))
    return float(room[2])


@aside
def score_slope(v: Pointer, terms: Pointer, score: float) -> float:
    """Return the slope of this round's loss at a score, both in units of its curvature."""
    root = v[slot.ROOT]
    if root == 0.0:
        return 0.0
    slope: float = _link(whole_at(terms, SLOPE), terms, score / root, at(v, slot.TARGETS)[0], at(v, slot.SCRATCH))
    return float(slope / root)


@aside
def _score_pairs(v: Pointer, terms: Pointer, x: Pointer, y: float, out: Pointer) -> None:
    """Write the loss of every pair for features and a target."""
    d, points, room, link = whole_at(v, slot.DIM), at(v, slot.POINTS), at(v, slot.SCRATCH), whole_at(terms, VALUE)
    for i in range(0, whole_at(v, slot.LANES), 4):
        z = splat(0.0)
        for k in range(d):
            z = z + x[k] * load(points, i * d + 4 * k)
        store(out, i, z)
        for lane in range(i, i + 4):
            out[lane] = min(_link(link, terms, out[lane], y, room), MOST)


@aside
def _score(v: Pointer, x: Pointer, w: Pointer) -> float:
    z = 0.0
    for k in range(whole_at(v, slot.DIM)):
        z += x[k] * w[k]
    return z


@aside
def _shrink(v: Pointer, raw: Pointer, out: Pointer) -> float:
    """Write features without more leverage than may be true, and return what they were multiplied by."""
    d, rounds, leverage, known = whole_at(v, slot.DIM), v[slot.ROUNDS], 0.0, 0.0
    squares = at(v, slot.SQUARES)
    for k in range(d):
        if squares[k] > LEAST:
            leverage += raw[k] / squares[k] * raw[k]
            known += 1.0
    leverage = min(math.sqrt(leverage / known), 1e150) if known > 0.0 else 0.0
    share = 1.0
    if leverage > 0.0:
        allowed = clipped(leverage, 1.0, v[slot.LEVERAGE], rounds, 0.0)
        share = allowed / leverage
    v[slot.LEVERAGE] = min(leverage, 1e100)
    for k in range(d):
        out[k] = share * raw[k]
    return share


@aside
def _without_shared(v: Pointer, numbers: Pointer) -> None:
    """Subtract from numbers their mean over each simplex, which all points of it share."""
    for b in range(whole_at(v, slot.SIMPLICES)):
        edges = part(at(v, slot.EDGES), 2 * b)
        first, last, mean = int(edges[0]), int(edges[1]), 0.0
        for k in range(first, last):
            mean += numbers[k] / (edges[1] - edges[0])
        for k in range(first, last):
            numbers[k] -= mean


@aside
def _study_features(v: Pointer) -> None:
    """Take the features on the board into their moments, and write what their sizes are."""
    d, n, tangent, moments = whole_at(v, slot.DIM), v[slot.ROUNDS] + 1.0, at(v, slot.TANGENT), at(v, slot.MOMENTS)
    squares, scales, full = at(v, slot.SQUARES), at(v, slot.SCALES), v[slot.FULL] > 0.0
    for i in range(d):
        squares[i] += (tangent[i] * tangent[i] - squares[i]) / n
        scales[i] = squares[i]
        if full:
            row, xi = part(moments, i * d), tangent[i]
            for k in range(d):
                row[k] += (xi * tangent[k] - row[k]) / n
        else:
            moments[i] = squares[i]
    for b in range(whole_at(v, slot.SIMPLICES)):
        edges = part(at(v, slot.EDGES), 2 * b)
        mean = 0.0
        for k in range(int(edges[0]), int(edges[1])):
            mean += squares[k] / (edges[1] - edges[0])
        for k in range(int(edges[0]), int(edges[1])):
            scales[k] = mean
    if n < 64.0 or n % 16.0 == 0.0:
        _rank(v, scales, at(v, slot.SCRATCH))
    _size_up(v, scales, at(v, slot.SIZES))
    if v[slot.TRACE] > LEAST and v[slot.ROOT] > 0.0:
        v[slot.PRIMED] += 1.0


@aside
def _size_up(v: Pointer, scales: Pointer, sizes: Pointer) -> None:
    """Write the size of each feature: the mean of all, or its own if it is far larger than most.

    So a feature in a smaller unit, with larger numbers, leaves the sizes of the others as they are.
    """
    d, sum_, count, limit = whole_at(v, slot.DIM), 0.0, 0.0, v[slot.LARGE]
    for k in range(d):
        if LEAST < scales[k] <= limit:
            sum_ += scales[k]
            count += 1.0
    v[slot.TRACE] = sum_ / count if count > 0.0 else 0.0
    for k in range(d):
        sizes[k] = scales[k] if scales[k] > limit else v[slot.TRACE]


@aside
def _rank(v: Pointer, scales: Pointer, room: Pointer) -> None:
    """Find the median of the mean squares of features that are not 0, and from where on they are larger than most."""
    n, sum_ = 0, 0.0
    for i in range(whole_at(v, slot.DIM)):
        k, value = n, scales[i]
        if value > LEAST:
            while k > 0 and room[k - 1] > value:
                room[k] = room[k - 1]
                k -= 1
            room[k] = value
            n += 1
    v[slot.MEDIAN], v[slot.LARGE] = 0.5 * (room[(n - 1) // 2] + room[n // 2]) if n > 0 else 0.0, math.inf
    for k in range(n):
        if 2 * k > n and room[k] * k > ALIKE * sum_ and v[slot.LARGE] == math.inf:
            v[slot.LARGE] = room[k - 1]
        sum_ += room[k]


@aside
def _watch_steady(v: Pointer, x: Pointer) -> None:
    """Note which features have never changed: with one of them there is no room for an intercept."""
    first, steady, free = at(v, slot.FIRST), at(v, slot.STEADY), 1.0
    for k in range(whole_at(v, slot.DIM)):
        if v[slot.ROUNDS] == 0.0:
            first[k], steady[k] = x[k], 1.0 if x[k] != 0.0 else 0.0
        elif x[k] != first[k]:
            steady[k] = 0.0
        if steady[k] > 0.0 and v[slot.ROUNDS] > 0.0:
            free = 0.0
    v[slot.NUISANCE] = free


@aside
def _bend(v: Pointer, terms: Pointer, z: float, y: float, usual: float, curve: float, rounds: float) -> float:
    """Return the running mean of the link's curvature with this round in it."""
    if v[slot.BEND] > 0.0:
        return float(v[slot.BEND])
    if not usual > LEAST:
        return curve
    room = at(v, slot.SCRATCH)
    slope = whole_at(terms, SLOPE)
    rise = _link(slope, terms, z + usual, y, room) - _link(slope, terms, z - usual, y, room)
    return curve + (0.5 * rise / usual - curve) * _rate(rounds)


@plugin(JUDGE)
def judge_score(v: Pointer, terms: Pointer, features: Pointer, target: Pointer) -> int:
    """Read a loss of a score: clip it, write everybody's loss, and put features in units of its curvature."""
    d, rounds, raw, x = whole_at(v, slot.DIM), v[slot.ROUNDS], at(v, slot.RAW), at(v, slot.X)
    room, decision, shifted = at(v, slot.SCRATCH), at(v, slot.DECISION), v[slot.SHIFTED] > 0.0
    for k in range(d):
        raw[k] = terms[TAP] * features[k]
    if not (acceptable(raw, d) and acceptable(target, 1)):
        return REFUSED
    link = whole_at(terms, VALUE)
    truth = _link(link, terms, _score(v, raw, decision), target[0], room)
    if not abs(truth) <= MOST:
        return REFUSED
    _watch_steady(v, raw)
    share = _shrink(v, raw, x)
    z, y = _score(v, x, decision), share * target[0] if shifted else target[0]
    gap = abs(z - y)
    reach = v[slot.HALF_WIDTH] * math.sqrt(_score(v, x, x)) if rounds == 0.0 else 0.0
    kept = clipped(gap, math.sqrt(v[slot.SQUARE]), v[slot.LAST_SIZE], rounds, reach) if shifted else gap
    if kept < gap:
        y = z - kept if z > y else z + kept
    v[slot.LAST_SIZE] = gap
    v[slot.SQUARE] += (kept * kept - v[slot.SQUARE]) * _rate(rounds)
    v[slot.CURVE] = _bend(v, terms, z, y, math.sqrt(v[slot.SQUARE]), v[slot.CURVE], rounds)
    root = math.sqrt(max(v[slot.CURVE], 0.0))
    v[slot.ROOT], at(v, slot.TARGETS)[0] = root, y
    v[slot.SUFFERED] = _link(link, terms, z, y, room)
    _score_pairs(v, terms, x, y, at(v, slot.VALUES))
    for e in range(whole_at(v, slot.ESTIMATORS)):
        z = _score(v, x, part(at(v, slot.PROPOSALS), e * d))
        at(v, slot.OFFERED)[e] = min(_link(link, terms, z, y, room), MOST)
    if kept < gap or share < 1.0:
        _score_pairs(v, terms, raw, target[0], at(v, slot.CHARGES))
        _note_cut(v, truth)
    tangent, z = at(v, slot.TANGENT), _score(v, x, at(v, slot.START))
    for k in range(d):
        tangent[k] = x[k]
    _without_shared(v, tangent)
    _study_features(v)
    for k in range(d):
        x[k] *= root
        tangent[k] *= root
        at(v, slot.SCALES)[k] *= v[slot.CURVE]
        at(v, slot.SIZES)[k] *= v[slot.CURVE]
    x[d] = tangent[d] = root * v[slot.NUISANCE]
    slope = score_slope(v, terms, root * z)
    v[slot.REFERENCE] += (slope * slope - v[slot.REFERENCE]) / (rounds + 1.0)
    return OK


@aside
def _note_cut(v: Pointer, truth: float) -> None:
    """Note what clipping took off the losses, whose true values are where charges will be."""
    for i in range(whole_at(v, slot.LANES)):
        at(v, slot.CUT)[i] += at(v, slot.CHARGES)[i] - at(v, slot.VALUES)[i]
    v[slot.BEYOND] += truth - v[slot.SUFFERED]
    v[slot.CLIPS] += 1.0


@aside
def _each_pairs(v: Pointer, terms: Pointer, targets: Pointer, out: Pointer) -> None:
    """Write the loss of every pair for a target of each coordinate."""
    d, points, trial = whole_at(v, slot.DIM), at(v, slot.POINTS), at(v, slot.TRIAL)
    for lane in range(whole_at(v, slot.LANES)):
        point = part(points, (lane - lane % 4) * d + lane % 4)
        for k in range(d):
            trial[k] = point[4 * k]
        call(whole_at(terms, VALUE), trial, targets, at(terms, SHAPE), d, part(out, lane))
        out[lane] = min(out[lane], MOST)


@helper
def _all_ones(v: Pointer) -> None:
    """Put a loss of each coordinate on the board as if it had features: all of them are 1."""
    d, square = whole_at(v, slot.DIM), 0.0
    for k in range(d):
        at(v, slot.X)[k] = at(v, slot.TANGENT)[k] = at(v, slot.SCALES)[k] = at(v, slot.SIZES)[k] = 1.0
        gap = at(v, slot.TARGETS)[k] - at(v, slot.START)[k]
        square += gap * gap
    at(v, slot.X)[d] = at(v, slot.TANGENT)[d] = 0.0
    v[slot.REFERENCE] += (square / d - v[slot.REFERENCE]) / (v[slot.ROUNDS] + 1.0)
    v[slot.CURVE] = v[slot.ROOT] = v[slot.TRACE] = v[slot.MEDIAN] = 1.0
    v[slot.PRIMED] += 1.0


@plugin(JUDGE)
def judge_each(v: Pointer, terms: Pointer, aims: Pointer, unused: Pointer) -> int:
    """Read a loss of each coordinate: clip its targets one by one, and write everybody's loss."""
    d, rounds, decision, targets = whole_at(v, slot.DIM), v[slot.ROUNDS], at(v, slot.DECISION), at(v, slot.TARGETS)
    room, squares, lasts, cut = at(v, slot.SCRATCH), at(v, slot.SQUARES), at(v, slot.LASTS), 0
    value, slope, shape = whole_at(terms, VALUE), whole_at(terms, SLOPE), at(terms, SHAPE)
    if not acceptable(aims, d):
        return REFUSED
    call(value, decision, aims, shape, d, room)
    truth = room[0]
    if not abs(truth) <= MOST:
        return REFUSED
    for k in range(d):
        gap = abs(decision[k] - aims[k])
        kept = clipped(gap, math.sqrt(squares[k]), lasts[k], rounds, v[slot.HALF_WIDTH])
        targets[k] = aims[k]
        if kept < gap:
            targets[k] = decision[k] - kept if decision[k] > aims[k] else decision[k] + kept
            cut = 1
        lasts[k] = gap
        squares[k] += (kept * kept - squares[k]) * _rate(rounds)
    call(value, decision, targets, shape, d, room)
    v[slot.SUFFERED] = room[0]
    _each_pairs(v, terms, targets, at(v, slot.VALUES))
    for e in range(whole_at(v, slot.ESTIMATORS)):
        call(value, part(at(v, slot.PROPOSALS), e * d), targets, shape, d, room)
        at(v, slot.OFFERED)[e] = min(room[0], MOST)
    if cut > 0:
        _each_pairs(v, terms, aims, at(v, slot.CHARGES))
        _note_cut(v, truth)
    _all_ones(v)
    curves, high = at(v, slot.CURVES), part(room, d)
    if v[slot.BEND] > 0.0:
        for k in range(d):
            curves[k] = v[slot.BEND]
    else:
        for k in range(d):
            room[k], high[k] = decision[k] - math.sqrt(squares[k]), decision[k] + math.sqrt(squares[k])
        call(slope, room, targets, shape, d, room)
        call(slope, high, targets, shape, d, high)
        for k in range(d):
            if squares[k] > LEAST:
                bend = 0.5 * (high[k] - room[k]) / math.sqrt(squares[k])
                curves[k] += (bend - curves[k]) * _rate(rounds)
    return OK


@plugin(JUDGE)
def judge_gradient(v: Pointer, unused: Pointer, gradient: Pointer, nothing: Pointer) -> int:
    """Read a gradient: clip its length, and write everybody's linearised loss above that of the decision."""
    d, decision, g = whole_at(v, slot.DIM), at(v, slot.DECISION), at(v, slot.TARGETS)
    raw, unit, points = at(v, slot.RAW), at(v, slot.X), at(v, slot.POINTS)
    if not acceptable(gradient, d):
        return REFUSED
    largest, size = 0.0, 0.0
    for k in range(d):
        raw[k] = gradient[k]
    _without_shared(v, raw)
    for k in range(d):
        largest = max(largest, abs(raw[k]))
    for k in range(d):
        unit[k] = raw[k] / largest if largest > 0.0 else 0.0
        size += unit[k] * unit[k]
    size = math.sqrt(size)
    length, share = largest * size, 1.0
    if length > 0.0:
        kept = clipped(length, math.sqrt(v[slot.SQUARE]), v[slot.LAST_SIZE], v[slot.PRIMED], 0.0)
        share = kept / length
        v[slot.SQUARE] += (kept * kept - v[slot.SQUARE]) * _rate(v[slot.PRIMED])
        v[slot.LAST_SIZE], v[slot.LONGEST] = length, max(v[slot.LONGEST], kept)
        v[slot.LENGTH], v[slot.ROOT] = kept, 1.0
        v[slot.ENERGY] += kept * kept
    else:
        v[slot.LENGTH] = v[slot.ROOT] = 0.0
    for k in range(d):
        unit[k] = unit[k] / size if size > 0.0 else 0.0
        g[k] = share * raw[k]
    v[slot.SUFFERED] = 0.0
    values, cut = at(v, slot.VALUES), at(v, slot.CUT)
    for i in range(0, whole_at(v, slot.LANES), 4):
        inner = splat(0.0)
        for k in range(d):
            inner = inner + g[k] * (load(points, i * d + 4 * k) - splat(decision[k]))
        store(values, i, inner)
        if share < 1.0:
            store(cut, i, load(cut, i) + (1.0 / share - 1.0) * inner)
    if share < 1.0:
        v[slot.CLIPS] += 1.0
    for e in range(whole_at(v, slot.ESTIMATORS)):
        u, inner0 = part(at(v, slot.PROPOSALS), e * d), 0.0
        for k in range(d):
            inner0 += g[k] * (u[k] - decision[k])
        at(v, slot.OFFERED)[e] = inner0
    if length > 0.0:
        v[slot.PRIMED] += 1.0
        _study_directions(v, unit)
    return OK


@aside
def _study_directions(v: Pointer, unit: Pointer) -> None:
    """Take the direction of a gradient into the moments, and put it on the board as features."""
    d, n, moments = whole_at(v, slot.DIM), v[slot.PRIMED], at(v, slot.MOMENTS)
    full = v[slot.FULL] > 0.0
    for i in range(d):
        at(v, slot.TANGENT)[i] = unit[i]
        if full:
            for k in range(d):
                moments[i * d + k] += (unit[i] * unit[k] - moments[i * d + k]) / n
        else:
            moments[i] += (unit[i] * unit[i] - moments[i]) / n
        at(v, slot.SCALES)[i] = moments[i * d + i] if full else moments[i]
    unit[d] = at(v, slot.TANGENT)[d] = 0.0
    v[slot.CURVE], v[slot.TRACE] = 1.0, 1.0 / d
    for e in range(whole_at(v, slot.ESTIMATORS)):
        at(v, slot.BENDS)[e] = 0.5 * v[slot.LONGEST] / v[slot.HALF_WIDTH]
