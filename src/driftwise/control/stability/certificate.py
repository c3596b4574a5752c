"""How fast a gain stabilises: certificates of strong stability (the definition in Appendix A of the paper)."""

import math
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from driftwise._extras import optional
from driftwise._validate import Array, checked, instance, read_only, whole
from driftwise.control.plants import System
from driftwise.control.stability.base import Matrix, read_gain, read_system, shown, spectral_norm
from driftwise.errors import StabilityError


@dataclass(frozen=True, eq=False)
class StrongStability:
    """A proof that the powers of A_K = A - B K shrink: A_K = H L H^-1 with the norm of L at most 1 - gamma.

    Made by `certify`.

    Attributes
    ----------
    kappa : float
        Bound on the norms of K, H and H^-1, at least 1.
    gamma : float
        How much shrinks in each round, above 0 and at most 1.
    how : str
        Where H comes from: "diagonalisation", "Lyapunov", "scaled Lyapunov" or "semidefinite programme".
    condition : float
        Condition number of H, at most kappa squared.
    transform : array of shape (states, states)
        H, real or complex, scaled so that H and H^-1 have the same norm.

    Examples
    --------
    >>> import driftwise as dw
    >>> found = dw.control.certify(dw.control.LinearSystem(1.0, 1.0), 0.5)
    >>> round(found.kappa, 6), round(found.gamma, 6), round(found.decay(3), 6)
    (1.0, 0.5, 0.125)
    """

    kappa: float
    gamma: float
    how: str
    condition: float
    transform: Matrix = field(repr=False)

    @property
    def norm(self) -> float:
        """Bound on the norm of L, with a margin for rounding."""
        return 1.0 - self.gamma

    def decay(self, j: int) -> float:
        """Return a bound on the norm of A_K^j: condition (1 - gamma)^j.

        Parameters
        ----------
        j : int
            The power, at least 0.
        """
        return self.condition * self.norm ** whole("StrongStability.decay", "j", j, low=0)


def _score(found: StrongStability | None) -> float:
    return math.inf if found is None else found.kappa**2 / found.gamma


def _verified(A_K: Array, gain: float, H: Matrix, how: str, worst: float = 1e15) -> StrongStability | None:
    """Return what the transform H proves, or None; L is computed from H, so nothing rests on where H came from."""
    if not np.isfinite(H).all():
        return None
    singular = np.linalg.svd(H, compute_uv=False)
    if not singular[-1] > singular[0] / worst:
        return None
    condition = float(singular[0] / singular[-1])
    H = H / math.sqrt(singular[0] * singular[-1])
    inverse = np.linalg.inv(H)
    L = inverse @ A_K @ H
    # The exact L differs from this one by H^-1 (A_K H - H L), which is bounded entry by entry, rounding included.
    rounding = 4.0 * A_K.shape[0] * np.finfo(float).eps
    missed = np.abs(A_K @ H - H @ L) + rounding * (np.abs(A_K) @ np.abs(H) + np.abs(H) @ np.abs(L))
    norm = spectral_norm(L) + float(np.linalg.norm(np.abs(inverse) @ missed))
    gamma = 1.0 - norm
    if 1.0 - gamma < norm:
        gamma = math.nextafter(gamma, 0.0)
    if not gamma > 0.0:
        return None
    return StrongStability(max(1.0, gain, math.sqrt(condition)), gamma, how, condition, read_only(H))


def _diagonalised(A_K: Array, gain: float) -> StrongStability | None:
    return _verified(A_K, gain, np.linalg.eig(A_K)[1], "diagonalisation", worst=1e8)


def _triangular(A_K: Array) -> tuple[Matrix, Matrix]:
    """Return T and Z of Schur's form A_K = Z T Z*, with T upper triangular and Z unitary."""
    from scipy.linalg import schur

    T, Z = schur(A_K, output="complex")
    return T, Z


def _lyapunov(A_K: Array, gain: float, form: tuple[Matrix, Matrix], scale: float, how: str) -> StrongStability | None:
    """Take H = Z S^-1, with S*S = P = sum_j F*^j F^j the Lyapunov matrix of F = T / scale.

    The transform P^(-1/2) differs from this by rotations only, which change no norm. P itself is never formed, since
    its condition number is the square of that of S. Squares of triangular matrices keep the powers of the eigenvalues,
    where squares of A_K would lose them to rounding when it is far from normal.
    """
    T, Z = form
    F, S = T / scale, np.eye(A_K.shape[0], dtype=T.dtype)
    for _ in range(60):  # each time twice as many terms of the sum
        moved = S @ F
        if not (np.isfinite(moved).all() and np.isfinite(F).all()):
            return None
        S, F = np.linalg.qr(np.vstack([S, moved])).R, F @ F
        if np.abs(moved).max() <= 1e-17 * np.abs(S).max():
            break
    return _verified(A_K, gain, Z @ np.linalg.inv(S), how)


def _search(
    make: Callable[[float], StrongStability | None], grid: Iterable[float], halvings: int
) -> StrongStability | None:
    """Return the best of `make` on a grid that is refined about its best point."""
    found = {float(x): make(float(x)) for x in grid}
    for _ in range(halvings):
        points = sorted(found)
        i = min(range(len(points)), key=lambda i: _score(found[points[i]]))
        for k in (max(i - 1, 0), min(i + 1, len(points) - 1)):
            x = 0.5 * (points[i] + points[k])
            if x not in found:
                found[x] = make(x)
    return min(found.values(), key=_score)


