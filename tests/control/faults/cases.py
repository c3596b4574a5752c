"""Faults that are injected: plants, guarded controllers, what goes wrong, and one loop that plays it all by hand."""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import driftwise as dw
from driftwise import control
from driftwise._validate import Array
from driftwise.control.controllers.loop import PolicyLoop
from driftwise.control.plants.kernels import PlantData, changes_in, one_move, plant_vector
from driftwise.control.policies.disturbance_action import nominal_loop
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

FAR = 1e150
"""A state that is farther away stays where it is."""

SIZES = {"pendulum": 0.01, "limits": 0.03}
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


def play(mine: PolicyLoop, plant: str, fault: Fault, rounds: int, rng: np.random.Generator) -> Story:
    """Run a plant with a fault by hand, checking every input."""
    system, cost = PLANTS[plant], control.QuadraticCost(1.0, 1.0)
    n, du = system.state_dim, system.input_dim
    data = system.data(rounds, rng)
    bare, actuator = data._replace(delay=0, lag=np.zeros(du)), Actuator(data)
    rows = SIZES.get(plant, 0.1) * (
        np.sin(0.3 * np.arange(rounds)[:, None] + np.arange(n)) + rng.uniform(-0.5, 0.5, (rounds, n))
    )
    x, before, story = np.zeros(n), np.zeros(du), Story(np.zeros((rounds, du)), *np.zeros((3, rounds)))
    low, high = mine._bounds
    for t in range(rounds):
        x = fault.state(t, x)
        mine.guard.clock.now += fault.wait(t)  # type: ignore[union-attr]
        u = mine.act(fault.sample(t, x))
        assert np.isfinite(u).all(), f"{u} in round {t}"
        assert ((low <= u) & (u <= high)).all(), f"{u} in round {t} is beyond {low}, {high}"
        near = np.clip(before, low, high)
        assert (np.abs(u - near) <= RATE + 1e-12).all(), f"{u} in round {t} is too far from {before}"
        accepted = actuator.accept(np.array(fault.force(t, u)))
        known = fault.told(t, u)
        if known is not None or not np.array_equal(accepted, fault.force(t, u)):
            known = accepted
        mine.observe(cost, applied=known)
        before = u if known is None else known
        story.inputs[t], story.shares[t], story.logged[t] = u, mine.health.share, mine.health.events
        with np.errstate(all="ignore"):
            story.costs[t] = x @ x + accepted @ accepted
        arrived, following = actuator.deliver(accepted), x.copy()
        if np.abs(x).max() <= FAR:
            moved = fault.change(t, bare)
            one_move(plant_vector(moved), *changes_in(moved, t), 0.0, x, arrived, rows[t], following)
        x = following
    return story
