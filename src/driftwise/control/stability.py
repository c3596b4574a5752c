"""Gains that stabilise a system, and how fast: LQR, strong stability, controllability, impulse responses.

The gain K acts as u = -K x, so what counts is A_K = A - B K. Strong stability is the definition in Appendix A of the
paper, controllability the one in Section 5.
"""

import math
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from driftwise._validate import Array, array, checked, instance, loose, number, read_only, whole
from driftwise.control.systems import System, as_matrix
from driftwise.errors import MissingExtraError, ParameterError, StabilityError

Matrix = NDArray[Any]

UNREACHED = 1e-10
"""A mode that the inputs reach with less than this, relative to the system, is out of reach."""

LONGEST = 16_384
"""Powers of A_K whose norms are computed one by one; what comes after is bounded."""

_BLOCK = 64


def _system(owner: str, system: System) -> System:
    return instance(owner, "system", system, System, "LinearSystem(A, B)")


def _gain(owner: str, system: System, K: ArrayLike) -> Array:
    return as_matrix(owner, "K", K, (system.input_dim, system.state_dim))


def _shown(value: complex) -> str:
    """Return an eigenvalue for a message: with its size, and as a real number when it is one."""
    value = complex(value)
    text = f"{value.real:.6g}" if value.imag == 0.0 else f"{value:.6g}"
    return f"{text}, of size {abs(value):.6g}"


def _norm(values: Matrix) -> float:
    return float(np.linalg.norm(values, 2))


@checked
def spectral_radius(matrix: ArrayLike) -> float:
    """Return the largest size of an eigenvalue; below 1, the powers of the matrix go to zero.

    Parameters
    ----------
    matrix : array of shape (n, n)
        A square matrix, or a number.

    Examples
    --------
    >>> from driftwise.control.stability import spectral_radius
    >>> spectral_radius([[0.5, 100.0], [0.0, -0.8]])
    0.8
    """
    given = loose("spectral_radius", "matrix", matrix)
    side: int | str = given.shape[0] if given.ndim == 2 else "n"
    square = as_matrix("spectral_radius", "matrix", matrix, (side, side))
    return float(np.abs(np.linalg.eigvals(square)).max())


def _weight(name: str, value: ArrayLike | None, size: int, *, definite: bool) -> Array:
    """Return the symmetric weight of a quadratic cost: a number, a diagonal or a matrix."""
    if value is None:
        return np.eye(size)
    given = loose("lqr", name, value)
    if given.ndim == 0:
        weight = number("lqr", name, value) * np.eye(size)
    elif given.ndim == 1:
        weight = np.diag(array("lqr", name, given, (size,)))
    else:
        weight = array("lqr", name, given, (size, size))
    weight = 0.5 * (weight + weight.T)
    values = np.linalg.eigvalsh(weight)
    least, largest = float(values[0]), float(np.abs(values).max())
    if least < -1e-12 * largest or (definite and least <= 1e-15 * largest):
        wanted = "positive definite, so that no input is free" if definite else "positive semidefinite"
        raise ParameterError(f"lqr: {name} must be {wanted}, got a matrix with the eigenvalue {least:.6g}.")
    return weight


def _modes(A: Array, B: Array) -> tuple[NDArray[np.complex128], Array]:
    """Return the eigenvalues of A that are not below 1 and how well the inputs reach each.

    That is the smallest singular value of [A - z I, B], in which zero means out of reach (the test of Popov, Belevitch
    and Hautus). The units do not matter: B is scaled to the norm of A, and the values are relative to that.
    """
    values = np.linalg.eigvals(A).astype(np.complex128)
    values = values[np.abs(values) >= 1.0 - 1e-12]  # one that is 1 may come out a little smaller
    size, push = _norm(A) or 1.0, _norm(B) or 1.0
    reach = np.empty(values.size)
    for i, value in enumerate(values / size):
        tested = np.hstack([A / size - value * np.eye(A.shape[0]), B / push])
        reach[i] = np.linalg.svd(tested, compute_uv=False)[-1]
    return values, reach


