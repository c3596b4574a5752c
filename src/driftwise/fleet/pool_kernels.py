"""Rounds of many self-tuned learners, compiled: each is copied into one vector with scratch space, and back."""

import numpy as np
from numpy.typing import NDArray

from driftwise._compile import entry, helper
from driftwise._memory import Array, Pointer, call, part, whole_at
from driftwise.engine.layout import STATE_AT
from driftwise.pairs import layout as slot
from driftwise.pairs.judging import OK

Table = NDArray[np.int64]


@helper
def _copy(source: Pointer, target: Pointer, count: int) -> None:
    for k in range(count):
        target[k] = source[k]


@entry
def learn_pools(
    pools: Array,
    screams: Array,
    where: Table,
    terms: Array,
    features: Array,
    targets: Array,
    vector: Array,
    cell: Array,
) -> int:
    """Take in a round for some members, and return how many have refused it, which are as they were.

    A row of `where` is a member, and the row of features and targets that is its own. Gradients are in `features`.
    """
    long, wide, wrong = pools.shape[1], screams.shape[1], 0
    v, scream, loss, d = part(vector, 0), part(cell, 0), part(terms, 0), features.shape[1]
    for m in range(where.shape[0]):
        pool, known = part(pools, where[m, 0] * long), part(screams, where[m, 0] * wide)
        _copy(pool, v, long)
        state = part(cell, whole_at(scream, STATE_AT))
        if wide > 0:
            _copy(known, state, wide)
        x, y = part(features, where[m, 1] * d), part(targets, where[m, 1])
        if call(whole_at(v, slot.LEARN_CALL), v, loss, x, y, scream) == OK:
            _copy(v, pool, long)
            if wide > 0:
                _copy(state, known, wide)
        else:
            wrong += 1
    return wrong


@entry
def decide_pools(pools: Array, screams: Array, where: Table, decisions: Array, vector: Array, cell: Array) -> None:
    """Let some members move and decide; in the first round they are where they begin."""
    long, wide = pools.shape[1], screams.shape[1]
    v, scream, d = part(vector, 0), part(cell, 0), decisions.shape[1]
    for m in range(where.shape[0]):
        pool = part(pools, where[m, 0] * long)
        if pool[slot.ROUNDS] > 0.0:
            _copy(pool, v, long)
            if wide > 0:
                _copy(part(screams, where[m, 0] * wide), part(cell, whole_at(scream, STATE_AT)), wide)
            call(whole_at(v, slot.DECIDE_CALL), v, scream)
            _copy(v, pool, long)
        _copy(part(pool, whole_at(pool, slot.DECISION)), part(decisions, where[m, 1] * d), d)
