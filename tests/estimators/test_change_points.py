"""Change points: compiled and in NumPy, what they say of a jump, and the movers that go with them."""

import pytest

import driftwise as dw
from driftwise.estimators import ChangePoints, Kind
from driftwise.pairs.layout import EACH, GRADIENT, SCORE
from tests.cases import every_pair, squared
from tests.estimators.agreement import SCORES, check_agrees, problem


@every_pair(kind=SCORES, dim=[1, 3])
def test_compiled_change_points_are_the_ones_stated(kind: str, dim: int) -> None:
    check_agrees(ChangePoints(), *problem(kind, dim))


@pytest.mark.parametrize("kind", ["tracking", "capacity"])
def test_they_agree_on_a_level(kind: str) -> None:
    check_agrees(ChangePoints(), *problem(kind, 1))


@every_pair(reach=[0.5, 1 / 16], dim=[1, 3])
def test_they_agree_where_only_gradients_are_known(reach: float, dim: int) -> None:
    check_agrees(ChangePoints(reach), *problem("linear", dim))


@pytest.mark.parametrize("kind", ["squared", "linear"])
def test_they_agree_on_a_simplex(kind: str) -> None:
    one = ChangePoints(0.5) if kind == "linear" else ChangePoints()
    check_agrees(one, dw.Simplex(4, scale=2.0), problem(kind, 4)[1])


def test_they_agree_over_many_changes() -> None:
    check_agrees(ChangePoints(), dw.Ball(5), squared(5, 600))


def test_what_they_are_for() -> None:
    plain, guessing = ChangePoints(), ChangePoints(0.5)
    assert plain.suits(Kind(SCORE, 64))
    assert plain.suits(Kind(EACH, 1))
    assert guessing.suits(Kind(GRADIENT, 3))
    assert not any(plain.suits(kind) for kind in (Kind(SCORE, 65), Kind(EACH, 2), Kind(GRADIENT, 3)))
    assert not any(guessing.suits(kind) for kind in (Kind(SCORE, 3), Kind(EACH, 1), Kind(GRADIENT, 65)))
    assert plain.name != guessing.name


def test_their_movers_wait() -> None:
    ways = ChangePoints().ways(Kind(SCORE, 2))
    assert [way.waits for way in ways] == [True, False] * 4
    assert {way.tau for way in ways} == {0.0, 64.0, 256.0, 1024.0}
