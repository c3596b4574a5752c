"""The cheapest sequence of policies, moves priced, as one sparse cone problem of all rounds, handed to Clarabel.

The unknowns of a round are its policy, state and input; each round is linked to the next one only, by the plant and by
the price of a move, so time and memory grow with the number of rounds and not faster. States and inputs are in the unit
`ratio`, in which they are as large as policies are.
"""

import itertools
from typing import NamedTuple

import numpy as np

from driftwise._validate import Array, Indices
from driftwise.control.costs.kernels import ABSOLUTE, HUBER, INPUT, STATE, CostData
from driftwise.control.hindsight.planes import Planes, tangents, with_slopes
from driftwise.control.hindsight.totals import Region, Totals
from driftwise.optimum.cones import NORM, ZERO, Rows, solve_cones, stay_inside


class Answer(NamedTuple):
    """What came out of Clarabel."""

    policies: Array
    """(T, H du dx), feasible to Clarabel's tolerance."""
    planes: tuple[Planes, ...]
    """Planes below the costs, at the run of the policies, by the multipliers, or both: the better ones count."""
    dual: Array
    """(T, H du dx): the multipliers of the moves, 0 in the last row."""
    words: str
    """Clarabel's own word for how it ended."""

    @property
    def finite(self) -> bool:
        """Whether there are numbers in it."""
        return all(bool(np.isfinite(part).all()) for part in (self.policies, self.dual, *itertools.chain(*self.planes)))


class _Unknowns:
    """The unknowns so far: their linear and quadratic prices, and where they are expected to be."""

    def __init__(self) -> None:
        self.count = 0
        self.linear: list[Array] = []
        self.expected: list[Array] = []
        self.quadratic: list[tuple[Indices, Indices, Array]] = []

    def add(self, expected: Array, price: float | Array = 0.0) -> Indices:
        """Return the numbers of new unknowns, as many as are expected, in the same shape."""
        numbers = self.count + np.arange(expected.size)
        self.count += expected.size
        self.expected.append(expected.ravel())
        self.linear.append(np.broadcast_to(price, expected.shape).ravel())
        return numbers.reshape(expected.shape)

    def square(self, numbers: Indices, weights: Array) -> None:
        """Price ``z'Wz`` of every row z of unknowns, or ``W z^2`` of single ones."""
        if weights.shape == numbers.shape:
            self.quadratic.append((numbers.ravel(), numbers.ravel(), 2.0 * weights.ravel()))
            return
        upper = np.triu_indices(numbers.shape[1])
        self.quadratic.append(
            (numbers[:, upper[0]].ravel(), numbers[:, upper[1]].ravel(), 2.0 * weights[:, upper[0], upper[1]].ravel())
        )


def past(disturbances: Array, memory: int) -> Array:
    """Return the disturbances before every round, (T, H, dx), the latest first; 0 before the first round."""
    T, dx = disturbances.shape
    result = np.zeros((T, memory, dx))
    for k in range(memory):
        result[k + 1 :, k] = disturbances[: max(T - k - 1, 0)]
    return result


def solve(totals: Totals, region: Region, price: float, around: Array, width: float) -> Answer:
    """Return policies, one a round, that are the cheapest to Clarabel's precision, which is about 1e-9 of `width`.

    A second call `around` a first solution, (T, H du dx), with a smaller width gains digits.
    """
    problem, (T, H, du, dx) = totals.problem, totals.shape
    data = problem.costs.data
    assert data is not None
    run = totals.roll(around)
    before = past(problem.disturbances, H)
    ratio = float(np.linalg.norm(before.reshape(T, -1), axis=1).max()) or 1.0
    unknowns, rows = _Unknowns(), Rows()
    M = unknowns.add(around.reshape(T, H, du, dx))
    X, U = unknowns.add(run.states / ratio), unknowns.add(run.inputs / ratio)
    _link(rows, totals, M, (X, U), before / ratio, ratio)
    moves = _price_moves(rows, unknowns, M.reshape(T, -1), price)
    if region.domain is not None:
        stay_inside(rows, region.domain, T)
    kinks = [_price_costs(rows, unknowns, data, which, (X, U)[which], ratio) for which in (STATE, INPUT)]
    x, z, words = _solved(unknowns, rows, width)
    policies = x[M.reshape(T, -1)]
    planes = []
    if data.kind != ABSOLUTE:
        planes.append(tangents(totals, totals.roll(policies)))
    if data.kind in (ABSOLUTE, HUBER):
        planes.append(with_slopes(totals, *((z[up] - z[down]) / ratio for up, down in kinks)))
    return Answer(policies, tuple(planes), np.vstack([-z[moves], np.zeros((1, policies.shape[1]))]), words)


def _solved(unknowns: _Unknowns, rows: Rows, width: float) -> tuple[Array, Array, str]:
    from scipy import sparse

    entries = [np.concatenate(parts) for parts in zip(*unknowns.quadratic, strict=True)] or [np.zeros(0)] * 3
    size = unknowns.count
    P = sparse.csc_matrix((entries[2], (entries[0], entries[1])), (size, size))
    P.eliminate_zeros()
    return solve_cones(P, np.concatenate(unknowns.linear), rows, np.concatenate(unknowns.expected), width)


