"""Products of spectral-norm balls: the domain of disturbance-action policies (Section 5 of the paper)."""

import numpy as np
from numpy.typing import ArrayLike

from driftwise._validate import Array, array, loose, read_only, whole
from driftwise.domains.base import Block, Domain
from driftwise.domains.kernels import SPECTRAL
from driftwise.domains.nearest import lengths
from driftwise.errors import ParameterError


class SpectralBalls(Domain):
    """Stacks of H matrices whose spectral norms are at most their radii.

    Decisions are flat vectors of length H * rows * columns; `project` and `contains` also take the
    stack itself, of shape (H, rows, columns). Distances are Frobenius norms.

    Parameters
    ----------
    shape : (H, rows, columns)
        Number of matrices and their size; for a policy (H, input dimension, state dimension).
    radii : float or array of shape (H,)
        Largest spectral norm of each matrix, above zero.

    Examples
    --------
    >>> import numpy as np
    >>> import driftwise as dw
    >>> domain = dw.SpectralBalls(shape=(1, 2, 2), radii=1.0)
    >>> domain.project(np.diag([3.0, 0.5])[None])
    array([[[1. , 0. ],
            [0. , 0.5]]])
    """

    def __init__(self, shape: tuple[int, int, int], radii: ArrayLike) -> None:
        if not isinstance(shape, tuple | list) or len(shape) != 3:
            raise ParameterError(f"SpectralBalls: shape must be three whole numbers (H, rows, columns), got {shape!r}.")
        sides = [whole("SpectralBalls", f"shape[{k}]", side) for k, side in enumerate(shape)]
        self._shape = (sides[0], sides[1], sides[2])
        count, rows, columns = self._shape
        given = loose("SpectralBalls", "radii", radii)
        given = np.broadcast_to(given, (count,)) if given.ndim == 0 else given
        self.radii: Array = read_only(array("SpectralBalls", "radii", given, (count,), copy=True))
        if not self.radii.min() > 0.0:
            raise ParameterError(f"SpectralBalls: radii must be above 0, got a smallest one of {self.radii.min():g}.")
        size = rows * columns
        blocks = tuple(Block(SPECTRAL, size, np.array([radius]), rows) for radius in self.radii)
        diameter = 2.0 * np.sqrt(min(rows, columns)) * float(lengths(self.radii[None])[0])
        super().__init__(blocks, diameter)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the stack of matrices: (H, rows, columns)."""
        return self._shape

    def _support(self, rows: Array) -> Array:
        nuclear = np.linalg.svd(rows.reshape(-1, *self._shape), compute_uv=False).sum(axis=2)
        return np.asarray(nuclear @ self.radii)

    def __repr__(self) -> str:
        return f"SpectralBalls(shape={self._shape}, radii={np.array2string(self.radii, threshold=4)})"
