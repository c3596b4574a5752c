"""Sequences to compare a run with: the best piecewise-constant one, the true generator.

A comparator is an array: (d,) for one decision that is held, (T, d) for a sequence.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from driftwise._validate import Array, Indices, checked, instance, loose, whole
from driftwise.domains import Domain
from driftwise.errors import InputError, ParameterError
from driftwise.losses.base import DataLoss, LossStream
from driftwise.optimum.fixed import best_of_segments, surely
from driftwise.optimum.quadratic import Quadratics, is_quadratic, sums
from driftwise.optimum.values import read_problem

GRID = 200
"""Largest number of candidate breaks when none are given."""


@checked
def best_piecewise(
    losses: LossStream,
    domain: Domain,
    segments: int | Sequence[int] | Indices,
    *,
    grid: Sequence[int] | Indices | None = None,
) -> Array:
    """Return the best sequence that is constant on segments, moves being free.

    Parameters
    ----------
    losses : LossStream
        The losses (their unary form, if they have memory); squared, tracking or linear ones for the best places.
    domain : Domain
        Domain of the decisions.
    segments : int or sequence of int
        A number S: up to S segments, placed where they are best. A sequence: the rounds at which segments begin,
        in rising order (round 0 always begins one).
    grid : sequence of int, optional
        With a number of segments: the rounds at which one may begin; about 200 rounds at equal distances when left out.
        Time grows with the square of its length.

    Returns
    -------
    array of shape (T, d)

    Examples
    --------
    >>> import driftwise as dw
    >>> losses = dw.TrackingLoss([0.0, 0.0, 0.5, 0.75, 1.0])
    >>> dw.regret.best_piecewise(losses, dw.Ball(1), segments=2).ravel()
    array([0.  , 0.  , 0.75, 0.75, 0.75])
    >>> dw.regret.best_piecewise(losses, dw.Ball(1), segments=[0, 4]).ravel()
    array([0.3125, 0.3125, 0.3125, 0.3125, 1.    ])
    """
    owner = "best_piecewise"
    read_problem(owner, losses, domain)
    rounds = len(losses)
    if isinstance(segments, int | np.integer):
        if not is_quadratic(losses):
            raise InputError(
                f"{owner}: the best places are found for squared, tracking and linear losses only, got {losses!r}; "
                "give the rounds at which segments begin instead of their number."
            )
        count = whole(owner, "segments", segments)
        if grid is None:
            grid = np.unique(np.linspace(0, rounds, min(rounds, GRID), endpoint=False).astype(np.int64))
        candidates = _starts(owner, "grid", grid, rounds)
        starts = _place(owner, losses, domain, min(count, candidates.size), candidates)
    elif grid is None:
        starts = _starts(owner, "segments", segments, rounds)
    else:
        raise ParameterError(f"{owner}: grid goes with a number of segments; segments={segments!r} are given places.")
    points = best_of_segments(owner, losses, domain, starts)
    return np.repeat(points, np.diff(starts, append=rounds), axis=0)


@checked
def generator(losses: LossStream) -> Array:
    """Return the sequence that generated a stream, of shape (T, d); the streams of `streams` have one.

    Parameters
    ----------
    losses : LossStream
        A stream with an attribute `generator`.

    Examples
    --------
    >>> import driftwise as dw
    >>> dw.regret.generator(dw.streams.drifting_regression(rounds=100, dim=3)).shape
    (100, 3)
    """
    instance("generator", "losses", losses, LossStream, "streams.drifting_regression()")
    found = getattr(losses, "generator", None)
    if found is None:
        raise InputError(
            f"generator: {losses!r} does not know what generated it; streams.drifting_regression(...) does."
        )
    return np.asarray(found)


def _starts(owner: str, name: str, given: ArrayLike, rounds: int) -> Indices:
    values = loose(owner, name, given)
    starts = values.astype(np.int64) if values.ndim == 1 and values.dtype.kind in "iu" else np.empty(0, np.int64)
    if not starts.size or starts[0] < 0 or starts[-1] >= rounds or np.any(np.diff(starts) <= 0):
        expected = f"whole numbers, rounds from 0 to {rounds - 1} in rising order"
        raise InputError(f"{owner}: {name} must be {expected}, got {given!r}.")
    return starts if starts[0] == 0 else np.concatenate([[0], starts])


def _place(owner: str, losses: DataLoss, domain: Domain, count: int, candidates: Indices) -> Indices:
    """Choose where up to `count` segments begin among the candidates, by dynamic programming."""
    cells, size = sums(losses, candidates), candidates.size
    cost = np.full((size, size + 1), np.inf)  # cost[i, j]: candidates i to j - 1 as one segment
    for i in range(size):
        tail = Quadratics(*(np.cumsum(part[i:], axis=0) for part in cells))
        cost[i, i + 1 :] = tail.values(surely(owner, tail, domain))
    best = cost[0]  # best[j]: the first j cells in the segments so far
    chosen = []
    for _ in range(1, count):
        through = best[:size, None] + cost  # the last segment begins at cell i
        origin = np.argmin(through, axis=0)
        better = through[origin, np.arange(size + 1)]
        origin[best <= better] = 0
        chosen.append((origin, best <= better))
        best = np.minimum(best, better)
    starts, end = [], size
    for origin, same in reversed(chosen):
        if not same[end]:
            end = int(origin[end])
            starts.append(end)
    return candidates[np.array([0, *reversed(starts)], np.int64)]
