"""Controllers of every kind for tests of saving, and rounds of the two verbs that end in any state."""

import functools
from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np

import driftwise as dw
from driftwise import control
from driftwise._validate import Array
from driftwise.control.costs import Cost
from tests.control.cases import LEARNING, PLANT, UNIT, WIDE, costs

GAIN = [[0.4, 1.2]]
HALF = control.LinearSystem(PLANT.A, PLANT.B, C=[[1.0, 0.0]])
SLOW = control.LinearSystem(WIDE.A, WIDE.B, delay=1, lag=[0.3, 0.0])
DRIFTING = control.LinearSystem([[1.2]], [[1.0]])


class Integral(control.Controller):
    """A controller of somebody else: -K x less the integral of the states."""

    state_names: ClassVar[tuple[str, ...] | None] = ("total",)

    def __init__(self, K: Any, *, rate: float = 0.1) -> None:
        self.K, self.rate = np.array(K, float), rate
        super().__init__(self.K.shape[1], self.K.shape[0], input_bound=3.0)
        self.total = np.zeros(self.state_dim)

    def _decide(self, x: Array) -> Array:
        return -self.K @ (x + self.rate * self.total)

    def _learn(self, x: Array, applied: Array, cost: Cost) -> None:
        self.total = 0.9 * self.total + x


class Leaky(Integral):
    """The same, but it forgets to name what changes."""

    state_names = ()


class Silent(Integral):
    """The same, but it says nothing."""

    state_names = None


class Mean(dw.Learner):
    """A learner of somebody else, for policies."""

    state_names = ("total", "count")

    def __init__(self, domain: dw.Domain) -> None:
        super().__init__(domain)
        self.total, self.count = np.zeros(domain.dim), 0

    def _decide(self) -> Array:
        return self.domain.project(-0.1 * self.total / max(self.count, 1))

    def _learn(self, gradient: Array) -> None:
        self.total = self.total + gradient
        self.count += 1


OWN = (Integral, Leaky, Silent, Mean)

BALLS = dw.SpectralBalls((3, 1, 2), 0.8)


def with_learner(learner: dw.Learner, **settings: Any) -> control.Controller:
    return control.DisturbanceActionController(PLANT, learner, **settings)


MAKERS: dict[str, Callable[[], control.Controller]] = {
    "linear": lambda: control.LinearController(PLANT, guard=True, input_bound=2.0),
    "policy": lambda: control.PolicyController(
        WIDE, control.DisturbanceAction(control.lqr(WIDE), np.full((3, 2, 3), 0.1)), rate_limit=0.5
    ),
    **{name: partial(kind, PLANT, 400, memory=3) for name, kind in LEARNING.items()},
    "log memory": lambda: control.ScreamController(PLANT, horizon=300, memory="log", scale="certified"),
    "random start": lambda: control.ScreamController(
        WIDE, memory=3, start="random", seed=np.random.default_rng(5), guard=control.Guard(state_bound=50.0)
    ),
    "OGD": lambda: with_learner(dw.OGD(BALLS, step=0.02), normalised=True),
    "StronglyAdaptive": lambda: with_learner(
        dw.StronglyAdaptive(BALLS, switching_cost=1.0, gradient_bound=3.0), guard=True
    ),
    "SelfTunedScream": lambda: with_learner(dw.SelfTunedScream(BALLS, switching_cost=1.0)),
    "SelfTunedLearner": lambda: with_learner(dw.SelfTunedLearner(BALLS, switching_cost=1.0)),
    "rounded": lambda: with_learner(dw.rounded(dw.OGD(dw.Box(-np.ones(6), np.ones(6)), step=0.3), seed=2), memory=3),
    "own learner": lambda: with_learner(Mean(BALLS), guard=True),
    "own": lambda: Integral(GAIN, rate=0.2),
    "self-tuned": lambda: control.SelfTunedController(PLANT),
    "self-tuned, no guard": lambda: control.SelfTunedController(PLANT, memory=3, guard=False, bank=False),
    "self-tuned, slow": lambda: control.SelfTunedController(SLOW, memory=4, input_bound=[3.0, 2.0], rate_limit=1.0),
    "self-tuned, with a cost": lambda: control.SelfTunedController(PLANT, cost=control.QuadraticCost([1.0, 0.1], 0.5)),
    "self-tuned, with margins": lambda: control.SelfTunedController(PLANT, memory=3, min_gain_margin=1.3),
    "self-tuned, with a start": lambda: control.SelfTunedController(
        PLANT, memory=3, start=control.DisturbanceAction(control.lqr(PLANT), np.full((2, 1, 2), 0.05))
    ),
    "outputs": lambda: control.OutputFeedback(HALF, offset_free=True),
    "outputs, no guard": lambda: control.OutputFeedback(HALF, guard=False, input_bound=3.0),
    "adaptive": lambda: control.AdaptiveController(PLANT),
    "adaptive, around Scream": lambda: control.AdaptiveController(
        PLANT, controller=partial(control.ScreamController, memory=3)
    ),
    "explore": lambda: control.ExploreThenCommit(
        K=GAIN, state_dim=2, input_dim=1, horizon=2000, exploration=100, probe=1.0, seed=1, memory=3
    ),
    "explore, sized": lambda: control.ExploreThenCommit(
        K=GAIN, state_dim=2, input_dim=1, exploration=150, seed=np.random.default_rng(1), input_bound=9.0
    ),
    "explore, moments": lambda: control.ExploreThenCommit(
        K=GAIN,
        state_dim=2,
        input_dim=1,
        horizon=300,
        exploration=60,
        probe=1.0,
        method="moments",
        controller=partial(control.ScreamController, scale="certified", memory=2),
    ),
}


@functools.cache
def _made(name: str) -> control.Controller:
    return MAKERS[name]()


def controller(name: str) -> control.Controller:
    """Return a new controller; making one takes long, cloning does not."""
    return _made(name).clone()


class Loop(NamedTuple):
    """Where a run by hand is: the state of the plant, and the next round."""

    x: Array
    t: int


def plant_of(one: control.Controller) -> control.System:
    known = getattr(one, "system", PLANT)
    return known if isinstance(known, control.System) else PLANT


def disturbance(t: int, dx: int) -> Array:
    return np.asarray(0.3 * np.sin(0.4 * t + np.arange(dx)) + 0.05 * np.cos(2.3 * t * t + np.arange(dx)))


def cost_of(t: int, dx: int, du: int) -> Cost:
    """Return a cost of a kind that changes every few rounds."""
    kinds = ("scaled", "targets", "soft", "absolute", "scaled", "stages")
    return UNIT if t < 40 else costs(kinds[t // 7 % len(kinds)], dx, du)[t % 30]


def measured(one: control.Controller, x: Array) -> Array:
    return np.asarray(x[:1]) if isinstance(one, control.OutputFeedback) else x


def drive(one: control.Controller, loop: Loop, rounds: int) -> tuple[Loop, list[bytes]]:
    """Play rounds on the plant that it was made for, some of them with another input than it asked for."""
    plant, x, inputs = plant_of(one), loop.x, []
    for t in range(loop.t, loop.t + rounds):
        u = one.act(measured(one, x))
        inputs.append(u.tobytes())
        applied = 0.8 * u if t % 11 == 5 else u
        cost = cost_of(t, one.state_dim, one.input_dim)
        one.observe(cost, applied=applied if t % 11 == 5 else None)
        x = plant.A @ x + plant.B @ applied + disturbance(t, x.size)
    return Loop(x, loop.t + rounds), inputs


def began(one: control.Controller) -> Loop:
    return Loop(np.zeros(one.state_dim), 0)
