"""Measure what a new user waits for: compilation, in CPU seconds from an empty cache, and the start with a full one.

Run with ``python benchmarks/cold.py``. Every row is a fresh process with a folder for machine code of its own; CPU
seconds are that process's own account, importing included. The last rows, with a full cache, are seconds of the clock:
the best of five. ``--against PATH`` puts another version of driftwise beside this one, by its source folder (such as
``src`` in a git worktree of the commit before).
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

SOURCE = Path(__file__).parents[1] / "src"

LEARNER = "import driftwise as dw, numpy as np\n"
CONTROL = LEARNER + "from driftwise import control\nplant = control.double_integrator()\n"
BOX = "dw.Box([0.0], [100.0])"


def two_verbs(learner: str, act: str = "act()") -> str:
    return LEARNER + f"learner = {learner}\nlearner.{act}\nlearner.observe(np.ones(learner.domain.dim))"


def one_step(controller: str) -> str:
    verbs = "controller.act([1.0, 0.0])\ncontroller.observe(control.QuadraticCost(1.0, 1.0))"
    return CONTROL + f"controller = {controller}\n{verbs}"


def rounds_of(learner: str, losses: str) -> str:
    """Return two rounds by hand, after which everything has been compiled."""
    verbs = "for loss in losses:\n    learner.act()\n    learner.observe(loss)\nlearner.act()"
    return LEARNER + f"losses = {losses}\nlearner = {learner}\n{verbs}"


class Row(NamedTuple):
    """What is measured, and what it should not exceed."""

    label: str
    code: str
    target: float | None
    beyond: str | None = None
    """The row whose seconds the target is counted from."""


TUNED = "SelfTunedScream on a box, act + observe"
CAPACITY = "SelfTunedLearner on a box, capacity losses"
CONTROLLER = "SelfTunedController, act + observe"
COLD = (
    Row("import a learner", "import driftwise; driftwise.Scream", None),
    Row(
        CAPACITY,
        rounds_of(f"dw.SelfTunedLearner({BOX}, switching_cost=5.0)", "dw.CapacityLoss([3.0, 4.0], shortage=5.0)"),
        10.0,
    ),
    Row(
        "SelfTunedLearner on a ball, squared losses",
        rounds_of("dw.SelfTunedLearner(dw.Ball(10), switching_cost=2.0)", "dw.streams.drifting_regression(2)"),
        10.0,
    ),
    Row(
        "SelfTunedLearner on a ball, gradients",
        rounds_of("dw.SelfTunedLearner(dw.Ball(10), switching_cost=2.0)", "[np.ones(10), -np.ones(10)]"),
        10.0,
    ),
    Row(TUNED, two_verbs(f"dw.SelfTunedScream({BOX}, switching_cost=5.0)"), 6.0),
    Row(
        "Scream on a ball, play with squared losses",
        LEARNER + "learner = dw.Scream(dw.Ball(10), switching_cost=2.0, gradient_bound=2.0, horizon=1000)\n"
        "dw.play(learner, dw.streams.drifting_regression(1000))",
        6.0,
    ),
    Row(
        "Committee, act + observe twice",
        LEARNER + "committee = dw.Committee(2, switching_cost=4.0)\n"
        "for _ in range(2):\n    committee.act([1.0, 2.0])\n    committee.observe(np.array([0.5, 0.4]))",
        3.0,
    ),
    Row("ScreamController, act + observe", one_step("control.ScreamController(plant)"), 12.0),
    Row(CONTROLLER, one_step("control.SelfTunedController(plant)"), 12.0),
    Row(
        "SelfTunedScream with a hint",
        two_verbs(f"dw.SelfTunedScream({BOX}, switching_cost=5.0)", "act(hint=np.ones(1))"),
        4.0,
        TUNED,
    ),
    Row(
        "SelfTunedScream with a MoveCost",
        two_verbs(f"dw.SelfTunedScream({BOX}, switching_cost=dw.MoveCost(up=5.0, down=1.0))"),
        4.0,
        TUNED,
    ),
    Row("driftwise warmup: everything", "from driftwise.warmup import warm_up\nwarm_up()", 60.0),
)
WARM = (
    Row("import a learner", "import driftwise; driftwise.Scream", None),
    *(Row(f"import and {row.label}", row.code, 1.2) for row in COLD if row.label in (CAPACITY, TUNED, CONTROLLER)),
)


def seconds(code: str, source: Path, cache: str, clock: str) -> float | None:
    """Return what `code` takes in a new Python by its own account; None where this version cannot run it."""
    script = f"import time; began = time.{clock}()\n{code}\nprint(time.{clock}() - began)"
    # In the version before there is no folder for driftwise alone, so numba's own is set.
    environment = {**os.environ, "PYTHONPATH": str(source), "NUMBA_CACHE_DIR": cache, "DRIFTWISE_CACHE_DIR": cache}
    result = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True)
    return float(result.stdout.splitlines()[-1]) if result.returncode == 0 else None


def cold(row: Row, source: Path) -> float | None:
    with tempfile.TemporaryDirectory() as cache:
        return seconds(row.code, source, cache, "process_time")


def warm(row: Row, source: Path, turns: int) -> float | None:
    with tempfile.TemporaryDirectory() as cache:
        first = seconds(row.code, source, cache, "perf_counter")
        if first is None:
            return None
        return min(seconds(row.code, source, cache, "perf_counter") or first for _ in range(turns))


def text(value: float | None) -> str:
    return f"{'-':>10}" if value is None else f"{value:>10.2f}"


def report(title: str, rows: list[tuple[Row, list[float | None]]], versions: list[str]) -> None:
    print(f"\n{title:<55}{''.join(f'{version:>10}' for version in versions)}    target")
    base = {row.label: values for row, values in rows}
    for row, values in rows:
        if row.beyond in base:
            pairs = zip(values, base[row.beyond], strict=True)
            values = [None if a is None or b is None else a - b for a, b in pairs]
        label = f"{row.label}: more" if row.beyond in base else row.label
        target = "" if row.target is None else f"at most {row.target:g}"
        print(f"{label:<55}{''.join(map(text, values))}    {target}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--against", type=Path, metavar="PATH", help="source folder of another version")
    parser.add_argument("--quick", action="store_true", help="the first rows only, to see that it runs")
    chosen = parser.parse_args()
    sources = [SOURCE, *([chosen.against.resolve()] if chosen.against else [])]
    versions = ["this", *(["other"] if chosen.against else [])]
    cold_rows, warm_rows, turns = (COLD[:1], WARM[:1], 1) if chosen.quick else (COLD, WARM, 5)
    measured = [(row, [cold(row, source) for source in sources]) for row in cold_rows]
    report("CPU seconds from an empty cache", measured, versions)
    measured = [(row, [warm(row, source, turns) for source in sources]) for row in warm_rows]
    report("Seconds with a full cache", measured, versions)


if __name__ == "__main__":
    main()
