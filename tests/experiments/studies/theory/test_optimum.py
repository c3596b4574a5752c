"""The hindsight optimum by two solvers."""

import pytest

from driftwise import regret
from driftwise.errors import MissingExtraError
from driftwise.experiments.studies.theory import optimum
from tests.experiments.claims import BOTH_SIZES, check_claims


@BOTH_SIZES
def test_both_solvers_agree(quick: bool) -> None:
    check_claims(optimum.SOLVERS, quick, count=1)


def test_without_cvxpy_nothing_is_claimed(monkeypatch: pytest.MonkeyPatch) -> None:
    both = regret.hindsight_optimum

    def ours_only(losses: object, *rest: object) -> object:
        if getattr(losses, "memory", 0):
            raise MissingExtraError("cvxpy")
        return both(losses, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(regret, "hindsight_optimum", ours_only)
    result = optimum.against_cvxpy(1.0, 100, 0)
    assert list(result) == ["ours"]
    finding = optimum.SOLVERS.conclude([(1.0, 100, 0)], [result])
    assert [claim.holds for claim in finding.claims] == [None]
    assert "not checked (cvxpy is not installed" in str(finding.claims[0])
    assert "not installed" in finding.tables[0].rows[0]
