"""Products of domains: independent limits on parts of one decision."""

import math
from collections.abc import Sequence

import numpy as np

from driftwise._validate import Array, instance
from driftwise.domains.base import Domain
from driftwise.domains.nearest import lengths
from driftwise.errors import ParameterError


class Product(Domain):
    """Decisions made of parts, each in its own domain.

    Parameters
    ----------
    *factors : Domain
        The domains of the parts, in order; their coordinates follow one another. A single list of them will do too.

    Examples
    --------
    >>> import driftwise as dw
    >>> domain = dw.Product(dw.Simplex(2), dw.Box([0.0], [9.0]))
    >>> domain.project([2.0, 0.0, 12.0])
    array([1., 0., 9.])
    """

    def __init__(self, *factors: Domain | Sequence[Domain]) -> None:
        parts = tuple(factors[0]) if len(factors) == 1 and isinstance(factors[0], list | tuple) else factors
        if not parts:
            raise ParameterError("Product: give at least one domain, such as Product(Ball(2), Simplex(3)).")
        self.factors = tuple(
            instance("Product", f"factor {k}", part, Domain, "Ball(2)") for k, part in enumerate(parts)
        )
        blocks = tuple(block for factor in self.factors for block in factor.blocks)
        super().__init__(blocks, math.hypot(*(factor.diameter for factor in self.factors)))

    def _parts(self, rows: Array) -> list[Array]:
        edges = np.cumsum([factor.dim for factor in self.factors])[:-1]
        return [np.ascontiguousarray(part) for part in np.split(rows, edges, axis=1)]

    def _support(self, rows: Array) -> Array:
        pairs = zip(self.factors, self._parts(rows), strict=True)
        return np.asarray(np.sum([factor.support(part) for factor, part in pairs], axis=0))

    def _farthest(self, rows: Array) -> Array:
        pairs = zip(self.factors, self._parts(rows), strict=True)
        return lengths(np.stack([factor.farthest(part) for factor, part in pairs], axis=1))

    def __repr__(self) -> str:
        return f"Product({', '.join(map(repr, self.factors))})"
