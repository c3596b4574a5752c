"""Costs that several tests of this room use."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from driftwise._validate import Array
from driftwise.control.costs import (
    AbsoluteCost,
    Cost,
    CostSequence,
    DataCost,
    HuberCost,
    QuadraticCost,
    SoftLimits,
)
from tests.control.cases import compiled_cost

Q = np.array([[2.0, 1.0, 0.0], [0.0, 3.0, 0.5], [0.0, 0.5, 1.0]])


R = np.array([[1.0, -0.2], [-0.2, 0.5]])


BUILT_IN: dict[str, DataCost] = {
    "quadratic": QuadraticCost(Q, R),
    "absolute": AbsoluteCost([1.0, 0.0, 2.0], [0.5, 3.0]),
    "huber": HuberCost([1.0, 0.0, 2.0], [0.5, 3.0], width=0.7),
    "soft": SoftLimits(QuadraticCost(Q, R), [-1.0, -1.0, -2.0], 0.5, weight=[1.0, 2.0, 3.0]),
}


X, U = np.array([0.3, -2.0, 1.5]), np.array([-0.4, 4.0])


def ones(z: Array) -> Array:
    return np.ones_like(z)


def size(x: Array, u: Array) -> Array:
    return np.sqrt(np.asarray(x @ x + u @ u))


CONVEX: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "squares": (lambda x, u: x @ x + u @ u, lambda x, u: (2 * x, 2 * u)),
    "lists": (lambda x, u: float(x @ x), lambda x, u: ((2 * x).tolist(), [0.0] * u.size)),
    "constant": (lambda x, u: 3, lambda x, u: (0 * x, 0 * u)),
    "linear": (lambda x, u: x.sum() - u.sum(), lambda x, u: (ones(x), -ones(u))),
    "absolute": (lambda x, u: abs(x).sum() + abs(u).sum(), lambda x, u: (np.sign(x), np.sign(u))),
    "absolute, other side": (
        lambda x, u: abs(x).sum() + abs(u).sum(),
        lambda x, u: (np.where(x >= 0, 1.0, -1.0), np.where(u > 0, 1.0, -1.0)),
    ),
    "norm": (size, lambda x, u: (x / max(size(x, u), 1e-300), u / max(size(x, u), 1e-300))),
    "dead zone, kink at a point tried": (
        lambda x, u: np.maximum(abs(u) - 1.0, 0.0).sum(),
        lambda x, u: (0 * x, np.sign(u) * (abs(u) >= 1.0)),
    ),
    "largest": (lambda x, u: abs(x).max(), lambda x, u: (np.sign(x) * (np.arange(x.size) == abs(x).argmax()), 0 * u)),
    "steep": (lambda x, u: np.exp(x @ x) + u @ u, lambda x, u: (2 * x * np.exp(x @ x), 2 * u)),
    "unlike parts": (lambda x, u: 1e8 * x @ x + 1e-4 * u @ u, lambda x, u: (2e8 * x, 2e-4 * u)),
    "high above zero": (lambda x, u: 1e6 + x @ x + u @ u, lambda x, u: (2 * x, 2 * u)),
    "coupled": (
        lambda x, u: (x.sum() - u.sum()) ** 2,
        lambda x, u: (2 * (x.sum() - u.sum()) * ones(x), -2 * (x.sum() - u.sum()) * ones(u)),
    ),
    "single precision": (
        lambda x, u: float(np.float32(abs(x).sum() + 100 * u @ u)),
        lambda x, u: (np.sign(x).astype(np.float32), np.float32(200 * u)),
    ),
}


NOT_CONVEX: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "saddle": (lambda x, u: u @ u - x @ x, lambda x, u: (-2 * x, 2 * u)),
    "a little": (lambda x, u: x @ x - 1e-3 * u @ u, lambda x, u: (2 * x, -2e-3 * u)),
    "wave": (lambda x, u: np.cos(x).sum() + u @ u, lambda x, u: (-np.sin(x), 2 * u)),
    "product": (lambda x, u: x.sum() * u.sum(), lambda x, u: (u.sum() * ones(x), x.sum() * ones(u))),
    "roof": (lambda x, u: u @ u - abs(x).sum(), lambda x, u: (-np.sign(x), 2 * u)),
}


def agree(costs: CostSequence, expected: Sequence[Cost]) -> None:
    """Check a sequence against one cost a round: by its rounds, and by the data that compiled code reads."""
    assert len(costs) == len(expected)
    assert costs.data is not None
    rng = np.random.default_rng(5)
    for t, (cost, single) in enumerate(zip(costs, expected, strict=True)):
        x, u = rng.standard_normal(costs.state_dim or 3), rng.standard_normal(costs.input_dim or 2)
        value, *out = compiled_cost(costs.data, t, x, u)
        assert cost.value(x, u) == value == pytest.approx(single.value(x, u))
        for mine, compiled, theirs in zip(cost.gradient(x, u), out, single.gradient(x, u), strict=True):
            np.testing.assert_array_equal(mine, compiled)
            np.testing.assert_allclose(mine, theirs, rtol=1e-13)
