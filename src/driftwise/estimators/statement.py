"""What the NumPy statements of several estimators share: the step of a filter, and how far a mean may go.

Statements are written to be read, and to say what compiled families compute; tests hold the two against each other.
They leave out what only matters at the edge of floating point, where the compiled families do not learn from a round.
"""

import numpy as np

from driftwise._validate import Array
from driftwise.estimators.families import FAR, NEAR
from driftwise.estimators.seen import Seen
from driftwise.pairs.kinds import Kind
from driftwise.pairs.layout import EACH, SCORE


def filter_step(mean: Array, P: Array, seen: Seen, intercept: bool = True) -> tuple[Array, Array]:
    """Return the mean and the covariance of a filter after a round.

    The state is d weights and an intercept, and perhaps as many slopes, which the score does not see::

        k = P x / (1 + x' P x),    mean + k (y - x' mean),    P - k (P x)'

    with the loss's own slope in place of the error if it is no parabola. In a loss of each coordinate, each is a
    filter of its own, so that P must have no entries between two of them.

    Parameters
    ----------
    mean : array of shape (n,)
        Weights and an intercept, d + 1, and as many slopes, or none.
    P : array of shape (n, n)
        Their covariance in units of the noise.
    seen : Seen
        The round.
    intercept : bool, default True
        Whether the score sees the intercept.
    """
    d = seen.features.size
    x, t = np.zeros((2, mean.size))
    x[:d], t[:d] = seen.features, seen.tangent
    x[d] = t[d] = seen.intercept if intercept else 0.0
    gain = P @ t
    spread: Array = np.asarray(1.0 + t @ gain)
    if seen.kind.form == EACH:
        parts = mean.size // (d + 1)
        spread = np.tile((1.0 + t * gain)[: d + 1], parts)
        error = np.tile(np.append(seen.targets, 0.0) - mean[: d + 1], parts)
    else:
        error = np.asarray(seen.error(float(x @ mean)))
    # The product of gains first: rounding must not make P asymmetric, which forgetting would blow up.
    return mean + gain / spread * error, P - np.outer(gain, gain) / spread


def apart(P: Array, d: int) -> Array:
    """Return a covariance without entries between one coordinate and another, of its weights or their slopes."""
    return np.asarray(P * np.tile(np.eye(d + 1), (P.shape[0] // (d + 1),) * 2))


def floored(P: Array) -> Array:
    """Return a covariance whose variances are not below 0, whatever rounding does."""
    P[np.diag_indices_from(P)] = np.maximum(np.diag(P), 0.0)
    return P


def near(mean: Array, start: Array, half_width: float, kind: Kind) -> Array:
    """Return a mean of which the weights are not absurdly far from the start."""
    far = NEAR if kind.form == SCORE and kind.bend == 0.0 else FAR
    d, reach = start.size, far * half_width
    return np.concatenate([np.clip(mean[:d], start - reach, start + reach), mean[d:]])


class Aim:
    """Where the score of a gradient's direction should be, if the longest gradient so far reached as far as is assumed.

    Parameters
    ----------
    reach : float
        How far that is, in the unit of the decisions.
    """

    def __init__(self, reach: float) -> None:
        self.reach = reach
        self.longest = 0.0
        self.count = 0
        """Gradients so far that were not 0."""

    def target(self, seen: Seen) -> float:
        """Return the target of the score <g / |g|, w> of a gradient g at the decision."""
        length = float(np.linalg.norm(seen.targets))
        self.longest, self.count = max(self.longest, length), self.count + 1
        return float(seen.features @ seen.decision) - self.reach / self.longest * length
