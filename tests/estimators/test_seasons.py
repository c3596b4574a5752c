"""Seasons: compiled and in NumPy, periods that are found, and what is forecast once they are known."""

import numpy as np
import pytest

import driftwise as dw
from driftwise._validate import Array
from driftwise.errors import ParameterError
from driftwise.estimators import EACH, SCORE, Kind, Season, Seen
from tests.cases import check_refused, every_pair
from tests.estimators.agreement import LEVELS, check_agrees, problem

SEASONS = {
    "naive": ("naive", 0.3),
    "adjusted": ("adjusted", 0.3),
    "profile": ("profile", 0.3),
    "slow": ("profile", 0.1),
}


@every_pair(name=SEASONS, kind=LEVELS, dim=[1, 3, 70], period=[2, 12, 100])
def test_compiled_seasons_are_the_ones_stated(name: str, kind: str, dim: int, period: int) -> None:
    check_agrees(Season(*SEASONS[name], period), *problem(kind, dim))


@every_pair(name=SEASONS, kind=LEVELS, dim=[1, 3])
def test_they_agree_while_they_look_for_a_period(name: str, kind: str, dim: int) -> None:
    check_agrees(Season(*SEASONS[name]), *problem(kind, dim))


def _levels(period: int, dim: int, rounds: int = 400) -> Array:
    rng = np.random.default_rng(period)
    shape = 2.0 * rng.permutation(np.linspace(-1.5, 1.5, period * dim)).reshape(period, dim)
    return np.asarray(5.0 + shape[np.arange(rounds) % period] + 0.3 * rng.standard_normal((rounds, dim)))


@every_pair(name=SEASONS, period=[2, 3, 7, 24], dim=[1, 3])
def test_they_agree_when_they_have_found_one(name: str, period: int, dim: int) -> None:
    check_agrees(
        Season(*SEASONS[name]), dw.Box(np.zeros(dim), np.full(dim, 10.0)), dw.TrackingLoss(_levels(period, dim))
    )


@pytest.mark.parametrize("period", [2, 3, 7, 24, 60])
@pytest.mark.parametrize("dim", [1, 3])
def test_the_period_that_is_found_is_the_true_one(period: int, dim: int) -> None:
    one, levels = Season("profile"), _levels(period, dim)
    one.begin(np.zeros(dim), dw.Box(np.zeros(dim), np.full(dim, 10.0)))
    errors = []
    for t, level in enumerate(levels):
        errors.append(one.propose() - level)
        one.learn(Seen.of_levels(t, level))
    assert one._found == period
    assert np.std(errors[200:]) < 0.5 < 1.0 < levels.std()


@pytest.mark.parametrize("period", [7, 12, 24, 52])
@pytest.mark.parametrize("noise", [0.3, 1.0])
def test_a_smooth_season_is_found_too(period: int, noise: float) -> None:
    """Its neighbours are nearly as good as the period itself."""
    rng, t = np.random.default_rng(period), np.arange(600)
    one = Season("profile")
    one.begin(np.zeros(1), dw.Box([-20.0], [20.0]))
    for now, level in enumerate(8.0 * np.sin(2.0 * np.pi * t / period) + noise * rng.standard_normal(600)):
        one.learn(Seen.of_levels(now, [level]))
    assert abs(one._found - period) <= (1 if period > 24 else 0)


@pytest.mark.parametrize("seed", range(8))
def test_they_agree_where_only_neighbours_are_alike(seed: int) -> None:
    rng, levels = np.random.default_rng(seed), np.zeros(64)
    for t in range(1, 64):
        levels[t] = 0.7 * levels[t - 1] + rng.standard_normal()
    check_agrees(Season(), dw.Box([-9.0], [9.0]), dw.TrackingLoss(levels[:, None]))


def test_in_a_walk_at_random_there_is_none() -> None:
    one = Season()
    one.begin(np.zeros(1), dw.Box([-9.0], [9.0]))
    for t, level in enumerate(np.cumsum(np.random.default_rng(0).standard_normal(500))):
        one.learn(Seen.of_levels(t, [level]))
        assert one.propose() == [level]


def test_the_three_forecasts_by_hand() -> None:
    levels = [1.0, 2.0, 3.0, 2.0, 3.0, 4.0]
    found = {}
    for how in ("naive", "adjusted", "profile"):
        one = Season(how, share=0.5, period=3)
        one.begin(np.zeros(1), dw.Box([0.0], [9.0]))
        for t, level in enumerate(levels):
            one.learn(Seen.of_levels(t, [level]))
        found[how] = float(one.propose()[0])
    # The last deviations from what was a period ago are 1, 1 and 1: phi is 1. The first phase is 1 + 0.5 (2 - 1).
    assert found == pytest.approx({"naive": 2.0, "adjusted": 3.0, "profile": 2.5})


def test_seasons_with_and_without_a_period_go_into_one_pool() -> None:
    """The longest lag that is looked for may be given as a period, too: they are not one family."""
    first, second, third = Season(), Season(period=400), Season("profile", period=400)
    kind = Kind(EACH, 1, 1.0)
    assert second.family(kind) is third.family(kind)
    assert first.family(kind) is not second.family(kind)


def test_what_they_are_for_and_what_they_refuse() -> None:
    assert Season().suits(Kind(EACH, 64))
    assert Season(period=7).suits(Kind(EACH, 1000))
    assert not Season().suits(Kind(EACH, 65))
    assert not Season(period=7).suits(Kind(SCORE, 1))
    check_refused(lambda: Season("yearly"), "Season: how must be one of", kind=ParameterError)
    check_refused(lambda: Season(period=1), "Season: period must be", "at least 2", kind=ParameterError)
    check_refused(lambda: Season("profile", 0.0), "Season: share must be", kind=ParameterError)
