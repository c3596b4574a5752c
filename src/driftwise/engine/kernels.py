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
block in the doubling schedule, and 1 when steps are given outright. In the self-tuned schedule, which is not of the
paper, it is what the gradients so far add up to, and Hedge's rate follows from what mixing has cost so far
(``engine.tuning``). ``engine.reference`` states the same round in NumPy.
"""

import math

from driftwise._compile import LARGEST, hot, inlined
from driftwise._validate import Array
from driftwise.engine.layout import (
    ACTIVE,
    AGREED,
    BASE,
    CHANCE,
    CLOCK,
    COUNT,
    DIM,
    DOUBLING,
    EPOCH,
    FIXED,
    GROWTH,
    GUESSED,
    HEEDLESS,
    HELD,
    HINTED,
    KINDS,
    PLAIN,
    RATE,
    ROUND,
    SCHEDULE,
    SELF_TUNED,
    SIZES,
    SPENT,
    SQUARES,
    SWITCHING,
    TIME_VARYING,
    TRUST,
    UPDATES,
    Config,
    Integers,
    Views,
    config,
    views,
)
from driftwise.engine.steps import base_step
from driftwise.engine.tuning import add_gap, add_size, follow, mixture_point, shift_price, tuned_rate, within_simplices
from driftwise.mirror import ENTROPY

OK, REFUSED = 0, 1


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
    if schedule in (TIME_VARYING, SELF_TUNED):
        return float(max(updates, 1))
    if schedule == DOUBLING:
        return 2.0 ** (math.frexp(max(updates, 1))[1] - 1)
    return fixed


@inlined
def clock_now(c: Config, updates: int) -> float:
    """Return the clock of an update."""
    return clock_at(c.choices[SCHEDULE], c.settings[CLOCK], updates)


@inlined
def blend(c: Config, counters: Integers, v: Views, plain: bool) -> None:
    """Write the mixture of the base-learners' points."""
    weights, points, mixed = v.weights, v.points, v.decision
    if not plain:
        mixed = mixture_point(c, v)
    for k in range(points.shape[1]):
        mixed[0, k] = 0.0
    for i in range(counters[ACTIVE]):
        for k in range(points.shape[1]):
            mixed[0, k] += weights[i] * points[i, k]


@inlined
def _mix(c: Config, counters: Integers, v: Views, clock: float, plain: bool) -> None:
    """Weights from the totals, the mixture from the weights."""
    log_prior, totals, weights = c.log_prior, v.totals, v.weights
    active = counters[ACTIVE]
    rate = c.settings[RATE] / math.sqrt(clock)
    if not plain and c.choices[SCHEDULE] == SELF_TUNED:
        rate = tuned_rate(c, v)
    top = -math.inf
    for i in range(active):
        weights[i] = log_prior[i] - rate * totals[i]
        top = max(top, weights[i])
    total = 0.0
    for i in range(active):
        weights[i] = math.exp(weights[i] - top)
        total += weights[i]
    share = 1.0 / total
    for i in range(active):
        weights[i] *= share
    blend(c, counters, v, plain)


@hot
def _place(c: Config, v: Views, i: int, clock: float) -> None:
    """Put base-learner i where the mixture is."""
    mixed = mixture_point(c, v)
    for k in range(mixed.shape[1]):
        v.points[i, k] = mixed[0, k]
    v.moves[i] = 0.0
    if c.choices[BASE] == ENTROPY:
        scale = c.numbers[0]
        step = c.steps[i] / math.sqrt(clock)
        for k in range(mixed.shape[1]):
            share = math.log(max(mixed[0, k] / scale, 1e-300))
            v.duals[i, k] = (v.log_start[k] - share) * scale / step
    elif v.duals.shape[0] > 0:
        for k in range(mixed.shape[1]):
            v.duals[i, k] = 0.0


