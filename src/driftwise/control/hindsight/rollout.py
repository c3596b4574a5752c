"""A known past played again: the rounds of a run under other inputs, and how its total cost depends on them.

Every comparator plays u_t = -K_t x_t + v_t with extra inputs v that are known in advance: those of a policy are
v_t = sum_i M_t[i] w_{t-i}. The state is linear in v, so total costs are convex in v and in M, and one run backwards
gives the gradient: ::

    q_t = grad_u c_t + B' p_{t+1},   p_t = grad_x c_t - K_t' q_t + A' p_{t+1},   p_T = 0

where q_t is the gradient in v_t, and sum_t q_t w_{t-i}' the one in M[i].
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from driftwise._compile import entry
from driftwise._docs import section
from driftwise._memory import part
from driftwise._validate import Array, Indices, array, instance, loose
from driftwise.control.costs import CostSequence, as_costs
from driftwise.control.costs.kernels import slopes_of, value_of
from driftwise.control.costs.run import Run
from driftwise.control.plants import PLANT_HINT, System, as_matrix
from driftwise.control.plants.disturbances.base import Disturbance
from driftwise.control.plants.kernels import add_product
from driftwise.control.policies.engine import add_scaled, clear, copy_to
from driftwise.control.stability import certify, lqr
from driftwise.errors import InputError


class Problem(NamedTuple):
    """A plant with everything that happened to it: what a comparator is chosen for, in hindsight."""

    system: System
    A: Array
    B: Array
    costs: CostSequence
    disturbances: Array
    """(T, dx)."""
    start: Array
    """(dx,): x_0."""

    @property
    def size(self) -> tuple[int, int, int]:
        """T, dx, du."""
        return len(self.disturbances), self.system.state_dim, self.system.input_dim

    def extra_inputs(self, policies: Array, index: Indices) -> Array:
        """Return the extra inputs of policies, shape (S, H, du, dx), where policy index[t] is played in round t."""
        result = np.empty((len(index), policies.shape[2]))
        _extra_inputs(policies, index, self.disturbances, result)
        return result

    def roll(self, gains: Array, extra: Array | None = None) -> Run:
        """Play u_t = -K_t x_t + v_t; `gains` is (T, du, dx), or (1, du, dx) for the same in all rounds.

        From the round in which the plant diverges, costs are infinite.
        """
        T, dx, du = self.size
        states, inputs = np.empty((T, dx)), np.empty((T, du))
        states[0] = self.start
        added = np.zeros((T, du)) if extra is None else extra
        _roll(self.A, self.B, gains, added, self.disturbances, states, inputs)
        return self.costed(states, inputs)

    def costed(self, states: Array, inputs: Array) -> Run:
        """Return what states and inputs cost: infinity from the first round in which they are out of bounds."""
        sizes = np.maximum(np.abs(states).max(axis=1), np.abs(inputs).max(axis=1))
        good = sizes <= 1e100  # NaN is not
        count = len(states) if good.all() else int(np.argmin(good))
        costs = np.full(len(states), math.inf)
        if self.costs.model is not None:
            costs[:count] = cost_values(self.costs, states, inputs)[:count]
            return Run(states, inputs, costs)
        for t in range(count):
            try:
                costs[t] = self.costs[t].value(states[t], inputs[t])
            except InputError:  # the user's own function is not finite so far out
                break
        return Run(states, inputs, costs)

    def pull(self, gains: Array, run: Run) -> Array:
        """Return the gradient of the total cost of a run in its extra inputs, shape (T, du); 0 if it diverged."""
        if not math.isfinite(run.total):
            return np.zeros_like(run.inputs)
        return self.pulled(gains, *cost_slopes(self.costs, run.states, run.inputs))

    def pulled(self, gains: Array, slopes_x: Array, slopes_u: Array) -> Array:
        """Return the gradient in the extra inputs, (T, du), of ``sum_t <slopes_x, x_t> + <slopes_u, u_t>``."""
        pulls = np.empty_like(slopes_u)
        _pull(self.A, self.B, gains, slopes_x, slopes_u, np.empty((2, self.system.state_dim)), pulls)
        return pulls

    def policy_slopes(self, pulls: Array, index: Indices, shape: tuple[int, ...]) -> Array:
        """Return the gradient of the total cost in the policies, (S, H, du, dx), from the one in their inputs."""
        result = np.zeros(shape)
        _lagged_sums(pulls, index, self.disturbances, result)
        return result


def read_problem(owner: str, system: System, costs: Any, disturbances: ArrayLike, start: ArrayLike | None) -> Problem:
    """Check what a comparator is to be chosen for.

    Parameters
    ----------
    system : LinearSystem
        The plant, without limits, delay or lag.
    costs : Cost, CostSequence or list of Cost
        One cost for all rounds, or one a round.
    disturbances : array of shape (T, dx)
        w_0, ..., w_{T-1}, such as ``trace.disturbances``; those before the first round count as 0.
    start : array of shape (dx,), optional
        x_0; the origin when left out.
    """
    instance(owner, "system", system, System, PLANT_HINT)
    if not system.linear:
        raise InputError(
            f"{owner}: regret is defined on a LinearSystem without an input limit, rate limit, delay or lag only, got "
            f"{system!r}: on any other plant the disturbance, as its nominal pair explains the states, depends on the "
            "policy. Simulate both controllers and compare their total costs instead; for a delay or a lag, "
            "LinearSystem(*system.augmented) is a plant without them."
        )
    if isinstance(disturbances, Disturbance):
        raise InputError(
            f"{owner}: disturbances must be those that happened, an array of shape (T, {system.state_dim}) such as "
            f"trace.disturbances, got {disturbances!r}; its sample(rounds, dim, seed) gives some."
        )
    given = loose(owner, "disturbances", disturbances)
    if given.ndim == 1 and system.state_dim == 1:
        given = given[:, None]
    rows = array(owner, "disturbances", given, ("T", system.state_dim), copy=True)
    sequence = as_costs(owner, costs, len(rows), system.state_dim, system.input_dim)
    first = np.zeros(system.state_dim) if start is None else array(owner, "start", start, (system.state_dim,))
    # Copies, since compiled code is built once more for arrays that are read-only.
    return Problem(system, system.A.copy(), system.B.copy(), sequence, rows, first)


PARAMETERS = section(read_problem, "Parameters")
"""The parameters that all functions for comparators share."""


def read_gain(owner: str, system: System, K: ArrayLike | None) -> Array:
    """Return a gain that stabilises the plant: the one given, or that of `lqr` with unit weights."""
    if K is None:
        return lqr(system)
    gain = as_matrix(owner, "K", K, (system.input_dim, system.state_dim))
    certify(system, gain)
    return gain


def need_convex(owner: str, costs: CostSequence) -> None:
    """Refuse costs that are not convex: there may be no least total."""
    if not costs.convex:
        raise InputError(f"{owner}: the costs are not convex in all rounds, so that there may be no cheapest policy.")


def need_centred(owner: str, costs: CostSequence) -> None:
    """Refuse costs with a target, which controllers hold, and u = -K x with any policy does not."""
    if costs.aimed:
        raise InputError(
            f"{owner}: the costs have a target, and u = -K x with any policy acts around the origin, so that it cannot "
            "hold one. Shift the coordinates: for a target r held by the input s, states x - r and inputs u - s, with "
            "the disturbances w + A r + B s - r and a cost without targets. Or compare with clairvoyant, which takes "
            "targets as they are."
        )


@entry
def _extra_inputs(policies: Array, index: Indices, disturbances: Array, out: Array) -> None:
    """Write v_t = sum_i M_t[i] w_{t-i}, M_t being the policy with the number index[t]."""
    _, H, du, dx = policies.shape
    for t in range(out.shape[0]):
        extra = part(out, t * du)
        clear(extra, du)
        for k in range(min(H, t)):
            M, w = part(policies, (index[t] * H + k) * du * dx), part(disturbances, (t - 1 - k) * dx)
            for a in range(du):
                total = 0.0
                for i in range(dx):
                    total += M[a * dx + i] * w[i]
                extra[a] += total


@entry
def _lagged_sums(pulls: Array, index: Indices, disturbances: Array, out: Array) -> None:
    """Add sum_t q_t w_{t-i}' to the gradient of every policy, over the rounds in which it is played."""
    _, H, du, dx = out.shape
    for t in range(pulls.shape[0]):
        for k in range(min(H, t)):
            w, sums = part(disturbances, (t - 1 - k) * dx), part(out, (index[t] * H + k) * du * dx)
            for a in range(du):
                for i in range(dx):
                    sums[a * dx + i] += pulls[t, a] * w[i]


