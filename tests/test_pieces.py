"""Long compiled runs go in pieces: the same bits whatever the pieces are, and Ctrl-C ends a run at once."""

import itertools
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
import pytest

import driftwise as dw
from driftwise import control
from driftwise._pieces import GROWTH, in_pieces
from tests.cases import custom, maker, self_tuned, squared
from tests.control.cases import CONTROLLERS, assert_same, controller, costs, inputs_to_come

ROUNDS = 60


def fixed(size: int) -> Callable[[Callable[[int, int], int], int], None]:
    """Return `in_pieces` with pieces of one size."""

    def cut(play: Callable[[int, int], int], rounds: int) -> None:
        first = 0
        while first < rounds:
            first = play(first, min(first + size, rounds))

    return cut


def spans(rounds: int, seconds: Callable[[int], float], clock: list[float]) -> list[tuple[int, int]]:
    """Return the pieces of a run whose rounds take so many seconds on a clock of its own."""
    seen = []

    def play(first: int, stop: int) -> int:
        seen.append((first, stop))
        clock[0] += sum(seconds(t) for t in range(first, stop))
        return stop

    in_pieces(play, rounds)
    return seen


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [0.0]
    monkeypatch.setattr("driftwise._pieces.perf_counter", lambda: now[0])
    return now


def test_pieces_take_some_hundredths_of_a_second_each(clock: list[float]) -> None:
    seen = spans(100_000, lambda t: 1e-5, clock)
    assert [first for first, _ in seen[1:]] == [stop for _, stop in seen[:-1]]
    assert seen[0] == (0, 1)
    assert seen[-1][1] == 100_000
    sizes = [stop - first for first, stop in seen]
    assert all(after <= GROWTH * before for before, after in itertools.pairwise(sizes))
    assert all(2990 <= size <= 3010 for size in sizes[4:-1])
    assert len(seen) < 45


def test_a_round_is_never_cut_and_slow_ones_are_played_singly(clock: list[float]) -> None:
    assert spans(6, lambda t: 5.0, clock) == [(t, t + 1) for t in range(6)]


def test_pieces_shrink_when_rounds_become_slow(clock: list[float]) -> None:
    seen = spans(60_000, lambda t: 1e-6 if t < 20_000 else 1e-3, clock)
    slow = [stop - first for first, stop in seen if first > 20_000][2:]
    assert max(slow) <= 30


def test_a_run_goes_on_where_a_piece_has_ended_early() -> None:
    ends = []

    def play(first: int, stop: int) -> int:
        ends.append(min(stop, first + 7))
        return ends[-1]

    in_pieces(play, 100)
    assert ends[0] == 1
    assert ends[-1] == 100
    assert ends == sorted(set(ends))


def test_a_thread_that_gets_no_signals_plays_in_one_piece() -> None:
    seen: list[tuple[int, int]] = []

    def play(first: int, stop: int) -> int:
        seen.append((first, stop))
        return stop

    other = threading.Thread(target=in_pieces, args=(play, 1000))
    other.start()
    other.join()
    assert seen == [(0, 1000)]


PLAYED: dict[str, Callable[[], tuple[Any, dw.LossStream]]] = {
    "Scream": lambda: (maker("Scream appendix", dw.Ball(3), ROUNDS, "time-varying")(), squared(3, ROUNDS)),
    "LazyScream": lambda: (maker("LazyScream appendix", dw.Ball(3), ROUNDS)(), squared(3, ROUNDS)),
    "Ader, own gradients": lambda: (maker("Ader original", dw.Ball(3), ROUNDS)(), squared(3, ROUNDS)),
    "memory": lambda: (
        dw.SelfTunedScream(dw.Ball(2), switching_cost=1.0),
        dw.FilteredLoss([1.0, -0.5, 0.2], np.sin(np.arange(2.0 * ROUNDS)).reshape(-1, 2), np.cos(np.arange(ROUNDS))),
    ),
    "custom, memory": lambda: (dw.OGD(dw.Ball(2), step=0.3), custom(2, ROUNDS, 2)),
    "pairs, gradients": lambda: (self_tuned(dw.Ball(3)), dw.LinearLoss(squared(3, ROUNDS).data.features)),
    "pairs, scores": lambda: (self_tuned(dw.Ball(3)), squared(3, ROUNDS)),
}


