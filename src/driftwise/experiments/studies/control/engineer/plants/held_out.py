"""Seven plants that were made after the controller was finished, for judging it."""

import numpy as np

from driftwise.experiments.studies.control.engineer.plants.base import GRAVITY, Plant, sampled


def ball_and_beam() -> Plant:
    """Return a ball that rolls on a beam: position, speed, slope, its speed; the load pushes the ball."""
    rolls = 5.0 / 7.0 * GRAVITY
    A = [[0.0, 1.0, 0.0, 0.0], [0.0, 0.0, rolls, 0.0], [0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 0.0, -2.0]]
    B, load = [[0.0], [0.0], [0.0], [10.0]], [[0.0], [0.1], [0.0], [0.0]]
    return sampled(A, B, load, 0.05, states=[0.05, 0.1, 0.05, 0.3], inputs=[0.5], regulated=[0], measured=[0, 2])


def balancing_robot() -> Plant:
    """Return a robot on two wheels: position, speed, tilt, its speed; somebody leans against it."""
    A = [[0.0, 1.0, 0.0, 0.0], [0.0, -2.0, -3.0, 0.0], [0.0, 0.0, 0.0, 1.0], [0.0, 4.0, 40.0, 0.0]]
    B, load = [[0.0], [1.5], [0.0], [-4.0]], [[0.0], [0.1], [0.0], [0.8]]
    return sampled(A, B, load, 0.02, states=[0.2, 0.5, 0.08, 0.4], inputs=[1.5], regulated=[0], measured=[0, 2])


def suspension() -> Plant:
    """Return a quarter of a car: travel of the spring, speed of the body, the tyre and the wheel; the road is rough."""
    body, wheel, spring, damper, tyre = 300.0, 40.0, 16e3, 1e3, 190e3
    A = [
        [0.0, 1.0, 0.0, -1.0],
        [-spring / body, -damper / body, 0.0, damper / body],
        [0.0, 0.0, 0.0, 1.0],
        [spring / wheel, damper / wheel, -tyre / wheel, -damper / wheel],
    ]
    B, load = [[0.0], [1.0 / body], [0.0], [-1.0 / wheel]], [[0.0], [0.0], [-0.1], [0.0]]
    return sampled(A, B, load, 0.01, states=[0.02, 0.15, 0.005, 0.5], inputs=[400.0], regulated=[0], measured=[0, 1])


def converter() -> Plant:
    """Return a buck converter: current and voltage; the input is its duty cycle, the load draws current."""
    coil, capacitor, resistance, supply = 1e-3, 1e-4, 10.0, 24.0
    A = [[-0.05 / coil, -1.0 / coil], [1.0 / capacitor, -1.0 / (resistance * capacitor)]]
    B, load = [[supply / coil], [0.0]], [[0.0], [-0.2 / capacitor]]
    return sampled(A, B, load, 5e-5, states=[0.5, 0.5], inputs=[0.05], regulated=[1], measured=[1])


def drone() -> Plant:
    """Return a hovering drone, sideways: position, speed, tilt, its speed; the input asks for a tilt; there is wind."""
    A = [[0.0, 1.0, 0.0, 0.0], [0.0, -0.3, GRAVITY, 0.0], [0.0, 0.0, 0.0, 1.0], [0.0, 0.0, -40.0, -9.0]]
    B, load = [[0.0], [0.0], [0.0], [40.0]], [[0.0], [0.6], [0.0], [0.3]]
    return sampled(A, B, load, 0.05, states=[0.2, 0.4, 0.1, 0.5], inputs=[0.1], regulated=[0], measured=[0, 2])


def heated_house() -> Plant:
    """Return a house: air, floor, walls, water in the floor, tank; heaters of tank and air; the weather changes."""
    capacity = np.array([1.0, 10.0, 15.0, 2.0, 8.0])
    between = {(0, 1): 3.0, (0, 2): 2.0, (1, 3): 4.0, (3, 4): 5.0}
    outside = np.array([0.5, 0.0, 1.0, 0.0, 0.0])
    A = -np.diag(outside)
    for (i, j), flow in between.items():
        A[[i, j], [j, i]] += flow
        A[[i, j], [i, j]] -= flow
    B = np.zeros((5, 2))
    B[4, 0] = B[0, 1] = 1.0
    each = capacity[:, None]
    return sampled(
        *(A / each, B / each, 3.0 * outside[:, None] / each, 0.25),
        states=[0.5, 1.0, 1.0, 3.0, 5.0],
        inputs=[4.0, 2.0],
        regulated=[0, 4],
        measured=[0, 4],
    )


def tower() -> Plant:
    """Return five storeys of a tower: how far and how fast they sway; two are pulled back; wind blows, more on top."""
    n, stiffness, friction = 5, 120.0, 0.4
    springs = np.diag([-2.0] * (n - 1) + [-1.0]) + np.diag(np.ones(n - 1), 1) + np.diag(np.ones(n - 1), -1)
    A = np.block([[np.zeros((n, n)), np.eye(n)], [stiffness * springs, friction * springs]])
    B, load = np.zeros((2 * n, 2)), np.zeros((2 * n, 1))
    B[[n + 2, n + 4], [0, 1]] = 1.0
    load[n:, 0] = 0.1 * np.arange(1, n + 1)
    return sampled(
        *(A, B, load, 0.05), states=[0.05] * n + [0.3] * n, inputs=[2.0] * 2, regulated=[2, 4], measured=[2, 4]
    )
