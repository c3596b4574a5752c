"""A bank of models of the actuator, judged by how well each predicts, compiled.

A plant may answer later, more weakly or more slowly than its model says. Candidate j says that the actuator delivers
f_t = a_j f_{t-1} + (1 - a_j) g_j u_{t-d_j}. Under it the disturbance was w^j = x_t - A x_{t-1} - B f_{t-1}; a wrong
candidate finds its own inputs in the disturbance, which makes that larger and harder to foresee. Each predicts its own
y^j = L'w^j by an autoregression of order two with forgetting, and errors are those of predictions made before
learning, and count for at most nine times the usual: one jump of the disturbance, which some candidate happens to
explain, is no evidence. With E the energy of the first candidate's y, all sums discounted by 0.99, and min(t, 100)
rounds, ::

    evidence for j over the one in use = 1/2 min(t, 100) log[(errors + 0.003 E) / (errors_j + 0.003 E)]

From round 15 on the candidate with the most evidence is adopted if that is over 16; the first one, which is what the
user said, comes back at 8. Found by measuring; nothing is proved.
"""

import math

import numpy as np

from driftwise._compile import aside, helper
from driftwise._memory import Pointer, at, part, whole_at
from driftwise._validate import Array
from driftwise.control.plants.kernels import add_product
from driftwise.control.policies import layout as loop
from driftwise.control.policies.engine import clear, copy_to
from driftwise.control.policies.model import Actuator, behind
from driftwise.control.self_tuned import pool as slot
from driftwise.domains.kernels import dot

DELAYS, GAINS = (0, 1, 2, 3), (0.5, 0.7, 1.0, 1.4, 2.0)
"""Delays and gains, in all combinations."""

LONG_DELAYS, LAGS = (4, 5, 6), (0.3, 0.5, 0.7, 0.85)
"""Longer delays, and lags of the actuator without a delay; both with the right gain."""

OUTLIER, WINDOW, STREAK = 9.0, 50.0, 3.0
"""A disturbance counts for at most OUTLIER times the usual energy, which is a mean over WINDOW rounds; after STREAK
such rounds in a row, that is what is usual. So one wild sample, which is two wild disturbances, teaches very little."""

BURST = 1000.0
"""Disturbances with this many times the usual energy, STREAK in a row, are a burst. If within WINDOW rounds they are as
before again, STREAK in a row, a sensor was wrong, and all that was learnt is forgotten; otherwise the world changed."""

GLITCH = 0.03
"""Nothing is concluded about the actuator from a disturbance that counts for less than this, with over 10^4 times the
usual energy, nor from the rounds before it: it may be a mistake of a sensor."""

FORGET, RIDGE, FLOOR = 0.99, 1e-6, 3e-3
"""What a round counts for in the next; ridge of the predictors; what every candidate's errors are raised by."""

SEEN = 3.0
"""Rounds before errors are cut."""

EARLIEST, STRONG, RETURN = 15.0, 16.0, 8.0
"""Rounds before anything is adopted, and from one change to the next; evidence for adopting a candidate, and for going
back to the first."""


def candidates(delay: int, lag: tuple[float, ...]) -> tuple[Actuator, ...]:
    """Return the actuators that are tried on a plant whose own is known, that one first."""
    known = Actuator(delay, 1.0, lag)
    others = [Actuator(delay + d, g, lag) for d in DELAYS for g in GAINS]
    others += [Actuator(delay + d, 1.0, lag) for d in LONG_DELAYS]
    if delay == 0 and not any(lag):
        others += [Actuator(0, 1.0, (a,) * len(lag)) for a in LAGS]
    return (known, *(one for one in others if one != known))


def bearable(A: Array, B: Array, own: Array, actuators: tuple[Actuator, ...]) -> tuple[Actuator, ...]:
    """Return the first actuator, and those others behind which the gain in use still stabilises the plant.

    Behind any other u = -K x runs away, and what members add cannot mend that: they answer to disturbances only.
    """
    kept: list[Actuator] = []
    for one in actuators:
        wide, entry = behind(A, B, one)
        gain = np.zeros(entry.T.shape)
        gain[:, : own.shape[1]] = own
        if not kept or np.abs(np.linalg.eigvals(wide - entry @ gain)).max() < 1.0:
            kept.append(one)
    return tuple(kept)


def fill(parts: dict[str, Array], actuators: tuple[Actuator, ...]) -> None:
    """Write the candidates into an empty bank."""
    for row, lags, one in zip(parts["actuators"], parts["lags"], actuators, strict=True):
        row[:], lags[:] = (one.delay, one.gain), np.asarray(one.lag)


