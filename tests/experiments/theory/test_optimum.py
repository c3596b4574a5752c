"""Hindsight optima of the paper's stream."""

import pytest

from driftwise import regret
from driftwise.errors import MissingExtraError
from driftwise.experiments.theory import optimum
from tests.experiments.claims import BOTH_SIZES, check_claims


@BOTH_SIZES
def test_every_optimum_is_certified(quick: bool) -> None:
    check_claims(optimum.OPTIMUM, quick, count=1 if quick else 4)


@BOTH_SIZES
def test_both_solvers_agree(quick: bool) -> None:
    check_claims(optimum.SOLVERS, quick, count=1)


def test_an_uncertified_optimum_is_said() -> None:
    finding = optimum.OPTIMUM.conclude([(1.0, 9, 0)], [(5.0, 0.1, False)])
    assert [claim.holds for claim in finding.claims] == [False]


def test_without_cvxpy_nothing_is_claimed(monkeypatch: pytest.MonkeyPatch) -> None:
    both = regret.hindsight_optimum

    def ours_only(losses: object, *rest: object) -> object:
        if getattr(losses, "memory", 0):
            raise MissingExtraError("cvxpy")
        return both(losses, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(regret, "hindsight_optimum", ours_only)
    result = optimum.against_cvxpy(1.0, 100, 0)
    assert result is None
    finding = optimum.SOLVERS.conclude([(1.0, 100, 0)], [result])
    assert [claim.holds for claim in finding.claims] == [None]
    assert "not checked (cvxpy is not installed" in str(finding.claims[0])
    assert "not installed" in finding.rows[0]
