"""What the learner should not mind."""

import numpy as np
import pytest

import driftwise as dw
from driftwise.experiments.studies.decisions import robustness
from driftwise.experiments.studies.decisions.data.streams import EVERY, HELD_OUT
from driftwise.experiments.studies.decisions.robustness import CHANGES, STUDY
from driftwise.experiments.studies.study import Size


@pytest.mark.usefixtures("stand_ins")
@pytest.mark.parametrize("broken", CHANGES)
def test_each_claim_can_fail_by_itself(broken: str) -> None:
    tasks = STUDY.tasks(Size())
    above = CHANGES[broken].limit + 0.01
    results = [
        {"after": above if (name, change) == (next(iter(HELD_OUT)), broken) else 1.0, "before": 1.0}
        for name, change, *_ in tasks
    ]
    finding = STUDY.conclude(tasks, results)
    assert [claim.holds for claim in finding.claims] == [change != broken for change in CHANGES]
    assert f"1 are exceeded on a held-out stream: {broken}." in finding.summary
    assert len(finding.tables[0].rows) == len(EVERY)


@pytest.mark.usefixtures("stand_ins")
def test_design_streams_decide_nothing() -> None:
    tasks = STUDY.tasks(Size())
    results = [{"after": 1.0 if task[0] in HELD_OUT else 9.0, "before": 1.0} for task in tasks]
    finding = STUDY.conclude(tasks, results)
    assert all(claim.holds for claim in finding.claims)
    assert f"{len(CHANGES)} of {len(CHANGES)} limits hold" in finding.summary


@pytest.mark.usefixtures("river_only")
def test_with_river_alone_it_runs_and_claims_nothing() -> None:
    tasks = [(name, change, 160, seed) for name, change, _, seed in STUDY.tasks(Size(True))]
    assert {name for name, *_ in tasks} == {"approval from five polls"}
    results = [STUDY.run(*task) for task in tasks]
    assert all(np.isfinite(list(result.values())).all() for result in results)
    assert all(claim.holds is None for claim in STUDY.conclude(tasks, results).claims)


def test_a_glitch_is_one_target_and_its_own_loss_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """A learner that never learns is not disturbed: it costs the same with the glitch and without."""
    monkeypatch.setattr(robustness, "ours", lambda domain, price: dw.OGD(domain, step=1e-12))
    for change in CHANGES:
        if "target" in change:
            result = robustness.run("water flow", change, 200, 0)
            assert result["after"] == pytest.approx(result["before"])
