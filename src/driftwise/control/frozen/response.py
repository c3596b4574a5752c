"""How the loop of a frozen policy answers to what its model of the plant does not know, frequency by frequency.

Let the plant get u + d where the model says u. What the policy does not see at once of the state is then off by
eta = N(z) d, what it takes for a disturbance is w = W(z) d, and the input becomes u = T(z) d with ::

    T(z) = S(z) (1 + K N(z) + M(z) W(z)) - 1,    S(z) = 1 - K (z - A + B K)^-1 B,    M(z) = sum_i M[i] z^-i

T is the negative of the complementary sensitivity at the input of the plant. Its poles are those of A - B K and of N,
whatever M is, and it is affine in M. Where all coordinates are measured, N = 0 and W = B. With memory of the
actuator, the policy does not see an error of its memory before it reaches the states: N = (z - A_m)^-1 B_m in the
coordinates of the memory, and W = B_x + A_xm N. With an observer, N = (z - A + L C)^-1 B and W = L C N.

An error that multiplies the input of the plant by G(z), d = (G - 1) u, leaves the loop stable if and only if
det(1 - T (G - 1)) does not wind around 0 along the unit circle (Nyquist's criterion, where T and G are stable).
"""

import cmath
import math
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import null_space, schur

from driftwise._validate import Array
from driftwise.control.frozen.law import Law

Complex = NDArray[np.complex128]

FINEST = 2.0**-12
"""Largest distance between two frequencies of the grid, in parts of pi, for long memories and large delays."""


NEAREST = 1e-14
"""Smallest distance between two frequencies of the grid."""


AT_ONE, UNREACHED = 1e-9, 1e-9
"""How near to 1 a pole counts as 1, and how little of a coordinate inputs must reach for it to count as reached."""


class Resolvent:
    """Products rows (z - A)^-1 at many z at once, by the Schur form of A: A need not be diagonalisable."""

    def __init__(self, A: Array) -> None:
        self.upper: Complex = np.zeros(A.shape, np.complex128)
        self.basis = self.upper
        if A.size:
            self.upper, self.basis = schur(A, output="complex")
        self.poles: Complex = np.diagonal(self.upper)

    def times(self, rows: Array, z: Complex) -> Complex:
        """Return rows (z - A)^-1, of shape (len(z), len(rows), len(A))."""
        given = (rows @ self.basis).T
        found = np.repeat(given[:, None, :], len(z), axis=1)
        # Column by column, without BLAS: its threads take longer to start than these products.
        for j, pole in enumerate(self.poles):
            found[j] /= (z - pole)[:, None]
            found[j + 1 :] += self.upper[j, j + 1 :, None, None] * found[j]
        return np.asarray(np.moveaxis(found, 0, 2) @ self.basis.conj().T)


def _reachable(A: Array, B: Array) -> Array:
    """Return an orthonormal basis of what inputs reach: of B, of what A makes of that, and so on."""
    basis, new = np.zeros((len(A), 0)), B
    while basis.shape[1] < len(A) and new.size:
        new = new / max(np.abs(new).max(), 1e-300)
        for _ in range(2):
            new = new - basis @ (basis.T @ new)
        left, sizes, _ = np.linalg.svd(new, full_matrices=False)
        left = left[:, sizes > UNREACHED]
        basis, new = np.hstack([basis, left]), A @ left
    return basis


class Answer(NamedTuple):
    """T at some frequencies, in two parts: T = at_rest + share * learnt, where a share of M is in use."""

    at_rest: Complex
    """(frequencies, du, du): without M."""
    learnt: Complex
    """(frequencies, du, du): what M adds."""


