"""THE engine (Algorithm 1 of the paper and its relatives), compiled: one round and a whole run.

One scheme, many configurations: N base-learners with step sizes eta_1 < ... < eta_N take mirror steps on one
shared gradient (or each on its own) and are mixed by Hedge over the switching-cost-regularised loss::

    w_t       = sum_i p_{t,i} w_{t,i}
    l_{t,i}   = <g_t, w_{t,i}> + lambda |w_{t,i} - w_{t-1,i}|
    p_{t+1,i} ~ prior_i exp(-eps sum_{s<=t} l_{s,i})
    w_{t+1,i} = Proj_W(w_{t,i} - eta_i g_t)

Hedge is kept in cumulative log space: the totals are summed and exponentiated afresh each round, so a learner
whose weight has underflowed comes back as soon as its total does.

Every rate in the paper is a constant divided by the square root of a number of rounds. That number is the
*clock*: the horizon when it is known, the rounds so far in the time-varying schedule, the length of the current
block in the doubling schedule, and 1 when steps are given outright. ``engine.reference`` states the same round
in NumPy.

Everything is a plain array. A learner is one int64 and one float64 vector of constants (`Config` names their parts),
and what it knows is one int64 vector of counters and one float64 vector (`Views`), so a fleet is a matrix of states.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from driftwise._compile import LARGEST, hot, inlined
from driftwise._validate import Array
from driftwise.domains.kernels import COLUMNS, Blocks, project
from driftwise.mirror import ENTROPY, EUCLIDEAN, entropy_point, pnorm_step

Integers = NDArray[np.int64]

ROUND, UPDATES, HELD, ACTIVE = 0, 1, 2, 3
"""Entries of the counters: rounds observed, updates made, rounds held in the epoch, base-learners in play."""

SCHEDULE, BASE, EPOCH, COUNT, DIM = 0, 1, 2, 3, 4
"""First integers of a configuration: which clock, which mirror step, rounds that share a decision, N, d."""

RATE, SWITCHING, GROWTH, CLOCK, EXPONENT = 0, 1, 2, 3, 4
"""First floats of a configuration: Hedge's unit rate, lambda, pool growth, the fixed clock, p of the p-norm."""

HEADER = 5

FIXED, TIME_VARYING, DOUBLING = 0, 1, 2

OK, REFUSED = 0, 1

LONG = 32
"""From so many coordinates on, a base step is written so that the processor does several at once."""


class Config(NamedTuple):
    """What a learner is: the parts of its two constant vectors, by name."""

    choices: Integers
    """(5,): SCHEDULE, BASE, EPOCH, COUNT, DIM."""
    blocks: Blocks
    """The domain's table of blocks."""
    settings: Array
    """(5,): RATE, SWITCHING, GROWTH, CLOCK, EXPONENT."""
    steps: Array
    """(N,): step sizes at clock 1."""
    log_prior: Array
    """(N,): logarithm of Hedge's prior, up to a constant."""
    numbers: Array
    """The domain's numbers."""


class Views(NamedTuple):
    """What a learner knows: the parts of its state vector, by name."""

    decision: Array
    """(1, d): w_t."""
    held: Array
    """(1, d): sum of the gradients of an epoch that is not over."""
    log_start: Array
    """(d,): logarithm of the shares at the start, for the entropy step."""
    mixture: Array
    """(1,): what the mixture has suffered; a newcomer's total."""
    weights: Array
    """(N,): p_t."""
    totals: Array
    """(N,): sum of the surrogate losses."""
    moves: Array
    """(N,): |w_{t,i} - w_{t-1,i}|."""
    points: Array
    """(N, d): w_{t,i}."""
    trial: Array
    """(1, d): room to work in."""
    duals: Array
    """(N, d), or (0, d) when the base step needs none: sums of gradients."""


