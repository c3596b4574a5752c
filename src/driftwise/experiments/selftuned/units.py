"""Self-tuned Scream in other units: losses and prices multiplied by a number."""

from driftwise.domains import Ball
from driftwise.experiments.finding import Claim, Finding, Table
from driftwise.experiments.study import Size, Study, Task
from driftwise.learners import SelfTunedScream
from driftwise.losses import SquaredLoss
from driftwise.play import play
from driftwise.streams import drifting_regression

FACTORS = (1e-6, 1e-3, 1e3, 1e6)
CLOSE = 1e-6


def run(factor: float, price: float, rounds: int, seed: int) -> float:
    """Return how far decisions are at most from those for losses and prices that are `factor` times as large."""
    losses = drifting_regression(rounds, seed=seed)
    root = factor**0.5
    scaled = SquaredLoss(root * losses.data.features, root * losses.data.targets)
    plain = play(SelfTunedScream(Ball(losses.dim), switching_cost=price), losses)
    other = play(SelfTunedScream(Ball(losses.dim), switching_cost=factor * price), scaled)
    return float(abs(other.decisions - plain.decisions).max())


def _tasks(size: Size) -> list[Task]:
    rounds, seeds = (5000, range(1)) if size.quick else (50_000, range(3))
    return [(factor, price, rounds, seed) for factor in FACTORS for price in (0.2, 4.0) for seed in seeds]


def _conclude(tasks: list[Task], results: list[float]) -> Finding:
    rows = [
        [f"{factor:g}", f"{max(r for task, r in zip(tasks, results, strict=True) if task[0] == factor):.1e}"]
        for factor in FACTORS
    ]
    worst = max(results)
    claim = Claim(f"Decisions do not depend on the unit, to {CLOSE:g}", worst <= CLOSE, f"{worst:.1e} at most")
    summary = (
        f"When losses and the price of moving are multiplied by numbers from {FACTORS[0]:g} to {FACTORS[-1]:g}, decisions "
        f"in the unit ball change by {worst:.0e} at most."
    )
    table = Table("Largest change of a coordinate of a decision", ["losses and prices times", "change"], rows)
    return Finding(STUDY.title, summary, [table], [claim])


STUDY = Study("units", "Self-tuned Scream in other units", _tasks, run, _conclude)
