"""A whole simulation of a self-tuned controller, compiled: the same kernels as its two verbs, round after round."""

from driftwise._compile import LARGEST, hot
from driftwise._validate import Array
from driftwise.control.engine import Loop, Memory, Room, act, remember
from driftwise.control.kernels import QUADRATIC, CostData, PlantData, advance, cost_value, push_away, saturate
from driftwise.control.tuning.plants import descend, enter, judge
from driftwise.control.tuning.pool import Desk, Pool, Rules
from driftwise.control.tuning.steps import settle
from driftwise.engine.kernels import OK, REFUSED


@hot
def learn(rules: Rules, pool: Pool, desk: Desk, cost: CostData, t: int) -> int:
    """Take in a built-in cost, or refuse it and leave the pool as it is."""
    judge(pool, desk, cost, t)
    quadratic = cost.kind == QUADRATIC and pool.ages.size > 0
    if descend(rules, pool, desk, quadratic) != OK:
        return REFUSED
    settle(rules, pool, desk, quadratic)
    return OK


@hot
def simulate(
    plant: PlantData,
    loop: Loop,
    memory: Memory,
    room: Room,
    cost: CostData,
    rules: Rules,
    pool: Pool,
    desk: Desk,
    push: float,
    x: Array,
    applied: Array,
    disturbances: Array,
    states: Array,
    inputs: Array,
    costs: Array,
    weights: Array,
    policies: Array,
) -> int:
    """Run a plant and its controller, and return the number of rounds that went well, as ``engine.simulate`` does."""
    following = room.z
    for t in range(states.shape[0]):
        for i in range(x.size):
            states[t, i] = x[i]
        if weights.shape[0] > 0:
            for m in range(pool.weights.size):
                weights[t, m] = pool.weights[m]
        if policies.shape[0] > 0:
            for c in range(pool.mixture.size):
                policies[t, c] = pool.mixture[c]
        if act(loop, memory, room, pool.mixture, x, applied) != OK:
            return t
        enter(loop, memory, pool, desk)
        saturate(plant.limit, applied)
        for a in range(applied.size):
            inputs[t, a] = applied[a]
        costs[t] = cost_value(cost, t, x, applied)
        if not abs(costs[t]) <= LARGEST or learn(rules, pool, desk, cost, t) != OK:
            return t
        remember(memory, applied, 0.0)
        w = disturbances[t]
        if push > 0.0:
            push_away(plant, t, x, applied, push, w, following)
        advance(plant, t, x, applied, w, following)
        for i in range(x.size):
            x[i] = following[i]
    return len(states)
