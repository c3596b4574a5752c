"""The estimators of a self-tuned learner: which there are for which losses, and that no two have one name."""

import pytest

from driftwise import estimators
from driftwise.estimators import EACH, GRADIENT, SCORE, Estimator, Kind

KINDS = {
    "regression": Kind(SCORE, 10, 1.0, shifted=True),
    "wide": Kind(SCORE, 65, 1.0, shifted=True),
    "level": Kind(EACH, 1, 1.0, shifted=True),
    "levels": Kind(EACH, 48, 1.0, shifted=True),
    "many levels": Kind(EACH, 65, 1.0, shifted=True),
    "gradients": Kind(GRADIENT, 10),
}


def _suited(kind: str, period: int | None = None) -> list[Estimator]:
    return [one for one in estimators.default(period) if one.suits(KINDS[kind])]


@pytest.mark.parametrize("kind", KINDS)
def test_names_are_different(kind: str) -> None:
    names = [one.name for one in _suited(kind)]
    assert len(set(names)) == len(names)
    assert "Scream" in names


def test_who_is_for_what() -> None:
    has = {kind: {type(one).__name__ for one in _suited(kind)} for kind in KINDS}
    both = {"RecursiveLeastSquares", "Kalman", "Smoothing", "Trend", "SelfTunedScream"}
    assert has["regression"] == both | {"ChangePoints"}
    assert has["wide"] == both
    assert has["level"] == both | {"ChangePoints", "Season"}
    assert has["levels"] == both | {"Season"}
    assert has["many levels"] == both
    assert has["gradients"] == {"Newton", "ChangePoints", "SelfTunedScream"}
    assert "Season" in {type(one).__name__ for one in _suited("many levels", period=24)}


def test_a_period_is_passed_on() -> None:
    assert {getattr(one, "period", 24) for one in estimators.default(24)} == {24}
