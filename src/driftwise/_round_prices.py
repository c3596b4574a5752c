"""What moves cost in a run: one price for all rounds, or one for each round."""

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from driftwise._frames.given import plain
from driftwise._validate import Array, describe, read_only
from driftwise.errors import ParameterError
from driftwise.movecost import MoveCost, move_cost_for

Prices: TypeAlias = float | MoveCost | Array | tuple[float | MoveCost, ...]
"""One price, or one for each round: numbers as an array of shape (T,), anything else as a tuple."""


def read_prices(owner: str, given: Any, rounds: int, dim: int) -> Prices:
    """Return the price of a run, or the prices of its rounds, in their simplest form.

    Examples
    --------
    >>> read_prices("play", [1.0, 2.5], rounds=2, dim=1)
    array([1. , 2.5])
    """
    given = plain(owner, "switching_cost", given)
    if not varies(given):
        return move_cost_for(owner, given, dim).simplest
    if isinstance(given, np.ndarray) and given.ndim != 1:
        raise ParameterError(
            f"{owner}: switching_cost must be one price, or one for each round, of shape (T,), got {describe(given)}."
        )
    if len(given) != rounds:
        raise ParameterError(
            f"{owner}: switching_cost must be one price, or one for each of the {rounds} rounds, got {len(given)}."
        )
    each = [move_cost_for(f"{owner}, round {t}", one, dim).simplest for t, one in enumerate(given)]
    if any(isinstance(one, MoveCost) for one in each):
        return tuple(each)
    return read_only(np.array(each, np.float64))


def varies(given: Any) -> bool:
    """Tell whether a switching cost is one for each round."""
    return (isinstance(given, np.ndarray) and given.ndim > 0) or (
        isinstance(given, Sequence) and not isinstance(given, str)
    )


def costs_along(given: Prices, decisions: Array, moves: Array) -> Array:
    """Return the cost of the move into each decision, at the price of its round; 0 for the first."""
    if isinstance(given, np.ndarray):
        return np.asarray(given * moves)
    if isinstance(given, tuple):
        found = np.zeros(len(moves))
        for t in range(1, len(found)):
            found[t] = move_cost_for("Trace", given[t]).along(decisions[t - 1 : t + 1], moves[t - 1 : t + 1])[1]
        return found
    return move_cost_for("Trace", given).along(decisions, moves)


def largest_of(given: Prices, dim: int) -> float:
    """Return the most that a move by one unit of distance costs in any round."""
    every: Sequence[Any] | NDArray[Any] = given if varies(given) else [given]  # type: ignore[assignment]
    return max(move_cost_for("Trace", one).largest(dim) for one in every)


def shown(given: Prices) -> str:
    """Return a switching cost in a few words."""
    if isinstance(given, np.ndarray):
        return f"from {given.min():g} to {given.max():g}"
    return "prices of its own each round," if isinstance(given, tuple) else f"{move_cost_for('Trace', given)}"