@inlined
def config(integers: Integers, floats: Array) -> Config:
    """Cut the constant vectors of a learner into their parts."""
    a = HEADER + integers[COUNT]
    b = a + integers[COUNT]
    return Config(
        integers[:HEADER],
        integers[HEADER:].reshape(((integers.size - HEADER) // COLUMNS, COLUMNS)),
        floats[:HEADER],
        floats[HEADER:a],
        floats[a:b],
        floats[b:],
    )


@inlined
def views(state: Array, count: int, dim: int) -> Views:
    """Cut a state vector into its parts (the duals are empty unless the base step needs them)."""
    a = 4 * dim + 1
    b = a + 3 * count
    c = b + count * dim
    return Views(
        state[:dim].reshape((1, dim)),
        state[dim : 2 * dim].reshape((1, dim)),
        state[2 * dim : 3 * dim],
        state[4 * dim : a],
        state[a : a + count],
        state[a + count : a + 2 * count],
        state[a + 2 * count : b],
        state[b:c].reshape((count, dim)),
        state[3 * dim : 4 * dim].reshape((1, dim)),
        state[c:].reshape(((state.size - c) // dim, dim)),
    )


def state_size(count: int, dim: int, duals: bool) -> int:
    """Return the length of a state vector, in the order of `views`."""
    return 4 * dim + 1 + 3 * count + count * dim + (count * dim if duals else 0)


@hot
def pool_size(clock: float, growth: float) -> int:
    """Return ceil(log2(1 + growth * clock) / 2) + 1, the paper's number of base-learners."""
    count = 1
    while 4.0 ** (count - 1) < 1.0 + growth * clock:
        count += 1
    return count


@hot
def clock_at(schedule: int, fixed: float, updates: int) -> float:
    """Return the number of rounds that the rates of an update are made for."""
    if schedule == TIME_VARYING:
        return float(max(updates, 1))
    if schedule == DOUBLING:
        return 2.0 ** (math.frexp(max(updates, 1))[1] - 1)
    return fixed


@inlined
def clock_now(c: Config, updates: int) -> float:
    """Return the clock of an update."""
    return clock_at(c.choices[SCHEDULE], c.settings[CLOCK], updates)


@inlined
def _mix(c: Config, counters: Integers, v: Views, clock: float) -> None:
    """Weights from the totals, the decision from the weights."""
    log_prior, totals, weights, points, decision = c.log_prior, v.totals, v.weights, v.points, v.decision
    active = counters[ACTIVE]
    rate = c.settings[RATE] / math.sqrt(clock)
    top = -math.inf
    for i in range(active):
        weights[i] = log_prior[i] - rate * totals[i]
        top = max(top, weights[i])
    total = 0.0
    for i in range(active):
        weights[i] = math.exp(weights[i] - top)
        total += weights[i]
    share = 1.0 / total
    for k in range(points.shape[1]):
        decision[0, k] = 0.0
    for i in range(active):
        weights[i] *= share
        for k in range(points.shape[1]):
            decision[0, k] += weights[i] * points[i, k]


@hot
def _place(c: Config, v: Views, i: int, clock: float) -> None:
    """Put base-learner i where the decision is."""
    for k in range(v.decision.shape[1]):
        v.points[i, k] = v.decision[0, k]
    v.moves[i] = 0.0
    if c.choices[BASE] == ENTROPY:
        scale = c.numbers[0]
        step = c.steps[i] / math.sqrt(clock)
        for k in range(v.decision.shape[1]):
            share = math.log(max(v.decision[0, k] / scale, 1e-300))
            v.duals[i, k] = (v.log_start[k] - share) * scale / step


@hot
def _grow(c: Config, counters: Integers, v: Views, clock: float) -> bool:
    """Let newcomers join where the decision is, with the mixture's own total: the decision stays."""
    before = counters[ACTIVE]
    while 4.0 ** (counters[ACTIVE] - 1) < 1.0 + c.settings[GROWTH] * clock:
        i = counters[ACTIVE]
        _place(c, v, i, clock)
        v.totals[i] = v.mixture[0]
        counters[ACTIVE] += 1
    return bool(counters[ACTIVE] > before)


@hot
def _restart(c: Config, counters: Integers, v: Views, clock: float) -> None:
    """Begin a new block of the doubling trick from where the decision is."""
    counters[ACTIVE] = pool_size(clock, c.settings[GROWTH]) if c.settings[GROWTH] > 0.0 else c.steps.size
    v.mixture[0] = 0.0
    if c.choices[BASE] == ENTROPY:
        for k in range(v.decision.shape[1]):
            v.log_start[k] = math.log(max(v.decision[0, k] / c.numbers[0], 1e-300))
    for i in range(counters[ACTIVE]):
        v.totals[i] = 0.0
        _place(c, v, i, clock)


@hot
def begin(integers: Integers, floats: Array, counters: Integers, state: Array) -> None:
    """Start every base-learner at the point that stands in the decision."""
    c, v = config(integers, floats), views(state, integers[COUNT], integers[DIM])
    _restart(c, counters, v, clock_now(c, 0))
    _mix(c, counters, v, clock_now(c, 0))


@hot
def _mirror_step(
    c: Config, log_start: Array, duals: Array, i: int, gradients: Array, row: int, step: float, trial: Array
) -> None:
    """Take the step of a mirror map that is not Euclidean from the point in `trial`."""
    if c.choices[BASE] == ENTROPY:
        for k in range(trial.shape[1]):
            duals[i, k] += gradients[row, k]
        entropy_point(log_start, duals[i], step, c.numbers[0], trial[0])
    else:
        pnorm_step(c.choices[BASE], c.settings[EXPONENT], c.numbers, gradients[row], step, trial[0])


@inlined
def _dot(a: Array, i: int, b: Array, j: int) -> float:
    """Inner product of two rows, in four sums that do not wait for one another."""
    s0 = s1 = s2 = s3 = 0.0
    whole = a.shape[1] - a.shape[1] % 4
    for k in range(0, whole, 4):
        s0 += a[i, k] * b[j, k]
        s1 += a[i, k + 1] * b[j, k + 1]
        s2 += a[i, k + 2] * b[j, k + 2]
        s3 += a[i, k + 3] * b[j, k + 3]
    for k in range(whole, a.shape[1]):
        s0 += a[i, k] * b[j, k]
    return (s0 + s1) + (s2 + s3)


@hot
def _long_step(c: Config, v: Views, i: int, gradients: Array, row: int, step: float) -> float:
    """`_base_step` for many coordinates, where sums that wait for one another would take most of the time."""
    points, trial = v.points, v.trial
    inner = _dot(gradients, row, points, i)
    for k in range(points.shape[1]):
        trial[0, k] = points[i, k] - step * gradients[row, k]
    project(c.blocks, c.numbers, trial, 0)
    for k in range(points.shape[1]):
        points[i, k] = trial[0, k] - points[i, k]
    v.moves[i] = math.sqrt(_dot(points, i, points, i))
    for k in range(points.shape[1]):
        points[i, k] = trial[0, k]
    return inner


@inlined
def _base_step(c: Config, v: Views, i: int, gradients: Array, row: int, step: float) -> float:
    """Move base-learner i against a row of the gradients, note how far it went, and return <g, w_{t,i}>."""
    points, trial = v.points, v.trial
    if points.shape[1] >= LONG and c.choices[BASE] == EUCLIDEAN:
        return _long_step(c, v, i, gradients, row, step)
    inner = 0.0
    if c.choices[BASE] == EUCLIDEAN:
        for k in range(points.shape[1]):
            inner += gradients[row, k] * points[i, k]
            trial[0, k] = points[i, k] - step * gradients[row, k]
        project(c.blocks, c.numbers, trial, 0)
    else:
        for k in range(points.shape[1]):
            inner += gradients[row, k] * points[i, k]
            trial[0, k] = points[i, k]
        _mirror_step(c, v.log_start, v.duals, i, gradients, row, step, trial)
    moved = 0.0
    for k in range(points.shape[1]):
        moved += (trial[0, k] - points[i, k]) * (trial[0, k] - points[i, k])
        points[i, k] = trial[0, k]
    v.moves[i] = math.sqrt(moved)
    return inner


@hot
def _reschedule(c: Config, counters: Integers, v: Views, clock: float) -> None:
    """Without a horizon: let the pool grow, or begin a new block."""
    upcoming = clock_now(c, counters[UPDATES] + 1)
    if c.choices[SCHEDULE] == TIME_VARYING:
        if c.settings[GROWTH] > 0.0 and _grow(c, counters, v, upcoming):
            _mix(c, counters, v, clock)
    elif upcoming > clock:
        _restart(c, counters, v, upcoming)
        _mix(c, counters, v, upcoming)


@inlined
def _acceptable(rows: Array) -> bool:
    """Tell whether every number is finite and small enough that sums of squares stay finite."""
    wrong = 0
    for i in range(rows.shape[0]):
        for k in range(rows.shape[1]):
            wrong += not abs(rows[i, k]) <= LARGEST
    return wrong == 0


@inlined
def _update(c: Config, counters: Integers, v: Views, own: bool, gradients: Array, values: Array) -> None:
    """Judge and move every base-learner, then mix them anew."""
    active, moves, totals, weights, steps = counters[ACTIVE], v.moves, v.totals, v.weights, c.steps
    counters[UPDATES] += 1
    clock = clock_now(c, counters[UPDATES])
    scale = 1.0 / math.sqrt(clock)
    switching = c.settings[SWITCHING]
    mixed = 0.0
    for i in range(active):
        moved = moves[i]
        loss = _base_step(c, v, i, gradients, i if own else 0, steps[i] * scale)
        if own:
            loss = values[0, i]
        loss += switching * moved
        totals[i] += loss
        mixed += weights[i] * loss
    v.mixture[0] += mixed
    _mix(c, counters, v, clock)
    if c.choices[SCHEDULE] != FIXED:
        _reschedule(c, counters, v, clock)


@inlined
def one_round(c: Config, counters: Integers, v: Views, own: bool, gradients: Array, values: Array) -> int:
    """Observe one round; what is refused changes nothing.

    With `own`, `gradients` has a row and `values` (of shape (1, N)) a loss for every base-learner. Without, there is
    one row for all, the gradient at the decision, and `values` is not read.
    """
    if not _acceptable(gradients) or (own and not _acceptable(values)):
        return REFUSED
    counters[ROUND] += 1
    epoch = c.choices[EPOCH]
    if epoch > 1:
        held = v.held
        for k in range(held.shape[1]):
            held[0, k] += gradients[0, k]
        counters[HELD] += 1
        if counters[HELD] < epoch:
            return OK
        counters[HELD] = 0
        gradients = held
    _update(c, counters, v, own, gradients, values)
    if epoch > 1:
        for k in range(gradients.shape[1]):
            gradients[0, k] = 0.0
    return OK


@hot
def observe_shared(integers: Integers, floats: Array, counters: Integers, state: Array, gradient: Array) -> int:
    """One round by hand, with the gradient at the decision for all base-learners."""
    c, v = config(integers, floats), views(state, integers[COUNT], integers[DIM])
    row = gradient.reshape((1, gradient.size))
    return one_round(c, counters, v, False, row, row)


@hot
def observe_own(
    integers: Integers, floats: Array, counters: Integers, state: Array, gradients: Array, values: Array
) -> int:
    """One round by hand, with a gradient and a loss at every base-learner's own point."""
    c, v = config(integers, floats), views(state, integers[COUNT], integers[DIM])
    return one_round(c, counters, v, True, gradients, values)
