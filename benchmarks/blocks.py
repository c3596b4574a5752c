"""What a learning controller costs as a block of python-control: time and memory a round, beside `simulate`.

Run with ``python benchmarks/blocks.py [--rounds T]``; needs the extra ``control``. Everything is compiled beforehand,
by a response that is not timed. "again" is the same response once more, answered from what the block remembers.
"""

import argparse
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import control as python_control
import numpy as np

from driftwise import control
from driftwise.adapters.control import ControllerSystem

COST = control.QuadraticCost(1.0, 1.0)
FULL = control.double_integrator()
SEEN = control.LinearSystem(FULL.A, FULL.B, [[1.0, 0.0]])

CONTROLLERS: dict[str, tuple[control.LinearSystem, Callable[[], control.Controller]]] = {
    "LinearController": (FULL, lambda: control.LinearController(FULL)),
    "GradientController": (FULL, lambda: control.GradientController(FULL)),
    "ScreamController": (FULL, lambda: control.ScreamController(FULL)),
    "SelfTunedController": (FULL, lambda: control.SelfTunedController(FULL)),
    "OutputFeedback": (SEEN, lambda: control.OutputFeedback(SEEN, measurement_noise=0.01)),
}


def close(name: str) -> Any:
    """Return the closed loop, from disturbances to outputs."""
    plant, make = CONTROLLERS[name]
    there = plant.to_control(disturbances=True)
    block = ControllerSystem(make(), COST)
    return python_control.interconnect([there, block], inputs=["w[0]", "w[1]"], outputs=there.output_labels)


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    """Return seconds and a result."""
    start = time.perf_counter()
    result = call()
    return time.perf_counter() - start, result


def row(name: str, rounds: int) -> str:
    """Return a line of the table."""
    plant, make = CONTROLLERS[name]
    w = np.zeros((2, rounds))
    w[1] = 0.1 * np.sin(np.arange(rounds) / 8.0) + 0.02 * np.random.default_rng(0).standard_normal(rounds)

    def respond(loop: Any) -> Any:
        return python_control.input_output_response(loop, np.arange(rounds), w)

    respond(close(name))
    loop = close(name)
    first, found = timed(lambda: respond(loop))
    again, _ = timed(lambda: respond(loop))
    control.simulate(plant, make(), COST, w.T)
    alone, trace = timed(lambda: control.simulate(plant, make(), COST, w.T))
    apart = np.abs(found.states[:2].T - trace.states).max()
    tracemalloc.start()
    kept = close(name)
    before, _ = tracemalloc.get_traced_memory()
    respond(kept)
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    times = "".join(f"{1e6 * seconds / rounds:12.0f}" for seconds in (first, again, alone))
    return f"{name:22}{times}{(held - before) / rounds:14.0f}{apart:14.0e}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=2000, help="time points of a response")
    rounds = parser.parse_args().rounds
    print(f"{rounds} rounds; us a round of a response, of the same again, of simulate; bytes kept a round; difference")
    print(f"{'':22}{'response':>12}{'again':>12}{'simulate':>12}{'bytes':>14}{'difference':>14}")
    for name in CONTROLLERS:
        print(row(name, rounds))


if __name__ == "__main__":
    main()
