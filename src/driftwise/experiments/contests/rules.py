"""The rules that people use. Each decides on a round from the rounds before it, and from nothing else."""

import math
from collections import deque

import numpy as np

from driftwise._validate import Array
from driftwise.domains import Domain
from driftwise.learners import OGD
from driftwise.losses import LossStream
from driftwise.play import play

STEPS = {"small": 0.2, "middle": 1.0, "large": 5.0}
"""Step sizes of gradient descent, in units of D / (G sqrt T)."""


def last(values: Array, rounds: int = 1) -> Array:
    """Return the value of `rounds` rounds ago, or the first value while there is none.

    Examples
    --------
    >>> last(np.array([3.0, 4.0, 5.0]))
    array([3., 3., 4.])
    """
    return np.concatenate([np.full(min(rounds, len(values)), values[0]), values[:-rounds]])


def moving_average(values: Array, window: int) -> Array:
    """Return the mean of the last `window` values, of fewer at the beginning.

    Examples
    --------
    >>> moving_average(np.array([1.0, 3.0, 5.0, 7.0]), 2)
    array([1., 1., 2., 4.])
    """
    past = np.concatenate([[0.0], np.cumsum(values)])
    ends = np.arange(len(values))
    starts = np.maximum(ends - window, 0)
    means = (past[ends] - past[starts]) / np.maximum(ends - starts, 1)
    means[0] = values[0]
    return np.asarray(means)


def smoothed(values: Array, share: float) -> Array:
    """Return exponential smoothing: every value moves the forecast by a share of its error.

    Examples
    --------
    >>> smoothed(np.array([1.0, 3.0, 5.0]), 0.5)
    array([1., 1., 2.])
    """
    forecasts, level = [], values[0]
    for value in values.tolist():
        forecasts.append(level)
        level += share * (value - level)
    return np.array(forecasts)


def dead_band(values: Array, band: float | Array) -> Array:
    """Return a decision that stays while the last value is within a band around it, and jumps to the value otherwise.

    Parameters
    ----------
    values : array of shape (T,)
        The series.
    band : float or array of shape (T,)
        Distance from the decision that is put up with, in the unit of the values; one for each round if it varies, each
        known before its round.

    Examples
    --------
    >>> dead_band(np.array([4.0, 5.0, 7.0, 8.0, 3.0]), band=2.0)
    array([4., 4., 4., 7., 7.])
    """
    widths = np.broadcast_to(band, values.shape).tolist()
    decisions, level = [values[0]], values[0]
    for value, width in zip(values[:-1].tolist(), widths[1:], strict=True):
        if abs(value - level) > width:
            level = value
        decisions.append(level)
    return np.array(decisions)


def quantile_so_far(values: Array, share: float, every: int) -> Array:
    """Return a quantile of all values so far, computed again every `every` rounds.

    Examples
    --------
    >>> quantile_so_far(np.array([1.0, 3.0, 5.0, 7.0, 9.0]), 0.5, every=2)
    array([1., 1., 2., 2., 4.])
    """
    marks = range(every, len(values), every)
    levels = [values[0], *(float(np.quantile(values[:t], share)) for t in marks)]
    return np.asarray(np.repeat(levels, every)[: len(values)])


def autoscaler(demand: Array, *, window: int = 20, tolerance: float = 0.1, target: float = 0.8) -> Array:
    """Return what the rule of the Kubernetes HorizontalPodAutoscaler would provide.

    It recommends demand / target; within the tolerance of that it stays where it is. It goes up at once, and down only
    to the highest recommendation of the window. Its defaults are a tolerance of 10 %, and a window of 300 s with a
    check every 15 s: 20 checks, and here a check is a round. The target has no default; 80 % is usual.

    Parameters
    ----------
    demand : array of shape (T,)
        In units of capacity.
    window : int, default 20
        Rounds over which the highest recommendation counts before it goes down.
    tolerance : float, default 0.1
        Share by which use may be off the target before anything is done.
    target : float, default 0.8
        Use of the capacity that it aims at.

    Returns
    -------
    array of shape (T,)
        The capacity of every round; the first one is right for the first demand.

    Examples
    --------
    >>> autoscaler(np.array([8.0, 8.0, 16.0, 8.0, 8.0, 8.0]), window=2)
    array([10., 10., 10., 20., 20., 10.])
    """
    current = demand[0] / target
    recent: deque[tuple[int, float]] = deque()  # recommendations, falling; the first is the highest of the window
    decisions = []
    for t, value in enumerate(demand.tolist()):
        decisions.append(current)
        wish = value / target
        if abs(wish - current) <= tolerance * current:
            wish = current
        while recent and recent[-1][1] <= wish:
            recent.pop()
        recent.append((t, wish))
        if recent[0][0] <= t - window:
            recent.popleft()
        current = max(wish, min(current, recent[0][1]))
    return np.array(decisions)


