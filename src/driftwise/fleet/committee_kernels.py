"""Rounds of many committees, compiled: their vectors lie side by side."""

import numpy as np
from numpy.typing import NDArray

from driftwise._compile import entry
from driftwise._memory import Array, at, part, whole_at
from driftwise.learners.committee import layout as slot
from driftwise.learners.committee.kernels import end_in, mix_in

Indices = NDArray[np.int64]


@entry
def mix_committees(vectors: Array, rows: Indices, decisions: Array) -> None:
    """Let some committees decide by the proposals that stand in their vectors, and write the decisions."""
    for m in range(rows.size):
        c = part(vectors, rows[m] * vectors.shape[1])
        mix_in(c)
        for k in range(whole_at(c, slot.DIM)):
            decisions[m, k] = at(c, slot.DECISION)[k]


@entry
def end_committees(vectors: Array, rows: Indices) -> None:
    """End the round of some committees with the charges that stand in their vectors."""
    for m in range(rows.size):
        end_in(part(vectors, rows[m] * vectors.shape[1]))
