"""The statement of change points: likelihoods against scipy's, and what becomes of hypotheses after a jump."""

import numpy as np
import pytest
from scipy import special, stats

import driftwise as dw
from driftwise.estimators import Seen
from driftwise.estimators.hypotheses import HYPOTHESES, Hypotheses, Hypothesis, log_ratio


@pytest.mark.parametrize("a", [1.0, 1.5, 7.9, 8.0, 40.0, 250.0])
def test_the_series_of_the_gamma_function_is_close(a: float) -> None:
    assert log_ratio(a) == pytest.approx(special.gammaln(a + 0.5) - special.gammaln(a), abs=1e-7)


def test_a_hypothesis_is_weighed_by_student_s_distribution() -> None:
    one = Hypothesis(0, 0.0, np.zeros(1), np.eye(1), a=2.5, b=3.0)
    one.learn(np.array([0.5]), 1.5, 0.8)
    scale = np.sqrt(3.0 * 1.5 / 2.5)
    assert one.log == pytest.approx(stats.t.logpdf(0.8, df=5.0, scale=scale), abs=1e-6)
    assert one.a == 3.0
    assert one.b == pytest.approx(3.0 + 0.8**2 / 3.0)


def test_a_jump_is_noticed_and_counted() -> None:
    rng = np.random.default_rng(1)
    some = Hypotheses(None, np.zeros(1), dw.Box([-9.0], [9.0]))
    levels = np.repeat([1.0, 5.0, -2.0], 60) + 0.1 * rng.standard_normal(180)
    for t, level in enumerate(levels):
        some.learn(Seen.of_levels(t, [level]))
        if t % 60 == 5 and t > 60:
            assert abs(some.mean[0] - levels[t - 5 : t + 1].mean()) < 0.2
    assert len(some.all) == HYPOTHESES
    assert some.changes >= 2
    assert np.sqrt(some.noise) == pytest.approx(0.1, rel=0.5)
    assert sum(np.exp(one.log) for one in some.all) == pytest.approx(1.0)


def test_without_a_jump_it_remembers_everything() -> None:
    rng = np.random.default_rng(2)
    levels = 3.0 + rng.standard_normal(300)
    some = Hypotheses(None, np.zeros(1), dw.Box([-9.0], [9.0]))
    for t, level in enumerate(levels):
        some.learn(Seen.of_levels(t, [level]))
    assert some.mean[0] == pytest.approx(levels.mean(), abs=0.05)


def test_before_anything_was_seen_it_stays() -> None:
    assert Hypotheses(None, np.array([2.0]), dw.Box([0.0], [9.0])).mean == [2.0]
