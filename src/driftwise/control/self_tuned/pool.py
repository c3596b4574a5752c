"""The learners of a self-tuned controller as one vector: who they are, what they know, and room to work in."""

import math
from collections.abc import Mapping

import numpy as np

from driftwise._lanes import WIDTH
from driftwise._memory import Array, Part, Workspace
from driftwise.domains import SpectralBalls

STEPS = tuple(2.0**k for k in range(-10, 3, 2))
"""Gradient descent: step sizes in units of D / sqrt(sum of squared gradients)."""

PACES = (0.125, 0.25, 0.5, 1.0, 2.0)
"""Gradient descent with a step size for every coordinate (AdaGrad): the same, in units of D / sqrt(n)."""

FORGETTING = (1.0, 0.999, 0.99, 0.97)
"""Least squares: factors by which the weight of past rounds shrinks in every round."""

LARGEST_FIT = 400
"""Most entries of a policy for which squares are fitted, since a round takes time proportional to their square."""

STILL = 0.5
"""Prior weight of M = 0: where nothing can be learnt, this is what learning is compared with."""

# The header, part one: single numbers.
(
    COUNT,  # N, the number of learners, in the order M = 0, STEPS, PACES, FORGETTING
    LANES,  # N, rounded up to whole fours
    FITS,  # F, how many of them fit squares
    DIM,  # n = H du dx, the entries of a policy
    ROOM_AT,  # where the room begins
    SIZE,  # D, the size of a good gain
    MEMORY,  # H: steps are as short as if H rounds had gone before; it takes that long to see what a policy does
    GAP,  # sum of the mixability gaps
    ROUNDS,  # number of rounds in which anything moved
    SQUARES,  # sum of their squared sizes, outliers cut
    FINISH_CALL,  # address of the plugin that ends a round
) = range(11)

# The header, part two: where the parts are.
STEPS_AT, PACES_AT, FORGETTING_AT, PRIOR_AT, PLAN_AT = range(11, 16)
MIXTURE_AT, WEIGHTS_AT, TOTALS_AT, POLICIES_AT, STATES_AT, EXTRAS_AT, INPUTS_AT = range(16, 23)
NORMS_AT, SPREADS_AT, FEATURES_AT, FREE_AT, MOMENTS_AT, SIDES_AT, AGES_AT = range(23, 30)
POINTS_AT, SLOPES_AT, GRADIENTS_AT, VALUES_AT, BLOCK_AT, CURVATURE_AT, WEIGHTED_AT = range(30, 37)
MOVED_AT, POINT_AT, ROW_AT, BEFORE_AT, FALLS_AT, SPARE_AT = range(37, 43)
HEADER = 43

