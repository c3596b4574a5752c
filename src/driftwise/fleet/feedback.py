"""What a fleet is given to observe: gradients, a loss for each member, or one loss for all of them."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from driftwise._compile import LARGEST
from driftwise._validate import Array, array, describe, loose
from driftwise.errors import InputError
from driftwise.losses import LossStream, RoundLoss
from driftwise.losses.base import DataLoss

Flags = NDArray[np.bool_]


def without_bad(proposals: Any) -> tuple[Any, Any]:
    """Return the proposals of committees with None for those that have a NaN, and how many these are in each row."""
    try:
        values = np.asarray(proposals)
    except ValueError:  # rows of different lengths
        return proposals, 0
    if values.dtype.kind != "f" or values.ndim < 2:
        return proposals, 0
    bad = ~(np.abs(values) <= LARGEST)
    bad = bad.reshape(*bad.shape[:2], -1).any(axis=2)
    if not bad.any():
        return proposals, 0
    pairs = zip(values, bad, strict=True)
    lenient = [[None if out else one for one, out in zip(row, outs, strict=True)] for row, outs in pairs]
    return lenient, bad.sum(axis=1)


class Feedback:
    """The feedback of a round for some members: a row of numbers for each, or a loss.

    Parameters
    ----------
    owner : str
        Who complains.
    given : object
        What the user gave.
    decisions : array of shape (count, ...)
        What the members have decided.
    width : int
        Numbers in a row: coordinates of a gradient, or losses of a committee's members.
    committees : bool
        Whether rows are losses, and not gradients.
    """

    def __init__(self, owner: str, given: Any, decisions: Array, width: int, committees: bool) -> None:
        self.owner, self.decisions, self.count, self.width = owner, decisions, len(decisions), width
        self.what = "losses" if committees else "gradients"
        self.stream: LossStream | None = None
        self.items: list[Any] | None = None
        self._rows: Array | None = None
        self._batch: Any = None
        self._unusable: Flags | None = None
        self.absent = np.zeros(self.count, bool)
        if isinstance(given, LossStream | RoundLoss):
            self._check_dim(given if isinstance(given, LossStream) else given._stream)
        if isinstance(given, LossStream):
            self._check_count("the stream, which is one loss for each member,", len(given))
            self.stream = given
        elif isinstance(given, RoundLoss) or (committees and (callable(given) or hasattr(given, "value"))):
            self.items = [given] * self.count
        elif callable(getattr(given, "gradient", None)):
            self._batch = given
        elif isinstance(given, Sequence) and any(one is None or _is_loss(one) for one in given):
            self._check_count("losses", len(given))
            self.items = list(given)
            self.absent = np.array([one is None for one in given], bool)
        else:
            self._rows = self._read(given)

    def _check_dim(self, stream: LossStream) -> None:
        dim = int(np.prod(self.decisions.shape[1:], dtype=np.int64))
        if stream.dim != dim:
            raise InputError(
                f"{self.owner}: the losses have dim {stream.dim}, the members decide in {dim} coordinates."
            )

    def _check_count(self, what: str, count: int) -> None:
        if count != self.count:
            raise InputError(f"{self.owner}: {what} must be {self.count}, one for each member asked for, got {count}.")

    def _read(self, given: Any) -> Array:
        """Return rows as float64; their numbers are looked at later, row by row."""
        expected = f"real numbers of shape ({self.count}, {self.width}), or losses"
        values = loose(self.owner, self.what, given, expected)
        if self.width == 1 and values.ndim == 1:
            values = values[:, None]
        if values.shape != (self.count, self.width) or values.dtype.kind not in "fiu":
            raise InputError(f"{self.owner}: {self.what} must be {expected}, got {describe(given)}.")
        rows = np.ascontiguousarray(values, np.float64)
        return rows if rows.flags.writeable and rows.flags.aligned else rows.copy()  # what kernels are compiled for

    @property
    def plain(self) -> bool:
        """Whether rows of numbers were given, and not losses."""
        return self.stream is None and self.items is None

    def item(self, i: int) -> Any:
        """Return what a learner takes in for itself: its loss, or its row."""
        if self.stream is not None:
            return self.stream[i]
        return self.items[i] if self.items is not None else self.rows[i]

    @property
    def rows(self) -> Array:
        """The gradients at the decisions; rows of NaN where nothing was given."""
        if self._rows is None:
            self._rows = self._evaluated()
        return self._rows

    def _evaluated(self) -> Array:
        if self._batch is not None:
            return self._read(self._batch.gradient(self.decisions.copy()))
        if isinstance(self.stream, DataLoss):
            return self.stream._unary_gradients(self.decisions, range(self.count))
        rows = np.full((self.count, self.width), np.nan)
        for i in np.flatnonzero(~self.absent).tolist():
            item = self.item(i)
            value = item.gradient(self.decisions[i].copy()) if _is_loss(item) else item
            rows[i] = array(self.owner, f"gradient {i}", value, (self.width,))
        return rows

    def unusable(self) -> Flags:
        """Tell which rows have numbers that are not finite, or too large; rows that are absent are not among them."""
        if self._unusable is None:
            self._unusable = self._look()
        return self._unusable

    def _look(self) -> Flags:
        flat = self.rows.reshape(-1)
        with np.errstate(over="ignore", invalid="ignore"):
            # If the sum of squares is small enough, so is every number: one pass without a copy, nor threads of BLAS.
            if np.einsum("i,i->", flat, flat) <= LARGEST * LARGEST:
                return np.zeros(self.count, bool)
        return np.asarray(~np.all(np.abs(self.rows) <= LARGEST, axis=1) & ~self.absent)


def _is_loss(item: Any) -> bool:
    return callable(item) or callable(getattr(item, "gradient", None)) or callable(getattr(item, "value", None))
