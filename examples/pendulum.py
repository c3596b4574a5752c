"""A pendulum of Gymnasium, in the wind
====================================

``Pendulum-v1`` as it comes with Gymnasium, in a wind that its model knows nothing of: found out, and kept upright.

`identify` plays random signs on top of a rough gain while the air is calm, and estimates A and B. Then there is wind, a
torque of up to 0.8 N m that nobody is told of, and `run` drives three controllers on it: the linear-quadratic gain,
gradient descent on policies, and `SelfTunedController`. You see how far off the estimate was, how far from upright each
of them stood, and the angle over time.
"""

import gymnasium as gym
import numpy as np
from matplotlib import pyplot as plt

from driftwise import control
from driftwise.adapters.gymnasium import identify, run

STEPS, NEAR = 400, {"x_init": 0.1, "y_init": 0.1}


class Wind(gym.ActionWrapper):
    """Blows at the pendulum, steadily and in waves."""

    def reset(self, **given):
        """Begin an episode."""
        self.step_now = 0
        return super().reset(**given)

    def action(self, action):
        """Return the torque of motor and wind."""
        self.step_now += 1
        return action + np.float32(0.3 + 0.5 * np.sin(self.step_now / 12.0))


def state(seen):
    """Return the angle, 0 upright, and the angular velocity."""
    return [np.arctan2(seen[1], seen[0]), seen[2]]


calm = gym.make("Pendulum-v1", max_episode_steps=STEPS)
plant = identify(calm, K=[[8.0, 2.0]], probe=0.5, rounds=1000, options=NEAR, state=state).system
A, B = np.array([[1.0375, 0.05], [0.75, 1.0]]), np.array([[0.0075], [0.15]])  # its equations, linearised by hand
print(f"largest error of A {np.abs(plant.A - A).max():.0e}, of B {np.abs(plant.B - B).max():.0e}")

cost = control.QuadraticCost([1.0, 0.1], 0.001)
K = control.lqr(plant, np.diag([1.0, 0.1]), 0.001)
ax = plt.subplots(figsize=(9, 3.5), layout="constrained")[1]
print(f"{'':24}{'cost':>8}{'mean angle after 100 steps':>30}")
for controller in (
    control.LinearController(plant, K, input_bound=2.0),
    control.GradientController(plant, STEPS, K, input_bound=2.0),
    control.SelfTunedController(plant, K, cost=cost, input_bound=2.0),
):
    trace = run(Wind(calm), controller, seed=0, options=NEAR, state=state, cost=cost)
    print(f"{trace.label:24}{trace.total:8.3f}{np.abs(trace.states[100:, 0]).mean():26.4f} rad")
    ax.plot(0.05 * np.arange(STEPS), trace.states[:, 0], label=trace.label)
ax.set(xlabel="seconds", ylabel="angle in rad, 0 is upright")
ax.legend()
plt.show()
