"""Time a round: compiled play beside plain C, and the two verbs by hand beside NumPy, all in one run.

Run with ``python benchmarks/rounds.py``. The contenders of a row do the same arithmetic on the same stream, are checked
against each other, and take turns; the fastest of several turns counts. A C compiler is looked for as ``cc`` and
``gcc``; without one its rows are left out. ``--against PATH`` times another version of driftwise in the same run, by
its source folder (such as ``src`` in a git worktree of the commit before). The last rows are start-up times in fresh
processes with a warm cache. A round of SelfTunedLearner is timed by ``benchmarks/pairs.py``.
"""

import argparse
import ctypes
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import driftwise as dw

Array = NDArray[np.float64]
Contender = Callable[[], Array]

HORIZON, LAMBDA, GRADIENT_BOUND = 50_000, 2.0, 2.0
FOLDER = Path(__file__).parent


class Case(NamedTuple):
    """A learner on a stream: a row of the table."""

    label: str
    learner: Any
    losses: Any
    target: float
    """Largest ratio of `play` to C."""
    source: str
    """The C file with the same algorithm."""


def cases(rounds: int) -> list[Case]:
    """Return the rows; wide decisions are played for fewer rounds, with as many base-learners."""
    rows = []
    for dim, part, target in ((10, 1, 1.25), (100, 10, 1.1), (1000, 50, 1.1)):
        learner = dw.Scream(dw.Ball(dim), switching_cost=LAMBDA, gradient_bound=GRADIENT_BOUND, horizon=HORIZON)
        losses = dw.streams.drifting_regression(max(rounds // part, 20), dim, seed=0)
        rows.append(Case(f"Scream, ball, d = {dim}", learner, losses, target, "scream.c"))
    tuned = dw.SelfTunedScream(dw.Ball(10), switching_cost=LAMBDA)
    rows.append(Case("Self-tuned, ball, d = 10", tuned, rows[0].losses, 1.25, "self_tuned.c"))
    rng, tuned = np.random.default_rng(0), dw.SelfTunedScream(dw.Box([0.0], [100.0]), switching_cost=5.0)
    demand = 50.0 + 20.0 * np.sin(np.arange(rounds) / 500.0) + rng.normal(size=rounds)
    rows.append(
        Case("Self-tuned, box, d = 1", tuned, dw.SquaredLoss(np.ones((rounds, 1)), demand), 1.25, "self_tuned.c")
    )
    return rows


HAND = {0: 2.0, 3: 2.5}
"""Rows that are also played by hand, and the microseconds that a round of it may take."""


def play(case: Case) -> Contender:
    return lambda: dw.play(case.learner.clone(), case.losses).decisions


def by_hand(case: Case, gradients: list[Array]) -> Contender:
    """Return the two verbs, round by round, fed with gradients that are there already; it keeps the last decision."""

    def run() -> Array:
        learner = case.learner.clone()
        for gradient in gradients:
            w = learner.act()
            learner.observe(gradient)
        return np.asarray(w[None])

    return run


def gradients_of(case: Case) -> list[Array]:
    """Return the gradients at the decisions of `play`."""
    decisions = dw.play(case.learner.clone(), case.losses).decisions
    return [case.losses.gradient(t, w) for t, w in enumerate(decisions)]


def numpy_scream(case: Case, gradients: list[Array] | None = None) -> Contender:
    """Return Scream as one would write it in NumPy, vectorised over base-learners.

    Given gradients it does what `by_hand` does; without, it evaluates and writes down what `play` does.
    """
    learner, losses = case.learner, case.losses
    features, targets, steps = losses.data.features, losses.data.targets, learner.step_sizes[:, None]
    (rounds, dim), rate = features.shape, learner.program.rate / HORIZON**0.5

    def run() -> Array:
        points = previous = np.zeros((steps.size, dim))
        log_weights = learner.program.log_prior.copy()
        decisions, values, moves = np.empty((rounds, dim)), np.empty(rounds), np.zeros(rounds)
        for t in range(rounds):
            weights = np.exp(log_weights - log_weights.max())
            w = (weights / weights.sum()) @ points
            if gradients is None:
                residual = w @ features[t] - targets[t]
                gradient = residual * features[t]
                decisions[t], values[t] = w, 0.5 * residual * residual
                if t > 0:
                    step = w - decisions[t - 1]
                    moves[t] = np.sqrt(step @ step)
            else:
                gradient = gradients[t]
            moved = np.sqrt(((points - previous) ** 2).sum(axis=1))
            log_weights = log_weights - rate * (points @ gradient + LAMBDA * moved)
            previous, points = points, points - steps * gradient
            points = points / np.maximum(np.sqrt((points * points).sum(axis=1)), 1.0)[:, None]
        return decisions if gradients is None else np.asarray(w[None])

    return run


def numpy_statement(case: Case, gradients: list[Array]) -> Contender:
    """Return the engine's round as driftwise states it in NumPy, fed with gradients that are there already."""
    from driftwise.engine.reference import Reference

    def run() -> Array:
        reference, decisions = Reference(case.learner.program, case.learner.act()), []
        for gradient in gradients:
            decisions.append(reference.decision)
            reference.observe(gradient)
        return np.array(decisions)

    return run


class Problem(ctypes.Structure):
    """The arguments of `self_tuned.c`, in its order."""

    _fields_ = (
        [(name, ctypes.c_long) for name in ("rounds", "dim", "most")]
        + [
            (name, ctypes.c_double)
            for name in ("switching_cost", "radius", "diameter", "factor", "growth", "dead_zone")
        ]
        + [
            (name, ctypes.c_void_p)
            for name in ("features", "targets", "steps", "low", "high", "start", "decisions", "losses", "moves")
        ]
    )


def in_c(case: Case, library: Any) -> Contender:
    """Return the same algorithm as a loop in C."""
    learner, data, program = case.learner, case.losses.data, case.learner.program
    rounds, dim = data.features.shape

    def address(values: Array) -> ctypes.c_void_p:
        return ctypes.c_void_p(values.ctypes.data)

    def scream() -> Array:
        count, rate = learner.step_sizes.size, program.rate / HORIZON**0.5
        outputs = [np.empty((rounds, dim)), np.empty(rounds), np.empty(rounds)]
        room = [np.empty((count, dim)), np.empty((count, dim)), np.empty(count), np.empty(count), np.empty(dim)]
        sizes = [ctypes.c_long(size) for size in (rounds, dim, count)]
        inputs = [data.features, data.targets, learner.step_sizes, program.log_prior]
        numbers = [ctypes.c_double(number) for number in (rate, LAMBDA, 1.0)]
        library.scream(*sizes, *map(address, inputs), *numbers, *map(address, [*room, *outputs]))
        return outputs[0]

    def self_tuned() -> Array:
        outputs = [np.empty((rounds, dim)), np.empty(rounds), np.empty(rounds)]
        limits = [learner.domain.low, learner.domain.high] if isinstance(learner.domain, dw.Box) else []
        start, most = np.array(learner.act()), program.steps.size
        numbers = (
            learner.switching_cost,
            1.0,
            learner.domain.diameter,
            program.rate,
            program.growth,
            program.dead_zone,
        )
        addresses = [address(part) for part in (data.features, data.targets, program.steps)]
        addresses += [address(part) for part in limits] or [None, None]  # type: ignore[list-item]
        addresses += [address(part) for part in (start, *outputs)]
        library.self_tuned(ctypes.byref(Problem(rounds, dim, most, *numbers, *addresses)))
        return outputs[0]

    return scream if case.source == "scream.c" else self_tuned


@contextmanager
def c_libraries() -> Iterator[dict[str, Any]]:
    """Compile the C files, if there is a compiler."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    with tempfile.TemporaryDirectory() as folder:
        libraries = {}
        for source in ("scream.c", "self_tuned.c") if compiler else ():
            library = Path(folder) / f"{source}.so"
            flags = ["-O3", "-march=native", "-shared", "-fPIC"]
            subprocess.run([str(compiler), *flags, "-o", library, FOLDER / source, "-lm"], check=True)
            libraries[source] = ctypes.CDLL(str(library))
        yield libraries


def ours(rows: list[Case]) -> dict[tuple[str, str], Contender]:
    """Return what is timed of driftwise itself, by row and way to play."""
    contenders = {(case.label, "play"): play(case) for case in rows}
    for index in HAND:
        contenders[rows[index].label, "by hand"] = by_hand(rows[index], gradients_of(rows[index]))
    return contenders


def timed(case: Case, contender: Contender) -> tuple[float, Array]:
    """Return the seconds of a round, and the decisions; where there is one, it is the last of all."""
    start = time.perf_counter()
    decisions = contender()
    rounds = len(case.losses) if len(decisions) == 1 else len(decisions)
    return (time.perf_counter() - start) / rounds, decisions


def serve(rounds: int) -> None:
    """Time what is asked for on standard input, until it ends: what another version runs."""
    rows = cases(rounds)
    contenders, by_label = ours(rows), {case.label: case for case in rows}
    for key in contenders:
        contenders[key]()
    print("ready", flush=True)
    for line in sys.stdin:
        label, way = line.rstrip("\n").split("\t")
        print(timed(by_label[label], contenders[label, way])[0], flush=True)


@contextmanager
def other_version(source: Path | None, rounds: int) -> Iterator[dict[tuple[str, str], Callable[[], float]]]:
    """Start another version in a process of its own, and return what it can be asked to time.

    It may decide otherwise than this one, so it is not checked.
    """
    if source is None:
        yield {}
        return
    environment = {**os.environ, "PYTHONPATH": str(source.resolve())}
    environment.setdefault("NUMBA_CACHE_DIR", str(Path(tempfile.gettempdir()) / "driftwise-other-version"))
    command = [sys.executable, __file__, "--rounds", str(rounds), "--serve"]
    process = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdin is not None
    assert process.stdout is not None

    def ask(key: tuple[str, str]) -> float:
        assert process.stdin is not None
        assert process.stdout is not None
        print("\t".join(key), file=process.stdin, flush=True)
        return float(process.stdout.readline())

    if process.stdout.readline().strip() != "ready":
        raise SystemExit(f"the version in {source} does not run")
    rows = cases(rounds)
    keys = [(case.label, "play") for case in rows] + [(rows[index].label, "by hand") for index in HAND]
    yield {key: lambda key=key: ask(key) for key in keys}  # type: ignore[misc]
    process.stdin.close()
    process.wait()


def check(case: Case, way: str, decisions: Array, expected: Array) -> None:
    """Compare decisions; where the self-tuned learner closes the loop, only the first, as it amplifies rounding."""
    if len(decisions) == 1:
        expected = expected[-1:]
    first = len(decisions) if case.source == "scream.c" else 200
    message = f"{case.label}: {way} does not decide as play does"
    np.testing.assert_allclose(decisions[:first], expected[: len(decisions)][:first], 1e-9, 1e-9, err_msg=message)


def fresh_process(code: str, times: int) -> float:
    """Return the seconds that `code` takes in a new Python, by its own account: the best of some times."""
    script = f"import time; start = time.perf_counter()\n{code}\nprint(time.perf_counter() - start)"
    outputs = [subprocess.run([sys.executable, "-c", script], check=True, capture_output=True) for _ in range(times)]
    return min(float(output.stdout) for output in outputs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=HORIZON, help=f"rounds in the stream (default: {HORIZON})")
    parser.add_argument("--turns", type=int, default=9, help="turns that each contender takes (default: 9)")
    parser.add_argument("--against", type=Path, metavar="PATH", help="source folder of another version")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.serve:
        serve(chosen.rounds)
        return
    rows = cases(chosen.rounds)
    with c_libraries() as libraries, other_version(chosen.against, chosen.rounds) as other:
        best = compete(rows, libraries, other, chosen.turns)
    report(rows, best, chosen.rounds)
    start_up(min(chosen.turns, 5))


def compete(
    rows: list[Case],
    libraries: dict[str, Any],
    other: dict[tuple[str, str], Callable[[], float]],
    turns: int,
) -> dict[tuple[str, str], float]:
    """Let everyone take turns, and return the best seconds of a round by row and contender."""
    contenders = ours(rows)
    for case in rows:
        if case.source in libraries:
            contenders[case.label, "C"] = in_c(case, libraries[case.source])
    scream, tuned = rows[0], rows[3]
    contenders[scream.label, "NumPy"] = numpy_scream(scream)
    contenders[scream.label, "NumPy by hand"] = numpy_scream(scream, gradients_of(scream))
    contenders[tuned.label, "NumPy by hand"] = numpy_statement(tuned, gradients_of(tuned)[:2000])
    by_label = {case.label: case for case in rows}
    expected = {case.label: play(case)() for case in rows}
    best = dict.fromkeys([*contenders, *((label, f"other {way}") for label, way in other)], np.inf)
    for turn in range(turns):
        for key, contender in contenders.items():
            if turn >= 3 and "NumPy" in key[1]:
                continue
            seconds, decisions = timed(by_label[key[0]], contender)
            check(by_label[key[0]], key[1], decisions, expected[key[0]])
            best[key] = min(best[key], seconds)
        for (label, way), ask in other.items():
            best[label, f"other {way}"] = min(best[label, f"other {way}"], ask())
    return best


def report(rows: list[Case], best: dict[tuple[str, str], float], rounds: int) -> None:
    """Print the tables."""
    against = any(way.startswith("other") for _, way in best)
    print(f"T = {rounds} (less where d > 10); {platform.machine()}, Python {platform.python_version()}\n")

    def cell(label: str, way: str, over: str | None = None) -> str:
        value = best.get((label, way), np.nan)
        if over is not None:
            return f"{value / best.get((label, over), np.nan):>10.2f}"
        return f"{value * 1e6:>10.3f}"

    heads = ["play, us", "C, us", "play / C", *(["other / C"] if against else [])]
    print(f"{'a round of a whole run':<34}{''.join(f'{head:>10}' for head in heads)}    target")
    for case in rows:
        count = play_count(case)
        cells = cell(case.label, "play") + cell(case.label, "C") + cell(case.label, "play", "C")
        cells += cell(case.label, "other play", "C") if against else ""
        print(f"{case.label + f', N = {count}':<34}{cells}    at most {case.target:g}")
    if not any(way == "C" for _, way in best):
        print("no C compiler was found, so there is no comparison with C")
    heads = ["act+observe", "NumPy, us", *(["other, us"] if against else [])]
    print(f"\n{'a round by hand':<28}{''.join(f'{head:>12}' for head in heads)}    target")
    for index, limit in HAND.items():
        label = rows[index].label
        ways = ["by hand", "NumPy by hand", *(["other by hand"] if against else [])]
        print(f"{label:<28}{''.join('  ' + cell(label, way) for way in ways)}    at most {limit:g} us")
    print("NumPy's self-tuned round is the one of driftwise.engine.reference, which is written to be read.")
    scream = rows[0].label
    print(f"\n{'NumPy / play':<28}{cell(scream, 'NumPy', 'play')}    at least 50")
    print(f"{'NumPy / act + observe':<28}{cell(scream, 'NumPy by hand', 'by hand')}    at least 8")


def play_count(case: Case) -> int:
    """Return the number of base-learners at the end of a run."""
    learner = case.learner.clone()
    dw.play(learner, case.losses)
    return int(learner.weights.size)


def start_up(times: int) -> None:
    # Names are imported when they are first used, so one is used.
    imported = fresh_process("import driftwise; driftwise.Scream", times)
    first = fresh_process(
        "import driftwise as dw\n"
        "learner = dw.Scream(dw.Ball(10), switching_cost=2.0, gradient_bound=2.0, horizon=1000)\n"
        "dw.play(learner, dw.streams.drifting_regression(1000))",
        times,
    )
    print(f"\n{'import a learner, warm cache':<40}{imported:>7.2f} s    under 0.5")
    print(f"{'import and first play, warm cache':<40}{first:>7.2f} s    under 1.5")


if __name__ == "__main__":
    main()
