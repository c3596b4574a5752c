"""Everyone on a file: the books are the library's, and settings are picked by what they cost."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import driftwise as dw
from driftwise.errors import ParameterError
from driftwise.experiments.comparison import CONTENDERS, ours
from driftwise.experiments.comparison.decisions.contest import LEARNERS, Comparison, choose, hold_contest
from driftwise.experiments.comparison.decisions.problem import Problem
from driftwise.experiments.contests.outcome import HINDSIGHT, MINE, OURS, RULE
from tests.experiments.comparison.decisions.players import Replay, optimum, problem, steps

SERIES = steps()
COLUMNS = {"load": SERIES, "held": np.repeat([25.0, 40.0], 30), "plan": SERIES + 1.0}
PRICE = dw.MoveCost(up=6.0, down=0.5)


def hold(played: Problem, hindsight: bool = True) -> Comparison:
    return hold_contest(played, list(LEARNERS), hindsight, lambda text: None)


def test_the_books_are_those_of_the_library(tmp_path: Path) -> None:
    played = problem(tmp_path, "capacity", COLUMNS, PRICE, mine="held", shortage=5.0)
    held = hold(played)
    losses = dw.CapacityLoss(SERIES, shortage=5.0)
    mine = held.mine
    assert mine is not None
    assert mine.total_running == pytest.approx(float(losses.policy_losses(COLUMNS["held"][:, None]).sum()))
    assert (mine.total_moving, mine.moves) == (90.0, 1)
    domain, told = played.domain, dict[str, Any](switching_cost=PRICE, start=[25.0])
    for label, learner in {
        "Self-tuned learner": dw.SelfTunedLearner(domain, **told),
        "Self-tuned Scream": dw.SelfTunedScream(domain, **told),
    }.items():
        trace = dw.play(learner, losses, PRICE)
        assert held[label].overall == pytest.approx(trace.total)
        assert held[label].total_moving == pytest.approx(trace.total_switching)
    best = dw.regret.hindsight_optimum(losses, domain, PRICE)
    assert held.optimum is not None
    assert held.optimum.overall == pytest.approx(best.total)
    assert held.fixed.decisions is not None
    assert held.fixed.decisions[0] == pytest.approx(dw.regret.best_fixed(losses, domain))
    assert held.ours is held["Self-tuned learner"]
    kinds = [one.kind for one in held.outcomes]
    assert kinds == sorted(kinds, key=(MINE, OURS, RULE, HINDSIGHT).index)
    assert all(one.overall >= held.optimum.overall * (1.0 - 1e-9) for one in held.outcomes)


@pytest.mark.parametrize("kind", ["level", "capacity"])
def test_a_tuned_rule_is_the_best_of_its_settings(tmp_path: Path, kind: str) -> None:
    options = {"shortage": 5.0} if kind == "capacity" else {}
    held = hold(problem(tmp_path, kind, COLUMNS, PRICE, **options))
    assert held.tuned
    for rule in held.rules:
        if len(rule.settings) > 1:
            tried = {
                name: float((held.problem.losses.policy_losses(rows) + PRICE.along(rows)).sum())
                for name, rows in rule.settings.items()
            }
            assert held[rule.tuned].overall == pytest.approx(min(tried.values()))
            assert tried[held.picked[rule.tuned]] == min(tried.values())
            assert held[rule.tuned].overall <= held[rule.usual].overall


def test_ours_is_given_the_forecasts_and_scream_is_not(tmp_path: Path) -> None:
    plan = {"load": SERIES, "plan": SERIES}  # a forecast that is always right
    with_it, without = (hold(problem(tmp_path, "level", plan, 0.1, forecasts=given)) for given in (["plan"], []))
    assert with_it.ours.overall < without.ours.overall
    assert with_it["Self-tuned Scream"].overall == without["Self-tuned Scream"].overall
    assert with_it["Forecast 'plan'"].total_running == 0.0


def test_whole_numbers(tmp_path: Path) -> None:
    held = hold(problem(tmp_path, "capacity", COLUMNS, PRICE, mine="held", shortage=5.0, whole=True))
    for one in held.outcomes:
        assert one.decisions is not None
        assert np.array_equal(one.decisions, np.rint(one.decisions)), one.label
        assert held.optimum is not None
        assert one.overall >= held.optimum.overall
    tried = dw.CapacityLoss(SERIES, shortage=5.0)
    costs = [float(tried.unary_losses([[level]]).sum()) for level in np.arange(0.0, 80.0)]
    assert held.fixed.overall == pytest.approx(min(costs))


def test_weights(tmp_path: Path) -> None:
    table = {"y": SERIES, "a": SERIES + 1.0, "b": SERIES - 3.0, "used": ["a"] * 30 + ["b"] * 30}
    held = hold(problem(tmp_path, "forecasts", table, 2.0, mine="used"))
    assert held.mine is not None
    assert held.mine.total_moving == pytest.approx(2.0 * np.sqrt(2.0))
    assert held.fixed.label == "Best fixed weights"
    assert held.picked["One forecast for all rows"] == "'a'"
    numbers = hold(problem(tmp_path, "forecasts", table | {"used": SERIES}, 2.0, mine="used"))
    assert numbers.mine is not None
    assert (numbers.mine.overall, numbers.mine.decisions) == (0.0, None)


def test_without_hindsight_the_cheapest_choice_of_it_is_the_yardstick(tmp_path: Path) -> None:
    held = hold(problem(tmp_path, "level", COLUMNS), hindsight=False)
    assert held.optimum is None
    assert held.multiple(held.of(HINDSIGHT)[0]) == 1.0


def test_who_plays() -> None:
    assert choose(None, CONTENDERS) == ["learner", "selftuned"]
    assert choose(["selftuned", "selftuned"], CONTENDERS) == ["selftuned"]
    assert choose("learner", CONTENDERS) == ["learner"]
    assert [CONTENDERS[name].label for name in LEARNERS] == [label for label, _ in LEARNERS.values()]
    with pytest.raises(
        ParameterError, match=r"the learner 'ogd' plays --problem regression only, .* from learner, self"
    ):
        choose(["ogd"], CONTENDERS)
    with pytest.raises(ParameterError, match="no learner 'lerner'; did you mean learner"):
        choose(["lerner"], CONTENDERS)


def test_one_learner_alone_is_what_it_is_about(tmp_path: Path) -> None:
    held = hold_contest(problem(tmp_path, "level", COLUMNS), ["selftuned"], True, lambda text: None)
    assert held.ours.label == "Self-tuned Scream"
    assert len(held.of(OURS)) == 1


def test_a_stand_in_is_played_in_place_of_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    played = problem(tmp_path, "level", COLUMNS)
    rows = optimum(played)
    monkeypatch.setattr(ours, "build", lambda domain, *told: Replay(domain, rows))
    held = hold(played)
    assert held.optimum is not None
    assert held.ours.overall == pytest.approx(held.optimum.overall)
