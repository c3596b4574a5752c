"""Faults that are injected: plants, guarded controllers, what goes wrong, and one loop that plays it all by hand."""

import functools
import itertools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import driftwise as dw
from driftwise import control
from driftwise._validate import Array
from driftwise.control.controllers.loop import PolicyLoop
from driftwise.control.plants.kernels import PlantData, changes_in, one_move, plant_vector
from driftwise.control.policies.disturbance_action import nominal_loop
from driftwise.control.policies.guard import FADE, GONE, RETURN
from tests.control.cases import Actuator

CALM, ROUNDS = 24, 60
"""Rounds before anything goes wrong, and rounds of a short case."""

BOUND, RATE = (-3.0, 4.0), 2.5
"""Limits and rate of every controller in these tests."""

STABLE = control.LinearSystem([[0.9, 0.2], [-0.1, 0.8]], [[0.1], [0.5]])
UNSTABLE = control.LinearSystem([[1.1, 0.2], [0.0, 0.9]], [[0.2], [0.6]])

PLANTS: dict[str, control.System] = {
    "stable": STABLE,
    "unstable": UNSTABLE,
    "delay": control.LinearSystem(STABLE.A, STABLE.B, delay=2),
    "limits": control.LinearSystem(UNSTABLE.A, UNSTABLE.B, input_limit=[-1.0, 0.8], rate_limit=0.6),
    "varying": control.TimeVaryingSystem(STABLE.A, STABLE.B, spread_A=0.05, spread_B=0.05),
    "pendulum": control.InvertedPendulum(),
}

HALF = [[1.0, 0.0]]
OUTPUTS: dict[str, control.LinearSystem] = {
    "stable, half": control.LinearSystem(STABLE.A, STABLE.B, HALF),
    "unstable, half": control.LinearSystem(UNSTABLE.A, UNSTABLE.B, HALF),
    "delay, half": control.LinearSystem(STABLE.A, STABLE.B, HALF, delay=2),
    "lag, half": control.LinearSystem(STABLE.A, STABLE.B, HALF, lag=0.5),
    "limits, half": control.LinearSystem(UNSTABLE.A, UNSTABLE.B, HALF, input_limit=[-1.0, 0.8], rate_limit=0.6),
    "delay, mixed": control.LinearSystem(UNSTABLE.A, UNSTABLE.B, [[1.0, 0.5], [0.0, 2.0]], delay=1),
}
"""Plants of which outputs are measured: one state of two, or mixtures of both."""

Start = tuple[Array, Array]
"""A state, and the input before."""

EVERY: dict[str, control.System] = {**PLANTS, **OUTPUTS}

FAR = 1e150
"""A state that is farther away stays where it is."""

SIZES = {"pendulum": 0.01, "limits": 0.03, "limits, half": 0.03}
"""Sizes of disturbances, 0.1 for all others."""


