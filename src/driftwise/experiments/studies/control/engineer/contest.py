"""One controller around one plant that may not be what the controller knows, and numbers that sum up many runs."""

import math
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from driftwise._validate import Array
from driftwise.control import Controller, LinearSystem, QuadraticCost, SelfTunedController, simulate
from driftwise.errors import InputError
from driftwise.experiments.findings.finding import Panel, Series
from driftwise.experiments.studies.control.engineer.disturbances import ENTRIES, KINDS
from driftwise.experiments.studies.control.engineer.plants import MAKERS, Plant

OURS = "self-tuned"

ROUNDS = 1500

DIVERGED = 100.0
"""A run that costs this many times what it is compared with counts as one that diverged."""

DRAWN = 3.0
"""Ratios from here on are not drawn: they would make all others look alike."""

QUICK = ("converter", "balancing robot", "drone")
"""Plants of the quick size: one that is stable, one that is not, and one in between."""


def our_cost(
    truth: LinearSystem, plant: Plant, rows: Array, make: Callable[[LinearSystem], Controller] = SelfTunedController
) -> float:
    """Return the total cost of a controller that knows `plant` around the plant as it is, infinite if it diverges.

    Parameters
    ----------
    truth : LinearSystem
        The plant as it is, with its actuator.
    plant : Plant
        The plant as the controller knows it.
    rows : array of shape (T, states)
        Disturbances.
    make : callable
        Builds the controller from a `LinearSystem`.
    """
    try:
        return simulate(truth, make(LinearSystem(plant.A, plant.B)), QuadraticCost(1.0, 1.0), rows).total
    except InputError:
        return math.inf


def alternating(name: str) -> list[tuple[str, str]]:
    """Return every kind of disturbance with one of the two entries, in turns, beginning differently for every plant."""
    first = list(MAKERS).index(name)
    return [(kind, ENTRIES[(first + k) % 2]) for k, kind in enumerate(KINDS)]


def geometric_mean(ratios: Iterable[float]) -> float:
    """Return the geometric mean of those ratios that are no divergence; nan if there are none.

    >>> round(geometric_mean([0.5, 2.0, 1e6]), 3)
    1.0
    """
    kept = [ratio for ratio in ratios if ratio < DIVERGED]
    return math.exp(float(np.mean(np.log(kept)))) if kept else math.nan


def diverged(ratios: Iterable[float]) -> int:
    """Return how many ratios are those of runs that diverged.

    >>> diverged([0.5, float("inf"), float("nan")])
    2
    """
    return sum(not ratio < DIVERGED for ratio in ratios)


def worst(ratios: Sequence[float]) -> int:
    """Return the place of the largest ratio; one that is not a number counts as the largest."""
    return int(np.argmax(np.nan_to_num(np.array(ratios), nan=math.inf, posinf=math.inf)))


def shown(ratio: float) -> str:
    """Return a ratio as tables show it.

    >>> shown(0.98765), shown(float("inf"))
    ('0.988', 'diverges')
    """
    return f"{ratio:.3f}" if ratio < DIVERGED else "diverges"


def sorted_panel(title: str, label: str, ratios: dict[str, list[float]]) -> Panel:
    """Return a panel of the sorted ratios of every contender; those too large to be drawn are left out at the end."""
    series = []
    for name, values in ratios.items():
        kept = sorted(value for value in values if value < DRAWN)
        series.append(Series(name, [(k + 1) / len(values) for k in range(len(kept))], kept))
    return Panel(title, "share of settings", label, series)