def _programme(A_K: Array, gain: float, radius: float) -> StrongStability | None:
    """Minimise the condition number of P over I <= P <= t I and A_K' P A_K <= rate^2 P, for a scan of rates."""
    cvxpy = optional("certify with sdp=True", "cvxpy", "convex")
    n = A_K.shape[0]
    P, t, square = cvxpy.Variable((n, n), symmetric=True), cvxpy.Variable(), cvxpy.Parameter(nonneg=True)
    bounds = [P >> np.eye(n), t * np.eye(n) >> P, square * P - A_K.T @ P @ A_K >> 0]
    problem = cvxpy.Problem(cvxpy.Minimize(t), bounds)

    def solved(x: float) -> StrongStability | None:
        square.value = (radius + (1.0 - radius) * 10.0**x) ** 2
        try:
            problem.solve(solver=cvxpy.CLARABEL)
        except cvxpy.error.SolverError:
            return None
        if P.value is None:
            return None
        values, vectors = np.linalg.eigh(P.value)
        return _verified(A_K, gain, vectors / np.sqrt(np.maximum(values, 0.5)), "semidefinite programme")

    with warnings.catch_warnings():
        # That a solution may be inaccurate does not matter, since it is verified.
        warnings.simplefilter("ignore")
        return _search(solved, np.linspace(-3.0, -0.01, 10), 5)


def stable(owner: str, system: System, K: Array) -> tuple[Array, complex]:
    """Return A_K and its largest eigenvalue, or refuse a gain that does not stabilise."""
    A_K = system.A - system.B @ K
    values = np.linalg.eigvals(A_K)
    largest = complex(values[np.argmax(np.abs(values))])
    if not abs(largest) < 1.0:
        raise StabilityError(
            f"{owner}: K does not stabilise the system, since A - B K has the eigenvalue {shown(largest)}, which is "
            f"not below 1. The gain acts as u = -K x; lqr(system) gives one that stabilises, if there is one."
        )
    return A_K, largest


@checked
def certify(system: System, K: ArrayLike, *, sdp: bool = False) -> StrongStability:
    """Return the best certificate found that the gain K stabilises the system, with a rate.

    Many transforms H prove strong stability, with different kappa and gamma. Of those tried, the one with the least
    kappa^2 / gamma is kept, since that is what bounds the states. It is verified with the norms of its own matrices and
    a margin for rounding.

    Parameters
    ----------
    system : System
        The plant; its nominal (A, B) is used.
    K : array of shape (inputs, states)
        The gain, u = -K x; a number when there is one state and one input.
    sdp : bool, default False
        Whether to search for H by semidefinite programming too, which takes the extra 'convex', about a tenth of a
        second for two states, half a second for ten and far longer beyond. The result is never worse.

    Returns
    -------
    StrongStability
        kappa, gamma, and the transform.

    Raises
    ------
    StabilityError
        If the gain does not stabilise the system, naming the largest eigenvalue of A - B K, or if that eigenvalue is so
        near 1, or A - B K so far from normal, that rounding leaves nothing to prove.

    Notes
    -----
    The transforms tried: the eigenvectors of A_K, unless their condition number is above 1e8; P^(-1/2) with P the
    Lyapunov matrix of A_K, that is P = sum_j (A_K')^j A_K^j; the same for A_K / r, for a scan of r above the spectral
    radius of A_K; and, with `sdp`, those with the least condition number among all with A_K' P A_K <= r^2 P, for a scan
    of r.

    `impulse_response` gives bounds that are far tighter than those from kappa and gamma.

    References
    ----------
    .. [1] Zhao, Yan, Wang, Zhou, "Non-stationary online learning with memory ...", JMLR 24, 2023, Appendix A.
    .. [2] Cohen, Hassidim, Koren, Lazic, Mansour, Talwar, "Online linear quadratic control", ICML 2018.

    Examples
    --------
    >>> from driftwise.control.stability import certify, lqr
    >>> from driftwise.control import double_integrator
    >>> system = double_integrator()
    >>> found = certify(system, lqr(system))
    >>> round(found.kappa**2 / found.gamma, 3), round(found.gamma, 2), found.how
    (10.545, 0.35, 'scaled Lyapunov')
    """
    owner = "certify"
    K = read_gain(owner, read_system(owner, system), K)
    instance(owner, "sdp", sdp, bool, "True")
    A_K, largest = stable(owner, system, K)
    gain, radius, form = spectral_norm(K), abs(largest), _triangular(A_K)

    def scaled(x: float) -> StrongStability | None:
        return _lyapunov(A_K, gain, form, radius + (1.0 - radius) * 10.0**x, "scaled Lyapunov")

    with np.errstate(all="ignore"):
        found = [_diagonalised(A_K, gain), _lyapunov(A_K, gain, form, 1.0, "Lyapunov")]
        found.append(_search(scaled, np.linspace(-3.0, 3.0, 25), 8))
        if sdp:
            found.append(_programme(A_K, gain, radius))
    best = min(found, key=_score)
    if best is None:
        raise StabilityError(
            f"certify: A - B K seems stable, but no certificate stands up to rounding: its powers grow too much before "
            f"they shrink, or its largest eigenvalue, {shown(largest)}, is too near 1. Choose a gain that moves it "
            f"further below 1, or bring the states to units in which the entries of A are of similar size."
        )
    return best
