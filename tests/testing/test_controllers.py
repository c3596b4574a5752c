"""The public check: every controller passes it, and it can fail."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike

import driftwise as dw
from driftwise import control
from driftwise._validate import Array
from driftwise.errors import InputError, OrderError, ParameterError
from driftwise.testing import check_controller
from tests.cases import check_refused
from tests.control.cases import CONTROLLERS, LEARNING, PLANT, PLANTS, UNIT, WIDE, controller, squares

ROUNDS = 12


@pytest.mark.parametrize("plant", PLANTS)
@pytest.mark.parametrize("name", CONTROLLERS)
def test_every_controller_on_every_plant(name: str, plant: str) -> None:
    system = PLANTS[plant]
    check_controller(controller(name, system, ROUNDS), seed=len(name))


COSTS: dict[str, control.Cost] = {
    "full": control.QuadraticCost([[2.0, 0.5, 0.0], [0.5, 1.0, 0.0], [0.0, 0.0, 1.0]], [1.0, 0.3]),
    "absolute": control.AbsoluteCost([1.0, 2.0, 0.5], 0.3),
    "Huber": control.HuberCost(1.0, 0.5, width=0.2),
    "custom": squares(0.5),
}


@pytest.mark.parametrize("cost", COSTS)
@pytest.mark.parametrize("name", ["linear", "Scream", "lazy Scream", "certified"])
def test_every_kind_of_cost(name: str, cost: str) -> None:
    check_controller(controller(name, WIDE, ROUNDS), cost=COSTS[cost])


@pytest.mark.parametrize("name", LEARNING)
def test_a_function_that_makes_controllers(name: str) -> None:
    check_controller(lambda: LEARNING[name](PLANT, horizon=ROUNDS, memory=2, input_bound=0.5))


class Integral(control.Controller):
    """u = -x_0 - 0.1 (sum of x_0): a controller that somebody else could have written."""

    def __init__(self, horizon: int | None = ROUNDS, input_bound: ArrayLike | None = 1.0) -> None:
        super().__init__(2, 1, horizon, input_bound)
        self.total = np.zeros(1)

    def _decide(self, x: Array) -> Array:
        return -x[:1] - 0.1 * self.total

    def _learn(self, x: Array, applied: Array, cost: control.Cost) -> None:
        self.total = self.total + x[:1]


@pytest.mark.parametrize("horizon", [None, 4, ROUNDS, 40])
def test_a_controller_of_somebody_else_passes(horizon: int | None) -> None:
    check_controller(lambda: Integral(horizon))
    check_controller(Integral(horizon, None), PLANTS["pendulum"], squares())


def test_a_controller_that_cannot_be_pickled_passes() -> None:
    class Local(Integral):
        pass

    check_controller(Local)


def test_a_learner_of_ones_own_passes() -> None:
    class Steps(dw.Learner):
        point = np.zeros(4)

        def _decide(self) -> Array:
            return self.point

        def _learn(self, gradient: Array) -> None:
            self.point = self.domain.project(self.point - 0.1 * gradient)

    check_controller(lambda: control.DisturbanceActionController(PLANT, Steps(dw.SpectralBalls((2, 1, 2), 0.5))))


class Writable(Integral):
    def act(self, x: ArrayLike) -> Array:
        return super().act(x).copy()


class Misshapen(Integral):
    def act(self, x: ArrayLike) -> Array:
        return super().act(x)[None]


class Unbounded(Integral):
    def act(self, x: ArrayLike) -> Array:
        u = 50.0 * super().act(x)
        u.setflags(write=False)
        return u


class Undecided(Integral):
    def _decide(self, x: Array) -> Array:
        return super()._decide(x) * (np.nan if self.round == 3 else 1.0)


class Rewriting(Integral):
    """Hands out a window on its own memory, and then writes to that."""

    def act(self, x: ArrayLike) -> Array:
        self.own = super().act(x).copy()
        window = self.own[:]
        window.setflags(write=False)
        return window

    def observe(self, cost: control.Cost | None, applied: ArrayLike | None = None) -> None:
        super().observe(cost, applied)
        self.own[:] = 0.0


class Miscounting(Integral):
    @property
    def round(self) -> int:
        return self._round // 2


class TopHeavy(Integral):
    @property
    def weights(self) -> Array:
        return np.array([0.6, 0.4 + 1e-9])


class Negative(Integral):
    @property
    def weights(self) -> Array:
        return np.array([1.1, -0.1])


class Eager(Integral):
    def observe(self, cost: control.Cost | None, applied: ArrayLike | None = None) -> None:
        if self._acted is None:
            self.act([0.0, 0.0])
        super().observe(cost, applied)


class Repeating(Integral):
    def act(self, x: ArrayLike) -> Array:
        self._acted = None
        return super().act(x)


class Resentful(Integral):
    """Raises as it should when it is called out of order, and remembers."""

    def act(self, x: ArrayLike) -> Array:
        try:
            return super().act(x)
        except OrderError:
            self.total = self.total + 1e-9
            raise


class Restless(Integral):
    """Does not act alike when it is made again."""

    made = 0

    def __init__(self) -> None:
        super().__init__()
        Restless.made += 1
        self.total = np.full(1, 1e-9 * (Restless.made > 3))


class Random(Integral):
    def _decide(self, x: Array) -> Array:
        return super()._decide(x) + np.random.default_rng().uniform(0.0, 1e-9, 1)


class GlobalRandom(Integral):
    def _learn(self, x: Array, applied: Array, cost: control.Cost) -> None:
        super()._learn(x, applied, cost)
        np.random.random()  # noqa: NPY002


class TwoFaced(control.ScreamController):
    """Learns from half of what was applied by hand, and from all of it in the compiled loop."""

    def __init__(self) -> None:
        super().__init__(PLANT, horizon=ROUNDS, memory=2)

    def _observable(self, cost: control.Cost, applied: ArrayLike | None) -> Array:
        return 0.5 * super()._observable(cost, applied)


class Homesick(TwoFaced):
    """Goes wrong by hand as soon as it has played rounds that were not by hand."""

    calls = 0

    def _observable(self, cost: control.Cost, applied: ArrayLike | None) -> Array:
        u = control.ScreamController._observable(self, cost, applied)
        at_home = self.calls == self._round
        self.calls += 1
        return u if at_home else 0.5 * u


class Entangled(Integral):
    def clone(self) -> "Entangled":
        twin = object.__new__(Entangled)
        twin.__dict__.update(self.__dict__)
        return twin

    def _learn(self, x: Array, applied: Array, cost: control.Cost) -> None:
        self.total += x[:1]


class Amnesiac(Integral):
    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "total": np.zeros(1)}


class Gullible(Integral):
    """Reads states without looking."""

    def act(self, x: ArrayLike) -> Array:
        if self._acted is not None:
            return super().act(x)
        try:
            state = np.nan_to_num(np.asarray(x, np.float64).ravel()[:2])
            self._x = np.array([*state, 0.0, 0.0])[:2]
        except (TypeError, ValueError):
            raise InputError("not numbers") from None
        u = np.clip(self._decide(self._x), -1.0, 1.0)
        u.setflags(write=False)
        self._acted = u
        return u


class Poisoned(Integral):
    """Raises as it should, but only after the bad number has gone in."""

    def observe(self, cost: control.Cost | None, applied: ArrayLike | None = None) -> None:
        try:
            super().observe(cost, applied)
        except InputError:
            self.total = self.total + 1e-6
            raise


class Credulous(Integral):
    """Takes anything for a cost."""

    def observe(self, cost: control.Cost | None, applied: ArrayLike | None = None) -> None:
        super().observe(cost if isinstance(cost, control.Cost) else UNIT, applied)


class WrongError(Integral):
    def observe(self, cost: control.Cost | None, applied: ArrayLike | None = None) -> None:
        if self._acted is not None and not isinstance(cost, control.Cost):
            raise KeyError("cost")
        super().observe(cost, applied)


class Hoarding(Integral):
    """Keeps the caller's own array."""

    def act(self, x: ArrayLike) -> Array:
        u = super().act(x)
        if isinstance(x, np.ndarray) and x.dtype == np.float64:
            self._x = x
        return u


