"""What moves within a domain can cost: the constants that rates and bounds are made of, for any prices.

The proof of Theorem 2 uses a price of Euclidean distance in three places only, and each has its own constant for prices
in general. Let q be the price of a move: q(x + y) <= q(x) + q(y), and q(c x) = c q(x) for c >= 0.

- *A step of a base-learner* moves it by at most eta |g|, so it costs at most ``per_unit * eta |g|``, where `per_unit`
  is the most that a unit of distance costs.
- *Weight that shifts* from some base-learners to others moves the decision by a part of the difference of two decisions
  in the domain, so it costs at most that part of ``diameter``, the most that a move within the domain costs. The paper
  has lambda D here, which is never less. (The part is half of |p_t - p_{t-1}|_1; the paper counts all of it, and so do
  the rates here, so that a number gives the paper's learner.)
- *Up and down.* Where prices add up over the coordinates ("l1"), ``q(x) = sum_k c_k |x_k| + <u, x> / 2`` with the means
  c of the prices up and down, and u = up - down. Over a run the second part adds up to <u, w_T - w_1> / 2, whatever
  happens in between: at most ``once``. So a learner that is tuned for, and judged by, the means c is as good, and pays
  at most `once` more, however far up and down are apart. In "l2" there is no such split.
"""

import math
from typing import NamedTuple

import numpy as np

from driftwise._validate import Array, checked, instance
from driftwise.domains import Block, Domain
from driftwise.domains.kernels import BALL, BOX, SIMPLEX
from driftwise.movecost import MoveCost, move_cost_for


class MoveConstants(NamedTuple):
    """What `move_constants` finds about prices and a domain.

    Attributes
    ----------
    cost : MoveCost
        Prices to judge base-learners by: those given, or in "l1" the means of up and down.
    per_unit : float
        Most that a move by one unit of Euclidean distance costs at these: lambda.
    diameter : float
        Most that a move within the domain costs at these, or an upper bound on it; never above lambda D.
    once : float
        Most that the prices given can charge beyond these, in a run of any length.

    Examples
    --------
    Machines, of which a start costs 6 and a stop nothing:

    >>> import driftwise as dw
    >>> found = dw.learners.move_constants(dw.Box([0.0], [40.0]), dw.MoveCost(up=6.0, down=0.0))
    >>> found.cost, found.per_unit, found.diameter, found.once
    (MoveCost(up=3., down=3., norm='l1'), 3.0, 120.0, 120.0)
    """

    cost: MoveCost
    per_unit: float
    diameter: float
    once: float


@checked
def move_constants(domain: Domain, switching_cost: float | MoveCost) -> MoveConstants:
    """Return the constants that take the place of lambda and lambda D where moves have prices.

    They are exact for boxes, balls and simplices; for products in "l1" too.

    Parameters
    ----------
    domain : Domain
        Where decisions live.
    switching_cost : float or MoveCost
        A price of Euclidean distance, or prices.

    Examples
    --------
    Shares of a budget, where buying costs 3 a unit and selling 1: whatever is bought was sold elsewhere.

    >>> import driftwise as dw
    >>> found = dw.learners.move_constants(dw.Simplex(9), dw.MoveCost(up=3.0, down=1.0))
    >>> found.per_unit, found.diameter, found.once
    (6.0, 4.0, 0.0)

    A number is lambda, and the price of the diameter:

    >>> dw.learners.move_constants(dw.Ball(9), 2.0)[1:]
    (2.0, 4.0, 0.0)
    """
    owner = "move_constants"
    dim = instance(owner, "domain", domain, Domain, "Ball(2)").dim
    given = move_cost_for(owner, switching_cost, dim)
    cost, once = given, 0.0
    if given.norm == "l1":
        cost = given.averaged
        up, down = given.prices(dim)
        once = 0.5 * float(domain.support(up - down) + domain.support(down - up))
    per_unit = cost.largest(dim)
    diameter = per_unit * domain.diameter
    if cost.plain is None:
        parts = zip(domain.blocks, domain.slices, strict=True)
        each = [_of_block(block, cost.prices(dim)[:, part], cost.norm) for block, part in parts]
        diameter = min(diameter, math.fsum(each) if cost.norm == "l1" else math.hypot(*each))
    return MoveConstants(cost, per_unit, diameter, max(once, 0.0))


def _of_block(block: Block, prices: Array, norm: str) -> float:
    """Return the most that a move within one block of a domain costs, or an upper bound on it."""
    up, down = prices
    each = np.maximum(up, down)
    if block.kind == BOX:
        terms = each * (block.numbers[block.size :] - block.numbers[: block.size])
        return float(terms.sum() if norm == "l1" else np.linalg.norm(terms))
    if block.kind == SIMPLEX:  # a move is a mixture of moves from one corner to another
        if block.size == 1:
            return 0.0
        pairs = np.add.outer(up, down) if norm == "l1" else np.hypot.outer(up, down)
        np.fill_diagonal(pairs, 0.0)
        return float(block.numbers[0] * pairs.max())
    steepest = float(np.linalg.norm(each) if norm == "l1" else each.max())
    wide = 2.0 * float(block.numbers[0])
    if block.kind != BALL:  # matrices whose singular values are at most the radius
        wide *= math.sqrt(min(block.rows, block.size // block.rows))
    return steepest * wide
