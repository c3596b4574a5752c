"""The compiled simulation: alike without a compiler, and nothing is compiled before it is needed."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from driftwise import control
from driftwise._compile import plugin
from driftwise._memory import Pointer
from driftwise.control.controllers.run import Calls, Learning, address_of
from driftwise.errors import InputError
from tests.control.cases import CONTROLLERS, COSTS, PLANTS, controller, costs

RUN = """
import json, sys
import numpy as np
from driftwise import control
from tests.control.cases import PLANTS, controller, costs

found = []
for name, plant, kind in json.loads(sys.argv[1]):
    system, sequence = PLANTS[plant], costs(kind, PLANTS[plant].state_dim, PLANTS[plant].input_dim, 8)
    rows = control.UniformDisturbance(0.5).sample(8, system.state_dim, seed=1)
    mine = controller(name, system)
    trace = control.simulate(system, mine, sequence, rows, record_weights=True, record_policies=True)
    mine.act(trace.final_state)
    mine.observe(sequence[0])
    parts = [trace.states, trace.inputs, trace.costs, trace.weights, mine.policy.M]
    found.append(np.concatenate([part.ravel() for part in parts]).tolist())
print(json.dumps(found))
"""

MAKE = """
from driftwise import control
from driftwise._compile import compilations
from tests.control.cases import CONTROLLERS, WIDE, controller, costs

for name in CONTROLLERS:
    controller(name, WIDE)
for kind in ("quadratic", "Huber", "scaled"):
    costs(kind, 3, 2)
print(compilations())
"""


def output(program: str, *arguments: str, **settings: str) -> str:
    command = [sys.executable, "-c", program, *arguments]
    root = Path(__file__).parents[3]
    done = subprocess.run(
        command, check=True, capture_output=True, text=True, cwd=root, env={**os.environ, **settings}, timeout=500
    )
    return done.stdout.strip()


def test_every_index_is_in_place_and_the_numbers_are_the_same_without_a_compiler() -> None:
    """Kernels then run as plain Python, where a pointer checks what is read and written."""
    plants, kinds = list(PLANTS), list(COSTS)
    cases = [
        (name, plants[number % len(plants)], kinds[number % len(kinds)]) for number, name in enumerate(CONTROLLERS)
    ]
    cases += [("self-tuned", "wide", "quadratic"), ("Scream", "wide", "Huber")]
    plain, compiled = (json.loads(output(RUN, json.dumps(cases), NUMBA_DISABLE_JIT=flag)) for flag in ("1", "0"))
    for case, mine, other in zip(cases, plain, compiled, strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-12, atol=1e-12, err_msg=str(case))


def test_making_controllers_and_costs_compiles_nothing(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"NUMBA_CACHE_DIR": str(tmp_path), "DRIFTWISE_CACHE_DIR": str(tmp_path)}
    assert output(MAKE, **settings) == "[]"
    assert not list(tmp_path.rglob("*.nbi"))


@plugin("int64(P)")
def _nothing(numbers: Pointer) -> int:
    return 0


def test_what_is_not_recorded_is_not_compiled() -> None:
    learning = Learning(3, learn=_nothing, weigh=_nothing)
    calls = learning.calls(record_weights=False)
    assert calls == Calls(3, 0, _nothing.address, 0)
    assert learning.calls(record_weights=True).weigh == _nothing.address == address_of(_nothing) > 0
    assert address_of(None) == 0


@pytest.mark.parametrize("name", ["linear", "Scream", "self-tuned"])
def test_a_run_that_ends_early_leaves_the_controller_as_it_was(name: str) -> None:
    """The plant diverges: its actuator is too weak for where it starts."""
    system = control.LinearSystem([[1.5, 0.0], [0.0, 0.5]], [[1.0], [1.0]], input_limit=0.1)
    mine = controller(name, system, 1000)
    before = mine._cell.tobytes()
    with pytest.raises(InputError, match="diverges"):
        control.simulate(system, mine, costs("absolute", 2, 1, 1000), np.zeros((1000, 2)), start=[9.0, 0.0])
    assert mine.round == 0
    assert mine._cell.tobytes() == before
