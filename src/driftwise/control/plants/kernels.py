"""The world of a controller, compiled: how a plant moves on and what a state and an input cost.

A plant and a sequence of costs are data, so that whole simulations run in compiled code. `PlantData` and `CostData` are
their form in Python; kernels read the vectors that `plant_vector` and `cost_vector` make of them. Loops run along the
axis that is contiguous and whose entries do not depend on one another.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from driftwise._compile import aside, brief, helper
from driftwise._memory import Part, Pointer, Section, at, part, whole_at
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

# The header of costs. What there is twice is of the state part and, one slot later, of the input part.
STATE, INPUT = 0, 1
"""The two parts of a cost."""
COST_KIND, WIDTH, STAGE_ROUNDS, FACTOR_ROUNDS = range(4)
COLUMNS = 4  # of a matrix of weights; 1 for one weight for all
STAGE_SIZE = 6  # doubles from the weights of a stage to those of the next
WEIGHTS_AT, STAGE_AT, FACTORS_AT = 8, 10, 11

_COSTS = Section(
    12,
    [
        Part("state", WEIGHTS_AT + STATE, ("stages", "state_rows", "state_columns")),
        Part("input", WEIGHTS_AT + INPUT, ("stages", "input_rows", "input_columns")),
        Part("stage", STAGE_AT, ("stage_rounds",)),
        Part("scales", FACTORS_AT, ("factor_rounds", 2)),
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


def cost_vector(cost: CostData) -> Array:
    """Return costs as kernels read them."""
    stages, state_rows, state_columns = cost.state.shape
    sides = {
        "stages": stages,
        "state_rows": state_rows,
        "state_columns": state_columns,
        "input_rows": cost.input.shape[1],
        "input_columns": cost.input.shape[2],
        "stage_rounds": cost.stage.size,
        "factor_rounds": len(cost.scales),
    }
    vector = np.zeros(_COSTS.size(sides))
    vector[COST_KIND], vector[WIDTH] = cost.kind, cost.width
    vector[STAGE_ROUNDS], vector[FACTOR_ROUNDS] = cost.stage.size, len(cost.scales)
    for which, weights in ((STATE, cost.state), (INPUT, cost.input)):
        vector[COLUMNS + which], vector[STAGE_SIZE + which] = weights.shape[2], weights[0].size
    _COSTS.write_offsets(vector, sides)
    for name, view in _COSTS.views(vector, sides).items():
        view[...] = getattr(cost, name)
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
    plant: Pointer,
    change_A: Pointer,
    change_B: Pointer,
    push: float,
    x: Pointer,
    u: Pointer,
    w: Pointer,
    out: Pointer,
) -> None:
    """Write the state after (x, u, w); `u` is what the actuator delivers, the changes of A and B are of this round.

    With a push above 0, w becomes first what takes the next state farthest from the origin.
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


def advance(plant: PlantData, t: int, x: Array, u: Array, w: Array, out: Array) -> None:
    """Write the state after (x, u, w) in round t; `u` is what the actuator delivers."""
    one_move(plant_vector(plant), *changes_in(plant, t), 0.0, x, u, w, out)


def push_away(plant: PlantData, t: int, x: Array, u: Array, push: float, w: Array, out: Array) -> None:
    """Turn w into the push of this norm that takes the next state farthest from the origin, written to `out`.

    Where the next state would be the origin itself, w stays as it is.
    """
    one_move(plant_vector(plant), *changes_in(plant, t), push, x, u, w, out)


@aside
def _value(cost: Pointer, which: int, stage: int, z: Pointer, size: int) -> float:
    """Return the cost of a state or an input by the weights of a stage."""
    kind, width, columns = cost[COST_KIND], cost[WIDTH], whole_at(cost, COLUMNS + which)
    weights = part(at(cost, WEIGHTS_AT + which), stage * whole_at(cost, STAGE_SIZE + which))
    total: float = 0.0
    if kind == QUADRATIC and columns == 1:
        for i in range(size):
            total += z[i] * z[i]
        total *= weights[0]
        return total
    if kind == QUADRATIC:
        for i in range(size):
            row = 0.0
            for k in range(size):
                row += weights[i * size + k] * z[k]
            total += z[i] * row
        return total
    for i in range(size):
        length = abs(z[i])
        if kind == HUBER:
            length = 0.5 * length * length / width if length <= width else length - 0.5 * width
        total += weights[min(i, columns - 1)] * length
    return total


@helper
def _stage(cost: Pointer, t: int) -> int:
    stage: int = whole_at(at(cost, STAGE_AT), min(t, whole_at(cost, STAGE_ROUNDS) - 1))
    return stage


@helper
def _factors(cost: Pointer, t: int) -> Pointer:
    """Return a pointer to the factors a and b of a round."""
    return part(at(cost, FACTORS_AT), 2 * min(t, whole_at(cost, FACTOR_ROUNDS) - 1))


@helper
def value_of(cost: Pointer, t: int, x: Pointer, u: Pointer, dx: int, du: int) -> float:
    """Return c_t(x, u)."""
    stage, factors, total = _stage(cost, t), _factors(cost, t), 0.0
    for which in range(2):
        z, size = (x, dx) if which == STATE else (u, du)
        total += factors[which] * _value(cost, which, stage, z, size)
    return total


@aside
def slopes_of(
    cost: Pointer, t: int, x: Pointer, u: Pointer, dx: int, du: int, slope_x: Pointer, slope_u: Pointer
) -> None:
    """Write the gradients of c_t in x and in u."""
    kind, width, stage = cost[COST_KIND], cost[WIDTH], _stage(cost, t)
    for which in range(2):
        z, size, out = (x, dx, slope_x) if which == STATE else (u, du, slope_u)
        scale, columns = _factors(cost, t)[which], whole_at(cost, COLUMNS + which)
        weights = part(at(cost, WEIGHTS_AT + which), stage * whole_at(cost, STAGE_SIZE + which))
        for i in range(size):
            if kind != QUADRATIC:
                slope = 0.0 if z[i] == 0.0 else math.copysign(1.0, z[i])
                if kind == HUBER and abs(z[i]) <= width:
                    slope = z[i] / width
                out[i] = scale * weights[min(i, columns - 1)] * slope
            elif columns == 1:
                out[i] = 2.0 * scale * weights[0] * z[i]
            else:
                row = 0.0
                for k in range(size):
                    row += weights[i * size + k] * z[k]
                out[i] = 2.0 * scale * row


@brief
def one_value(cost: Array, x: Array, u: Array) -> float:
    """Return c_0(x, u)."""
    return value_of(part(cost, 0), 0, part(x, 0), part(u, 0), x.size, u.size)


@brief
def one_slope(cost: Array, x: Array, u: Array, slope_x: Array, slope_u: Array) -> None:
    """Write the gradients of c_0 in x and in u."""
    slopes_of(part(cost, 0), 0, part(x, 0), part(u, 0), x.size, u.size, part(slope_x, 0), part(slope_u, 0))
