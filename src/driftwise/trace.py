"""The record of a run, from which everything about it can be computed."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from driftwise._plot import axes
from driftwise._validate import Array
from driftwise.domains import Domain
from driftwise.learners import Committee, Learner
from driftwise.losses import LossStream
from driftwise.movecost import MoveCost, move_cost_for

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, repr=False, eq=False)
class Trace:
    """The record of a run of `play`.

    Attributes
    ----------
    decisions : array of shape (T, d)
        w_t.
    losses : array of shape (T,)
        f_t(w_{t-m}, ..., w_t), memory included; before the first round the first decision is taken to be in place.
    moves : array of shape (T,)
        ``|w_t - w_{t-1}|``, Euclidean whatever the price, and 0 in the first round.
    switching_cost : float or MoveCost
        lambda, the price of one unit of movement, or the prices that moves were counted at; see `price`.
    weights : array of shape (T, N), or None
        Weights of the base-learners, if they were recorded; 0 for a base-learner that had not joined yet.
    learner : Learner or Committee
        The learner as it was before the run: ``play(trace.learner.clone(), trace.stream)`` repeats it.
    stream : LossStream
        The losses that were played.
    proposals : sequence of length T, or None
        What the members of a committee proposed in every round.
    """

    decisions: Array
    losses: Array
    moves: Array
    switching_cost: float | MoveCost
    weights: Array | None
    learner: Learner | Committee
    stream: LossStream
    proposals: Any = None

    @property
    def price(self) -> MoveCost:
        """The switching cost as prices, whichever way it was given."""
        return move_cost_for("Trace", self.switching_cost)

    @property
    def domain(self) -> Domain | None:
        """Domain of the decisions; None for a committee, whose members may propose anything."""
        return self.learner.domain if isinstance(self.learner, Learner) else None

    @property
    def total_loss(self) -> float:
        """Sum of the losses."""
        return float(self.losses.sum())

    @property
    def move_costs(self) -> Array:
        """Cost of the move into each round: lambda times the distance, or as the `MoveCost` says; 0 in the first."""
        return self.price.along(self.decisions, self.moves)

    @property
    def total_switching(self) -> float:
        """Cost of all moves: lambda times the distance moved, or as the `MoveCost` says."""
        return self.price.total(self.decisions, self.moves)

    @property
    def total(self) -> float:
        """Overall cost: loss plus switching."""
        return self.total_loss + self.total_switching

    def summary(self) -> str:
        """Return the run in a few lines of text.

        Examples
        --------
        >>> import driftwise as dw
        >>> losses = dw.TrackingLoss([[1.0], [1.0], [1.0], [-1.0]])
        >>> print(dw.play(dw.OGD(dw.Ball(1), step=0.5), losses, switching_cost=1.0).summary())
        OGD, 4 rounds, 1 coordinates
          loss                 2.414
          switching            0.875   (1 per unit, 0.875 units, 3 moves)
          overall              3.289
        """
        rounds, dim = self.decisions.shape
        distance, moved = self.moves.sum(), np.count_nonzero(self.moves)
        return "\n".join(
            [
                f"{type(self.learner).__name__}, {rounds} rounds, {dim} coordinates",
                f"  loss      {self.total_loss:>16.4g}",
                f"  switching {self.total_switching:>16.4g}"
                f"   ({self.price} per unit, {distance:.4g} units, {moved} moves)",
                f"  overall   {self.total:>16.4g}",
                *([f"  {self._unpriced}"] if self._unpriced else []),
            ]
        )

    @property
    def _unpriced(self) -> str:
        """Words for a run whose moves are free although its learner was built for a price; empty for others."""
        built_for = getattr(self.learner, "switching_cost", 0.0)
        dim = self.decisions.shape[1]
        if self.price.largest(dim) > 0.0 or not move_cost_for("Trace", built_for, dim).largest(dim) > 0.0:
            return ""
        return f"moves are not priced; the learner was built for a switching cost of {built_for}"

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Draw the cumulative loss, with the switching cost stacked on it; return the matplotlib axes."""
        ax = axes("Trace.plot", ax)
        rounds = np.arange(1, len(self.losses) + 1)
        loss = np.cumsum(self.losses)
        ax.fill_between(rounds, 0.0, loss, alpha=0.55, linewidth=0.0, label="loss")
        if self.price.largest(self.decisions.shape[1]) > 0.0:
            overall = loss + np.cumsum(self.move_costs)
            ax.fill_between(rounds, loss, overall, alpha=0.55, linewidth=0.0, label="switching cost")
            ax.plot(rounds, overall, color="black", linewidth=1.0, label="overall")
        ax.set(xlabel="round", ylabel="cumulative cost", title=type(self.learner).__name__)
        ax.margins(x=0.0)
        ax.legend(loc="upper left", frameon=False)
        return ax

    def __repr__(self) -> str:
        return (
            f"Trace({type(self.learner).__name__}, rounds={len(self.losses)}, total={self.total:.6g}, "
            f"loss={self.total_loss:.6g}, switching={self.total_switching:.6g}"
            f"{': ' if self._unpriced else ''}{self._unpriced})"
        )
