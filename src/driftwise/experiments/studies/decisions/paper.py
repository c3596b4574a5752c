"""The paper's stream, abrupt and gradual: what the learner costs as a part of what Scream costs."""

from typing import Any

import numpy as np

from driftwise.domains import Domain
from driftwise.experiments.contests.words import counted
from driftwise.experiments.findings.curves import cumulative
from driftwise.experiments.findings.finding import Claim, Finding, Table
from driftwise.experiments.studies import figure1
from driftwise.experiments.studies.decisions.ours import OURS, SCREAM, ours, scream
from driftwise.experiments.studies.figure1 import ALPHAS, CONTENDERS, GRADIENT_BOUND, ROUNDS
from driftwise.experiments.studies.paired import ratio_table
from driftwise.experiments.studies.study import Arguments, Size, Study, group
from driftwise.learners import Learner
from driftwise.play import play
from driftwise.streams import drifting_regression

SEEDS = range(3000, 3010)
"""Seeds that were not used to choose anything."""
TARGETS = {"abrupt": (0.155, 0.21, 0.27), "gradual": (0.22, 0.28, 0.37)}
"""Parts of Scream's overall cost at each alpha that the learner may cost at most."""
REFERENCE = "Scream"
LEARNERS = (REFERENCE, SCREAM, OURS)


def player(name: str, domain: Domain, price: float, rounds: int) -> Learner:
    """Return a learner by name; Scream alone is told the number of rounds and the gradient bound."""
    if name == REFERENCE:
        return CONTENDERS[REFERENCE](domain, price, rounds)
    return (ours if name == OURS else scream)(domain, price)


def run(drift: str, learner: str, alpha: float, seed: int) -> dict[str, Any]:
    """Play one learner at one price on the stream of one seed."""
    losses, price = drifting_regression(ROUNDS, drift=drift, seed=seed), alpha * GRADIENT_BOUND
    trace = play(player(learner, losses.domain, price, ROUNDS), losses, price)
    return {"loss": cumulative(trace.losses), "switching": cumulative(price * trace.moves)}


def _tasks(size: Size) -> list[Arguments]:
    seeds = SEEDS[:1] if size.quick else SEEDS
    return [(drift, name, alpha, seed) for drift in TARGETS for name in LEARNERS for alpha in ALPHAS for seed in seeds]


def _conclude(tasks: list[Arguments], results: list[dict[str, Any]]) -> Finding:
    seeds = sorted({seed for *_, seed in tasks})
    everything = group([task[:3] for task in tasks], results)
    claims, tables, panels, summary = [], [], [], []
    for drift, targets in TARGETS.items():
        runs = {(name, alpha): of for (kind, name, alpha), of in everything.items() if kind == drift}
        costs = {key: figure1.overall(of) for key, of in runs.items()}
        parts = {alpha: costs[OURS, alpha] / costs[REFERENCE, alpha] for alpha in ALPHAS}
        for (alpha, each), most in zip(parts.items(), targets, strict=True):
            text = f"{drift}, alpha {alpha:g}: {OURS} costs at most {most} of Scream on every seed"
            measured = f"{each.min():.3f} to {each.max():.3f}, mean {each.mean():.3f}, {counted(each.size, 'seed')}"
            claims.append(Claim(text, bool(each.max() <= most), measured))
        rows = [
            [name]
            + [
                f"{figure1.split(runs[name, a])} {costs[name, a].mean() / costs[REFERENCE, a].mean():.3f}"
                for a in ALPHAS
            ]
            for name in LEARNERS
        ]
        columns = {f"alpha = {alpha:g}": each for alpha, each in parts.items()}
        title = f"{drift.capitalize()}: {figure1.TITLE}, and as a part of Scream's; lambda = 2 alpha"
        tables.append(Table(title, ["learner", *columns], rows))
        tables.append(ratio_table(f"{drift.capitalize()}: {OURS} / Scream", seeds, columns)._replace(detail=True))
        named = [figure1.panel(runs, alpha, "overall cost", ROUNDS, LEARNERS) for alpha in ALPHAS]
        panels += [panel._replace(title=f"{drift}: {panel.title}") for panel in named]
        mine = ", ".join(f"{each.mean():.3f}" for each in parts.values())
        old = ", ".join(f"{np.mean(costs[SCREAM, a] / costs[REFERENCE, a]):.3f}" for a in ALPHAS)
        summary.append(
            f"{drift.capitalize()} drift: {OURS} costs {mine} of what Scream costs at alpha "
            f"{', '.join(f'{alpha:g}' for alpha in ALPHAS)}, and {SCREAM} {old}."
        )
    return Finding(STUDY.title, summary, tables, claims, panels)


STUDY = Study("paper", "The paper's stream, abrupt and gradual", _tasks, run, _conclude)
