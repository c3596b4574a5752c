"""No regret above its bound, on random problems."""

from driftwise.experiments.theory import bounds
from driftwise.experiments.theory.bounds import Checked
from tests.experiments.claims import BOTH_SIZES, check_claims


@BOTH_SIZES
def test_no_bound_is_violated(quick: bool) -> None:
    finding = check_claims(bounds.STUDY, quick, count=2)
    learners = {row[0] for row in finding.rows}
    assert {"OGD", "Hedge", "Ader, original", "Scream, theorem", "Lazy Scream, appendix", "Mirror descent"} <= learners


def test_a_violation_is_counted_and_said() -> None:
    fine = Checked("OGD", "best fixed", 0.5, True)
    finding = bounds.STUDY.conclude([], [[fine, fine._replace(learner="Scream", ratio=1.2)]])
    assert finding.rows[1] == ["Scream", "1", "1", "1.200", "best fixed"]
    assert [claim.holds for claim in finding.claims] == [False, False]


def test_a_certificate_whose_assumptions_fail_does_not_count() -> None:
    finding = bounds.STUDY.conclude([], [[Checked("OGD", "best fixed", 0.5, False)]])
    assert [claim.holds for claim in finding.claims] == [False, True]