class Loop:
    """The loop that a law makes with its nominal plant.

    Coordinates of the model that no input reaches and that neither grow nor fade are taken for a model of
    disturbances, as in an observer that is offset-free: they are no part of the loop.
    """

    def __init__(self, law: Law) -> None:
        self.law, n = law, law.sides["n"]
        self._model = law.A, law.B, law.K
        self._growing = False
        if np.abs(np.linalg.eigvals(law.A - law.B @ law.K)).max() > 1.0 - AT_ONE:
            basis = _reachable(law.A, law.B)
            apart = null_space(basis.T)
            self._growing = bool((np.abs(np.linalg.eigvals(apart.T @ law.A @ apart)) > 1.0 + AT_ONE).any())
            self._model = basis.T @ law.A @ basis, basis.T @ law.B, law.K @ basis
        A, B, K = self._model
        self._closed = Resolvent(A - B @ K)
        if law.observed:
            wide = np.zeros((len(law.C), len(law.A)))
            wide[:, :n] = law.C
            drift = law.A.copy()
            drift[:n] -= law.L @ wide
            self._rows, self._entry, self._unseen = np.vstack([law.K, wide]), law.B, Resolvent(drift)
        else:
            self._rows = np.vstack([law.K[:, n:], law.A[:n, n:]])
            self._entry, self._unseen = law.B[n:], Resolvent(law.A[n:, n:])

    @cached_property
    def poles(self) -> Complex:
        """Poles of the loop; those at 0 that remembering brings are left out."""
        return np.concatenate([self._closed.poles, self._unseen.poles])

    @property
    def radius(self) -> float:
        """Spectral radius of the loop: below 1, it is stable."""
        return math.inf if self._growing else float(np.abs(self.poles).max(initial=0.0))

    def _unexpected(self, z: Complex) -> tuple[Complex, Complex]:
        """Return K N and W, of shape (frequencies or 1, du or n, du)."""
        law, (_, du, n) = self.law, self.law.M.shape
        if not self._entry.size:
            return np.zeros((1, du, du), np.complex128), np.asarray(law.B[None], np.complex128)
        found = self._unseen.times(self._rows, z) @ self._entry
        answered, seen = found[:, :du], found[:, du:]
        return answered, np.asarray(law.L @ seen if law.observed else seen + law.B[:n])

    def answer(self, omega: Array) -> Answer:
        """Return T at frequencies from 0 to pi a sample."""
        law, (H, du, n) = self.law, self.law.M.shape
        z, one = np.exp(1j * omega), np.eye(du)
        _, B, K = self._model
        S = one - self._closed.times(K, z) @ B
        answered, W = self._unexpected(z)
        lags = np.exp(-1j * np.outer(omega, np.arange(1, H + 1)))
        if len(W) == 1:
            learnt = (lags @ (law.M @ W[0]).reshape(H, -1)).reshape(-1, du, du)
        else:
            learnt = (lags @ law.M.reshape(H, -1)).reshape(-1, du, n) @ W
        found = Answer(S @ (one + answered) - one, S @ learnt)
        for values in found:
            values[is_real(omega)] = values[is_real(omega)].real
        return found

    def grid(self) -> Array:
        """Return frequencies from 0 to pi that resolve T: even ones, some near both ends, many near slow poles."""
        H = len(self.law.M)
        even = np.linspace(0.0, math.pi, min(max(512, 16 * H), round(1.0 / FINEST)) + 1)
        ends = np.geomspace(1e-7, 0.1, 180)
        near = [even, ends, math.pi - ends[60::2]]
        for pole in self.poles[np.abs(self.poles) > 0.8]:
            width = max(1.0 - abs(pole), 1e-12)
            spread = width * np.concatenate([[0.0], np.geomspace(0.1, 1.0 / width, 24 + int(-8 * math.log10(width)))])
            near += [abs(cmath.phase(pole)) + spread, abs(cmath.phase(pole)) - spread]
        points = np.unique(np.concatenate(near))
        points = points[(points > NEAREST) & (points < math.pi - NEAREST)]
        points = points[np.diff(points, prepend=0.0) > NEAREST]
        return np.concatenate([[0.0], points, [math.pi]])  # both ends exactly: the response is real there


def is_real(omega: Array) -> Any:
    """Tell at which frequencies a response is real."""
    return (omega == 0.0) | (omega == math.pi)
