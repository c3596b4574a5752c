"""Holdings that drift by themselves: where points of a domain are at the end of a round, though nobody moved them."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from driftwise._settings import Fixed
from driftwise._validate import Array, array, read_only
from driftwise.domains import Domain
from driftwise.domains.kernels import SIMPLEX
from driftwise.errors import InputError

Held = ArrayLike | Callable[[Array], ArrayLike]
"""Where a decision has drifted to, or a function of points, one a row, that says where each of them drifts to."""

LEAST = 1e-9
"""A share below this part of the whole is too small to tell by how much it has grown."""


class Growth(Fixed):
    """Holdings that grow, each by a factor of its own, and are counted as shares of the whole again.

    What `observe` takes as `held` where decisions are weights of a portfolio: with the price relatives x of a round,
    a portfolio w has drifted to ``w_i x_i / <w, x>`` by its end, though nobody has traded. Unlike the drifted
    weights of the decision alone, it also says what becomes of assets that the decision does not hold.

    Parameters
    ----------
    relatives : array of shape (dim,)
        The factor by which each holding has grown, above zero: price at the end of the round over price at its
        beginning.

    Examples
    --------
    >>> import driftwise as dw
    >>> growth = dw.Growth([1.5, 0.5])
    >>> growth([0.5, 0.5]), growth([[1.0, 0.0], [0.2, 0.8]])
    (array([0.75, 0.25]), array([[1.        , 0.        ],
           [0.42857143, 0.57142857]]))
    """

    def __init__(self, relatives: ArrayLike) -> None:
        self.relatives = read_only(above_zero("Growth", array("Growth", "relatives", relatives, ("dim",), copy=True)))

    def __call__(self, points: ArrayLike) -> Array:
        """Return where one point, or every row of points, drifts to; what coordinates add up to stays the same.

        Parameters
        ----------
        points : array of shape (dim,) or (n, dim)
            Shares that are not negative.
        """
        rows = np.asarray(points, dtype=np.float64)
        if rows.shape[-1:] != self.relatives.shape:
            raise InputError(f"Growth: there are {self.relatives.size} relatives, and the points have {rows.shape}.")
        grown = rows * (self.relatives / self.relatives.max())
        total = grown.sum(axis=-1, keepdims=True)
        return np.asarray(grown * (rows.sum(axis=-1, keepdims=True) / np.where(total > 0.0, total, 1.0)))

    def __repr__(self) -> str:
        return f"Growth({np.array2string(self.relatives, threshold=6)})"


def above_zero(owner: str, relatives: Array) -> Array:
    """Return price relatives, of one round or a row for each, that have been checked to be above zero."""
    if not relatives.min() > 0.0:
        place = np.unravel_index(relatives.argmin(), relatives.shape)
        at = ", ".join(str(int(i)) for i in place)
        raise InputError(f"{owner}: relatives must be above zero, got {relatives[place]:g} at [{at}].")
    return relatives


def drifted(owner: str, domain: Domain, held: Held, decision: Array, points: Array) -> tuple[Array, Array]:
    """Return where a decision and other points have drifted to, checked, and in the domain whatever rounding does."""
    if callable(held):
        rows = np.concatenate([decision[None], points])
        there = _checked(owner, domain, "what held returns", held(rows.copy()), rows.shape)
        return there[0], there[1:]
    here = _checked(owner, domain, "held", held, (domain.dim,))
    return here, _alike(domain, decision, here, points)


def _checked(owner: str, domain: Domain, name: str, given: Any, shape: tuple[int, ...]) -> Array:
    """Return what must be points of the domain."""
    there = array(owner, name, given, shape, copy=True)
    if not domain.contains(there):
        raise InputError(
            f"{owner}: {name} must be in {domain!r}, where decisions are, got {np.array2string(there, threshold=8)}."
        )
    return there if domain.contains(there, tol=0.0) else domain.project(there)  # what is 0 stays 0


def _alike(domain: Domain, decision: Array, here: Array, points: Array) -> Array:
    """Return points that have drifted as a decision has: in proportion on a simplex, by the same shift elsewhere."""
    there = np.empty_like(points)
    for block, part in zip(domain.blocks, domain.slices, strict=True):
        if block.kind == SIMPLEX:
            scale, before = block.numbers[0], decision[part]
            known = before > LEAST * scale
            growth = np.where(known, here[part] / np.where(known, before, 1.0), 1.0)
            grown = points[:, part] * growth
            total = grown.sum(axis=1, keepdims=True)
            some = total > 0.0
            there[:, part] = np.where(some, scale * grown / np.where(some, total, 1.0), here[part])
        else:
            shifted = points[:, part] + (here[part] - decision[part])
            there[:, part] = block.nearest(np.ascontiguousarray(shifted))
    return there
