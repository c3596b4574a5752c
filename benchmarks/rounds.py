"""Time a round of Scream: compiled play, by hand, plain NumPy and plain C, side by side in one run.

Run with ``python benchmarks/rounds.py``. Every contender does the same arithmetic on the same stream (T = 50 000,
d = 10, N = 9), they take turns, and the fastest of several turns counts. A C compiler is looked for as ``cc`` and
``gcc``; without one its rows are left out. The last rows are start-up times in fresh processes with a warm cache.
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
DECISIONS = dw.play(LEARNER.clone(), LOSSES).decisions
GRADIENTS = [LOSSES.gradient(t, w) for t, w in enumerate(DECISIONS)]


def compiled_play() -> np.ndarray:
    return dw.play(LEARNER.clone(), LOSSES, switching_cost=2.0).decisions


def by_hand() -> np.ndarray:
    """Return the last decision of the two verbs, round by round, fed with gradients that are there already."""
    learner = LEARNER.clone()
    for gradient in GRADIENTS:
        w = learner.act()
        learner.observe(gradient)
    return w[None]


def numpy_scream(gradients: list[np.ndarray] | None = None) -> np.ndarray:
    """Scream as one would write it in NumPy, vectorised over base-learners.

    Given gradients it does what `by_hand` does; without, it evaluates and writes down what `play` does.
    """
    features, targets, steps = LOSSES.data.features, LOSSES.data.targets, LEARNER.step_sizes[:, None]
    points = previous = np.zeros((COUNT, DIM))
    log_weights = LEARNER.program.log_prior.copy()
    decisions, losses, moves = np.empty((ROUNDS, DIM)), np.empty(ROUNDS), np.zeros(ROUNDS)
    for t in range(ROUNDS):
        weights = np.exp(log_weights - log_weights.max())
        w = (weights / weights.sum()) @ points
        if gradients is None:
            residual = w @ features[t] - targets[t]
            gradient = residual * features[t]
            decisions[t], losses[t] = w, 0.5 * residual * residual
            if t > 0:
                step = w - decisions[t - 1]
                moves[t] = np.sqrt(step @ step)
        else:
            gradient = gradients[t]
        moved = np.sqrt(((points - previous) ** 2).sum(axis=1))
        log_weights = log_weights - RATE * (points @ gradient + 2.0 * moved)
        previous, points = points, points - steps * gradient
        points = points / np.maximum(np.sqrt((points * points).sum(axis=1)), 1.0)[:, None]
    return np.asarray(w[None]) if gradients else decisions


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
        "play, loss included": compiled_play,
        "NumPy, loss included": numpy_scream,
        "act + observe, given gradients": by_hand,
        "NumPy, given gradients": lambda: numpy_scream(GRADIENTS),
    }
    with tempfile.TemporaryDirectory() as name:
        compiler = shutil.which("cc") or shutil.which("gcc")
        if compiler:
            contenders["C -O3, loss included"] = c_loop(compiler, ["-O3"], Path(name))
            contenders["C -O3 -march=native, loss included"] = c_loop(compiler, ["-O3", "-march=native"], Path(name))
        best = dict.fromkeys(contenders, np.inf)
        for turn in range(TURNS):
            for label, run in contenders.items():
                if turn >= 5 and label.startswith("NumPy"):
                    continue
                start = time.perf_counter()
                decisions = run()
                best[label] = min(best[label], (time.perf_counter() - start) / ROUNDS)
                np.testing.assert_allclose(decisions, DECISIONS[-len(decisions) :], rtol=0.0, atol=1e-9)

    print(f"Scream, T = {ROUNDS}, d = {DIM}, N = {COUNT}; {platform.machine()}, Python {platform.python_version()}")
    for label, seconds in best.items():
        print(f"{label:<42}{seconds * 1e6:>8.3f} us / round")
    print()
    play, hand = best["play, loss included"], best["act + observe, given gradients"]
    ratios = [
        ("NumPy / play", best["NumPy, loss included"] / play, "at least 50"),
        ("NumPy / act + observe", best["NumPy, given gradients"] / hand, "at least 8"),
    ]
    for label in best:
        if label.startswith("C "):
            ratios.append((f"play / {label.split(',')[0]}", play / best[label], "at most 1.6"))
    if not compiler:
        print("no C compiler was found, so there is no comparison with C")
    for label, ratio, target in ratios:
        print(f"{label:<42}{ratio:>8.2f}   target {target}")
    # Names are imported when they are first used, so one is used.
    start_up = fresh_process("import driftwise; driftwise.Scream")
    first = fresh_process(
        "import driftwise as dw\n"
        "learner = dw.Scream(dw.Ball(10), switching_cost=2.0, gradient_bound=2.0, horizon=1000)\n"
        "dw.play(learner, dw.streams.drifting_regression(1000))"
    )
    print(f"{'import a learner, warm cache':<42}{start_up:>7.2f}s   target under 0.5")
    print(f"{'import and first play, warm cache':<42}{first:>7.2f}s   target under 1.5")


if __name__ == "__main__":
    main()
