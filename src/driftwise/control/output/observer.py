"""Observers in predictor form, x^_{t+1} = A x^_t + B u_t + L (y_t - C x^_t), and how they are made offset-free.

An offset-free observer also estimates disturbances d that stay: x' = A x + B u + E d, d' = 0.999 d, in at most as many
directions as there are outputs. A controller that answers to d^ leaves no offset. The
factor 0.999 in place of 1 lets Riccati equations be solved.
"""

from typing import NamedTuple

import numpy as np

from driftwise._validate import Array
from driftwise.control.stability import spectral_radius
from driftwise.control.stability.gains import riccati
from driftwise.errors import StabilityError

STAYING = 0.999
"""What is left of a disturbance that stays, in the next round."""

WEAKEST = 1e-4
"""Least gain of the disturbance's estimate, with an observer gain of the user's own."""


class Observed(NamedTuple):
    """The plant as its observer has it: state [x, d], outputs C, gain L, and the plain observer's gain for x alone."""

    A: Array
    B: Array
    C: Array
    L: Array
    plain: Array
    """(n, dy): the gain of an observer without d."""

    @property
    def extra(self) -> int:
        """Number of disturbances that are estimated."""
        return len(self.A) - len(self.plain)


def kalman(owner: str, A: Array, C: Array, process: Array, noise: Array) -> Array:
    """Return the gain of the Kalman predictor, in its stationary state."""
    found = riccati(A.T, C.T, process, noise)
    if found is None or not spectral_radius(A - found[1].T @ C) < 1.0:
        raise StabilityError(
            f"{owner}: no observer keeps its error bounded: a mode that does not die out is not seen in the outputs. "
            "Measure more, or give an observer gain of your own."
        )
    return np.asarray(found[1].T)


def _directions(A: Array, B: Array, C: Array, process: Array | None) -> Array:
    """Return where disturbances that stay enter: where noise is largest, or through inputs that outputs tell apart."""
    n, m = B.shape
    if process is not None:
        values, vectors = np.linalg.eigh(process)
        count = min(len(C), int((values > 1e-3 * values[-1]).sum()))
        return np.asarray(vectors[:, -count:] * np.sqrt(values[-count:]))
    if m <= len(C):
        return B.copy()
    gap = np.eye(n) - A
    slow = np.linalg.solve(gap, B) if np.linalg.cond(gap) < 1e8 else B
    return np.asarray(B @ np.linalg.svd(C @ slow)[2][: len(C)].T)


def observed(
    owner: str, A: Array, B: Array, C: Array, gain: Array | None, noises: tuple[Array, Array], offset_free: bool
) -> Observed:
    """Return the plant with its observer.

    Parameters
    ----------
    owner : str
        Who asks, for error messages.
    A, B, C : array
        The plant.
    gain : array of shape (n, dy) or None
        The observer gain for x; a Kalman predictor's when None.
    noises : tuple of array
        Covariances of what disturbs the states, and of what disturbs the outputs.
    offset_free : bool
        Whether disturbances that stay are estimated too.
    """
    (n, m), (process, noise) = B.shape, noises
    plain = kalman(owner, A, C, process, noise) if gain is None else gain
    if not spectral_radius(A - plain @ C) < 1.0:
        raise StabilityError(
            f"{owner}: the observer's error does not die out, since A - L C has the spectral radius "
            f"{spectral_radius(A - plain @ C):.6g}; give another gain, or noise covariances instead."
        )
    if not offset_free:
        return Observed(A, B, C, plain, plain)
    E = _directions(A, B, C, None if np.allclose(process, process[0, 0] * np.eye(n)) else process)
    k = E.shape[1]
    big_A = np.block([[A, E], [np.zeros((k, n)), STAYING * np.eye(k)]])
    big_B, big_C = np.vstack([B, np.zeros((k, m))]), np.hstack([C, np.zeros((len(C), k))])
    if gain is None:
        # A disturbance that stays moves, in every round, by a tenth of what else disturbs the states along E.
        size = np.trace(process) / n / max(float(np.mean(np.sum(E**2, axis=0))), 1e-300)
        spread = np.block([[process, np.zeros((n, k))], [np.zeros((k, n)), 0.1 * size * np.eye(k)]])
        return Observed(big_A, big_B, big_C, kalman(owner, big_A, big_C, spread, noise), plain)
    seen = C @ np.linalg.solve(np.eye(n) - A + plain @ C, E)
    share = 0.3
    while share > WEAKEST:
        L = np.vstack([plain, share * np.linalg.pinv(seen)])
        if spectral_radius(big_A - L @ big_C) < 1.0:
            return Observed(big_A, big_B, big_C, L, plain)
        share *= 0.5
    raise StabilityError(
        f"{owner}: with this observer gain no estimate of disturbances that stay is stable; give noise covariances in "
        "its place, or offset_free=False."
    )
