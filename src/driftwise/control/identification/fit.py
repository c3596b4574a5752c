"""What the methods of identification share: each is a function of one matrix of sums of products."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from driftwise._validate import Array
from driftwise.control.identification.data import OWNER, Data
from driftwise.errors import InputError

BLOCKS, FEWEST = 20, 5
"""Blocks of rounds that are left out in turn to estimate the error; with few rounds fewer, down to the second."""

DEPENDENT, ROUNDING = 1e-6, 1e-12
"""Smallest eigenvalue, of columns scaled to length 1, at which probes, and states with inputs, are told apart."""


class Estimate(NamedTuple):
    """What one method makes of a matrix of sums of products."""

    A: Array
    B: Array
    responses: Sequence[Array]
    """Estimates of [B, A_K B, A_K^2 B, ...], over one or more numbers of lags."""


class Fit(ABC):
    """A method: which columns it looks at, and what it makes of the sums of their products."""

    def __init__(self, data: Data, span: int, unknowns: int) -> None:
        self.data = data
        self.states, self.inputs = data.states.shape[1], data.inputs.shape[1]
        self.span = span  # the number of rounds that one row draws on
        self.rows = len(data.inputs) - span + 1
        needed = max(FEWEST * span, 3 * unknowns) + span - 1
        if len(data.inputs) < needed:
            raise InputError(
                f"{OWNER}: {len(data.inputs)} rounds are too few: {self.states} states, {self.inputs} inputs and order "
                f"{data.order} need at least {needed} rounds, and many more for a small error; explore for longer."
            )

    @abstractmethod
    def columns(self, start: int, stop: int) -> Array:
        """Return some rows of what the method looks at."""

    @abstractmethod
    def solve(self, gram: Array) -> Estimate:
        """Return the estimate from the sums of products of the columns."""

    @abstractmethod
    def check(self) -> None:
        """Raise if the data are not what the method needs."""

    def estimate(self, sums: Array) -> Estimate:
        """Return the estimate from sums of products, the last column of which is all ones."""
        return self.solve(sums[:-1, :-1])

    def doubt(self, sums: Array) -> Estimate:
        """Return another estimate from them, whose distance shows an error that leaving blocks out does not.

        Here it is one that allows for a constant disturbance.
        """
        return self.solve(centred(sums))

    def gram(self, start: int, stop: int) -> Array:
        """Return the sums of products of some rows of the columns and a column of ones."""
        rows = np.hstack([self.columns(start, stop), np.ones((stop - start, 1))])
        if self.data.follows is not None:
            last = self.span - 1  # the round of a row is the last of those that it draws on
            rows = rows[self.data.follows[start + last : stop + last] == 1]
        return rows.T @ rows


def centred(gram: Array) -> Array:
    """Return the sums of products of columns less their means; the last column is all ones."""
    return np.asarray(gram[:-1, :-1] - np.outer(gram[:-1, -1], gram[-1, :-1]) / gram[-1, -1])


def factor(gram: Array, smallest: float, complaint: str) -> Array:
    """Return the Cholesky factor of the sums of products of some columns, which must not depend on one another."""
    length = np.sqrt(np.diag(gram))
    if length.min() > 0.0 and np.linalg.eigvalsh(gram / np.outer(length, length))[0] > smallest:
        return np.asarray(np.linalg.cholesky(gram), np.float64)
    raise InputError(f"{OWNER}: {complaint}")
