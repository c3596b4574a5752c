"""The base classes of loss streams: values and gradients first, then everything else that is known about a stream.

`LossStream` is the contract. A stream must give values, gradients and the constants that the guarantees need; what it
states beyond that (that it is quadratic, that its coordinates are separate problems, its best fixed decision) allows
exact methods, and a stream that states nothing more is handled by the general ones.

`DataLoss` is a stream whose losses are a *link*, a convex function of a number and its target: of a score <x_t, w>
or of each coordinate (see `losses.forms`). A built-in loss is one file: two plugins that compute the link and its
slope, its `pieces` if it is made of a parabola and a kink, and its docstring. A link of another form states its
conjugate and its cvxpy expression instead.
"""

from abc import abstractmethod
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from driftwise._compile import Plugin
from driftwise._frames.given import Labels, plain, taken_from
from driftwise._settings import Fixed
from driftwise._validate import Array, array, checked, describe, instance, loose
from driftwise.domains import Domain
from driftwise.errors import InputError, RoundIndexError
from driftwise.losses import kernels
from driftwise.losses.pieces import LossData, Parabolas, Pieces


def read_rows(owner: str, name: str, value: ArrayLike) -> Array:
    """Return a matrix with one row a round; a plain sequence of numbers is one coordinate a round."""
    given = loose(owner, name, plain(owner, name, value))
    return array(owner, name, given[:, None] if given.ndim == 1 else given, ("rounds", "dim"), copy=True)


def window(decisions: Any, t: int, memory: int) -> Any:
    """Return the decisions that the loss of round t depends on; before the first round the first one is repeated."""
    return decisions[np.maximum(np.arange(t - memory, t + 1), 0)]


class SwitchingCosts(NamedTuple):
    """Two values of lambda that turn memory into a price on movement; `tight` is never the larger one.

    Made by `LossStream.switching_costs`.

    Attributes
    ----------
    paper : float
        m^2 L, the paper's.
    tight : float
        sum_k k L_k, where L_k is the Lipschitz constant in the decision of k rounds ago.

    Examples
    --------
    >>> import driftwise as dw
    >>> losses = dw.FilteredLoss([1.0, 0.5, 0.25], features=[[1.0], [1.0]], targets=[3.0, 2.0])
    >>> losses.switching_costs(dw.Ball(1))
    SwitchingCosts(paper=19.0, tight=4.75)
    """

    paper: float
    tight: float


class RoundLoss:
    """The loss of a single round, which a learner accepts in place of a gradient; made by ``losses[t]``.

    Parameters
    ----------
    stream : LossStream
        The losses of all rounds.
    t : int
        Index of the round, from 0.

    Examples
    --------
    >>> import driftwise as dw
    >>> loss = dw.TrackingLoss([[1.0], [3.0]])[1]
    >>> loss.value([1.0]), loss.gradient([1.0])
    (2.0, array([-2.]))
    """

    def __init__(self, stream: "LossStream", t: int) -> None:
        self._stream = stream
        self._t = t

    def value(self, w: ArrayLike) -> float:
        """Return the unary loss at w.

        Parameters
        ----------
        w : array of shape (dim,)
            A decision.
        """
        return self._stream.unary_value(self._t, w)

    def gradient(self, w: ArrayLike) -> Array:
        """Return the gradient of the unary loss at w.

        Parameters
        ----------
        w : array of shape (dim,)
            A decision.
        """
        return self._stream.gradient(self._t, w)

    def __repr__(self) -> str:
        return f"round {self._t} of {self._stream!r}"


