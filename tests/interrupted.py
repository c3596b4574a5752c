"""Runs that take minutes, for a test that interrupts them.

``python -m tests.interrupted`` interrupts each of them and prints how long it took to end;
``python -m tests.interrupted run_stream`` begins one run and waits for somebody to interrupt it.
"""

import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import driftwise as dw
from driftwise import control
from driftwise._validate import Array

ROUNDS = 400_000
WIDE = dw.SpectralBalls((1, 6, 6), radii=1.0)
"""Projections onto it take long."""

Case = tuple[Any, Callable[[], object]]


def _squares(rounds: int) -> dw.LossStream:
    features = np.random.default_rng(0).normal(size=(rounds, WIDE.dim))
    return dw.SquaredLoss(features, np.ones(rounds))


def _custom(rounds: int) -> dw.LossStream:
    def value(t: int, w: Array) -> float:
        return float(0.5 * (w[0] - 1.0) ** 2)

    def gradient(t: int, w: Array) -> Array:
        return w - 1.0

    return dw.CustomLoss(value, gradient, rounds, WIDE.dim, compile="always")


def _playing(learner: Any, losses: Callable[[int], dw.LossStream]) -> Case:
    stream = losses(ROUNDS)
    dw.play(learner.clone(), _short(stream, losses))
    return learner, lambda: dw.play(learner, stream)


def _short(stream: dw.LossStream, losses: Callable[[int], dw.LossStream]) -> dw.LossStream:
    """Return a stream of two rounds for which the same is compiled as for a long one."""
    if not isinstance(stream, dw.CustomLoss):
        return losses(2)
    short = dw.CustomLoss(stream._plain_value, stream._plain_gradient, 2, stream.dim, compile="never")
    object.__setattr__(short, "kernels", stream.kernels)  # compiling them again would make other ones
    return short


def _steering(controller: control.Controller, plant: control.System) -> Case:
    cost, noise = control.QuadraticCost(1.0, 1.0), control.GaussianDisturbance(0.1)

    def run(actor: control.Controller, rounds: int) -> object:
        return control.simulate(plant, actor, cost, noise, rounds=rounds)

    run(controller.clone(), 2)
    return controller, lambda: run(controller, ROUNDS)


def _controlled() -> Case:
    plant = control.LinearSystem(0.9 * np.eye(6), np.eye(6))
    return _steering(control.ScreamController(plant, memory=20), plant)


def _scream() -> dw.Learner:
    return dw.Scream(WIDE, switching_cost=1.0, gradient_bound=20.0)


CASES: dict[str, Callable[[], Case]] = {
    "run_stream": lambda: _playing(_scream(), _squares),
    "run_own": lambda: _playing(dw.Ader(WIDE, gradient_bound=20.0, variant="original"), _squares),
    "run_custom": lambda: _playing(_scream(), _custom),
    "run_pairs": lambda: _playing(dw.SelfTunedLearner(WIDE, switching_cost=1.0), _squares),
    "simulate": _controlled,
}


def known(actor: Any) -> list[bytes]:
    """Return all that a learner or a controller knows."""
    if isinstance(actor, dw.Learner):
        return [actor.to_bytes()]
    return [str(actor.round).encode(), *(cell.tobytes() for cell in actor.cells)]


def begin(name: str) -> None:
    """Begin a run, and say how it ended."""
    actor, run = CASES[name]()
    before = known(actor.clone())
    print("ready", flush=True)
    try:
        run()
    except KeyboardInterrupt:
        print("interrupted,", "unchanged" if known(actor) == before else "changed", flush=True)
    else:
        print("finished", flush=True)


def measure(name: str, times: int = 20) -> list[float]:
    """Return the seconds from signals in the middle of a run to its end."""
    _, run = CASES[name]()
    waits = []
    for k in range(times):
        sent: list[float] = []

        def interrupt(sent: list[float] = sent) -> None:
            sent.append(time.perf_counter())
            os.kill(os.getpid(), signal.SIGINT)

        timer = threading.Timer(0.2 + 0.01 * k, interrupt)
        try:
            timer.start()
            run()
        except KeyboardInterrupt:
            waits.append(time.perf_counter() - sent[0])
    return waits


if __name__ == "__main__":
    if len(sys.argv) > 1:
        begin(sys.argv[1])
    else:
        for case in CASES:
            took = sorted(measure(case))
            middle, most = 1e3 * took[len(took) // 2], 1e3 * took[-1]
            print(f"{case:12} ends {middle:5.1f} ms after Ctrl-C (median), {most:5.1f} at most")
