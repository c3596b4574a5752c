"""Rules that follow a column, with room on top where it is a demand.

A rule decides on a row from the rows before it. Before the first row it knows one value: where our learner starts.
"""

import itertools
from collections.abc import Iterable

import numpy as np

from driftwise._validate import Array
from driftwise.domains import Box
from driftwise.experiments.comparison.decisions.problem import Problem
from driftwise.experiments.comparison.decisions.rules.family import Family, whole_percent
from driftwise.experiments.comparison.options import CAPACITY
from driftwise.experiments.contests.rules import autoscaler, dead_band, last, moving_average, smoothed
from driftwise.experiments.contests.words import show

SHARES, WINDOWS, BANDS = (0.3, 0.05, 0.1, 0.2, 0.5, 0.8), (20, 2, 3, 5, 10, 50, 100), (0.02, 0.05, 0.1, 0.2, 0.4)
"""Settings of smoothing, of means (of which the first is the default) and, in ranges of the column, of a dead band."""

BAND = 0.1
"""Dead band that people have, in means of the size of what was seen."""

ROOMS = (0.1, 0.0, 0.25, 0.5, 1.0)
"""Headroom above a forecast of a demand; the first is the default."""

SCALER = (20, 0.1, 0.8), *itertools.product((1, 3, 6, 12, 24, 48), (0.0, 0.1, 0.2, 0.4), (1.0, 0.9, 0.8, 0.65))
"""Windows, tolerances and targets of the autoscaler; its defaults first."""


def level_rules(problem: Problem) -> list[Family]:
    """Return the rules for a level or a capacity."""
    known = np.concatenate([problem.start, problem.values])  # before row t, known[: t + 1] has been seen
    plain = list(_followers(problem, known))
    if problem.kind == CAPACITY:
        roomy = [_with_headroom(rule) for rule in plain if rule.label != "Last value"]
        first = _with_headroom(plain[0], "Last value + headroom", f"Last value + {whole_percent(ROOMS[0])}")
        plain = [plain[0], first, *roomy, _autoscaler(known)]
    own = [Family(f"Forecast {name!r}", {"": column}, "") for name, column in problem.forecasts.items()]
    return [_within(problem, rule) for rule in [*plain, *own]]


def _followers(problem: Problem, known: Array) -> Iterable[Family]:
    """Yield the rules that follow a column; decisions have shape (T,)."""
    latest, width = last(known)[1:], float(np.ptp(problem.values))
    yield Family("Last value", {"": latest}, "")
    shares = {f"share {whole_percent(share)}": smoothed(known, share)[1:] for share in SHARES}
    yield Family("Exponential smoothing", shares, next(iter(shares)))
    means = {f"mean of {window}": moving_average(known, window)[1:] for window in WINDOWS}
    yield Family("Moving average", means, next(iter(means)))
    sizes = moving_average(np.abs(known), len(known))
    bands = {f"{whole_percent(BAND)} of the mean": dead_band(known, BAND * sizes)[1:]}
    bands |= {f"band {show(part * width)}": dead_band(known, part * width)[1:] for part in BANDS}
    yield Family("Dead band", bands, next(iter(bands)))
    period = problem.options.period
    if period is not None:
        season = np.concatenate([latest[:period], problem.values[:-period]])
        yield Family("Same row a season ago", {"": season}, "")


def _with_headroom(rule: Family, label: str = "", shown: str = "") -> Family:
    """Return a rule for a demand: every setting with every headroom."""

    def named(setting: str, room: float) -> str:
        return ", ".join(filter(None, (setting, f"headroom {whole_percent(room)}")))

    settings = {
        named(setting, room): (1.0 + room) * levels for setting, levels in rule.settings.items() for room in ROOMS
    }
    return Family(label or rule.label, settings, named(rule.default or "", ROOMS[0]), shown)


def _autoscaler(known: Array) -> Family:
    """Return the rule of an autoscaler."""
    settings = {
        f"window {window}, tolerance {whole_percent(tolerance)}, target {whole_percent(target)}": autoscaler(
            known, window=window, tolerance=tolerance, target=target
        )[1:]
        for window, tolerance, target in SCALER
    }
    return Family("Autoscaler", settings, next(iter(settings)))


def _within(problem: Problem, rule: Family) -> Family:
    """Return a rule whose decisions are rows, in whole numbers if that is wanted, between the limits."""
    assert isinstance(problem.domain, Box)
    low, high, whole = problem.domain.low, problem.domain.high, problem.options.whole
    if whole:
        low, high = np.ceil(low), np.floor(high)

    def rows(levels: Array) -> Array:
        if whole:  # up for a demand, which is what people do, and to the nearest for a level
            levels = np.ceil(levels - 1e-9) if problem.kind == CAPACITY else np.rint(levels)
        return np.clip(levels[:, None], low, high)

    settings = {name: rows(levels) for name, levels in rule.settings.items()}
    return Family(rule.label, settings, rule.default, rule.shown)
