"""A whole run in compiled code: act, suffer, observe, for every round of a loss stream."""

import math
from collections.abc import Callable
from typing import Any

import numba
import numpy as np

from driftwise._compile import LARGEST, hot, inlined
from driftwise._validate import Array
from driftwise.engine.kernels import OK, observe_shared, one_round
from driftwise.engine.layout import ACTIVE, COUNT, DIM, Integers, Views, config, views
from driftwise.losses.kernels import LossData, policy_value, unary_gradient, unary_value


@inlined
def _write_down(t: int, counters: Integers, v: Views, decisions: Array, moves: Array, weights: Array) -> None:
    """Note the decision of round t, how far it is from the last one, and the weights if they are wanted."""
    decision, mixing = v.decision, v.weights
    before = max(t - 1, 0)
    total = 0.0
    for k in range(decision.shape[1]):
        decisions[t, k] = decision[0, k]
        total += (decisions[t, k] - decisions[before, k]) ** 2
    moves[t] = math.sqrt(total)
    if weights.shape[0] > 0:
        for i in range(counters[ACTIVE]):
            weights[t, i] = mixing[i]


@hot
def run_stream(
    integers: Integers,
    floats: Array,
    counters: Integers,
    state: Array,
    own: bool,
    data: LossData,
    gradients: Array,
    values: Array,
    decisions: Array,
    losses: Array,
    moves: Array,
    weights: Array,
) -> int:
    """Play a built-in stream and return the number of rounds played; fewer than asked means bad numbers.

    `gradients` and `values` are room to work in: a row for every base-learner with `own`, else one row.
    """
    c, v = config(integers, floats), views(state, integers[COUNT], integers[DIM])
    for t in range(decisions.shape[0]):
        _write_down(t, counters, v, decisions, moves, weights)
        losses[t] = policy_value(data, t, decisions, t)
        if not math.isfinite(losses[t]):
            return t
        if own:
            for i in range(counters[ACTIVE]):
                unary_gradient(data, t, v.points, i, gradients, i)
                values[0, i] = unary_value(data, t, v.points, i)
        else:
            unary_gradient(data, t, v.decision, 0, gradients, 0)
        if one_round(c, counters, v, own, gradients, values) != OK:
            return t
    return len(decisions)


@hot
def _note(
    integers: Integers, counters: Integers, state: Array, t: int, decisions: Array, moves: Array, weights: Array
) -> None:
    """`_write_down` as a function that is compiled once and kept, so that `_run_custom` has little left to compile."""
    _write_down(t, counters, views(state, integers[COUNT], integers[DIM]), decisions, moves, weights)


def _run_custom(
    integers: Integers,
    floats: Array,
    counters: Integers,
    state: Array,
    value: Callable[..., float],
    gradient: Callable[..., Array],
    memory: int,
    decisions: Array,
    losses: Array,
    moves: Array,
    weights: Array,
) -> int:
    """Play a stream given by two compiled functions; the same loop as `run_stream`."""
    rounds, dim = len(decisions), decisions.shape[1]
    window = np.empty((memory + 1, dim))
    for t in range(rounds):
        _note(integers, counters, state, t, decisions, moves, weights)
        for j in range(memory + 1):
            window[j] = decisions[max(t - memory + j, 0)]
        losses[t] = value(t, window)
        if not abs(losses[t]) <= LARGEST:
            return t
        slope = gradient(t, decisions[t].copy())
        if slope.size != dim or observe_shared(integers, floats, counters, state, slope.copy()) != OK:
            return t
    return rounds


# Specialised for each pair of user functions, so there is nothing to keep on disk.
run_custom: Callable[..., Any] = numba.njit(error_model="numpy", nogil=True)(_run_custom)
