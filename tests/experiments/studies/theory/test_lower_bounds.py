"""The instances behind the lower bounds."""

import pytest

from driftwise.experiments.studies.theory import lower_bounds
from tests.experiments.claims import BOTH_SIZES, check_claims


@BOTH_SIZES
def test_hedge_on_the_experts_of_theorem_3(quick: bool) -> None:
    check_claims(lower_bounds.EXPERTS, quick, count=6, keep=lambda task: task[-1] < 15)


@BOTH_SIZES
def test_nobody_escapes_the_instance_of_theorem_5(quick: bool) -> None:
    finding = check_claims(lower_bounds.MOVING, quick, count=1)
    assert finding.tables[0].header == ["tau", "lambda", "OGD", "Scream", "Lazy Scream", "Jumps if it pays"]
    assert all(float(cell) > 0.0 for row in finding.tables[0].rows for cell in row[2:])


@pytest.mark.parametrize("who", ["OGD", "Scream", "Lazy Scream", "Jumps if it pays"])
def test_a_player_that_escapes_is_said(who: str) -> None:
    names = ("OGD", "Scream", "Lazy Scream", "Jumps if it pays")
    tasks = [(tau, 1.0, 9, seed) for tau in (2, 8) for seed in range(2)]
    results = [dict.fromkeys(names, 0.3) for _ in tasks]
    assert lower_bounds.MOVING.conclude(tasks, results).claims[0].holds
    results[-1][who] = 0.0  # 0.15 in the mean
    claim = lower_bounds.MOVING.conclude(tasks, results).claims[0]
    assert not claim.holds
    assert "least 0.150" in claim.measured


def test_a_ratio_out_of_range_is_said() -> None:
    tasks = [(N, T, 4.0, 0) for N in lower_bounds.RANGES for T in (100, 400)]
    claims = lower_bounds.EXPERTS.conclude(tasks, [0.7] * len(tasks)).claims
    assert [claim.holds for claim in claims[::2]] == [True, False, False]
    assert [claim.holds for claim in claims[1::2]] == [True, True, True]  # all grow like the root
