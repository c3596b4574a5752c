"""The best disturbance-action policy in hindsight, or one for each of several segments of the rounds."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from driftwise._docs import documented
from driftwise._validate import Array, Indices, checked, describe, instance, loose, read_only, whole
from driftwise.control.costs import Cost, CostSequence
from driftwise.control.hindsight.base import Comparator
from driftwise.control.hindsight.rollout import (
    PARAMETERS,
    need_centred,
    need_convex,
    need_finite,
    read_gain,
    read_problem,
)
from driftwise.control.hindsight.search import cheapest
from driftwise.control.hindsight.totals import Region, Totals
from driftwise.control.plants import System
from driftwise.control.policies.disturbance_action import DisturbanceAction, policy_memory
from driftwise.control.policies.scales import gain_size, loop_memory
from driftwise.domains import Domain
from driftwise.errors import InputError, ParameterError
from driftwise.regret.measures import path_length

MOST = 50_000_000
"""Largest number of entries that the second derivatives may have."""


@dataclass(frozen=True, repr=False, eq=False)
class BestPolicy(Comparator):
    """The cheapest disturbance-action policy in hindsight, or one for each of several segments.

    Made by `best_policy`.

    Attributes
    ----------
    states, inputs, costs, gap, status
        As in `Comparator`; the gap is to all policies of the domain, or of a norm that the status names.
    K : array of shape (du, dx)
        Gain of the policies.
    policies : array of shape (S, H, du, dx)
        M of every segment.
    segments : array of shape (S,)
        First round of every segment.

    Examples
    --------
    >>> import driftwise as dw
    >>> plant, cost = dw.control.LinearSystem(0.5, 1.0), dw.control.QuadraticCost(1.0, 1.0)
    >>> best = dw.control.best_policy(plant, cost, [[1.0], [-1.0], [1.0], [-1.0]], K=0.5, memory=1)
    >>> best.policies.round(3), round(best.total, 3)
    (array([[[[0.533]]]]), 1.617)
    """

    K: Array
    policies: Array
    segments: Indices

    @property
    def label(self) -> str:
        """What the run is called in a figure."""
        return "best policy" if len(self.policies) == 1 else f"best {len(self.policies)} policies"

    @property
    def policy(self) -> DisturbanceAction:
        """The policy, if there is a single one."""
        if len(self.policies) > 1:
            raise InputError(
                f"BestPolicy: there are {len(self.policies)} policies, one a segment; see policies, or decisions for "
                "that of every round."
            )
        return DisturbanceAction(self.K, self.policies[0])

    @property
    def decisions(self) -> Array:
        """M_t of every round, shape (T, H, du, dx)."""
        return np.repeat(self.policies, np.diff(self.segments, append=len(self.costs)), axis=0)

    @property
    def path_length(self) -> float:
        """How much the policies move: the sum of the Frobenius distances from each to the next."""
        return path_length(self.policies.reshape(len(self.policies), -1))


@documented(parameters=PARAMETERS)
@checked
def best_policy(
    system: System,
    costs: "Cost | CostSequence | Sequence[Cost]",
    disturbances: ArrayLike,
    *,
    K: ArrayLike | None = None,
    memory: int | None = None,
    segments: int | Sequence[int] | Indices | None = None,
    domain: Domain | None = None,
    start: ArrayLike | None = None,
) -> BestPolicy:
    """Return the cheapest disturbance-action policy in hindsight, by its real costs on the plant.

    What the policy regret of the paper is measured against: of all u_t = -K x_t + sum_i M[i] w_{t-i}, the M with the
    least sum of c_t(x_t, u_t). With `segments`, M may change at given rounds; the states carry over, and all policies
    are chosen together.

    {parameters}
    K : array of shape (du, dx), optional
        Gain of the policies; `lqr` with unit weights when left out.
    memory : int, optional
        H, the number of past disturbances that a policy answers to; when left out, that of the domain, or enough for
        the closed loop.
    segments : int or sequence of int, optional
        As many segments of (almost) equal length, or the first round of each in rising order; round 0 always begins
        one. A single policy when left out.
    domain : Domain, optional
        Where the policy of every segment has to be, such as ``SpectralBalls((H, du, dx), radii)``; no limits when left
        out.

    Returns
    -------
    BestPolicy
        Policies, states, inputs, costs, total and how certain it is that none is cheaper.

    Notes
    -----
    With quadratic costs the policies solve normal equations, segment by segment from the last to the first; they are
    exact up to rounding. With Huber's costs they are found by Newton-like steps, with absolute costs as the limit of
    Huber's. Costs of your own are minimised by their values and gradients; if those have kinks, by cutting planes for
    up to 100 unknowns. In every case the gap follows from convexity and gradients alone.

    Where disturbances leave policies undetermined, as a sinusoid does, one of the cheapest is returned.

    References
    ----------
    .. [1] Zhao, Yan, Wang, Zhou, "Non-stationary online learning with memory ...", JMLR 24, 2023, Section 5.

    See Also
    --------
    best_linear : the best u = -K x.
    clairvoyant : the cheapest inputs of all.

    Examples
    --------
    >>> import numpy as np
    >>> import driftwise as dw
    >>> from driftwise.control.hindsight import best_policy
    >>> plant, cost = dw.control.double_integrator(), dw.control.QuadraticCost(1.0, 1.0)
    >>> waves = 0.5 * np.sin(np.arange(500)[:, None] / 10.0 + np.array([0.0, 1.0]))
    >>> lqr = dw.control.simulate(plant, dw.control.LinearController(plant), cost, waves)
    >>> best = best_policy(plant, cost, waves, memory=5)
    >>> round(lqr.total, 3), round(best.total, 3), best.policies.shape
    (1581.941, 136.647, (1, 5, 1, 2))
    """
    owner = "best_policy"
    problem = read_problem(owner, system, costs, disturbances, start)
    need_convex(owner, problem.costs)
    need_centred(owner, problem.costs)
    gain = read_gain(owner, system, K)
    T, dx, du = problem.size
    if domain is not None:
        instance(owner, "domain", domain, Domain, f"SpectralBalls((5, {du}, {dx}), radii=1.0)")
        H = policy_memory(f"{owner}: domain must be one of", domain, memory, (du, dx))
    else:
        H = loop_memory(system.A - system.B @ gain) if memory is None else whole(owner, "memory", memory)
    starts = _starts(owner, segments, T)
    if len(starts) * (H * du * dx + dx) ** 2 > MOST:
        raise ParameterError(
            f"{owner}: {len(starts)} policies of {H * du * dx} numbers each are too many to find together; take fewer "
            "segments or a shorter memory."
        )
    index = np.repeat(np.arange(len(starts)), np.diff(starts, append=T))
    totals = Totals(problem, gain[None], starts, index, (len(starts), H, du, dx))
    need_finite(owner, totals.roll(np.zeros(totals.dim)))
    found = cheapest(owner, totals, Region(domain, len(starts), gain_size(system, gain)))
    best = {**vars(totals.roll(found.policies)), "gap": found.gap, "status": found.words}
    policies = read_only(found.policies.reshape(totals.shape))
    return BestPolicy(**best, K=read_only(gain), policies=policies, segments=starts)


def _starts(owner: str, segments: "int | Sequence[int] | Indices | None", rounds: int) -> Indices:
    """Return the first round of every segment."""
    if segments is None:
        return np.zeros(1, np.int64)
    if np.ndim(segments) == 0:
        count = whole(owner, "segments", segments, high=rounds)
        return np.array([round_ * rounds // count for round_ in range(count)], np.int64)
    given = loose(owner, "segments", segments)
    expected = f"rounds from 0 to {rounds - 1} in rising order"
    if given.ndim != 1 or not given.size or given.dtype.kind not in "iu":
        raise InputError(f"{owner}: segments must be a number of segments or {expected}, got {describe(segments)}.")
    starts = given.astype(np.int64)
    if starts[0] < 0 or starts[-1] >= rounds or np.any(np.diff(starts) <= 0):
        raise InputError(f"{owner}: segments must be {expected}, got {describe(segments)}.")
    return starts if starts[0] == 0 else np.concatenate([[0], starts])