@pytest.mark.parametrize("size", [1, 7])
@pytest.mark.parametrize("name", PLAYED)
def test_play_in_pieces_is_play_in_one_go_bit_for_bit(name: str, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    traces, learners = [], []
    for pieces in (size, ROUNDS):
        monkeypatch.setattr(import_module("driftwise.play"), "in_pieces", fixed(pieces))
        learner, losses = PLAYED[name]()
        traces.append(dw.play(learner, losses, record_weights=True))
        learners.append(learner)
    mine, whole = traces
    assert np.unique(whole.decisions, axis=0).shape[0] > 2
    assert mine.weights is not None
    assert whole.weights is not None
    for part in ("decisions", "losses", "moves", "weights"):
        assert getattr(mine, part).tobytes() == getattr(whole, part).tobytes()
    assert learners[0].to_bytes() == learners[1].to_bytes()


def test_proposals_in_pieces_are_those_of_their_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    losses, rows = squared(3, ROUNDS), np.sin(np.arange(3.0 * ROUNDS)).reshape(-1, 3) / 2.0
    rows[5:9] = np.nan
    traces = []
    for pieces in (7, ROUNDS):
        monkeypatch.setattr(import_module("driftwise.play"), "in_pieces", fixed(pieces))
        traces.append(dw.play(self_tuned(dw.Ball(3)), losses, proposals=rows).decisions)
    assert traces[0].tobytes() == traces[1].tobytes()
    assert traces[0].tobytes() != dw.play(self_tuned(dw.Ball(3)), losses).decisions.tobytes()


def margins() -> control.SelfTunedController:
    """Return a controller that Python looks at every few rounds."""
    return control.SelfTunedController(control.double_integrator(), min_gain_margin=1.5)


@pytest.mark.parametrize("size", [1, 7])
@pytest.mark.parametrize("name", [*CONTROLLERS, "margins"])
@pytest.mark.parametrize("kind", ["quadratic", "targets"])
def test_simulate_in_pieces_is_simulate_in_one_go(
    name: str, kind: str, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    system = control.double_integrator()
    sequence, noise = costs(kind, 2, 1), control.SinusoidDisturbance(0.2, period=9.0)
    traces, to_come = [], []
    for pieces in (size, 10_000):
        monkeypatch.setattr(import_module("driftwise.control.simulate"), "in_pieces", fixed(pieces))
        mine = margins() if name == "margins" else controller(name, system)
        record: dict[str, bool] = {"record_weights": True, "record_policies": mine.records_policies}
        traces.append(control.simulate(system, mine, sequence, noise, seed=2, start=[1.0, 0.0], **record))
        to_come.append(b"" if mine.horizon is not None else inputs_to_come(mine))
    assert_same(traces[0], traces[1])  # type: ignore[arg-type]
    assert to_come[0] == to_come[1]


@pytest.mark.parametrize("case", ["run_stream", "run_own", "run_custom", "run_pairs", "simulate"])
def test_ctrl_c_ends_a_compiled_run_and_leaves_the_learner_as_it_was(case: str) -> None:
    """A real SIGINT; `tests/interrupted.py` prints how long each run took to end: below 0.1 s."""
    command = [sys.executable, "-m", "tests.interrupted", case]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    try:
        assert child.stdout.readline() == "ready\n"
        time.sleep(0.3)
        child.send_signal(signal.SIGINT)
        # The whole run takes minutes: this is for the hang that it would be, not for how fast it ends.
        words, _ = child.communicate(timeout=30.0)
    finally:
        child.kill()
        child.wait()
    assert words == "interrupted, unchanged\n"