POOL = Workspace(
    HEADER,
    ROOM_AT,
    kept=[
        Part("steps", STEPS_AT, (len(STEPS),)),
        Part("paces", PACES_AT, (len(PACES),)),
        Part("forgetting", FORGETTING_AT, ("fits",)),
        Part("prior", PRIOR_AT, ("lanes",)),  # logarithms; -inf for padding
        Part("plan", PLAN_AT, ("plan",)),  # the domain of the policies
        Part("mixture", MIXTURE_AT, ("dim",)),  # the policy in use
        Part("weights", WEIGHTS_AT, ("lanes",)),
        Part("totals", TOTALS_AT, ("lanes",)),  # sum of a learner's own costs, less that of M = 0
        Part("policies", POLICIES_AT, ("count", "dim")),  # M^i
        Part("states", STATES_AT, ("count", "dx")),  # x^i, where the plant would be under the policies of learner i
        Part("extras", EXTRAS_AT, ("count", "du")),  # s^i, what its policy adds to -K x^i
        Part("inputs", INPUTS_AT, ("count", "du")),  # u^i
        Part("norms", NORMS_AT, ("count",)),  # sum of the squared norms of its gradients
        Part("spreads", SPREADS_AT, (len(PACES), "dim")),  # the same by coordinate
        # z_t(M) = free + features M, had M been in use all along; z = (x, u)
        Part("features", FEATURES_AT, ("z", "dim")),
        Part("free", FREE_AT, ("z",)),  # z_t(0)
        Part("moments", MOMENTS_AT, ("fits", "dim", "dim")),  # P, discounted sum of features' W features, lower half
        Part("sides", SIDES_AT, ("fits", "dim")),  # q, discounted sum of features' W free
        Part("ages", AGES_AT, ("fits",)),  # discounted number of rounds
    ],
    room=[
        Part("points", POINTS_AT, ("count", "z")),  # z_t(M^i)
        Part("slopes", SLOPES_AT, ("count", "z")),  # gradient of the cost there
        Part("gradients", GRADIENTS_AT, ("count", "dim")),  # gradient in M^i
        Part("values", VALUES_AT, ("lanes",)),  # c_t(x^i, u^i)
        Part("block", BLOCK_AT, ("dx", "du", "dx")),  # the newest features of the state
        Part("curvature", CURVATURE_AT, ("z", "z")),  # W of a cost z'Wz
        Part("weighted", WEIGHTED_AT, ("z", "dim")),  # W features
        # Squared size of what moved in this round, or what is usual if that is much less.
        Part("moved", MOVED_AT, (1,)),
        Part("point", POINT_AT, ("z",)),  # one point on its way
        Part("row", ROW_AT, ("dim",)),  # a row of the moments of this round
        Part("before", BEFORE_AT, ("dim",)),  # a policy before its step
        Part("falls", FALLS_AT, ("dim",)),  # slopes of a sum of squares
        Part("spare", SPARE_AT, ("spare",)),  # for the projection
    ],
)

Sides = Mapping[str, int]


def sides_of(domain: SpectralBalls) -> Sides:
    """Return the sides of the parts for policies of a domain."""
    _, du, dx = domain.shape
    fits = len(FORGETTING) if domain.dim <= LARGEST_FIT else 0
    count = 1 + len(STEPS) + len(PACES) + fits
    return {
        "count": count,
        "lanes": -(-count // WIDTH) * WIDTH,
        "fits": fits,
        "dim": domain.dim,
        "dx": dx,
        "du": du,
        "z": dx + du,
        "plan": domain.plan(link=False).size,
        "spare": domain.room,
    }


def members(count: int) -> tuple[str, ...]:
    """Return the names of so many learners."""
    names = ["zero", *(f"gradient 2^{math.log2(step):.0f}" for step in STEPS), *(f"AdaGrad {pace:g}" for pace in PACES)]
    return tuple([*names, *(f"least squares {share:g}" for share in FORGETTING)][:count])


def new_pool(domain: SpectralBalls, size: float) -> Array:
    """Return learners that know nothing yet, all of them at M = 0, for policies that come at this size."""
    sides = sides_of(domain)
    pool = POOL.new(sides)
    pool[[COUNT, LANES, FITS, DIM]] = [sides[name] for name in ("count", "lanes", "fits", "dim")]
    pool[SIZE], pool[MEMORY] = size, domain.shape[0]
    parts = POOL.views(pool, sides)
    parts["steps"][:], parts["paces"][:], parts["forgetting"][:] = STEPS, PACES, FORGETTING[: sides["fits"]]
    parts["plan"][:] = domain.plan(link=False)
    parts["prior"][:] = -math.inf
    parts["prior"][: sides["count"]] = math.log((1.0 - STILL) / (sides["count"] - 1))
    parts["prior"][0] = math.log(STILL)
    parts["weights"][:] = np.exp(parts["prior"])
    return pool


def kept(pool: Array, domain: SpectralBalls) -> Array:
    """Return a copy of a pool without its room and without addresses: all that the learners are and know."""
    copied = POOL.kept(pool)
    plan = int(pool[PLAN_AT])
    copied[plan : plan + sides_of(domain)["plan"]] = domain.plan(link=False)
    copied[FINISH_CALL] = 0.0
    return copied
