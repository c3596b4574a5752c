"""The end of a round for a pool: learners are judged, moved and mixed anew, compiled.

Meta: AdaHedge (``driftwise.engine.hedge``) on each member's own costs, with prior p_1. With the discounted
sum Delta of the mixability gaps so far, and discounted totals L, ::

    p_{t,i} ~ p_{1,i} exp(-L_{t-1,i} / Delta_{t-1})
    Delta_t = 0.998 Delta_{t-1} + <p_t, l_t> + Delta_{t-1} log sum_i p_{t,i} exp(-l_{t,i} / Delta_{t-1})

so that a learner that does badly no longer matters: a rate from the range of the costs would be ruled by the worst of
them. Base: own gradients g^i, steps in proportion to 1 / sqrt((1 + H / t) sum of |g^i|^2): in the first rounds no
policy has shown yet what it leads to, and the boldest look best. Neither layer knows the unit of costs.
"""

import math

from driftwise._compile import aside, plugin
from driftwise._lanes import load, store
from driftwise._memory import Pointer, at, part, whole_at
from driftwise.control.policies.engine import add_scaled
from driftwise.control.self_tuned import pool as slot
from driftwise.control.self_tuned.copies import descend
from driftwise.domains.kernels import dot, project
from driftwise.engine.hedge import judge, tuned_rate, weigh
from driftwise.engine.rounds import OK, REFUSED

_SIMPLE, _SCALED = len(slot.STEPS), len(slot.PACES)


@aside
def _weigh(pool: Pointer) -> None:
    """Take in what the members paid, and write their new weights; earlier rounds count for a little less."""
    lanes = whole_at(pool, slot.LANES)
    prior, totals, values = at(pool, slot.PRIOR_AT), at(pool, slot.TOTALS_AT), at(pool, slot.VALUES_AT)
    weights = at(pool, slot.WEIGHTS_AT)
    rate, size = tuned_rate(1.0, pool[slot.GAP]), at(pool, slot.MOVED_AT)[1]
    _, mean, mix = judge(lanes, rate, prior, totals, values, weights, size)
    pool[slot.GAP] = slot.FADING * pool[slot.GAP] + (mean - mix)
    for m in range(0, lanes, 4):
        store(totals, m, slot.FADING * load(totals, m) + load(values, m))
    weigh(lanes, tuned_rate(1.0, pool[slot.GAP]), prior, totals, weights)


@aside
def _step(pool: Pointer, m: int) -> None:
    """Move learner m over policies against its own gradient."""
    n, scaled = whole_at(pool, slot.DIM), m - _SIMPLE
    gradient, policy = part(at(pool, slot.GRADIENTS_AT), m * n), part(at(pool, slot.POLICIES_AT), m * n)
    norms = at(pool, slot.NORMS_AT)
    square = dot(gradient, gradient, n)
    if not square > 0.0:
        return
    norms[m] += square
    size = pool[slot.SIZE] / math.sqrt(1.0 + pool[slot.MEMORY] / pool[slot.ROUNDS])
    if scaled < 0:
        add_scaled(policy, -(at(pool, slot.STEPS_AT)[m] * size / math.sqrt(norms[m])), gradient, n)
    else:
        step = at(pool, slot.PACES_AT)[scaled] * size / math.sqrt(n)
        spread = part(at(pool, slot.SPREADS_AT), scaled * n)
        for c in range(n):
            spread[c] += gradient[c] * gradient[c]
            if spread[c] > 0.0:
                policy[c] -= step * gradient[c] / math.sqrt(spread[c])
    project(at(pool, slot.PLAN_AT), policy, at(pool, slot.SPARE_AT))


@plugin("int64(P)")
def finish(pool: Pointer) -> int:
    """End a round by the values and slopes in the room: weights, and policies. What is refused changes nothing."""
    if descend(pool) != OK:
        return REFUSED
    moved, learners = at(pool, slot.MOVED_AT)[0], whole_at(pool, slot.COUNT) - whole_at(pool, slot.FIRST)
    _weigh(pool)
    if moved > 0.0:
        pool[slot.ROUNDS] += 1.0
        pool[slot.SQUARES] += moved
    if learners > 0:
        for m in range(_SIMPLE + _SCALED):
            _step(pool, m)
    return OK
