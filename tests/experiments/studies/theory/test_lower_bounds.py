"""The instances behind the lower bounds."""

from driftwise.experiments.studies.theory import lower_bounds
from tests.experiments.claims import BOTH_SIZES, check_claims


@BOTH_SIZES
def test_hedge_on_the_experts_of_theorem_4(quick: bool) -> None:
    check_claims(lower_bounds.EXPERTS, quick, count=6)


@BOTH_SIZES
def test_nobody_escapes_the_instance_of_theorem_6(quick: bool) -> None:
    check_claims(lower_bounds.MOVING, quick, count=1)


def test_a_ratio_out_of_range_is_said() -> None:
    tasks = [(N, T, 4.0, 0) for N in lower_bounds.RANGES for T in (100, 400)]
    claims = lower_bounds.EXPERTS.conclude(tasks, [0.7] * len(tasks)).claims
    assert [claim.holds for claim in claims[::2]] == [True, False, False]
    assert [claim.holds for claim in claims[1::2]] == [True, True, True]  # all grow like the root
