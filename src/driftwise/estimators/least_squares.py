"""Recursive least squares with forgetting."""

from typing import Any

from driftwise._validate import number
from driftwise._validate import share as share_of
from driftwise.estimators.filters import OWN_SCALE, Filter


class RecursiveLeastSquares(Filter):
    """The weights that would have been best so far, the past counting less the longer ago it is.

    Parameters
    ----------
    forgetting : float, default 1.0
        Factor by which a round counts less than the one after it, above 0 and at most 1.
    """

    def __init__(self, forgetting: float = 1.0) -> None:
        self.forgetting = share_of("RecursiveLeastSquares", "forgetting", forgetting)
        self._drift, self._prior, self._scale, self._intercept = 0.0, 0.01, OWN_SCALE, 0.0
        self.name = f"least squares {self.forgetting:g}"
