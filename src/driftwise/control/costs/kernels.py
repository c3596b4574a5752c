"""What a state and an input cost, compiled.

The costs of a run are data, so that whole simulations run in compiled code. `CostData` is their form in Python; kernels
read the vector that `cost_vector` makes of it.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from driftwise._compile import aside, brief, helper
from driftwise._memory import Part, Pointer, Section, at, part, whole_at
from driftwise._validate import Array, Indices

QUADRATIC, ABSOLUTE, HUBER, SOFT = 0, 1, 2, 3
"""Kinds of cost: a x'Qx + b u'Ru, x and u less their targets; a q.|x| + b r.|u|; the same with Huber's function in
place of the absolute value; the first with a penalty of states outside their limits, times a."""

NONE: Array = np.zeros((0, 0))
"""No targets."""

NO_LIMITS: Array = np.zeros((0, 3, 0))
"""No soft limits."""


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
    state_target: Array = NONE
    """(n, dx): where the state of a QUADRATIC or SOFT cost is to be in each of the n stages; (0, 0): at 0."""
    input_target: Array = NONE
    """(n, du): where the input is to be; (0, 0): at 0."""
    limits: Array = NO_LIMITS
    """(n, 3, dx): lows, highs and weights of the states of a SOFT cost, (n, 3, 1): the same for every state."""

    @property
    def of_stages(self) -> dict[str, Any]:
        """The fields that have a row for every stage, unless they are empty."""
        names = "state", "input", "state_target", "input_target", "limits"
        return {name: getattr(self, name) for name in names}

    @property
    def targets(self) -> tuple[Array, Array]:
        """Targets of states and of inputs."""
        return self.state_target, self.input_target

    def of_rounds(self, first: int, last: int) -> tuple[Array, Array]:
        """Return the weights of states and of inputs, times their factors, in the rounds from `first` up to `last`."""
        rounds = np.arange(first, last)
        stage = self.stage[np.minimum(rounds, self.stage.size - 1)]
        scales = self.scales[np.minimum(rounds, len(self.scales) - 1)][:, :, None, None]
        return self.state[stage] * scales[:, 0], self.input[stage] * scales[:, 1]

    def targets_of_rounds(self, first: int, last: int) -> tuple[Array | None, Array | None]:
        """Return the targets of states and of inputs in the rounds from `first` up to `last`; None where they are 0."""
        stage = self.stage[np.minimum(np.arange(first, last), self.stage.size - 1)]
        found = [target[stage] if target.size else None for target in self.targets]
        return found[STATE], found[INPUT]


# The header of costs. Slots that come in pairs are for the state part and, one later, for the input part.
STATE, INPUT = 0, 1
"""The two parts of a cost."""
COST_KIND, WIDTH, STAGE_ROUNDS, FACTOR_ROUNDS, ORIGIN, HAS_TARGET, LIMIT_COLUMNS = range(7)
"""ORIGIN is 0, and is the target where there is none; LIMIT_COLUMNS is 1 for the same limits for all states."""
COLUMNS = 7  # of a matrix of weights; 1 for one weight for all
STAGE_SIZE = 9  # doubles from the weights of a stage to those of the next
TARGET_SIZE = 11  # doubles from the target of a stage to that of the next
TARGET_STEP = 13  # doubles from one entry of a target to the next; 0 where there is none
WEIGHTS_AT, TARGET_AT, STAGE_AT, FACTORS_AT, LIMITS_AT = 15, 17, 19, 20, 21

_COSTS = Section(
    22,
    [
        Part("state", WEIGHTS_AT + STATE, ("state",)),
        Part("input", WEIGHTS_AT + INPUT, ("input",)),
        Part("state_target", TARGET_AT + STATE, ("state_target",)),
        Part("input_target", TARGET_AT + INPUT, ("input_target",)),
        Part("stage", STAGE_AT, ("stage",)),
        Part("scales", FACTORS_AT, ("scales",)),
        Part("limits", LIMITS_AT, ("limits",)),
    ],
)


def cost_vector(cost: CostData) -> Array:
    """Return costs as kernels read them."""
    parts: dict[str, Any] = {item.name: getattr(cost, item.name) for item in _COSTS.parts}
    sides = {name: values.size for name, values in parts.items()}
    vector = np.zeros(_COSTS.size(sides))
    vector[COST_KIND], vector[WIDTH], vector[LIMIT_COLUMNS] = cost.kind, cost.width, cost.limits.shape[2]
    vector[STAGE_ROUNDS], vector[FACTOR_ROUNDS] = cost.stage.size, len(cost.scales)
    vector[HAS_TARGET] = any(target.size for target in cost.targets)
    _COSTS.write_offsets(vector, sides)
    for which, (weights, target) in enumerate(zip((cost.state, cost.input), cost.targets, strict=True)):
        vector[COLUMNS + which], vector[STAGE_SIZE + which] = weights.shape[2], weights[0].size
        vector[TARGET_SIZE + which], vector[TARGET_STEP + which] = target.shape[1], target.size > 0
        if target.size == 0:
            vector[TARGET_AT + which] = ORIGIN
    for name, view in _COSTS.views(vector, sides).items():
        view[:] = parts[name].ravel()
    return vector


@helper
def is_quadratic(cost: Pointer) -> bool:
    """Tell whether the costs are z'Wz, z = (x, u) less their targets: then slopes are linear in z."""
    kind: float = cost[COST_KIND]
    return kind == QUADRATIC


@helper
def _stage(cost: Pointer, t: int) -> int:
    stage: int = whole_at(at(cost, STAGE_AT), min(t, whole_at(cost, STAGE_ROUNDS) - 1))
    return stage


