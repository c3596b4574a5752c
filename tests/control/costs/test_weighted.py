"""What absolute and Huber costs share: how weights are read, kept and read back."""

import math
from typing import Any

import numpy as np
import pytest

from driftwise.control.costs import AbsoluteCost, CostSequence, HuberCost
from driftwise.control.costs.weighted import WeightedCost
from driftwise.errors import InputError, ParameterError
from tests.cases import check_refused

KINDS: dict[str, Any] = {"AbsoluteCost": AbsoluteCost, "HuberCost": HuberCost}


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())
def test_weights_are_copied_and_can_be_read_back(kind: Any) -> None:
    given = np.array([1.0, 2.0, 0.0])
    cost = kind(given, 3)
    given[:] = 9.0
    assert isinstance(cost, WeightedCost)
    np.testing.assert_array_equal(cost.state_weights, [1.0, 2.0, 0.0])
    np.testing.assert_array_equal(cost.input_weights, [3.0])
    assert (cost.state_dim, cost.input_dim) == (3, None)


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())
def test_weights_of_a_round_include_its_factors(kind: Any) -> None:
    costs = CostSequence.scaled(kind([1.0, 2.0], [3.0]), [1.0, 0.5], [2.0, 0.0])
    later = costs[1]
    assert isinstance(later, kind)
    np.testing.assert_array_equal(later.state_weights, [0.5, 1.0])
    np.testing.assert_array_equal(later.input_weights, [0.0])


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize(
    ("weights", "words", "error"),
    [
        ((-1.0, 1.0), ("state_weights", "-1 at [0]"), ParameterError),
        (([0.0, 0.0, -2.0], 1.0), ("state_weights", "-2 at [2]"), ParameterError),
        ((1.0, [1.0, -0.5]), ("input_weights", "-0.5 at [1]"), ParameterError),
        ((1.0, [math.nan]), ("input_weights", "nan"), InputError),
        (([[1.0, 2.0]], 1.0), ("state_weights", "(weights,)"), InputError),
        (([], 1.0), ("state_weights",), InputError),
        (("heavy", 1.0), ("state_weights",), InputError),
    ],
)
def test_bad_weights_are_refused(name: str, weights: Any, words: tuple[str, ...], error: type[Exception]) -> None:
    check_refused(lambda: KINDS[name](*weights), f"{name}: ", *words, kind=error)
