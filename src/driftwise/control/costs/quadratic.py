"""Quadratic costs x'Qx + u'Ru."""

import numpy as np
from numpy.typing import ArrayLike

from driftwise._validate import Array, array, choice, loose
from driftwise.control.costs.base import RULES, DataCost, not_convex
from driftwise.control.costs.kernels import QUADRATIC

_ROUNDING = 1e-12
"""An eigenvalue this far below zero, relative to the largest in size, is taken to be rounding."""


def _matrix(owner: str, name: str, value: ArrayLike) -> Array:
    """Return the symmetric part of a matrix or of a diagonal, or a single number as it is."""
    given = loose(owner, name, value)
    if given.ndim == 0:
        return array(owner, name, value, (), copy=True)
    if given.ndim == 1:
        return np.diag(array(owner, name, given, ("diagonal",)))
    read = array(owner, name, given, (given.shape[0], given.shape[0]))
    return 0.5 * (read + read.T)


class QuadraticCost(DataCost):
    """c(x, u) = x'Qx + u'Ru.

    The cost of linear-quadratic control and of the paper's experiments.

    Parameters
    ----------
    Q : array of shape (dx, dx) or (dx,), or a number
        Weights of the state: a matrix (its symmetric part counts), its diagonal, or a number, for that multiple
        of the identity whatever the number of states.
    R : array of shape (du, du) or (du,), or a number
        Weights of the input, in the same forms.
    if_not_convex : {"refuse", "warn"}, default "refuse"
        What to do when Q or R has a negative eigenvalue (below -1e-12 times the largest in size): raise a
        `ParameterError`, or give a `UserWarning` and go on.

    Examples
    --------
    >>> from driftwise.control.costs import QuadraticCost
    >>> cost = QuadraticCost(Q=[1.0, 2.0], R=0.5)
    >>> cost.value([1.0, -1.0], [2.0])
    5.0
    >>> cost.gradient([1.0, -1.0], [2.0])
    (array([ 2., -4.]), array([2.]))
    >>> cost.gradient_constant
    4.0
    """

    quadratic = True

    def __init__(self, Q: ArrayLike, R: ArrayLike, *, if_not_convex: str = "refuse") -> None:
        self.if_not_convex = choice("QuadraticCost", "if_not_convex", if_not_convex, RULES)
        parts = {name: _matrix("QuadraticCost", name, given) for name, given in (("Q", Q), ("R", R))}
        for name, part in parts.items():
            eigenvalues = np.linalg.eigvalsh(part) if part.ndim else part.reshape(1)
            if eigenvalues[0] < -_ROUNDING * np.abs(eigenvalues).max():
                complaint = (
                    f"QuadraticCost: the cost is not convex, because the symmetric part of {name} has the negative "
                    f"eigenvalue {eigenvalues[0]:.6g}."
                )
                not_convex(self.if_not_convex, complaint, stacklevel=3)
        super().__init__(QUADRATIC, parts["Q"], parts["R"])

    @property
    def Q(self) -> Array:
        """Symmetric weights of the state, shape (dx, dx), or (1, 1) if they were given as a number."""
        return np.asarray(self.data.scales[0, 0] * self.data.state[0])

    @property
    def R(self) -> Array:
        """Symmetric weights of the input, shape (du, du), or (1, 1) if they were given as a number."""
        return np.asarray(self.data.scales[0, 1] * self.data.input[0])

    @property
    def gradient_constant(self) -> float | None:
        """G_c, the largest of ``2 |Q|`` and ``2 |R|`` in spectral norm; None for a subclass with another value."""
        if not self.compiled:
            return None
        norms = [np.abs(np.linalg.eigvalsh(part)).max(axis=-1) for part in (self.data.state, self.data.input)]
        return 2.0 * float((np.stack(norms, axis=-1)[self.data.stage] * np.abs(self.data.scales)).max())

    @property
    def convex(self) -> bool:
        """Whether no weight has a negative eigenvalue, up to rounding, and no factor is negative."""
        parts = self.data.state, self.data.input
        least = [np.linalg.eigvalsh(weights)[:, 0] for weights in parts]
        sizes = [np.abs(weights).max(axis=(1, 2)) for weights in parts]
        return not (np.stack(least) < -_ROUNDING * np.stack(sizes)).any() and not self.data.scales.min() < 0.0