@helper
def _factors(cost: Pointer, t: int) -> Pointer:
    """Return a pointer to the factors a and b of a round."""
    return part(at(cost, FACTORS_AT), 2 * min(t, whole_at(cost, FACTOR_ROUNDS) - 1))


@helper
def target_of(cost: Pointer, which: int, stage: int) -> Pointer:
    """Return a pointer to the target of a stage; its entries are TARGET_STEP apart."""
    return part(at(cost, TARGET_AT + which), stage * whole_at(cost, TARGET_SIZE + which))


@aside
def _value(cost: Pointer, which: int, stage: int, z: Pointer, size: int) -> float:
    """Return the cost of a state or an input by the weights of a stage."""
    kind, width, columns = cost[COST_KIND], cost[WIDTH], whole_at(cost, COLUMNS + which)
    weights = part(at(cost, WEIGHTS_AT + which), stage * whole_at(cost, STAGE_SIZE + which))
    target, step = target_of(cost, which, stage), whole_at(cost, TARGET_STEP + which)
    total: float = 0.0
    if ABSOLUTE <= kind <= HUBER:
        for i in range(size):
            length = abs(z[i])
            if kind == HUBER:
                length = 0.5 * length * length / width if length <= width else length - 0.5 * width
            total += weights[min(i, columns - 1)] * length
        return total
    if columns == 1:
        for i in range(size):
            off = z[i] - target[i * step]
            total += off * off
        total *= weights[0]
        return total
    for i in range(size):
        row = 0.0
        for k in range(size):
            row += weights[i * size + k] * (z[k] - target[k * step])
        total += (z[i] - target[i * step]) * row
    return total


@helper
def _excess(limits: Pointer, columns: int, i: int, x: float) -> float:
    """Return by how much a state is above its high or, as a negative number, below its low."""
    k = min(i, columns - 1)
    excess: float = max(x - limits[columns + k], 0.0) + min(x - limits[k], 0.0)
    return excess


@aside
def _penalty(cost: Pointer, stage: int, x: Pointer, size: int) -> float:
    """Return what a state outside its limits costs."""
    columns, total = whole_at(cost, LIMIT_COLUMNS), 0.0
    limits = part(at(cost, LIMITS_AT), 3 * columns * stage)
    for i in range(size):
        excess = _excess(limits, columns, i, x[i])
        total += limits[2 * columns + min(i, columns - 1)] * excess * excess
    return total


@helper
def value_of(cost: Pointer, t: int, x: Pointer, u: Pointer, dx: int, du: int) -> float:
    """Return c_t(x, u)."""
    stage, factors, total = _stage(cost, t), _factors(cost, t), 0.0
    for which in range(2):
        z, size = (x, dx) if which == STATE else (u, du)
        total += factors[which] * _value(cost, which, stage, z, size)
    if cost[COST_KIND] == SOFT:
        total += factors[STATE] * _penalty(cost, stage, x, dx)
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
        target, step = target_of(cost, which, stage), whole_at(cost, TARGET_STEP + which)
        for i in range(size):
            if ABSOLUTE <= kind <= HUBER:
                slope = 0.0 if z[i] == 0.0 else math.copysign(1.0, z[i])
                if kind == HUBER and abs(z[i]) <= width:
                    slope = z[i] / width
                out[i] = scale * weights[min(i, columns - 1)] * slope
            elif columns == 1:
                out[i] = 2.0 * scale * weights[0] * (z[i] - target[i * step])
            else:
                row = 0.0
                for k in range(size):
                    row += weights[i * size + k] * (z[k] - target[k * step])
                out[i] = 2.0 * scale * row
    if kind == SOFT:
        columns = whole_at(cost, LIMIT_COLUMNS)
        limits = part(at(cost, LIMITS_AT), 3 * columns * stage)
        for i in range(dx):
            weight = limits[2 * columns + min(i, columns - 1)]
            slope_x[i] += 2.0 * _factors(cost, t)[STATE] * weight * _excess(limits, columns, i, x[i])


@helper
def has_target(cost: Pointer) -> bool:
    """Tell whether any cost has a target of states or of inputs."""
    found: float = cost[HAS_TARGET]
    return found > 0.0


@aside
def write_target(cost: Pointer, which: int, t: int, out: Pointer, size: int) -> None:
    """Write the target of the states or of the inputs in round t; zeros where there is none."""
    target, step = target_of(cost, which, _stage(cost, t)), whole_at(cost, TARGET_STEP + which)
    for i in range(size):
        out[i] = target[i * step]


@aside
def targets_differ(cost: Pointer, t: int, origin: Pointer, rest: Pointer, dx: int, du: int) -> int:
    """Tell, by 1 or 0, whether the targets of round t differ from these: of states and of inputs."""
    stage, found = _stage(cost, t), 0
    for which in range(2):
        held, size = (origin, dx) if which == STATE else (rest, du)
        target, step = target_of(cost, which, stage), whole_at(cost, TARGET_STEP + which)
        for i in range(size):
            if held[i] != target[i * step]:
                found = 1
    return found


@brief
def one_value(cost: Array, x: Array, u: Array) -> float:
    """Return c_0(x, u)."""
    return value_of(part(cost, 0), 0, part(x, 0), part(u, 0), x.size, u.size)


@brief
def one_slope(cost: Array, x: Array, u: Array, slope_x: Array, slope_u: Array) -> None:
    """Write the gradients of c_0 in x and in u."""
    slopes_of(part(cost, 0), 0, part(x, 0), part(u, 0), x.size, u.size, part(slope_x, 0), part(slope_u, 0))
