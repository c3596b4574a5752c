"""Entry points: one round by hand, a hint, and whole runs (act, suffer, observe, for every round of a stream)."""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from driftwise._compile import LARGEST, brief, compile_around, entry, helper
from driftwise._memory import Array, Pointer, at, call, find, part, whole_at
from driftwise.engine import layout as slot
from driftwise.engine.rounds import MISFIT, OK, lane_of, learn, learn_own, write_weights
from driftwise.losses.kernels import unary_loss, unary_slopes, window_loss


@brief
def observe(cell: Array, gradient: Array) -> int:
    """One round by hand, with the gradient at the decision for all base-learners."""
    if gradient.size != cell[slot.DIM]:
        return MISFIT
    return learn(part(cell, 0), part(gradient, 0))


@helper
def _write_own(cell: Pointer, member: int, gradient: Pointer, value: float) -> None:
    """Put a base-learner's own gradient and loss where the round looks for them."""
    d, i = whole_at(cell, slot.DIM), lane_of(cell, member)
    room = at(cell, slot.ROOM_AT)
    wide = part(find(room, cell, slot.GRADIENT), (i - i % 4) * d + i % 4)
    for k in range(d):
        wide[4 * k] = gradient[k]
    find(room, cell, slot.VALUES)[i] = value


@brief
def observe_own(cell: Array, gradients: Array, values: Array) -> int:
    """One round by hand, with a gradient and a loss at every base-learner's own point."""
    for member in range(values.size):
        _write_own(part(cell, 0), member, part(gradients, member * gradients.shape[1]), values[member])
    return learn_own(part(cell, 0))


@brief
def act_on_hint(cell: Array, address: int, guess: Array) -> None:
    """Take a guess of the gradient to come; its numbers have been checked. `address` is that of ``hints.take_hint``."""
    c = part(cell, 0)
    room = find(cell, c, slot.ROOM_AT)
    for k in range(guess.size):
        find(room, c, slot.ROW)[k] = guess[k]
    call(address, c, find(cell, c, slot.STATE_AT), room)


class Books(NamedTuple):
    """What is written down in a run, one row a round; weights without rows are not wanted."""

    decisions: Array
    losses: Array
    moves: Array
    weights: Array


@helper
def _note(cell: Pointer, t: int, decisions: Pointer, moves: Array, weights: Array) -> None:
    """Record the decision of round t, its distance from the last one, and the weights if they are wanted."""
    d, decision, square = whole_at(cell, slot.DIM), at(cell, slot.DECISION_AT), 0.0
    now, before = part(decisions, t * d), part(decisions, max(t - 1, 0) * d)
    for k in range(d):
        now[k] = decision[k]
        square += (now[k] - before[k]) * (now[k] - before[k])
    moves[t] = math.sqrt(square)
    if weights.shape[0] > 0:
        write_weights(cell, part(weights, t * weights.shape[1]))


@entry
def run_stream(cell: Array, terms: Array, features: Array, targets: Array, books: Books, span: tuple[int, int]) -> int:
    """Play rounds of a built-in stream, from the first of `span` on, and return in front of which round it ended.

    One before the end of `span` had bad numbers. Books are those of the whole run, whatever part of it is played.
    """
    losses = books.losses
    c, loss, path = part(cell, 0), part(terms, 0), part(books.decisions, 0)
    d, slope = whole_at(c, slot.DIM), find(at(c, slot.ROOM_AT), c, slot.ROW)
    for t in range(span[0], span[1]):
        _note(c, t, path, books.moves, books.weights)
        x, y = part(features, t * d), part(targets, t)
        window_loss(loss, x, y, path, t, d, part(losses, t))
        if not math.isfinite(losses[t]):
            return t
        unary_slopes(loss, x, y, part(path, t * d), d, slope)
        if learn(c, slope) != OK:
            return t
    return span[1]


@entry
def run_own(cell: Array, terms: Array, features: Array, targets: Array, books: Books, span: tuple[int, int]) -> int:
    """`run_stream` where every base-learner has the gradient and the loss at its own point."""
    losses = books.losses
    c, loss, path = part(cell, 0), part(terms, 0), part(books.decisions, 0)
    s, room, d = at(c, slot.STATE_AT), at(c, slot.ROOM_AT), whole_at(c, slot.DIM)
    w, slope = find(room, c, slot.TRIAL), find(room, c, slot.ROW)
    for t in range(span[0], span[1]):
        _note(c, t, path, books.moves, books.weights)
        x, y = part(features, t * d), part(targets, t)
        window_loss(loss, x, y, path, t, d, part(losses, t))
        if not math.isfinite(losses[t]):
            return t
        for member in range(whole_at(s, slot.ACTIVE) * whole_at(c, slot.KINDS)):
            i = lane_of(c, member)
            point = part(find(s, c, slot.POINTS), (i - i % 4) * d + i % 4)
            for k in range(d):
                w[k] = point[4 * k]
            unary_slopes(loss, x, y, w, d, slope)
            value = part(find(room, c, slot.VALUES), i)
            unary_loss(loss, x, y, w, d, value)
            _write_own(c, member, slope, value[0])
        if learn_own(c) != OK:
            return t
    return span[1]


@brief
def note(cell: Array, t: int, decisions: Array, moves: Array, weights: Array) -> None:
    """`_note` as a function that is compiled once and kept, so that `run_custom` has little left to compile."""
    _note(part(cell, 0), t, part(decisions, 0), moves, weights)


def _run_custom(
    cell: Array,
    value: Callable[..., float],
    gradient: Callable[..., Array],
    memory: int,
    books: Books,
    span: tuple[int, int],
) -> int:
    """Play rounds of a stream given by two compiled functions; the same loop as `run_stream`."""
    decisions, losses, dim = books.decisions, books.losses, books.decisions.shape[1]
    window = np.empty((memory + 1, dim))
    for t in range(span[0], span[1]):
        note(cell, t, decisions, books.moves, books.weights)
        for j in range(memory + 1):
            window[j] = decisions[max(t - memory + j, 0)]
        losses[t] = value(t, window)
        if not abs(losses[t]) <= LARGEST:
            return t
        slope = gradient(t, decisions[t].copy())
        if slope.size != dim or observe(cell, slope.copy()) != OK:
            return t
    return span[1]


# Specialised for each pair of user functions, so there is nothing to keep on disk.
run_custom = compile_around(_run_custom)