@entry
def _roll(A: Array, B: Array, gains: Array, extra: Array, disturbances: Array, states: Array, inputs: Array) -> None:
    """Write states and inputs of u = -K_t x + v_t from the state in the first row; one gain may stand for all."""
    T, du = inputs.shape
    dx = states.shape[1]
    for t in range(T):
        n, x, u = min(t, gains.shape[0] - 1), part(states, t * dx), part(inputs, t * du)
        for a in range(du):
            total = extra[t, a]
            for i in range(dx):
                total -= gains[n, a, i] * x[i]
            u[a] = total
        if t + 1 < T:
            following = part(states, (t + 1) * dx)
            copy_to(following, part(disturbances, t * dx), dx)
            add_product(part(A, 0), dx, dx, x, following)
            add_product(part(B, 0), dx, du, u, following)


@entry
def _pull(A: Array, B: Array, gains: Array, slopes_x: Array, slopes_u: Array, room: Array, pulls: Array) -> None:
    """Write q_t, the gradient of the total cost in v_t; `room` is (2, dx)."""
    T, du = pulls.shape
    dx = slopes_x.shape[1]
    later, now = part(room, 0), part(room, dx)  # p_{t+1} and p_t
    clear(later, dx)
    for t in range(T - 1, -1, -1):
        n, q = min(t, gains.shape[0] - 1), part(pulls, t * du)
        for a in range(du):
            q[a] = slopes_u[t, a]
            for i in range(dx):
                q[a] += B[i, a] * later[i]
        copy_to(now, part(slopes_x, t * dx), dx)
        for a in range(du):
            add_scaled(now, -q[a], part(gains, (n * du + a) * dx), dx)
        for k in range(dx):
            add_scaled(now, later[k], part(A, k * dx), dx)
        copy_to(later, now, dx)


