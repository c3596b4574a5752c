"""Gradients only, on adversarial streams."""

from driftwise.experiments.studies.decisions.adversaries import STUDY
from driftwise.experiments.studies.decisions.ours import OURS, SCREAM
from driftwise.experiments.studies.study import Size

TASKS = STUDY.tasks(Size(True))


def test_one_cell_above_the_limit_is_enough_to_fail() -> None:
    assert len(TASKS) == 40
    good = [{OURS: 1.02, SCREAM: 1.0} for _ in TASKS]
    assert STUDY.conclude(TASKS, good).claims[0].holds
    bad = [{OURS: 1.04 if task[:2] == ("spikes", 10.0) else 0.9, SCREAM: 1.0} for task in TASKS]
    (claim,) = STUDY.conclude(TASKS, bad).claims
    assert claim.holds is False
    assert claim.measured == "at most 1.040, spikes at lambda 10; 1 above"
    assert "below SelfTunedScream in 39 of 40 cells" in STUDY.conclude(TASKS, bad).summary


def test_nobody_is_below_the_optimum() -> None:
    assert min(STUDY.run("blocks of 20", 1.0, 100, 3).values()) >= 0.0
