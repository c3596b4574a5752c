"""The linear loss: the score itself."""

import numpy as np
from numpy.typing import ArrayLike

from driftwise._frames.given import labels_of
from driftwise._memory import Pointer
from driftwise.losses.base import read_rows
from driftwise.losses.forms import ScoreLoss
from driftwise.losses.kernels import link
from driftwise.losses.pieces import Pieces


@link
def identity(z: Pointer, y: Pointer, shape: Pointer, n: int, out: Pointer) -> int:
    """Write z."""
    out[0] = z[0]
    return 0


@link
def identity_slope(z: Pointer, y: Pointer, shape: Pointer, n: int, out: Pointer) -> int:
    """Write 1."""
    out[0] = 1.0
    return 0


class LinearLoss(ScoreLoss):
    """``f_t(w) = <c_t, w>``: experts' losses, prices, or any linearised problem.

    Parameters
    ----------
    vectors : array of shape (T, d), or (T,) for d = 1
        c_t, one row a round.

    Notes
    -----
    The gradient is c_t wherever the decision is, so the gradient bound is the longest c_t. Losses may be below 0.

    Examples
    --------
    >>> import driftwise as dw
    >>> dw.LinearLoss([[1.0, -1.0]]).unary_value(0, [0.25, 0.75])
    -0.5
    """

    value_of, slope_of, nonnegative = identity, identity_slope, False
    pieces = Pieces(bend=0.0, right=1.0, jump=0.0)

    def __init__(self, vectors: ArrayLike) -> None:
        c = read_rows("LinearLoss", "vectors", vectors)
        super().__init__(c, np.zeros(c.shape[0]), labels_of("LinearLoss", vectors=vectors))