def _link(rows: Rows, totals: Totals, M: Indices, run: tuple[Indices, Indices], before: Array, ratio: float) -> None:
    """Let inputs be those of the policies, ``u_t = -K x_t + sum_i M_t[i] w_{t-i}``, and states follow the plant."""
    (T, H, du, dx), problem, K = totals.shape, totals.problem, totals.gains[0]
    X, U = run
    inputs = np.arange(T * du).reshape(T, du)
    rows.entry(inputs.ravel(), U.ravel(), 1.0)
    _product(rows, inputs, X, K)
    for a in range(du):
        rows.entry(np.repeat(inputs[:, a], H * dx), M[:, :, a].ravel(), -before.ravel())
    rows.close(np.zeros(T * du), ZERO)
    states = np.arange(T * dx).reshape(T, dx)
    rows.entry(states.ravel(), X.ravel(), 1.0)
    _product(rows, states[1:], X[:-1], -problem.A)
    _product(rows, states[1:], U[:-1], -problem.B)
    rows.close(np.vstack([problem.start, problem.disturbances[:-1]]).ravel() / ratio, ZERO)


def _product(rows: Rows, where: Indices, columns: Indices, matrix: Array) -> None:
    """Put the product of a matrix with each row of unknowns into rows."""
    count, (high, wide) = len(where), matrix.shape
    places = np.repeat(where, wide, axis=1).ravel()
    rows.entry(places, np.tile(columns, (1, high)).ravel(), np.tile(matrix.ravel(), count))


def _price_moves(rows: Rows, unknowns: _Unknowns, M: Indices, price: float) -> Indices:
    """Price the distance from each policy to the next; return where its multipliers are, (T - 1, H du dx)."""
    count, dim = len(M) - 1, M.shape[1]
    around = unknowns.expected[0].reshape(M.shape)
    lengths = unknowns.add(np.linalg.norm(np.diff(around, axis=0), axis=1), price)
    where = (np.arange(count) * (dim + 1))[:, None] + 1 + np.arange(dim)
    first = rows.count
    if count:  # (length, change) in a second-order cone
        rows.entry(where[:, 0] - 1, lengths, -1.0)
        rows.entry(where.ravel(), M[1:].ravel(), -1.0)
        rows.entry(where.ravel(), M[:-1].ravel(), 1.0)
        rows.close(np.zeros(count * (dim + 1)), NORM, count)
    return np.asarray(first + where)


def _price_costs(
    rows: Rows, unknowns: _Unknowns, data: CostData, which: int, Z: Indices, ratio: float
) -> tuple[Indices, Indices]:
    """Price all states or inputs, and return where the multipliers of the two sides of their kinks are, if any.

    An absolute value is a variable above z and -z; Huber's function of width h is the least
    ``p^2 / (2 h) + |z - p|`` over p; what is outside a limit is squared, as a variable above
    ``z - high``, or ``low - z``.
    """
    T, side = Z.shape
    none: Indices = np.zeros(0, np.int64)
    weights = data.of_rounds(0, T)[which]
    expected = np.concatenate(unknowns.expected)[Z]
    if data.kind not in (ABSOLUTE, HUBER):
        full = weights if weights.shape[2] == side else weights * np.eye(side)
        unknowns.square(Z, ratio**2 * full)
        if which == STATE and data.limits.size:
            _price_outside(rows, unknowns, data, Z, expected, ratio)
        return none, none
    weight = np.broadcast_to(weights[:, 0], Z.shape)
    inner = none
    if data.kind == HUBER:
        width = data.width / ratio
        near = np.clip(expected, -width, width)
        inner = unknowns.add(near)
        unknowns.square(inner, ratio**2 / (2.0 * data.width) * weight)
        expected = expected - near
    sizes = unknowns.add(np.abs(expected), ratio * weight)
    places, found = np.arange(Z.size), []
    for sign in (1.0, -1.0):
        found.append(np.asarray(rows.count + places).reshape(Z.shape))
        rows.entry(places, Z.ravel(), sign)
        if data.kind == HUBER:
            rows.entry(places, inner.ravel(), -sign)
        rows.entry(places, sizes.ravel(), -1.0)
        rows.close(np.zeros(Z.size))
    return found[0], found[1]


def _price_outside(rows: Rows, unknowns: _Unknowns, data: CostData, X: Indices, expected: Array, ratio: float) -> None:
    """Price the squares of what is outside the soft limits of states."""
    T, dx = X.shape
    lows, highs, heavy = np.broadcast_to(data.limits[data.stage], (T, 3, dx)).transpose(1, 0, 2)
    heavy = heavy * np.broadcast_to(data.scales, (T, 2))[:, :1]
    for sign, bound in ((1.0, highs), (-1.0, -lows)):
        there = np.flatnonzero(np.isfinite(bound))
        bounds = bound.ravel()[there] / ratio
        outside = unknowns.add(np.maximum(sign * expected.ravel()[there] - bounds, 0.0))
        unknowns.square(outside, ratio**2 * heavy.ravel()[there])
        places = np.arange(there.size)
        rows.entry(places, X.ravel()[there], sign)
        rows.entry(places, outside, -1.0)
        rows.close(bounds)