def switch(signal: Array, limit: float, tolerance: float = 0.0) -> Array:
    """Return 1 below a limit and 0 above it; within the tolerance, keep the last of the two.

    Parameters
    ----------
    signal : array of shape (T,)
        Known at the beginning of every round.
    limit : float
        Above zero.
    tolerance : float, default 0.0
        Half the width of the band around the limit in which nothing changes, as a share of the limit.

    Examples
    --------
    >>> switch(np.array([0.5, 1.05, 1.2, 0.95, 0.5]), limit=1.0, tolerance=0.1)
    array([1., 1., 0., 0., 1.])
    """
    on, states = signal[0] < limit, []
    for value in signal.tolist():
        on = value < limit * (1.0 + tolerance if on else 1.0 - tolerance)
        states.append(float(on))
    return np.array(states)


def follow(errors: Array, window: int = 20, tolerance: float = 0.1) -> Array:
    """Put all weight on the forecast with the smallest recent error, and switch when another is better by enough.

    Parameters
    ----------
    errors : array of shape (T, n)
        What every forecast cost in every round.
    window : int, default 20
        Number of past rounds that count.
    tolerance : float, default 0.1
        Share by which another forecast has to be better.

    Returns
    -------
    array of shape (T, n)
        Weights; equal ones in the first round, when nothing is known.

    Examples
    --------
    >>> follow(np.array([[1.0, 2.0], [1.0, 0.95], [1.0, 0.0]]), window=1).tolist()
    [[0.5, 0.5], [1.0, 0.0], [1.0, 0.0]]
    """
    rounds, count = errors.shape
    past = np.concatenate([np.zeros((1, count)), np.cumsum(errors, axis=0)])
    weights = np.zeros((rounds, count))
    weights[0] = 1.0 / count
    chosen = -1
    for t in range(1, rounds):
        recent = past[t] - past[max(t - window, 0)]
        best = int(np.argmin(recent))
        if chosen < 0 or recent[best] < (1.0 - tolerance) * recent[chosen]:
            chosen = best
        weights[t, chosen] = 1.0
    return weights


def inverse_errors(errors: Array, window: int) -> Array:
    """Return weights in inverse proportion to the cost of every forecast over a window.

    Examples
    --------
    >>> inverse_errors(np.array([[1.0, 3.0], [1.0, 3.0]]), window=5).tolist()
    [[0.5, 0.5], [0.75, 0.25]]
    """
    rounds, count = errors.shape
    past = np.concatenate([np.zeros((1, count)), np.cumsum(errors, axis=0)])
    ends = np.arange(1, rounds)
    recent = past[ends] - past[np.maximum(ends - window, 0)]
    inverse = 1.0 / np.maximum(recent, 1e-12 * max(float(errors.max()), 1e-300))
    return np.concatenate([np.full((1, count), 1.0 / count), inverse / inverse.sum(axis=1, keepdims=True)])


def descents(losses: LossStream, domain: Domain, gradient_bound: float, start: Array) -> dict[str, Array]:
    """Return the decisions of gradient descent with three steps, all from the same start."""
    unit = domain.diameter / (gradient_bound * math.sqrt(len(losses)))
    return {
        f"Gradient descent, {name} step": play(OGD(domain, step=size * unit, start=start), losses).decisions
        for name, size in STEPS.items()
    }