@checked
def lqr(system: System, Q: ArrayLike | None = None, R: ArrayLike | None = None) -> Array:
    """Return the gain K of the linear-quadratic regulator: u = -K x with the least sum of x'Qx + u'Ru.

    The controller to start from: optimal for independent disturbances and a quadratic cost that stays the same. For a
    plant that is not linear it is computed from the nominal pair.

    Parameters
    ----------
    system : System
        The plant.
    Q : float or array of shape (states,) or (states, states), optional
        Weight of the states, positive semidefinite: a number for a multiple of the identity, a diagonal or a matrix, of
        which the symmetric part counts. The identity when left out.
    R : float or array of shape (inputs,) or (inputs, inputs), optional
        Weight of the inputs, likewise, positive definite.

    Returns
    -------
    array of shape (inputs, states)
        The gain, with the sign of python-control.

    Raises
    ------
    StabilityError
        If no gain stabilises the system; the message names an eigenvalue that the inputs do not reach.

    Examples
    --------
    >>> from driftwise.control.stability import lqr
    >>> from driftwise.control.systems import double_integrator
    >>> lqr(double_integrator()).round(6)
    array([[0.422082, 1.243929]])
    """
    A, B = _system("lqr", system).A, system.B
    Q, R = _weight("Q", Q, system.state_dim, definite=False), _weight("R", R, system.input_dim, definite=True)
    values, reach = _modes(A, B)
    if values.size and reach.min() < UNREACHED:
        raise StabilityError(
            f"lqr: no gain stabilises the system, since its inputs do not reach the mode with the eigenvalue "
            f"{_shown(values[np.argmin(reach)])}, which is not below 1; the plant needs an input that acts on it."
        )
    K = _riccati_gain(A, B, Q, R)
    if K is None or not spectral_radius(A - B @ K) < 1.0:
        hardest = f" The mode that is hardest to reach has the eigenvalue {_shown(values[np.argmin(reach)])}."
        raise StabilityError(
            f"lqr: the Riccati equation has no stabilising solution that floating point can find."
            f"{hardest if values.size else ''} Give Q a weight above 0 on every state, and bring states, inputs and "
            f"weights to units in which their numbers are of similar size."
        )
    return K


def _riccati_gain(A: Array, B: Array, Q: Array, R: Array) -> Array | None:
    from scipy.linalg import solve_discrete_are

    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            P = solve_discrete_are(A, B, Q, R)
            K: Array = np.linalg.solve(R + B.T @ P @ B, B.T @ P @ A)
        except (np.linalg.LinAlgError, ValueError):
            return None
    return K if np.isfinite(K).all() else None


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
    """

    kappa: float
    gamma: float
    how: str
    condition: float
    transform: Matrix = field(repr=False)

    @property
    def norm(self) -> float:
        """Norm of L, with what rounding may have hidden."""
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
    norm = _norm(L) + float(np.linalg.norm(np.abs(inverse) @ missed))
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


def _cvxpy() -> ModuleType:
    try:
        import cvxpy
    except ImportError:
        raise MissingExtraError(
            "certify needs cvxpy for sdp=True, which the extra 'convex' brings: pip install 'driftwise[convex]'."
        ) from None
    return cvxpy


def _programme(A_K: Array, gain: float, radius: float) -> StrongStability | None:
    """Minimise the condition number of P over I <= P <= t I and A_K' P A_K <= rate^2 P, for a scan of rates."""
    cvxpy = _cvxpy()
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


