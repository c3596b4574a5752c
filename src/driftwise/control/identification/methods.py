"""The methods by name, and those that use no instruments: ordinary least squares, and the moments of the paper."""

import numpy as np

from driftwise._validate import Array
from driftwise.control.identification.data import OWNER, Data, check_independence, check_order, check_probes
from driftwise.control.identification.fit import ROUNDING, Estimate, Fit, factor
from driftwise.control.identification.instrumental import InstrumentalVariables, WhitenedVariables
from driftwise.errors import InputError


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
        half = factor(
            gram[:n, :n],
            ROUNDING,
            "state and input move together, so that their effects cannot be told apart; add probes to the inputs, "
            "u = -K x + probe, or explore for longer.",
        )
        both = np.linalg.solve(half.T, np.linalg.solve(half, gram[:n, n:])).T
        return Estimate(both[:, : self.states], both[:, self.states :], ())


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
    "whitened": WhitenedVariables,
    "moments": Moments,
    "ols": OrdinaryLeastSquares,
}
