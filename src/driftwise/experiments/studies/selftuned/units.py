"""Self-tuned Scream in other units: losses and prices multiplied by a number."""

import itertools
from collections.abc import Callable

import numpy as np

from driftwise.domains import Box, Domain, Simplex
from driftwise.experiments.findings.finding import Claim, Finding, Table
from driftwise.experiments.studies.study import Arguments, Size, Study
from driftwise.learners import SelfTunedScream
from driftwise.losses import LinearLoss, LossStream, SquaredLoss
from driftwise.play import play
from driftwise.streams import drifting_regression

FACTORS = (1e-6, 1e-3, 3.0, 1e3, 1e6)
CLOSE = 1e-6


def _regression(rounds: int, seed: int, factor: float) -> tuple[LossStream, Domain]:
    losses, root = drifting_regression(rounds, seed=seed), factor**0.5
    return SquaredLoss(root * losses.data.features, root * losses.data.targets), losses.domain


def _experts(rounds: int, seed: int, factor: float) -> tuple[LossStream, Domain]:
    """Return forty options whose losses shift together: at first base-learners differ only by rounding."""
    rng = np.random.default_rng(seed)
    losses = rng.uniform(0.0, 1.0, (rounds, 40)) + 5.0 * rng.standard_normal((rounds, 1))
    return LinearLoss(factor * losses), Simplex(40)


def _corner(rounds: int, seed: int, factor: float) -> tuple[LossStream, Domain]:
    """Return a box far from the origin, whose corner nobody leaves at first."""
    gradients = np.random.default_rng(seed).uniform(-1.0, 1.0, (rounds, 3))
    gradients[: rounds // 10] = np.abs(gradients[: rounds // 10])
    return LinearLoss(factor * gradients), Box([1.0] * 3, [10.0] * 3)


PROBLEMS: dict[str, Callable[[int, int, float], tuple[LossStream, Domain]]] = {
    "the paper's stream": _regression,
    "forty experts": _experts,
    "a corner of a box": _corner,
}


def run(problem: str, factor: float, price: float, rounds: int, seed: int) -> float:
    """Return the largest change of a decision, in diameters, when losses and prices are `factor` times as large."""
    (plain, domain), (scaled, _) = (PROBLEMS[problem](rounds, seed, by) for by in (1.0, factor))
    one = play(SelfTunedScream(domain, switching_cost=price), plain).decisions
    other = play(SelfTunedScream(domain, switching_cost=factor * price), scaled).decisions
    return float(np.abs(other - one).max() / domain.diameter)


def _tasks(size: Size) -> list[Arguments]:
    rounds, seeds = (2000, range(1)) if size.quick else (50_000, range(2))
    cells = itertools.product(PROBLEMS, FACTORS, (0.2, 4.0), seeds)
    return [(problem, factor, price, rounds, seed) for problem, factor, price, seed in cells]


def _conclude(tasks: list[Arguments], results: list[float]) -> Finding:
    found = list(zip(tasks, results, strict=True))
    rows = [
        [name, *(f"{max(r for task, r in found if task[:2] == (name, factor)):.1e}" for factor in FACTORS)]
        for name in PROBLEMS
    ]
    worst = max(results)
    claim = Claim(f"Decisions do not depend on the unit, to {CLOSE:g}", worst <= CLOSE, f"{worst:.1e} at most")
    summary = [
        f"Losses and the price of moving were multiplied by numbers from {FACTORS[0]:g} to {FACTORS[-1]:g}.",
        f"Decisions changed by {worst:.0e} of the domain's diameter at most, over {len(results)} runs.",
    ]
    header = ["losses and prices times", *(f"{factor:g}" for factor in FACTORS)]
    table = Table("Largest change of a coordinate of a decision, in diameters", header, rows)
    return Finding(STUDY.title, summary, [table], [claim])


STUDY = Study("units", "Self-tuned Scream in other units", _tasks, run, _conclude)
