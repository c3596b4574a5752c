"""What the parts of this package share: reading a system and a gain, eigenvalues in messages, spectral radius."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from driftwise._validate import Array, checked, instance, loose
from driftwise.control.plants import PLANT_HINT, System, as_matrix

Matrix = NDArray[Any]


def read_system(owner: str, system: System) -> System:
    """Return the system, if it is one."""
    return instance(owner, "system", system, System, PLANT_HINT)


def read_gain(owner: str, system: System, K: ArrayLike) -> Array:
    """Return the gain as a matrix that fits the system."""
    return as_matrix(owner, "K", K, (system.input_dim, system.state_dim))


def shown(value: complex) -> str:
    """Return an eigenvalue for a message: with its size, and as a real number when it is one."""
    value = complex(value)
    text = f"{value.real:.6g}" if value.imag == 0.0 else f"{value:.6g}"
    return f"{text}, of size {abs(value):.6g}"


def spectral_norm(values: Matrix) -> float:
    """Return the largest singular value of a matrix."""
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
