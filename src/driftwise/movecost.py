"""The cost of a move: one price per unit of distance, or prices up and down for each coordinate."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from driftwise._saving import savable
from driftwise._validate import Array, Checked, array, choice, loose, number, read_only
from driftwise.errors import ParameterError

NORMS = ("l1", "l2")


@savable
@dataclass(frozen=True, eq=False)
class MoveCost(metaclass=Checked):
    """Prices of moving a decision, in your own unit of cost.

    Wherever a `switching_cost` is asked for, a number is the price of one unit of Euclidean distance; this class is for
    everything else: a step up that costs more than a step down, coordinates with different prices, and prices that
    add up over the coordinates.

    Parameters
    ----------
    up : float or array of shape (d,)
        Price of raising a coordinate by one unit, at least 0; one for all coordinates or one for each.
    down : float or array of shape (d,), optional
        Price of lowering a coordinate by one unit; the same as `up` when left out.
    norm : {"l1", "l2"}, default "l1"
        How the coordinates count together. "l1": prices add up, as they do for machines or units of goods. "l2": the
        root of the sum of squares, so that ``MoveCost(up=c, norm="l2")`` is the number c.

    Examples
    --------
    Starting a machine costs 3, stopping one costs 1:

    >>> import driftwise as dw
    >>> cost = dw.MoveCost(up=3.0, down=1.0)
    >>> cost([2.0, -1.0])
    7.0
    >>> cost([[1.0], [-1.0], [0.0]])
    array([3., 1., 0.])
    """

    up: ArrayLike
    down: ArrayLike | None = None
    norm: str = "l1"

    def __post_init__(self) -> None:
        choice("MoveCost", "norm", self.norm, NORMS)
        up = _prices("up", self.up)
        down = up if self.down is None else _prices("down", self.down)
        if up.ndim == down.ndim == 1 and up.size != down.size:
            raise ParameterError(
                f"MoveCost: up and down must have one price for each coordinate, got {up.size} and {down.size}."
            )
        object.__setattr__(self, "up", up)
        object.__setattr__(self, "down", down)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Return the prices themselves, which nobody can change: copies of a learner share them."""
        return self

    @property
    def dim(self) -> int | None:
        """Number of coordinates that the prices are for; None when one price is for all."""
        sizes = [prices.size for prices in (np.asarray(self.up), np.asarray(self.down)) if prices.ndim]
        return sizes[0] if sizes else None

    @property
    def symmetric(self) -> bool:
        """Whether up and down cost the same."""
        return bool(np.all(np.asarray(self.up) == np.asarray(self.down)))

    @cached_property
    def plain(self) -> float | None:
        """The price of one unit of Euclidean distance if the cost is no more than that; None otherwise."""
        if self.norm == "l2" and self.symmetric and np.ptp(np.asarray(self.up)) == 0.0:
            return float(np.max(np.asarray(self.up)))
        return None

    @property
    def simplest(self) -> "float | MoveCost":
        """The equivalent number where there is one, as users give and read it; otherwise these prices."""
        return self if self.plain is None else self.plain

    @property
    def averaged(self) -> "MoveCost":
        """The means of the prices up and down, both ways.

        Where prices add up ("l1"), a path that ends where it began costs the same at both.
        """
        if self.symmetric:
            return self
        return MoveCost(0.5 * np.asarray(self.up) + 0.5 * np.asarray(self.down), norm=self.norm)

    def prices(self, dim: int) -> Array:
        """Return the prices up (first row) and down (second row) of `dim` coordinates.

        Parameters
        ----------
        dim : int
            Number of coordinates.
        """
        return np.stack([np.broadcast_to(np.asarray(self.up), dim), np.broadcast_to(np.asarray(self.down), dim)])

    def largest(self, dim: int, order: float = 2.0) -> float:
        """Return the most that a move by one unit of distance can cost: Euclidean, or in the norm of another order.

        The order is from 1 to 2.

        Parameters
        ----------
        dim : int
            Number of coordinates.
        order : float, default 2.0
            Order of the norm that measures distance.
        """
        each = self.prices(dim).max(axis=0)
        if self.norm == "l2" or order == 1.0:  # no distance is longer in l2 than in a norm of a lower order
            return float(each.max())
        if order == 2.0:
            return float(_lengths(each[None])[0])
        return float(np.linalg.norm(each, ord=order / (order - 1.0)))

    def __call__(self, changes: ArrayLike) -> "float | Array":
        """Return the price of a change of the decision, of shape (d,), or of every row of changes."""
        given = loose("MoveCost", "changes", changes)
        shape = ("T", "d") if given.ndim == 2 else ("d",)
        rows = np.atleast_2d(array("MoveCost", "changes", given, shape))
        if self.dim not in (None, rows.shape[1]):
            raise ParameterError(
                f"MoveCost: the prices are for {self.dim} coordinates, the changes have {rows.shape[1]}."
            )
        total = self._of(rows)
        return total if given.ndim == 2 else float(total[0])

    def along(self, decisions: Array, distances: Array | None = None) -> Array:
        """Return the cost of the move into each decision, for every row of (T, d); 0 for the first.

        Euclidean distances between the rows, if they are known, need not be computed again.

        Parameters
        ----------
        decisions : array of shape (T, d)
            Decisions, one a round.
        distances : array of shape (T,), optional
            Their Euclidean moves, if they are known already; used where a move has one price for all directions.
        """
        changes = np.diff(decisions, axis=0, prepend=decisions[:1])
        if self.plain is None or distances is None:
            return self._of(changes)
        return np.asarray(self.plain * distances)

    def total(self, decisions: Array, distances: Array) -> float:
        """Return the total cost of the moves from one row of decisions to the next.

        Parameters
        ----------
        decisions : array of shape (T, d)
            Decisions, one a round.
        distances : array of shape (T,)
            Their Euclidean moves, which are priced where a move has one price for all directions.
        """
        return float(self.along(decisions).sum() if self.plain is None else self.plain * distances.sum())

    def _of(self, rows: Array) -> Array:
        """Return the price of every row of changes, which have been checked."""
        if self.plain is not None:
            return np.asarray(self.plain * _lengths(rows))
        up, down = self.prices(rows.shape[1])
        each = up * np.maximum(rows, 0.0) + down * np.maximum(-rows, 0.0)
        return np.asarray(each.sum(axis=1)) if self.norm == "l1" else _lengths(each)

    def __eq__(self, other: object) -> bool:
        """Tell whether every move costs the same: prices are compared as they stand, or with a number."""
        if isinstance(other, MoveCost):
            return self._key == other._key
        return self.plain is not None and self.plain == other

    def __hash__(self) -> int:
        return hash(self._key if self.plain is None else self.plain)

    @property
    def _key(self) -> tuple[Any, ...]:
        sides = [np.asarray(side) for side in (self.up, self.down)]
        return self.norm, *(tuple(np.unique(side) if np.ptp(side) == 0.0 else side) for side in sides)

    def __str__(self) -> str:
        return repr(self) if self.plain is None else f"{self.plain:g}"

    def __repr__(self) -> str:
        up, down = (np.array2string(np.asarray(side), threshold=6) for side in (self.up, self.down))
        return f"MoveCost(up={up}, down={down}, norm={self.norm!r})"


