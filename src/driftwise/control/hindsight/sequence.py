"""The cheapest sequence of policies in hindsight, a new one in any round, when moving to it has a price."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from driftwise._docs import documented
from driftwise._validate import Array, checked, instance, number, read_only, whole
from driftwise.control.costs import Cost, CostSequence
from driftwise.control.hindsight import rounds
from driftwise.control.hindsight.base import Comparator
from driftwise.control.hindsight.planes import lower_bound
from driftwise.control.hindsight.rollout import (
    PARAMETERS,
    need_centred,
    need_convex,
    need_finite,
    read_gain,
    read_problem,
)
from driftwise.control.hindsight.totals import Region, Totals
from driftwise.control.plants import System
from driftwise.control.policies.disturbance_action import policy_memory
from driftwise.control.policies.scales import gain_size, loop_memory
from driftwise.domains import Domain
from driftwise.errors import InputError, ParameterError
from driftwise.optimum.values import step_lengths

CERTIFIED = 1e-6
"""Gap, relative to the cost, up to which a sequence is called optimal."""

FINER = (1.0, 1e-3, 1e-6)
"""Units of the cone problems, relative to the size of a policy: each is solved around what the last one found."""

STILL = 1e-6
"""Move, relative to the largest policy, below which two policies are tried as one."""

MOST = 50_000_000
"""Largest number of rounds times the square of a policy's entries: about the entries of the factors Clarabel makes."""

ROUNDING = 1e-12
"""Part of the cost without policies below which a cost is rounding noise."""


@dataclass(frozen=True, repr=False, eq=False)
class BestPolicies(Comparator):
    """The cheapest sequence of disturbance-action policies in hindsight, moves paid for, with a certificate.

    Made by `best_policies`.

    Attributes
    ----------
    states, inputs, costs
        As in `Comparator`; ``total``, the sum of the costs, is without the price of the moves.
    gap : float
        Difference between `overall` and `lower_bound`.
    status : str
        How certain it is that no sequence is cheaper, in a sentence.
    K : array of shape (du, dx)
        Gain of the policies.
    policies : array of shape (T, H, du, dx)
        M_t of every round.
    switching_cost : float
        lambda, the price of a move of Frobenius norm 1.
    lower_bound : float
        Cost, moves included, that no sequence of policies is below: of those in the domain, or of those up to a norm
        that the status names.
    optimal : bool
        Whether the gap is at most 1e-6 of the overall cost.

    Examples
    --------
    >>> import driftwise as dw
    >>> plant, cost = dw.control.LinearSystem(0.5, 1.0), dw.control.QuadraticCost(1.0, 1.0)
    >>> pushes = [[1.0], [-1.0], [1.0], [1.0], [1.0], [1.0]]
    >>> best = dw.control.best_policies(plant, cost, pushes, switching_cost=0.1, K=0.5, memory=1)
    >>> round(best.overall, 4), round(best.path_length, 4), best.optimal
    (3.1653, 2.0974, True)
    """

    gap: float
    K: Array
    policies: Array
    switching_cost: float
    lower_bound: float
    optimal: bool

    @property
    def label(self) -> str:
        """What the run is called in a figure."""
        return f"best policies, moves at {self.switching_cost:g}"

    @property
    def decisions(self) -> Array:
        """M_t of every round, shape (T, H, du, dx): the policies."""
        return self.policies

    @property
    def path_length(self) -> float:
        """How much the policies move: the sum of the Frobenius distances from each to the next."""
        return float(step_lengths(self.policies.reshape(len(self.policies), -1)).sum())

    @property
    def total_switching(self) -> float:
        """Price of all moves."""
        return self.switching_cost * self.path_length

    @property
    def overall(self) -> float:
        """Cost of states and inputs plus the price of all moves: what is minimised."""
        return self.total + self.total_switching