@aside
def _deliver(pool: Pointer, j: int) -> Pointer:
    """Move the actuator of a candidate on by the newest input, and return what it delivers."""
    du, row = whole_at(pool, slot.DU), part(at(pool, slot.ACTUATORS_AT), 2 * j)
    lags, filters = part(at(pool, slot.LAGS_AT), j * du), part(at(pool, slot.FILTERS_AT), j * du)
    asked = part(at(pool, slot.QUEUE_AT), whole_at(row, 0) * du)
    for a in range(du):
        filters[a] = lags[a] * filters[a] + (1.0 - lags[a]) * row[1] * asked[a]
    return filters


@helper
def _size_up(pool: Pointer, energy: float) -> None:
    """Say what this disturbance counts for: less than 1 if it is far larger than usual."""
    most = OUTLIER * pool[slot.ORDINARY]
    wild = pool[slot.JUDGED] >= WINDOW / 5.0 and energy > most
    pool[slot.WILD] = pool[slot.WILD] + 1.0 if wild else 0.0
    if pool[slot.WILD] >= STREAK:
        if pool[slot.BEFORE] == 0.0 and energy > BURST * pool[slot.ORDINARY]:
            pool[slot.BEFORE], pool[slot.SINCE], pool[slot.RELIEF] = pool[slot.ORDINARY], 0.0, 0.0
        pool[slot.ORDINARY], wild = energy, False
    pool[slot.COUNTED] = math.sqrt(most / energy) if wild else 1.0
    share = 1.0 / min(pool[slot.JUDGED] + 1.0, WINDOW)
    pool[slot.ORDINARY] += share * ((most if wild else energy) - pool[slot.ORDINARY])
    if pool[slot.BEFORE] > 0.0:
        pool[slot.SINCE] += 1.0
        pool[slot.RELIEF] = pool[slot.RELIEF] + 1.0 if energy <= OUTLIER * pool[slot.BEFORE] else 0.0
        if pool[slot.RELIEF] >= STREAK:
            pool[slot.ORDINARY], pool[slot.FORGET] = pool[slot.BEFORE], 1.0
        if pool[slot.RELIEF] >= STREAK or pool[slot.SINCE] > WINDOW:
            pool[slot.BEFORE] = 0.0


@helper
def _most(pool: Pointer) -> float:
    """Return the most that the errors of a round may count: OUTLIER times the mean of those of the one in use.

    So one jump of the disturbance, which some candidate happens to explain, is no evidence for it.
    """
    rounds = min(pool[slot.JUDGED], 1.0 / (1.0 - FORGET))
    if rounds < SEEN:
        return math.inf
    errors = at(pool, slot.ERRORS_AT)[whole_at(pool, slot.SELECTED)]
    most: float = OUTLIER * (errors + FLOOR * pool[slot.ENERGY]) / rounds
    return most


@aside
def _judge(pool: Pointer, j: int, unexplained: Pointer, most: float) -> None:
    """Let a candidate explain the newest state, and be judged by how well it foresaw that."""
    n, wide, du = whole_at(pool, slot.STATES), whole_at(pool, slot.WIDE), whole_at(pool, slot.DU)
    y, seen = at(pool, slot.Y_AT), part(at(pool, slot.SEEN_AT), j * slot.BACK * wide)
    sums, errors = part(at(pool, slot.SUMS_AT), 5 * j), at(pool, slot.ERRORS_AT)
    before, push, delivered = part(seen, wide), at(pool, slot.PUSH_AT), _deliver(pool, j)
    for i in range(n):
        y[i] = unexplained[i] - dot(part(push, i * du), delivered, du)
    if j == 0:
        _size_up(pool, dot(y, y, n))
    if pool[slot.COUNTED] < GLITCH:
        return
    for i in range(n):
        y[i] *= pool[slot.COUNTED]
    ridge = 0.5 * RIDGE * (sums[0] + sums[2])
    one, two = sums[0] + ridge, sums[2] + ridge
    apart = one * two - sums[1] * sums[1]
    # Where the determinant is lost to underflow nothing is foreseen.
    c1 = (two * sums[3] - sums[1] * sums[4]) / apart if apart > 0.0 else 0.0
    c2 = (one * sums[4] - sums[1] * sums[3]) / apart if apart > 0.0 else 0.0
    missed = 0.0
    for i in range(n):
        error = y[i] - c1 * seen[i] - c2 * before[i]
        missed += error * error
    errors[j] = FORGET * errors[j] + min(missed, most)
    if j == 0:
        pool[slot.ENERGY] = FORGET * pool[slot.ENERGY] + dot(y, y, n)
    sums[0] = FORGET * sums[0] + dot(seen, seen, n)
    sums[1] = FORGET * sums[1] + dot(seen, before, n)
    sums[2] = FORGET * sums[2] + dot(before, before, n)
    sums[3] = FORGET * sums[3] + dot(seen, y, n)
    sums[4] = FORGET * sums[4] + dot(before, y, n)
    copy_to(before, seen, n)
    copy_to(seen, y, n)