class Picky(Integral):
    """Reads single precision as something else."""

    def act(self, x: ArrayLike) -> Array:
        single = isinstance(x, np.ndarray) and x.dtype == np.float32
        return super().act(np.multiply(2.0, x) if single else x)


class Vandal(Integral):
    def act(self, x: ArrayLike) -> Array:
        u = super().act(x)
        if isinstance(x, np.ndarray) and x.dtype == np.float32:
            x *= 2
        return u


class Meddler(Integral):
    def observe(self, cost: control.Cost | None, applied: ArrayLike | None = None) -> None:
        super().observe(cost, applied)
        if isinstance(applied, np.ndarray) and applied.dtype == np.float32:
            applied *= 2


class Deaf(control.ScreamController):
    """Does not listen to what was applied, on a plant where it does not matter unless somebody meddles."""

    def __init__(self) -> None:
        super().__init__(PLANT, horizon=ROUNDS, memory=2)

    def _observable(self, cost: control.Cost, applied: ArrayLike | None) -> Array:
        super()._observable(cost, applied)
        return np.array(self._acted)


class Overflowing(Integral):
    def act(self, x: ArrayLike) -> Array:
        u = super().act(x).copy()
        with np.errstate(all="ignore"):
            u += 0.0 * np.sum(np.asarray(self._x) ** 4)
        u.setflags(write=False)
        return u


