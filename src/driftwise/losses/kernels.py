"""Compiled values and gradients of built-in streams, whatever the loss: a loss is data and two plugins.

Every built-in loss is a *link*, a convex function of a number z and its target y. It is applied to the filtered score
``z_t = sum_k taps[k] <x_t, w_{t-k}>`` with the target of the round, or to each coordinate of the decision with a target
of its own, and summed. The link is two plugins with the same arguments: pointers to z, the targets and the parameters
(parameter j of coordinate i at ``j n + i``), n, which is 1 for a score, and a pointer to the output: the sum of the
losses, or each slope. Both may write where they read.

Everything except features and targets, which are the stream's own, is passed to compiled code as one vector of *terms*.
It contains addresses of machine code, so it is valid only in the process that made it.
"""

import math

import numpy as np

from driftwise._compile import entry, helper, plugin
from driftwise._memory import Pointer, at, call, part, whole_at
from driftwise._validate import Array
from driftwise.domains.kernels import dot

link = plugin("int64(P, P, P, int64, P)")
"""Decorator that makes a plugin of a link: its arguments are z, targets, parameters, their number, and the output."""

VALUE, SLOPE, EACH, TAP, TAPS, SHAPE, FIRST_TAP = 0, 1, 2, 3, 4, 5, 6
"""Places of the terms: the addresses of the link's plugins, whether it is applied to each coordinate, the sum of the
taps, how many taps, where the parameters begin, the first tap."""


def loss_terms(value: int, slope: int, each: bool, taps: Array, shape: Array) -> Array:
    """Return all that compiled code reads of a stream besides its features and targets."""
    return np.concatenate([[value, slope, each, held_tap(taps), taps.size, FIRST_TAP + taps.size], taps, shape.ravel()])


def held_tap(taps: Array) -> float:
    """Return the sum of the taps, added in order: the filter's effect on a decision that is held."""
    return float(np.cumsum(taps)[-1])


@helper
def _apply(terms: Pointer, which: int, x: Pointer, y: Pointer, w: Pointer, d: int, out: Pointer) -> None:
    """Call one of the link's plugins at a decision that is held: for each coordinate, or for its score."""
    z, aims, n = w, x, d
    if terms[EACH] == 0.0:
        out[0] = terms[TAP] * dot(x, w, d)
        z, aims, n = out, y, 1
    call(whole_at(terms, which), z, aims, at(terms, SHAPE), n, out)


@helper
def unary_loss(terms: Pointer, x: Pointer, y: Pointer, w: Pointer, d: int, out: Pointer) -> None:
    """Write f~(w) = f(w, ..., w) of a round with these features and this target."""
    _apply(terms, VALUE, x, y, w, d, out)


@helper
def unary_slopes(terms: Pointer, x: Pointer, y: Pointer, w: Pointer, d: int, out: Pointer) -> None:
    """Write the gradient of f~ at w."""
    _apply(terms, SLOPE, x, y, w, d, out)
    if terms[EACH] == 0.0:
        slope = terms[TAP] * out[0]
        for k in range(d):
            out[k] = slope * x[k]


@helper
def window_loss(terms: Pointer, x: Pointer, y: Pointer, decisions: Pointer, last: int, d: int, out: Pointer) -> None:
    """Write f of the decisions that end at row `last`; before the first row, the first decision is repeated."""
    if terms[TAPS] == 1.0:
        unary_loss(terms, x, y, part(decisions, last * d), d, out)
        return
    z = 0.0
    for j in range(whole_at(terms, TAPS)):
        w, tap = part(decisions, max(last - j, 0) * d), terms[FIRST_TAP + j]
        for k in range(d):
            z += tap * x[k] * w[k]
    out[0] = z
    call(whole_at(terms, VALUE), out, y, at(terms, SHAPE), 1, out)


@entry
def policy_values(terms: Array, features: Array, targets: Array, first: int, decisions: Array, out: Array) -> None:
    """Write f_t for as many rounds as `out` holds, from `first` on; the last round is at the last of the decisions."""
    d, last = decisions.shape[1], decisions.shape[0] - out.size
    for row in range(out.size):
        x, y = part(features, (first + row) * d), part(targets, first + row)
        window_loss(part(terms, 0), x, y, part(decisions, 0), last + row, d, part(out, row))


@entry
def unary_values(terms: Array, features: Array, targets: Array, first: int, decisions: Array, out: Array) -> None:
    """Write f~_t(w_t) for as many rounds as `out` holds, from `first` on; a single row of decisions is held for all."""
    last, d = decisions.shape[0] - 1, decisions.shape[1]
    for row in range(out.size):
        x, y, w = part(features, (first + row) * d), part(targets, first + row), part(decisions, min(row, last) * d)
        unary_loss(part(terms, 0), x, y, w, d, part(out, row))


@entry
def unary_gradients(terms: Array, features: Array, targets: Array, first: int, decisions: Array, out: Array) -> None:
    """Write the gradient of f~_t at w_t for as many rounds as `out` holds, from `first` on, as `unary_values` does."""
    last, d = decisions.shape[0] - 1, decisions.shape[1]
    for row in range(out.shape[0]):
        x, y, w = part(features, (first + row) * d), part(targets, first + row), part(decisions, min(row, last) * d)
        unary_slopes(part(terms, 0), x, y, w, d, part(out, row * d))


@entry
def steepest(terms: Array, features: Array, targets: Array, low: Array, high: Array, room: Array) -> float:
    """Return the largest |slope| * |x_t| when the score of round t ranges from low[t] to high[t]."""
    loss, ends, worst = part(terms, 0), part(room, 0), 0.0
    for t in range(low.size):
        norm = 0.0
        for k in range(features.shape[1]):
            norm += features[t, k] ** 2
        steep = 0.0
        for side in range(2):
            ends[0] = high[t] if side == 1 else low[t]
            call(whole_at(loss, SLOPE), ends, part(targets, t), at(loss, SHAPE), 1, ends)
            steep = max(steep, abs(ends[0]))
        worst = max(worst, steep * math.sqrt(norm))
    return worst
