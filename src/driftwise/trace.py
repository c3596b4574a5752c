"""The record of a run, from which everything about it can be computed."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from driftwise import _trace_table
from driftwise._frames import MAX_BYTES, Record, Table
from driftwise._frames.files import read_parquet
from driftwise._frames.frames import from_pandas, from_polars
from driftwise._frames.given import Labels
from driftwise._html import Card, Curve, Picture, counted, paths
from driftwise._plot import axes
from driftwise._round_inputs import read_hints
from driftwise._round_prices import Prices, costs_along, largest_of, shown, varies
from driftwise._validate import Array, checked
from driftwise.domains import Domain
from driftwise.errors import InputError, ParameterError
from driftwise.learners import Committee, Learner
from driftwise.losses import LossStream
from driftwise.movecost import MoveCost, move_cost_for

if TYPE_CHECKING:
    import polars
    from matplotlib.axes import Axes


@dataclass(frozen=True, repr=False, eq=False)
class Trace(Record):
    """The record of a run of `play`.

    It goes to and from pandas, polars and parquet; see `to_pandas` and `from_pandas`.

    Attributes
    ----------
    decisions : array of shape (T, d)
        w_t.
    losses : array of shape (T,)
        f_t(w_{t-m}, ..., w_t), memory included; before the first round the first decision is taken to be in place.
    moves : array of shape (T,)
        ``|w_t - w_{t-1}|``, Euclidean whatever the price, and 0 in the first round.
    switching_cost : float or MoveCost, or array of shape (T,) or tuple of T of these
        lambda, the price of one unit of movement, or the prices that moves were counted at; see `price`. One for each
        round where prices changed.
    weights : array of shape (T, N), or None
        Weights of the base-learners, if they were recorded; 0 for a base-learner that had not joined yet.
    learner : Learner or Committee
        The learner as it was before the run: ``play(trace.learner.clone(), trace.stream)`` repeats it, with its
        `proposals` and `hints` if it had any.
    stream : LossStream
        The losses that were played.
    proposals : sequence of length T, or None
        What the members of a committee proposed in every round, or the forecasts that a `SelfTunedLearner` was given.
    hints : array of shape (T, d), or None
        Guesses of the gradients that the learner was given; NaN in a round without one.

    Examples
    --------
    >>> import driftwise as dw
    >>> losses = dw.TrackingLoss([[1.0], [1.0], [-1.0]])
    >>> trace = dw.play(dw.OGD(dw.Ball(1), step=0.5), losses, switching_cost=2.0)
    >>> trace
    Trace(OGD, rounds=3, total=3.65625, loss=2.15625, switching=1.5)
    >>> trace.decisions.ravel(), trace.moves
    (array([0.  , 0.5 , 0.75]), array([0.  , 0.5 , 0.25]))
    """

    decisions: Array
    losses: Array
    moves: Array
    switching_cost: Prices
    weights: Array | None
    learner: Learner | Committee
    stream: LossStream
    # By a factory, since a default would be an attribute of the class, and could not be absent.
    proposals: Any = field(default_factory=lambda: None)
    hints: Array | None = field(default_factory=lambda: None)

    _layout: ClassVar = _trace_table.LAYOUT
    _outside: ClassVar = ("switching_cost", "learner", "stream", "proposals", "hints")

    @property
    def price(self) -> MoveCost:
        """The switching cost as prices, whichever way it was given; there must be one for all rounds."""
        if varies(self.switching_cost):
            raise ParameterError(
                "Trace: moves had another price in every round, and this needs one for all of them; `move_costs` and "
                "`total` have the prices that were paid. To count at one price, give it by switching_cost=."
            )
        assert isinstance(self.switching_cost, float | int | MoveCost)
        return move_cost_for("Trace", self.switching_cost)

    @property
    def domain(self) -> Domain | None:
        """Domain of the decisions; None for a committee, whose members may propose anything, and without a learner."""
        learner = vars(self).get("learner")
        return learner.domain if isinstance(learner, Learner) else None

    @property
    def index(self) -> Labels:
        """What the rounds are called, such as dates: that of the losses, or of the frame that was read; None without.

        Examples
        --------
        >>> import pandas as pd
        >>> import driftwise as dw
        >>> views = pd.Series([3.0, 8.0], index=pd.date_range("2024-03-01", periods=2, name="day"))
        >>> dw.play(dw.OGD(dw.Box(0.0, 9.0), step=1.0), dw.CapacityLoss(views)).to_pandas()[["loss", "w_0"]]
                    loss  w_0
        day
        2024-03-01  15.0  0.0
        2024-03-02  24.0  4.0
        """
        stream = vars(self).get("stream")
        return super().index if stream is None or stream.index is None else stream.index

    @property
    def label(self) -> str:
        """What the run is called in a figure: the class of its learner."""
        return self._maker("learner") or "unknown learner"

    @property
    def total_loss(self) -> float:
        """Sum of the losses."""
        return float(self.losses.sum())

    @property
    def move_costs(self) -> Array:
        """Cost of the move into each round: lambda times the distance, or as the `MoveCost` says; 0 in the first."""
        return costs_along(self.switching_cost, self.decisions, self.moves)

    @property
    def total_switching(self) -> float:
        """Cost of all moves: lambda times the distance moved, or as the `MoveCost` says."""
        if varies(self.switching_cost):
            return float(self.move_costs.sum())
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
                f"{self.label}, {rounds} rounds, {dim} coordinates",
                f"  loss      {self.total_loss:>16.4g}",
                f"  switching {self.total_switching:>16.4g}"
                f"   ({shown(self.switching_cost)} per unit, {distance:.4g} units, {moved} moves)",
                f"  overall   {self.total:>16.4g}",
                *([f"  {self._unpriced}"] if self._unpriced else []),
            ]
        )

    @property
    def _unpriced(self) -> str:
        """Words for a run whose moves are free although its learner was built for a price; empty for others."""
        built_for = getattr(vars(self).get("learner"), "switching_cost", 0.0)
        dim = self.decisions.shape[1]
        if largest_of(self.switching_cost, dim) > 0.0 or not move_cost_for("Trace", built_for, dim).largest(dim) > 0.0:
            return ""
        return f"moves are not priced; the learner was built for a switching cost of {built_for}"

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Draw the cumulative loss, with the switching cost stacked on it; return the matplotlib axes.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; new axes when left out.
        """
        ax = axes("Trace.plot", ax)
        rounds = np.arange(1, len(self.losses) + 1)
        loss = np.cumsum(self.losses)
        ax.fill_between(rounds, 0.0, loss, alpha=0.55, linewidth=0.0, label="loss")
        if largest_of(self.switching_cost, self.decisions.shape[1]) > 0.0:
            overall = loss + np.cumsum(self.move_costs)
            ax.fill_between(rounds, loss, overall, alpha=0.55, linewidth=0.0, label="switching cost")
            ax.plot(rounds, overall, color="black", linewidth=1.0, label="overall")
        ax.set(xlabel="round", ylabel="cumulative cost", title=self.label)
        ax.margins(x=0.0)
        ax.legend(loc="upper left", frameon=False)
        return ax

    def _card(self) -> Card:
        rounds, dim = self.decisions.shape
        priced = "switching_cost" in vars(self)
        rows = [("rounds", f"{rounds} of {counted(dim, 'coordinate')}{self._span}"), ("loss", f"{self.total_loss:.6g}")]
        moved = f"{self.moves.sum():.6g} in {counted(int(np.count_nonzero(self.moves)), 'move')}"
        loss = np.cumsum(self.losses)
        curves = [Curve("loss", loss, filled=True)]
        if priced:
            rows += [("switching", f"{self.total_switching:.6g}"), ("overall", f"{self.total:.6g}")]
            rows += [("price of a move", shown(self.switching_cost))]
            if largest_of(self.switching_cost, dim) > 0.0:
                curves = [curves[0], Curve("with switching", loss + np.cumsum(self.move_costs))]
        rows += [("distance moved", moved)]
        notes = [self._unpriced] if priced and self._unpriced else []
        pictures = [Picture("cumulative cost", curves), Picture("decisions", list(paths(self.decisions, "w")))]
        return Card(f"Trace of {self.label}", rows, pictures=pictures, notes=notes)

    def __repr__(self) -> str:
        shown = f"Trace({self.label}, rounds={len(self.losses)}, "
        if "switching_cost" not in vars(self):
            return f"{shown}loss={self.total_loss:.6g})"
        return (
            f"{shown}total={self.total:.6g}, "
            f"loss={self.total_loss:.6g}, switching={self.total_switching:.6g}"
            f"{': ' if self._unpriced else ''}{self._unpriced})"
        )

    @classmethod
    @checked
    def from_pandas(
        cls,
        frame: Any,
        *,
        switching_cost: float | MoveCost | None = None,
        learner: Learner | Committee | None = None,
        stream: LossStream | None = None,
        proposals: Any = None,
        hints: ArrayLike | None = None,
    ) -> Self:
        """Return the run that a pandas DataFrame holds, bit for bit.

        The columns are those of `to_pandas`, in any order: ``round``, ``loss``, ``move``, ``w_0``, ``w_1``, ..., and if
        they are there ``move_cost`` and ``weight_0``, ``weight_1``, .... An index that does not only count is kept.

        Parameters
        ----------
        frame : pandas.DataFrame
            One row a round, in order.
        switching_cost : float or MoveCost, optional
            Prices of moves; by default those that travelled with the frame.
        learner : Learner or Committee, optional
            The learner as it was before the run. Without it everything works that does not need it, and what does
            need it says so.
        stream : LossStream, optional
            The losses that were played.
        proposals : sequence of length T, optional
            What was proposed, as `play` took it.
        hints : array of shape (T, d), optional
            The hints, as `play` took them.

        Returns
        -------
        Trace

        Raises
        ------
        InputError
            If columns are missing, unknown, not float64 or not finite; if rows are out of order; if moves or their
            costs are not those of the decisions, or losses not those of the stream.

        Examples
        --------
        >>> import driftwise as dw
        >>> losses = dw.TrackingLoss([[1.0], [1.0], [-1.0]])
        >>> frame = dw.play(dw.OGD(dw.Ball(1), step=0.5), losses, switching_cost=2.0).to_pandas()
        >>> trace = dw.Trace.from_pandas(frame, stream=losses)
        >>> trace.total, dw.regret.dynamic_regret(trace, losses, [[1.0], [1.0], [1.0]])
        (3.65625, 1.65625)
        """
        owner = "Trace.from_pandas"
        return cls._restored(owner, from_pandas(owner, frame), switching_cost, learner, stream, proposals, hints)

    @classmethod
    @checked
    def from_polars(
        cls,
        frame: "polars.DataFrame",
        *,
        switching_cost: float | MoveCost | None = None,
        learner: Learner | Committee | None = None,
        stream: LossStream | None = None,
        proposals: Any = None,
        hints: ArrayLike | None = None,
    ) -> Self:
        """Return the run that a polars DataFrame holds, bit for bit.

        Parameters
        ----------
        frame : polars.DataFrame
            One row a round, in order, with the columns that `from_pandas` describes.
        switching_cost, learner, stream, proposals, hints : optional
            As in `from_pandas`. A polars frame carries no settings, so what moves cost is known only if it is given.

        Returns
        -------
        Trace

        Examples
        --------
        >>> import driftwise as dw
        >>> losses = dw.TrackingLoss([[1.0], [1.0], [-1.0]])
        >>> frame = dw.play(dw.OGD(dw.Ball(1), step=0.5), losses, switching_cost=2.0).to_polars()
        >>> dw.Trace.from_polars(frame, switching_cost=2.0).total
        3.65625
        """
        owner = "Trace.from_polars"
        return cls._restored(owner, from_polars(owner, frame), switching_cost, learner, stream, proposals, hints)

    @classmethod
    @checked
    def from_parquet(
        cls,
        path: str | os.PathLike[str],
        *,
        switching_cost: float | MoveCost | None = None,
        learner: Learner | Committee | None = None,
        stream: LossStream | None = None,
        proposals: Any = None,
        hints: ArrayLike | None = None,
        max_bytes: int = MAX_BYTES,
    ) -> Self:
        """Return the run that a parquet file holds, bit for bit.

        Parameters
        ----------
        path : str or path
            A file that `to_parquet` wrote, or another one with the columns that `from_pandas` describes.
        switching_cost, learner, stream, proposals, hints : optional
            As in `from_pandas`.
        max_bytes : int, default 2147483648
            Largest file, and largest table in memory, that is read, in bytes.

        Returns
        -------
        Trace

        Raises
        ------
        CheckpointError
            If the file is not a parquet file, is damaged, or was changed since driftwise wrote it.
        InputError
            As in `from_pandas`, and for more than `max_bytes`.
        StorageError
            If the file does not exist or cannot be read.

        Examples
        --------
        >>> import tempfile
        >>> import driftwise as dw
        >>> losses = dw.TrackingLoss([[1.0], [1.0], [-1.0]])
        >>> trace = dw.play(dw.OGD(dw.Ball(1), step=0.5), losses, switching_cost=2.0)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     trace.to_parquet(f"{folder}/run.parquet")
        ...     dw.Trace.from_parquet(f"{folder}/run.parquet").total
        3.65625
        """
        owner = "Trace.from_parquet"
        table = read_parquet(owner, path, max_bytes)
        return cls._restored(owner, table, switching_cost, learner, stream, proposals, hints)

    def _parts(self) -> "Mapping[str, Array | None]":
        costs = self.move_costs if "switching_cost" in vars(self) else None
        return {
            "loss": self.losses,
            "move": self.moves,
            "move_cost": costs,
            "w": self.decisions,
            "weight": self.weights,
        }

    def _settings(self) -> Mapping[str, Any]:
        price = vars(self).get("switching_cost")
        proposed = vars(self).get("proposals", True) is not None
        hinted = {"hints": True} if vars(self).get("hints", True) is not None else {}
        return {
            "learner": self._maker("learner"),
            "switching_cost": _trace_table.plain(price),
            "proposals": proposed,
            **hinted,
        }

    @classmethod
    def _restored(
        cls,
        owner: str,
        table: Table,
        switching_cost: float | MoveCost | None,
        learner: Learner | Committee | None,
        stream: LossStream | None,
        proposals: Any,
        hints: ArrayLike | None,
    ) -> Self:
        """Return the run of a table, with what was given by keyword, if all of it fits together."""
        parts, settings = cls._read(owner, table)
        decisions, moves, losses = parts["w"], parts["move"], parts["loss"]
        assert decisions is not None and moves is not None and losses is not None  # noqa: PT018
        price = _trace_table.price(
            owner, settings.get("switching_cost") if switching_cost is None else switching_cost, decisions
        )
        _trace_table.check_moves(owner, decisions, moves, parts["move_cost"], price)
        _trace_table.check_played(owner, decisions, losses, learner, stream)
        if learner is not None and settings.get("learner") not in (None, type(learner).__name__):
            raise InputError(
                f"{owner}: the run is one of {settings['learner']!r:.60}, and the learner given is {learner!r:.60}."
            )
        held: dict[str, Any] = {"decisions": decisions, "losses": losses, "moves": moves, "weights": parts["weight"]}
        if proposals is not None or not settings.get("proposals"):
            held["proposals"] = proposals
        if hints is not None or not settings.get("hints"):
            held["hints"] = read_hints(owner, hints, len(decisions), decisions.shape[1], table.index)
        held["_index"] = table.index
        outside = {"switching_cost": price, "learner": learner, "stream": stream}
        return cls._made_of(settings.get("learner"), held, outside)
