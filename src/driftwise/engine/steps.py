"""How a base-learner moves, compiled: a mirror step at once, or a gradient step once it is worth its price.

A *patient* base-learner holds the gradients it is given and does nothing until together they outweigh what a move
costs; then it steps by what is beyond that, and keeps the rest. Standing still while the sum of gradients stays within
the price is what the cheapest sequence of decisions does too: it moves only where its multipliers reach the price.
"""

import math

from driftwise._compile import hot, inlined
from driftwise._validate import Array
from driftwise.domains.kernels import project
from driftwise.engine.layout import (
    BASE,
    EUCLIDEAN_PRICE,
    EXPONENT,
    L1_PRICES,
    NORM,
    SWITCHING,
    Config,
    Views,
)
from driftwise.mirror import ENTROPY, EUCLIDEAN, entropy_point, pnorm_step

LONG = 32
"""From so many coordinates on, a base step is written so that the processor does several at once."""

UP, DOWN = 0, 1


@hot
def _price(norm: int, prices: Array, points: Array, i: int, trial: Array) -> float:
    """Return the price of going from row i of the points to the point in `trial`."""
    total = 0.0
    for k in range(trial.shape[1]):
        change = trial[0, k] - points[i, k]
        part = change * prices[UP, k] if change > 0.0 else -change * prices[DOWN, k]
        total += part if norm == L1_PRICES else part * part
    return total if norm == L1_PRICES else math.sqrt(total)


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
    """`base_step` for many coordinates, where sums that wait for one another would take most of the time."""
    points, trial = v.points, v.trial
    inner = _dot(gradients, row, points, i)
    for k in range(points.shape[1]):
        trial[0, k] = points[i, k] - step * gradients[row, k]
    project(c.blocks, c.numbers, trial, 0)
    if c.choices[NORM] != EUCLIDEAN_PRICE:
        v.moves[i] = _price(c.choices[NORM], c.prices, points, i, trial)
    else:
        for k in range(points.shape[1]):
            points[i, k] = trial[0, k] - points[i, k]
        v.moves[i] = math.sqrt(_dot(points, i, points, i))
    for k in range(points.shape[1]):
        points[i, k] = trial[0, k]
    return inner


@hot
def _beyond_prices(norm: int, patience: float, prices: Array, held: Array, i: int, out: Array) -> bool:
    """`_beyond` where coordinates have prices: in l1 each waits for its own, in l2 they wait together."""
    if norm == L1_PRICES:
        some = False
        for k in range(held.shape[1]):
            # A gradient above 0 asks to go down.
            low, high = -patience * prices[UP, k], patience * prices[DOWN, k]
            out[0, k] = held[i, k] - min(max(held[i, k], low), high)
            some = some or out[0, k] != 0.0
        return some
    total = 0.0
    for k in range(held.shape[1]):
        if held[i, k] != 0.0:
            total += (held[i, k] / prices[DOWN if held[i, k] > 0.0 else UP, k]) ** 2
    size = math.sqrt(total)
    if not size > patience:
        return False
    for k in range(held.shape[1]):
        out[0, k] = held[i, k] * (1.0 - patience / size)
    return True


@inlined
def _beyond(c: Config, held: Array, i: int, out: Array) -> bool:
    """Write what of the gradients that base-learner i holds is beyond the price of a move; tell if there is any."""
    if c.choices[NORM] != EUCLIDEAN_PRICE:
        return _beyond_prices(c.choices[NORM], c.patience[i], c.prices, held, i, out)
    limit, total = c.patience[i] * c.settings[SWITCHING], 0.0
    for k in range(held.shape[1]):
        total += held[i, k] * held[i, k]
    if not total > limit * limit:
        return False
    part = 1.0 - limit / math.sqrt(total)
    for k in range(held.shape[1]):
        out[0, k] = held[i, k] * part
    return True


@inlined
def _arrive(c: Config, v: Views, i: int, plain: bool) -> None:
    """Put base-learner i at the point in `trial`, and note how far it went, or the price of that."""
    points, trial = v.points, v.trial
    if not plain and c.choices[NORM] != EUCLIDEAN_PRICE:
        v.moves[i] = _price(c.choices[NORM], c.prices, points, i, trial)
        for k in range(points.shape[1]):
            points[i, k] = trial[0, k]
    else:
        moved = 0.0
        for k in range(points.shape[1]):
            moved += (trial[0, k] - points[i, k]) * (trial[0, k] - points[i, k])
            points[i, k] = trial[0, k]
        v.moves[i] = math.sqrt(moved)


@inlined
def _patient_step(c: Config, v: Views, i: int, gradients: Array, row: int, step: float) -> float:
    """Hold a row of the gradients, move base-learner i by what is beyond the price of a move, return <g, w_{t,i}>."""
    points, held, trial = v.points, v.duals, v.trial
    inner = 0.0
    for k in range(points.shape[1]):
        inner += gradients[row, k] * points[i, k]
        held[i, k] += gradients[row, k]
    v.moves[i] = 0.0
    if _beyond(c, held, i, trial):
        for k in range(points.shape[1]):
            held[i, k] -= trial[0, k]
            trial[0, k] = points[i, k] - step * trial[0, k]
        project(c.blocks, c.numbers, trial, 0)
        _arrive(c, v, i, False)
    return inner


@inlined
def base_step(c: Config, v: Views, i: int, gradients: Array, row: int, step: float, plain: bool) -> float:
    """Move base-learner i against a row of the gradients, note how far it went, and return <g, w_{t,i}>.

    Where everything is `plain`, nobody is patient and moves are priced by their length.
    """
    points, trial = v.points, v.trial
    if not plain and c.patience[i] > 0.0:
        return _patient_step(c, v, i, gradients, row, step)
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
    _arrive(c, v, i, plain)
    return inner
