"""Twelve plants that were looked at while the controller was designed."""

import numpy as np

from driftwise.experiments.studies.control.engineer.plants.base import GRAVITY, Plant, sampled


def cart_pole() -> Plant:
    """Return an inverted pendulum on a cart: position, speed, angle, angular speed; the load pushes the cart."""
    cart, pole, length, friction = 1.0, 0.2, 0.5, 0.1
    push, fall = 1.0 / cart, GRAVITY / length
    A = [
        [0.0, 1.0, 0.0, 0.0],
        [0.0, -friction * push, -pole * GRAVITY * push, 0.0],
        [0.0, 0.0, 0.0, 1.0],
        [0.0, friction * push / length, fall * (1.0 + pole / cart), 0.0],
    ]
    B = [[0.0], [push], [0.0], [-push / length]]
    return sampled(A, B, B, 0.04, states=[0.2, 0.5, 0.1, 0.5], inputs=[4.0], regulated=[0], measured=[0, 2])


def thermal_chain() -> Plant:
    """Return five heated segments in a row, two heaters; the load is the temperature outside."""
    capacity, between, loss = 600.0, 2.0, 0.5
    A = np.zeros((5, 5))
    for i in range(5):
        neighbours = [j for j in (i - 1, i + 1) if 0 <= j < 5]
        A[i, neighbours] = between / capacity
        A[i, i] = -(between * len(neighbours) + loss) / capacity
    B = np.zeros((5, 2))
    B[0, 0] = B[3, 1] = 1.0 / capacity
    load = np.full((5, 1), loss / capacity)
    return sampled(A, B, load, 30.0, states=[1.0] * 5, inputs=[20.0] * 2, regulated=[0, 3], measured=[0, 4])


def flexible_motor() -> Plant:
    """Return a DC motor that turns a load through a flexible shaft: current, speed, twist, speed of the load."""
    resistance, inductance, constant = 1.0, 0.01, 0.1
    motor, turned, stiffness, damping, friction = 1e-3, 2e-3, 5.0, 0.005, 1e-3
    A = [
        [-resistance / inductance, -constant / inductance, 0.0, 0.0],
        [constant / motor, -(damping + friction) / motor, -stiffness / motor, damping / motor],
        [0.0, 1.0, 0.0, -1.0],
        [0.0, damping / turned, stiffness / turned, -(damping + friction) / turned],
    ]
    B = [[1.0 / inductance], [0.0], [0.0], [0.0]]
    load = [[0.0], [0.0], [0.0], [0.05 / turned]]
    return sampled(A, B, load, 0.005, states=[2.0, 5.0, 0.05, 5.0], inputs=[2.0], regulated=[3], measured=[0, 1])


def short_period() -> Plant:
    """Return the short-period motion of an aircraft: angle of attack and pitch rate; the load is a vertical gust."""
    A = [[-1.2, 1.0], [-6.0, -1.5]]
    return sampled(
        A, [[-0.1], [-8.0]], [[-0.06], [-0.12]], 0.05, states=[0.05, 0.2], inputs=[0.1], regulated=[0], measured=[1]
    )


def levitation() -> Plant:
    """Return a magnet that holds a ball: gap, speed, current; the load is a force on the ball."""
    gap, current, resistance, inductance = 0.01, 1.0, 2.0, 0.02
    A = [
        [0.0, 1.0, 0.0],
        [2.0 * GRAVITY / gap, 0.0, -2.0 * GRAVITY / current],
        [0.0, 0.0, -resistance / inductance],
    ]
    B = [[0.0], [0.0], [1.0 / inductance]]
    load = [[0.0], [0.5], [0.0]]
    return sampled(A, B, load, 0.003, states=[1e-3, 0.05, 0.2], inputs=[1.0], regulated=[0], measured=[0, 2])


def two_masses() -> Plant:
    """Return two masses with a spring between them; the input pushes the first, the load the second."""
    A = [[0.0, 1.0, 0.0, 0.0], [-1.0, -0.02, 1.0, 0.02], [0.0, 0.0, 0.0, 1.0], [1.0, 0.02, -1.0, -0.02]]
    B, load = [[0.0], [1.0], [0.0], [0.0]], [[0.0], [0.0], [0.0], [1.0]]
    return sampled(A, B, load, 0.25, states=[1.0] * 4, inputs=[1.0], regulated=[2], measured=[0, 2])