class LossStream(Fixed):
    """A sequence of convex losses f_0, ..., f_{T-1} over windows of the last ``memory + 1`` decisions.

    ``len(losses)`` is T, ``losses[t]`` is the loss of one round. A window has shape (memory + 1, dim), the
    oldest decision first. Before the first round the first decision is taken to have been in place.

    Attributes
    ----------
    dim : int
        Number of coordinates of a decision.
    memory : int
        Number of past decisions m that a loss depends on besides the current one.

    Examples
    --------
    `CustomLoss` makes one from two functions. All of them are used alike:

    >>> import driftwise as dw
    >>> losses = dw.TrackingLoss([[1.0], [3.0]])
    >>> isinstance(losses, dw.LossStream), len(losses), losses.dim, losses.memory
    (True, 2, 1, 0)
    >>> losses.gradient(1, [2.0]), losses.gradient_bound(dw.Ball(1))
    (array([-1.]), 4.0)
    """

    dim: int
    memory: int
    _rounds: int
    _labels: Labels = None
    _remembers = False  # they are large

    @abstractmethod
    def _value(self, t: int, window: Array) -> float: ...

    @abstractmethod
    def _gradient(self, t: int, w: Array) -> Array: ...

    @abstractmethod
    def lipschitz(self, domain: Domain) -> Array:
        """Return L_0, ..., L_m: Lipschitz constants over `domain` in the decision of 0, ..., m rounds ago.

        Parameters
        ----------
        domain : Domain
            Where decisions live.
        """

    @abstractmethod
    def gradient_bound(self, domain: Domain) -> float:
        """Return the largest norm of a unary gradient over `domain` (G in the paper), or a bound on it.

        Parameters
        ----------
        domain : Domain
            Where decisions live.
        """

    @property
    def quadratic(self) -> bool:
        """Whether every unary loss is known to be a quadratic (or linear) function of the decision."""
        return False

    @property
    def index(self) -> Labels:
        """What the rounds are called, such as dates: the index of pandas data, or the time column of a polars frame.

        None where the losses were made of plain arrays, or of data that only number their rows.
        """
        return self._labels

    def best_between(self, low: Array, high: Array, rounds: range) -> Array | None:
        """Return the best fixed decision of some rounds between two corners, if there is a formula for it.

        Parameters
        ----------
        low, high : array of shape (dim,)
            The corners.
        rounds : range
            The rounds.
        """
        return None

    def value(self, t: int, window: ArrayLike) -> float:
        """Return f_t of a window of decisions, oldest first; without memory one decision is enough.

        Parameters
        ----------
        t : int
            The round, from 0.
        window : array of shape (memory + 1, dim)
            The decisions of rounds t - memory, ..., t.
        """
        owner = f"{type(self).__name__}.value"
        given = loose(owner, "window", window)
        if self.memory == 0 and given.ndim < 2:
            given = given.reshape(1, -1)
        checked = array(owner, "window", given, (self.memory + 1, self.dim))
        return float(self._value(self._index(t), checked))

    def unary_value(self, t: int, w: ArrayLike) -> float:
        """Return f_t(w, ..., w).

        Parameters
        ----------
        t : int
            The round, from 0.
        w : array of shape (dim,)
            A decision.
        """
        checked = array(f"{type(self).__name__}.unary_value", "w", w, (self.dim,), copy=True)
        return float(self._unary(self._index(t), checked))

    def gradient(self, t: int, w: ArrayLike) -> Array:
        """Return the gradient of the unary loss at w.

        Parameters
        ----------
        t : int
            The round, from 0.
        w : array of shape (dim,)
            A decision.
        """
        checked = array(f"{type(self).__name__}.gradient", "w", w, (self.dim,), copy=True)
        return self._gradient(self._index(t), checked)

    def policy_losses(self, decisions: ArrayLike) -> Array:
        """Return f_t(w_{t-m}, ..., w_t) for every round of a sequence of decisions, (T, d).

        Parameters
        ----------
        decisions : array of shape (T, d)
            Decisions, one for each round; of shape (T,) will do for d = 1.
        """
        owner = f"{type(self).__name__}.policy_losses"
        return self._policy_losses(array(owner, "decisions", self._in_rows(owner, decisions), (len(self), self.dim)))

    def _in_rows(self, owner: str, decisions: ArrayLike) -> Any:
        """Return decisions as a matrix, of a list of numbers too where each of them is one."""
        given = loose(owner, "decisions", plain(owner, "decisions", decisions))
        return given.reshape(-1, 1) if given.ndim < 2 and self.dim == 1 else given

    def unary_losses(self, decisions: ArrayLike, rounds: range | None = None) -> Array:
        """Return f~_t(w_t) for every round, or for some; a single row of decisions is held for all of them.

        Parameters
        ----------
        decisions : array of shape (n, d)
            A decision for each of the rounds, or a single row for all of them.
        rounds : range, optional
            Consecutive rounds; all of them when left out.
        """
        return self._unary_losses(*self._rows("unary_losses", decisions, rounds))

    def unary_gradients(self, decisions: ArrayLike, rounds: range | None = None) -> Array:
        """Return the gradient of f~_t at w_t for every round, or for some; a single row is held for all of them.

        Parameters
        ----------
        decisions : array of shape (n, d)
            A decision for each of the rounds, or a single row for all of them.
        rounds : range, optional
            Consecutive rounds; all of them when left out.
        """
        return self._unary_gradients(*self._rows("unary_gradients", decisions, rounds))

    def _rows(self, verb: str, decisions: ArrayLike, rounds: range | None) -> tuple[Array, range]:
        """Return decisions and rounds that fit together."""
        owner, chosen = f"{type(self).__name__}.{verb}", range(len(self)) if rounds is None else rounds
        rows = array(owner, "decisions", self._in_rows(owner, decisions), ("rounds", self.dim))
        if chosen != range(len(self))[chosen.start : chosen.stop] or len(rows) not in (1, len(chosen)):
            raise InputError(
                f"{owner}: there must be one decision, or one for each of the rounds, which are consecutive and below "
                f"{len(self)}; got {len(rows)} for {chosen}."
            )
        return rows, chosen

    def _unary(self, t: int, w: Array) -> float:
        return self._value(t, np.tile(w, (self.memory + 1, 1)))

    def _policy_losses(self, decisions: Array) -> Array:
        return np.array([self.value(t, window(decisions, t, self.memory)) for t in range(len(self))])

    def _unary_losses(self, decisions: Array, rounds: range) -> Array:
        rows = np.broadcast_to(decisions, (len(rounds), self.dim))
        return np.array([self.unary_value(t, w) for t, w in zip(rounds, rows, strict=True)])

    def _unary_gradients(self, decisions: Array, rounds: range) -> Array:
        rows = np.broadcast_to(decisions, (len(rounds), self.dim))
        return np.array([self.gradient(t, w) for t, w in zip(rounds, rows, strict=True)])

    def switching_costs(self, domain: Domain) -> SwitchingCosts:
        """Return the two values of lambda for this stream on `domain`; both are 0 without memory.

        Parameters
        ----------
        domain : Domain
            Where decisions live.
        """
        constants = self.lipschitz(domain)
        ages = np.arange(constants.size)
        return SwitchingCosts(float(self.memory**2 * constants.max()), float(ages @ constants))

    def __len__(self) -> int:
        return self._rounds

    def __getitem__(self, t: int) -> RoundLoss:
        return RoundLoss(self, self._index(t))

    def _index(self, t: int) -> int:
        if isinstance(t, int | np.integer) and not isinstance(t, bool) and 0 <= t < self._rounds:
            return int(t)
        raise RoundIndexError(
            f"{type(self).__name__}: round must be a whole number from 0 to {self._rounds - 1}, got {describe(t)}."
        )

    def _domain(self, domain: Domain) -> Domain:
        owner = type(self).__name__
        instance(owner, "domain", domain, Domain, f"Ball({self.dim})")
        if domain.dim != self.dim:
            raise InputError(f"{owner}: the domain must have dim {self.dim}, got {domain!r}.")
        return domain

    def __repr__(self) -> str:
        return f"{type(self).__name__}(rounds={self._rounds}, dim={self.dim}, memory={self.memory})"


