"""Numbers as they are said."""

import math

from driftwise.experiments.contests.words import beside, joined, more, times


def test_by_how_much_a_cost_is_above_another() -> None:
    assert more(1.0001, 1.0) == "less than 0.1 % more"
    assert more(1.5, 1.0) == "50 % more"
    assert more(2.0, 1.0) == "2 times as much"
    assert more(0.0, 0.0) == "the same"
    assert more(3.0, 0.0) == "3"


def test_how_a_cost_stands_to_another() -> None:
    assert [beside(cost, 2.0) for cost in (1.0, 2.0, 3.0, 5.0)] == [
        "50 % less",
        "the same",
        "50 % more",
        "2.5 times as much",
    ]
    assert beside(-1.0, 0.0) == "1 less"


def test_large_multiples_have_no_exponent_and_missing_ones_are_a_dash() -> None:
    assert [times(value) for value in (1.0, 999.0, 123456.0, math.nan)] == ["1", "999", "123456", "-"]


def test_enumerations() -> None:
    assert [joined(["a", "b", "c"][:k]) for k in (1, 2, 3)] == ["a", "a and b", "a, b and c"]
