"""Time a round of Scream: compiled play, by hand, plain NumPy and plain C, side by side in one run.

Run with ``python benchmarks/rounds.py``. Every contender does the same arithmetic on the same stream (T = 50 000, d = 10,
N = 9), they take turns, and the fastest of several turns counts. A C compiler is looked for as ``cc`` and ``gcc``; without
one its rows are left out. The last rows are start-up times in fresh processes with a warm cache.
"""

import argparse
import ctypes
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import driftwise as dw

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--rounds", type=int, default=50_000, help="rounds in the stream (default: 50000)")
ROUNDS = parser.parse_args().rounds
DIM, TURNS = 10, 9
LOSSES = dw.streams.drifting_regression(ROUNDS, DIM, seed=0)
LEARNER = dw.Scream(dw.Ball(DIM), switching_cost=2.0, gradient_bound=2.0, horizon=ROUNDS)
COUNT = LEARNER.step_sizes.size
RATE = LEARNER.program.rate / ROUNDS**0.5


def compiled_play() -> np.ndarray:
    return dw.play(LEARNER.clone(), LOSSES, switching_cost=2.0).decisions


def by_hand() -> np.ndarray:
    """Two verbs a round; the loss is the user's own, in NumPy, and its time is taken off below."""
    learner, decisions = LEARNER.clone(), np.empty((ROUNDS, DIM))
    for t in range(ROUNDS):
        w = learner.act()
        decisions[t] = w
        learner.observe((w @ LOSSES.data.features[t] - LOSSES.data.targets[t]) * LOSSES.data.features[t])
    return decisions


def loss_alone() -> np.ndarray:
    """What `by_hand` does besides the two verbs."""
    w, decisions = LEARNER.act(), np.empty((ROUNDS, DIM))
    for t in range(ROUNDS):
        decisions[t] = w
        (w @ LOSSES.data.features[t] - LOSSES.data.targets[t]) * LOSSES.data.features[t]
    return decisions


def numpy_scream() -> np.ndarray:
    """A round of Scream as one would write it in NumPy, vectorised over base-learners; the loss is part of it."""
    features, targets, steps = LOSSES.data.features, LOSSES.data.targets, LEARNER.step_sizes[:, None]
    points = previous = np.zeros((COUNT, DIM))
    log_weights, decisions = LEARNER.program.log_prior.copy(), np.empty((ROUNDS, DIM))
    for t in range(ROUNDS):
        weights = np.exp(log_weights - log_weights.max())
        w = (weights / weights.sum()) @ points
        decisions[t] = w
        gradient = (w @ features[t] - targets[t]) * features[t]
        moved = np.sqrt(((points - previous) ** 2).sum(axis=1))
        log_weights = log_weights - RATE * (points @ gradient + 2.0 * moved)
        previous, points = points, points - steps * gradient
        points = points / np.maximum(np.sqrt((points * points).sum(axis=1)), 1.0)[:, None]
    return decisions


def c_loop(compiler: str, flags: list[str], folder: Path) -> Callable[[], np.ndarray]:
    """Compile `scream.c` and return a function that plays the stream with it."""
    library = folder / f"scream{len(flags)}.so"
    source = Path(__file__).with_name("scream.c")
    subprocess.run([compiler, *flags, "-shared", "-fPIC", "-o", library, source, "-lm"], check=True)
    function = ctypes.CDLL(str(library)).scream

    def address(values: np.ndarray) -> ctypes.c_void_p:
        return ctypes.c_void_p(values.ctypes.data)

    def run() -> np.ndarray:
        decisions, losses, moves = np.empty((ROUNDS, DIM)), np.empty(ROUNDS), np.empty(ROUNDS)
        room = [np.empty((COUNT, DIM)), np.empty((COUNT, DIM)), np.empty(COUNT), np.empty(COUNT), np.empty(DIM)]
        sizes = [ctypes.c_long(size) for size in (ROUNDS, DIM, COUNT)]
        data = [LOSSES.data.features, LOSSES.data.targets, LEARNER.step_sizes, LEARNER.program.log_prior]
        numbers = [ctypes.c_double(number) for number in (RATE, 2.0, 1.0)]
        function(*sizes, *map(address, data), *numbers, *map(address, [*room, decisions, losses, moves]))
        return decisions

    return run


def fresh_process(code: str) -> float:
    """Return the seconds that `code` takes in a new Python, by its own account: the best of five."""
    script = f"import time; start = time.perf_counter()\n{code}\nprint(time.perf_counter() - start)"
    outputs = [subprocess.run([sys.executable, "-c", script], check=True, capture_output=True) for _ in range(5)]
    return min(float(output.stdout) for output in outputs)


def main() -> None:
    contenders: dict[str, Callable[[], np.ndarray]] = {
        "play": compiled_play,
        "act + observe, with the loss in NumPy": by_hand,
        "the loss in NumPy alone": loss_alone,
        "NumPy Scream": numpy_scream,
    }
    with tempfile.TemporaryDirectory() as name:
        compiler = shutil.which("cc") or shutil.which("gcc")
        if compiler:
            contenders["C, -O3"] = c_loop(compiler, ["-O3"], Path(name))
            contenders["C, -O3 -march=native"] = c_loop(compiler, ["-O3", "-march=native"], Path(name))
        reference = compiled_play()
        best: dict[str, float] = {}
        for turn in range(TURNS):
            for label, run in contenders.items():
                if turn >= 3 and label not in ("play", "C, -O3", "C, -O3 -march=native"):
                    continue
                start = time.perf_counter()
                decisions = run()
                seconds = (time.perf_counter() - start) / ROUNDS
                best[label] = min(best.get(label, np.inf), seconds)
                if label != "the loss in NumPy alone":
                    np.testing.assert_allclose(decisions, reference, rtol=0.0, atol=1e-9)

    verbs = best["act + observe, with the loss in NumPy"] - best["the loss in NumPy alone"]
    numpy_round = best["NumPy Scream"] - best["the loss in NumPy alone"]
    print(f"Scream, T = {ROUNDS}, d = {DIM}, N = {COUNT}; {platform.machine()}, Python {platform.python_version()}")
    print(f"{'':<42}{'us / round':>10}")
    rows: list[tuple[str, float]] = [*best.items(), ("act + observe, without the loss", verbs)]
    for label, seconds in rows:
        print(f"{label:<42}{seconds * 1e6:>10.3f}")
    print()
    ratios: list[tuple[str, float, str]] = [
        ("NumPy round / play (its loss included)", best["NumPy Scream"] / best["play"], "at least 50"),
        ("NumPy round / act + observe (both without loss)", numpy_round / verbs, "at least 8"),
    ]
    for label in ("C, -O3", "C, -O3 -march=native"):
        if label in best:
            ratios.insert(0, (f"play / {label}", best["play"] / best[label], "at most 1.6"))
    if not compiler:
        print("no C compiler was found, so there is no comparison with C")
    for label, ratio, target in ratios:
        print(f"{label:<50}{ratio:>8.2f}   target {target}")
    start_up = fresh_process("import driftwise")
    first = fresh_process(
        "import driftwise as dw\n"
        "learner = dw.Scream(dw.Ball(10), switching_cost=2.0, gradient_bound=2.0, horizon=1000)\n"
        "dw.play(learner, dw.streams.drifting_regression(1000))"
    )
    print(f"{'import driftwise, warm cache':<50}{start_up:>7.2f}s   target under 0.5")
    print(f"{'import and first play, warm cache':<50}{first:>7.2f}s   target under 1.5")


if __name__ == "__main__":
    main()
