"""The changing costs of the paper's experiments with controllers (Section 6.2)."""

import math
import warnings

import numpy as np

from driftwise._validate import Array, checked, instance, seeded, whole
from driftwise.control.costs.kernels import QUADRATIC, CostData
from driftwise.control.costs.quadratic import QuadraticCost
from driftwise.control.costs.sequence import CostSequence


def _waves(owner: str, rounds: int, literal: bool, half: bool) -> tuple[Array, Array]:
    """Return the faster and the slower wave of so many rounds, lifted above zero unless `literal`."""
    t = np.arange(whole(owner, "rounds", rounds))
    waves = np.sin(t / (10.0 * math.pi)), np.sin(t / (20.0 * math.pi))
    if instance(owner, "literal", literal, bool, "False"):
        # Two functions stand between this line and the caller: the one that asked, and its check of arguments.
        warnings.warn(
            f"{owner}: literal=True takes the paper's factors as printed; they are negative half of the time, so that "
            "the costs are not convex, a lower total means nothing, and no guarantee holds.",
            UserWarning,
            stacklevel=4,
        )
        return waves
    scale = 0.5 if half else 1.0
    return scale * (1.0 + waves[0]), scale * (1.0 + waves[1])


@checked
def gradual(rounds: int, *, state_dim: int = 2, input_dim: int = 1, literal: bool = False) -> CostSequence:
    """Make the paper's gradually changing costs: ``c_t = a_t |x|^2 + b_t |u|^2``.

    a_t = 1 + sin(t / (10 pi)) and b_t = 1 + sin(t / (20 pi)), for t = 0, ..., T - 1: periods of 197 and 395 rounds.

    Parameters
    ----------
    rounds : int
        T; 10000 in the paper.
    state_dim, input_dim : int, default 2 and 1
        Numbers of states and of inputs.
    literal : bool, default False
        Take plain sines, as the paper prints them. Such costs are negative, and not convex, half of the time.

    Warns
    -----
    UserWarning
        If `literal`.

    Examples
    --------
    >>> from driftwise.control.costs import gradual
    >>> costs = gradual(10_000)
    >>> round(costs[100].value([1.0, 0.0], [2.0]), 4)
    8.9576
    """
    dx, du = whole("gradual", "state_dim", state_dim), whole("gradual", "input_dim", input_dim)
    cost = QuadraticCost(np.eye(dx), np.eye(du))
    a, b = _waves("gradual", rounds, literal, half=False)
    return CostSequence.from_data(cost, cost.data._replace(scales=np.stack([a, b], axis=1)), a.size)


@checked
def abrupt(
    rounds: int, *, state_dim: int = 2, input_dim: int = 1, stages: int = 5, seed: int | np.random.Generator = 0
) -> CostSequence:
    """Make the paper's abruptly changing costs: ``c_t = a |x|^2 + b |u|^2`` with a and b constant within a stage.

    The paper does not say which a and b it took; here they are uniform in [0.1, 2), the range of the gradual costs
    without its lower end, where the cost vanishes.

    Parameters
    ----------
    rounds : int
        T; 10000 in the paper. It is divided among the stages as evenly as possible.
    state_dim, input_dim : int, default 2 and 1
        Numbers of states and of inputs.
    stages : int, default 5
        Number of stages, at most `rounds`.
    seed : int or numpy.random.Generator, default 0
        Same seed, same costs.

    Examples
    --------
    >>> from driftwise.control.costs import abrupt
    >>> costs = abrupt(10_000, seed=0)
    >>> [round(costs[t].value([1.0, 0.0], [0.0]), 4) for t in (0, 1999, 2000, 9999)]
    [1.3102, 1.3102, 0.1778, 1.1329]
    """
    owner = "abrupt"
    dx, du = whole(owner, "state_dim", state_dim), whole(owner, "input_dim", input_dim)
    count = whole(owner, "stages", stages)
    T = whole(owner, "rounds", rounds, low=count)
    factors = seeded(owner, seed).uniform(0.1, 2.0, (count, 2))
    return CostSequence.stages([QuadraticCost(np.full(dx, a), np.full(du, b)) for a, b in factors], T)


@checked
def pendulum(rounds: int, *, literal: bool = False) -> CostSequence:
    """Make the paper's costs for the pendulum: c_t = a_t theta^2 + b_t omega^2 + c_t u^2.

    a_t = (1 + sin(t / (10 pi))) / 2 and b_t = c_t = (1 + sin(t / (20 pi))) / 2, for t = 0, ..., T - 1.

    Parameters
    ----------
    rounds : int
        T; 10000 in the paper.
    literal : bool, default False
        Take the sines themselves, with a warning, as in `gradual`.

    Examples
    --------
    >>> from driftwise.control.costs import pendulum
    >>> costs = pendulum(10_000)
    >>> round(costs[100].value([1.0, 0.0], [2.0]), 4)
    4.4788
    """
    a, b = _waves("pendulum", rounds, literal, half=True)
    Q, R = np.zeros((a.size, 2, 2)), b.reshape(-1, 1, 1).copy()
    Q[:, 0, 0], Q[:, 1, 1] = a, b
    data = CostData(QUADRATIC, Q, R, np.arange(a.size), np.ones((1, 2)), 1.0)
    return CostSequence.from_data(QuadraticCost(np.eye(2), np.eye(1)), data, a.size)
