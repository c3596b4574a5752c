"""The hindsight optimum of Figure 1's stream, and the same by another solver."""

import numpy as np

from driftwise import losses as lossy
from driftwise import regret
from driftwise.errors import MissingExtraError
from driftwise.experiments.study import Claim, Finding, Study, Task, group
from driftwise.streams import drifting_regression

EXPECTED = {0.1: 90.0, 1.0: 207.0, 2.0: 325.0}
"""Cost of the hindsight optimum at each alpha, for other seeds than ours."""


def paper_optimum(alpha: float, rounds: int, seed: int) -> tuple[float, float, bool]:
    """Return cost, relative gap and whether it is certified, of the hindsight optimum of Figure 1's stream."""
    losses = drifting_regression(rounds, seed=seed)
    best = regret.hindsight_optimum(losses, losses.domain, 2.0 * alpha)
    return best.total, best.gap, best.optimal


def _optimum_tasks(quick: bool) -> list[Task]:
    T, seeds = (5_000, 1) if quick else (50_000, 5)
    return [(alpha, T, seed) for alpha in EXPECTED for seed in range(seeds)]


def _conclude_optimum(tasks: list[Task], results: list[tuple[float, float, bool]]) -> Finding:
    grouped = group([task[0] for task in tasks], results)
    rows, claims = [], []
    for alpha, values in grouped.items():
        costs = [cost for cost, _, _ in values]
        gap = max(gap for _, gap, _ in values)
        rows.append([f"{alpha:g}", f"{np.mean(costs):.1f}", f"{min(costs):.1f} to {max(costs):.1f}", f"{gap:.1e}"])
        if tasks[0][1] == 50_000:
            expected, mean = EXPECTED[alpha], float(np.mean(costs))
            text = f"Hindsight optimum at alpha {alpha:g}: about {expected:g}"
            claims.append(Claim(text, abs(mean / expected - 1.0) <= 0.05, f"mean {mean:.1f}"))
    sure = sum(optimal for _, _, optimal in results)
    claims.append(Claim("Every hindsight optimum certified to 1e-6", sure == len(results), f"{sure} of {len(results)}"))
    return Finding(["alpha", "mean cost", "range", "largest gap"], rows, claims)


def against_cvxpy(alpha: float, rounds: int, seed: int) -> tuple[float, float] | None:
    """Return the optimum by our active-set method, and by cvxpy with Clarabel; None where cvxpy is not installed."""
    losses = drifting_regression(rounds, segment=max(rounds // 10, 1), seed=seed)
    ours = regret.hindsight_optimum(losses, losses.domain, 2.0 * alpha)
    # The same losses with a filter of one tap that does nothing and one that is zero: with memory, so by cvxpy.
    same = lossy.FilteredLoss([1.0, 0.0], losses.data.features, losses.data.targets)
    try:
        theirs = regret.hindsight_optimum(same, losses.domain, 2.0 * alpha)
    except MissingExtraError:
        return None
    return ours.total, theirs.total


def _cvxpy_tasks(quick: bool) -> list[Task]:
    return [(alpha, 500 if quick else 2_000, 0) for alpha in EXPECTED]


def _conclude_cvxpy(tasks: list[Task], results: list[tuple[float, float] | None]) -> Finding:
    rows, worst = [], 0.0
    for task, pair in zip(tasks, results, strict=True):
        if pair is None:
            rows.append([f"{task[0]:g}", "", "not installed", ""])
            continue
        difference = abs(pair[0] / pair[1] - 1.0)
        worst = max(worst, difference)
        rows.append([f"{task[0]:g}", f"{pair[0]:.8g}", f"{pair[1]:.8g}", f"{difference:.1e}"])
    installed = all(pair is not None for pair in results)
    claim = Claim(
        f"Active set and cvxpy agree to 1e-6 at {tasks[0][1]} rounds",
        worst <= 1e-6 if installed else None,
        f"largest difference {worst:.1e}" if installed else "cvxpy is not installed: pip install 'driftwise[convex]'",
    )
    return Finding(["alpha", "active set", "cvxpy and Clarabel", "difference"], rows, [claim])


OPTIMUM = Study("Hindsight optimum of Figure 1's stream", _optimum_tasks, paper_optimum, _conclude_optimum)
SOLVERS = Study("Hindsight optimum, two solvers", _cvxpy_tasks, against_cvxpy, _conclude_cvxpy)