@entry
def _values(costs: Array, states: Array, inputs: Array, out: Array) -> None:
    """Write c_t(x_t, u_t) for every round."""
    dx, du = states.shape[1], inputs.shape[1]
    for t in range(out.size):
        out[t] = value_of(part(costs, 0), t, part(states, t * dx), part(inputs, t * du), dx, du)


@entry
def _slopes(costs: Array, states: Array, inputs: Array, slopes_x: Array, slopes_u: Array) -> None:
    """Write the gradients of c_t at (x_t, u_t) for every round."""
    dx, du = states.shape[1], inputs.shape[1]
    for t in range(states.shape[0]):
        x, u = part(states, t * dx), part(inputs, t * du)
        slopes_of(part(costs, 0), t, x, u, dx, du, part(slopes_x, t * dx), part(slopes_u, t * du))


def cost_values(costs: CostSequence, states: Array, inputs: Array) -> Array:
    """Return c_t(x_t, u_t) for every round."""
    if costs.model is None:
        return np.array([cost.value(x, u) for cost, x, u in zip(costs, states, inputs, strict=True)])
    result = np.empty(len(states))
    _values(costs.model.vector, states, inputs, result)
    return result


def cost_slopes(costs: CostSequence, states: Array, inputs: Array) -> tuple[Array, Array]:
    """Return the gradients of c_t at (x_t, u_t) in x and in u, for every round."""
    slopes = np.empty_like(states), np.empty_like(inputs)
    if costs.model is not None:
        _slopes(costs.model.vector, states, inputs, *slopes)
    else:
        for t, cost in enumerate(costs):
            slopes[0][t], slopes[1][t] = cost.gradient(states[t], inputs[t])
    return slopes


def need_finite(owner: str, rollout: Run) -> Run:
    """Refuse a rollout that diverged."""
    if not np.isfinite(rollout.costs).all():
        t = int(np.argmin(np.isfinite(rollout.costs)))
        raise InputError(
            f"{owner}: in round {t} the state {np.array2string(rollout.states[t], precision=3, threshold=6)}, the "
            "input or their cost is no longer a number of at most 1e+100: the plant diverges under this policy. Give "
            f"a gain that stabilises it, such as lqr(system)."
        )
    return rollout
