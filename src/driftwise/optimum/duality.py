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
from driftwise.losses.base import DataLoss
from driftwise.movecost import MoveCost


class Answer(NamedTuple):
    """What a solver gives: decisions, a lower bound on the cost of any, and in a few words how it ended."""

    decisions: Array
    lower_bound: float
    words: str


def _bound(losses: DataLoss, domain: Domain, slopes: Array, dual: Array) -> float:
    slopes = losses.admissible(slopes)
    pulled, conjugates = losses.pulls(slopes), losses.conjugates(slopes)
    supports = domain.support(np.diff(dual, axis=0, prepend=0.0) - pulled)
    bound = -sum(float(addend.sum()) for addend in conjugates) - float(supports.sum())
    # What rounding may have added to it: much where large terms cancel, far from the origin.
    reach = float(domain.farthest(np.zeros(domain.dim)))
    size = reach * (2.0 * np.linalg.norm(dual, axis=1).sum() + np.linalg.norm(pulled, axis=1).sum())
    size += sum(np.abs(addend).sum() for addend in conjugates)
    return bound - 2.0 * float(np.finfo(float).eps * size)


def slopes_at(losses: DataLoss, decisions: Array, missing: Array | None = None) -> Array:
    """Return the derivative of every loss of known pieces at decisions, as `lower_bound` asks.

    `missing` is by how much each is less than right of its kink, if it is known better than from where decisions are.
    """
    bend, right, jump, _ = losses.known_pieces
    gaps = losses.scores(decisions) - losses.aims
    return np.asarray(bend * gaps + right - (jump * (gaps < 0.0) if missing is None else missing))


def lower_bound(losses: DataLoss, domain: Domain, slopes: Array, dual: Array, cost: MoveCost) -> float:
    """Return a number that no sequence of decisions can cost less than.

    Parameters
    ----------
    losses : DataLoss
        The losses.
    domain : Domain
        Where decisions live.
    slopes : array of shape (T,), or (T, d) for losses of each coordinate
        Derivative of each loss in its score, or in each coordinate; any values give a valid bound.
    dual : array of shape (T, d)
        s_1, ..., s_T; brought within the prices here in two ways, of which the better one counts. s_T is taken as 0.
    cost : MoveCost
        Prices of moves.
    """
    dual = dual.copy()
    dual[-1] = 0.0
    dual, excess = _beyond(cost, dual)
    bound = _bound(losses, domain, slopes, dual / excess)
    worst = float(excess.max())
    if worst > 1.0:
        bound = max(bound, _bound(losses, domain, slopes / worst, dual / worst))
    return max(bound, 0.0) if losses.nonnegative else bound


def _beyond(cost: MoveCost, dual: Array) -> tuple[Array, Array]:
    """Return multipliers that are 0 where a move is free, and by how much each exceeds the prices, 1 if it does not."""
    up, down = cost.prices(dual.shape[1])
    sides = np.where(dual > 0.0, up, down)
    dual = np.where(sides > 0.0, dual, 0.0)
    ratios = np.abs(dual) / np.where(sides > 0.0, sides, 1.0)
    if cost.norm == "l2":
        ratios = np.linalg.norm(ratios, axis=1, keepdims=True)
    return dual, np.maximum(ratios, 1.0)
