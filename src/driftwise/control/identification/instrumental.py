"""Regression with the probes as instruments, which no disturbance can mislead: as it is, and on whitened data."""

import numpy as np

from driftwise._validate import Array
from driftwise.control.identification.data import Data, check_order, check_probes
from driftwise.control.identification.fit import DEPENDENT, Estimate, Fit, centred, factor

TAPS = 8
"""Order of the autoregression that whitens disturbances."""

PASSES = 3
"""How many times the estimate and the filter are made from one another."""

HELP, LITTLE = 10.0, 1.0
"""Rounds of least squares that hold the estimate up where the probes say nothing: a bias that vanishes like 1 / T.

How far the estimate moves with a tenth of them is counted as an error.
"""


class InstrumentalVariables(Fit):
    """The same regression with the probes of the last rounds as instruments: two-stage least squares."""

    def __init__(self, data: Data) -> None:
        lags = 2 * data.order + 3
        super().__init__(data, lags, lags * data.inputs.shape[1])

    def check(self) -> None:
        """Raise unless the probes are such that a disturbance cannot hide behind them."""
        check_order(self.data)
        check_probes(self.data)

    def columns(self, start: int, stop: int) -> Array:
        """Return the probes of this round and of those before, state, input and next state."""
        x, u, probes = self.data.states, self.data.inputs, self.data.probes
        start, stop = start + self.span - 1, stop + self.span - 1
        recent = [probes[start - lag : stop - lag] for lag in range(self.span)]
        return np.hstack([*recent, x[start:stop], u[start:stop], x[start + 1 : stop + 1]])

    def solve(self, gram: Array) -> Estimate:
        """Return the coefficients, by least squares on what the instruments explain."""
        q, n = self.span * self.inputs, self.states + self.inputs
        # Half of the normal equations: least squares on this loses no digits to squaring.
        half = self._half(gram)
        explained = np.linalg.solve(half, gram[:q, q:])
        both = np.linalg.lstsq(explained[:, :n], explained[:, n:], rcond=None)[0].T
        response = np.linalg.solve(half.T, explained[:, : self.states]).T[:, self.inputs :]
        C_0 = response[:, : self.data.order * self.inputs]
        return Estimate(both[:, : self.states], both[:, self.states :], (C_0, response))

    def _half(self, gram: Array) -> Array:
        """Return the Cholesky factor of the sums of products of the instruments."""
        q = self.span * self.inputs
        return factor(
            gram[:q, :q],
            DEPENDENT,
            f"the probes of {self.span} rounds in a row depend on one another, so that their effects cannot be told "
            f"apart; draw them independently, for example as random signs, in every round and for every input.",
        )


class WhitenedVariables(InstrumentalVariables):
    """Instrumental variables on data that are filtered such that the disturbance becomes white noise.

    A filter leaves x_{t+1} = A x_t + B u_t + w_t as it is, and probes and disturbances independent of one another: the
    estimate stays consistent whatever the filter does, but a disturbance that can be predicted is all but gone from it.
    The filter is an autoregression, one for all states, of what the estimate before leaves unexplained.

    Directions that the probes hardly reach are taken from least squares on the filtered data, which count like HELP
    rounds (the modification of Fuller, in two-stage least squares).
    """

    def __init__(self, data: Data) -> None:
        super().__init__(data)
        x, u, probes = data.states, data.inputs, data.probes
        self.plain = self.filtered = np.hstack([x[:-1], u, x[1:], probes])
        for _ in range(PASSES):
            found = self.estimate(self.gram(0, self.rows))
            n, m = self.states, self.inputs
            left = self.plain[:, n + m : 2 * n + m] - self.plain[:, : n + m] @ np.hstack([found.A, found.B]).T
            self.filtered = whitened(self.plain, autoregression(left - left.mean(axis=0)))
            self.rows = len(self.filtered) - self.span + 1

    def check(self) -> None:
        """Raise unless the probes are such that a disturbance cannot hide behind them."""
        check_probes(self.data)

    def columns(self, start: int, stop: int) -> Array:
        """Return the filtered probes of this round and of those before, state, input and next state."""
        others = 2 * self.states + self.inputs
        start, stop = start + self.span - 1, stop + self.span - 1
        recent = [self.filtered[start - lag : stop - lag, others:] for lag in range(self.span)]
        return np.hstack([*recent, self.filtered[start:stop, :others]])

    def estimate(self, sums: Array) -> Estimate:
        """Return the estimate; it allows for a constant disturbance."""
        return self._helped(centred(sums), HELP)

    def doubt(self, sums: Array) -> Estimate:
        """Return what little help makes of it: where that is something else, the probes say too little."""
        return self._helped(centred(sums), LITTLE)

    def _helped(self, gram: Array, rounds: float) -> Estimate:
        """Return the coefficients, by least squares on what the instruments explain and a little of all the rest."""
        q, n = self.span * self.inputs, self.states + self.inputs
        explained = np.linalg.solve(self._half(gram), gram[:q, q:])
        share = min(rounds / self.rows, 1.0)
        both = (1.0 - share) * explained.T @ explained + share * gram[q:, q:]
        found = np.asarray(np.linalg.lstsq(both[:n, :n], both[:n, n:], rcond=None)[0].T, np.float64)
        return Estimate(found[:, : self.states], found[:, self.states :], ())


def autoregression(series: Array, order: int = TAPS) -> Array:
    """Return the taps of one autoregression for all columns, each of them in units of its own.

    Sums of products of lagged columns differ from one lag to the next by what enters and what leaves at the ends, so
    that one row of them gives all.
    """
    sizes = np.sqrt(np.mean(series**2, axis=0))
    y = series / np.where(sizes > 0.0, sizes, 1.0)
    first, last = y[:order][::-1], y[-order:][::-1]
    ends = first @ first.T - last @ last.T
    moments = np.zeros((order + 1, order + 1))
    for lag in range(order + 1):
        moments[0, lag] = moments[lag, 0] = np.vdot(y[order:], y[order - lag : len(y) - lag])
    for i in range(order):
        moments[i + 1, 1:] = moments[i, :-1] + ends[i]
    ridge = 1e-6 * np.trace(moments[1:, 1:]) / order + 1e-300
    return np.asarray(np.linalg.solve(moments[1:, 1:] + ridge * np.eye(order), moments[1:, 0]))


def whitened(columns: Array, taps: Array) -> Array:
    """Return every column less what an autoregression makes of the rows before it; the first rows have none."""
    order, out = len(taps), columns[len(taps) :].copy()
    for i, tap in enumerate(taps):
        out -= tap * columns[order - 1 - i : len(columns) - 1 - i]
    return out
