"""No regret above its bound, on random problems."""

from typing import Any

import numpy as np

from driftwise.experiments.studies.theory import bounds
from tests.experiments.claims import BOTH_SIZES, check_claims


def certificates(**ratios: tuple[float, bool]) -> dict[str, Any]:
    """Return what a run gives: the ratio of every learner, and whether all assumptions were met."""
    values, sure = zip(*ratios.values(), strict=True)
    columns = {
        "learner": list(ratios),
        "comparators": ["best fixed"] * len(ratios),
        "ratio": values,
        "guaranteed": sure,
    }
    return {name: np.array(column) for name, column in columns.items()}


@BOTH_SIZES
def test_no_bound_is_violated(quick: bool) -> None:
    finding = check_claims(bounds.STUDY, quick, count=2, keep=lambda task: task[-1] % 8 == 0)
    learners = {row[0] for row in finding.tables[0].rows}
    assert {"OGD", "Hedge", "Ader, original", "Scream, theorem", "Lazy Scream, appendix", "Mirror descent"} <= learners


@BOTH_SIZES
def test_no_bound_is_violated_by_adversaries(quick: bool) -> None:
    hard = ("moving blocks", "blocks of 20")
    finding = check_claims(bounds.ADVERSARIES, quick, count=2, keep=lambda task: task[0] in hard and task[-1] == 0)
    learners = {row[0] for row in finding.tables[0].rows}
    assert {"Scream, no horizon", "Self-tuned Scream", "Ader, no horizon", "Lazy Scream, no horizon"} <= learners
    assert "neither the rounds nor the gradients" in finding.summary


def test_a_violation_is_counted_and_said() -> None:
    finding = bounds.STUDY.conclude([], [certificates(OGD=(0.5, True), Scream=(1.2, True))])
    assert finding.tables[0].rows[1] == ["Scream", "1", "1", "1.200", "best fixed"]
    assert [claim.holds for claim in finding.claims] == [False, False]


def test_adversaries_have_claims_of_their_own() -> None:
    runs = {"Scream, appendix": (0.2, True), "Scream, no horizon": (0.3, True), "Self-tuned Scream": (1.4, True)}
    finding = bounds.ADVERSARIES.conclude([], [certificates(**runs)])
    assert [claim.holds for claim in finding.claims] == [False, False]
    assert all("adversaries" in claim.text for claim in finding.claims)
    assert "up to 1.400" in finding.summary
    assert "up to 0.200, and without the rounds 0.300" in finding.summary


def test_a_certificate_whose_assumptions_fail_does_not_count() -> None:
    finding = bounds.STUDY.conclude([], [certificates(OGD=(0.5, False))])
    assert [claim.holds for claim in finding.claims] == [False, True]
