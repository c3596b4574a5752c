"""The world of a controller, compiled: how a plant moves on and what a state and an input cost.

A plant and a sequence of costs are data, so that whole simulations run in compiled code. Loops run along
the axis that is contiguous and whose entries do not depend on one another.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from driftwise._compile import hot
from driftwise._validate import Array

Integers = NDArray[np.int64]

LINEAR, VARYING, PENDULUM = 0, 1, 2
"""Kinds of plant: x' = A x + B u + w; the same with A + changes_A[t], B + changes_B[t]; the paper's pendulum."""

QUADRATIC, ABSOLUTE, HUBER = 0, 1, 2
"""Kinds of cost: a x'Qx + b u'Ru; a q.|x| + b r.|u|; the same with Huber's function in place of the absolute value."""


class PlantData(NamedTuple):
    """A plant over the rounds of one run."""

    kind: int
    A: Array
    """(dx, dx): nominal."""
    B: Array
    """(dx, du): nominal."""
    changes_A: Array
    """(T, dx, dx) for a VARYING plant, (0, dx, dx) otherwise."""
    changes_B: Array
    """(T, dx, du) for a VARYING plant, (0, dx, du) otherwise."""
    numbers: Array
    """a, b, c of the PENDULUM: theta' = theta + c omega, omega' = omega + a sin(theta + pi) + b u."""
    limit: Array
    """(du,): largest size of each input that the actuator delivers; inf where there is no limit."""


class CostData(NamedTuple):
    """The costs of the rounds of one run."""

    kind: int
    state: Array
    """(n, dx, dx): symmetric Q of each of the n stages if QUADRATIC; (n, 1, dx): weights q otherwise.
    Either may be (n, 1, 1): the same weight for every state, however many there are."""
    input: Array
    """(n, du, du): symmetric R if QUADRATIC; (n, 1, du): weights r otherwise; or (n, 1, 1) in the same sense."""
    stage: Integers
    """(T,): which stage a round belongs to; (1,): the same in all rounds."""
    scales: Array
    """(T, 2): the factors a and b of the state and the input part in a round; (1, 2): the same in all rounds."""
    width: float
    """Half-width of the quadratic part of Huber's function."""


@hot
def saturate(limit: Array, u: Array) -> None:
    """Clip every input to what the actuator delivers, in place."""
    for k in range(u.size):
        u[k] = min(max(u[k], -limit[k]), limit[k])


@hot
def advance(plant: PlantData, t: int, x: Array, u: Array, w: Array, out: Array) -> None:
    """Write the state after (x, u, w) in round t; `u` is what the actuator delivers."""
    A, B, numbers = plant.A, plant.B, plant.numbers
    if plant.kind == PENDULUM:
        out[0] = x[0] + numbers[2] * x[1] + w[0]
        out[1] = x[1] + numbers[0] * math.sin(x[0] + math.pi) + numbers[1] * u[0] + w[1]
        if abs(out[0]) > math.pi:
            out[0] -= 2.0 * math.pi * math.floor((out[0] + math.pi) / (2.0 * math.pi))
        return
    for i in range(x.size):
        total = w[i]
        for k in range(x.size):
            total += A[i, k] * x[k]
        for k in range(u.size):
            total += B[i, k] * u[k]
        out[i] = total
    if plant.kind == VARYING:
        for i in range(x.size):
            for k in range(x.size):
                out[i] += plant.changes_A[t, i, k] * x[k]
            for k in range(u.size):
                out[i] += plant.changes_B[t, i, k] * u[k]


@hot
def push_away(plant: PlantData, t: int, x: Array, u: Array, push: float, w: Array, out: Array) -> None:
    """Turn w into the push of this norm that takes the next state farthest from the origin; `out` is room to work in.

    Where the next state would be the origin itself, w stays as it is.
    """
    for i in range(w.size):
        out[i] = 0.0
    advance(plant, t, x, u, out, out)  # each entry is read, as the disturbance, before it is written
    largest = 0.0
    for i in range(w.size):
        largest = max(largest, abs(out[i]))
    if largest > 0.0:
        size = 0.0
        for i in range(w.size):
            size += (out[i] / largest) ** 2
        for i in range(w.size):
            w[i] = push * (out[i] / largest) / math.sqrt(size)


@hot
def _part(kind: int, weights: Array, n: int, z: Array, width: float) -> float:
    """Return the cost of a state or an input by the weights of stage n."""
    total, last = 0.0, weights.shape[2] - 1
    if kind == QUADRATIC and last == 0:
        for i in range(z.size):
            total += z[i] * z[i]
        return float(weights[n, 0, 0] * total)
    if kind == QUADRATIC:
        for i in range(z.size):
            row = 0.0
            for k in range(z.size):
                row += weights[n, i, k] * z[k]
            total += z[i] * row
        return total
    for i in range(z.size):
        size = abs(z[i])
        if kind == HUBER:
            size = 0.5 * size * size / width if size <= width else size - 0.5 * width
        total += weights[n, 0, min(i, last)] * size
    return total


@hot
def _part_gradient(kind: int, weights: Array, n: int, scale: float, z: Array, width: float, out: Array) -> None:
    """Write the gradient of `scale` times the cost of a state or an input."""
    last = weights.shape[2] - 1
    if kind == QUADRATIC and last == 0:
        for i in range(z.size):
            out[i] = 2.0 * scale * weights[n, 0, 0] * z[i]
        return
    if kind == QUADRATIC:
        for i in range(z.size):
            row = 0.0
            for k in range(z.size):
                row += weights[n, i, k] * z[k]
            out[i] = 2.0 * scale * row
        return
    for i in range(z.size):
        slope = 0.0 if z[i] == 0.0 else math.copysign(1.0, z[i])
        if kind == HUBER and abs(z[i]) <= width:
            slope = z[i] / width
        out[i] = scale * weights[n, 0, min(i, last)] * slope


@hot
def cost_value(cost: CostData, t: int, x: Array, u: Array) -> float:
    """Return c_t(x, u)."""
    n, row = cost.stage[min(t, cost.stage.size - 1)], min(t, cost.scales.shape[0] - 1)
    a, b = cost.scales[row, 0], cost.scales[row, 1]
    return float(
        a * _part(cost.kind, cost.state, n, x, cost.width) + b * _part(cost.kind, cost.input, n, u, cost.width)
    )


@hot
def cost_gradient(cost: CostData, t: int, x: Array, u: Array, slope_x: Array, slope_u: Array) -> None:
    """Write the gradients of c_t in x and in u."""
    n, row = cost.stage[min(t, cost.stage.size - 1)], min(t, cost.scales.shape[0] - 1)
    _part_gradient(cost.kind, cost.state, n, cost.scales[row, 0], x, cost.width, slope_x)
    _part_gradient(cost.kind, cost.input, n, cost.scales[row, 1], u, cost.width, slope_u)
