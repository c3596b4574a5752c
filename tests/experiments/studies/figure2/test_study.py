"""Figure 2: four readings, three environments, and claims that may fail."""

from typing import Any

import numpy as np
import pytest

from driftwise.experiments.findings.finding import Finding
from driftwise.experiments.studies.figure2 import study
from driftwise.experiments.studies.figure2.environments import NAMES
from driftwise.experiments.studies.figure2.runs import LEARNERS, REFERENCES, STAGED
from driftwise.experiments.studies.figure2.study import CORRELATED, MEASURED, READINGS, STUDY, TUNED, ZERO
from driftwise.experiments.studies.study import Arguments, Size
from tests.experiments.claims import found


@pytest.fixture(scope="module", params=[True, pytest.param(False, marks=pytest.mark.full)])
def finding(request: pytest.FixtureRequest) -> Finding:
    with pytest.MonkeyPatch.context() as patch:
        if request.param:
            patch.setattr(study, "ROUNDS", 2500)
        return found(STUDY, Size(quick=request.param, seeds=range(1 if request.param else 5)))


def ratios(finding: Finding, reading: str, name: str) -> dict[str, float]:
    """Return the total costs over LQR's, from the table."""
    table = finding.tables[list(READINGS).index(reading)]
    column = table.header.index(name)
    return {row[0]: float(row[column].split("(")[1].rstrip(")")) for row in table.rows}


def test_every_panel_has_the_learners_and_the_references(finding: Finding) -> None:
    assert len(finding.panels) == 3 + 3 * len(READINGS)
    for panel in finding.panels[:3]:
        assert [series.name for series in panel.series] == list(LEARNERS)
    for panel in finding.panels[3:]:
        assert [series.name for series in panel.series] == [*LEARNERS, *REFERENCES]
        assert all(np.isfinite(series.y).all() for series in panel.series)


@pytest.mark.parametrize("name", NAMES)
def test_what_the_design_expects_is_found(finding: Finding, name: str) -> None:
    zero = ratios(finding, ZERO, name)
    assert max(zero[learner] for learner in LEARNERS) <= 1.006 * min(zero[learner] for learner in LEARNERS)
    measured = ratios(finding, MEASURED, name)
    assert measured["Scream"] < measured["Ader"]
    assert ratios(finding, TUNED, name)["Scream"] < ratios(finding, TUNED, name)["Ader"]
    assert ratios(finding, TUNED, name)["Scream"] > 1.0  # nobody who starts at random beats LQR here
    assert ratios(finding, CORRELATED, name)["Scream"] < 0.8
    assert measured[STAGED] < 1.001


def test_every_claim_is_printed_whether_it_holds_or_not(finding: Finding) -> None:
    assert len(finding.claims) == 24
    assert sum(claim.paper for claim in finding.claims) == 6
    assert all(claim.holds for claim in finding.claims if claim.text.endswith("Scream below LQR"))


def conclude(**costs: float) -> Finding:
    """Conclude from costs of our own: of a learner when tuned and when not, and of the references."""
    tasks = STUDY.tasks(Size(quick=True, seeds=[0]))

    def result(task: Arguments) -> dict[str, Any]:
        _, _, controller, _, factor, _, _ = task
        if controller not in LEARNERS:
            total = costs["reference"]
        else:
            total = costs["measured"] if factor is None else costs["tuned"] + abs(factor - 4.0)
        return {"total": total * costs.get(controller, 1.0), "cost": np.full(200, total)}

    return STUDY.conclude(tasks, [result(task) for task in tasks])


def test_of_a_grid_the_best_counts_seed_by_seed() -> None:
    finding = conclude(reference=10.0, measured=10.0, tuned=20.0, Ader=2.0)
    tuned = ratios(finding, TUNED, NAMES[0])
    assert tuned["Scream"] == 2.0
    assert tuned["Ader"] == 4.0
    verdicts = {claim.text: claim.holds for claim in finding.claims}
    assert verdicts[f"{NAMES[0]}, {TUNED}: Scream below Ader"] is True
    assert verdicts[f"{NAMES[0]}, {TUNED}: Scream below OGD"] is False  # level is not below
    assert verdicts[f"{NAMES[0]}, {ZERO}: all three within 0.5 % of each other"] is False
    assert verdicts[f"{NAMES[0]}, {CORRELATED}: Scream below LQR"] is False
    choices = finding.tables[-1].rows
    assert {row[1] for row in choices} == {"4"}


def test_the_summary_says_what_the_numbers_say() -> None:
    worse = str(conclude(reference=10.0, measured=12.0, tuned=20.0).summary)
    assert "and the plain gain of LQR is cheaper than all of them: Scream is at +100.0% / +100.0% / +100.0%" in worse
    assert "learning can pay" not in worse
    assert "the best that 0 of 9 runs can do is hardly to learn" in worse
    better = str(conclude(reference=10.0, measured=5.0, tuned=8.0).summary)
    assert "cheaper than all" not in better
    assert "learning can pay: Scream costs 50% / 50% / 50% of what LQR does" in better
    assert "-0.0%" not in better
