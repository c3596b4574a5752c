"""The price of a move from one point to another, at prices up and down for each coordinate.

Prices are two rows, up and down. They add up over the coordinates ("l1"), or the root of the sum of squares counts
("l2"); terms are squared relative to the largest, as squares of huge or tiny prices overflow or underflow. In NumPy::

    terms = up * max(after - before, 0) + down * max(before - after, 0)
    price = sum(terms)  or  norm(terms)
"""

import math

from driftwise._compile import helper
from driftwise._memory import Pointer


@helper
def move_price(before: Pointer, after: Pointer, stride: int, prices: Pointer, dim: int, adds_up: bool) -> float:
    """Return the price of a move; the coordinates of both points are `stride` doubles apart."""
    total, largest = 0.0, 0.0
    for k in range(dim):
        change = after[k * stride] - before[k * stride]
        term = change * prices[k] if change > 0.0 else -change * prices[dim + k]
        if adds_up:
            total += term
        elif term > largest:
            total = 1.0 + total * (largest / term) * (largest / term)
            largest = term
        elif term > 0.0:
            total += (term / largest) * (term / largest)
    return total if adds_up else largest * math.sqrt(total)


@helper
def pull(held: Pointer, stride: int, prices: Pointer, dim: int) -> float:
    """Return how strongly a sum of gradients asks for a move, in units of its "l2" price: above 1, the move pays."""
    total, largest = 0.0, 0.0
    for k in range(dim):
        slope = held[k * stride]
        if slope != 0.0:
            # A gradient above 0 asks to go down. A free move never waits: a price of 0 gives inf.
            term = slope / prices[dim + k] if slope > 0.0 else -slope / prices[k]
            if term == math.inf:
                return math.inf
            if term > largest:
                total = 1.0 + total * (largest / term) * (largest / term)
                largest = term
            elif term > 0.0:  # it may have underflowed
                total += (term / largest) * (term / largest)
    return largest * math.sqrt(total)
