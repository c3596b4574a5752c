"""Rules that weigh forecasts, each by what every forecast has cost so far."""

import numpy as np

from driftwise.experiments.comparison.decisions.problem import Problem
from driftwise.experiments.comparison.decisions.rules.family import Family, whole_percent
from driftwise.experiments.contests.rules import follow, inverse_errors

WINDOWS, TOLERANCES = (20, 1, 5, 60, 200), (0.1, 0.0, 0.3, 0.6)
"""Rows that the window rule looks back, and how much better another forecast has to be; the defaults first."""


def weight_rules(problem: Problem) -> list[Family]:
    """Return the rules for weights."""
    rows, count = len(problem.values), len(problem.forecasts)
    errors = 0.5 * (np.column_stack(list(problem.forecasts.values())) - problem.values[:, None]) ** 2
    windows = {
        f"window {window}, tolerance {whole_percent(tolerance)}": follow(errors, window, tolerance)
        for window in WINDOWS
        for tolerance in TOLERANCES
    }
    inverse = {f"window {window}": inverse_errors(errors, window) for window in WINDOWS}
    alone = {repr(name): np.tile(np.eye(count)[k], (rows, 1)) for k, name in enumerate(problem.forecasts)}
    return [
        Family("Equal weights", {"": np.full((rows, count), 1.0 / count)}, ""),
        Family("Best of the last row", {"": follow(errors, window=1, tolerance=0.0)}, ""),
        Family("Window rule", windows, next(iter(windows))),
        Family("Inverse errors", inverse, next(iter(inverse))),
        Family("One forecast for all rows", alone, None),
    ]
