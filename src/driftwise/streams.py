"""Seeded generators of drifting problems."""

import numpy as np

from driftwise._validate import Array, checked, choice, number, read_only, seeded, whole
from driftwise.domains import Ball
from driftwise.losses import SquaredLoss


class DriftingRegression(SquaredLoss):
    """The paper's stream (Section 6.1): squared losses whose true weights w*_t drift.

    A `SquaredLoss` that also carries the weights it was generated from; made by `drifting_regression`.

    Parameters
    ----------
    features, targets
        As in `SquaredLoss`.
    generator, domain
        As below.

    Attributes
    ----------
    generator : array of shape (T, d)
        w*_t, the weights that generated the targets: a natural comparator.
    domain : Ball
        The ball from which the weights were drawn.

    Examples
    --------
    >>> import driftwise as dw
    >>> losses = dw.streams.drifting_regression(rounds=4, dim=1, segment=2, seed=0)
    >>> losses.domain, losses.generator.ravel().round(3)
    (Ball(1, radius=1), array([ 0.017,  0.017, -0.813, -0.813]))
    """

    def __init__(self, features: Array, targets: Array, generator: Array, domain: Ball) -> None:
        super().__init__(features, targets)
        self.generator = read_only(generator)
        self.domain = domain


def _uniform_in_ball(rng: np.random.Generator, count: int, dim: int, radius: float) -> Array:
    directions = rng.standard_normal((count, dim))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    return np.asarray(radius * directions * rng.random((count, 1)) ** (1.0 / dim))


@checked
def drifting_regression(
    rounds: int = 50_000,
    dim: int = 10,
    segment: int = 1000,
    drift: str = "abrupt",
    radius: float = 1.0,
    noise: float = 0.1,
    seed: int | np.random.Generator = 0,
) -> DriftingRegression:
    """Make the paper's drifting-regression stream.

    Features are uniform in the unit ball, targets are y_t = <x_t, w*_t> + U[0, noise]. The weights w*_t are drawn
    uniformly from a ball, once for every segment.

    Parameters
    ----------
    rounds : int, default 50000
        T.
    dim : int, default 10
        d.
    segment : int, default 1000
        Rounds between two draws of w*.
    drift : {"abrupt", "gradual"}, default "abrupt"
        "abrupt": w* jumps at the start of a segment, as in the paper. "gradual": it moves on a straight line from one
        draw to the next.
    radius : float, default 1.0
        Radius of the ball that w* is drawn from.
    noise : float, default 0.1
        Largest noise in a target.
    seed : int or numpy.random.Generator, default 0
        Same seed, same stream.

    Returns
    -------
    DriftingRegression
        The losses, with the true weights as `generator`.

    Examples
    --------
    >>> import driftwise as dw
    >>> losses = dw.streams.drifting_regression(rounds=3000, dim=2, seed=7)
    >>> len(losses), losses.generator.shape
    (3000, (3000, 2))
    >>> bool(losses.gradient_bound(losses.domain) <= 2.1)
    True
    """
    owner = "drifting_regression"
    T, d = whole(owner, "rounds", rounds), whole(owner, "dim", dim)
    length = whole(owner, "segment", segment)
    kind = choice(owner, "drift", drift, ("abrupt", "gradual"))
    domain = Ball(d, number(owner, "radius", radius, low=0.0, exclusive=True))
    spread = number(owner, "noise", noise, low=0.0)
    rng = seeded(owner, seed)
    segments = -(-T // length)
    draws = _uniform_in_ball(rng, segments + 1, d, domain.radius)
    index, part = np.divmod(np.arange(T), length)
    weights = draws[index]
    if kind == "gradual":
        weights += (part / length)[:, None] * (draws[index + 1] - weights)
    features = _uniform_in_ball(rng, T, d, 1.0)
    targets = np.einsum("td,td->t", features, weights) + rng.uniform(0.0, spread, T)
    return DriftingRegression(features, targets, weights, domain)
