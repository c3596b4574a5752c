"""The best linear controller u = -K x in hindsight that a local search finds."""

import contextlib
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from driftwise._docs import documented
from driftwise._validate import Array, checked, read_only
from driftwise.control.costs import Cost, CostSequence
from driftwise.control.hindsight.base import Comparator
from driftwise.control.hindsight.descent import quasi_newton
from driftwise.control.hindsight.rollout import PARAMETERS, Problem, need_centred, need_finite, read_gain, read_problem
from driftwise.control.plants import System
from driftwise.control.stability import lqr, spectral_radius
from driftwise.errors import StabilityError

PRICES = tuple(10.0**power for power in range(-3, 4))
"""Weights of the inputs, relative to those of the states, for the starting gains of LQR."""

TRIED = 3
"""Number of starting gains, the cheapest ones, from which a search begins."""


@dataclass(frozen=True, repr=False, eq=False)
class BestLinear(Comparator):
    """The cheapest linear controller that was found in hindsight.

    Made by `best_linear`.

    Attributes
    ----------
    states, inputs, costs, gap, status
        As in `Comparator`; the gap is None, since total costs are not convex in K.
    K : array of shape (du, dx)
        The gain, u = -K x.

    Examples
    --------
    >>> import driftwise as dw
    >>> plant, cost = dw.control.LinearSystem(0.5, 1.0), dw.control.QuadraticCost(1.0, 1.0)
    >>> best = dw.control.best_linear(plant, cost, [[1.0], [-1.0], [1.0], [-1.0]])
    >>> best, best.K.round(3)
    (BestLinear(rounds=4, total=1.75359, gap=unknown), array([[-0.118]]))
    """

    K: Array

    label = "best $u = -Kx$ found"


@documented(parameters=PARAMETERS)
@checked
def best_linear(
    system: System,
    costs: "Cost | CostSequence | Sequence[Cost]",
    disturbances: ArrayLike,
    *,
    K: ArrayLike | None = None,
    start: ArrayLike | None = None,
) -> BestLinear:
    """Return the cheapest linear controller u = -K x in hindsight, as far as a local search can tell.

    Total costs are not convex in K. The search starts from the gain given and from those of LQR at several weights of
    the inputs, never leaves the gains that stabilise the plant, and cannot tell whether there is a better one far away.
    `best_policy` is convex, and up to its memory includes every linear controller.

    {parameters}
    K : array of shape (du, dx), optional
        Another gain to start from, which must stabilise the plant; the result is no worse.

    Returns
    -------
    BestLinear
        Gain, states, inputs, costs, total.

    Examples
    --------
    >>> import numpy as np
    >>> import driftwise as dw
    >>> from driftwise.control.hindsight import best_linear
    >>> plant, cost = dw.control.double_integrator(), dw.control.QuadraticCost(1.0, 1.0)
    >>> waves = 0.5 * np.sin(np.arange(500)[:, None] / 10.0 + np.array([0.0, 1.0]))
    >>> lqr = dw.control.simulate(plant, dw.control.LinearController(plant), cost, waves)
    >>> best = best_linear(plant, cost, waves)
    >>> round(lqr.total, 3), round(best.total, 3)
    (1581.941, 243.506)
    """
    owner = "best_linear"
    problem = read_problem(owner, system, costs, disturbances, start)
    need_centred(owner, problem.costs)
    shape, gains = (system.input_dim, system.state_dim), [read_gain(owner, system, K)]
    for price in PRICES:
        with contextlib.suppress(StabilityError):  # the weights are too far apart for floating point
            gains.append(lqr(system, 1.0, price))

    def total(gain: Array) -> tuple[float, Array]:
        return _total(problem, gain.reshape(shape))

    ordered = sorted((gain.ravel() for gain in gains), key=lambda gain: total(gain)[0])
    need_finite(owner, problem.roll(ordered[0].reshape(1, *shape)))
    ends = [quasi_newton(total, gain, most=200) for gain in ordered[:TRIED]]
    best = min([*ends, ordered[0]], key=lambda gain: total(gain)[0])
    slope = float(np.linalg.norm(total(best)[1]))
    status = (
        f"By a local search from {len(ends)} gains, without a certificate; the gradient at its end has the norm "
        f"{slope:.3g}."
    )
    gain = best.reshape(shape)
    return BestLinear(**vars(problem.roll(gain[None])), gap=None, status=status, K=read_only(gain))


def _total(problem: Problem, gain: Array) -> tuple[float, Array]:
    """Return the total cost and its gradient in the gain; infinity where the plant is not stable."""
    if np.isfinite(gain).all() and spectral_radius(problem.A - problem.B @ gain) < 1.0 - 1e-9:
        rollout = problem.roll(gain[None])
        if math.isfinite(rollout.total):
            return rollout.total, -(problem.pull(gain[None], rollout).T @ rollout.states).ravel()
    return math.inf, np.zeros(gain.size)
