"""The three methods, each a function of one matrix of sums of products."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from driftwise._validate import Array
from driftwise.control.identification.data import OWNER, Data, check_independence, check_order, check_probes
from driftwise.errors import InputError

BLOCKS, FEWEST = 20, 5
"""Blocks of rounds that are left out in turn to estimate the error; with few rounds fewer, down to the second."""

DEPENDENT, ROUNDING = 1e-6, 1e-12
"""Smallest eigenvalue, of columns scaled to length 1, at which probes, and states with inputs, are told apart."""


class Estimate(NamedTuple):
    """What one method makes of a matrix of sums of products."""

    A: Array
    B: Array
    responses: Sequence[Array]
    """Estimates of [B, A_K B, A_K^2 B, ...], over one or more numbers of lags."""


class Fit(ABC):
    """A method: which columns it looks at, and what it makes of the sums of their products."""

    def __init__(self, data: Data, span: int, unknowns: int) -> None:
        self.data = data
        self.states, self.inputs = data.states.shape[1], data.inputs.shape[1]
        self.span = span  # the number of rounds that one row draws on
        self.rows = len(data.inputs) - span + 1
        needed = max(FEWEST * span, 3 * unknowns) + span - 1
        if len(data.inputs) < needed:
            raise InputError(
                f"{OWNER}: {len(data.inputs)} rounds are too few: {self.states} states, {self.inputs} inputs and order "
                f"{data.order} need at least {needed} rounds, and many more for a small error; explore for longer."
            )

    @abstractmethod
    def columns(self, start: int, stop: int) -> Array:
        """Return some rows of what the method looks at."""

    @abstractmethod
    def solve(self, gram: Array) -> Estimate:
        """Return the estimate from the sums of products of the columns."""

    @abstractmethod
    def check(self) -> None:
        """Raise if the data are not what the method needs."""

    def gram(self, start: int, stop: int) -> Array:
        """Return the sums of products of some rows of the columns and a column of ones."""
        rows = np.hstack([self.columns(start, stop), np.ones((stop - start, 1))])
        return rows.T @ rows


class OrdinaryLeastSquares(Fit):
    """Regression of the next state on state and input."""

    def __init__(self, data: Data) -> None:
        super().__init__(data, 1, data.states.shape[1] + data.inputs.shape[1])

    def check(self) -> None:
        """Ask nothing of the probes, which are not used."""

    def columns(self, start: int, stop: int) -> Array:
        """Return state, input and next state."""
        x, u = self.data.states, self.data.inputs
        return np.hstack([x[start:stop], u[start:stop], x[start + 1 : stop + 1]])

    def solve(self, gram: Array) -> Estimate:
        """Return the coefficients of the regression."""
        n = self.states + self.inputs
        factor = _factor(
            gram[:n, :n],
            ROUNDING,
            "state and input move together, so that their effects cannot be told apart; add probes to the inputs, "
            "u = -K x + probe, or explore for longer.",
        )
        both = np.linalg.solve(factor.T, np.linalg.solve(factor, gram[:n, n:])).T
        return Estimate(both[:, : self.states], both[:, self.states :], ())


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
        factor = _factor(
            gram[:q, :q],
            DEPENDENT,
            f"the probes of {self.span} rounds in a row depend on one another, so that their effects cannot be told "
            f"apart; draw them independently, for example as random signs, in every round and for every input.",
        )
        # Half of the normal equations: least squares on this loses no digits to squaring.
        explained = np.linalg.solve(factor, gram[:q, q:])
        both = np.linalg.lstsq(explained[:, :n], explained[:, n:], rcond=None)[0].T
        response = np.linalg.solve(factor.T, explained[:, : self.states]).T[:, self.inputs :]
        C_0 = response[:, : self.data.order * self.inputs]
        return Estimate(both[:, : self.states], both[:, self.states :], (C_0, response))


class Moments(Fit):
    """Algorithm 4 of the paper."""

    def __init__(self, data: Data) -> None:
        super().__init__(data, data.order + 1, (data.order + 1) * data.inputs.shape[1])

    def check(self) -> None:
        """Raise unless inputs and probes are what the algorithm is for."""
        check_order(self.data)
        check_probes(self.data)
        check_independence(self.data)
        off = np.abs(self.data.inputs + self.data.states[:-1] @ self.data.K.T - self.data.probes)
        other = (off > 1e-3 * np.abs(self.data.probes).max(axis=0)).any(axis=1)
        if other.any():
            raise InputError(
                f"{OWNER}: the moments are those of inputs -K x + probe, but in {np.count_nonzero(other)} of "
                f"{other.size} rounds, the first of them round {int(np.argmax(other))}, something else was applied; "
                f"check K and the probes, or use method='iv', which is right also if the actuator saturated."
            )

    def columns(self, start: int, stop: int) -> Array:
        """Return the probe and the next k + 1 states."""
        after = [self.data.states[start + j : stop + j] for j in range(1, self.data.order + 2)]
        return np.hstack([self.data.probes[start:stop], *after])

    def solve(self, gram: Array) -> Estimate:
        """Return B = N_0 and A = C_1 C_0^+ + B K."""
        moments = gram[self.inputs :, : self.inputs] / np.diag(gram)[: self.inputs]
        N = list(moments.reshape(self.data.order + 1, self.states, self.inputs))
        C_0, C_1 = np.hstack(N[:-1]), np.hstack(N[1:])
        A_K = np.linalg.lstsq(C_0.T, C_1.T, rcond=None)[0].T
        return Estimate(A_K + N[0] @ self.data.K, N[0], (C_0,))


METHODS: dict[str, type[InstrumentalVariables] | type[Moments] | type[OrdinaryLeastSquares]] = {
    "iv": InstrumentalVariables,
    "moments": Moments,
    "ols": OrdinaryLeastSquares,
}


def _factor(gram: Array, smallest: float, complaint: str) -> Array:
    """Return the Cholesky factor of the sums of products of some columns, which must not depend on one another."""
    length = np.sqrt(np.diag(gram))
    if length.min() > 0.0 and np.linalg.eigvalsh(gram / np.outer(length, length))[0] > smallest:
        return np.asarray(np.linalg.cholesky(gram), np.float64)
    raise InputError(f"{OWNER}: {complaint}")