@aside
def _elect(pool: Pointer) -> None:
    """Say which candidate the evidence is for."""
    errors, now = at(pool, slot.ERRORS_AT), whole_at(pool, slot.SELECTED)
    floor = FLOOR * pool[slot.ENERGY] + 1e-300
    rounds = 0.5 * min(pool[slot.JUDGED], 1.0 / (1.0 - FORGET))
    best, most = now, 0.0
    for j in range(whole_at(pool, slot.CANDIDATES)):
        evidence = rounds * math.log((errors[now] + floor) / (errors[j] + floor))
        if j == 0 and now > 0 and evidence > RETURN:
            best, most = 0, math.inf
        if evidence > most:
            best, most = j, evidence
    pool[slot.DOUBT] = most
    if best == 0 or pool[slot.JUDGED] >= pool[slot.CHANGED] + EARLIEST:
        pool[slot.WANTED] = best if most > STRONG else now


@aside
def write_story(cell: Pointer, pool: Pointer) -> None:
    """Keep the state and the input of a round, so that a new model can learn from them."""
    n, du, count = whole_at(pool, slot.STATES), whole_at(pool, slot.DU), whole_at(pool, slot.STORY)
    row = part(at(pool, slot.STORY_AT), (count % slot.REPLAY) * (n + du))
    copy_to(row, at(cell, loop.X_AT), n)
    copy_to(part(row, n), at(cell, loop.U_AT), du)
    pool[slot.STORY] += 1.0


@aside
def explain(pool: Pointer, before: Pointer, x: Pointer, delivered: Pointer, w: Pointer) -> None:
    """Write the disturbance that an input, as it was delivered, leaves unexplained."""
    n, du = whole_at(pool, slot.STATES), whole_at(pool, slot.DU)
    A, B = at(pool, slot.BARE_A_AT), at(pool, slot.BARE_B_AT)
    for i in range(n):
        w[i] = x[i] - dot(part(A, i * n), before, n) - dot(part(B, i * du), delivered, du)


@aside
def judge_all(pool: Pointer, before: Pointer, applied: Pointer, x: Pointer, w: Pointer) -> None:
    """Judge all candidates by the step from one state to the next, and write the disturbance as the one in use says."""
    n, du, N = whole_at(pool, slot.STATES), whole_at(pool, slot.DU), whole_at(pool, slot.CANDIDATES)
    room, unexplained, queue = at(pool, slot.FORECAST_AT), at(pool, slot.SOLVE_AT), at(pool, slot.QUEUE_AT)
    for k in range(whole_at(pool, slot.DEPTH) - 1, 0, -1):
        copy_to(part(queue, k * du), part(queue, (k - 1) * du), du)
    copy_to(queue, applied, du)
    for i in range(n):
        room[i] = x[i] - dot(part(at(pool, slot.BARE_A_AT), i * n), before, n)
    clear(unexplained, n)
    add_product(at(pool, slot.SCALE_AT), n, n, room, unexplained)
    most = _most(pool)
    for j in range(N):
        _judge(pool, j, unexplained, most)
    explain(pool, before, x, part(at(pool, slot.FILTERS_AT), whole_at(pool, slot.SELECTED) * du), w)
    if pool[slot.COUNTED] < GLITCH:
        pool[slot.STORY] = 0.0
        return
    pool[slot.JUDGED] += 1.0
    if N > 1:
        _elect(pool)


@aside
def forget(pool: Pointer) -> None:
    """Judge afresh after a burst; the candidate in use stays."""
    N = whole_at(pool, slot.CANDIDATES)
    clear(at(pool, slot.ERRORS_AT), N)
    clear(at(pool, slot.SUMS_AT), 5 * N)
    pool[slot.ENERGY], pool[slot.JUDGED], pool[slot.CHANGED], pool[slot.STORY] = 0.0, 0.0, 0.0, 0.0
    pool[slot.WANTED], pool[slot.FORGET] = pool[slot.SELECTED], 0.0


@aside
def lose_track(pool: Pointer, applied: Pointer) -> None:
    """Go on after samples were lost: the actuator is taken to have had the last input all the while."""
    du = whole_at(pool, slot.DU)
    for k in range(whole_at(pool, slot.DEPTH)):
        copy_to(part(at(pool, slot.QUEUE_AT), k * du), applied, du)
    for j in range(whole_at(pool, slot.CANDIDATES)):
        for a in range(du):
            at(pool, slot.FILTERS_AT)[j * du + a] = at(pool, slot.ACTUATORS_AT)[2 * j + 1] * applied[a]
    pool[slot.STORY] = 0.0
