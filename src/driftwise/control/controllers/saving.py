"""What is saved of a loop, and what a loop that comes from a file must be, before kernels read it.

All of a cell is written, and only what changes from round to round is read: its sizes, where its parts are and the
nominal closed loop are those of the loop that the constructor has built, so that no file leads a kernel elsewhere.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from driftwise._saving import expect
from driftwise._validate import Array, array
from driftwise.control.controllers.guard import KINDS
from driftwise.control.policies import guard as kinds
from driftwise.control.policies import layout as slot
from driftwise.control.policies.layout import CELL, LOGGED, NEW, views
from driftwise.errors import CheckpointError

MOST_COUNT = 2.0**53
"""More than any count can be; up to here doubles have every whole number."""

COUNTS = (
    slot.ROUND, slot.HEAD, slot.COUNT, slot.LOST, slot.WATCHED, slot.GROWN, slot.RESTING, slot.STRIKES, slot.CALM,
    slot.EVENTS,
)  # fmt: skip
"""Numbers of the header that count something."""

SHARES = (slot.SHARE, slot.CAP, slot.ALLOWED)

SIZES = (
    slot.SQUARES, slot.FARTHEST, slot.BEGAN, slot.STEEPEST, slot.OVERRULED, slot.HIGHEST, slot.FAST, slot.RAW,
    slot.USUAL, slot.TRIP, slot.MARK,
)  # fmt: skip
"""Numbers of the header that say how large something was; STEEPEST may be infinite."""

CHANGING = (*COUNTS, *SHARES, *SIZES, slot.AFRESH)

PARTS = ("past", "x", "u", "heard", "extra", "lead", "centre", "level", "target", "aim", "events")
"""Parts that change from round to round."""


def are_counts(numbers: Array) -> bool:
    """Tell whether numbers are whole, at least 0, and not too large to be counted up."""
    return bool(np.all((numbers >= 0.0) & (numbers == np.floor(numbers)) & (numbers < MOST_COUNT)))


def resume_cell(owner: str, cell: Array, saved: Any, rounds: int, actuators: int = 1) -> None:
    """Write what was saved of a loop into a new one, after checking it.

    Parameters
    ----------
    owner : str
        Who complains.
    cell : array
        The new loop.
    saved : array
        What ``CELL.kept`` made of a loop with the same configuration.
    rounds : int
        Number of rounds it has played.
    actuators : int
        Number of models of the actuator that events may name.
    """
    size = int(cell[slot.ROOM_AT])
    if not isinstance(saved, np.ndarray) or saved.dtype != np.float64 or saved.shape != (size,):
        raise CheckpointError(f"{owner}: a loop of {size} numbers was expected.")
    resumed = CELL.with_room(saved, slot.sides_of(cell))
    given, parts = CELL.views(resumed, slot.sides_of(cell)), views(cell)
    count, rows = saved[slot.EVENTS], given["events"]
    named = rows[rows[:, 1] == kinds.ADOPTED, 2]
    finite = np.concatenate([given[name].ravel() for name in PARTS])
    columns, lags = cell[slot.COLUMNS], cell[slot.LAGS]
    expect(
        owner,
        "a loop",
        {
            "counts": are_counts(saved[list(COUNTS)]),
            "round": saved[slot.ROUND] == rounds,
            "place in the past": saved[slot.HEAD] < columns - 2.0 * lags,
            "rest": saved[slot.RESTING] <= cell[slot.REST],
            "shares": np.all((saved[list(SHARES)] >= 0.0) & (saved[list(SHARES)] <= 1.0)),
            "sizes": np.all(saved[list(SIZES)] >= 0.0)
            and np.isfinite(saved[[each for each in SIZES if each != slot.STEEPEST]]).all(),
            "new beginning": saved[slot.AFRESH] in (0.0, 1.0, NEW),
            "numbers": np.isfinite(finite).all(),
            "events": are_counts(rows[:, 0]) and np.isin(rows[: int(min(count, LOGGED)), 1], KINDS).all(),
            "models of the actuator": are_counts(named) and (named < actuators).all(),
        },
    )
    cell[list(CHANGING)] = saved[list(CHANGING)]
    for name in PARTS:
        parts[name][...] = given[name]


def resume_weights(owner: str, saved: Any, shapes: Sequence[int]) -> tuple[Array, Array]:
    """Return the weights Q and R that were saved, after checking them."""
    Q, R = (array(owner, name, part, (n, n)) for name, part, n in zip("QR", saved, shapes, strict=True))
    fits = all(np.array_equal(part, part.T) for part in (Q, R))
    expect(owner, "a cost", {"weights": fits and np.linalg.eigvalsh(R)[0] > 0.0 and np.trace(Q) > 0.0})
    return Q, R
