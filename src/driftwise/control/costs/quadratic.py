"""Quadratic costs of states and inputs, less their targets."""

import numpy as np
from numpy.typing import ArrayLike

from driftwise._validate import Array, array, choice, loose
from driftwise.control.costs.base import RULES, DataCost, not_convex
from driftwise.control.costs.kernels import NONE, QUADRATIC, CostData

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


def _target(owner: str, name: str, value: ArrayLike | None, weights: Array) -> Array:
    """Return a target as a row; a number is a target of one coordinate."""
    if value is None:
        return NONE
    given = loose(owner, name, value)
    number_like = given.ndim == 0 and given.dtype.kind in "fiu"
    side: int | str = weights.shape[0] if weights.ndim else "weights"
    return array(owner, name, given.reshape(1) if number_like else value, (side,), copy=True)[None]


def rates(data: CostData) -> Array:
    """Return the spectral norms of 2 Q and 2 R, their factors included, in every round, shape (T, 2)."""
    norms = [np.abs(np.linalg.eigvalsh(part)).max(axis=-1) for part in (data.state, data.input)]
    return np.asarray(2.0 * np.stack(norms, axis=-1)[data.stage] * np.abs(data.scales))


def steepest(data: CostData, state_bound: float, input_bound: float) -> tuple[float, float]:
    """Return bounds on the norms of the gradients of the quadratic parts, over states and inputs within these norms."""
    reach = [
        bound + (np.linalg.norm(target, axis=1)[data.stage] if target.size else np.zeros(1))
        for bound, target in zip((state_bound, input_bound), data.targets, strict=True)
    ]
    steep = rates(data)
    return float((steep[:, 0] * reach[0]).max()), float((steep[:, 1] * reach[1]).max())


def is_convex(data: CostData) -> bool:
    """Tell whether no weight has a negative eigenvalue, up to rounding, and no factor is negative."""
    parts = data.state, data.input
    least = [np.linalg.eigvalsh(weights)[:, 0] for weights in parts]
    sizes = [np.abs(weights).max(axis=(1, 2)) for weights in parts]
    return not (np.stack(least) < -_ROUNDING * np.stack(sizes)).any() and not data.scales.min() < 0.0


class QuadraticCost(DataCost):
    """c(x, u) = (x - target)'Q(x - target) + (u - input_target)'R(u - input_target).

    The cost of linear-quadratic control and of the paper's experiments, where the targets are 0.

    Parameters
    ----------
    Q : array of shape (dx, dx) or (dx,), or a number
        Weights of the state: a matrix (its symmetric part counts), its diagonal, or a number, for that multiple
        of the identity whatever the number of states.
    R : array of shape (du, du) or (du,), or a number
        Weights of the input, in the same forms.
    target : array of shape (dx,), optional
        Set-point of the state, a number when there is one state; 0 when left out.
    input_target : array of shape (du,), optional
        Input that costs nothing, such as the u with B u = (I - A) target, which holds the state at its target; a
        number when there is one input. 0 when left out.
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
    >>> QuadraticCost(1.0, 0.1, target=[20.0, 18.0], input_target=[2.0]).value([21.0, 18.0], [5.0])
    1.9
    """

    quadratic = True

    def __init__(
        self,
        Q: ArrayLike,
        R: ArrayLike,
        *,
        target: ArrayLike | None = None,
        input_target: ArrayLike | None = None,
        if_not_convex: str = "refuse",
    ) -> None:
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
        self.data = self.data._replace(
            state_target=_target("QuadraticCost", "target", target, parts["Q"]),
            input_target=_target("QuadraticCost", "input_target", input_target, parts["R"]),
        )
        self.state_dim = self.state_dim or self.data.state_target.shape[1] or None
        self.input_dim = self.input_dim or self.data.input_target.shape[1] or None

    @property
    def Q(self) -> Array:
        """Symmetric weights of the state, shape (dx, dx), or (1, 1) if they were given as a number."""
        return np.asarray(self.data.scales[0, 0] * self.data.state[0])

    @property
    def R(self) -> Array:
        """Symmetric weights of the input, shape (du, du), or (1, 1) if they were given as a number."""
        return np.asarray(self.data.scales[0, 1] * self.data.input[0])

    @property
    def target(self) -> Array | None:
        """Set-point of the state, shape (dx,), or None if there is none."""
        return self.data.state_target[0].copy() if self.data.state_target.size else None

    @property
    def input_target(self) -> Array | None:
        """Input that costs nothing, shape (du,), or None if it is 0 for any number of inputs."""
        return self.data.input_target[0].copy() if self.data.input_target.size else None

    @property
    def gradient_constant(self) -> float | None:
        """G_c, the largest of ``2 |Q|`` and ``2 |R|`` in spectral norm.

        None where a target is not 0, and for a subclass with another value.
        """
        if not self.compiled or any(target.any() for target in self.data.targets):
            return None
        return float(rates(self.data).max())

    def steepest(self, state_bound: float, input_bound: float) -> tuple[float, float] | None:
        """Return bounds on the norms of the gradients in x and in u, over states and inputs within these norms.

        Parameters
        ----------
        state_bound, input_bound : float
            Largest norms of a state and of an input.
        """
        return steepest(self.data, state_bound, input_bound) if self.compiled else None

    @property
    def convex(self) -> bool:
        """Whether no weight has a negative eigenvalue, up to rounding, and no factor is negative."""
        return is_convex(self.data)
