"""The meta-base decomposition of Section 4.3: the cost of Hedge, and that of the base-learner it follows."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from driftwise._validate import Array, checked
from driftwise.errors import InputError, ParameterError
from driftwise.learners import Ensemble
from driftwise.losses import LossStream
from driftwise.movecost import MoveCost, move_cost_for
from driftwise.optimum.values import read_comparators, read_run
from driftwise.regret.measures import dynamic_regret
from driftwise.trace import Trace

CHUNK = 4096
"""Number of rounds whose base-learners are held in memory at once."""


@dataclass(frozen=True, eq=False)
class Decomposition:
    """A run's regret bound, split between Hedge and each base-learner.

    Attributes
    ----------
    meta : array of shape (N,)
        Meta-regret to base-learner i: ``sum_t (<p_t, l_t> - l_{t,i}) + lambda D sum_t |p_t - p_{t-1}|_1``.
    base : array of shape (N,)
        Base-regret of base-learner i: ``sum_t <g_t, w_{t,i} - v_t> + lambda sum_t |w_{t,i} - w_{t-1,i}|``.
    totals : array of shape (N,)
        L_i, each base-learner's own total of linearised loss and movement: ``sum_t l_{t,i}``.
    moves : array of shape (N,)
        Distance that each base-learner moved.
    step_sizes : array of shape (N,)
        Step sizes at the end of the run.
    regret : float
        The regret with switching cost of the run itself, which `total` bounds.

    Examples
    --------
    >>> import driftwise as dw
    >>> losses = dw.streams.drifting_regression(rounds=500, dim=2, segment=100, seed=0)
    >>> learner = dw.Scream(losses.domain, switching_cost=1.0, gradient_bound=2.1, horizon=500)
    >>> found = dw.regret.decompose(dw.play(learner, losses, switching_cost=1.0), losses.generator)
    >>> found.best, (found.meta + found.base).round(4)[:2], round(found.regret, 4)
    (4, array([38.9359, 38.9359]), 22.2468)
    """

    meta: Array
    base: Array
    totals: Array
    moves: Array
    step_sizes: Array
    regret: float

    @property
    def best(self) -> int:
        """Index of the base-learner with the least total: the one that Hedge should find."""
        return int(np.argmin(self.totals))

    @property
    def total(self) -> float:
        """meta_i + base_i, the same for every i: a bound on `regret` (by convexity and the triangle inequality)."""
        return float(self.meta[self.best] + self.base[self.best])

    def __str__(self) -> str:
        lines = [
            f"regret with switching cost {self.regret:.6g} <= meta + base = {self.total:.6g} for every base-learner",
            "       step    own total         meta         base",
        ]
        for i in range(self.meta.size):
            mark = "   <- least own total" if i == self.best else ""
            row = f"{self.step_sizes[i]:>11.4g} {self.totals[i]:>12.6g} {self.meta[i]:>12.6g} {self.base[i]:>12.6g}"
            lines.append(row + mark)
        return "\n".join(lines)


@checked
def decompose(trace: Trace, comparators: ArrayLike, switching_cost: float | MoveCost | None = None) -> Decomposition:
    """Split a run's regret into meta-regret and base-regret (Section 4.3 of the paper).

    The run is repeated from the learner that the trace carries, recording every base-learner. Before a
    base-learner has joined (without a horizon the pool grows) it is taken to have followed the decision.

    Parameters
    ----------
    trace : Trace
        A run of a two-layer learner: `Scream`, `LazyScream`, `Ader`, `Ensemble`, ...
    comparators : array of shape (T, d) or (d,)
        v_1, ..., v_T in the learner's domain.
    switching_cost : float, optional
        lambda; that of the trace when left out. It must be a price of Euclidean distance, as the theory's is.

    Examples
    --------
    >>> import driftwise as dw
    >>> losses = dw.streams.drifting_regression(rounds=500, dim=2, segment=100, seed=0)
    >>> learner = dw.Scream(losses.domain, switching_cost=1.0, gradient_bound=2.1, horizon=500)
    >>> print(dw.regret.decompose(dw.play(learner, losses, switching_cost=1.0), losses.generator))
    regret with switching cost 22.2468 <= meta + base = 38.9359 for every base-learner
           step    own total         meta         base
        0.03506     0.622012     -2.96311       41.899
        0.07011      1.24402     -3.58512       42.521
         0.1402     -7.83726      5.49616      33.4397
         0.2804     -19.5527      17.2116      21.7243
         0.5609     -21.4224      19.0813      19.8546   <- least own total
          1.122     -9.06287      6.72177      32.2141
    """
    owner = "decompose"
    losses = read_run(owner, trace, None)
    learner = trace.learner.clone()
    v = read_comparators(owner, comparators, len(losses), trace.domain or losses.dim)
    cost = trace.price if switching_cost is None else move_cost_for(owner, switching_cost, losses.dim)
    if (lambda_ := cost.plain) is None:
        price = f"{cost.largest(losses.dim):.6g}"
        raise ParameterError(
            f"{owner}: the theory is for a price of Euclidean distance, and moves are priced at {cost!r}; no move "
            f"costs more at {price}, its largest({losses.dim}), so give switching_cost={price}."
        )
    if not isinstance(learner, Ensemble):
        raise InputError(
            f"{owner}: {learner!r} has no base-learners; give a run of a two-layer learner, such as Scream."
        )
    if trace.hints is not None:
        raise InputError(
            f"{owner}: the run had hints, from which on every base-learner has a twin that heeds them; give a run "
            "without hints."
        )
    slopes = losses.unary_gradients(trace.decisions)
    most = learner.program.steps.size
    totals, moves = np.zeros(most), np.zeros(most)
    mixture = shift = 0.0
    before: tuple[Array, Array] | None = None
    for first in range(0, len(losses), CHUNK):
        rounds = range(first, min(first + CHUNK, len(losses)))
        points, weights = _watch(learner, losses, slopes, rounds, before)
        mixed = np.einsum("tn,tnd->td", weights[1:], points[1:])
        if not np.allclose(mixed, trace.decisions[rounds.start : rounds.stop], atol=1e-9 * learner.domain.diameter):
            raise InputError(f"{owner}: the decisions of {learner!r} are not the mixture of its base-learners' points.")
        steps = np.linalg.norm(points[1:] - points[:-1], axis=2)
        each = np.einsum("tnd,td->tn", points[1:], slopes[rounds.start : rounds.stop]) + lambda_ * steps
        totals += each.sum(axis=0)
        moves += steps.sum(axis=0)
        mixture += float(np.sum(weights[1:] * each))
        shift += float(np.abs(np.diff(weights, axis=0)).sum())
        before = points[-1], weights[-1]
    count = learner.step_sizes.size
    return Decomposition(
        (mixture - totals + lambda_ * learner.domain.diameter * shift)[:count],
        (totals - np.sum(slopes * v))[:count],
        totals[:count],
        moves[:count],
        learner.step_sizes,
        dynamic_regret(trace, losses, v, lambda_),
    )


def _watch(
    learner: Ensemble, losses: LossStream, slopes: Array, rounds: range, before: tuple[Array, Array] | None
) -> tuple[Array, Array]:
    """Play some rounds and return where every base-learner was, (n + 1, N, d), and its weights, from one before."""
    most, dim = learner.program.steps.size, learner.domain.dim
    points, weights = np.empty((len(rounds) + 1, most, dim)), np.zeros((len(rounds) + 1, most))
    for row, t in enumerate(rounds, start=1):
        points[row] = learner.act()
        active = learner._active
        points[row, :active] = learner.base_decisions
        weights[row, :active] = learner.weights
        learner.observe(losses[t] if learner.program.own_gradients else slopes[t])
    points[0], weights[0] = (points[1], weights[1]) if before is None else before
    return points, weights
