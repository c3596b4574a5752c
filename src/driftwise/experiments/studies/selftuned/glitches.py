"""One gradient that is a million times too large: what the rounds after it cost, beside the same run without it."""

from collections.abc import Callable

import numpy as np

from driftwise import regret
from driftwise._validate import Array
from driftwise.domains import Ball, Box, Domain, Simplex
from driftwise.experiments.findings.finding import Claim, Finding, Table
from driftwise.experiments.studies.study import Arguments, Size, Study
from driftwise.learners import Learner, SelfTunedLearner, SelfTunedScream
from driftwise.losses import LinearLoss, LossStream, TrackingLoss
from driftwise.streams import drifting_regression

MOST = 2.0
"""How many times as much the rounds after a glitch may cost."""

PRICES = (0.3, 3.0)
SIZES = (1e4, 1e6, 1e8)

Problem = tuple[LossStream, Domain]


def _level(rounds: int, rng: np.random.Generator) -> Problem:
    t = np.arange(rounds)
    level = 2.0 * np.sin(t / 150.0) + 1.5 * (t > rounds // 2 - 50) + 0.2 * rng.standard_normal(rounds)
    return TrackingLoss(level[:, None]), Box([-5.0], [5.0])


def _regression(rounds: int, rng: np.random.Generator) -> Problem:
    losses = drifting_regression(rounds, dim=3, segment=300, seed=int(rng.integers(10_000)))
    return losses, losses.domain


def _drift(rounds: int, rng: np.random.Generator) -> Problem:
    drift = np.repeat(rng.standard_normal((-(-rounds // 100), 5)), 100, axis=0)[:rounds]
    return LinearLoss(0.3 * drift + 0.7 * rng.standard_normal((rounds, 5))), Ball(5)


def _experts(rounds: int, rng: np.random.Generator) -> Problem:
    slow = np.repeat(rng.uniform(0.0, 1.0, (-(-rounds // 150), 8)), 150, axis=0)[:rounds]
    return LinearLoss(slow + rng.uniform(0.0, 1.0, (rounds, 8))), Simplex(8)


STREAMS: dict[str, Callable[[int, np.random.Generator], Problem]] = {
    "a level": _level,
    "regression": _regression,
    "drift in noise": _drift,
    "eight experts": _experts,
}

LEARNERS: dict[str, Callable[..., Learner]] = {
    "SelfTunedScream": SelfTunedScream,
    "SelfTunedLearner, gradients only": SelfTunedLearner,
}

SINGLE: dict[str, Callable[[int], list[int]]] = {
    **{f"round {t + 1}": lambda T, t=t: [t] for t in (0, 1, 5, 20)},  # type: ignore[misc]
    "the middle": lambda T: [T // 2],
}
SEVERAL: dict[str, Callable[[int], list[int]]] = {
    "four": lambda T: [3, 9, T // 15, T // 4],
    "nine": lambda T: list(range(T // 10, T, T // 10)),
}
PLACES = {**SINGLE, **SEVERAL}
"""Rounds in which the gradient is a glitch, for a number of rounds."""


def _costs(learner: Learner, losses: LossStream, price: float, factors: Array) -> Array:
    """Return loss and price of the move for every round, where the learner sees gradients multiplied by factors."""
    path = np.empty((len(losses), losses.dim))
    for t, factor in enumerate(factors):
        path[t] = learner.act()
        learner.observe(factor * losses.gradient(t, path[t]))
    return _paid(losses, price, path)


def _paid(losses: LossStream, price: float, path: Array) -> Array:
    moves = np.linalg.norm(np.diff(path, axis=0, prepend=path[:1]), axis=1)
    return np.asarray(losses.unary_losses(path) + price * moves)


def run(learner: str, stream: str, price: float, size: float, rounds: int, seed: int) -> dict[str, float]:
    """Return the largest ratio of costs after a glitch, of either sign, to those without it, for every place.

    Losses that may be below 0 are counted from those of the cheapest decisions in hindsight, moves included.
    """
    losses, domain = STREAMS[stream](rounds, np.random.default_rng(seed))
    least: Array | float = 0.0
    if isinstance(losses, LinearLoss):
        least = _paid(losses, price, regret.hindsight_optimum(losses, domain, price).decisions)
    plain = _costs(LEARNERS[learner](domain, switching_cost=price), losses, price, np.ones(rounds)) - least
    ratios = {}
    for place, rule in PLACES.items():
        bad, found = rule(rounds), []
        for sign in (1.0, -1.0):
            factors = np.ones(rounds)
            factors[bad] = sign * size
            costs = _costs(LEARNERS[learner](domain, switching_cost=price), losses, price, factors) - least
            found.append(float(costs[bad[0] + 1 :].sum() / plain[bad[0] + 1 :].sum()))
        ratios[place] = max(found)
    return ratios


def _tasks(size: Size) -> list[Arguments]:
    rounds, sizes, seeds = (300, SIZES[1:2], (100,)) if size.quick else (1000, SIZES, (100, 101, 102))
    return [
        (learner, stream, price, by, rounds, seed)
        for learner in LEARNERS
        for stream in STREAMS
        for price in PRICES
        for by in sizes
        for seed in seeds
    ]


def _conclude(tasks: list[Arguments], results: list[dict[str, float]]) -> Finding:
    worst: dict[tuple[str, str], dict[str, float]] = {}
    for (learner, stream, *_), ratios in zip(tasks, results, strict=True):
        of = worst.setdefault((learner, stream), dict.fromkeys(PLACES, 0.0))
        for place, ratio in ratios.items():
            of[place] = max(of[place], ratio)
    rows = [[*cell, *(f"{ratio:.2f}" for ratio in of.values())] for cell, of in worst.items()]
    claims = []
    for learner in LEARNERS:
        mine = {name: of for (who, name), of in worst.items() if who == learner}
        for kind, places in (("one glitch", SINGLE), ("several glitches apart", SEVERAL)):
            ratio, name, place = max((mine[name][place], name, place) for name in mine for place in places)
            text = f"{learner}: after {kind} at most {MOST:g} times as dear"
            claims.append(Claim(text, ratio <= MOST, f"at most {ratio:.2f}, {name}, {place}; {len(mine)} streams"))
    sizes = sorted({task[3] for task in tasks})
    summary = [
        f"Gradients were multiplied by {', '.join(f'{size:.0e}' for size in sizes)}, with either sign, in one round or "
        "in several, and the rounds after it counted.",
        "Seeds and streams are not those that the limits were chosen on.",
        "Two glitches in a row are taken for a change of scale, and are not in the table.",
    ]
    table = Table("Cost after glitches / cost without them, the most", ["learner", "stream", *PLACES], rows)
    return Finding(STUDY.title, summary, [table], claims)


STUDY = Study("glitches", "One absurd gradient", _tasks, run, _conclude)
