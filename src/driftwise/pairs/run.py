"""Entry points of a pool: a decision, a round by hand, and whole runs."""

import math

from driftwise._compile import brief, entry, helper
from driftwise._memory import Array, Pointer, at, call, part, whole_at
from driftwise.engine.run import Books
from driftwise.losses.kernels import SHAPE, SLOPE, unary_slopes, window_loss
from driftwise.pairs import layout as slot
from driftwise.pairs.judging import OK, score_slope


@helper
def _learn(v: Pointer, scream: Pointer, terms: Pointer, features: Pointer, target: Pointer) -> int:
    return int(call(whole_at(v, slot.LEARN_CALL), v, terms, features, target, scream))


@brief
def decide(pool: Array, scream: Array) -> None:
    """Move the pairs and write the decision."""
    v = part(pool, 0)
    call(whole_at(v, slot.DECIDE_CALL), v, part(scream, 0))


@brief
def reweigh(pool: Array) -> None:
    """Write the weights anew, after newcomers have joined."""
    v = part(pool, 0)
    call(whole_at(v, slot.WEIGH_CALL), v)


@brief
def observe_loss(pool: Array, scream: Array, terms: Array, features: Array, targets: Array, t: int) -> int:
    """Learn from round t of a built-in stream."""
    v = part(pool, 0)
    d = whole_at(v, slot.DIM)
    return _learn(v, part(scream, 0), part(terms, 0), part(features, t * d), part(targets, t))


@brief
def observe_gradient(pool: Array, scream: Array, gradient: Array) -> int:
    """Learn from a gradient at the decision."""
    v, g = part(pool, 0), part(gradient, 0)
    return _learn(v, part(scream, 0), g, g, g)


@brief
def observe_aside(pool: Array, scream: Array, gradient: Array) -> int:
    """Learn from a gradient in a pool that was made for whole losses."""
    v = part(pool, 0)
    return int(call(whole_at(v, slot.ASIDE_CALL), v, part(gradient, 0), part(scream, 0)))


@brief
def slopes_at(pool: Array, terms: Array, scores: Array, out: Array) -> None:
    """Write the slopes of the round's loss at scores, in units of its curvature; or at the coordinates of a point."""
    v, loss = part(pool, 0), part(terms, 0)
    if v[slot.FORM] == slot.EACH:
        call(whole_at(loss, SLOPE), part(scores, 0), at(v, slot.TARGETS), at(loss, SHAPE), out.size, part(out, 0))
    else:
        for i in range(out.size):
            out[i] = score_slope(v, loss, scores[i])


@helper
def _take(v: Pointer, proposals: Array, t: int) -> None:
    """Write the proposals that are given for round t; a row that begins with NaN is missing."""
    d, first = whole_at(v, slot.DIM), whole_at(v, slot.FIRST_GIVEN)
    for j in range(whole_at(v, slot.GIVEN)):
        given, u = part(proposals, (t * whole_at(v, slot.GIVEN) + j) * d), part(at(v, slot.PROPOSALS), (first + j) * d)
        here = given[0] == given[0]
        at(v, slot.PRESENT)[first + j] = 1.0 if here else 0.0
        if here:
            for k in range(d):
                u[k] = given[k]


@entry
def run_pairs(
    pool: Array,
    scream: Array,
    terms: Array,
    features: Array,
    targets: Array,
    proposals: Array,
    books: Books,
    span: tuple[int, int],
) -> int:
    """Play rounds of a built-in stream; `span` and what is returned are those of `engine.run.run_stream`."""
    losses, weights = books.losses, books.weights
    v, other, loss, path = part(pool, 0), part(scream, 0), part(terms, 0), part(books.decisions, 0)
    d = whole_at(v, slot.DIM)
    for t in range(span[0], span[1]):
        if v[slot.ROUNDS] > 0.0 and v[slot.DECIDED] == 0.0:  # the first decision is the start
            if whole_at(v, slot.GIVEN) > 0:
                _take(v, proposals, t)
            call(whole_at(v, slot.DECIDE_CALL), v, other)
        v[slot.DECIDED] = 0.0
        now, before, square = part(path, t * d), part(path, max(t - 1, 0) * d), 0.0
        for k in range(d):
            now[k] = at(v, slot.DECISION)[k]
            square += (now[k] - before[k]) * (now[k] - before[k])
        books.moves[t] = math.sqrt(square)
        if weights.shape[0] > 0:
            for i in range(weights.shape[1]):
                weights[t, i] = at(v, slot.WEIGHTS)[i]
        x, y = part(features, t * d), part(targets, t)
        window_loss(loss, x, y, path, t, d, part(losses, t))
        if not math.isfinite(losses[t]):
            return t
        if v[slot.FORM] == slot.GRADIENT:
            slope = at(v, slot.TRIAL)
            unary_slopes(loss, x, y, now, d, slope)
            x, y = slope, slope
        if _learn(v, other, loss, x, y) != OK:
            return t
    return span[1]