def _stable(owner: str, system: System, K: Array) -> tuple[Array, complex]:
    """Return A_K and its largest eigenvalue, or refuse a gain that does not stabilise."""
    A_K = system.A - system.B @ K
    values = np.linalg.eigvals(A_K)
    largest = complex(values[np.argmax(np.abs(values))])
    if not abs(largest) < 1.0:
        raise StabilityError(
            f"{owner}: K does not stabilise the system, since A - B K has the eigenvalue {_shown(largest)}, which is "
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
        The plant; its nominal pair is what counts.
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
    .. [1] Zhao, Yan, Wang, Zhou, "Non-stationary online learning with memory and non-stochastic control", JMLR 24,
       2023, Appendix A.
    .. [2] Cohen, Hassidim, Koren, Lazic, Mansour, Talwar, "Online linear quadratic control", ICML 2018.

    Examples
    --------
    >>> from driftwise.control.stability import certify, lqr
    >>> from driftwise.control.systems import double_integrator
    >>> system = double_integrator()
    >>> found = certify(system, lqr(system))
    >>> round(found.kappa**2 / found.gamma, 3), round(found.gamma, 2), found.how
    (10.545, 0.35, 'scaled Lyapunov')
    """
    owner = "certify"
    K = _gain(owner, _system(owner, system), K)
    if not isinstance(sdp, bool):
        raise ParameterError(f"certify: sdp must be True or False, got {sdp!r}.")
    A_K, largest = _stable(owner, system, K)
    gain, radius, form = _norm(K), abs(largest), _triangular(A_K)

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
            f"they shrink, or its largest eigenvalue, {_shown(largest)}, is too near 1. Choose a gain that moves it "
            f"further below 1, or bring the states to units in which the entries of A are of similar size."
        )
    return best


@checked
def controllability(system: System, K: ArrayLike | None = None, order: int | None = None) -> Array:
    """Return the controllability matrix [B, A_K B, ..., A_K^(order-1) B].

    Parameters
    ----------
    system : System
        The plant; its nominal pair is what counts.
    K : array of shape (inputs, states), optional
        Gain under which it is taken; zero when left out, so that A_K = A.
    order : int, optional
        Number of blocks; as many as there are states when left out, beyond which the rank does not grow.

    Returns
    -------
    array of shape (states, order * inputs)
        The matrix. The system is controllable if its rank is the number of states, whatever the gain.

    Examples
    --------
    >>> from driftwise.control.stability import controllability
    >>> from driftwise.control.systems import double_integrator
    >>> controllability(double_integrator())
    array([[0., 1.],
           [1., 1.]])
    """
    owner = "controllability"
    A, B = _system(owner, system).A, system.B
    blocks = system.state_dim if order is None else whole(owner, "order", order)
    if K is not None:
        A = A - B @ _gain(owner, system, K)
    result = np.empty((system.state_dim, blocks, system.input_dim))
    block = B
    with np.errstate(over="ignore", invalid="ignore"):
        for k in range(blocks):
            result[:, k] = block
            block = A @ block
    if not np.isfinite(result).all():
        raise ParameterError(
            f"controllability: the powers of A - B K grow too large for floats before power {blocks}; give a gain that "
            f"stabilises the system, or a smaller order."
        )
    return result.reshape(system.state_dim, -1)


@dataclass(frozen=True, eq=False)
class ImpulseResponse:
    """How much of a push is left, summed over all rounds after it; made by `impulse_response`.

    The sums are over all j >= 0 and upper bounds: what was not computed term by term is bounded and included.

    Attributes
    ----------
    states_sum : float
        Bound on the sum of the norms of A_K^j: what a disturbance of norm 1 does to the states.
    inputs_sum : float
        Bound on the sum of the norms of A_K^j B: what an input of norm 1 does to the states.
    gain_sum : float
        Bound on the sum of the norms of K A_K^j B: what an input of norm 1 does to later inputs.
    states, inputs, gains : array of shape (n,)
        The norms for j = 0, ..., n - 1, read-only.
    remainder : float
        The part of `states_sum` that was bounded, not computed.
    """

    states_sum: float
    inputs_sum: float
    gain_sum: float
    states: Array = field(repr=False)
    inputs: Array = field(repr=False)
    gains: Array = field(repr=False)
    remainder: float


def _powers(A_K: Array) -> Array:
    """Return A_K^0, ..., A_K^_BLOCK."""
    powers = np.empty((_BLOCK + 1, *A_K.shape))
    powers[0] = np.eye(A_K.shape[0])
    for k in range(_BLOCK):
        powers[k + 1] = powers[k] @ A_K
    return powers


def _norms(owner: str, parts: Array) -> Array:
    """Return the spectral norm of every matrix of a stack."""
    if not np.isfinite(parts).all():
        raise ParameterError(
            f"{owner}: the powers of A - B K grow too large for floats before they shrink; bring the states to units "
            f"in which the entries of A are of similar size."
        )
    return np.asarray(np.linalg.norm(parts, 2, axis=(1, 2)))


@checked
def impulse_response(system: System, K: ArrayLike, *, tolerance: float = 1e-12) -> ImpulseResponse:
    """Return the sums of the norms of A_K^j, A_K^j B and K A_K^j B over all j, as upper bounds.

    What bounds states, inputs and gradients under the gain K, computed and not estimated by kappa and gamma: tighter
    than the formulas of the paper by orders of magnitude.

    Parameters
    ----------
    system : System
        The plant; its nominal pair is what counts.
    K : array of shape (inputs, states)
        The gain, u = -K x, which must stabilise the system; a number when there is one state and one input.
    tolerance : float, default 1e-12
        The sums of states and inputs are too large by at most this much, relatively; that of the gains by at most this
        times the norm of K and the sum of the inputs. When the spectral radius of A_K is so near 1 that this takes more
        than 16 384 powers, the sums are still upper bounds, but `remainder` may be a large part of them.

    Returns
    -------
    ImpulseResponse
        The sums and the norms they are made of.

    Raises
    ------
    StabilityError
        As `certify`.

    Notes
    -----
    From power n on, the norms sum to at most |A_K^n| times the whole sum s, so s is at most the sum of the first n
    norms over 1 - |A_K^n|, as soon as that is positive. Powers are added until this is within the tolerance. When they
    run out before, the certificate of `certify` gives a second bound on the rest, condition / gamma times the smaller
    of |A_K^n| and (1 - gamma)^n, and the smaller bound is used.

    Examples
    --------
    >>> from driftwise.control.stability import impulse_response, lqr
    >>> from driftwise.control.systems import LinearSystem, double_integrator
    >>> round(impulse_response(LinearSystem(0.5, 3.0), 0.0).inputs_sum, 9)
    6.0
    >>> system = double_integrator()
    >>> round(impulse_response(system, lqr(system)).states_sum, 6)
    4.439848
    """
    owner = "impulse_response"
    K = _gain(owner, _system(owner, system), K)
    limit = number(owner, "tolerance", tolerance, low=0.0, exclusive=True)
    A_K, _ = _stable(owner, system, K)
    norms, power = [np.empty((3, 0))], np.eye(system.state_dim)
    terms, ratio = 0, math.inf
    with np.errstate(all="ignore"):
        block = _powers(A_K)
        while ratio > limit and terms < LONGEST:
            powers = block[:-1] @ power
            pushed = powers @ system.B
            norms.append(np.array([_norms(owner, part) for part in (powers, pushed, K @ pushed)]))
            power = block[-1] @ power
            left, terms = _norm(power), terms + _BLOCK
            ratio = left / (1.0 - left) if left < 1.0 else math.inf
    states, inputs, gains = np.concatenate(norms, axis=1)
    rest_of_states, rest_of_inputs = ratio * states.sum(), ratio * inputs.sum() if inputs.any() else 0.0
    if ratio > limit:
        found = certify(system, K)
        rate, worst = found.norm**terms, found.condition / found.gamma
        rest_of_states = min(rest_of_states, worst * min(left, rate))
        rest_of_inputs = min(rest_of_inputs, worst * min(_norm(power @ system.B), rate * _norm(system.B)))
    return ImpulseResponse(
        float(states.sum() + rest_of_states),
        float(inputs.sum() + rest_of_inputs),
        float(gains.sum() + _norm(K) * rest_of_inputs),
        read_only(states),
        read_only(inputs),
        read_only(gains),
        float(rest_of_states),
    )
