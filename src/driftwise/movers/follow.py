"""Follow: go all the way, whatever it costs."""

import math

from driftwise.movers.base import Mover, Step


class Follow(Mover):
    """Play what the estimator proposes: right where moving is cheap, or where the estimator moves little.

    Examples
    --------
    >>> import numpy as np
    >>> from driftwise import movers
    >>> movers.Follow().share(movers.Step(np.ones(1), price=9.0, gain=1.0, staying=0.0, rounds=5, horizon=7.0))
    1.0
    """

    name, tau = "follow", math.inf

    def share(self, step: Step) -> float:
        """Return 1."""
        return 1.0
