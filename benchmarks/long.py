"""Time the rounds of a long run: the last tenth beside the first, in CPU seconds, and the bytes of the state.

Run with ``python benchmarks/long.py``; ``--rounds`` says how many (10^6; a tenth of that for SelfTunedLearner). Every
learner plays compiled chunks of one stream one after the other. Without a horizon pools grow with the logarithm of the
rounds, so later rounds of these take somewhat longer.
"""

import argparse
import platform
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import driftwise as dw

PRICE = 0.5
BOX = dw.Box([-1.0, 0.0], [1.0, 3.0])

LEARNERS: dict[str, Callable[[], Any]] = {
    "OGD": lambda: dw.OGD(BOX, gradient_bound=3.0),
    "Ader": lambda: dw.Ader(BOX, gradient_bound=3.0),
    "Scream": lambda: dw.Scream(BOX, switching_cost=PRICE, gradient_bound=3.0),
    "Scream, doubling": lambda: dw.Scream(BOX, switching_cost=PRICE, gradient_bound=3.0, horizon_free="doubling"),
    "StronglyAdaptive": lambda: dw.StronglyAdaptive(BOX, switching_cost=PRICE, gradient_bound=3.0),
    "SelfTunedScream": lambda: dw.SelfTunedScream(BOX, switching_cost=PRICE),
    "SelfTunedLearner": lambda: dw.SelfTunedLearner(BOX, switching_cost=PRICE),
}


def chunk(first: int, rounds: int) -> dw.LinearLoss:
    """Return some rounds of the stream."""
    wave = np.sin(2e-4 * np.arange(first, first + rounds))[:, None]
    return dw.LinearLoss(wave + np.random.default_rng(first).uniform(-1.0, 1.0, (rounds, 2)))


def measure(name: str, rounds: int) -> tuple[float, float, int, int]:
    """Return the microseconds of a round in the first and in the last tenth, and the bytes saved after each."""
    learner, tenth, took, saved = LEARNERS[name](), rounds // 10, [], []
    dw.play(learner.clone(), chunk(0, 10))  # what has to be compiled
    for first in range(0, rounds, tenth):
        losses = chunk(first, tenth)
        start = time.process_time()
        dw.play(learner, losses)
        took.append(1e6 * (time.process_time() - start) / tenth)
        saved.append(len(learner.to_bytes()))
    return took[0], took[-1], saved[0], saved[-1]


def main() -> None:
    """Measure every learner and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=1_000_000)
    rounds = parser.parse_args().rounds
    print(f"driftwise {dw.__version__}, {platform.machine()}, Python {platform.python_version()}, {rounds} rounds")
    print(f"{'learner':<20}{'first us':>10}{'last us':>10}{'ratio':>8}{'bytes':>10}{'at the end':>12}")
    for name in LEARNERS:
        first, last, before, after = measure(name, rounds // 10 if name == "SelfTunedLearner" else rounds)
        print(f"{name:<20}{first:>10.3f}{last:>10.3f}{last / first:>8.2f}{before:>10}{after:>12}")


if __name__ == "__main__":
    main()
