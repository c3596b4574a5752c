"""Time a round of SelfTunedLearner: all estimators, and how it grows with the pairs and with the coordinates.

Run with ``python benchmarks/pairs.py``. Every row is `play` on a stream of its own, with everybody in the pool
who suits its losses; the fastest of several turns counts, and rows take turns.
"""

import argparse
import platform
import time
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import driftwise as dw

Array = NDArray[np.float64]

ROUNDS, PRICE = 4000, 2.0
FULL, DIAGONAL = (8, 16, 32, 64), (128, 256, 512, 1024)
"""Numbers of coordinates with full matrices, and with diagonals."""

MORE = (0, 16, 32, 64)
"""Proposals beside the estimators; each has eight pairs."""


class Case(NamedTuple):
    """A learner on a stream: a row of a table."""

    label: str
    losses: dw.LossStream
    proposals: int = 0
    target: float | None = None
    """Microseconds that a round may take."""
    by_hand: bool = False
    """Whether it is played with the two verbs, and not in one go."""


def data(dim: int, rounds: int) -> tuple[Array, Array]:
    """Return features and targets."""
    rng = np.random.default_rng(dim)
    x = rng.normal(size=(max(rounds, 20), dim))
    return x, x @ rng.normal(size=dim) / dim + 0.1 * rng.normal(size=len(x))


def usual(rounds: int) -> list[Case]:
    """Return the rows with all estimators."""
    (x, y), (demand, _) = data(10, rounds), data(1, rounds)
    return [
        Case("squared losses, d = 10", dw.SquaredLoss(x, y), target=12.0),
        Case("the same by hand", dw.SquaredLoss(x, y), by_hand=True),
        Case("quantile losses, d = 10", dw.QuantileLoss(x, y, quantile=0.9)),
        Case("tracking, d = 10", dw.TrackingLoss(x)),
        Case("capacity, d = 1", dw.CapacityLoss(3.0 + demand, shortage=5.0)),
        Case("gradients only, d = 10", dw.LinearLoss(x)),
    ]


def with_more_pairs(rounds: int) -> list[Case]:
    """Return the rows with more and more proposals beside the estimators."""
    x, y = data(10, rounds)
    return [Case(f"{count} proposals", dw.SquaredLoss(x, y), count) for count in MORE]


def with_more_coordinates(rounds: int) -> list[Case]:
    """Return the rows with more and more coordinates, each for fewer rounds."""
    # Not too few, or making the pool would count.
    lengths = {dim: max(rounds * 8 // dim, min(rounds, 500)) for dim in FULL + DIAGONAL}
    return [Case(f"d = {dim}", dw.SquaredLoss(*data(dim, lengths[dim]))) for dim in FULL + DIAGONAL]


def played(case: Case) -> tuple[float, int]:
    """Play a row, and return the seconds of a round, and the number of pairs."""
    losses, rng = case.losses, np.random.default_rng(0)
    learner = dw.SelfTunedLearner(dw.Ball(losses.dim), switching_cost=PRICE)
    table = {f"proposal {i}": 0.1 * rng.normal(size=(len(losses), losses.dim)) for i in range(case.proposals)}
    rounds, began = [losses[t] for t in range(len(losses))], time.perf_counter()
    if case.by_hand:
        for loss in rounds:
            learner.act()
            learner.observe(loss)
    else:
        dw.play(learner, losses, proposals=table or None)
    return (time.perf_counter() - began) / len(losses), len(learner.members)


def measure(cases: list[Case], turns: int) -> list[tuple[Case, float, int]]:
    """Let the rows take turns, and return each with its best microseconds and its pairs."""
    for case in cases:
        played(case)  # compiles
    found = [[played(case) for case in cases] for _ in range(turns)]
    return [(case, 1e6 * min(turn[i][0] for turn in found), found[0][i][1]) for i, case in enumerate(cases)]


def rate(before: tuple[float, float], after: tuple[float, float]) -> float:
    """Return the power by which the second number grows with the first."""
    return float(np.log(after[1] / before[1]) / np.log(after[0] / before[0]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--rounds", type=int, default=ROUNDS, help=f"rounds of a row (default: {ROUNDS}; less where d > 10)"
    )
    parser.add_argument("--turns", type=int, default=7, help="turns that each row takes (default: 7)")
    chosen = parser.parse_args()
    print(f"T = {chosen.rounds} (less where d > 10); {platform.machine()}, Python {platform.python_version()}")
    print(f"\n{'all estimators':<28}{'pairs':>8}{'us a round':>12}    target")
    for case, best, pairs in measure(usual(chosen.rounds), chosen.turns):
        print(f"{case.label:<28}{pairs:>8}{best:>12.2f}    {f'at most {case.target:g}' if case.target else ''}")
    print(f"\n{'more pairs, d = 10':<28}{'pairs':>8}{'us a round':>12}{'us a pair more':>16}")
    (_, first, few), *rest = measure(with_more_pairs(chosen.rounds), chosen.turns)
    print(f"{'no proposals':<28}{few:>8}{first:>12.2f}{'':>16}    the same for all below: linear")
    for case, best, pairs in rest:
        print(f"{case.label:<28}{pairs:>8}{best:>12.2f}{(best - first) / (pairs - few):>16.4f}")
    print(f"\n{'more coordinates':<28}{'pairs':>8}{'us a round':>12}{'power of d':>12}    target")
    before = None
    for case, best, pairs in measure(with_more_coordinates(chosen.rounds), chosen.turns):
        dim = case.losses.dim
        power = "" if before is None else f"{rate(before, (dim, best)):.2f}"
        full = dim in FULL
        target = (
            ""
            if dim in (FULL[0], DIAGONAL[0])
            else f"at most {2.0 if full else 1.0:g}, with {'matrices' if full else 'diagonals'}"
        )
        print(f"{case.label:<28}{pairs:>8}{best:>12.2f}{power:>12}    {target}")
        before = (dim, best)


if __name__ == "__main__":
    main()
