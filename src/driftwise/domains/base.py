"""What every convex set of decisions offers: exact projection, membership, diameter, support function."""

from abc import abstractmethod
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from driftwise._validate import Array, Checked, array, loose, number, read_only
from driftwise.domains import kernels


class Block(NamedTuple):
    """One factor of a domain, in the form the compiled projection reads (see `domains.kernels`)."""

    kind: int
    size: int
    numbers: Array
    rows: int = 0


class Domain(metaclass=Checked):
    """A closed, bounded, convex set of decisions.

    A subclass describes itself as a tuple of `Block` and gives its diameter and support function;
    projection and membership follow, for one point or for many rows, in compiled code.

    Attributes
    ----------
    dim : int
        Number of coordinates of a decision.
    diameter : float
        Largest Euclidean distance between two decisions (D in the paper).
    """

    dim: int
    diameter: float

    def __init__(self, blocks: tuple[Block, ...], diameter: float) -> None:
        """Pack `blocks` into the two arrays that the kernels read."""
        self.blocks = blocks
        self.diameter = float(diameter)
        table, start, offset = [], 0, 0
        for block in blocks:
            table.append((block.kind, start, start + block.size, offset, block.rows))
            start += block.size
            offset += block.numbers.size
        self.dim = start
        self.table = np.array(table, np.int64)
        self.numbers = read_only(np.concatenate([block.numbers for block in blocks]))

    @abstractmethod
    def _support(self, rows: Array) -> Array:
        """Return the support function at every row."""

    def support(self, direction: ArrayLike) -> Array:
        """Return the largest inner product of a decision with `direction`, or with every row of it.

        Examples
        --------
        >>> import driftwise as dw
        >>> float(dw.Box([0.0, 0.0], [1.0, 2.0]).support([1.0, -1.0]))
        1.0
        """
        rows, shape = self._rows("support", direction)
        return self._support(rows) if len(shape) == 2 else self._support(rows)[0]

    def farthest(self, x: ArrayLike) -> Array:
        """Return an upper bound on the distance from `x`, or from every row of it, to a decision.

        It is exact for balls, boxes, simplices and their products.
        """
        rows, shape = self._rows("farthest", x)
        return self._farthest(rows) if len(shape) == 2 else self._farthest(rows)[0]

    def _farthest(self, rows: Array) -> Array:
        nearest = rows.copy()
        kernels.project_rows(self.table, self.numbers, nearest)
        return np.asarray(np.linalg.norm(rows - nearest, axis=1) + self.diameter)

    @property
    def shape(self) -> tuple[int, ...]:
        """Natural shape of one decision; flat unless the domain holds matrices."""
        return (self.dim,)

    def project(self, x: ArrayLike) -> Array:
        """Return the nearest decision in Euclidean norm.

        Parameters
        ----------
        x : array of shape (dim,), (n, dim), or the domain's own `shape`
            One point or many rows; it is not modified.

        Returns
        -------
        array of the same shape
        """
        rows, shape = self._rows("project", x)
        kernels.project_rows(self.table, self.numbers, rows)
        return rows.reshape(shape)

    def contains(self, x: ArrayLike, tol: float = 1e-9) -> bool:
        """Tell whether one point, or every row, lies in the domain.

        A point counts as inside when its distance to the domain is at most ``tol * max(1, |x|)``.
        """
        allowed = number(type(self).__name__, "tol", tol, low=0.0)
        rows, _ = self._rows("contains", x)
        inside = rows.copy()
        kernels.project_rows(self.table, self.numbers, inside)
        distances = np.linalg.norm(rows - inside, axis=1)
        return bool(np.all(distances <= allowed * np.maximum(1.0, np.linalg.norm(rows, axis=1))))

    def _rows(self, verb: str, x: ArrayLike) -> tuple[Array, tuple[int, ...]]:
        owner = f"{type(self).__name__}.{verb}"
        x = loose(owner, "x", x)
        given = x.shape
        if given == self.shape and len(given) != 1:
            return array(owner, "x", x, self.shape, copy=True).reshape(1, -1), given
        if len(given) == 2:
            return array(owner, "x", x, ("n", self.dim), copy=True), given
        return array(owner, "x", x, (self.dim,), copy=True).reshape(1, -1), given
