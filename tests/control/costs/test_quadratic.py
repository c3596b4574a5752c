"""Quadratic costs: forms of weights, and convexity."""

import numpy as np
import pytest

from driftwise.control.costs import (
    QuadraticCost,
)
from driftwise.errors import ParameterError
from tests.cases import check_refused
from tests.control.costs.cases import Q


def test_forms_of_quadratic_weights() -> None:
    cost = QuadraticCost(Q, [1.0, 2.0])
    np.testing.assert_array_equal(cost.Q, 0.5 * (Q + Q.T))
    np.testing.assert_array_equal(cost.R, np.diag([1.0, 2.0]))
    single = QuadraticCost(2.0, 3)
    assert (single.state_dim, single.input_dim) == (None, None)
    assert single.value([2.0], [1.0]) == 11.0
    assert single.value([1.0, -2.0], [1.0]) == 13.0
    assert [part.tolist() for part in single.gradient([1.0, -2.0], [1.0])] == [[4.0, -8.0], [6.0]]
    given = np.eye(2)
    kept = QuadraticCost(given, given[0])
    given[:] = 7.0
    np.testing.assert_array_equal(kept.Q, np.eye(2))


def test_convexity_of_quadratic_costs_up_to_rounding() -> None:
    vector = np.array([1.0, 3.0, 7.0]) / 3.0
    QuadraticCost(np.outer(vector, vector), 0.0)
    QuadraticCost([1.0, -0.9e-12], 1.0)
    check_refused(lambda: QuadraticCost([1.0, -1.1e-12], 1.0), "-1.1e-12", kind=ParameterError)
    with pytest.warns(UserWarning, match=r"eigenvalue -1\b.*No guarantee"):
        cost = QuadraticCost([1.0, -1.0], 1.0, if_not_convex="warn")
    assert cost.value([0.0, 2.0], [0.0]) == -4.0
