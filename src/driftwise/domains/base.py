"""The base class of convex sets of decisions: exact projection, membership, diameter, support function."""

import itertools
from abc import abstractmethod
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from driftwise._compile import Plugin
from driftwise._settings import Fixed
from driftwise._validate import Array, array, loose, number, read_only
from driftwise.domains import kernels
from driftwise.domains.kernels import BALL, BOX, PLAN_COLUMNS, SIMPLEX, SPECTRAL
from driftwise.domains.nearest import (
    lengths,
    nearest_in_ball,
    nearest_in_box,
    nearest_in_simplex,
    nearest_in_spectral_ball,
)
from driftwise.domains.singular_values import project_spectral, spectral_room
from driftwise.errors import ParameterError

PLUGINS: dict[int, Plugin] = {
    BALL: kernels.project_ball,
    BOX: kernels.project_box,
    SIMPLEX: kernels.project_simplex,
    SPECTRAL: project_spectral,
}

ROUNDING = 64 * float(np.finfo(np.float64).eps)
"""Rounding error of a projection, or of a mixture of some dozens of points, relative to their size."""


class Block(NamedTuple):
    """One factor of a domain.

    Attributes
    ----------
    kind : int
        What it is: ``BALL``, ``BOX``, ``SIMPLEX`` or ``SPECTRAL`` of ``driftwise.domains.kernels``.
    size : int
        Number of coordinates.
    numbers : array
        Ball: radius, centre; box: low, high; simplex: scale; spectral: radius.
    rows : int, default 0
        Number of matrix rows (``SPECTRAL`` only).

    Examples
    --------
    >>> import driftwise as dw
    >>> [(block.size, block.numbers) for block in dw.Product(dw.Simplex(3), dw.Box([0.0], [1.0])).blocks]
    [(3, array([1.])), (1, array([0., 1.]))]
    """

    kind: int
    size: int
    numbers: Array
    rows: int = 0

    def check(self, owner: str) -> None:
        """Raise unless there are as many numbers as the compiled projection reads."""
        wanted = {BALL: 1 + self.size, BOX: 2 * self.size, SIMPLEX: 1, SPECTRAL: 1}.get(self.kind)
        whole_rows = self.kind != SPECTRAL or (self.rows > 0 and self.size % self.rows == 0)
        if wanted != self.numbers.size or not whole_rows:
            raise ParameterError(
                f"{owner}: a block of kind {self.kind} and size {self.size} must have {wanted} numbers, and rows that "
                f"divide its size if it holds matrices; got {self.numbers.size} numbers and {self.rows} rows."
            )

    @property
    def room(self) -> int:
        """Number of doubles of scratch space that the compiled projection needs."""
        return spectral_room(self.rows, self.size // self.rows) if self.kind == SPECTRAL else 0

    @property
    def compiled_numbers(self) -> Array:
        """Numbers that the compiled projection reads."""
        return np.append(self.numbers, float(self.rows)) if self.kind == SPECTRAL else self.numbers

    def nearest(self, rows: Array) -> Array:
        """Return the nearest points to the rows, without compiling anything."""
        if self.kind == BALL:
            return nearest_in_ball(rows, self.numbers[0], self.numbers[1:])
        if self.kind == BOX:
            return nearest_in_box(rows, self.numbers[: self.size], self.numbers[self.size :])
        if self.kind == SIMPLEX:
            return nearest_in_simplex(rows, self.numbers[0])
        return nearest_in_spectral_ball(rows, self.numbers[0], (self.rows, self.size // self.rows))


class Domain(Fixed):
    """A closed, bounded, convex set of decisions.

    A subclass describes itself as a tuple of `Block` and gives its diameter and support function; projection and
    membership follow, for one point or for many rows. Python projects with NumPy; learners project in compiled code,
    which reads the domain's `plan`. Making a domain compiles nothing.

    Parameters
    ----------
    blocks, diameter
        As below.

    Attributes
    ----------
    dim : int
        Number of coordinates of a decision.
    diameter : float
        Largest Euclidean distance between two decisions (D in the paper).
    blocks : tuple of Block
        Parts of a decision that are projected independently.
    slices : tuple of slice
        Coordinates of each block.

    Examples
    --------
    A domain of your own is made of blocks. This one is a disc around the origin:

    >>> import numpy as np
    >>> import driftwise as dw
    >>> from driftwise.domains import Block
    >>> from driftwise.domains.kernels import BALL
    >>> class Disc(dw.Domain):
    ...     def __init__(self, radius):
    ...         super().__init__((Block(BALL, 2, np.array([radius, 0.0, 0.0])),), diameter=2.0 * radius)
    ...
    ...     def _support(self, rows):
    ...         return self.diameter / 2.0 * np.linalg.norm(rows, axis=1)
    >>> disc = Disc(radius=5.0)
    >>> disc.project([6.0, 8.0]), disc.contains([3.0, 4.0])
    (array([3., 4.]), True)
    """

    dim: int
    diameter: float

    def __init__(self, blocks: tuple[Block, ...], diameter: float) -> None:
        for block in blocks:
            block.check(type(self).__name__)
        self.blocks = blocks
        self.diameter = float(diameter)
        edges = [0, *itertools.accumulate(block.size for block in blocks)]
        self.dim = edges[-1]
        self.slices = tuple(slice(*pair) for pair in itertools.pairwise(edges))
        self.numbers = read_only(np.concatenate([block.numbers for block in blocks]))

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Return the domain itself, which nobody can change: copies of a learner share it."""
        return self

    @property
    def room(self) -> int:
        """Number of doubles of scratch space that the compiled projection needs."""
        return max(block.room for block in self.blocks)

    def plan(self, link: bool = True) -> Array:
        """Return the domain in the form that compiled code reads (see `domains.kernels`).

        It contains addresses of machine code, so a plan is valid only in the process that made it.

        Parameters
        ----------
        link : bool, default True
            Whether to look up the projections of the domain's blocks, and compile those that are not on disk. If not,
            their addresses are 0, for kernels that have their own step for the domain.
        """
        parts = [block.compiled_numbers for block in self.blocks]
        before = np.cumsum([1 + PLAN_COLUMNS * len(parts), *(part.size for part in parts)])
        head = [
            (PLUGINS[block.kind].address if link else 0, part.start, block.size, offset)
            for block, part, offset in zip(self.blocks, self.slices, before[:-1], strict=True)
        ]
        return np.concatenate([[len(parts)], np.ravel(np.array(head, np.float64)), *parts])

    @abstractmethod
    def _support(self, rows: Array) -> Array:
        """Return the support function at every row."""

    def support(self, direction: ArrayLike) -> Array:
        """Return the largest inner product of a decision with `direction`, or with every row of it.

        Parameters
        ----------
        direction : array of shape (dim,), (n, dim), or the domain's own `shape`
            One direction or many rows.

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

        Parameters
        ----------
        x : array of shape (dim,), (n, dim), or the domain's own `shape`
            One point or many rows.
        """
        rows, shape = self._rows("farthest", x)
        return self._farthest(rows) if len(shape) == 2 else self._farthest(rows)[0]

    def _farthest(self, rows: Array) -> Array:
        return np.asarray(lengths(rows - self._nearest(rows)) + self.diameter)

    def _nearest(self, rows: Array) -> Array:
        """Return the nearest decisions to the rows, block by block."""
        if len(self.blocks) == 1:
            return self.blocks[0].nearest(rows)
        parts = zip(self.blocks, self.slices, strict=True)
        return np.concatenate([block.nearest(np.ascontiguousarray(rows[:, part])) for block, part in parts], axis=1)

    @property
    def shape(self) -> tuple[int, ...]:
        """Natural shape of one decision; flat unless the domain holds matrices."""
        return (self.dim,)

    def project(self, x: ArrayLike) -> Array:
        """Return the nearest decision in Euclidean norm.

        Parameters
        ----------
        x : array of shape (dim,), (n, dim), or the domain's own `shape`
            One point or many rows; it is not modified. For dim = 1 a point may be a number.

        Returns
        -------
        array of the same shape; of shape (1,) for a number
        """
        rows, shape = self._rows("project", x)
        return self._nearest(rows).reshape(shape)

    def contains(self, x: ArrayLike, tol: float = 1e-9) -> bool:
        """Tell whether one point, or every row, lies in the domain.

        A point counts as inside when its distance to the domain is at most ``tol * diameter`` plus rounding, which is
        taken as 64 units in the last place of the point or of the domain's own numbers, whichever are larger.

        Parameters
        ----------
        x : array of shape (dim,), (n, dim), or the domain's own `shape`
            One point or many rows.
        tol : float, default 1e-9
            How far outside a point may be, in diameters.

        Examples
        --------
        >>> import driftwise as dw
        >>> dw.Ball(2, radius=1e-20).contains([2e-20, 0.0])
        False
        """
        allowed = number(type(self).__name__, "tol", tol, low=0.0) * self.diameter
        rows, _ = self._rows("contains", x)
        sizes = np.maximum(lengths(rows), lengths(self.numbers[None])[0])
        return bool(np.all(lengths(rows - self._nearest(rows)) <= allowed + ROUNDING * sizes))

    def _rows(self, verb: str, x: ArrayLike) -> tuple[Array, tuple[int, ...]]:
        owner = f"{type(self).__name__}.{verb}"
        x = loose(owner, "x", x)
        given = x.shape
        if given == self.shape and len(given) != 1:
            return array(owner, "x", x, self.shape, copy=True).reshape(1, -1), given
        if len(given) == 2:
            return array(owner, "x", x, ("n", self.dim), copy=True), given
        return array(owner, "x", x, (self.dim,), copy=True).reshape(1, -1), (self.dim,)
