"""What a forecast of the gradient is worth to self-tuned Scream, when it is right and when it is wrong."""

from collections.abc import Callable

import numpy as np

from driftwise import regret
from driftwise._validate import Array
from driftwise.domains import Ball
from driftwise.experiments.findings.finding import Claim, Finding, Table
from driftwise.experiments.studies.selftuned.battery import DIM, STREAMS
from driftwise.experiments.studies.study import Arguments, Size, Study, means
from driftwise.learners import SelfTunedScream
from driftwise.losses import LinearLoss

NONE, TRUE = "no hints", "the truth"
FACTOR = 1.5
"""Largest cost above the hindsight optimum that hints may lead to, as a multiple of that without them."""


HINTS: dict[str, Callable[[Array, np.random.Generator], Array]] = {
    TRUE: lambda g, rng: g,
    "the truth in noise": lambda g, rng: g + rng.standard_normal(g.shape) / np.sqrt(DIM),
    "ten times the truth": lambda g, rng: 10.0 * g,
    "yesterday's": lambda g, rng: np.vstack([np.zeros((1, g.shape[1])), g[:-1]]),
    "the opposite": lambda g, rng: -g,
    "noise": lambda g, rng: rng.standard_normal(g.shape),
    "loud noise": lambda g, rng: 100.0 * rng.standard_normal(g.shape),
    "right, then opposite": lambda g, rng: np.vstack([g[: len(g) // 2], -g[len(g) // 2 :]]),
}


def run(stream: str, price: float, rounds: int, seed: int) -> dict[str, float]:
    """Return the cost above the hindsight optimum with every kind of hint."""
    gradients = STREAMS[stream](np.random.default_rng(seed), rounds)
    best = regret.hindsight_optimum(LinearLoss(gradients), Ball(DIM), price).total
    hints = {name: make(gradients, np.random.default_rng(seed + 1)) for name, make in HINTS.items()}
    return {name: _cost(gradients, each, price) - best for name, each in {NONE: None, **hints}.items()}


def _cost(gradients: Array, hints: Array | None, price: float) -> float:
    learner, total, before = SelfTunedScream(Ball(DIM), switching_cost=price), 0.0, None
    for t, gradient in enumerate(gradients):
        w = learner.act(hint=None if hints is None else hints[t])
        moved = 0.0 if before is None else float(np.linalg.norm(w - before))
        total += float(gradient @ w) + price * moved
        before = w
        learner.observe(gradient)
    return total


def _tasks(size: Size) -> list[Arguments]:
    streams = ("blocks of 20", "blocks of 400", "square wave, 20", "spikes", "drift in noise")
    rounds, prices, seeds = (500, (1.0,), range(1)) if size.quick else (4000, (0.1, 1.0, 10.0), range(2))
    return [(name, price, rounds, seed) for name in streams for price in prices for seed in seeds]


def _conclude(tasks: list[Arguments], results: list[dict[str, float]]) -> Finding:
    cells = means([task[:2] for task in tasks], results)
    ratios = {name: [mean[name] / mean[NONE] for mean in cells.values()] for name in HINTS}
    rows = [[name, f"{min(each):.3f}", f"{np.median(each):.3f}", f"{max(each):.3f}"] for name, each in ratios.items()]
    worst = max(ratios, key=lambda name: max(ratios[name]))
    claims = [
        Claim(
            f"Hints of no kind cost more than {FACTOR:g} times what no hints do",
            max(ratios[worst]) <= FACTOR,
            f"at most {max(ratios[worst]):.3f} times, {worst}",
        ),
        Claim(
            "True hints cost less than none in every cell",
            max(ratios[TRUE]) < 1.0,
            f"{min(ratios[TRUE]):.3f} to {max(ratios[TRUE]):.3f} times",
        ),
    ]
    summary = [
        f"With the truth as hint, the cost above the hindsight optimum is {np.median(ratios[TRUE]):.2f} of that "
        f"without hints, in the median of {len(cells)} cells.",
        f"In the worst cell the truth makes it {max(ratios[TRUE]):.2f} of it.",
        f"The worst hints, {worst}, make it {max(ratios[worst]):.2f} times as much in the worst cell.",
    ]
    title = "Cost above the hindsight optimum, with hints / without"
    table = Table(title, ["hints", "least", "median", "largest"], rows)
    return Finding(STUDY.title, summary, [table], claims)


STUDY = Study("hints", "What hints are worth", _tasks, run, _conclude)
