"""Gains that stabilise a system: LQR, and which modes the inputs reach."""

import warnings

import numpy as np
from numpy.typing import ArrayLike, NDArray

from driftwise._validate import Array, array, checked, loose, number, whole
from driftwise.control.plants import System
from driftwise.control.stability.base import read_gain, read_system, shown, spectral_norm, spectral_radius
from driftwise.errors import ParameterError, StabilityError

UNREACHED = 1e-10
"""A mode that the inputs reach with less than this, relative to the system, is out of reach."""


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


def modes(A: Array, B: Array) -> tuple[NDArray[np.complex128], Array]:
    """Return the eigenvalues of A that are not below 1 and how well the inputs reach each.

    That is the smallest singular value of [A - z I, B], in which zero means out of reach (the test of Popov, Belevitch
    and Hautus). The units do not matter: B is scaled to the norm of A, and the values are relative to that.
    """
    values = np.linalg.eigvals(A).astype(np.complex128)
    values = values[np.abs(values) >= 1.0 - 1e-12]  # one that is 1 may come out a little smaller
    size, push = spectral_norm(A) or 1.0, spectral_norm(B) or 1.0
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
    >>> from driftwise.control import double_integrator
    >>> lqr(double_integrator()).round(6)
    array([[0.422082, 1.243929]])
    """
    A, B = read_system("lqr", system).A, system.B
    Q, R = _weight("Q", Q, system.state_dim, definite=False), _weight("R", R, system.input_dim, definite=True)
    values, reach = modes(A, B)
    if values.size and reach.min() < UNREACHED:
        raise StabilityError(
            f"lqr: no gain stabilises the system, since its inputs do not reach the mode with the eigenvalue "
            f"{shown(values[np.argmin(reach)])}, which is not below 1; the plant needs an input that acts on it."
        )
    found = riccati(A, B, Q, R)
    if found is None or not spectral_radius(A - B @ found[1]) < 1.0:
        hardest = (
            f" The mode that is hardest to reach has the eigenvalue {shown(values[np.argmin(reach)])}."
            if values.size
            else ""
        )
        raise StabilityError(
            f"lqr: the Riccati equation has no stabilising solution that floating point can find.{hardest} Give Q a "
            f"weight above 0 on every state, and bring states, inputs and weights to units in which their numbers are "
            f"of similar size."
        )
    return found[1]


def riccati(A: Array, B: Array, Q: Array, R: Array) -> tuple[Array, Array] | None:
    """Return P of the Riccati equation, and the gain; None if floating point does not find them."""
    from scipy.linalg import solve_discrete_are

    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            P: Array = solve_discrete_are(A, B, Q, R)
            K: Array = np.asarray(np.linalg.solve(R + B.T @ P @ B, B.T @ P @ A), dtype=float)
        except (np.linalg.LinAlgError, ValueError):
            return None
    return (P, K) if np.isfinite(K).all() else None


@checked
def controllability(system: System, K: ArrayLike | None = None, order: int | None = None) -> Array:
    """Return the controllability matrix [B, A_K B, ..., A_K^(order-1) B].

    Parameters
    ----------
    system : System
        The plant; its nominal (A, B) is used.
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
    >>> from driftwise.control import double_integrator
    >>> controllability(double_integrator())
    array([[0., 1.],
           [1., 1.]])
    """
    owner = "controllability"
    A, B = read_system(owner, system).A, system.B
    blocks = system.state_dim if order is None else whole(owner, "order", order)
    if K is not None:
        A = A - B @ read_gain(owner, system, K)
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
