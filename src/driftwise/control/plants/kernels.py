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
    limits: Array
    """(2, du): lows and highs of what the actuator delivers; infinite where there is no limit."""
    rate: Array
    """(du,): largest change of each input from one round to the next; inf where there is no limit."""
    lag: Array
    """(du,): coefficient of the lag of each input; 0 where there is none."""
    delay: int
    """Rounds after which an input arrives."""


# The header of a plant: single numbers, then where the parts are.
PLANT_KIND, STATES, INPUTS, DELAY, NEXT, DIRECT = range(6)
"""DIRECT: whether there is neither delay nor lag. NEXT, which changes: the row of the queue that arrives next."""
A_AT, B_AT, NUMBERS_AT, LIMITS_AT, RATE_AT, LAG_AT, BEFORE_AT, FORCE_AT, QUEUE_AT = range(6, 15)

_SETTINGS = ("A", "B", "numbers", "limits", "rate", "lag")

_PLANT = Section(
    15,
    [
        Part("A", A_AT, ("dx", "dx")),
        Part("B", B_AT, ("dx", "du")),
        Part("numbers", NUMBERS_AT, ("numbers",)),
        Part("limits", LIMITS_AT, (2, "du")),
        Part("rate", RATE_AT, ("du",)),
        Part("lag", LAG_AT, ("du",)),
        Part("before", BEFORE_AT, ("du",)),  # what follows changes: the last input within the limits,
        Part("force", FORCE_AT, ("du",)),  # what the plant got last,
        Part("queue", QUEUE_AT, ("delay", "du")),  # and the inputs on their way
    ],
)


def plant_vector(plant: PlantData) -> Array:
    """Return a plant as kernels read it and with its actuator at rest.

    Kernels keep in it what the actuator remembers, so that every run needs one of its own. The changes of a VARYING
    plant, which can be long, are handed over beside it.
    """
    dx, du = plant.B.shape
    sides = {"dx": dx, "du": du, "numbers": plant.numbers.size, "delay": plant.delay}
    vector = np.zeros(_PLANT.size(sides))
    vector[PLANT_KIND], vector[STATES], vector[INPUTS], vector[DELAY] = plant.kind, dx, du, plant.delay
    vector[DIRECT] = plant.delay == 0 and not plant.lag.any()
    _PLANT.write_offsets(vector, sides)
    views = _PLANT.views(vector, sides)
    for name in _SETTINGS:
        views[name][...] = getattr(plant, name)
    views["before"][:] = np.clip(0.0, *plant.limits)
    return vector


@helper
def clip(limits: Pointer, u: Pointer, size: int) -> None:
    """Clip every input to its limits, the lows followed by the highs, in place."""
    for k in range(size):
        u[k] = min(max(u[k], limits[k]), limits[size + k])


@helper
def actuate(plant: Pointer, u: Pointer, size: int) -> None:
    """Limit an input, in place, to what the actuator accepts after the one before, and remember it."""
    rate, before = at(plant, RATE_AT), at(plant, BEFORE_AT)
    for k in range(size):
        u[k] = min(max(u[k], before[k] - rate[k]), before[k] + rate[k])
    clip(at(plant, LIMITS_AT), u, size)
    for k in range(size):
        before[k] = u[k]


@aside
def _pass(plant: Pointer, u: Pointer) -> None:
    """Let an input pass delay and lag: write what the plant gets in this round."""
    du, delay, place = whole_at(plant, INPUTS), whole_at(plant, DELAY), whole_at(plant, NEXT)
    force, lag, waiting = at(plant, FORCE_AT), at(plant, LAG_AT), part(at(plant, QUEUE_AT), place * du)
    for k in range(du):
        arrived = u[k]
        if delay > 0:
            arrived = waiting[k]
            waiting[k] = u[k]
        force[k] = lag[k] * force[k] + (1.0 - lag[k]) * arrived
    plant[NEXT] = 0.0 if place + 1 >= delay else plant[NEXT] + 1.0


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
    """Write the state after (x, u, w); `u` is an input from `actuate`, the changes of A and B are of this round.

    The input passes delay and lag on its way. With a push above 0, w is first replaced by the push of this norm that
    takes the next state farthest away from 0.
    """
    size, force = whole_at(plant, STATES), u
    if plant[DIRECT] == 0.0:
        _pass(plant, u)
        force = at(plant, FORCE_AT)
    if push > 0.0:
        for i in range(size):
            out[i] = 0.0
        _follow(plant, change_A, change_B, x, force, out, out)
        _flee(size, push, w, out)
    _follow(plant, change_A, change_B, x, force, w, out)


@brief
def one_actuation(plant: Array, u: Array) -> None:
    """Limit an input, in place, to what the actuator accepts after the one before, and remember it."""
    actuate(part(plant, 0), part(u, 0), u.size)


@brief
def one_move(
    plant: Array, change_A: Array, change_B: Array, push: float, x: Array, u: Array, w: Array, out: Array
) -> None:
    """Let a plant move on by one round, from arrays."""
    move(part(plant, 0), part(change_A, 0), part(change_B, 0), push, part(x, 0), part(u, 0), part(w, 0), part(out, 0))


def changes_in(plant: PlantData, t: int) -> tuple[Array, Array]:
    """Return the changes of A and B in round t, for a VARYING plant; matrices that nobody reads for any other."""
    return (plant.changes_A[t], plant.changes_B[t]) if plant.kind == VARYING else (plant.A, plant.B)
