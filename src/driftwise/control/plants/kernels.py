"""How a plant moves on, compiled.

A plant is data, so that whole simulations run in compiled code. `PlantData` is its form in Python; kernels read the
vector that `plant_vector` makes of it. Loops run along the axis that is contiguous and whose entries do not depend on
one another.
"""

import math
from typing import NamedTuple

import numpy as np

from driftwise._compile import aside, brief, helper
from driftwise._memory import Part, Pointer, Section, at, part, whole_at
from driftwise._validate import Array

LINEAR, VARYING, PENDULUM = 0, 1, 2
"""Kinds of plant: x' = A x + B u + w; the same with A + changes_A[t], B + changes_B[t]; the paper's pendulum."""


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


# The header of a plant: single numbers, then where the parts are.
PLANT_KIND, STATES, INPUTS = range(3)
A_AT, B_AT, NUMBERS_AT, LIMIT_AT = range(3, 7)

_PLANT = Section(
    7,
    [
        Part("A", A_AT, ("dx", "dx")),
        Part("B", B_AT, ("dx", "du")),
        Part("numbers", NUMBERS_AT, ("numbers",)),
        Part("limit", LIMIT_AT, ("du",)),
    ],
)


def plant_vector(plant: PlantData) -> Array:
    """Return a plant as kernels read it; the changes of a VARYING one, which can be long, are handed over beside it."""
    dx, du = plant.B.shape
    sides = {"dx": dx, "du": du, "numbers": plant.numbers.size}
    vector = np.zeros(_PLANT.size(sides))
    vector[PLANT_KIND], vector[STATES], vector[INPUTS] = plant.kind, dx, du
    _PLANT.write_offsets(vector, sides)
    for name, view in _PLANT.views(vector, sides).items():
        view[...] = getattr(plant, name)
    return vector


@helper
def clip(limit: Pointer, u: Pointer, size: int) -> None:
    """Clip every input to its limit, in place."""
    for k in range(size):
        u[k] = min(max(u[k], -limit[k]), limit[k])


@aside
def add_product(matrix: Pointer, rows: int, columns: int, z: Pointer, out: Pointer) -> None:
    """Add a matrix times z to what is written."""
    for i in range(rows):
        total = out[i]
        for k in range(columns):
            total += matrix[i * columns + k] * z[k]
        out[i] = total


@aside
def _follow(
    plant: Pointer, change_A: Pointer, change_B: Pointer, x: Pointer, u: Pointer, w: Pointer, out: Pointer
) -> None:
    """Write the state after (x, u, w) to `out`, which may be w itself."""
    dx, du = whole_at(plant, STATES), whole_at(plant, INPUTS)
    if plant[PLANT_KIND] == PENDULUM:
        numbers = at(plant, NUMBERS_AT)
        out[0] = x[0] + numbers[2] * x[1] + w[0]
        out[1] = x[1] + numbers[0] * math.sin(x[0] + math.pi) + numbers[1] * u[0] + w[1]
        if abs(out[0]) > math.pi:
            out[0] -= 2.0 * math.pi * math.floor((out[0] + math.pi) / (2.0 * math.pi))
        return
    for i in range(dx):
        out[i] = w[i]
    add_product(at(plant, A_AT), dx, dx, x, out)
    add_product(at(plant, B_AT), dx, du, u, out)
    if plant[PLANT_KIND] == VARYING:
        add_product(change_A, dx, dx, x, out)
        add_product(change_B, dx, du, u, out)


@helper
def _flee(size: int, push: float, w: Pointer, following: Pointer) -> None:
    """Turn w into the push of this norm along the state that would follow without it, unless that is the origin."""
    largest = 0.0
    for i in range(size):
        largest = max(largest, abs(following[i]))
    if largest > 0.0:
        square = 0.0
        for i in range(size):
            square += (following[i] / largest) ** 2
        for i in range(size):
            w[i] = push * (following[i] / largest) / math.sqrt(square)


@helper
def move(
    plant: Pointer, change_A: Pointer, change_B: Pointer, push: float, x: Pointer, u: Pointer, w: Pointer, out: Pointer
) -> None:
    """Write the state after (x, u, w); `u` is what the actuator delivers, the changes of A and B are of this round.

    With a push above 0, w is first replaced by the push of this norm that takes the next state farthest away from 0.
    """
    size = whole_at(plant, STATES)
    if push > 0.0:
        for i in range(size):
            out[i] = 0.0
        _follow(plant, change_A, change_B, x, u, out, out)
        _flee(size, push, w, out)
    _follow(plant, change_A, change_B, x, u, w, out)


@brief
def one_move(
    plant: Array, change_A: Array, change_B: Array, push: float, x: Array, u: Array, w: Array, out: Array
) -> None:
    """Let a plant move on by one round, from arrays."""
    move(part(plant, 0), part(change_A, 0), part(change_B, 0), push, part(x, 0), part(u, 0), part(w, 0), part(out, 0))


def changes_in(plant: PlantData, t: int) -> tuple[Array, Array]:
    """Return the changes of A and B in round t, for a VARYING plant; matrices that nobody reads for any other."""
    return (plant.changes_A[t], plant.changes_B[t]) if plant.kind == VARYING else (plant.A, plant.B)


def saturate(limit: Array, u: Array) -> None:
    """Clip every input to what the actuator delivers, in place."""
    np.clip(u, -limit, limit, out=u)


def advance(plant: PlantData, t: int, x: Array, u: Array, w: Array, out: Array, push: float = 0.0) -> None:
    """Write the state after (x, u, w) in round t; `u` is what the actuator delivers.

    A push above 0 first turns w into the push of this norm that takes the next state farthest from the origin; where
    the next state would be the origin itself, w stays as it is.
    """
    one_move(plant_vector(plant), *changes_in(plant, t), push, x, u, w, out)
