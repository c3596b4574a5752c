"""The online Newton step for portfolios, and the projection in a matrix norm that it needs."""

import numpy as np

from driftwise._validate import Array, number
from driftwise.adapters.portfolio.relatives import read_round
from driftwise.adapters.portfolio.rule import Rule, too_early
from driftwise.errors import ConvergenceError

NEGATIVE = 1e-12
"""A multiplier above minus this, relative to the others, counts as none."""


class OnlineNewton(Rule):
    """The online Newton step: follow what has been best so far, as a quadratic model of it says.

    With the slopes ``g = x / <w, x>``::

        A = I + sum g g',    b = (1 + 1 / beta) sum g
        w = argmin_p (p - delta A^-1 b)' A (p - delta A^-1 b)   over the simplex

    Its regret to the best constant portfolio grows with the logarithm of time. It pays no attention to what trades
    cost. With the paper's small `delta` it leans against what has just risen, until there is much evidence.

    Parameters
    ----------
    beta : float, default 1.0
        Weight of the slopes: the smaller, the more they count.
    delta : float, default 0.125
        Step size. The defaults are those of the paper's experiments.

    References
    ----------
    .. [1] Agarwal, Hazan, Kale, Schapire, "Algorithms for portfolio management based on the Newton method", ICML 2006.

    Examples
    --------
    >>> from driftwise.adapters.portfolio import OnlineNewton, backtest
    >>> backtest(OnlineNewton(), [[2.0, 1.0], [1.5, 1.0], [1.0, 1.0]]).weights.round(3)
    array([[0.5  , 0.5  ],
           [0.295, 0.705],
           [0.171, 0.829]])
    """

    def __init__(self, beta: float = 1.0, delta: float = 0.125) -> None:
        self.beta = number("OnlineNewton", "beta", beta, low=0.0, exclusive=True)
        self.delta = number("OnlineNewton", "delta", delta, low=0.0, exclusive=True)
        self._weights: Array | None = None

    def act(self, holdings: Array) -> Array:
        """Return the shares; the same of each asset at first.

        Parameters
        ----------
        holdings : array of shape (d,)
            Shares of wealth as they are.
        """
        if self._weights is None:
            dim = len(holdings)
            self.__dict__.update(_weights=np.full(dim, 1.0 / dim), _A=np.eye(dim), _b=np.zeros(dim))
        assert self._weights is not None
        return self._weights.copy()

    def observe(self, relatives: Array) -> None:
        """Add the slope to the model, and go to its best portfolio.

        Parameters
        ----------
        relatives : array of shape (d,)
            Price at the end of the round over price at its beginning, for every asset.
        """
        w = self._weights
        if w is None:
            raise too_early(self)
        x = read_round("OnlineNewton.observe", relatives, w.size)
        slope = x / float(w @ x)
        state = self.__dict__
        A, b = state["_A"] + np.outer(slope, slope), state["_b"] + (1.0 + 1.0 / self.beta) * slope
        state.update(_weights=nearest_in_norm(A, self.delta * b, w), _A=A, _b=b)


def nearest_in_norm(A: Array, b: Array, start: Array) -> Array:
    """Return the minimiser of ``p'Ap / 2 - b'p`` over the simplex: an active-set method from a point of it.

    Coordinates at 0 are held there; the others go to the minimum along the plane of sum 1, as far as none turns
    negative. There, the one at 0 that would gain the most from moving is let go.
    """
    p, free = start.copy(), start > 0.0
    for _ in range(100 * p.size):
        held = np.flatnonzero(free)
        solved = np.linalg.solve(A[np.ix_(held, held)], np.column_stack([b[held], np.ones(held.size)]))
        level = (solved[:, 0].sum() - 1.0) / solved[:, 1].sum()
        way = solved[:, 0] - level * solved[:, 1] - p[held]
        falls = np.flatnonzero(way < 0.0)
        ratios = p[held][falls] / -way[falls]
        if falls.size and ratios.min() < 1.0:
            first = falls[ratios.argmin()]
            p[held] = np.maximum(p[held] + ratios.min() * way, 0.0)
            p[held[first]], free[held[first]] = 0.0, False
            continue
        p[held] = np.maximum(p[held] + way, 0.0)
        gain = np.where(free, 0.0, b - A @ p - level)
        best = int(gain.argmax())
        if gain[best] <= NEGATIVE * (abs(level) + np.abs(b).max()):
            return np.asarray(p / p.sum())
        free[best] = True
    raise ConvergenceError("OnlineNewton: no nearest portfolio was found; are the relatives of a sensible size?")
