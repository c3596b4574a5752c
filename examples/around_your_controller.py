"""Around the controller you have
==============================

Your own gain, wrapped: a motor with a load that nobody announced, a delay that nobody knew of, and a dead sensor.

The gain K is yours. `SelfTunedController` is told the motor without its delay of two samples, and no samples come for
three rounds. You see what both cost, what the log says about delay and sensor, the margins of the gain and of what was
learnt, and that the policy in use fits into a small C file.
"""

import tempfile
from pathlib import Path

import numpy as np

from driftwise import control

model = control.LinearSystem.from_continuous([[0.0, 1.0], [0.0, -2.0]], [[0.0], [2.0]], dt=0.1)
K = [[2.0, 1.0]]
cost = control.QuadraticCost([10.0, 1.0], 1.0)
DELAY, ROUNDS, DEAD = 2, 1500, range(800, 803)

t = np.arange(ROUNDS)
load = 0.05 * np.sin(t / 8.0) + 0.03 + 0.01 * np.random.default_rng(0).standard_normal(ROUNDS)


def drive(controller: control.Controller) -> float:
    """Run the motor by hand, with a guard that takes None for a missing sample; return the cost."""
    x, total, underway = np.zeros(2), 0.0, [np.zeros(1)] * DELAY
    for k in range(ROUNDS):
        u = controller.act(None if k in DEAD else x)
        controller.observe(cost, applied=u)
        total += cost.value(x, u)
        underway.append(u)
        x = model.A @ x + model.B @ underway.pop(0) + [0.0, load[k]]
    return total


yours = control.LinearController(model, K, input_bound=1.0, guard=True)
wrapped = control.SelfTunedController(model, K, input_bound=1.0)
print(f"{'your gain':32}{drive(yours):8.1f}")
print(f"{'the same gain, wrapped':32}{drive(wrapped):8.1f}")
for event in wrapped.log[:8]:
    print(f"round {event.round}: {event.text}")
print(wrapped.health)
print(f"margins of the gain:   {yours.margins()}")
print(f"margins of the policy: {wrapped.margins()}")

with tempfile.TemporaryDirectory() as folder:
    control.export_c(wrapped.freeze(), Path(folder) / "motor.c", name="motor")
    size = (Path(folder) / "motor.c").stat().st_size
print(f"motor.c: {size / 1024:.0f} kB; cc -std=c99 -O2 -ffp-contract=off -c motor.c")
