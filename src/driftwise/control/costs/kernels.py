"""What a state and an input cost, compiled.

The costs of a run are data, so that whole simulations run in compiled code. `CostData` is their form in Python; kernels
read the vector that `cost_vector` makes of it.
"""

import math
from typing import NamedTuple

import numpy as np

from driftwise._compile import aside, brief, helper
from driftwise._memory import Part, Pointer, Section, at, part, whole_at
from driftwise._validate import Array, Indices

QUADRATIC, ABSOLUTE, HUBER = 0, 1, 2
"""Kinds of cost: a x'Qx + b u'Ru; a q.|x| + b r.|u|; the same with Huber's function in place of the absolute value."""


class CostData(NamedTuple):
    """The costs of the rounds of one run."""

    kind: int
    state: Array
    """(n, dx, dx): symmetric Q of each of the n stages if QUADRATIC; (n, 1, dx): weights q otherwise.
    Either may be (n, 1, 1): the same weight for every state, however many there are."""
    input: Array
    """(n, du, du): symmetric R if QUADRATIC; (n, 1, du): weights r otherwise; or (n, 1, 1) in the same sense."""
    stage: Indices
    """(T,): which stage a round belongs to; (1,): the same in all rounds."""
    scales: Array
    """(T, 2): the factors a and b of the state and the input part in a round; (1, 2): the same in all rounds."""
    width: float
    """Half-width of the quadratic part of Huber's function."""

    def of_rounds(self, first: int, last: int) -> tuple[Array, Array]:
        """Return the weights of states and of inputs, times their factors, in the rounds from `first` up to `last`."""
        rounds = np.arange(first, last)
        stage = self.stage[np.minimum(rounds, self.stage.size - 1)]
        scales = self.scales[np.minimum(rounds, len(self.scales) - 1)][:, :, None, None]
        return self.state[stage] * scales[:, 0], self.input[stage] * scales[:, 1]


# The header of costs. Slots that come in pairs are for the state part and, one later, for the input part.
STATE, INPUT = 0, 1
"""The two parts of a cost."""
COST_KIND, WIDTH, STAGE_ROUNDS, FACTOR_ROUNDS = range(4)
COLUMNS = 4  # of a matrix of weights; 1 for one weight for all
STAGE_SIZE = 6  # doubles from the weights of a stage to those of the next
WEIGHTS_AT, STAGE_AT, FACTORS_AT = 8, 10, 11

_COSTS = Section(
    12,
    [
        Part("state", WEIGHTS_AT + STATE, ("state",)),
        Part("input", WEIGHTS_AT + INPUT, ("input",)),
        Part("stage", STAGE_AT, ("stage",)),
        Part("scales", FACTORS_AT, ("scales",)),
    ],
)


def cost_vector(cost: CostData) -> Array:
    """Return costs as kernels read them."""
    parts = {"state": cost.state, "input": cost.input, "stage": cost.stage, "scales": cost.scales}
    sides = {name: values.size for name, values in parts.items()}
    vector = np.zeros(_COSTS.size(sides))
    vector[COST_KIND], vector[WIDTH] = cost.kind, cost.width
    vector[STAGE_ROUNDS], vector[FACTOR_ROUNDS] = cost.stage.size, len(cost.scales)
    for which, weights in ((STATE, cost.state), (INPUT, cost.input)):
        vector[COLUMNS + which], vector[STAGE_SIZE + which] = weights.shape[2], weights[0].size
    _COSTS.write_offsets(vector, sides)
    for name, view in _COSTS.views(vector, sides).items():
        view[:] = parts[name].ravel()
    return vector


@helper
def is_quadratic(cost: Pointer) -> bool:
    """Tell whether the costs are z'Wz, z = (x, u): then slopes are linear in z."""
    kind: float = cost[COST_KIND]
    return kind == QUADRATIC


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
