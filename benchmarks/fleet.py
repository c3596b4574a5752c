"""Time fleets: a round of many learners beside `play` of one, two threads beside one, saving beside plain writing.

Run with ``python benchmarks/fleet.py``. The contenders of a row are run in turns in one process, and the fastest of
several turns counts; times are per member and round. ``--members`` and ``--many`` make the fleets smaller. Memory is
that of the arrays of the fleet, as `Fleet.nbytes` counts them, and the largest that the whole process has had.
"""

import argparse
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

import driftwise as dw

HORIZON, LAMBDA, BOUND, DIM = 50_000, 2.0, 2.0, 10


class Row(NamedTuple):
    """A line of the table."""

    label: str
    value: float
    unit: str
    goal: str


def fastest(turns: int, *contenders: Callable[[], int]) -> list[float]:
    """Return the least microseconds per unit of work of each, run in turns; they return how much they have done."""
    least = [float("inf")] * len(contenders)
    for _ in range(turns):
        for i, contender in enumerate(contenders):
            begun = time.perf_counter()
            done = contender()
            least[i] = min(least[i], (time.perf_counter() - begun) / done * 1e6)
    return least


def scream() -> dw.Scream:
    return dw.Scream(dw.Ball(DIM), switching_cost=LAMBDA, gradient_bound=BOUND, horizon=HORIZON)


def rounds(members: int, turns: int) -> list[Row]:
    """Time Scream (N = 9, d = 10): play of one, act and observe of a fleet, play of a fleet."""
    long = dw.streams.drifting_regression(20_000, DIM, seed=0)
    part, length = max(members // 500, 2), min(1000, members)
    short = [dw.streams.drifting_regression(length, DIM, seed=seed) for seed in range(20)]
    streams = [short[i % len(short)] for i in range(part)]
    gradients = np.random.default_rng(0).normal(size=(members, DIM))
    fleets = {workers: dw.Fleet(scream(), members, workers=workers) for workers in (1, 2)}
    players = {workers: dw.Fleet(scream(), part, workers=workers) for workers in (1, 2)}

    def alone() -> int:
        dw.play(scream(), long)
        return len(long)

    def by_hand(workers: int) -> Callable[[], int]:
        def run() -> int:
            fleets[workers].act()
            fleets[workers].observe(gradients)
            return members

        return run

    def playing(workers: int) -> Callable[[], int]:
        def run() -> int:
            dw.play(players[workers], streams)
            return part * length

        return run

    one, act, act2, play, play2 = fastest(turns, alone, by_hand(1), by_hand(2), playing(1), playing(2))
    return [
        Row("play of one Scream", one, "us a round", ""),
        Row(f"act and observe, {members} members, one thread", act, "us a member", ""),
        Row("  over play of one", act / one, "", "<= 1.1"),
        Row("  one thread over two", act / act2, "", ">= 1.7"),
        Row(f"play, {part} members, one thread", play, "us a member", ""),
        Row("  over play of one", play / one, "", "<= 1.1"),
        Row("  one thread over two", play / play2, "", ">= 1.7"),
        Row("  memory of a member", fleets[1].bytes_per_member, "bytes", ""),
    ]


def many(members: int, turns: int, folder: Path) -> list[Row]:
    """Time SelfTunedScream (d = 1): a round, memory, saving and loading."""
    fleet = dw.Fleet(dw.SelfTunedScream(dw.Box([0.0], [100.0]), switching_cost=5.0), members, workers=1)
    targets, spent = np.random.default_rng(0).uniform(10.0, 90.0, size=(members, 1)), []
    for _ in range(20 + turns):
        begun = time.perf_counter()
        fleet.observe(fleet.act() - targets)
        spent.append((time.perf_counter() - begun) / members * 1e6)
    path, plain = folder / "fleet", folder / "plain"
    begun = time.perf_counter()
    fleet.save(path)
    saved = time.perf_counter() - begun
    data = path.read_bytes()
    begun = time.perf_counter()
    with open(plain, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    written = time.perf_counter() - begun
    size = len(data)
    del data
    plain.unlink()
    begun = time.perf_counter()
    again = dw.load(path)
    loaded = time.perf_counter() - begun
    if again.decisions().tobytes() != fleet.decisions().tobytes():
        raise SystemExit("the fleet that was loaded decides otherwise")
    path.unlink()
    return [
        Row(f"act and observe, {members} members, one thread, fastest", min(spent[-turns:]), "us a member", "<= 1.5"),
        Row("  the same, slowest round of all (states are laid out anew)", max(spent), "us a member", ""),
        Row("  memory of the fleet", fleet.nbytes / 1e9, "GB", "< 4"),
        Row("  the most that this process has had", peak(), "GB", ""),
        Row("  size of its file", size / 1e9, "GB", ""),
        Row("  save, over plain writing and fsync of these bytes", written / saved, "of the rate", ">= 0.5"),
        Row("  load", size / loaded / 1e9, "GB a second", ""),
    ]


def peak() -> float:
    """Return the most memory that this process has had, in GB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1e9 if sys.platform == "darwin" else 1e6)


def single(turns: int, folder: Path) -> list[Row]:
    """Time saving and loading one learner."""
    learner, path = dw.SelfTunedScream(dw.Ball(DIM), switching_cost=LAMBDA), folder / "learner"
    learner.act()
    learner.observe(np.ones(DIM))

    def run() -> int:
        learner.save(path)
        dw.load(path)
        return 1

    def plain() -> int:
        data = learner.to_bytes()
        dw.from_bytes(data)
        return 1

    saving, bare = fastest(max(turns * 10, 20), run, plain)
    return [
        Row("save and load of one learner", saving / 1000.0, "ms", "< 1"),
        Row("  without the disk: to_bytes and from_bytes", bare / 1000.0, "ms", ""),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--members", type=int, default=100_000, help="of the fleet of Scream (default 100000)")
    parser.add_argument("--many", type=int, default=1_000_000, help="of the fleet of SelfTunedScream (default 1000000)")
    parser.add_argument("--turns", type=int, default=5, help="turns that every contender has (default 5)")
    parser.add_argument("--folder", type=Path, help="where files are written; by default a new one for temporary files")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=given.folder) as name:
        rows = single(given.turns, Path(name)) + rounds(given.members, given.turns)
        rows += many(given.many, given.turns, Path(name))
    for row in rows:
        goal = f"  (goal {row.goal})" if row.goal else ""
        print(f"{row.label:64} {row.value:10.3f} {row.unit}{goal}")


if __name__ == "__main__":
    main()
