"""Smoothing and normalised steps: compiled and in NumPy, and against sums done by hand."""

import numpy as np
import pytest

import driftwise as dw
from driftwise.estimators import Seen, Smoothing
from tests.cases import every_pair
from tests.estimators.agreement import DIMS, LEVELS, SCORES, check_agrees, problem

SMOOTHERS = {
    "last value": Smoothing(1.0),
    "usual": Smoothing(),
    "slow": Smoothing(0.03),
    "by own": Smoothing(0.3, True),
}


@every_pair(name=SMOOTHERS, kind=(*SCORES, *LEVELS), dim=DIMS)
def test_compiled_smoothing_is_the_one_stated(name: str, kind: str, dim: int) -> None:
    check_agrees(SMOOTHERS[name], *problem(kind, dim))


@pytest.mark.parametrize("name", SMOOTHERS)
@pytest.mark.parametrize("domain", [dw.Simplex(4), dw.Product(dw.Ball(2), dw.Simplex(2))], ids=repr)
def test_they_agree_where_steps_end_on_the_border(name: str, domain: dw.Domain) -> None:
    check_agrees(SMOOTHERS[name], domain, problem("squared", 4)[1])


def test_the_first_rounds_are_a_mean() -> None:
    one = Smoothing(0.25)
    one.begin(np.array([99.0]), dw.Box([0.0], [99.0]))
    for t, level in enumerate([3.0, 5.0, 10.0, 2.0]):
        one.learn(Seen.of_levels(t, [level]))
    assert one.propose()[0] == pytest.approx(5.0)
    one.learn(Seen.of_levels(4, [9.0]))
    assert one.propose()[0] == pytest.approx(6.0)


def test_a_step_of_the_whole_share_is_right_about_the_round() -> None:
    one, x = Smoothing(1.0), np.array([2.0, -1.0, 0.5])
    one.begin(np.zeros(3), dw.Ball(3, radius=9.0))
    one.learn(Seen.of_score(0, x, 4.0, scales=x**2))
    weights = one.propose()
    assert weights @ x == pytest.approx(4.0)
    np.testing.assert_allclose(weights, 4.0 * x / (x @ x))


def test_scaled_steps_do_not_care_about_units() -> None:
    x, units = np.array([[2.0, -1.0], [1.0, 1.0], [0.5, 3.0]]), np.array([1.0, 100.0])
    ends = []
    for rows in (x, x * units):
        one = Smoothing(0.5, scaled=True)
        one.begin(np.zeros(2), dw.Ball(2, radius=1e6))
        for t, row in enumerate(rows):
            one.learn(Seen.of_score(t, row, 1.0, scales=(rows[: t + 1] ** 2).mean(axis=0)))
        ends.append(one.propose())
    np.testing.assert_allclose(ends[1] * units, ends[0])
