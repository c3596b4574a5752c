"""The end of a round for a pool: learners are judged, moved and mixed anew, compiled.

Meta: AdaHedge on each learner's own costs, with prior p_1. With the sum Delta of the mixability gaps so far, ::

    p_{t,i} ~ p_{1,i} exp(-L_{t-1,i} / Delta_{t-1})
    Delta_t = Delta_{t-1} + <p_t, l_t> + Delta_{t-1} log sum_i p_{t,i} exp(-l_{t,i} / Delta_{t-1})

so that a learner that does badly stops to matter: a rate from the range of the costs would be ruled by the worst of
them. Base: own gradients g^i, steps in proportion to 1 / sqrt((1 + H / t) sum of |g^i|^2): in the first rounds no
policy has shown yet what it leads to, and the boldest look best. Neither layer knows the unit of costs.
"""

import math

from driftwise._compile import hot
from driftwise.control.tuning.least_squares import accumulate, fit
from driftwise.control.tuning.pool import GAP, ROUNDS, SQUARES, Desk, Pool, Rules
from driftwise.domains.kernels import dot, project

STEEPEST = 1e200
"""Largest rate of the meta layer, so that its product with any cost is a number."""


@hot
def _weigh(rules: Rules, pool: Pool, desk: Desk) -> None:
    """Take in what the learners paid, and write their new weights."""
    values, weights, totals, sums = desk.values, pool.weights, pool.totals, pool.sums
    least, top, mean = values[0], values[0], 0.0
    for m in range(values.size):
        least, top = min(least, values[m]), max(top, values[m])
    for m in range(values.size):
        mean += weights[m] * (values[m] - least)
        totals[m] += values[m]
    if top > least:
        rate, soft = min(1.0 / sums[GAP], STEEPEST), 0.0
        for m in range(values.size):
            soft += weights[m] * math.exp(-rate * (values[m] - least))
        sums[GAP] += max(0.0, mean + math.log(soft) / rate) if soft > 0.0 else mean
    rate, best = min(1.0 / sums[GAP], STEEPEST), math.inf
    for m in range(values.size):
        best = min(best, totals[m])
    share = 0.0
    for m in range(values.size):
        weights[m] = math.exp(rules.log_prior[m] - rate * (totals[m] - best))
        share += weights[m]
    for m in range(values.size):
        weights[m] /= share


@hot
def _step(rules: Rules, pool: Pool, desk: Desk, m: int) -> None:
    """Move learner m against its own gradient."""
    gradient, policy, scaled = desk.gradients[m], pool.policies[m], m - 1 - rules.steps.size
    square = dot(gradient, gradient)
    if not square > 0.0:
        return
    pool.squares[m] += square
    size = rules.size / math.sqrt(1.0 + rules.memory / pool.sums[ROUNDS])
    if scaled < 0:
        step = rules.steps[m - 1] * size / math.sqrt(pool.squares[m])
        for c in range(policy.size):
            policy[c] -= step * gradient[c]
    else:
        step, spread = rules.paces[scaled] * size / math.sqrt(policy.size), pool.spreads[scaled]
        for c in range(policy.size):
            spread[c] += gradient[c] * gradient[c]
            if spread[c] > 0.0:
                policy[c] -= step * gradient[c] / math.sqrt(spread[c])
    project(rules.blocks, rules.numbers, pool.policies, m)


@hot
def settle(rules: Rules, pool: Pool, desk: Desk, quadratic: bool) -> None:
    """End a round, after `plants.descend`: weights, policies, and the policy to be used next."""
    _weigh(rules, pool, desk)
    if desk.size[0] > 0.0:
        pool.sums[ROUNDS] += 1.0
        pool.sums[SQUARES] += desk.size[0]
    fits, moving = pool.ages.size, 1 + rules.steps.size + rules.paces.size
    for m in range(1, moving):
        _step(rules, pool, desk, m)
    if quadratic:
        accumulate(rules, pool, desk)
        for f in range(fits):
            fit(rules, pool, desk, f, moving + f)
    for c in range(pool.mixture.size):
        pool.mixture[c] = 0.0
    for m in range(pool.weights.size):
        for c in range(pool.mixture.size):
            pool.mixture[c] += pool.weights[m] * pool.policies[m, c]
