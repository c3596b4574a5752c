"""What the learner of a new key begins as, and how it is set; others keep what they were made with."""

import zlib
from typing import Any

import numpy as np

from driftwise.adapters.keyed import Maker
from driftwise.learners import Learner, Rounded, rounded
from driftwise.movecost import MoveCost


class Rounding:
    """Makes a learner of whole numbers for every key, which rounds with a seed of the key's own.

    Parameters
    ----------
    learner : Learner
        What each of them rounds the decisions of.
    """

    def __init__(self, learner: Learner) -> None:
        self._learner = learner
        self.prototype = self("")
        """One that no key has."""

    def __call__(self, key: str) -> Learner:
        """Return the learner of a key."""
        return rounded(self._learner.clone(), seed=zlib.crc32(key.encode()))


def prototype_of(make: Maker) -> Learner | None:
    """Return what the learners of all keys begin as; None if that is a matter of each key."""
    if isinstance(make, Learner):
        return make
    return make.prototype if isinstance(make, Rounding) else None


def settings_of(learner: Learner) -> dict[str, Any]:
    """Return how a learner is set, as JSON: what of it is no number or a list of numbers is None."""
    inner = getattr(learner, "_inner", learner)  # of one whose decisions are rounded
    domain = learner.domain
    cost, period = getattr(inner, "switching_cost", None), getattr(inner, "period", None)
    if isinstance(cost, MoveCost):
        cost = {"up": np.asarray(cost.up).tolist(), "down": np.asarray(cost.down).tolist()}
    return {
        "low": _row(getattr(domain, "low", None)),
        "high": _row(getattr(domain, "high", None)),
        "switching_cost": cost if isinstance(cost, int | float | dict) else None,
        "period": period if isinstance(period, int) else None,
        "late": learner.late,
        "whole": isinstance(learner, Rounded),
    }


def _row(bounds: Any) -> list[float] | None:
    return bounds.tolist() if isinstance(bounds, np.ndarray) and np.isfinite(bounds).all() else None
