"""Self-tuned Scream on adversarial streams, next to Scream, which knows the horizon and the gradient bound."""

from collections.abc import Callable

import numpy as np

from driftwise import regret
from driftwise._validate import Array
from driftwise.domains import Ball
from driftwise.experiments.findings.finding import Claim, Finding, Table
from driftwise.experiments.studies.study import Arguments, Size, Study, means
from driftwise.learners import Learner, Scream, SelfTunedScream
from driftwise.losses import LinearLoss
from driftwise.play import play

DIM = 5
PRICES = (0.1, 1.0, 10.0, 100.0)

Generator = np.random.Generator


def _units(rng: Generator, rounds: int) -> Array:
    """Return random unit vectors, one in each row."""
    rows = rng.standard_normal((rounds, DIM))
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


def _along(values: Array) -> Array:
    """Return gradients along the first axis."""
    return np.asarray(values[:, None] * np.eye(DIM)[0])


def _blocks(rng: Generator, T: int, length: int) -> Array:
    return np.repeat(_units(rng, -(-T // length)), length, axis=0)[:T]


def _wave(T: int, half: int) -> Array:
    return _along(np.where((np.arange(T) // half) % 2, 1.0, -1.0))


def _spikes(rng: Generator, T: int) -> Array:
    gradients, hit = 0.05 * _units(rng, T), rng.random(T) < 0.01
    gradients[hit] = _units(rng, int(hit.sum()))
    return gradients


STREAMS: dict[str, Callable[[Generator, int], Array]] = {
    "random signs on a line": lambda rng, T: _along(rng.choice([-1.0, 1.0], T)),
    "random signs": lambda rng, T: rng.choice([-1.0, 1.0], (T, DIM)) / np.sqrt(DIM),
    "blocks of 20": lambda rng, T: _blocks(rng, T, 20),
    "blocks of 400": lambda rng, T: _blocks(rng, T, 400),
    "square wave, 20": lambda rng, T: _wave(T, 10),
    "square wave, 400": lambda rng, T: _wave(T, 200),
    "spikes": _spikes,
    "growing noise": lambda rng, T: _units(rng, T) * np.geomspace(1e-3, 1.0, T)[:, None],
    "shrinking noise": lambda rng, T: _units(rng, T) * np.geomspace(1.0, 1e-3, T)[:, None],
    "drift in noise": lambda rng, T: 0.3 * _blocks(rng, T, 200) + 0.7 * _units(rng, T),
}
"""Gradients of norm at most 1 in five dimensions; decisions are in the unit ball."""

NOISE = ("random signs on a line", "random signs", "spikes", "growing noise", "shrinking noise")
"""Streams on which nothing beats standing still, except by luck."""


def run(stream: str, price: float, rounds: int, seed: int) -> dict[str, float]:
    """Return the cost above the hindsight optimum of both learners and of the best fixed decision."""
    gradients = STREAMS[stream](np.random.default_rng(seed), rounds)
    losses, domain = LinearLoss(gradients), Ball(DIM)
    learners: dict[str, Learner] = {
        "Scream": Scream(domain, switching_cost=price, gradient_bound=1.0, horizon=rounds),
        "Self-tuned Scream": SelfTunedScream(domain, switching_cost=price),
    }
    best = regret.hindsight_optimum(losses, domain, price)
    fixed = -float(np.linalg.norm(gradients.sum(axis=0)))
    excess = {name: play(learner, losses, price).total - best.total for name, learner in learners.items()}
    return {**excess, "Best fixed": fixed - best.total}


def _tasks(size: Size) -> list[Arguments]:
    rounds, seeds = (1000, range(1)) if size.quick else (4000, range(3))
    return [(name, price, rounds, seed) for name in STREAMS for price in PRICES for seed in seeds]


def _conclude(tasks: list[Arguments], results: list[dict[str, float]]) -> Finding:
    cells = means([task[:2] for task in tasks], results)
    ratios = {cell: mean["Self-tuned Scream"] / mean["Scream"] for cell, mean in cells.items()}
    rows = [[name, *(f"{ratios[name, price]:.3f}" for price in PRICES)] for name in STREAMS]
    above = {cell: ratio for cell, ratio in ratios.items() if ratio > 1.0}
    worst = max(ratios, key=lambda cell: ratios[cell])
    text = f"On none of {len(ratios)} adversarial cells does self-tuned Scream cost more than Scream"
    places = "; ".join(f"{name} at lambda {price:g}: {ratio:.3f}" for (name, price), ratio in above.items())
    measured = places if above else f"largest ratio {ratios[worst]:.3f}, {worst[0]} at lambda {worst[1]:g}"
    summary = [
        f"In cost above the hindsight optimum, self-tuned Scream is below Scream in {len(ratios) - len(above)} of "
        f"{len(ratios)} cells.",
        f"The median of the ratios is {np.median(list(ratios.values())):.2f}, the largest {ratios[worst]:.2f}.",
        "The optimum moves too, so that on noise nobody can avoid most of this cost.",
    ]
    if above:
        mean = cells[worst]
        summary.append(
            f"It is above by {ratios[worst] - 1.0:.1%} at most, on {worst[0]} at lambda {worst[1]:g}: "
            f"{mean['Self-tuned Scream']:.0f} more than the optimum, Scream {mean['Scream']:.0f}, the best fixed "
            f"decision {mean['Best fixed']:.0f}."
        )
        if all(name in NOISE and price == min(PRICES) for name, price in above):
            summary.append("All of these streams are noise at the lowest price of moving: there is nothing to learn.")
    details = [[name, f"{price:g}", *(f"{cost:.4g}" for cost in cells[name, price].values())] for name, price in cells]
    header, everyone = ["stream", *(f"lambda = {price:g}" for price in PRICES)], ["stream", "lambda", *results[0]]
    tables = [
        Table("Cost above the hindsight optimum, self-tuned Scream / Scream", header, rows),
        Table("Cost above the hindsight optimum, mean over seeds", everyone, details, detail=True),
    ]
    return Finding(STUDY.title, summary, tables, [Claim(text, not above, measured)])


STUDY = Study("battery", "Self-tuned Scream on adversarial streams", _tasks, run, _conclude)