@documented(parameters=PARAMETERS)
@checked
def best_policies(
    system: System,
    costs: "Cost | CostSequence | Sequence[Cost]",
    disturbances: ArrayLike,
    *,
    switching_cost: float,
    K: ArrayLike | None = None,
    memory: int | None = None,
    domain: Domain | None = None,
    start: ArrayLike | None = None,
) -> BestPolicies:
    """Return the policies M_1, ..., M_T that minimise ``sum_t c_t(x_t, u_t) + lambda sum_t |M_t - M_{t-1}|``.

    Here u_t = -K x_t + sum_i M_t[i] w_{t-i}, distances are Frobenius norms, and states carry over from policy to
    policy. Use it as the comparator of dynamic policy regret when nobody says where policies should change: the price
    decides how often, and how far. At a price of 0 there is a new policy in every round; from some price on, one is
    held throughout, the one of `best_policy`.

    {parameters}
    switching_cost : float
        lambda, the price of a move of Frobenius norm 1, at least 0.
    K : array of shape (du, dx), optional
        Gain of the policies; `lqr` with unit weights when left out.
    memory : int, optional
        H, the number of past disturbances that a policy answers to; when left out, that of the domain, or enough for
        the closed loop.
    domain : Domain, optional
        Where every policy has to be, such as ``SpectralBalls((H, du, dx), radii)``; no limits when left out.

    Returns
    -------
    BestPolicies
        Policies, states, inputs, costs, and a lower bound on the cost of every other sequence.

    Notes
    -----
    States and inputs are affine in all policies together, so this is one convex problem. It is handed to Clarabel with
    one link from each round to the next, and takes about a second for 2000 rounds of 20 numbers each. Costs must be
    built in and of one kind: quadratic, absolute, Huber, or with soft limits. The lower bound does not rely on the
    solver: it follows by duality from planes below the costs, whatever the solver said, and a gap above 1e-6 of the
    cost is reported as such. Without a domain it is about sequences of policies up to a norm that the status names,
    some ten times what was found.

    References
    ----------
    .. [1] Zhao, Yan, Wang, Zhou, "Non-stationary online learning with memory ...", JMLR 24, 2023, Section 5.

    See Also
    --------
    best_policy : one policy for all rounds, or one for each of given segments, moves being free.
    clairvoyant : the cheapest inputs of all.

    Examples
    --------
    >>> import numpy as np
    >>> import driftwise as dw
    >>> from driftwise.control.hindsight import best_policies
    >>> plant, cost = dw.control.double_integrator(), dw.control.QuadraticCost(1.0, 1.0)
    >>> t = np.arange(400)[:, None]
    >>> waves = np.where(t < 200, np.sin(t / 10.0), np.sin(t / 3.0)) * [0.5, 0.3]
    >>> best = best_policies(plant, cost, waves, switching_cost=1.0, memory=5)
    >>> round(best.total, 2), round(best.path_length, 2), best.optimal
    (65.79, 2.53, True)
    """
    owner = "best_policies"
    problem = read_problem(owner, system, costs, disturbances, start)
    need_convex(owner, problem.costs)
    need_centred(owner, problem.costs)
    if problem.costs.model is None:
        raise InputError(
            f"{owner}: the costs must be built in and of one kind, such as QuadraticCost(1.0, 1.0) in all rounds, "
            "since only those can be handed to the solver; for costs of your own, best_policy has one policy a segment."
        )
    price = number(owner, "switching_cost", switching_cost, low=0.0)
    gain = read_gain(owner, system, K)
    T, dx, du = problem.size
    if domain is not None:
        instance(owner, "domain", domain, Domain, f"SpectralBalls((5, {du}, {dx}), radii=1.0)")
        H = policy_memory(f"{owner}: domain must be one of", domain, memory, (du, dx))
    else:
        H = loop_memory(system.A - system.B @ gain) if memory is None else whole(owner, "memory", memory)
    if T * (H * du * dx) ** 2 > MOST:
        raise ParameterError(
            f"{owner}: {T} policies of {H * du * dx} numbers each are too many to find together; take a shorter "
            "memory, or best_policy with segments."
        )
    totals = Totals(problem, gain[None], np.arange(T), np.arange(T), (T, H, du, dx))
    return _cheapest(owner, totals, Region(domain, T, gain_size(system, gain)), price)


