"""A lower bound on the cost of every sequence of policies, moves included: the certificate of `best_policies`.

Let every cost be above a plane, ``c_t(x, u) >= h_t + <a_t, x> + <b_t, u>``. States and inputs are affine in the extra
inputs v_t = sum_i M_t[i] w_{t-i} of the policies, so that with the run of v = 0 (x^0, u^0) and the gradient q_t in v_t,

.. code-block:: text

   sum_t c_t(x_t, u_t)  >=  sum_t h_t + <a_t, x_t^0> + <b_t, u_t^0> + sum_t <g_t, M_t>,     g_t[i] = q_t w_{t-i}'

for all policies. A move costs ``lambda |M_{t+1} - M_t| >= <s_t, M_{t+1} - M_t>`` whenever ``|s_t| <= lambda``; with
s_{-1} = s_{T-1} = 0 these add up to sum_t <s_{t-1} - s_t, M_t>. Hence no sequence of policies of a region costs less
than

.. code-block:: text

   sum_t h_t + <a_t, x_t^0> + <b_t, u_t^0>  -  sum_t sup_M <s_t - s_{t-1} - g_t, M>

Any planes and any s give a valid number; it is the least cost if they are the multipliers of the cheapest sequence.
Costs that are never below 0 are also above their planes times any number from 0 to 1, which brings s_t within lambda.
"""

from typing import NamedTuple

import numpy as np

from driftwise._validate import Array
from driftwise.control.costs.kernels import ABSOLUTE, HUBER
from driftwise.control.costs.run import Run
from driftwise.control.hindsight.rollout import cost_slopes
from driftwise.control.hindsight.totals import Region, Totals


class Planes(NamedTuple):
    """A plane below the cost of every round."""

    heights: Array
    """(T,): its value at x = 0, u = 0."""
    of_states: Array
    """(T, dx): its slope in the state."""
    of_inputs: Array
    """(T, du): its slope in the input."""


def tangents(totals: Totals, run: Run) -> Planes:
    """Return the planes that touch costs at the states and inputs of a run."""
    slopes = cost_slopes(totals.problem.costs, run.states, run.inputs)
    heights = run.costs - (slopes[0] * run.states).sum(axis=1) - (slopes[1] * run.inputs).sum(axis=1)
    return Planes(heights, *slopes)


def with_slopes(totals: Totals, of_states: Array, of_inputs: Array) -> Planes:
    """Return the highest planes with these slopes, clipped to the weights, below absolute or Huber costs.

    Where costs have a kink or bend sharply, a solver's slopes are better than those at the point it found. A plane of
    slope s touches q times Huber's function of width h at z = h s / q, and is -h s^2 / (2 q) at 0.
    """
    data, T = totals.problem.costs.data, len(of_states)
    assert data is not None
    assert data.kind in (ABSOLUTE, HUBER)
    heights, clipped = np.zeros(T), []
    for slopes, rows in zip((of_states, of_inputs), data.of_rounds(0, T), strict=True):
        weights = np.broadcast_to(rows[:, 0], slopes.shape)
        clipped.append(np.clip(slopes, -weights, weights))
        if data.kind == HUBER:
            shares = np.divide(clipped[-1], weights, out=np.zeros_like(slopes), where=weights > 0.0)
            heights -= 0.5 * data.width * (clipped[-1] * shares).sum(axis=1)
    return Planes(heights, *clipped)


def lower_bound(
    totals: Totals, region: Region, planes: Planes, dual: Array | None, price: float, reach: float
) -> float:
    """Return a number that no sequence of policies of the region costs less than.

    Parameters
    ----------
    totals : Totals
        Costs that are never below 0, of one policy a round.
    region : Region
        Where the policy of every round is.
    planes : Planes
        Planes below the costs.
    dual : array of shape (T, H du dx), or None
        s_0, ..., s_{T-1}, of which the last is taken as 0, brought within the price in two ways, of which the better
        one counts. If None, the sums of the g_t so far: what leaves nothing to the region but the last policy.
    price : float
        lambda.
    reach : float
        Norm up to which policies of a region without a domain are compared.
    """
    problem, T = totals.problem, len(planes.heights)
    still = totals.roll(np.zeros(totals.dim))
    parts = planes.heights, planes.of_states * still.states, planes.of_inputs * still.inputs
    pulls = problem.pulled(totals.gains, planes.of_states, planes.of_inputs)
    slopes = problem.policy_slopes(pulls, totals.played, totals.shape).reshape(T, -1)
    if dual is None:
        dual = np.cumsum(slopes, axis=0)
    dual = np.vstack([dual[:-1], np.zeros((1, slopes.shape[1]))])
    lengths = np.linalg.norm(dual, axis=1, keepdims=True)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        excess = np.where(lengths > price, lengths / price, 1.0)
    # What rounding may have added, much where large terms cancel.
    size = sum(float(np.abs(part).sum()) for part in parts)
    size += region.farthest(reach) * float(2.0 * lengths.sum() + np.abs(slopes).sum())
    rounding = 4.0 * float(np.finfo(float).eps) * size
    level = sum(float(part.sum()) for part in parts)

    def bound(scale: float, steps: Array) -> float:
        left = np.diff(steps, axis=0, prepend=0.0) - scale * slopes
        return scale * level - float(region.supports(left, reach).sum()) - rounding

    worst = float(excess.max())
    found = bound(1.0, dual / excess)
    if worst < np.inf:
        found = max(found, bound(1.0 / worst, dual / worst))
    return max(found, 0.0)