class DataLoss(LossStream):
    """A stream defined by data and a link, which can run inside the compiled loop.

    Attributes
    ----------
    value_of, slope_of : Plugin
        The link and its derivative in compiled code (see `losses.kernels`).
    each : bool
        Whether the link is applied to each coordinate rather than to the score.
    nonnegative : bool
        Whether no loss is ever below 0.
    mixable : float
        The largest rate eta for which exp(-eta loss) is known to be concave, so that a mixture never loses more than
        Hedge's mix loss at that rate; 0 if none is.
    pieces : Pieces or None
        The link as a parabola with a kink, if it is one.
    taps, shape : array
        The filter and the parameters of the link, if they are not the defaults (see `LossData`).
    """

    value_of: ClassVar[Plugin]
    slope_of: ClassVar[Plugin]
    each: ClassVar[bool] = False
    nonnegative: ClassVar[bool] = True
    mixable: ClassVar[float] = 0.0
    pieces: Pieces | None = None
    taps: Array = np.ones(1)
    shape: Array = np.empty((0, 1))

    def __init__(self, features: Array, targets: Array, index: Labels = None) -> None:
        self._labels = index
        self.data = LossData(features, targets, self.taps, self.shape)
        self._rounds, self.dim = features.shape
        self.memory = self.taps.size - 1

    @classmethod
    @checked
    def from_frame(cls, frame: Any, *, time: str | None = None, **arguments: Any) -> Self:
        """Return losses whose data are columns of a pandas or polars frame, with one row a round.

        Parameters
        ----------
        frame : pandas.DataFrame or polars.DataFrame
            The table, in the order of time.
        time : str, optional
            Column that says when each round is; it must not go backwards, and becomes `index`. By default that is the
            index of a pandas frame, which must not go backwards if it is one of times.
        **arguments : str, list of str, or a value
            Arguments of the constructor: the name of a column, a list of names for a matrix, or a value as it is, such
            as ``frame[[0, 1]]`` where names are not words.

        Examples
        --------
        >>> import pandas as pd
        >>> import driftwise as dw
        >>> hours = pd.date_range("2024-03-01", periods=3, freq="h", name="hour")
        >>> table = pd.DataFrame({"views": [3.0, 8.0, 4.0]}, index=hours)
        >>> losses = dw.CapacityLoss.from_frame(table, demands="views", shortage=5.0)
        >>> dw.play(dw.OGD(dw.Box(0.0, 9.0), step=1.0), losses).to_pandas()["w_0"]
        hour
        2024-03-01 00:00:00    0.0
        2024-03-01 01:00:00    4.0
        2024-03-01 02:00:00    8.0
        Freq: h, Name: w_0, dtype: float64
        """
        given, labels = taken_from(f"{cls.__name__}.from_frame", frame, time, arguments)
        made = cls(**given)
        if made._labels is None:
            made.__dict__["_labels"] = labels
        return made

    def admissible(self, slopes: Array) -> Array:
        """Return slopes, clipped to where the conjugate link is finite."""
        pieces = self.pieces
        if pieces is None or pieces.bend > 0.0:
            return slopes
        return np.clip(slopes, pieces.right - pieces.jump, pieces.right)

    def conjugates(self, slopes: Array) -> tuple[Array, ...]:
        """Return ``sup_z r z - link(z)`` at each admissible slope r, as a tuple of addends."""
        bend, right, jump, level = self.known_pieces
        beyond = np.maximum(slopes - right, 0.0) + np.minimum(slopes - right + jump, 0.0)
        return slopes * self.aims, np.asarray(-level), 0.5 * beyond**2 / (bend or 1.0)

    def units(self, reach: float) -> tuple[float, float]:
        """Return the units of scores and of losses in which a problem with scores of up to `reach` has size 1 or so."""
        if self.pieces is None or self.pieces.bend > 0.0:
            return reach, reach**2
        steepest = np.maximum(np.abs(self.pieces.right), np.abs(self.pieces.right - self.pieces.jump))
        return reach, max(reach * float(np.max(steepest)), 1e-100)

    def expression(self, cp: Any, gap: Any, score: float, cost: float) -> Any:
        """Return the sum of the losses less their levels, in units of `cost`, as a cvxpy expression.

        `gap` is scores less targets in units of `score`: (T,), or (T, d) if the link is applied to each coordinate.
        """
        bend, right, jump, _ = self.known_pieces
        total: Any = 0.5 * bend * score**2 / cost * cp.sum_squares(gap) if bend else 0.0
        for slope, side in ((right, gap), (jump, cp.neg(gap))):
            if np.any(slope):
                total += cp.sum(cp.multiply(np.full(gap.shape, slope) * score / cost, side))
        return total

    def bends(self, scores: Array, aims: Array) -> Array | None:
        """Return the second derivative of the link at scores with these targets, or None if it has kinks."""
        return np.full(scores.shape, self.known_pieces.bend) if self.quadratic else None

    @property
    def quadratic(self) -> bool:
        """Whether every unary loss is a quadratic (or linear) function of the decision."""
        return self.pieces is not None and self.pieces.smooth

    @property
    def of_gap(self) -> bool:
        """Whether the link is a function of score less target alone, so that a target can be clipped."""
        return self.pieces is not None

    @property
    def separable(self) -> bool:
        """Whether every loss is a sum of functions of one coordinate each, made of parabolas and kinks."""
        alone = self.each or self.dim == 1
        return self.memory == 0 and self.pieces is not None and (alone or self.pieces.linear)

    @property
    def aims(self) -> Array:
        """Targets of the link: (T,), or (T, d) if it is applied to each coordinate."""
        return self.data.features if self.each else self.data.targets

    @property
    def parabolas(self) -> Parabolas:
        """The losses as functions of their scores, right of a kink."""
        bend, right, _, level = self.known_pieces
        y = self.aims.reshape(len(self), -1)
        pull, constant = bend * y - right, 0.5 * y * y * bend - right * y + level
        return Parabolas(bend, np.broadcast_to(pull, y.shape), np.broadcast_to(constant, y.shape))

    @property
    def known_pieces(self) -> Pieces:
        """The pieces of a link that is made of them."""
        if self.pieces is None:
            raise NotImplementedError(f"{type(self).__name__} must state its pieces, or what follows from them.")
        return self.pieces

    def scores(self, decisions: Array) -> Array:
        """Return what the unary losses see of the decisions, (T, d): scores, or each coordinate."""
        if self.each:
            return decisions
        return np.asarray(kernels.held_tap(self.data.taps) * np.einsum("td,td->t", self.data.features, decisions))

    def pulls(self, slopes: Array) -> Array:
        """Return the pull of slopes of the link on each decision: the transpose of the filter, applied to them."""
        features, taps = self.data.features, self.data.taps
        if self.each:
            return slopes
        if self.memory == 0:
            return np.asarray((taps[0] * slopes)[:, None] * features)
        each = slopes[:, None] * features
        result = taps[0] * each
        for k in range(1, taps.size):
            result[: max(len(each) - k, 0)] += taps[k] * each[k:]
            result[0] += taps[k] * each[:k].sum(axis=0)  # before the first round the first decision is repeated
        return np.asarray(result)

    def _policy_losses(self, decisions: Array) -> Array:
        # Without memory both give the same, and the second kernel is needed anyway.
        kernel = kernels.policy_values if self.memory else kernels.unary_values
        return self._write(kernel, 0, decisions, len(self))

    def _unary_losses(self, decisions: Array, rounds: range) -> Array:
        return self._write(kernels.unary_values, rounds.start, decisions, len(rounds))

    def _unary_gradients(self, decisions: Array, rounds: range) -> Array:
        return self._write(kernels.unary_gradients, rounds.start, decisions, (len(rounds), self.dim))

    def _write(self, kernel: Any, first: int, decisions: Array, shape: int | tuple[int, int]) -> Array:
        out = np.empty(shape)
        kernel(*self._parts, first, decisions, out)
        return out

    def _value(self, t: int, window: Array) -> float:
        return float(self._write(kernels.policy_values, t, window, 1)[0])

    def _unary(self, t: int, w: Array) -> float:
        return float(self._write(kernels.unary_values, t, w[None], 1)[0])

    def _gradient(self, t: int, w: Array) -> Array:
        return self._write(kernels.unary_gradients, t, w[None], (1, self.dim)).reshape(-1)

    @property
    def _parts(self) -> tuple[Array, Array, Array]:
        """Arrays that compiled code reads: the terms, features and targets of the stream."""
        return self._terms, self.data.features, self.data.targets

    @cached_property
    def _terms(self) -> Array:
        value, slope = type(self).value_of.address, type(self).slope_of.address
        return kernels.loss_terms(value, slope, self.each, self.data.taps, self.data.shape)

    def __getstate__(self) -> dict[str, Any]:
        """Return everything but the addresses of machine code, which are valid in this process only."""
        return {name: value for name, value in self.__dict__.items() if name != "_terms"}


def compile_links(kind: type[DataLoss] = DataLoss) -> None:
    """Compile the link of every loss there is, or load it from disk."""
    for loss in kind.__subclasses__():
        if "value_of" in vars(loss):
            _ = loss.value_of.address, loss.slope_of.address
        compile_links(loss)
