"""The cheapest inputs of all, chosen with every disturbance and every cost known in advance."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from driftwise._docs import documented
from driftwise._validate import Array, checked
from driftwise.control.costs import Cost, CostSequence
from driftwise.control.costs.run import Run
from driftwise.control.hindsight import programme
from driftwise.control.hindsight.base import Comparator
from driftwise.control.hindsight.curvature import inverse, roots
from driftwise.control.hindsight.descent import quasi_newton
from driftwise.control.hindsight.rollout import PARAMETERS, Problem, need_convex, need_finite, read_problem
from driftwise.control.hindsight.totals import verdict
from driftwise.control.plants import System, read_limits
from driftwise.errors import InputError


@dataclass(frozen=True, repr=False, eq=False)
class Clairvoyant(Comparator):
    """The cheapest run of all, with the future known.

    Made by `clairvoyant`.

    Attributes
    ----------
    states, inputs, costs, gap, status
        As in `Comparator`; the gap is to all inputs, within the bound if there is one.

    Examples
    --------
    >>> import driftwise as dw
    >>> plant, cost = dw.control.LinearSystem(0.5, 1.0), dw.control.QuadraticCost(1.0, 1.0)
    >>> best = dw.control.clairvoyant(plant, cost, [[1.0], [-1.0], [1.0]])
    >>> best.inputs.ravel().round(3), round(best.total, 3)
    (array([-0.412,  0.353,  0.   ]), 0.765)
    """

    label = "clairvoyant"


@documented(parameters=PARAMETERS)
@checked
def clairvoyant(
    system: System,
    costs: "Cost | CostSequence | Sequence[Cost]",
    disturbances: ArrayLike,
    *,
    start: ArrayLike | None = None,
    input_bound: ArrayLike | None = None,
) -> Clairvoyant:
    """Return the cheapest inputs of all, with disturbances and costs known in advance: no controller can beat them.

    {parameters}
    input_bound : float or array of shape (du,) or (du, 2), optional
        Largest size of each input, or rows [low, high]; no bound when left out.

    Returns
    -------
    Clairvoyant
        States, inputs, costs, total and how certain it is that nothing is cheaper.

    Notes
    -----
    With quadratic costs and no bound the inputs come from the Riccati equations, backwards in time, and are exact up to
    rounding; the gap is then computed from the gradient at the end. Absolute and Huber costs, and bounds on the inputs,
    are solved by Clarabel (the extra 'convex'), and the gap is the one to its lower bound. Costs with soft limits and
    costs of your own, without a bound, are minimised by their values and gradients; there the gap is to inputs up to a
    norm that the status names.

    The state after the last round costs nothing.

    Examples
    --------
    >>> import numpy as np
    >>> import driftwise as dw
    >>> from driftwise.control.hindsight import clairvoyant
    >>> plant, cost = dw.control.double_integrator(), dw.control.QuadraticCost(1.0, 1.0)
    >>> waves = 0.5 * np.sin(np.arange(500)[:, None] / 10.0 + np.array([0.0, 1.0]))
    >>> round(clairvoyant(plant, cost, waves).total, 3)
    135.135
    """
    owner = "clairvoyant"
    problem = read_problem(owner, system, costs, disturbances, start)
    need_convex(owner, problem.costs)
    limit = None if input_bound is None else read_limits(owner, "input_bound", input_bound, system.input_dim)
    model = problem.costs.model
    if model is None and limit is not None:
        raise InputError(
            f"{owner}: with an input_bound the costs must be built in and of one kind, such as QuadraticCost(1.0, 1.0) "
            "in all rounds, since only those can be handed to the solver; leave the bound out for costs of your own."
        )
    if limit is None and (model is None or not (model.quadratic or model.separable)):
        best, gap, status = _by_values(owner, problem)
    elif limit is None and model is not None and model.quadratic:
        best, gap, status = _by_riccati(owner, problem)
    else:
        best, gap, status = programme.solve(owner, problem, limit)
    return Clairvoyant(**vars(best), gap=gap, status=status)


class _Riccati:
    """Feedback gains K_t, offsets k_t with u_t = -K_t x_t - k_t, and (B'P_{t+1}B + R_t)^-1, of every round.

    In the deviations v_t of the inputs from -K_t x_t, the total is a sum of squares, one for every round, of matrices
    B'P_{t+1}B + R_t: its second derivatives do not couple rounds.
    """

    def __init__(self, problem: Problem) -> None:
        T, dx, du = problem.size
        A, B = problem.A, problem.B
        self.gains, self.offsets, self.inverses = np.empty((T, du, dx)), np.empty((T, du)), np.empty((T, du, du))
        weights = roots(problem)
        goals = [
            np.zeros((T, side)) if goal is None else goal
            for goal, side in zip(weights.targets_of_rounds(0, T), (dx, du), strict=True)
        ]
        P, p = np.zeros((dx, dx)), np.zeros(dx)
        for t in range(T - 1, -1, -1):
            (Q_root,), (R_root,) = weights.of_rounds(t, t + 1)
            PB = P @ B
            pushed = P @ problem.disturbances[t] + p
            self.inverses[t] = inverse(R_root.T @ R_root + B.T @ PB)
            self.gains[t] = self.inverses[t] @ (PB.T @ A)
            self.offsets[t] = self.inverses[t] @ (B.T @ pushed - R_root.T @ (R_root @ goals[1][t]))
            p = A.T @ pushed - (PB.T @ A).T @ self.offsets[t] - Q_root.T @ (Q_root @ goals[0][t])
            # Written as a sum of squares, P stays positive semidefinite.
            closed = A - B @ self.gains[t]
            heavy = R_root @ self.gains[t]
            P = Q_root.T @ Q_root + closed.T @ P @ closed + heavy.T @ heavy

    def newton(self, pulls: Array) -> Array:
        """Return the change of the deviations that minimises the quadratic of these slopes, both (T, du) or flat."""
        rows = pulls.reshape(self.offsets.shape)
        return np.asarray(-0.5 * np.einsum("tij,tj->ti", self.inverses, rows)).reshape(pulls.shape)


def _by_riccati(owner: str, problem: Problem) -> tuple[Run, float, str]:
    riccati = _Riccati(problem)
    best = need_finite(owner, problem.roll(riccati.gains, -riccati.offsets))
    pulls = problem.pull(riccati.gains, best)
    # What the squares leave, and the rounding of the total itself.
    gap = -0.5 * float(np.sum(pulls * riccati.newton(pulls))) + float(np.finfo(float).eps) * best.total
    return best, gap, f"From the Riccati equations. No inputs are cheaper by more than {gap:.3g}."


def _by_values(owner: str, problem: Problem) -> tuple[Run, float, str]:
    """Minimise costs by their values and gradients alone, as deviations from the gains of squares."""
    riccati = _Riccati(problem)
    shape = riccati.offsets.shape
    need_finite(owner, problem.roll(riccati.gains, -riccati.offsets))

    def total(extra: Array) -> tuple[float, Array]:
        rollout = problem.roll(riccati.gains, extra.reshape(shape))
        return rollout.total, problem.pull(riccati.gains, rollout).ravel()

    extra = quasi_newton(total, -riccati.offsets.ravel(), newton=riccati.newton, most=300)
    value, slope = total(extra)
    reach = 10.0 * float(np.linalg.norm(extra)) + float(np.linalg.norm(problem.disturbances))
    gap = max(0.0, float(slope @ extra) + reach * float(np.linalg.norm(slope)))
    others = f"inputs that differ from feedback by a norm of up to {reach:.3g} are"
    status = verdict("By quasi-Newton steps.", "They are", others, value, gap)
    return problem.roll(riccati.gains, extra.reshape(shape)), gap, status
