"""The paper's stream."""

import numpy as np
import pytest

from driftwise.experiments.studies.decisions.ours import OURS
from driftwise.experiments.studies.decisions.paper import LEARNERS, STUDY, TARGETS
from driftwise.experiments.studies.figure1 import ALPHAS
from driftwise.experiments.studies.study import Size

TASKS = [(drift, name, alpha, seed) for drift in TARGETS for name in LEARNERS for alpha in ALPHAS for seed in (1, 2)]
LIMITS = {(drift, alpha): most for drift, of in TARGETS.items() for alpha, most in zip(ALPHAS, of, strict=True)}


@pytest.mark.parametrize("broken", [None, *LIMITS])
def test_each_claim_fails_if_one_seed_is_above(broken: tuple[str, float] | None) -> None:
    results = []
    for drift, name, alpha, seed in TASKS:
        part = LIMITS[drift, alpha] + (0.01 if (drift, alpha) == broken and seed == 2 else -0.01)
        cost = 100.0 * part if name == OURS else 100.0
        results.append({"loss": np.array([0.0, cost]), "switching": np.zeros(2)})
    finding = STUDY.conclude(TASKS, results)
    assert [claim.holds for claim in finding.claims] == [key != broken for key in LIMITS]
    assert len(finding.panels) == 6
    assert len({panel.title for panel in finding.panels}) == 6


def test_all_learners_play_both_streams() -> None:
    assert {task[:2] for task in STUDY.tasks(Size(True))} == {(drift, name) for drift in TARGETS for name in LEARNERS}
    result = STUDY.run("gradual", OURS, 1.0, 0)
    assert (np.diff(result["loss"]) >= 0.0).all()
