"""The numbers of a built-in loss: its data, and its link as a parabola with a kink."""

from typing import NamedTuple

import numpy as np

from driftwise._validate import Array


class LossData(NamedTuple):
    """The numbers of a built-in stream."""

    features: Array
    """(T, d); for a `CoordinateLoss`, the targets of its coordinates."""
    targets: Array
    """(T,)"""
    taps: Array
    """(m + 1,), the weight of the decision of k rounds ago."""
    shape: Array
    """Parameters of the link, one row each, with one column or one for each coordinate."""


class Pieces(NamedTuple):
    """A link as ``level + right u + bend u^2 / 2 + jump max(-u, 0)`` of ``u = z - y``, a score less its target.

    A parabola with a kink at the target, and its special cases: a parabola, a line, two lines.
    """

    bend: float
    """Second derivative, the same everywhere."""
    right: float | Array
    """Slope right of the target; one for all coordinates or one for each."""
    jump: float | Array
    """How much less the slope is left of the target, at least 0."""
    level: float | Array = 0.0
    """Loss at the target."""

    @property
    def smooth(self) -> bool:
        """Whether there is no kink, so that sums of losses are quadratics."""
        return not np.any(self.jump)

    @property
    def linear(self) -> bool:
        """Whether the link is a line."""
        return self.smooth and self.bend == 0.0


class Parabolas(NamedTuple):
    """The losses as ``bend z^2 / 2 - pull z + constant`` of their scores z; where there is a kink, right of it."""

    bend: float
    pull: Array
    """One row a round, and one column for the score or for each coordinate, like the constants."""
    constant: Array
