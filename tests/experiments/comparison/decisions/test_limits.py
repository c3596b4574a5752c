"""Limits of decisions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftwise.errors import InputError, ParameterError
from driftwise.experiments.comparison.decisions.limits import limits

VALUES = st.lists(st.floats(-1e12, 1e12), min_size=1, max_size=5)


@given(VALUES, st.booleans(), st.booleans())
def test_everything_that_was_seen_is_inside_with_room_above(seen: list[float], capacity: bool, whole: bool) -> None:
    values = np.array(seen)
    low, high = limits(values, None, None, floor=min(0.0, values.min()) if capacity else None, whole=whole)
    assert low <= values.min()
    assert high > values.max()
    if capacity and values.min() >= 0.0:
        assert low == 0.0
    if whole:
        assert (low, high) == (np.floor(low), np.ceil(high))
    if values.min() >= 0.0:
        assert low >= 0.0


@pytest.mark.parametrize(
    ("seen", "expected"),
    [([5.0], (2.5, 7.5)), ([0.0], (0.0, 0.5)), ([-3.0, 1.0], (-5.0, 3.0)), ([1e-6, 3e-6], (0.0, 4e-6))],
)
def test_round_figures(seen: list[float], expected: tuple[float, float]) -> None:
    assert limits(np.array(seen), None, None, floor=None, whole=False) == expected


def test_what_is_chosen_is_taken_as_it_is() -> None:
    assert limits(np.array([3.0, 8.0]), 1.23, 4.56, floor=0.0, whole=False) == (1.23, 4.56)
    assert limits(np.array([3.0, 8.0]), None, 100.0, floor=0.0, whole=False) == (0.0, 100.0)
    with pytest.raises(ParameterError, match="--low must be below --high, got 20 and 12"):
        limits(np.array([3.0, 8.0]), 20.0, None, floor=0.0, whole=False)
    with pytest.raises(ParameterError, match="compare: high must be a number"):
        limits(np.array([3.0, 8.0]), 0.0, float("nan"), floor=0.0, whole=False)


def test_values_that_cannot_be_squared_are_refused() -> None:
    with pytest.raises(InputError, match=r"as large as 1e\+60 are beyond computing; use a larger unit"):
        limits(np.array([1.0, 1e60]), None, None, floor=None, whole=False)
