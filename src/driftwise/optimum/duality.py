"""A lower bound on the cost of every sequence of decisions: the certificate of the hindsight optimum.

For any slopes r_t in the domain of the conjugate losses, and any s_t with ``|s_t| <= lambda`` and s_0 = s_T = 0,

.. code-block:: text

   sum_t f_t(w_{t-m:t}) + lambda sum_t |w_t - w_{t-1}|  >=  - sum_t f_t*(r_t) - sum_t sup_{v in W} <n_t, v>
   n_t = s_t - s_{t-1} - (what the slopes pull on decision t)

holds for all w_1, ..., w_T in W by Fenchel's inequality. With prices up and down, ``|s_t| <= lambda`` becomes
``<s_t, x> <= price of x`` for every change x: ``-down <= s_t <= up`` in l1, and in l2 that the positive parts of s_t
over `up` and the negative ones over `down` are no longer than 1 together. It is an equality at the optimum and its
multipliers, and correct, if weak, for any others: whoever solved the problem, and however badly, the bound can be
trusted.
"""

from typing import NamedTuple

import numpy as np

from driftwise._validate import Array
from driftwise.domains import Domain
from driftwise.losses import kernels
from driftwise.losses.kernels import LossData, held_tap
from driftwise.movecost import MoveCost

EACH = (kernels.TRACKING, kernels.CAPACITY)
"""Losses with a slope for each coordinate of a decision, and not one for its score."""


class Answer(NamedTuple):
    """What a solver gives: decisions, a lower bound on the cost of any, and in a few words how it ended."""

    decisions: Array
    lower_bound: float
    words: str


def admissible(data: LossData, slopes: Array) -> Array:
    """Return the slopes, clipped to where the conjugate losses are finite."""
    if data.link == kernels.LINEAR:
        return np.ones_like(slopes)
    if data.link in (kernels.ABSOLUTE, kernels.HUBER):
        width = 1.0 if data.link == kernels.ABSOLUTE else data.width
        return np.clip(slopes, -width, width)
    if data.link == kernels.CAPACITY:
        return np.clip(slopes, data.prices[0] - data.prices[1], data.prices[0])
    if data.link == kernels.LOGISTIC:
        return np.asarray(-data.targets * np.clip(-data.targets * slopes, 0.0, 1.0))
    return slopes


def conjugates(data: LossData, slopes: Array) -> float:
    """Return the sum of the conjugate losses: ``sup_z r z - loss(z)``, each at its slope."""
    if data.link == kernels.TRACKING:
        return float(0.5 * np.sum(slopes**2) + np.sum(slopes * data.features))
    if data.link == kernels.LINEAR:
        return 0.0
    if data.link == kernels.CAPACITY:
        return float(np.sum((slopes - data.prices[0]) * data.features))
    if data.link == kernels.LOGISTIC:
        p = -data.targets * slopes
        return float(sum(np.sum(part * np.log(np.maximum(part, 1e-300))) for part in (p, 1.0 - p)))
    linear = float(slopes @ data.targets)
    return linear if data.link == kernels.ABSOLUTE else linear + 0.5 * float(slopes @ slopes)


def pulls(data: LossData, slopes: Array) -> Array:
    """Return what the slopes pull on each decision: the transpose of the filter from decisions to scores."""
    if data.link in EACH:
        return slopes
    if data.taps.size == 1:
        return np.asarray((data.taps[0] * slopes)[:, None] * data.features)
    each = slopes[:, None] * data.features
    result = data.taps[0] * each
    for k in range(1, data.taps.size):
        result[: max(len(each) - k, 0)] += data.taps[k] * each[k:]
        result[0] += data.taps[k] * each[:k].sum(axis=0)  # before the first round the first decision stood
    return np.asarray(result)


def _bound(data: LossData, domain: Domain, slopes: Array, dual: Array) -> float:
    slopes = admissible(data, slopes)
    pulled = pulls(data, slopes)
    supports = domain.support(np.diff(dual, axis=0, prepend=0.0) - pulled)
    return -conjugates(data, slopes) - float(supports.sum()) - _rounding(data, domain, slopes, dual, pulled)


def _rounding(data: LossData, domain: Domain, slopes: Array, dual: Array, pulled: Array) -> float:
    """Return what rounding may have added to the bound: much where large terms cancel, far from the origin."""
    reach = float(domain.farthest(np.zeros(domain.dim)))
    terms = reach * (2.0 * np.linalg.norm(dual, axis=1).sum() + np.linalg.norm(pulled, axis=1).sum())
    if data.link == kernels.CAPACITY:
        terms += np.abs((slopes - data.prices[0]) * data.features).sum()
    elif data.link != kernels.LINEAR:
        targets = data.features if data.link == kernels.TRACKING else data.targets
        terms += np.abs(slopes * targets).sum() + 0.5 * np.sum(slopes**2)
    return 2.0 * float(np.finfo(float).eps * terms)


def slopes_at(data: LossData, decisions: Array) -> Array:
    """Return the derivative of every squared, linear, tracking or capacity loss at decisions, as `lower_bound` asks."""
    if data.link == kernels.TRACKING:
        return decisions - data.features
    if data.link == kernels.CAPACITY:
        return np.asarray(data.prices[0] - data.prices[1] * (decisions < data.features))
    return np.asarray(held_tap(data.taps) * np.einsum("td,td->t", data.features, decisions) - data.targets)


def lower_bound(data: LossData, domain: Domain, slopes: Array, dual: Array, lambda_: float | MoveCost) -> float:
    """Return a number that no sequence of decisions can cost less than.

    Parameters
    ----------
    data : LossData
        The losses.
    domain : Domain
        Where decisions live.
    slopes : array of shape (T,), or (T, d) for tracking and capacity losses
        Derivative of each loss in its score (for those two in the decision); any values give a valid bound.
    dual : array of shape (T, d)
        s_1, ..., s_T; brought within `lambda_` here in two ways, of which the better one counts. s_T is taken as 0.
    lambda_ : float or MoveCost
        Price of one unit of movement, or prices up and down.
    """
    dual = dual.copy()
    dual[-1] = 0.0
    if isinstance(lambda_, MoveCost):
        dual, excess = _beyond(lambda_, dual)
    else:
        norms = np.linalg.norm(dual, axis=1)
        excess = np.maximum(norms / lambda_, 1.0) if lambda_ > 0.0 else np.full(len(norms), np.inf)
        excess = excess[:, None]
    bound = _bound(data, domain, slopes, dual / excess)
    worst = float(excess.max())
    if worst > 1.0:
        bound = max(bound, _bound(data, domain, slopes / worst, dual / worst))
    negative = data.link in (kernels.LINEAR, kernels.CAPACITY)  # what no other losses can be
    return bound if negative else max(bound, 0.0)


def _beyond(cost: MoveCost, dual: Array) -> tuple[Array, Array]:
    """Return multipliers that are 0 where a move is free, and by how much each exceeds the prices, 1 if it does not."""
    up, down = cost.prices(dual.shape[1])
    sides = np.where(dual > 0.0, up, down)
    dual = np.where(sides > 0.0, dual, 0.0)
    ratios = np.abs(dual) / np.where(sides > 0.0, sides, 1.0)
    if cost.norm == "l2":
        ratios = np.linalg.norm(ratios, axis=1, keepdims=True)
    return dual, np.maximum(ratios, 1.0)