def _cheapest(owner: str, totals: Totals, region: Region, price: float) -> BestPolicies:
    """Solve cone problems in finer and finer units until the lower bound meets the cost."""
    T, H, du, dx = totals.shape
    best = np.zeros((T, H * du * dx))
    if region.domain is not None:
        best = region.domain.project(best)
    still = need_finite(owner, totals.roll(best)).total
    least, bound, reach, words = still, 0.0, math.inf, "nothing to decide"
    unit, dearest = _unit(totals, region), _dearest(totals)
    for width in FINER:
        answer = rounds.solve(totals, region, min(price, dearest), best, width * unit)
        words = answer.words
        if not answer.finite:
            break
        found = answer.policies if region.domain is None else region.domain.project(answer.policies)
        if math.isinf(reach):
            reach = 10.0 * (float(np.linalg.norm(found, axis=1).max()) + region.size)
        for policies in (found, _merged(found)):
            overall = _overall(totals, policies, price)
            if overall < least:
                best, least = policies, overall
        dual = None if region.domain is None else answer.dual
        for planes in answer.planes:
            bound = max(bound, lower_bound(totals, region, planes, dual, price, reach))
        if least - bound <= 0.1 * CERTIFIED * least:
            break
    run = totals.roll(best)
    gap = max(least - bound, 0.0)
    optimal = gap <= CERTIFIED * max(least, ROUNDING * still)
    where = "in the domain" if region.domain is not None else f"of norm up to {reach:.3g}"
    said = f"no sequence of policies {where} costs less than {bound:.10g}, moves included (Clarabel: {words})"
    how = f"relative gap {gap / least:.1e}" if least > 0.0 else f"gap {gap:.1e}"
    status = f"{'Optimal' if optimal else 'Not certified as optimal'}, {how}: by duality, {said}."
    policies = read_only(best.reshape(totals.shape))
    return BestPolicies(
        **vars(run),
        gap=gap,
        status=status,
        K=read_only(totals.gains[0].copy()),
        policies=policies,
        switching_cost=price,
        lower_bound=bound,
        optimal=optimal,
    )


def _overall(totals: Totals, policies: Array, price: float) -> float:
    """Return what policies, (T, H du dx), cost in all."""
    return totals.roll(policies).total + price * float(step_lengths(policies).sum())


def _merged(policies: Array) -> Array:
    """Return policies of which those that hardly differ from the one before are one: a solver's zero is not quite 0."""
    small = STILL * float(np.linalg.norm(policies, axis=1).max())
    starts = np.flatnonzero(np.append(True, step_lengths(policies)[1:] > small))
    lengths = np.diff(starts, append=len(policies))
    means = np.add.reduceat(policies, starts, axis=0) / lengths[:, None]
    return np.repeat(means, lengths, axis=0)


def _unit(totals: Totals, region: Region) -> float:
    """Return about how large policies are: what brings inputs to the size of the states without them."""
    still = totals.roll(np.zeros(totals.dim))
    ratio = float(np.abs(totals.problem.disturbances).max()) or 1.0
    unit = max(float(np.abs(still.states).max()), float(np.abs(still.inputs).max())) / ratio
    most = math.inf if region.domain is None else max(region.domain.diameter, 1e-100)
    return min(unit, most) or region.size


def _dearest(totals: Totals) -> float:
    """Return a price from which on policies hardly ever move: a higher one only makes it harder for the solver.

    A lower price never gives a lower bound that is too high, so nothing is at stake but how close the bound is.
    """
    slopes = totals.at(np.zeros(totals.dim))[1].reshape(len(totals.starts), -1)
    return 10.0 * float(np.linalg.norm(slopes, axis=1).sum()) or 1.0