@hot
def _grow(c: Config, counters: Integers, v: Views, clock: float) -> bool:
    """Let newcomers join where the mixture is, with the mixture's own total: the decision stays."""
    before = counters[ACTIVE]
    kinds = c.choices[KINDS]
    # Nothing is known of the scale of losses at first: the longest step at most doubles when the rounds do.
    slow = c.choices[SCHEDULE] == SELF_TUNED
    while 4.0 ** (counters[ACTIVE] // kinds - 1) < 1.0 + c.settings[GROWTH] * clock:
        if slow and 2.0 ** (counters[ACTIVE] // kinds) > clock:
            break
        for i in range(counters[ACTIVE], counters[ACTIVE] + kinds):
            _place(c, v, i, clock)
            v.totals[i] = v.mixture[0]
        counters[ACTIVE] += kinds
    return bool(counters[ACTIVE] > before)


@hot
def _restart(c: Config, counters: Integers, v: Views, clock: float) -> None:
    """Begin a new block of the doubling trick from where the decision is."""
    counters[ACTIVE] = c.steps.size
    if c.choices[SCHEDULE] == SELF_TUNED and c.settings[GROWTH] > 0.0:
        counters[ACTIVE] = c.choices[KINDS]
    elif c.settings[GROWTH] > 0.0:
        counters[ACTIVE] = c.choices[KINDS] * pool_size(clock, c.settings[GROWTH])
    v.mixture[0] = 0.0
    for k in range(v.decision.shape[1]):
        v.centre[0, k] = v.played[0, k] = v.decision[0, k]
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
    _mix(c, counters, v, clock_now(c, 0), False)


@hot
def _reschedule(c: Config, counters: Integers, v: Views, clock: float) -> None:
    """Without a horizon: let the pool grow, or begin a new block."""
    upcoming = clock_now(c, counters[UPDATES] + 1)
    if c.choices[SCHEDULE] == DOUBLING:
        if upcoming > clock:
            _restart(c, counters, v, upcoming)
            _mix(c, counters, v, upcoming, False)
    elif c.settings[GROWTH] > 0.0 and _grow(c, counters, v, upcoming):
        _mix(c, counters, v, clock, False)


@inlined
def _acceptable(rows: Array) -> bool:
    """Tell whether every number is finite and small enough that sums of squares stay finite."""
    wrong = 0
    for i in range(rows.shape[0]):
        for k in range(rows.shape[1]):
            wrong += not abs(rows[i, k]) <= LARGEST
    return wrong == 0


@inlined
def _update(c: Config, counters: Integers, v: Views, own: bool, gradients: Array, values: Array, plain: bool) -> None:
    """Judge and move every base-learner, then mix them anew.

    `plain` is a constant in both places that this is compiled for, so that the rounds of the paper's learners carry
    nothing of what the others do.
    """
    active, moves, totals, weights, fresh, steps = counters[ACTIVE], v.moves, v.totals, v.weights, v.fresh, c.steps
    tuned = not plain and c.choices[SCHEDULE] == SELF_TUNED
    hinted = not plain and counters[HINTED] > 0
    counters[UPDATES] += 1
    clock = clock_now(c, counters[UPDATES])
    scale, shift = 1.0 / math.sqrt(clock), 0.0
    if tuned:
        shift = within_simplices(c, v, gradients)
        gradients = v.held
        scale = add_size(c, v, gradients)
    if hinted:
        _take_off(counters, v, gradients)
    switching = c.settings[SWITCHING]
    mixed = 0.0
    for i in range(active):
        moved, rows, foreseen = moves[i], gradients, 0.0
        if hinted and _heeds(c, i):
            rows, foreseen = v.hint, fresh[i]
        loss = base_step(c, v, i, rows, i if own else 0, steps[i] * scale, plain)
        if own:
            loss = values[0, i]
        if not plain:
            loss += foreseen
        loss += switching * moved
        if not plain:
            loss -= shift
            fresh[i] = loss
        totals[i] += loss
        mixed += weights[i] * loss
    v.mixture[0] += mixed
    if tuned:
        add_gap(c, counters, v)
    _mix(c, counters, v, clock, plain)
    if tuned:
        shift = shift_price(c, counters, v)
        follow(c, counters, v, True)
    if not plain:
        counters[HINTED] = 0
    if c.choices[SCHEDULE] != FIXED:
        _reschedule(c, counters, v, clock)
    if tuned:
        v.tuned[SPENT] += shift


@hot
def _update_otherwise(c: Config, counters: Integers, v: Views, own: bool, gradients: Array, values: Array) -> None:
    """`_update` with everything that the paper does not have."""
    _update(c, counters, v, own, gradients, values, False)


@inlined
def _heeds(c: Config, i: int) -> bool:
    """Tell whether base-learner i acts on hints: of each step size, all kinds but the first few."""
    return bool(i % c.choices[KINDS] >= c.choices[HEEDLESS])


@hot
def _take_off(counters: Integers, v: Views, gradients: Array) -> None:
    """Take the hint, on which the base-learners have acted already, off the gradient; note what it is worth to each."""
    hint, trust = v.hint, v.tuned[TRUST]
    for i in range(counters[ACTIVE]):
        v.fresh[i] = 0.0
        for k in range(hint.shape[1]):
            v.fresh[i] += trust * hint[0, k] * v.points[i, k]
    agreed = 0.0
    for k in range(hint.shape[1]):
        agreed += gradients[0, k] * hint[0, k]
        v.tuned[GUESSED] += hint[0, k] * hint[0, k]
        hint[0, k] = gradients[0, k] - trust * hint[0, k]
    v.tuned[AGREED] += agreed
    v.tuned[CHANCE] += agreed * agreed


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
    if c.choices[PLAIN] and counters[HINTED] == 0:
        _update(c, counters, v, own, gradients, values, True)
    else:
        _update_otherwise(c, counters, v, own, gradients, values)
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


@hot
def take_hint(integers: Integers, floats: Array, counters: Integers, state: Array, guess: Array) -> None:
    """Let base-learners take their step on a guess of the gradient to come; its numbers have been checked.

    When the gradient is there, the step on the guess is taken back (`_update` steps by gradient minus hint), so that
    what counts in the end is how far the guess was off. A guess is believed as far as guesses have proved right: it is
    multiplied by the number from 0 to 1 that would have brought the past ones nearest to their gradients, less what
    that could be by chance (one standard deviation of the sum of <g, m>). The first guess only shows what it is worth.
    """
    c, v = config(integers, floats), views(state, integers[COUNT], integers[DIM])
    row = guess.reshape((1, guess.size))
    tuned = c.choices[SCHEDULE] == SELF_TUNED
    if tuned:
        within_simplices(c, v, row)
        row = v.held
    trust = 0.0
    if v.tuned[GUESSED] > 0.0:
        trust = min(max((v.tuned[AGREED] - math.sqrt(v.tuned[CHANCE])) / v.tuned[GUESSED], 0.0), 1.0)
    v.tuned[TRUST] = trust
    for k in range(v.hint.shape[1]):
        v.hint[0, k] = row[0, k]
        v.held[0, k] = trust * row[0, k]
    scale = 1.0 / math.sqrt(clock_now(c, counters[UPDATES] + 1))
    if tuned:
        sizes, squares = v.tuned[SIZES], v.tuned[SQUARES]
        scale = add_size(c, v, v.held)
        v.tuned[SIZES], v.tuned[SQUARES] = sizes, squares
    for i in range(counters[ACTIVE]):
        if _heeds(c, i):
            moved = v.moves[i]
            base_step(c, v, i, v.held, 0, c.steps[i] * scale, False)
            v.moves[i] += moved
    for k in range(v.held.shape[1]):
        v.held[0, k] = 0.0
    counters[HINTED] = 1
    blend(c, counters, v, False)
    if tuned:
        follow(c, counters, v, False)
