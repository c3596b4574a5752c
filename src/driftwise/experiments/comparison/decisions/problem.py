"""A file as a problem of decisions: losses, where decisions may lie, what a move costs, and what the user did."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from driftwise._validate import Array
from driftwise.domains import Domain
from driftwise.errors import InputError
from driftwise.experiments.comparison.sheet import Sheet
from driftwise.losses import LossStream
from driftwise.movecost import MoveCost


@dataclass(frozen=True)
class Options:
    """How the columns of a file become a problem; see `compare`."""

    mine: str | None = None
    forecasts: Sequence[str] | None = None
    shortage: float | None = None
    idle: float | None = None
    low: float | None = None
    high: float | None = None
    start: float | None = None
    period: int | None = None
    whole: bool = False


@dataclass(frozen=True, eq=False)
class Mine:
    """What the user really did."""

    decisions: Array | None
    """Shape (T, d); None if only the forecast that came of the weights is known."""
    running: Array
    """Cost of every row, shape (T,)."""


@dataclass(frozen=True, eq=False)
class Problem:
    """What everyone plays."""

    kind: str
    """One of the problems of `options`, other than regression."""
    sheet: Sheet
    target: str
    values: Array
    """The column that is followed, met or foretold, shape (T,)."""
    forecasts: Mapping[str, Array]
    """Forecasts of the user's by column, each of shape (T,)."""
    losses: LossStream
    domain: Domain
    price: MoveCost
    start: Array
    """First decision of our learners, and what the rules know before the first row."""
    mine: Mine | None
    options: Options
    counted: float
    """Largest change of a decision that is not counted as a move."""
    decided: str
    """What is decided, in words."""
    row: str
    """What a row costs, in words."""
    limits: str
    """Where decisions may lie, and where that comes from, in words."""
    began: str
    """Where the first decision comes from, in words."""
    outcome: str
    """Python for the loss of a row that has become known."""
    now: Array | None
    """Where the user stands after the last row, if that is known."""


def columns(sheet: Sheet, target: str, options: Options) -> tuple[str, str | None, list[str]]:
    """Return the columns of the target, of what the user did and of the forecasts, which are checked."""
    target = sheet.column(target, "target")
    mine = None if options.mine is None else sheet.column(options.mine, "decisions of yours (--mine)")
    names = [sheet.column(name, "forecasts") for name in options.forecasts or ()]
    if mine == target:
        raise InputError(f"compare: {target!r} is the target and cannot be what you did (--mine), too.")
    if target in names:
        raise InputError(f"compare: {target!r} is the target and cannot be a forecast, too.")
    again = [name for name in names if names.count(name) > 1]
    if again:
        raise InputError(f"compare: the forecast {again[0]!r} is named more than once.")
    return target, mine, names


def smallest_move(width: float, decisions: Array | None) -> float:
    """Return what is not counted as a move: 0.1 % of a width, or less where the user's own moves are smaller."""
    changes = np.zeros(1) if decisions is None else np.abs(np.diff(decisions, axis=0)).ravel()
    own = changes[changes > 0.0]
    return min(1e-3 * width, 0.5 * float(own.min())) if own.size else 1e-3 * width
