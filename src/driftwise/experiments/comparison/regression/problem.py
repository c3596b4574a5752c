"""From columns to a problem: squared losses of features and target, a ball of weights, and a bound on gradients."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from driftwise import _compile
from driftwise._validate import Array, number
from driftwise.domains import Ball
from driftwise.errors import InputError
from driftwise.experiments.comparison.cells import read_numbers
from driftwise.experiments.comparison.regression.learners import Setting
from driftwise.experiments.comparison.sheet import Sheet, listed
from driftwise.losses import SquaredLoss
from driftwise.regret import best_fixed

INTERCEPT = "intercept"
SMALLEST = 1e-90
"""Smallest radius and gradient bound that can be computed with."""


@dataclass(frozen=True)
class Options:
    """How the columns of a file become a problem; see `compare`."""

    features: Sequence[str] | None = None
    intercept: bool = False
    standardise: bool = False
    radius: float | None = None


@dataclass(frozen=True)
class Problem:
    """What the learners play, and where its constants come from."""

    sheet: Sheet
    target: str
    names: list[str]
    """Names of the weights: the features, and the intercept if there is one."""
    features: Array
    targets: Array
    losses: SquaredLoss
    domain: Ball
    fixed: Array
    """The best fixed weights."""
    setting: Setting
    options: Options
    radius_from: str
    """Origin of the radius, in words."""
    steepest: Array
    """Largest gradient that each row can have; G is the largest of them."""


@np.errstate(over="ignore")  # units that overflow are refused
def read_problem(sheet: Sheet, target: str, switching_cost: float, options: Options) -> Problem:
    """Check the columns and build the problem."""
    lambda_ = number("compare", "switching_cost", switching_cost, low=0.0)
    target = sheet.column(target, "target")
    names = _features(sheet, target, options)
    table = read_numbers(sheet, [*names, target], [target, *(options.features or ())])
    x, y = table[:, :-1], np.ascontiguousarray(table[:, -1])
    if options.standardise:
        x = _standardised(sheet, names, x)
    if options.intercept:
        x, names = np.column_stack([x, np.ones(len(y))]), [*names, INTERCEPT]
    x = np.ascontiguousarray(x)
    if not x.any():
        raise InputError(f"{sheet.file}: every feature ({listed(names)}) is 0 in every row: there is nothing to learn.")
    free = _least_squares(x, y)
    size = float(np.linalg.norm(free))
    if options.radius is not None:
        radius, source = number("compare", "radius", options.radius, low=0.0, exclusive=True), "chosen"
    elif size > 0.0:
        radius, source = 2.0 * size, "twice the norm of the best fixed weights, so taken from the file"
    else:
        radius, source = 1.0, "a default, as the best fixed weights are all 0"
    lengths = np.linalg.norm(x, axis=1)
    steepest = lengths * (lengths * radius + np.abs(y))
    G = float(steepest.max())
    if not (SMALLEST <= G <= _compile.LARGEST and SMALLEST <= radius <= _compile.LARGEST):
        raise InputError(
            f"{sheet.file}: with these units the weights may be as large as {radius:.3g} and gradients as large as "
            f"{G:.3g}, which is beyond computing; bring features and target nearer to 1 in size."
        )
    losses, domain = SquaredLoss(x, y), Ball(x.shape[1], radius)
    fixed = free if size <= radius else best_fixed(losses, domain)
    setting = Setting(domain, losses.gradient_bound(domain), lambda_, len(y))
    return Problem(sheet, target, names, x, y, losses, domain, fixed, setting, options, source, steepest)


def _features(sheet: Sheet, target: str, options: Options) -> list[str]:
    """Return the columns that are features."""
    if options.features is None:
        names = [name for name in sheet.usable if name != target]
        nameless = [sheet.names.index(name) + 1 for name in names if name.startswith("\0")]
        if nameless:
            raise InputError(
                f"{sheet.file}: column {nameless[0]} has no name in the header; name the features to use with "
                "--feature, or drop the column (pandas leaves out such an index with to_csv(index=False))."
            )
    else:
        names = [sheet.column(name, "features") for name in options.features]
        again = [name for name in names if names.count(name) > 1]
        if again:
            raise InputError(f"compare: the feature {again[0]!r} is named more than once.")
        if target in names:
            raise InputError(f"compare: {target!r} is the target and cannot be a feature, too.")
    if INTERCEPT in names and options.intercept:
        raise InputError(
            f"compare: {sheet.file} has a feature of its own called {INTERCEPT!r}; rename it, or drop --intercept."
        )
    if not names and not options.intercept:
        raise InputError(
            f"compare: there are no features beside the target {target!r}; add --intercept, and the learners track the "
            "level of the target."
        )
    return names


def _standardised(sheet: Sheet, names: list[str], x: Array) -> Array:
    """Return features of mean 0 and standard deviation 1."""
    for name, column in zip(names, x.T, strict=True):
        if column.min() == column.max():
            raise InputError(
                f"{sheet.file}: column {name!r} is {column[0]:g} in every row, so it cannot be standardised; leave it "
                "out, and use --intercept for a constant."
            )
    return np.asarray((x - x.mean(axis=0)) / x.std(axis=0))


def _least_squares(x: Array, y: Array) -> Array:
    """Return the weights of the least total loss, computed in units in which everything is near 1."""
    units = np.linalg.norm(x, axis=0)
    units[units == 0.0] = 1.0
    scale = float(np.abs(y).max()) or 1.0
    solution = np.linalg.lstsq(x / units, y / scale, rcond=None)[0]
    return np.asarray(solution / units * scale)