class Clock:
    """A clock that is moved on by hand."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def _policy(system: control.System, **settings: Any) -> PolicyLoop:
    loop = nominal_loop(system)
    M = 0.1 * np.random.default_rng(2).standard_normal((4, loop.input_dim, loop.state_dim))
    return control.PolicyController(system, control.DisturbanceAction(control.lqr(loop), M), **settings)


def _own(system: control.System, **settings: Any) -> PolicyLoop:
    shape = (3, system.input_dim, nominal_loop(system).state_dim)
    return control.DisturbanceActionController(system, dw.OGD(dw.SpectralBalls(shape, 0.5), step=0.02), **settings)


KINDS: dict[str, Callable[..., PolicyLoop]] = {
    "linear": control.LinearController,
    "policy": _policy,
    "gradient": control.GradientController,
    "Ader": control.AderController,
    "Scream": control.ScreamController,
    "lazy Scream": control.LazyScreamController,
    "own learner": _own,
    "self-tuned": control.SelfTunedController,
}


@functools.cache
def _made(kind: str, plant: str, state_bound: float | None) -> PolicyLoop:
    guard = control.Guard(state_bound=state_bound, deadline=1.0, clock=Clock())
    return KINDS[kind](PLANTS[plant], guard=guard, input_bound=[BOUND], rate_limit=RATE)


def guarded(kind: str, plant: str, state_bound: float | None = None) -> PolicyLoop:
    """Return a new controller with a guard, a deadline of 1 on a clock of its own, limits and a rate."""
    return _made(kind, plant, state_bound).clone()


@functools.cache
def _made_for_outputs(offset_free: bool, plant: str, state_bound: float | None) -> control.OutputFeedback:
    guard = control.Guard(state_bound=state_bound, deadline=1.0, clock=Clock())
    limits: dict[str, Any] = {"input_bound": [BOUND], "rate_limit": RATE}
    return control.OutputFeedback(OUTPUTS[plant], offset_free=offset_free, guard=guard, **limits)


def by_outputs(offset_free: bool, plant: str, state_bound: float | None = None) -> control.OutputFeedback:
    """Return a new controller that sees outputs only, with a guard, limits and a rate as above."""
    return _made_for_outputs(offset_free, plant, state_bound).clone()


class Fault:
    """What goes wrong from round `first` to round `last`; by itself nothing does."""

    logged = False
    """Whether the controller can know at once, and has to say so."""

    def __init__(self, rng: np.random.Generator, first: int, last: int) -> None:
        self.rng, self.first, self.last = rng, first, last

    def on(self, t: int) -> bool:
        """Tell whether it is there in round t."""
        return self.first <= t <= self.last

    def sample(self, t: int, x: Array) -> Any:
        """Return what the controller is told of the state."""
        return x

    def wait(self, t: int) -> float:
        """Return the time from one sample to the next."""
        return 0.5

    def state(self, t: int, x: Array) -> Array:
        """Return the state, if something else has moved it."""
        return x

    def force(self, t: int, u: Array) -> Array:
        """Return the input that the plant really gets."""
        return u

    def told(self, t: int, u: Array) -> Array | None:
        """Return what the controller is told of that."""
        return None

    def change(self, t: int, plant: PlantData) -> PlantData:
        """Return the plant as it really is."""
        return plant


class Lost(Fault):
    """Samples that are no numbers, or none."""

    logged = True
    value: Any = None

    def sample(self, t: int, x: Array) -> Any:
        if not self.on(t):
            return x
        if self.value is None:
            return None
        bad = x.copy()
        bad[int(self.rng.integers(x.size))] = self.value
        return bad


class Late(Fault):
    logged = True

    def wait(self, t: int) -> float:
        return 2.0 if self.on(t) else 0.5


class Frozen(Fault):
    """The sensor shows what it showed when the fault began."""

    held: Array | None = None

    def sample(self, t: int, x: Array) -> Any:
        if not self.on(t):
            return x
        self.held = x.copy() if self.held is None else self.held
        return self.held


class Jump(Fault):
    def state(self, t: int, x: Array) -> Array:
        return x + self.rng.uniform(-0.4, 0.4, x.size) if t == self.first else x


class Mismatch(Fault):
    """Every entry of the plant is off by up to 30 %."""

    def change(self, t: int, plant: PlantData) -> PlantData:
        rng = np.random.default_rng(self.first)
        wrong = {name: getattr(plant, name) for name in ("A", "B", "numbers")}
        return plant._replace(**{name: part * rng.uniform(0.7, 1.3, part.shape) for name, part in wrong.items()})


class Reversed(Fault):
    """The input has the wrong sign for good: the plant diverges if it is unstable, and may otherwise."""

    def change(self, t: int, plant: PlantData) -> PlantData:
        if t < self.first:
            return plant
        numbers = plant.numbers * np.where(np.arange(plant.numbers.size) == 1, -1.0, 1.0)
        return plant._replace(B=-plant.B, changes_B=-plant.changes_B, numbers=numbers)


class Saturated(Fault):
    tells = True

    def force(self, t: int, u: Array) -> Array:
        return np.clip(u, -0.02, 0.02) if self.on(t) else u

    def told(self, t: int, u: Array) -> Array | None:
        return self.force(t, u) if self.tells and self.on(t) else None


class Other(Fault):
    """Somebody else takes over."""

    def force(self, t: int, u: Array) -> Array:
        return 0.3 * np.sin(np.arange(t, t + u.size)) if self.on(t) else u

    def told(self, t: int, u: Array) -> Array | None:
        return self.force(t, u) if self.on(t) else None


class Slow(Fault):
    """Two samples of delay that are not in the model."""

    def __init__(self, rng: np.random.Generator, first: int, last: int) -> None:
        super().__init__(rng, first, last)
        self.queue: list[Array] = []

    def force(self, t: int, u: Array) -> Array:
        self.queue.append(u)
        return self.queue[max(0, len(self.queue) - 3)]


class Swapped(Fault):
    """Samples come in the wrong order: of every two, the earlier one comes last."""

    before: Array | None = None

    def sample(self, t: int, x: Array) -> Any:
        given = x if not self.on(t) or self.before is None or (t - self.first) % 2 else self.before
        self.before = x.copy()
        return given


def _with(kind: type[Fault], **changes: Any) -> type[Fault]:
    return type(kind.__name__, (kind,), changes)


FAULTS: dict[str, tuple[type[Fault], int]] = {
    "NaN": (_with(Lost, value=np.nan), 1),
    "infinity": (_with(Lost, value=-np.inf), 1),
    "1e200": (_with(Lost, value=1e200), 1),
    "none": (Lost, 1),
    "three lost": (Lost, 3),
    "twenty lost": (Lost, 20),
    "late": (Late, 2),
    "frozen sensor": (Frozen, 6),
    "jump": (Jump, 1),
    "huge sample": (_with(Lost, value=1e60, logged=False), 1),
    "mismatch": (Mismatch, 1),
    "wrong sign": (Reversed, 1),
    "saturation, told": (Saturated, 12),
    "saturation, not told": (_with(Saturated, tells=False), 12),
    "somebody else": (Other, 8),
    "delay": (Slow, 1),
    "swapped samples": (Swapped, 6),
}
"""What goes wrong, and for how many rounds."""


class Story(NamedTuple):
    """What happened."""

    inputs: Array
    costs: Array
    shares: Array
    """What is learnt came times this."""
    logged: Array
    """Events, up to every round and with it."""
    end: Start
    """The state after the last round, and its input."""


def in_charge(mine: control.Controller) -> Any:
    """Return the controller that has the guard, if there is one: the one inside, or itself."""
    return getattr(mine, "inner", mine)


def reported(one: Any) -> tuple[int, float]:
    """Return how many events a controller has reported so far, and what is learnt comes times what."""
    health = getattr(one, "health", None)
    return (len(one.log), 1.0) if health is None else (health.events, health.share)


def play(
    mine: control.Controller,
    plant: str,
    fault: Fault,
    rounds: int,
    rng: np.random.Generator,
    start: Start | None = None,
) -> Story:
    """Run a plant with a fault by hand, checking every input; from rest, or from where another story has ended."""
    system, cost = EVERY[plant], control.QuadraticCost(1.0, 1.0)
    n, du, C = system.state_dim, system.input_dim, getattr(system, "C", None)
    data = system.data(rounds, rng)
    bare, actuator = data._replace(delay=0, lag=np.zeros(du)), Actuator(data)
    rows = SIZES.get(plant, 0.1) * (
        np.sin(0.3 * np.arange(rounds)[:, None] + np.arange(n)) + rng.uniform(-0.5, 0.5, (rounds, n))
    )
    x, before = start or (np.zeros(n), np.zeros(du))
    inputs, (costs, shares, logged) = np.zeros((rounds, du)), np.zeros((3, rounds))
    (low, high), rate = mine._bounds, getattr(in_charge(mine), "rate_limit", None)
    for t in range(rounds):
        x, inner = fault.state(t, x), in_charge(mine)
        so_far, _ = reported(inner)
        if getattr(inner, "guard", None) is not None:
            inner.guard.clock.now += fault.wait(t)
        u = mine.act(fault.sample(t, x if C is None else C @ x))
        assert np.isfinite(u).all(), f"{u} in round {t}"
        assert ((low <= u) & (u <= high)).all(), f"{u} in round {t} is beyond {low}, {high}"
        if rate is not None:
            near = np.clip(before, low, high)
            assert (np.abs(u - near) <= rate + 1e-12).all(), f"{u} in round {t} is too far from {before}"
        accepted = actuator.accept(np.array(fault.force(t, u)))
        known = fault.told(t, u)
        if known is not None or not np.array_equal(accepted, fault.force(t, u)):
            known = accepted
        mine.observe(cost, applied=known)
        before = u if known is None else known
        now, shares[t] = reported(inner)
        inputs[t], logged[t] = u, logged[t - 1] + now - so_far
        with np.errstate(all="ignore"):
            costs[t] = x @ x + accepted @ accepted
        arrived, following = actuator.deliver(accepted), x.copy()
        if np.abs(x).max() <= FAR:
            moved = fault.change(t, bare)
            one_move(plant_vector(moved), *changes_in(moved, t), 0.0, x, arrived, rows[t], following)
        x = following
    return Story(inputs, costs, shares, logged, (x, before))


def suffer(
    mine: control.Controller,
    plant: str,
    fault: str,
    rng: np.random.Generator,
    *,
    calm: int = CALM,
    rounds: int = ROUNDS,
    start: Start | None = None,
) -> Story:
    """Play one case, and check what is said and how what is learnt comes back.

    The fault begins within ten rounds after `calm` ones. A controller without a guard cannot log it.
    """
    make, lasts = FAULTS[fault]
    first, began, guarded = int(rng.integers(calm, calm + 10)), mine.round, hasattr(mine, "health")
    where = f"{type(mine).__name__} in round {began}, {plant}, {fault} in round {began + first}"
    try:
        story = play(mine, plant, make(rng, first, first + lasts - 1), rounds, rng, start)
    except Exception as error:
        raise AssertionError(f"{where}: {type(error).__name__}: {error}") from error
    if make.logged and guarded:
        told = np.diff(story.logged, prepend=0.0)
        assert (told[first : first + lasts] >= 1.0).all(), f"{where}: not logged: {told}"
        said = {event.round - began for event in mine.log}  # type: ignore[attr-defined]
        assert said >= set(range(first, first + lasts)), f"{where}: not in the log: {said}"
    if story.logged[-1] == (lasts if make.logged else 0):  # nothing but the fault itself has happened
        check_way_back(story.shares, where)
        assert story.shares[-1] == 1.0, f"{where}: {story.shares}"
    return story


def check_way_back(shares: Array, where: str) -> None:
    """Check that what is learnt goes by the stated factor, and comes back by the stated step."""
    for before, now in itertools.pairwise(shares):
        faded = before * FADE if before * FADE >= GONE else 0.0
        assert now == pytest.approx(faded) or -1e-12 <= now - before <= RETURN + 1e-12, f"{where}: {shares}"
