"""What the learner should not mind: other units of a feature, a domain that is too wide, one absurd target."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from driftwise.experiments.findings.finding import Claim, Finding, Table
from driftwise.experiments.studies.decisions.data.availability import left_out, there
from driftwise.experiments.studies.decisions.data.problems import ROUNDS, Level, Problem, problem, recordings, widened
from driftwise.experiments.studies.decisions.data.streams import DESIGN, EVERY, HELD_OUT
from driftwise.experiments.studies.decisions.ours import OURS, ours
from driftwise.experiments.studies.study import Arguments, Size, Study
from driftwise.losses import LossStream, SquaredLoss, TrackingLoss
from driftwise.play import play

PRICE = 1.0
GLITCH = 1e6
NOTABLE = 0.3
"""Least size of a target that becomes a glitch, in standard deviations, before it is multiplied."""


class Change(NamedTuple):
    """A change of a problem, and how much more the learner may cost then."""

    limit: float
    cost: Callable[[Problem], tuple[float, float]]
    """Returns the cost after the change, and that before it."""


def _play(p: Problem, losses: LossStream | None = None, leave_out: int | None = None) -> float:
    """Return the cost of the learner; the loss of one round may be left out."""
    trace = play(ours(p.domain, PRICE), p.losses if losses is None else losses, PRICE)
    counted = trace.losses if leave_out is None else np.delete(trace.losses, leave_out)
    return float(counted.sum() + trace.total_switching)


def _feature(p: Problem) -> tuple[float, float]:
    """Multiply every feature by 100, one at a time, and return the largest cost."""
    costs = []
    for k in range(p.features.shape[1]):
        unit = np.ones(p.features.shape[1])
        unit[k] = 100.0
        costs.append(_play(p, SquaredLoss(p.features * unit, p.targets)))
    return max(costs), _play(p)


def _domain(p: Problem) -> tuple[float, float]:
    return _play(widened(p, 10.0)), _play(p)


def _glitch(place: Callable[[int], int]) -> Callable[[Problem], tuple[float, float]]:
    def cost(p: Problem) -> tuple[float, float]:
        t, targets = place(len(p.targets)), p.targets.copy()
        targets[t] = GLITCH * np.copysign(max(abs(targets[t]), NOTABLE), targets[t])
        level = isinstance(p.losses, TrackingLoss)
        losses = TrackingLoss(targets) if level else SquaredLoss(p.features, targets)
        return _play(p, losses, t), _play(p, leave_out=t)

    return cost


CHANGES = {
    "a feature x 100": Change(1.2, _feature),
    "the domain x 10": Change(1.05, _domain),
    "a target x 1e6 in round 150": Change(1.1, _glitch(lambda T: 150)),
    "a target x 1e6 in the middle": Change(1.1, _glitch(lambda T: T // 2)),
    "a target x 1e6 in round 3": Change(2.0, _glitch(lambda T: 3)),
    "a target x 1e6 in round 10": Change(2.0, _glitch(lambda T: 10)),
    "a target x 1e6 in round 50": Change(2.0, _glitch(lambda T: 50)),
}
"""Changes by name. The loss of a glitch itself is left out."""


def run(stream: str, change: str, rounds: int, seed: int) -> dict[str, float]:
    """Return the cost after a change and before it; a recording needs no seed."""
    after, before = CHANGES[change].cost(problem(EVERY[stream], rounds))
    return {"after": after, "before": before}


def _tasks(size: Size) -> list[Arguments]:
    rounds = 250 if size.quick else ROUNDS
    names = there("reproduce decisions", EVERY, recordings)
    return [
        (name, change, rounds, 0)
        for name in (names[::3] if size.quick else names)
        for change in CHANGES
        if not (change == "a feature x 100" and isinstance(EVERY[name], Level))
    ]


def _conclude(tasks: list[Arguments], results: list[dict[str, float]]) -> Finding:
    ratios = {task[:2]: r["after"] / r["before"] for task, r in zip(tasks, results, strict=True)}
    names = list(dict.fromkeys(name for name, _ in ratios))
    rows = [
        [name, "design" if name in DESIGN else "held out"]
        + [f"{ratios[name, change]:.3f}" if (name, change) in ratios else "-" for change in CHANGES]
        for name in names
    ]
    claims = []
    for change, (limit, _) in CHANGES.items():
        held = {name: ratio for (name, kind), ratio in ratios.items() if kind == change and name in HELD_OUT}
        claims.append(_claim(change, limit, held))
    broken = [change for change, claim in zip(CHANGES, claims, strict=True) if claim.holds is False]
    summary = [
        f"{OURS} was played on the same streams twice, before and after a change, at price {PRICE:g}.",
        f"Of {len(claims)} limits, {len(broken)} are exceeded on a held-out stream: {'; '.join(broken)}."
        if broken
        else f"{sum(claim.holds is True for claim in claims)} of {len(claims)} limits hold on all held-out streams.",
    ]
    table = Table("Cost after a change / before it", ["stream", "use", *CHANGES], rows)
    return Finding(STUDY.title, [*summary, *left_out(EVERY, recordings)], [table], claims)


def _claim(change: str, limit: float, ratios: dict[str, float]) -> Claim:
    text = f"With {change}, at most {limit:g} times the cost"
    if not ratios:
        return Claim(text, None, "no held-out stream is installed")
    worst = max(ratios, key=lambda name: ratios[name])
    measured = f"{min(ratios.values()):.3f} to {ratios[worst]:.3f}, the most on {worst}; {len(ratios)} streams"
    return Claim(text, ratios[worst] <= limit, measured)


STUDY = Study("robustness", "Other units, a wider domain, a glitch", _tasks, run, _conclude)
