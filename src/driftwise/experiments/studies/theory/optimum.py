"""The hindsight optimum by our active-set method, and by cvxpy, which states the whole problem to Clarabel at once."""

from driftwise import losses as lossy
from driftwise import regret
from driftwise.errors import MissingExtraError
from driftwise.experiments.findings.finding import Claim, Finding, Table
from driftwise.experiments.studies.figure1 import ALPHAS
from driftwise.experiments.studies.study import Arguments, Size, Study
from driftwise.streams import drifting_regression


def against_cvxpy(alpha: float, rounds: int, seed: int) -> dict[str, float]:
    """Return the optimum by our active-set method, and by cvxpy with Clarabel if that is installed."""
    losses = drifting_regression(rounds, segment=max(rounds // 10, 1), seed=seed)
    ours = regret.hindsight_optimum(losses, losses.domain, 2.0 * alpha)
    # The same losses with a filter of one tap that does nothing and one that is zero: with memory, so by cvxpy.
    same = lossy.FilteredLoss([1.0, 0.0], losses.data.features, losses.data.targets)
    try:
        return {"ours": ours.total, "theirs": regret.hindsight_optimum(same, losses.domain, 2.0 * alpha).total}
    except MissingExtraError:
        return {"ours": ours.total}


def _tasks(size: Size) -> list[Arguments]:
    return [(alpha, 500 if size.quick else 2_000, 0) for alpha in ALPHAS]


def _conclude(tasks: list[Arguments], results: list[dict[str, float]]) -> Finding:
    installed = all("theirs" in cost for cost in results)
    differences = [abs(cost["ours"] / cost["theirs"] - 1.0) if installed else 0.0 for cost in results]
    rows = [
        [f"{task[0]:g}", f"{cost['ours']:.8g}"]
        + ([f"{cost['theirs']:.8g}", f"{difference:.1e}"] if installed else ["not installed", ""])
        for task, cost, difference in zip(tasks, results, differences, strict=True)
    ]
    text, worst = f"Active set and cvxpy agree to 1e-6 at {tasks[0][1]} rounds", max(differences)
    if installed:
        claim = Claim(text, worst <= 1e-6, f"largest difference {worst:.1e}")
        summary = (
            f"The active-set method and cvxpy, which states the whole problem at once, differ by {worst:.0e} at most."
        )
    else:
        claim = Claim(text, None, "cvxpy is not installed: pip install 'driftwise[convex]'")
        summary = "Cvxpy is not installed: pip install 'driftwise[convex]'."
    table = Table("Cost of the hindsight optimum", ["alpha", "active set", "cvxpy and Clarabel", "difference"], rows)
    return Finding(SOLVERS.title, summary, [table], [claim])


SOLVERS = Study("solvers", "Hindsight optimum, two solvers", _tasks, against_cvxpy, _conclude)