def four_tanks() -> Plant:
    """Return four coupled tanks and two pumps; the loads are flows into the upper tanks."""
    wide, wider = 28.0, 32.0
    times, first, second = (62.0, 90.0, 23.0, 30.0), 0.7, 0.6
    A = np.diag([-1.0 / time for time in times])
    A[0, 2], A[1, 3] = 1.0 / times[2], 1.0 / times[3]
    B = np.zeros((4, 2))
    B[0, 0], B[3, 0] = 3.3 * first / wide, 3.3 * (1.0 - first) / wider
    B[1, 1], B[2, 1] = 3.4 * second / wider, 3.4 * (1.0 - second) / wide
    load = np.zeros((4, 2))
    load[2, 0], load[3, 1] = 1.0 / wide, 1.0 / wider
    return sampled(A, B, load, 5.0, states=[1.0] * 4, inputs=[1.5] * 2, regulated=[0, 1], measured=[0, 1])


def lateral_flight() -> Plant:
    """Return an aircraft's sideslip, roll rate, yaw rate and bank; aileron and rudder; the load is a side gust."""
    A = [[-0.12, 0.02, -0.99, 0.05], [-4.0, -1.8, 0.5, 0.0], [1.5, -0.05, -0.25, 0.0], [0.0, 1.0, 0.02, 0.0]]
    B = [[0.0, 0.02], [6.0, 0.6], [0.2, -1.2], [0.0, 0.0]]
    load = [[-0.006], [-0.12], [0.06], [0.0]]
    return sampled(
        *(A, B, load, 0.1), states=[0.05, 0.2, 0.1, 0.1], inputs=[0.1, 0.1], regulated=[3, 0], measured=[1, 2, 3]
    )


def crane() -> Plant:
    """Return a trolley with a load on a rope: position, speed, swing, its speed; wind blows against what hangs."""
    trolley, hanging, rope, friction = 20.0, 10.0, 2.0, 4.0
    A = np.zeros((4, 4))
    A[0, 1] = A[2, 3] = 1.0
    A[1] = [0.0, -friction / trolley, GRAVITY * hanging / trolley, 0.0]
    A[3] = -A[1] / rope - np.array([0.0, 0.0, GRAVITY / rope, 0.05])
    B = [[0.0], [1.0 / trolley], [0.0], [-1.0 / (trolley * rope)]]
    load = [[0.0], [0.0], [0.0], [5.0 / (hanging * rope)]]
    return sampled(A, B, load, 0.1, states=[0.3, 0.4, 0.1, 0.2], inputs=[25.0], regulated=[0], measured=[0, 2])


def reactor() -> Plant:
    """Return a stirred tank that runs away without cooling: concentration, temperature, jacket; the feed changes."""
    A = [[-2.0, -0.5, 0.0], [4.0, 1.8, 1.0], [0.0, 1.5, -3.0]]
    B, load = [[0.0], [0.0], [3.0]], [[1.0, 0.0], [0.0, 0.6], [0.0, 0.0]]
    return sampled(A, B, load, 0.05, states=[1.0] * 3, inputs=[1.5], regulated=[1], measured=[1, 2])


def wheel_pendulum() -> Plant:
    """Return a pendulum that a reaction wheel on a motor keeps upright: angle, speed, speed of the wheel."""
    fall, torque, slip = 45.0, 12.0, 0.4
    A = [[0.0, 1.0, 0.0], [fall, -0.1, 0.02 * torque], [0.0, 0.0, -slip]]
    B, load = [[0.0], [-torque], [10.0 * torque]], [[0.0], [1.5], [0.0]]
    return sampled(A, B, load, 0.02, states=[0.05, 0.3, 10.0], inputs=[0.5], regulated=[2], measured=[0, 2])


def mass_chain() -> Plant:
    """Return six masses between two walls, with springs: positions and speeds; three of them are pushed."""
    n = 6
    springs = np.diag(np.full(n, -2.0)) + np.diag(np.ones(n - 1), 1) + np.diag(np.ones(n - 1), -1)
    A = np.block([[np.zeros((n, n)), np.eye(n)], [springs, 0.05 * springs]])
    B, load = np.zeros((2 * n, 3)), np.zeros((2 * n, 2))
    B[[n, n + 2, n + 4], [0, 1, 2]] = 1.0
    load[[n + 1, n + 5], [0, 1]] = 1.0
    return sampled(A, B, load, 0.3, states=[1.0] * 12, inputs=[1.0] * 3, regulated=[0, 2, 4], measured=[1, 3, 5])
