"""Real streams as problems: a target from its own past, other columns, the calendar; or a level to be tracked.

Every feature and every target is scaled to mean 0 and standard deviation 1, so that a price means the same everywhere.
"""

from typing import NamedTuple

import numpy as np

from driftwise._validate import Array
from driftwise.domains import Ball, Box, Domain
from driftwise.experiments.studies.decisions.data.recordings import load
from driftwise.losses import LossStream, SquaredLoss, TrackingLoss

ROUNDS = 3000
"""Longest stream, in rounds; of longer ones the first rounds are taken."""
GENEROUS = 3.0
"""Radius of the ball, in lengths of the least-squares weights; half the width of a level's box, in largest values."""


class Past(NamedTuple):
    """A column as it was some rounds ago."""

    column: str
    lag: int
    recording: str | None = None
    """Another recording that has the column, if it is not that of the target."""


class Regression(NamedTuple):
    """A target and what it is to be predicted from."""

    recording: str
    target: str
    past: tuple[Past, ...] = ()
    seasons: tuple[tuple[float, int], ...] = ()
    """Periods in rounds, and the number of harmonics of each."""
    trend: bool = False
    log: bool = False
    """Whether the target's logarithm is meant, in its own past too."""


class Level(NamedTuple):
    """A column whose level is tracked."""

    recording: str
    target: str
    log: bool = False


class Problem(NamedTuple):
    """Squared losses ``(w'x - y)^2 / 2`` and the domain of w."""

    losses: LossStream
    domain: Domain
    features: Array
    targets: Array
    radius: float


def scaled(values: Array) -> Array:
    """Return values with mean 0 and standard deviation 1; a constant becomes 0.

    Examples
    --------
    >>> scaled(np.array([1.0, 3.0])).tolist()
    [-1.0, 1.0]
    """
    away = values - values.mean(axis=0)
    return np.asarray(away / np.maximum(away.std(axis=0), 1e-300))


def design(spec: Regression, most: int = ROUNDS) -> tuple[Array, Array]:
    """Return scaled features, the last of them 1, and scaled targets, of at most so many rounds."""
    table = load(spec.recording)

    def column(name: str, recording: str | None = None) -> Array:
        values = load(recording)[name] if recording else table[name]
        return np.log(values) if spec.log and name == spec.target and recording is None else values

    first = max((past.lag for past in spec.past), default=0)
    shortest = min(len(column(past.column, past.recording)) for past in (Past(spec.target, 0), *spec.past))
    rounds = np.arange(first, min(shortest, first + most))
    parts = [column(past.column, past.recording)[rounds - past.lag] for past in spec.past]
    for period, harmonics in spec.seasons:
        for k in range(1, harmonics + 1):
            parts += [wave(2.0 * np.pi * k * rounds / period) for wave in (np.cos, np.sin)]
    if spec.trend:
        parts.append(rounds.astype(np.float64))
    features = np.column_stack([scaled(np.column_stack(parts)), np.ones(len(rounds))])
    return features, scaled(column(spec.target)[rounds])


def regression(features: Array, targets: Array) -> Problem:
    """Return a regression on a ball of generous radius."""
    radius = GENEROUS * float(np.linalg.norm(np.linalg.lstsq(features, targets, rcond=None)[0]))
    return Problem(SquaredLoss(features, targets), Ball(features.shape[1], radius), features, targets, radius)


def level(targets: Array) -> Problem:
    """Return the tracking of a level on a box of generous width."""
    radius = GENEROUS * float(np.abs(targets).max())
    return Problem(TrackingLoss(targets), Box([-radius], [radius]), np.ones((len(targets), 1)), targets, radius)


def widened(p: Problem, factor: float) -> Problem:
    """Return the same losses on a domain that is wider by a factor."""
    radius = factor * p.radius
    domain = Ball(p.domain.dim, radius) if isinstance(p.domain, Ball) else Box([-radius], [radius])
    return p._replace(domain=domain, radius=radius)


def problem(spec: Regression | Level, most: int = ROUNDS) -> Problem:
    """Return the problem of a real stream, of at most so many rounds."""
    if isinstance(spec, Regression):
        return regression(*design(spec, most))
    values = load(spec.recording)[spec.target][:most]
    return level(scaled(np.log(values) if spec.log else values))


def recordings(spec: Regression | Level) -> list[str]:
    """Return the recordings that a stream is made of."""
    others = [past.recording for past in spec.past if past.recording] if isinstance(spec, Regression) else []
    return list(dict.fromkeys([spec.recording, *others]))
