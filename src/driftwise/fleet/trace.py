"""The record of a run of a fleet: totals of every member, and decisions if they were asked for."""

from dataclasses import dataclass

import numpy as np

from driftwise._validate import Array, Indices
from driftwise.movecost import MoveCost


@dataclass(frozen=True, repr=False, eq=False)
class FleetTrace:
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
    """

    ids: Indices
    rounds: Indices
    total_loss: Array
    total_switching: Array
    switching_cost: float | MoveCost
    decisions: tuple[Array, ...] | None = None

    @property
    def total(self) -> Array:
        """Overall cost of every member: loss plus switching."""
        return np.asarray(self.total_loss + self.total_switching)

    def __len__(self) -> int:
        return int(self.ids.size)

    def __repr__(self) -> str:
        return (
            f"FleetTrace({len(self)} members, {int(self.rounds.sum())} rounds, total={self.total.sum():.6g}, "
            f"loss={self.total_loss.sum():.6g}, switching={self.total_switching.sum():.6g})"
        )
