"""Every rule at every setting: the best one in hindsight, and the one that people would start with."""

import itertools
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from driftwise._validate import Array
from driftwise.experiments.studies.decisions.baselines import kalman, lms, newton, squares
from driftwise.experiments.studies.decisions.baselines.dead_band import BANDS, Bill, with_dead_bands

STAY = "Stay at the start"
LAST = "Last value"
BAND = "Dead band around the last value"


class Rule(NamedTuple):
    """A rule, its settings, and those that it has by default."""

    make: Callable[..., Array]
    grid: tuple[tuple[float, ...], ...]
    default: tuple[float, ...]

    @property
    def settings(self) -> list[tuple[float, ...]]:
        """Every setting of the grid."""
        return list(itertools.product(*self.grid))

    def wishes(self, features: Array, targets: Array) -> Array:
        """Return the weights before every round at every setting, shape (T, n, d)."""
        return self.make(features, targets, *np.array(self.settings).T)


RECURSIVE = Rule(squares.recursive_least_squares, (squares.FORGETTING, squares.PRIORS), (0.99, 1.0))
KALMAN = Rule(kalman.random_walk, (kalman.DRIFTS, kalman.SPREADS), (1e-3, 1.0))
NEWTON = Rule(newton.online_newton_step, (newton.STEPS, newton.PRIORS), (1.0, 1.0))
SHARE = Rule(lms.normalised_lms, (lms.SHARES,), (0.3,))

REGRESSION: Mapping[str, Rule] = {
    "Recursive least squares": RECURSIVE,
    "Kalman filter": KALMAN,
    "Normalised LMS": SHARE,
    "Online Newton step": NEWTON,
}
LEVEL: Mapping[str, Rule] = {
    "Mean with forgetting": RECURSIVE,
    "Kalman filter": KALMAN,
    "Exponential smoothing": SHARE,
    LAST: Rule(lms.normalised_lms, ((1.0,),), (1.0,)),
    "Online Newton step": NEWTON,
}
"""On a level the feature is 1, so that two of the rules have names of their own."""


class Rules:
    """Every rule with every dead band on one stream, played once for all prices.

    Parameters
    ----------
    rules : mapping of str to Rule
        `REGRESSION` or `LEVEL`.
    features, targets : arrays of shape (T, d) and (T,)
        The squared losses.
    radius : float
        Radius of the ball that decisions are in.
    """

    def __init__(self, rules: Mapping[str, Rule], features: Array, targets: Array, radius: float) -> None:
        self.rules = rules
        self.bills: dict[str, Bill] = {}
        for name, rule in rules.items():
            with np.errstate(over="ignore", invalid="ignore"):
                self.bills[name] = with_dead_bands(rule.wishes(features, targets), features, targets, radius)

    def tuned(self, price: float) -> dict[str, float]:
        """Return the overall cost of every rule with its best setting, of the best dead band, and of staying."""
        costs = {name: bill.at(price) for name, bill in self.bills.items()}
        stay = float(next(iter(costs.values()))[-1].min())
        band = {BAND: float(costs[LAST][:-1].min())} if LAST in costs else {}
        return {**{name: float(each[BANDS.index(0.0)].min()) for name, each in costs.items()}, **band, STAY: stay}

    def banded(self, price: float) -> dict[str, float]:
        """Return the overall cost of every rule with its best setting and the best band: the hardest rivals."""
        costs = {name: bill.at(price) for name, bill in self.bills.items()}
        return {name: float(each[:-1].min()) for name, each in costs.items()}

    def default(self, price: float) -> dict[str, float]:
        """Return the overall cost of every rule with its default setting and no band."""
        return {
            name: float(self.bills[name].at(price)[BANDS.index(0.0), rule.settings.index(rule.default)])
            for name, rule in self.rules.items()
        }