def _lengths(rows: Array) -> Array:
    """Return the Euclidean length of every row, even where squares overflow or underflow."""
    largest = np.max(np.abs(rows), axis=1)
    unit = np.where(largest > 0.0, largest, 1.0)
    return np.asarray(largest * np.sqrt(np.sum((rows / unit[:, None]) ** 2, axis=1)))


def _prices(name: str, given: ArrayLike) -> Array:
    values = loose("MoveCost", name, given)
    if values.ndim == 0:
        return read_only(np.array(number("MoveCost", name, given, low=0.0)))
    prices = array("MoveCost", name, values, ("d",), copy=True)
    if prices.min() < 0.0:
        raise ParameterError(
            f"MoveCost: {name} must be at least 0 everywhere, got a smallest price of {prices.min():g}."
        )
    return read_only(prices)


def price_like(owner: str, given: "float | MoveCost", built: MoveCost, dim: int) -> MoveCost:
    """Return the prices of one round, of the kind that a learner was built for."""
    cost = move_cost_for(owner, given, dim)
    if built.plain is not None:
        if cost.plain is None and dim == 1 and cost.symmetric:
            cost = MoveCost(cost.up, norm="l2")
        if cost.plain is None:
            raise ParameterError(
                f"{owner}: this one was built for a price of Euclidean distance, so the switching_cost of a round is a "
                f"number, got {cost!r}; build it with a MoveCost to give it others."
            )
    elif cost.norm != built.norm:
        if dim > 1:
            raise ParameterError(
                f"{owner}: this one was built for prices with norm={built.norm!r}, so the switching_cost of a round "
                f"has prices with that norm too, got {given!r}."
            )
        cost = MoveCost(cost.up, cost.down, norm=built.norm)
    return cost


def move_cost_for(owner: str, given: "float | MoveCost", dim: int | None = None) -> MoveCost:
    """Return a switching cost, given as a number or as prices, as prices; for `dim` coordinates if that is known."""
    if not isinstance(given, MoveCost):
        return MoveCost(number(owner, "switching_cost", given, low=0.0), norm="l2")
    if dim is not None and given.dim not in (None, dim):
        raise ParameterError(
            f"{owner}: the prices of switching_cost are for {given.dim} coordinates, and decisions have {dim}."
        )
    return given
