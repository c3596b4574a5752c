"""Linear-quadratic design with preview: what the inputs should do about disturbances that are known ahead.

For x' = A x + B u + w and the cost x'x + u'u, with P of the Riccati equation and S = I + B'PB, the best input is
u = -K x - sum over k >= 0 of G_k w_{t+k}, where G_k = S^-1 B' ((A - BK)')^k P.
"""

from typing import NamedTuple

import numpy as np
import scipy.linalg

from driftwise._validate import Array

NEGLIGIBLE = 1e-3
"""Preview ends where a gain is smaller than this share of the sum of all before."""
LONGEST = 300
"""Most rounds of preview."""


class Design(NamedTuple):
    """The linear-quadratic optimum of a plant."""

    K: Array
    P: Array
    closed: Array
    """A - B K."""
    onto: Array
    """S^-1 B': from what a shift of the next state costs to the best input."""

    def preview(self) -> Array:
        """Return G_0, G_1, ... of shape (rounds, inputs, states)."""
        gains, ahead, total = [], self.P, 0.0
        for _ in range(LONGEST):
            gains.append(self.onto @ ahead)
            size = float(np.linalg.norm(gains[-1]))
            total += size
            if size < NEGLIGIBLE * total:
                break
            ahead = self.closed.T @ ahead
        return np.array(gains)

    def constant(self) -> Array:
        """Return the sum of all G_k, which answers a disturbance that stays."""
        return np.asarray(self.onto @ np.linalg.solve(np.eye(len(self.P)) - self.closed.T, self.P))


def design(A: Array, B: Array, Q: Array | None = None) -> Design:
    """Return the optimum for the cost x'Qx + u'u; Q is the identity when left out."""
    n, m = B.shape
    P = scipy.linalg.solve_discrete_are(A, B, np.eye(n) if Q is None else Q, np.eye(m))
    onto = np.linalg.solve(np.eye(m) + B.T @ P @ B, B.T)
    K = onto @ P @ A
    return Design(K, P, A - B @ K, onto)
