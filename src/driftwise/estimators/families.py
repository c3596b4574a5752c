"""Families: estimators that share a compiled plugin, and the record that it reads and writes.

A record begins with a header: the first row of proposals that the family writes, how many, in how many blocks of four
lanes, and where the record's own parts are. Estimators of a family are lanes, so that one instruction serves four.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from driftwise._compile import Plugin, aside, helper
from driftwise._lanes import Four, greater, lesser, load, splat, store, where_above
from driftwise._memory import Array, Pointer, Section, at, part, whole_at
from driftwise.errors import CheckpointError
from driftwise.pairs import layout as slot
from driftwise.pairs.judging import score_slope

FIRST, COUNT, BLOCKS, OWN = 0, 1, 2, 3
"""Slots of every record: first row of proposals, number of estimators, of blocks; then the family's own."""

HUGE = 1e290
"""Larger numbers are not used to learn from."""

FAR, NEAR = 1e6, 4.0
"""Means stay within so many half widths of the start; the second where slopes are bounded, and returns are slow."""

FAINT, LONGEST = -700.0, 250.0
"""Of change points: the least log weight of a hypothesis, and the most observations that its noise is told by."""

Sides = Mapping[str, int]


@dataclass(frozen=True, eq=False)
class Family:
    """A compiled family.

    Attributes
    ----------
    plugin : Plugin
        Function of signature `pairs.layout.FAMILY`.
    section : Section
        Layout of the record.
    fill : callable
        ``fill(record, parts, estimators, start)`` writes the constants, and the state before the first round.
    sides : callable
        ``sides(count, dim)``: sides of the record's parts, by name.
    beside : bool
        Whether what it knows, and proposes, is in the cell of self-tuned Scream, beside the pool.
    changing : mapping
        Slots of the header that change from round to round, which are saved; for one that is an index, the slot of its
        limit and how far below that it must stay. All other slots are constants.
    fixed : tuple of str
        Parts of the record that are indices, and constants.
    """

    plugin: Plugin
    section: Section
    fill: Callable[[Array, dict[str, Array], Sequence[Any], Array], None]
    sides: Callable[[int, int], Sides]
    beside: bool = False
    changing: Mapping[int, tuple[int, int] | None] = field(default_factory=dict)
    fixed: tuple[str, ...] = ()

    def _all_sides(self, count: int, dim: int) -> Sides:
        return {**self.sides(count, dim), "blocks": -(-count // 4), "dim": dim}

    def resume(self, record: Array, saved: Array, dim: int) -> None:
        """Take in a record that was saved, without its constants: these are those of the new record."""
        sides, constants = self._all_sides(int(record[COUNT]), dim), record.copy()
        record[:] = saved
        head = self.section.numbers
        record[:head] = constants[:head]
        for slot_, limit in self.changing.items():
            index = saved[slot_]
            if limit is not None and not (0.0 <= index <= constants[limit[0]] - limit[1] and index == np.floor(index)):
                raise CheckpointError(
                    f"SelfTunedLearner: an estimator's record with the index {index} is not possible."
                )
            record[slot_] = index
        own, new = self.section.views(constants, sides), self.section.views(record, sides)
        for name in self.fixed:
            new[name][:] = own[name]

    def record(self, estimators: Sequence[Any], first: int, start: Array) -> Array:
        """Return the record of these estimators, whose proposals begin at row `first`."""
        sides = self._all_sides(len(estimators), start.size)
        record = np.zeros(self.section.size(sides))
        self.section.write_offsets(record, sides)
        record[FIRST], record[COUNT], record[BLOCKS] = first, len(estimators), sides["blocks"]
        self.fill(record, self.section.views(record, sides), estimators, start)
        return record


def lanes_of(values: Sequence[float], fill: float = 0.0) -> Array:
    """Return one number for each lane, padded to whole blocks."""
    lanes = np.full(-(-len(values) // 4) * 4, fill)
    lanes[: len(values)] = values
    return lanes


@helper
def errors(v: Pointer, terms: Pointer, scores: Four) -> Four:
    """Return minus the slope of the round's loss at four scores: target less score, where the loss is a parabola."""
    if v[slot.FORM] == slot.GRADIENT:
        return splat(v[slot.AIM]) - scores
    if v[slot.FORM] == slot.EACH or (v[slot.BEND] > 0.0 and v[slot.SHIFTED] > 0.0):
        return splat(v[slot.ROOT] * at(v, slot.TARGETS)[0]) - scores
    room = part(at(v, slot.SCRATCH), 4)
    store(room, 0, scores)
    for lane in range(4):
        room[lane] = -score_slope(v, terms, room[lane])
    return load(room, 0)


@helper
def finite(numbers: Four, otherwise: Four) -> Four:
    """Return numbers that are finite and below HUGE in size, and others where they are not."""
    return where_above(splat(HUGE), numbers, where_above(numbers, splat(-HUGE), numbers, otherwise), otherwise)


@helper
def within(v: Pointer, mean: Four, k: int) -> Four:
    """Return a mean that is not absurdly far from the start."""
    far = NEAR if v[slot.FORM] == slot.SCORE and v[slot.BEND] == 0.0 else FAR
    middle, reach = at(v, slot.START)[k], far * v[slot.HALF_WIDTH]
    return lesser(greater(mean, splat(middle - reach)), splat(middle + reach))


@aside
def offer(v: Pointer, own: Pointer, means: Pointer, height: int) -> None:
    """Write means of shape (blocks, height, 4) as proposals, of which the first d entries count."""
    d, first = whole_at(v, slot.DIM), whole_at(own, FIRST)
    for lane in range(whole_at(own, COUNT)):
        u, m = part(at(v, slot.PROPOSALS), (first + lane) * d), part(means, (lane - lane % 4) * height + lane % 4)
        for k in range(d):
            u[k] = m[4 * k]
