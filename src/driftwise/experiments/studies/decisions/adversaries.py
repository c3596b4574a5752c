"""Adversarial streams from gradients only, beside `SelfTunedScream`."""

import numpy as np

from driftwise import regret
from driftwise.domains import Ball
from driftwise.experiments.findings.finding import Claim, Finding, Table
from driftwise.experiments.studies.decisions.gradients import LIMIT, by_gradients
from driftwise.experiments.studies.decisions.ours import OURS, SCREAM, cost_of, ours, scream
from driftwise.experiments.studies.selftuned.battery import DIM, PRICES, STREAMS
from driftwise.experiments.studies.study import Arguments, Size, Study, means
from driftwise.losses import LinearLoss


def run(stream: str, price: float, rounds: int, seed: int) -> dict[str, float]:
    """Return the cost of both learners above the hindsight optimum."""
    losses, domain = LinearLoss(STREAMS[stream](np.random.default_rng(seed), rounds)), Ball(DIM)
    best = regret.hindsight_optimum(losses, domain, price).total
    mine = by_gradients(ours(domain, price), losses, price)
    return {OURS: mine - best, SCREAM: cost_of(scream(domain, price), losses, price) - best}


def _tasks(size: Size) -> list[Arguments]:
    rounds, seeds = (500, range(10, 11)) if size.quick else (4000, range(10, 13))
    return [(name, price, rounds, seed) for name in STREAMS for price in PRICES for seed in seeds]


def _conclude(tasks: list[Arguments], results: list[dict[str, float]]) -> Finding:
    cells = means([task[:2] for task in tasks], results)
    ratios = {cell: mean[OURS] / mean[SCREAM] for cell, mean in cells.items()}
    rows = [[name, *(f"{ratios[name, price]:.3f}" for price in PRICES)] for name in STREAMS]
    worst = max(ratios, key=lambda cell: ratios[cell])
    above = sum(ratio > LIMIT for ratio in ratios.values())
    claim = Claim(
        f"On none of {len(ratios)} adversarial cells more than {LIMIT:g} times {SCREAM}",
        not above,
        f"at most {ratios[worst]:.3f}, {worst[0]} at lambda {worst[1]:g}; {above} above",
    )
    summary = [
        f"In cost above the hindsight optimum, {OURS} from gradients is below {SCREAM} in "
        f"{sum(ratio < 1.0 for ratio in ratios.values())} of {len(ratios)} cells.",
        f"The median of the ratios is {np.median(list(ratios.values())):.3f}, the largest {ratios[worst]:.3f}, on "
        f"{worst[0]} at lambda {worst[1]:g}.",
    ]
    header = ["stream", *(f"lambda = {price:g}" for price in PRICES)]
    table = Table(f"Cost above the hindsight optimum, {OURS} / {SCREAM}", header, rows)
    return Finding(STUDY.title, summary, [table], [claim])


STUDY = Study("adversaries", "Adversarial streams from gradients only", _tasks, run, _conclude)
