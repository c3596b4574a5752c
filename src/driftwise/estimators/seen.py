"""What estimators see of a round: its loss, clipped once for all of them, with features in units of its curvature."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from driftwise._validate import Array, array, number, whole
from driftwise.movecost import MoveCost
from driftwise.pairs.kinds import Kind
from driftwise.pairs.layout import EACH, GRADIENT, SCORE


@dataclass(frozen=True)
class Seen:
    """A round as estimators see it: clipped, so that no glitch gets through.

    There are three forms of loss, and an estimator says in `Estimator.forms` which of them it is for. Of a loss of a
    score <x, w> (``SCORE``), `features` are x times the root of `curve`, which makes every loss bend by about 1: a
    filter for squared losses does for all of them. Of a loss of each coordinate (``EACH``) all features are 1, and
    each coordinate has a target. Where there is only a gradient (``GRADIENT``), `features` are its direction.

    It is made for one round. Take from it what you need, and do not keep it: `slope` is no longer valid in the next
    one.

    Attributes
    ----------
    kind : Kind
        What is known of the losses.
    rounds : int
        Rounds observed before this one.
    decision : array of shape (d,)
        What was played.
    targets : array
        Targets of the coordinates (``EACH``), the target of the score as an array of one (``SCORE``), or the gradient
        at the decision (``GRADIENT``).
    features : array of shape (d,)
        x, with which a score is <x, w>.
    tangent : array of shape (d,)
        x without what all points of a simplex share, its mean over the simplex: the part that tells points of the
        domain apart. The same as `features` in other domains.
    scales : array of shape (d,)
        Running mean square of each entry of `tangent`; on a simplex, the mean of these.
    sizes : array of shape (d,)
        Mean square that each feature is taken to have where features are to be treated alike: the mean of the `scales`,
        or its own if that is far larger than most, as it is for a feature in a smaller unit.
    median : float
        Median of the `scales` of features that have been other than 0; after round 64, as of the last multiple of 16.
    curve : float
        Second derivative of the loss in its own score, as a running mean; `features` are in units of its root.
    intercept : float
        A constant feature in the units of `features`; 0 while another feature is constant, and with no score.
    slope : callable
        ``slope(z)``: slope of the loss at a score z, both in the units of `features`; of a loss of each coordinate, its
        slopes at the coordinates z, of shape (d,).
    price : MoveCost
        What moves cost. An estimator says where it would like to be if moving were free, so most do not ask.

    Examples
    --------
    >>> from driftwise.estimators import Seen
    >>> seen = Seen.of_levels(3, [4.0, 1.0])
    >>> seen.targets, seen.gradient([3.0, 3.0])
    (array([4., 1.]), array([-1.,  2.]))
    """

    kind: Kind
    rounds: int
    decision: Array
    targets: Array
    features: Array
    tangent: Array
    scales: Array
    sizes: Array
    median: float
    curve: float
    intercept: float
    slope: Callable[[Any], Any]
    price: MoveCost

    def error(self, score: float) -> float:
        """Return minus the slope of the loss at a score: target less score where it is a parabola, or a level.

        Parameters
        ----------
        score : float
            A score, in the units of `features`.
        """
        return float(self.targets[0] - score if self.kind.form == EACH else -self.slope(score))

    def gradient(self, point: Array) -> Array:
        """Return the gradient of the loss at any point; the one at the decision where there is only that.

        Parameters
        ----------
        point : array of shape (d,)
            Where.
        """
        if self.kind.form == GRADIENT:
            return self.targets
        if self.kind.form == EACH:
            return np.asarray(self.slope(point))
        return np.asarray(self.slope(float(self.features @ point)) * self.features)

    @classmethod
    def of_levels(cls, rounds: int, targets: ArrayLike) -> Self:
        """Return a round of half the squared distance to targets, as it is: for estimators that are used by themselves.

        Parameters
        ----------
        rounds : int
            Rounds before it.
        targets : array of shape (d,)
            Target of each coordinate.
        """
        y = array("Seen.of_levels", "targets", targets, ("d",), copy=True)
        return cls._squared(EACH, rounds, y, np.ones(y.size), np.ones(y.size), lambda z: np.asarray(z) - y)

    @classmethod
    def of_score(cls, rounds: int, features: ArrayLike, target: float, scales: ArrayLike) -> Self:
        """Return a round of the squared loss (<x, w> - y)^2 / 2, as it is: for estimators that are used by themselves.

        Parameters
        ----------
        rounds : int
            Rounds before it.
        features : array of shape (d,)
            x.
        target : float
            y.
        scales : array of shape (d,)
            Mean square of each feature, as far as it is known.
        """
        x = array("Seen.of_score", "features", features, ("d",), copy=True)
        y = np.array([number("Seen.of_score", "target", target)])
        sizes = array("Seen.of_score", "scales", scales, (x.size,), copy=True)
        return cls._squared(SCORE, rounds, y, x, sizes, lambda z: z - y[0])

    @classmethod
    def _squared(
        cls, form: int, rounds: int, targets: Array, features: Array, scales: Array, slope: Callable[[Any], Any]
    ) -> Self:
        return cls(
            Kind(form, features.size, 1.0, shifted=True),
            whole("Seen", "rounds", rounds, low=0),
            np.zeros(features.size),
            targets,
            features,
            features,
            scales,
            np.full(scales.size, scales.mean()),
            float(np.median(scales)),
            curve=1.0,
            intercept=0.0,
            slope=slope,
            price=MoveCost(0.0, norm="l2"),
        )