class Endless(Integral):
    def act(self, x: ArrayLike) -> Array:
        self._limit = 10**9
        return super().act(x)


BROKEN: list[tuple[Callable[[], control.Controller], str]] = [
    (Writable, "gave an input in round 0 that can be written to"),
    (Misshapen, r"did not act with a float64 array of shape \(1,\) in round 0"),
    (Unbounded, r"gave the input .* in round \d+, beyond its input_bound of"),
    (Undecided, "could not act in round 3: .* got nan"),
    (Rewriting, "changed the input of round 0 after giving it"),
    (Miscounting, "counts 0 rounds after 1 were observed"),
    (TopHeavy, "weights in round 0 whose sum is off 1 by 1e-09"),
    (Negative, "has a weight below 0 in round 0"),
    (Eager, "should raise OrderError when observe was called before act"),
    (Repeating, "should raise OrderError when act was called again with another state"),
    (Resentful, "is changed by calls out of order: they differ by up to .*, first at index 1"),
    (Restless, "does not act alike when the same run is repeated"),
    (Random, "is changed by calls out of order"),
    (GlobalRandom, "changed the global random state"),
    (TwoFaced, "has other states in simulate than by hand: they differ by up to"),
    (Homesick, "goes on by hand after simulate otherwise than after the two verbs"),
    (Entangled, r"is changed by its copy taken by clone\(\)"),
    (Amnesiac, r"goes on otherwise than its copy taken by clone\(\)"),
    (Gullible, "should raise InputError when it was given .* as the state in round"),
    (Poisoned, r"did not recover from what it refused when it was given \w+ as the applied input in round"),
    (Credulous, "should raise DriftwiseError when it was given a number as the cost in round"),
    (WrongError, "should raise DriftwiseError when it was given a number as the cost in round .*, but raised KeyError"),
    (Hoarding, "acts on a list otherwise than on an array"),
    (Picky, "acts on a float32 array otherwise than on an array"),
    (Vandal, "modified the state it was given as a float32 array"),
    (Meddler, "modified the applied input it was given as a float32 array in round"),
    (Deaf, r"recovered a disturbance in round 1 that is off by .*, when it was told of another applied input"),
    (Overflowing, r"gave the input \[nan\] after \d+ states of size 1e.90, which is not finite"),
    (Endless, f"should raise HorizonError in round {ROUNDS}, beyond its horizon"),
]


@pytest.mark.parametrize(("make", "message"), BROKEN, ids=[make.__name__ for make, _ in BROKEN])
def test_a_broken_promise_is_found_and_named(make: Callable[[], control.Controller], message: str) -> None:
    with pytest.raises(AssertionError, match=message) as caught:
        check_controller(make)
    assert str(caught.value).startswith(make.__name__)


def test_it_leaves_the_controller_alone() -> None:
    mine = controller("Scream")
    check_controller(mine)
    assert mine.round == 0


def played() -> control.Controller:
    mine = Integral()
    mine.act([1.0, 0.0])
    mine.observe(UNIT)
    return mine


def test_a_controller_that_has_played_is_not_new() -> None:
    with pytest.raises(AssertionError, match="Integral is not new: it is in round 1"):
        check_controller(played)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((lambda: 3,), ("controller, or what it makes", "got 3")),
        ((3,), ("controller, or what it makes", "got 3")),
        ((Integral, WIDE), ("was not made for a plant such as",)),
        ((Integral, "plant"), ("system", "LinearSystem(A, B)")),
        ((Integral, PLANT, 3.0), ("cost", "QuadraticCost(1.0, 1.0)")),
        ((Integral, PLANT, UNIT, -1), ("seed",)),
        ((lambda: Integral(3),), ("at least 4 rounds", "horizon=3")),
    ],
)
def test_a_wrong_call_is_not_a_broken_promise(arguments: tuple[Any, ...], words: tuple[str, ...]) -> None:
    check_refused(lambda: check_controller(*arguments), *words, kind=ParameterError)
