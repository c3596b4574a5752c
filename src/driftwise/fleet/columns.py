"""What a fleet keeps of every member besides its state: parallel arrays, in the order of ids, with room to grow."""

from collections.abc import Sequence, Sized
from typing import Any

import numpy as np
from numpy.typing import NDArray

from driftwise._validate import Indices
from driftwise.errors import CheckpointError
from driftwise.fleet.feedback import Flags

NEVER = 2**62
"""The horizon of a member that has none."""

_NAMES = ("ids", "blocks", "rows", "rounds", "limits", "skipped", "refused")

_FLAGS = ("acted", "current", "stands")


class Columns:
    """Ids ascend, so the place of a member is found by bisection.

    Attributes
    ----------
    ids, blocks, rows, rounds, limits, skipped, refused : array of int64
        Name of a member, block and row that it is in, rounds observed, horizon, rounds skipped, inputs refused.
    acted, current, stands : array of bool
        Whether it has acted and waits for `observe`; whether the fleet knows its decision; whether the last round ended
        without feedback and nothing has been decided since.
    """

    ids: Indices
    blocks: Indices
    rows: Indices
    rounds: Indices
    limits: Indices
    skipped: Indices
    refused: Indices
    acted: Flags
    current: Flags
    stands: Flags

    def __init__(self) -> None:
        self._room: dict[str, NDArray[np.int64] | Flags] = {name: np.zeros(0, np.int64) for name in _NAMES}
        self._room |= {name: np.zeros(0, bool) for name in _FLAGS}
        self.count = 0
        self._show()

    def _show(self) -> None:
        self.__dict__.update({name: part[: self.count] for name, part in self._room.items()})

    def add(self, count: int) -> slice:
        """Make place for more members at the end, all zeros; return where."""
        before, self.count = self.count, self.count + count
        if self.count > self._room["ids"].size:
            room = max(self.count, self.count + self.count // 8 if before else self.count)
            for name, part in self._room.items():
                larger = np.zeros(room, part.dtype)
                larger[:before] = part[:before]
                self._room[name] = larger
        for part in self._room.values():
            part[before : self.count] = 0
        self._show()
        return slice(before, self.count)

    def keep(self, places: Indices) -> None:
        """Forget all members but those at these places."""
        for name, part in self._room.items():
            self._room[name] = part[places]
        self.count = places.size
        self._show()

    def clone(self) -> "Columns":
        """Return an independent copy."""
        other = Columns()
        other._room = {name: part[: self.count].copy() for name, part in self._room.items()}
        other.count = self.count
        other._show()
        return other

    def saved(self) -> "dict[str, NDArray[np.int64] | Flags]":
        """Return what is to be saved; decisions follow from states."""
        return {name: part[: self.count] for name, part in self._room.items() if name != "current"}

    @classmethod
    def resumed(cls, saved: dict[str, Any], blocks: Sequence[Sized], upcoming: Any) -> "Columns":
        """Return what was saved, if it fits the blocks."""
        other, count = cls(), sum(map(len, blocks))
        names = {*_NAMES, "acted", "stands"}
        if saved.keys() != names:
            raise CheckpointError(f"Fleet: of members {sorted(names)} are saved, this one has {sorted(saved)}.")
        for name, part in saved.items():
            if part.shape != (count,) or part.dtype != (bool if name in _FLAGS else np.int64):
                raise CheckpointError(f"Fleet: {name} of the {count} members must be one each.")
            other._room[name] = part
        other._room["current"] = np.zeros(count, bool)
        other.count = count
        other._show()
        order = np.lexsort((other.rows, other.blocks))
        at = np.concatenate([np.full(len(block), b) for b, block in enumerate(blocks)]) if blocks else other.blocks
        in_block = np.concatenate([np.arange(len(block)) for block in blocks]) if blocks else other.rows
        possible = {
            "ids": bool(np.all(np.diff(other.ids) > 0)) and (count == 0 or other.ids[0] >= 0),
            "next": isinstance(upcoming, int) and (count == 0 or other.ids[-1] < upcoming <= 2**53),
            "rows": np.array_equal(other.blocks[order], at) and np.array_equal(other.rows[order], in_block),
            "counts": all(np.all((saved[name] >= 0) & (saved[name] <= 2**62)) for name in _NAMES),
        }
        wrong = [name for name, fine in possible.items() if not fine]
        if wrong:
            raise CheckpointError(f"Fleet: members with such {', '.join(wrong)} are not possible.")
        return other

    @property
    def nbytes(self) -> int:
        """Bytes of memory."""
        return sum(part.nbytes for part in self._room.values())
