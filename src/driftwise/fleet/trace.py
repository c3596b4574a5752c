"""The record of a run of a fleet: totals of every member, and decisions if they were asked for."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from driftwise._frames import Table, files, flatten, frames
from driftwise._frames.given import Labels
from driftwise._html import Bar, Card, Shown
from driftwise._trace_table import plain
from driftwise._validate import Array, Indices, instance
from driftwise.errors import ParameterError
from driftwise.movecost import MoveCost

if TYPE_CHECKING:
    import polars


@dataclass(frozen=True, repr=False, eq=False)
class FleetTrace(Shown):
    """The record of a run of `play` with a fleet.

    Attributes
    ----------
    ids : array of int64, shape (size,)
        The members, in the order of everything else.
    rounds : array of int64, shape (size,)
        Rounds that each has played.
    total_loss : array of shape (size,)
        Sum of the losses of each member, added in the order of its rounds.
    total_switching : array of shape (size,)
        What the moves of each have cost.
    switching_cost : float or MoveCost
        What a move was counted at.
    decisions : tuple of arrays of shape (rounds, d), or None
        The decisions of every member, if they were recorded.
    indexes : tuple of pandas Index, polars Series or None, one for each member; or None
        What the rounds of each member's losses are called, such as dates.

    Examples
    --------
    >>> import driftwise as dw
    >>> fleet = dw.Fleet(dw.OGD(dw.Box(0.0, 9.0), step=1.0), size=2)
    >>> trace = dw.play(fleet, [dw.TrackingLoss([2.0, 4.0, 4.0]), dw.TrackingLoss([8.0, 8.0])], 1.0, record=True)
    >>> trace.to_pandas()
       id  rounds  loss  switching  total
    0   0       3   4.0        4.0    8.0
    1   1       2  32.0        8.0   40.0
    >>> trace.to_pandas(decisions=True)
       id  round  w_0
    0   0      0  0.0
    1   0      1  2.0
    2   0      2  4.0
    3   1      0  0.0
    4   1      1  8.0
    """

    ids: Indices
    rounds: Indices
    total_loss: Array
    total_switching: Array
    switching_cost: float | MoveCost
    decisions: tuple[Array, ...] | None = None
    indexes: tuple[Labels, ...] | None = None

    @property
    def total(self) -> Array:
        """Overall cost of every member: loss plus switching."""
        return np.asarray(self.total_loss + self.total_switching)

    def to_pandas(self, *, decisions: bool = False) -> Any:
        """Return the totals of the members as a pandas DataFrame, or their decisions; needs the extra ``frames``.

        Parameters
        ----------
        decisions : bool, default False
            One row for each member and round, with its decision and the `indexes`, in place of one for each member.

        Returns
        -------
        pandas.DataFrame
        """
        return frames.to_pandas("FleetTrace.to_pandas", self._table("to_pandas", decisions))

    def to_polars(self, *, decisions: bool = False) -> "polars.DataFrame":
        """Return the totals of the members as a polars DataFrame, or their decisions; needs the extra ``frames``.

        Parameters
        ----------
        decisions : bool, default False
            As in `to_pandas`.

        Returns
        -------
        polars.DataFrame
        """
        return frames.to_polars("FleetTrace.to_polars", self._table("to_polars", decisions))

    def to_parquet(self, path: str | os.PathLike[str], *, decisions: bool = False) -> None:
        """Write the totals of the members to a parquet file, or their decisions; needs the extra ``frames``.

        Parameters
        ----------
        path : str or path
            The file; one that exists is replaced, and is whole at any time.
        decisions : bool, default False
            As in `to_pandas`.
        """
        files.write_parquet("FleetTrace.to_parquet", path, self._table("to_parquet", decisions))

    def _table(self, verb: str, decisions: bool) -> Table:
        instance(f"FleetTrace.{verb}", "decisions", decisions, bool, "True")
        settings = {"record": "FleetTrace", "version": 1, "switching_cost": plain(self.switching_cost)}
        if not decisions:
            totals = {"loss": self.total_loss, "switching": self.total_switching, "total": self.total}
            return Table({"id": self.ids, "rounds": self.rounds, **totals}, settings)
        if self.decisions is None:
            raise ParameterError(f"FleetTrace.{verb}: decisions were not kept; play with record=True.")
        if not self.decisions:
            return Table({"id": self.ids, "round": self.rounds}, settings)
        every = np.concatenate(self.decisions)
        columns = {
            "id": np.repeat(self.ids, self.rounds),
            "round": np.concatenate([np.arange(len(rows)) for rows in self.decisions]),
            **{name: values for name, values in flatten({"w": every}).items() if name != "round"},
        }
        return Table(columns, settings, index=joined(self.indexes or ()))

    def _card(self) -> Card:
        total = self.total
        rows = [
            ("members", f"{len(self)}, {int(self.rounds.sum())} rounds in all"),
            ("loss", f"{self.total_loss.sum():.6g}"),
            ("switching", f"{self.total_switching.sum():.6g}"),
            ("overall", f"{total.sum():.6g}"),
        ]
        if not len(self):
            return Card("FleetTrace", rows)
        order = np.argsort(-total, kind="stable")
        most = float(np.abs(total).max()) or 1.0
        bars = [Bar(f"member {self.ids[i]}", float(total[i]) / most, f"{total[i]:.6g}") for i in order[:5]]
        cheapest = f"least {total.min():.6g}, median {np.median(total):.6g}, most {total.max():.6g}"
        return Card("FleetTrace", [*rows, ("of a member", cheapest)], "the dearest members", bars)

    def __len__(self) -> int:
        return int(self.ids.size)

    def __repr__(self) -> str:
        return (
            f"FleetTrace({len(self)} members, {int(self.rounds.sum())} rounds, total={self.total.sum():.6g}, "
            f"loss={self.total_loss.sum():.6g}, switching={self.total_switching.sum():.6g})"
        )


def joined(indexes: Sequence[Labels]) -> Labels:
    """Return what the rows of several tables are called, one after the other; None unless all are of one library.

    Examples
    --------
    >>> import pandas as pd
    >>> joined([pd.Index(["mon"], name="day"), pd.Index(["mon", "tue"], name="day")]).tolist()
    ['mon', 'mon', 'tue']
    >>> joined([pd.Index(["mon"]), None])
    """
    if not indexes or len({type(each).__module__.split(".")[0] for each in indexes}) > 1:
        return None
    return None if indexes[0] is None else reduce(lambda first, second: first.append(second), _copies(indexes))


def _copies(indexes: Sequence[Labels]) -> list[Labels]:
    """Return indexes that may be added to: a polars Series grows in place, a pandas Index does not."""
    return [indexes[0].clone() if hasattr(indexes[0], "clone") else indexes[0], *indexes[1:]]
