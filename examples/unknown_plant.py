"""A plant that nobody knows
=========================

A plant whose A and B nobody knows: `ExploreThenCommit` probes it, estimates it, and takes over.

All that is given is a gain that stabilises the plant. You see when the controller committed, how far off its estimate
was, and what the rounds before and after cost beside the plain gain: exploring costs a lot, and pays in the long run.
"""

import numpy as np
from matplotlib import pyplot as plt

from driftwise import control

plant = control.double_integrator()  # the controller is not shown this
K = [[0.4, 1.2]]
cost = control.QuadraticCost(1.0, 1.0)
waves = control.SinusoidDisturbance(0.3, period=40.0, seed=1)

controller = control.ExploreThenCommit(K=K, state_dim=2, input_dim=1, horizon=5000, seed=1)
learnt = control.simulate(plant, controller, cost, waves)
gain = control.simulate(plant, control.LinearController(plant, K=K), cost, waves, rounds=5000)

for event in controller.log:
    print(f"round {event.round}: {event.text}")
estimate = controller.identified
print(f"error of A {np.abs(estimate.A - plant.A).max():.3f}, of B {np.abs(estimate.B - plant.B).max():.3f}")

switch = estimate.rounds
print(f"{'':24}{'u = -K x':>10}{'explored':>10}")
print(f"{f'first {switch} rounds':24}{gain.costs[:switch].sum():10.0f}{learnt.costs[:switch].sum():10.0f}")
print(f"{'the rest':24}{gain.costs[switch:].sum():10.0f}{learnt.costs[switch:].sum():10.0f}")

ax = plt.subplots(figsize=(9, 3.5), layout="constrained")[1]
for name, run in (("u = -K x", gain), ("ExploreThenCommit", learnt)):
    ax.plot(run.costs.cumsum(), label=name)
ax.axvline(switch, color="0.7", linestyle="--", label="commits")
ax.set(xlabel="round", ylabel="cost so far")
ax.legend()
plt.show()
