"""The members of a self-tuned controller as one vector: who they are, what they know, and room to work in.

In this order: *zero*, which is u = -K x; members that forecast the disturbances and answer to the forecast by the
preview of the model (*hold* what is seen now, autoregressions); *given* ones, linear in past disturbances; and learners
over disturbance-action policies (gradient descent, AdaGrad).
"""

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from driftwise._lanes import WIDTH
from driftwise._memory import Array, Part, Workspace
from driftwise.control.policies.model import Actuator, Model
from driftwise.domains import SpectralBalls

HOLDS = (1.0, 0.1)
"""Members that forecast what was seen, smoothed: the share of the newest disturbance."""


class Autoregression(NamedTuple):
    """A member that forecasts by an autoregression, fitted by least squares."""

    order: int
    forgetting: float
    """What a round counts for in the next."""
    each: bool
    """Whether every coordinate has coefficients of its own, and a constant; otherwise all share theirs."""

    @property
    def size(self) -> int:
        """Number of coefficients."""
        return self.order + self.each

    def silent(self, states: int) -> int:
        """Return the disturbances that it takes to fit the coefficients: shared ones learn from every coordinate."""
        return 2 * self.order + 2 if self.each else self.order + 2 + -(-2 * self.order // states)

    @property
    def every(self) -> int:
        """Rounds from one solution of the normal equations to the next, which take time in proportion to p^3."""
        return max(1, self.order // 4)

    @property
    def name(self) -> str:
        """The name of the member."""
        return f"AR({self.order}) {'each ' * self.each}{self.forgetting:g}"


AUTOREGRESSIONS = (
    Autoregression(2, 1.0, False),
    Autoregression(8, 0.999, False),
    Autoregression(32, 0.999, False),
    Autoregression(8, 0.999, True),
)

DEEPEST = max(one.order for one in AUTOREGRESSIONS)

STEPS = tuple(2.0**k for k in range(-6, 1, 2))
"""Gradient descent: step sizes in units of D / sqrt(sum of squared gradients)."""

PACES = (0.25, 0.5, 1.0)
"""Gradient descent with a step size for every coordinate (AdaGrad): the same, in units of D / sqrt(n)."""

LARGEST_POLICY = 400
"""Most entries of a policy that gradient descent is followed for."""

STILL = 0.5
"""Prior weight of u = -K x: where nothing can be learnt, this is what learning is compared with."""

FADING = 0.998
"""What the costs of a round count for in the next, when members are weighed."""

# The header, part one: single numbers.
(
    COUNT,  # N, the number of members
    LANES,  # N, rounded up to whole fours
    DIM,  # n = H du dx, the entries of a policy; 0 if no policies are learnt
    ROOM_AT,  # where the room begins
    SIZE,  # D, the size of a good gain
    MEMORY,  # H: steps are as short as if H rounds had gone before; it takes that long to see what a policy does
    GAP,  # sum of the mixability gaps
    ROUNDS,  # number of rounds in which anything moved
    SQUARES,  # sum of their squared sizes, outliers cut
    FINISH_CALL,  # address of the plugin that ends a round
    STATES,  # n, the states that are measured
    NZ,  # states of the model
    DU,  # inputs
    WIDE,  # n, rounded up to whole fours
    AHEAD,  # rounds that the preview looks ahead
    GIVEN,  # members that were given
    GIVEN_STATES,  # and the states that they need
    FIRST,  # number of the first learner over policies
    STARTED,  # whether the members stand where the plant is
    HEARD,  # disturbances that forecasts have learnt from
    CANDIDATES,  # models in the bank
    SELECTED,  # the one in use
    WANTED,  # the one to change to; SELECTED if none
    JUDGED,  # rounds that the bank has judged
    ENERGY,  # discounted energy of the disturbance, as the first model explains it
    STORY,  # rounds that can be replayed
    DEPTH,  # inputs that the bank keeps: one more than the longest delay
    CHECK,  # rounds from one look at the margins to the next; 0 if none were asked for
    ORDINARY,  # usual energy of a disturbance, outliers cut
    WILD,  # disturbances in a row that are far larger
    COUNTED,  # what the last one counts for
    LOOKING,  # whether members are judged by where they stand, too: costs are those that the model was made for
    DOUBT,  # the most evidence for another model than the one in use
    CHANGED,  # rounds that the bank had judged when the model was changed
    BEFORE,  # usual energy before a burst of far larger disturbances; 0 if there was none lately
    SINCE,  # rounds since it began
    RELIEF,  # disturbances in a row that were as before it
    FORGET,  # whether it is over, and what was learnt in it is to be forgotten
) = range(38)

# The header, part two: where the parts are.
(
    A_AT, B_AT, K_AT, OWN_AT, SCALE_AT, PREVIEW_AT, WHOLE_AT, BEST_LEAD_AT, BARE_A_AT, BARE_B_AT, PUSH_AT,
    VALUE_AT, TILT_AT, TAIL_AT, TURNED_AT, ONTO_AT, PENDING_AT, AHEADS_AT, TURN_AT,
    STEPS_AT, PACES_AT, PRIOR_AT, PLAN_AT, TABLE_AT, GIVEN_A_AT, GIVEN_B_AT, GIVEN_C_AT,
    MIXTURE_AT, WEIGHTS_AT, TOTALS_AT, POLICIES_AT, STATES_AT, EXTRAS_AT, INPUTS_AT,
    NORMS_AT, SPREADS_AT, FEATURES_AT, FREE_AT,
    RECENT_AT, CUTS_AT, HELD_AT, REGRESSIONS_AT, GIVEN_AT,
    ACTUATORS_AT, LAGS_AT, FILTERS_AT, QUEUE_AT, SEEN_AT, SUMS_AT, ERRORS_AT, STORY_AT,
    POINTS_AT, SLOPES_AT, GRADIENTS_AT, VALUES_AT, BLOCK_AT, MOVED_AT, POINT_AT, SPARE_AT, Y_AT, FORECAST_AT, SOLVE_AT,
) = range(38, 100)  # fmt: skip
HEADER = 100

ORDER, KEEP, EACH, ENTRIES, LANES_OF, MOMENTS_OF, SIDES_OF, COEFFICIENTS_OF, SILENT, EVERY = range(10)
"""Columns of the table of autoregressions: three say where in `regressions` their parts are, the last how many
disturbances it takes before they forecast, and in which rounds they solve their equations."""

COLUMNS = 10

REPLAY = 300
"""Rounds that a new model learns from at once."""

BACK = 2
"""Order of the autoregression by which the bank judges."""

POOL = Workspace(
    HEADER,
    ROOM_AT,
    kept=[
        # the model
        Part("A", A_AT, ("nz", "nz")),
        Part("B", B_AT, ("nz", "du")),
        Part("K", K_AT, ("du", "nz")),  # the best gain
        Part("own", OWN_AT, ("du", "nz")),  # the gain in use
        Part("scale", SCALE_AT, ("states", "states")),  # y = scale w
        Part("preview", PREVIEW_AT, ("ahead", "du", "wide")),
        Part("whole", WHOLE_AT, ("du", "wide")),
        Part("best_lead", BEST_LEAD_AT, ("du",)),  # what a set-point adds to -K z
        # what a state costs from here on: V(z) = z'Pz + 2 (tilt + tail)'z
        Part("value", VALUE_AT, ("nz", "nz")),  # P
        Part("tilt", TILT_AT, ("nz",)),  # the set-point's part
        Part("tail", TAIL_AT, ("nz",)),  # that of the disturbances to come
        Part("turned", TURNED_AT, ("nz", "nz")),  # (A - B K)'
        Part("onto", ONTO_AT, ("nz", "wide")),  # what y adds to P w
        # the members
        Part("steps", STEPS_AT, (len(STEPS),)),
        Part("paces", PACES_AT, (len(PACES),)),
        Part("prior", PRIOR_AT, ("lanes",)),  # logarithms; -inf for padding
        Part("plan", PLAN_AT, ("plan",)),  # the domain of the policies
        Part("table", TABLE_AT, (len(AUTOREGRESSIONS), COLUMNS)),
        Part("given_A", GIVEN_A_AT, ("given_states", "given_states")),
        Part("given_B", GIVEN_B_AT, ("given_states", "states")),
        Part("given_C", GIVEN_C_AT, ("given", "du", "given_states")),
        # what they know
        Part("mixture", MIXTURE_AT, ("dim",)),  # the policies, mixed
        Part("weights", WEIGHTS_AT, ("lanes",)),
        Part("totals", TOTALS_AT, ("lanes",)),  # sum of a member's own costs, less that of zero
        Part("pending", PENDING_AT, ("lanes",)),  # its last cost less V of its state, to which V of the next is added
        Part("policies", POLICIES_AT, ("learners", "dim")),  # M^i
        Part("states", STATES_AT, ("count", "nz")),  # z^i, where the plant would be under member i
        Part("extras", EXTRAS_AT, ("count", "du")),  # s^i, what it adds to the best input without disturbances
        Part("inputs", INPUTS_AT, ("count", "du")),  # u^i
        Part("norms", NORMS_AT, ("learners",)),  # sum of the squared norms of its gradients
        Part("spreads", SPREADS_AT, ("spreads", "dim")),  # the same by coordinate
        # z_t(M) = free + features M, had M been in use all along; z = (state, input)
        Part("features", FEATURES_AT, ("z", "dim")),
        Part("free", FREE_AT, ("z",)),  # z_t(0)
        Part("recent", RECENT_AT, (DEEPEST, "wide")),  # the last y, newest first
        Part("cuts", CUTS_AT, ("wide",)),  # forecasts are cut here
        Part("held", HELD_AT, (len(HOLDS), "wide")),
        Part("regressions", REGRESSIONS_AT, ("regressions",)),  # moments, sides and coefficients of each
        Part("given_at", GIVEN_AT, ("given_states",)),
        # the bank of models
        Part("bare_A", BARE_A_AT, ("states", "states")),  # the plant without its actuator
        Part("bare_B", BARE_B_AT, ("states", "du")),
        Part("push", PUSH_AT, ("states", "du")),  # scale bare_B
        Part("actuators", ACTUATORS_AT, ("candidates", 2)),  # delay, gain
        Part("lags", LAGS_AT, ("candidates", "du")),
        Part("filters", FILTERS_AT, ("candidates", "du")),  # what the actuator delivers
        Part("queue", QUEUE_AT, ("depth", "du")),  # the last inputs, newest first
        Part("seen", SEEN_AT, ("candidates", BACK, "wide")),  # the last y as each explains them
        Part("sums", SUMS_AT, ("candidates", 5)),  # of products of these: 11, 12, 22, 1y, 2y
        Part("errors", ERRORS_AT, ("candidates",)),  # discounted squares of what was not foreseen
        Part("story", STORY_AT, (REPLAY, "story")),  # states and inputs of the last rounds
    ],
    room=[
        Part("aheads", AHEADS_AT, ("lanes",)),  # V of every member's state
        Part("turn", TURN_AT, (2, "nz")),  # states on their way
        Part("points", POINTS_AT, ("learners", "z")),  # z_t(M^i)
        Part("slopes", SLOPES_AT, ("learners", "z")),  # gradient of the cost there
        Part("gradients", GRADIENTS_AT, ("learners", "dim")),  # gradient in M^i
        Part("values", VALUES_AT, ("lanes",)),  # c_t(x^i, u^i)
        Part("block", BLOCK_AT, ("nz", "du", "states")),  # the newest features of the state
        # Squared size of what moved in this round, or what is usual if that is much less.
        # Then the size of the numbers that costs of members were compared by, for rounding.
        Part("moved", MOVED_AT, (2,)),
        Part("point", POINT_AT, ("z",)),  # one point on its way
        Part("spare", SPARE_AT, ("spare",)),  # for the projection
        Part("y", Y_AT, ("wide",)),  # the newest disturbance
        Part("forecast", FORECAST_AT, ("forecast", "wide")),  # the last ones, oldest first, and those foreseen
        Part("solve", SOLVE_AT, ("solve",)),  # for normal equations
    ],
)

BANK = ("bare_A", "bare_B", "push", "actuators", "lags", "filters", "queue", "seen", "sums", "errors", "story")
BANK_SLOTS = (SELECTED, WANTED, JUDGED, ENERGY, STORY, ORDINARY, WILD, COUNTED, LOOKING, DOUBT, CHANGED, BEFORE, SINCE)
"""What stays when the members change: the parts of the bank, and its single numbers."""

Sides = Mapping[str, int]


def fours(size: int) -> int:
    """Return a size rounded up to whole fours."""
    return -(-size // WIDTH) * WIDTH


class Given(NamedTuple):
    """Members that are linear in past disturbances: m_t = A m_{t-1} + B w_{t-1}, and each plays C_i m_t."""

    names: tuple[str, ...]
    A: Array
    B: Array
    C: Array

    @classmethod
    def none(cls, states: int, inputs: int) -> "Given":
        """Return no such members."""
        return cls((), np.zeros((0, 0)), np.zeros((0, states)), np.zeros((0, inputs, 0)))


def sides_of(domain: SpectralBalls, model: Model, given: Given, actuators: tuple[Actuator, ...]) -> Sides:
    """Return the sides of the parts for policies of a domain, and a bank of actuators."""
    (nz, du), n = model.B.shape, len(model.scale)
    dim = domain.dim if domain.dim <= LARGEST_POLICY else 0
    learners = len(STEPS) + len(PACES) if dim else 0
    first = 1 + len(HOLDS) + len(AUTOREGRESSIONS) + len(given.names)
    entries = [(one.size, fours(n) if one.each else WIDTH) for one in AUTOREGRESSIONS]
    return {
        "count": first + learners,
        "first": first,
        "learners": learners,
        "lanes": fours(first + learners),
        "spreads": len(PACES) if dim else 0,
        "dim": dim,
        "states": n,
        "nz": nz,
        "du": du,
        "z": nz + du,
        "wide": fours(n),
        "ahead": len(model.preview),
        "plan": domain.plan(link=False).size,
        "spare": domain.room,
        "given": len(given.names),
        "given_states": len(given.A),
        "regressions": sum(q * (q + 1) * lanes + q * fours(n) for q, lanes in entries),
        "candidates": len(actuators),
        "depth": 1 + max(one.delay for one in actuators),
        "story": n + du,
        "forecast": DEEPEST + len(model.preview),
        "solve": max(len(given.A), *(q * (q + 2) * lanes for q, lanes in entries)),
    }


def members(count: int, given: Given) -> tuple[str, ...]:
    """Return the names of the members."""
    names = ["zero", *(f"hold {share:g}" for share in HOLDS), *(one.name for one in AUTOREGRESSIONS), *given.names]
    names += [f"gradient 2^{math.log2(step):.0f}" for step in STEPS] + [f"AdaGrad {pace:g}" for pace in PACES]
    return tuple(names[:count])


def new_pool(domain: SpectralBalls, size: float, model: Model, given: Given, sides: Sides) -> Array:
    """Return members that know nothing yet, for policies that come at this size; the bank is empty."""
    pool = POOL.new(sides)
    names = ("count", "lanes", "dim", "states", "nz", "du", "wide", "ahead", "given", "given_states", "first")
    slots = (COUNT, LANES, DIM, STATES, NZ, DU, WIDE, AHEAD, GIVEN, GIVEN_STATES, FIRST)
    pool[list(slots)] = [sides[name] for name in names]
    pool[[SIZE, MEMORY, CANDIDATES, DEPTH, COUNTED]] = size, domain.shape[0], sides["candidates"], sides["depth"], 1.0
    parts, n = POOL.views(pool, sides), sides["states"]
    for name in ("A", "B", "K", "own", "scale"):
        parts[name][:] = getattr(model, name)
    closed, back = model.A - model.B @ model.K, np.linalg.inv(model.scale)
    parts["value"][:], parts["turned"][:], parts["onto"][:, :n] = model.P, closed.T, model.P[:, :n] @ back
    parts["preview"][:, :, :n], parts["whole"][:, :n] = model.preview, model.whole
    for name in ("A", "B", "C"):
        parts[f"given_{name}"][:] = getattr(given, name)
    parts["steps"][:], parts["paces"][:] = STEPS, PACES
    place = 0
    for row, one in zip(parts["table"], AUTOREGRESSIONS, strict=True):
        q, lanes = one.size, sides["wide"] if one.each else WIDTH
        places = place, place + q * q * lanes, place + q * (q + 1) * lanes
        row[:] = one.order, one.forgetting, one.each, q, lanes, *places, one.silent(n), one.every
        place += q * (q + 1) * lanes + q * sides["wide"]
    parts["plan"][:] = domain.plan(link=False)
    parts["prior"][:] = -math.inf
    # All learners over policies together have the prior of one other member: they begin at M = 0, which is zero's.
    first, learners = sides["first"], sides["learners"]
    share = (1.0 - STILL) / (first - 1 + (learners > 0))
    parts["prior"][1:first], parts["prior"][0] = math.log(share), math.log(STILL)
    parts["prior"][first : first + learners] = math.log(share / max(learners, 1))
    parts["weights"][:] = np.exp(parts["prior"])
    return pool


def kept(pool: Array, domain: SpectralBalls) -> Array:
    """Return a copy of a pool without its room and without addresses: all that the members are and know."""
    copied = POOL.kept(pool)
    plan = int(pool[PLAN_AT])
    copied[plan : plan + domain.plan(link=False).size] = domain.plan(link=False)
    copied[FINISH_CALL] = 0.0
    return copied
