"""The parts that two-layer algorithms are composed of: a pool of step sizes, Hedge on top, and what Hedge is fed."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from driftwise._protocol import Rounds
from driftwise._saving import savable
from driftwise._validate import Array, Checked, array, choice, instance, loose, number
from driftwise.domains import Domain
from driftwise.engine.program import pool_size
from driftwise.errors import ParameterError
from driftwise.mirror import MirrorMap, NegativeEntropy
from driftwise.movecost import MoveCost, move_cost_for

SMALLEST = 1e-100
"""Smallest diameter, gradient bound, loss bound or weight accepted: its square is still above zero."""


class Options(Rounds, total=False):
    """What named learners take besides constants of their own; `Ensemble` explains each, and has the defaults."""

    horizon: int | None
    horizon_free: str
    start: ArrayLike | None


@savable
@dataclass(frozen=True)
class Pool(metaclass=Checked):
    """Step sizes of the base-learners, per root round.

    Parameters
    ----------
    steps : float or array of shape (N,)
        The step sizes, smallest first; with `growth`, the smallest one.
    growth : float, default 0.0
        c in the paper's N = ceil(log2(1 + c T) / 2) + 1 base-learners for T rounds, each with twice the step of the one
        before; 0 takes `steps` as they are.
    patience : float or array of shape (k,), default 0.0
        Part of the price of a move that the gradients a base-learner holds must outweigh before it moves; with 0 it
        moves in every round. With several numbers there is one base-learner of each kind for every step size.

    Examples
    --------
    >>> from driftwise.learners import Pool
    >>> Pool([0.1, 0.4]).for_rounds(1000)
    array([0.1, 0.4])
    >>> Pool(0.1, growth=1.0).for_rounds(1000)
    array([0.1, 0.2, 0.4, 0.8, 1.6, 3.2])
    """

    steps: ArrayLike
    growth: float = 0.0
    patience: ArrayLike = 0.0

    def __post_init__(self) -> None:
        kinds = array("Pool", "patience", np.atleast_1d(loose("Pool", "patience", self.patience)), ("k",))
        if kinds.min() < 0.0:
            raise ParameterError(f"Pool: patience must be at least 0, got {kinds.min():g}.")
        if number("Pool", "growth", self.growth, low=0.0) > 0.0:
            number("Pool", "steps (with growth, a single one)", self.steps, low=0.0, exclusive=True)
        steps = array("Pool", "steps", np.atleast_1d(loose("Pool", "steps", self.steps)), ("N",))
        if not steps.min() > 0.0:
            raise ParameterError(f"Pool: steps must be above 0, got a smallest one of {steps.min():g}.")
        if np.any(np.diff(steps) < 0.0):
            raise ParameterError(f"Pool: steps must not decrease, got {steps}.")

    @property
    def kinds(self) -> tuple[float, ...]:
        """Patience of each base-learner of one step size."""
        return tuple(np.atleast_1d(np.array(self.patience, np.float64)).tolist())

    def for_rounds(self, rounds: float) -> Array:
        """Return the step sizes, per root round, of every base-learner of the pool for `rounds` rounds.

        Parameters
        ----------
        rounds : float
            T.
        """
        steps = np.atleast_1d(np.array(self.steps, np.float64))
        if self.growth > 0.0:
            steps = np.asarray(steps[0] * 2.0 ** np.arange(pool_size(rounds, self.growth)))
        return np.repeat(steps, len(self.kinds))


@savable
@dataclass(frozen=True)
class Meta(metaclass=Checked):
    """Hedge over the base-learners.

    Parameters
    ----------
    rate : float, default 0.0
        Learning rate eps, per root round; 0 keeps the prior. In the self-tuned schedule, a factor: eps is this over
        what mixing has cost so far.
    prior : array of shape (N,), or "equal", optional
        Initial weights, positive, normalised here; the paper's 1 / (i (i + 1)) when left out.

    Examples
    --------
    >>> import numpy as np
    >>> from driftwise.learners import Meta
    >>> np.exp(Meta(rate=0.5).log_prior(3)).round(3)
    array([0.5  , 0.167, 0.083])
    >>> np.exp(Meta(rate=0.5, prior=[1.0, 1.0, 2.0]).log_prior(3)).round(3)
    array([0.25, 0.25, 0.5 ])
    """

    rate: float = 0.0
    prior: ArrayLike | str | None = None

    def __post_init__(self) -> None:
        number("Meta", "rate", self.rate, low=0.0)
        if isinstance(self.prior, str):
            choice("Meta", "prior, unless it is an array,", self.prior, ("equal",))

    def log_prior(self, count: int) -> Array:
        """Return the logarithm of the prior over `count` base-learners, up to a constant.

        Parameters
        ----------
        count : int
            N.
        """
        if isinstance(self.prior, str):
            return np.zeros(count)
        if self.prior is None:
            i = np.arange(1.0, count + 1.0)
            return -np.log(i * (i + 1.0))
        weights = array("Meta", "prior", self.prior, (count,))
        if not weights.min() > 0.0:
            raise ParameterError(f"Meta: prior must be positive, got a smallest weight of {weights.min():g}.")
        return np.asarray(np.log(weights) - np.log(weights.sum()))


@savable
@dataclass(frozen=True)
class Surrogate(metaclass=Checked):
    """What Hedge is fed for each base-learner, and where gradients are taken.

    Parameters
    ----------
    switching_cost : float or MoveCost, default 0.0
        lambda in ``l_{t,i} = <g_t, w_{t,i}> + lambda |w_{t,i} - w_{t-1,i}|``, or prices in place of lambda times the
        distance.
    gradients : {"shared", "own"}, default "shared"
        "shared": one gradient a round, at the decision, for all. "own": every base-learner has the gradient and the
        loss at its own point; `observe` then needs a loss that can be asked for both.

    Examples
    --------
    Base-learners that each pay for their own moves, as Scream's do:

    >>> import driftwise as dw
    >>> from driftwise.learners import Ensemble, Meta, Pool, Surrogate
    >>> pool, meta = Pool(1.0, growth=1.0), Meta(rate=1.0)
    >>> learner = Ensemble(dw.Ball(1), pool=pool, meta=meta, surrogate=Surrogate(switching_cost=2.0), horizon=9)
    >>> for _ in range(3):
    ...     w = learner.act()
    ...     learner.observe([-1.0])
    >>> learner.weights.round(3)
    array([0.658, 0.219, 0.123])
    """

    switching_cost: float | MoveCost = 0.0
    gradients: str = "shared"

    def __post_init__(self) -> None:
        move_cost_for("Surrogate", self.switching_cost)
        choice("Surrogate", "gradients", self.gradients, ("shared", "own"))


def wide_enough(owner: str, domain: Domain) -> float:
    """Return the diameter of a domain in which there is something to decide."""
    diameter = instance(owner, "domain", domain, Domain, "Ball(2)").diameter
    if not diameter >= SMALLEST:
        raise ParameterError(f"{owner}: the domain {domain!r} is a single point, so there is nothing to decide.")
    return diameter


def rate_or_bound(
    owner: str, rate: tuple[str, object], bound: tuple[str, object], formula: Callable[[float], float]
) -> float:
    """Return a rate that was given outright, or the one that follows from a bound by the formula."""
    if bound[1] is not None:
        limit = number(owner, *bound, low=SMALLEST)
    if rate[1] is not None:
        return number(owner, *rate, low=0.0, exclusive=True)
    if bound[1] is None:
        raise ParameterError(f"{owner}: give {bound[0]} (and horizon, if it is known), or a constant {rate[0]}.")
    return formula(limit)


def read_prior(owner: str, prior: ArrayLike, count: int) -> Array:
    """Return initial weights, normalised."""
    weights = array(owner, "prior", prior, (count,))
    if not weights.min() > 0.0:
        raise ParameterError(f"{owner}: prior must be positive, got a smallest weight of {weights.min():g}.")
    weights = weights / weights.sum()
    if not weights.min() >= SMALLEST:
        raise ParameterError(f"{owner}: prior must be at least {SMALLEST:g} of its sum, got {weights.min():g}.")
    return np.asarray(weights)


def first_decision(owner: str, domain: Domain, base: MirrorMap, start: ArrayLike | None) -> Array:
    """Return `start` if a learner may begin there, the feasible point nearest to the origin if it is None."""
    if start is None:
        return domain.project(np.zeros(domain.dim))
    first = array(owner, "start", start, (domain.dim,), copy=True)
    if not domain.contains(first):
        raise ParameterError(f"{owner}: start must lie in {domain!r}, got {first}.")
    if isinstance(base, NegativeEntropy) and not first.min() > 0.0:
        raise ParameterError(f"{owner}: with negative entropy, start must be positive everywhere, got {first}.")
    return first
