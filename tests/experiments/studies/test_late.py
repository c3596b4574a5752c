"""What a delay costs: who is told what and when, and what is concluded."""

from typing import Any

import numpy as np
import pytest

import driftwise as dw
from driftwise.experiments.studies.figure1 import ALPHAS
from driftwise.experiments.studies.late import (
    DELAYS,
    FASTER,
    GRADIENTS,
    PLAYERS,
    STUDY,
    TEAM,
    WINDOW,
    Team,
    decisions,
    overall,
)
from driftwise.experiments.studies.study import FULL, Size

SEEDS = (1, 2)
TASKS = [(name, a, d, 10, seed) for name in PLAYERS for a in ALPHAS for d in DELAYS for seed in SEEDS]


def results(change: Any = None) -> list[dict[str, Any]]:
    """Return results with which every claim holds, but for what `change` says of a task."""
    found = []
    for name, alpha, delay, rounds, seed in TASKS:
        times = 1.2 if (name, alpha) in FASTER else 0.9
        one = {"regret": 5.0 * (times * np.sqrt(1.0 + delay) if delay else 1.0), "same": rounds if delay == 0 else 0}
        found.append(one | ((change and change(name, alpha, delay, seed)) or {}))
    return found


def verdicts(change: Any = None) -> dict[str, bool | None]:
    return {claim.text: claim.holds for claim in STUDY.conclude(TASKS, results(change)).claims}


def test_all_claims_may_hold() -> None:
    found = verdicts()
    assert len(found) == 1 + len(PLAYERS) + len(FASTER)
    assert all(found.values())


@pytest.mark.parametrize("name", PLAYERS)
@pytest.mark.parametrize("alpha", ALPHAS)
def test_one_delay_on_one_seed_decides_about_growth(name: str, alpha: float) -> None:
    """Regret that grows too fast breaks the claim of its learner; where it is said to, regret that does not."""
    slow = (name, alpha) in FASTER

    def change(who: str, price: float, delay: int, seed: int) -> dict[str, float] | None:
        if (who, price, seed) != (name, alpha, 2) or delay == 0:
            return None
        if slow:
            return {"regret": 4.99 * np.sqrt(1.0 + delay)}
        return {"regret": 5.01 * np.sqrt(1.0 + delay)} if delay == 16 else None

    broken = [text for text, holds in verdicts(change).items() if not holds]
    assert len(broken) == 1
    assert broken[0].startswith(f"{name}, alpha ")
    assert (f"alpha {alpha:g}: regret grows faster" in broken[0]) == slow


def test_one_round_decides_about_the_window() -> None:
    broken = verdicts(lambda name, alpha, delay, seed: {"same": 9} if (name, delay, seed) == (TEAM, 0, 1) else None)
    assert [text for text, holds in broken.items() if not holds] == [
        f"With feedback on time, decisions with late={WINDOW} are those with late=0, to the bit"
    ]


def test_the_tables_and_the_summary_have_the_means() -> None:
    def change(name: str, alpha: float, delay: int, seed: int) -> dict[str, float] | None:
        return {"regret": 10.0 * seed if delay else 5.0} if (name, alpha) == ("OGD", 1.0) else None

    finding = STUDY.conclude(TASKS, results(change))
    table = finding.tables[ALPHAS.index(1.0)]
    assert table.rows[0] == ["OGD", "5 (1.00)", *["15 (3.00)"] * (len(DELAYS) - 1)]
    assert table.rows[-1][-1] == "(8.06)"
    assert "makes regret 3.00 (OGD) to 7.26 (Scream)" in finding.bullets[ALPHAS.index(1.0)]
    assert finding.bullets[ALPHAS.index(1.0)].endswith("the smallest is then that of OGD, 15.")
    assert [len(panel.series) for panel in finding.panels] == [len(PLAYERS) + 1] * len(ALPHAS)


@pytest.mark.parametrize("delay", [0, 3])
def test_feedback_comes_so_many_rounds_late_and_is_about_its_round(delay: int) -> None:
    losses = dw.streams.drifting_regression(12, 2, 5, seed=1)
    seen: list[tuple[int, int]] = []

    class Spy:
        now = -1

        def act(self) -> Any:
            self.now += 1
            return np.full(2, 0.1 * self.now)

        def skip(self) -> None:
            seen.append((self.now, -1))

        def observe(self, feedback: Any, round: int | None = None) -> None:
            assert round is not None
            np.testing.assert_allclose(feedback, losses.gradient(round, np.full(2, 0.1 * round)))
            seen.append((self.now, round))

    decisions(Spy(), losses, delay, gradients=True)
    assert [one for one in seen if one[1] >= 0] == [(t, t - delay) for t in range(delay, 12)]
    assert sum(k < 0 for _, k in seen) == (12 if delay else 0)


def test_cost_is_that_of_play() -> None:
    losses = dw.streams.drifting_regression(200, 3, 50, seed=1)
    learner = dw.SelfTunedScream(losses.domain, switching_cost=0.5, late=9)
    trace = dw.play(learner.clone(), losses, 0.5)
    assert overall(losses, 0.5, decisions(learner, losses, 0)) == pytest.approx(trace.total, rel=1e-9)


def test_the_team_is_its_members_mixed() -> None:
    losses = dw.streams.drifting_regression(60, 3, 20, seed=1)
    team = Team(losses.domain, 1.0, late=5)
    path = decisions(team, losses, 5)
    alone = [decisions(type(one)(losses.domain, step=one.step, late=5), losses, 5) for one in team.members]  # type: ignore[attr-defined]
    assert team.committee.skipped == 5
    assert all((np.min(alone, axis=0) - 1e-12 <= path).ravel())
    assert all((path <= np.max(alone, axis=0) + 1e-12).ravel())


@pytest.mark.parametrize("name", PLAYERS)
def test_a_run_has_regret_and_the_rounds_that_are_the_same(name: str) -> None:
    on_time, late = (STUDY.run(name, 1.0, delay, 120, 0) for delay in (0, 8))
    assert (on_time["same"], late["same"]) == (120, 0)
    assert late["regret"] != on_time["regret"]


def test_the_sizes() -> None:
    quick, full = STUDY.tasks(Size(quick=True)), STUDY.tasks(FULL)
    assert {name for name, *_ in quick} == {name for name, *_ in full} == {*PLAYERS, GRADIENTS, TEAM}
    assert len(full) == len(PLAYERS) * len(ALPHAS) * len(DELAYS) * 3
    assert len(quick) == len(PLAYERS) * len(DELAYS)
