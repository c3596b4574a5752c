"""A double integrator in a wave
=============================

Keep a mass in place against a wave that nobody announced: `SelfTunedController`, by hand and in one call.

The plant is x' = A x + B u + w with position and speed as its states. It is run twice: round by round with `act` and
`observe`, as in front of a real plant whose actuator saturates, and with `simulate`. You see the cost of LQR, which
knows the plant and not the wave, of the self-tuned controller, and of the best fixed policy in hindsight.
"""

import numpy as np
from matplotlib import pyplot as plt

from driftwise import control

A, B = np.array([[1.0, 1.0], [0.0, 1.0]]), np.array([[0.0], [1.0]])
plant = control.LinearSystem(A, B)
cost = control.QuadraticCost(1.0, 1.0)
waves = control.SinusoidDisturbance(0.3, period=40.0, seed=1)

# By hand. The actuator cannot do more than 0.5, and the controller is told what was really applied.
controller = control.SelfTunedController(plant)
x = np.zeros(2)
for t in range(500):
    u = controller.act(x)
    applied = np.clip(u, -0.5, 0.5)
    controller.observe(cost, applied=applied)
    x = A @ x + B @ applied + [0.0, 0.2 * np.sin(t / 6.0)]
print(f"by hand, after 500 rounds: position {x[0]:+.2f}, speed {x[1]:+.2f}")

# In one call, beside others.
adaptive = control.simulate(plant, control.SelfTunedController(plant), cost, waves, rounds=2000, record_weights=True)
lqr = control.simulate(plant, control.LinearController(plant), cost, waves, rounds=2000)
best = control.best_policy(plant, cost, adaptive.disturbances)
print(f"LQR                            {lqr.total:8.1f}")
print(f"SelfTunedController            {adaptive.total:8.1f}")
print(f"best fixed policy in hindsight {best.total:8.1f}")
print(f"dynamic policy regret          {control.dynamic_policy_regret(adaptive, best):8.1f}")

control.plots.overview(adaptive)
plt.show()
