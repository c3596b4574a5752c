"""Losses of a score <x_t, w> against a target: squared, linear, absolute, Huber, logistic."""

import numpy as np
from numpy.typing import ArrayLike

from driftwise._validate import Array, array, number
from driftwise.errors import InputError
from driftwise.losses import kernels
from driftwise.losses.base import ScoreLoss, read_rows

ONE_TAP = np.ones(1)


def read_regression(owner: str, features: ArrayLike, targets: ArrayLike) -> tuple[Array, Array]:
    """Return features (T, d) and targets (T,) that fit together."""
    x = read_rows(owner, "features", features)
    return x, array(owner, "targets", targets, (x.shape[0],), copy=True)


class SquaredLoss(ScoreLoss):
    """``f_t(w) = (<x_t, w> - y_t)^2 / 2``: least squares, the loss of the paper's experiments.

    Parameters
    ----------
    features : array of shape (T, d), or (T,) for d = 1
        x_t, one row a round.
    targets : array of shape (T,)
        y_t.

    Examples
    --------
    >>> import driftwise as dw
    >>> losses = dw.SquaredLoss([[1.0, 2.0]], [1.0])
    >>> losses.unary_value(0, [1.0, 1.0]), losses.gradient(0, [1.0, 1.0])
    (2.0, array([2., 4.]))
    """

    def __init__(self, features: ArrayLike, targets: ArrayLike) -> None:
        super().__init__(kernels.SQUARED, *read_regression("SquaredLoss", features, targets), ONE_TAP)


class LinearLoss(ScoreLoss):
    """``f_t(w) = <c_t, w>``: experts' losses, prices, or any linearised problem.

    Parameters
    ----------
    vectors : array of shape (T, d), or (T,) for d = 1
        c_t, one row a round.

    Examples
    --------
    >>> import driftwise as dw
    >>> dw.LinearLoss([[1.0, -1.0]]).unary_value(0, [0.25, 0.75])
    -0.5
    """

    def __init__(self, vectors: ArrayLike) -> None:
        c = read_rows("LinearLoss", "vectors", vectors)
        super().__init__(kernels.LINEAR, c, np.zeros(c.shape[0]), ONE_TAP)


class AbsoluteLoss(ScoreLoss):
    """``f_t(w) = |<x_t, w> - y_t|``: robust regression; the subgradient at the kink is 0.

    Parameters
    ----------
    features : array of shape (T, d), or (T,) for d = 1
        x_t, one row a round.
    targets : array of shape (T,)
        y_t.

    Examples
    --------
    >>> import driftwise as dw
    >>> dw.AbsoluteLoss([[1.0]], [3.0]).gradient(0, [1.0])
    array([-1.])
    """

    def __init__(self, features: ArrayLike, targets: ArrayLike) -> None:
        super().__init__(kernels.ABSOLUTE, *read_regression("AbsoluteLoss", features, targets), ONE_TAP)


class HuberLoss(ScoreLoss):
    """Squared within `delta` of the target and linear beyond: smooth, yet not ruled by outliers.

    Parameters
    ----------
    features : array of shape (T, d), or (T,) for d = 1
        x_t, one row a round.
    targets : array of shape (T,)
        y_t.
    delta : float, default 1.0
        Residual at which the loss becomes linear, above zero, in the unit of the targets.

    Examples
    --------
    >>> import driftwise as dw
    >>> dw.HuberLoss([[1.0]], [0.0], delta=1.0).unary_value(0, [3.0])
    2.5
    """

    def __init__(self, features: ArrayLike, targets: ArrayLike, delta: float = 1.0) -> None:
        width = number("HuberLoss", "delta", delta, low=0.0, exclusive=True)
        super().__init__(kernels.HUBER, *read_regression("HuberLoss", features, targets), ONE_TAP, width)


class LogisticLoss(ScoreLoss):
    """``f_t(w) = log(1 + exp(-y_t <x_t, w>))``: classification with labels -1 and +1.

    Parameters
    ----------
    features : array of shape (T, d), or (T,) for d = 1
        x_t, one row a round.
    targets : array of shape (T,)
        Labels y_t, each -1 or +1.

    Examples
    --------
    >>> import driftwise as dw
    >>> dw.LogisticLoss([[2.0]], [1.0]).gradient(0, [0.0])
    array([-1.])
    """

    def __init__(self, features: ArrayLike, targets: ArrayLike) -> None:
        x, y = read_regression("LogisticLoss", features, targets)
        wrong = np.flatnonzero(np.abs(y) != 1.0)
        if wrong.size:
            t = int(wrong[0])
            raise InputError(
                f"LogisticLoss: targets must be -1 or +1, got {y[t]:g} in round {t}; labels 0 and 1 become 2*y - 1."
            )
        super().__init__(kernels.LOGISTIC, x, y, ONE_TAP)
