"""The learners of a self-tuned controller as data: who they are, what they know, and room to work in."""

import math
from typing import NamedTuple

import numpy as np

from driftwise._validate import Array
from driftwise.domains import SpectralBalls
from driftwise.domains.kernels import Blocks

STEPS = tuple(2.0**k for k in range(-10, 3, 2))
"""Gradient descent: step sizes in units of D / sqrt(sum of squared gradients)."""

PACES = (0.125, 0.25, 0.5, 1.0, 2.0)
"""Gradient descent with a step size for every coordinate (AdaGrad): the same, in units of D / sqrt(n)."""

FORGETTING = (1.0, 0.999, 0.99, 0.97)
"""Least squares: what a round counts for in the next one."""

LARGEST_FIT = 400
"""Most entries of a policy for which squares are fitted: a round takes time in proportion to the square of it."""

GAP, ROUNDS, SQUARES = 0, 1, 2
"""Entries of the sums."""

STILL = 0.5
"""Prior weight of M = 0: where nothing can be learnt, this is what learning is compared with."""


class Rules(NamedTuple):
    """What does not change."""

    size: float
    """D, the size of a good gain."""
    steps: Array
    paces: Array
    forgetting: Array
    log_prior: Array
    """(N,)."""
    blocks: Blocks
    numbers: Array
    """The domain of the policies."""


class Pool(NamedTuple):
    """What the learners know. With n = H du dx and z = (x, u), the learners in order: M = 0, STEPS, PACES, FORGETTING."""

    policies: Array
    """(N, n): M^i."""
    mixture: Array
    """(n,): the policy in use."""
    weights: Array
    """(N,)."""
    states: Array
    """(N, dx): x^i, where the plant would be under the policies of learner i."""
    extras: Array
    """(N, du): s^i, what its policy adds to -K x^i."""
    inputs: Array
    """(N, du): u^i."""
    totals: Array
    """(N,): sum of its own costs, less that of M = 0."""
    sums: Array
    """(3,): GAP, sum of the mixability gaps; ROUNDS, number of rounds in which anything moved; SQUARES, sum of
    their squared sizes, outliers cut."""
    squares: Array
    """(N,): sum of the squared norms of its gradients."""
    spreads: Array
    """(len(PACES), n): the same by coordinate."""
    features: Array
    """(dx + du, n): z_t(M) = free + features M, had M been in use all along."""
    free: Array
    """(dx + du,): z_t(0)."""
    moments: Array
    """(F, n, n): discounted sum of features' W features; F is the number of learners that fit squares."""
    sides: Array
    """(F, n): discounted sum of features' W free."""
    ages: Array
    """(F,): discounted number of rounds."""


class Desk(NamedTuple):
    """Room to work in; nothing in it is kept from one round to the next."""

    points: Array
    """(N, dx + du): z_t(M^i)."""
    slopes: Array
    """(N, dx + du): gradient of the cost there."""
    gradients: Array
    """(N, n): gradient in M^i."""
    values: Array
    """(N,): c_t(x^i, u^i)."""
    block: Array
    """(dx, du dx): the newest features of the state."""
    curvature: Array
    """(dx + du, dx + du): W of a cost z'Wz."""
    weighted: Array
    """(dx + du, n): W features."""
    size: Array
    """(1,): squared size of what moved in this round, or what is usual if that is much less."""
    rows: Array
    """(3, n)."""


def members(count: int) -> tuple[str, ...]:
    """Return the names of so many learners."""
    names = ["zero", *(f"gradient 2^{math.log2(step):.0f}" for step in STEPS), *(f"AdaGrad {pace:g}" for pace in PACES)]
    return tuple([*names, *(f"least squares {share:g}" for share in FORGETTING)][:count])


def make_rules(domain: SpectralBalls, size: float) -> Rules:
    """Return the rules for policies of a domain, which come at this size."""
    fits = FORGETTING if domain.dim <= LARGEST_FIT else ()
    count = 1 + len(STEPS) + len(PACES) + len(fits)
    log_prior = np.full(count, math.log((1.0 - STILL) / (count - 1)))
    log_prior[0] = math.log(STILL)
    # Copies, because kernels are compiled once more for arrays that are read-only.
    table, numbers = domain.table.copy(), domain.numbers.copy()
    return Rules(size, np.array(STEPS), np.array(PACES), np.array(fits), log_prior, table, numbers)


def make_pool(rules: Rules, dim: int, du: int, dx: int) -> Pool:
    """Return learners that know nothing yet, all of them at M = 0."""
    N, F, z = rules.log_prior.size, rules.forgetting.size, dx + du
    parts = [(N, dim), dim, N, (N, dx), (N, du), (N, du), N, 3, N, (rules.paces.size, dim), (z, dim), z]
    pool = Pool(*(np.zeros(part) for part in parts), np.zeros((F, dim, dim)), np.zeros((F, dim)), np.zeros(F))
    pool.weights[:] = np.exp(rules.log_prior)
    return pool


def make_desk(count: int, dim: int, du: int, dx: int) -> Desk:
    """Return room for so many learners."""
    z = dx + du
    parts = [(count, z), (count, z), (count, dim), count, (dx, du * dx), (z, z), (z, dim), 1, (3, dim)]
    return Desk(*(np.zeros(part) for part in parts))
