"""The public check: every learner passes it, and it can fail."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike

import driftwise as dw
from driftwise._validate import Array
from driftwise.errors import ParameterError
from driftwise.mirror import Euclidean, MirrorMap, NegativeEntropy, PNorm
from driftwise.testing import check_learner
from tests.cases import (
    DOMAINS,
    EUCLIDEAN,
    PRICES,
    SCHEDULES,
    STREAMS,
    a_third,
    check_refused,
    every_pair,
    maker,
    self_tuned,
    squared,
    stream,
)

ROUNDS = 18
BALL = dw.Ball(3)


@every_pair(name=EUCLIDEAN, where=DOMAINS, schedule=SCHEDULES)
def test_every_learner_on_every_domain(name: str, where: str, schedule: str) -> None:
    domain = DOMAINS[where]
    check_learner(maker(name, domain, ROUNDS, schedule), squared(domain.dim, ROUNDS), seed=len(name))


@a_third(name=EUCLIDEAN, kind=STREAMS)
def test_every_learner_on_every_loss(name: str, kind: str) -> None:
    check_learner(maker(name, BALL, ROUNDS), stream(kind, 3, ROUNDS), seed=3)


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize(
    ("mirror", "where"),
    [(Euclidean(), "simplex"), (NegativeEntropy(), "simplex"), (PNorm(1.3), "simplex"), (PNorm(1.7), "box")],
    ids=repr,
)
def test_mirror_descent_in_every_geometry(mirror: MirrorMap, where: str, schedule: str) -> None:
    domain, settings = DOMAINS[where], {"horizon": ROUNDS, **SCHEDULES[schedule]}
    check_learner(
        lambda: dw.MirrorDescent(domain, mirror=mirror, gradient_bound=2.0, **settings), squared(domain.dim, ROUNDS)
    )


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize(
    "settings", [{"loss_bound": 1.0}, {"rate": 0.2}, {"loss_bound": 1.0, "prior": [3.0, 2.0, 1.0]}]
)
@pytest.mark.parametrize("kind", ["linear", "filtered"])
def test_hedge(kind: str, settings: dict[str, Any], schedule: str) -> None:
    check_learner(
        lambda: dw.Hedge(3, **{"horizon": ROUNDS, **settings, **SCHEDULES[schedule]}), stream(kind, 3, ROUNDS)
    )


@pytest.mark.parametrize("base", [Euclidean(), NegativeEntropy(), PNorm(1.5)], ids=repr)
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_composition_of_parts(schedule: str, base: MirrorMap) -> None:
    from driftwise.learners import Ensemble, Meta, Pool, Surrogate

    check_learner(
        lambda: Ensemble(
            dw.Simplex(3),
            pool=Pool(0.2, growth=1.0),
            meta=Meta(0.5),
            surrogate=Surrogate(1.0),
            base=base,
            **{"horizon": ROUNDS, **SCHEDULES[schedule]},
        ),
        squared(3, ROUNDS),
    )


@every_pair(where=DOMAINS, kind=["squared", "tracking", "linear"], price=PRICES)
def test_a_self_tuned_learner_on_every_domain(where: str, kind: str, price: str) -> None:
    domain = DOMAINS[where]
    check_learner(lambda: self_tuned(domain, price), stream(kind, domain.dim, ROUNDS), seed=len(where))


@a_third(kind=STREAMS, period=[None, 6])
def test_a_self_tuned_learner_on_every_loss(kind: str, period: int | None) -> None:
    check_learner(lambda: self_tuned(BALL, period=period, start=[0.1, 0.0, 0.2]), stream(kind, 3, ROUNDS), seed=3)


class HeavyBall(dw.Learner):
    """Gradient descent with momentum: a learner that somebody else could have written."""

    def __init__(self, domain: dw.Domain, step: float, momentum: float, horizon: int | None = None) -> None:
        super().__init__(domain, horizon)
        self.step, self.momentum = step, momentum
        self.point = domain.project(np.zeros(domain.dim))
        self.velocity = np.zeros(domain.dim)

    def _decide(self) -> Array:
        return self.point

    def _learn(self, gradient: Array) -> None:
        self.velocity = self.momentum * self.velocity - self.step * gradient
        self.point = self.domain.project(self.point + self.velocity)


@pytest.mark.parametrize("horizon", [None, ROUNDS, ROUNDS + 7])
@pytest.mark.parametrize("kind", ["squared", "filtered", "custom"])
def test_a_learner_of_somebody_else_passes(kind: str, horizon: int | None) -> None:
    check_learner(lambda: HeavyBall(BALL, 0.1, 0.5, horizon), stream(kind, 3, ROUNDS))


def test_moves_are_rounded_alike_by_everybody() -> None:
    # The squares of these numbers are rounded one way by x * x, and another way by x**2 in Python.
    rows = np.repeat([[0.4264, 0.6352], [0.9477, 0.5955], [0.8329, 0.3852], [0.3176, 0.2997]], 2, axis=0)
    rows[::2] = 0.0

    class Replay(dw.Learner):
        def _decide(self) -> Array:
            return np.array(rows[self.round])

        def _learn(self, gradient: Array) -> None:
            pass

    check_learner(Replay(dw.Box([0.0, 0.0], [1.0, 1.0]), horizon=8), dw.LinearLoss(np.zeros((8, 2))))


def test_a_learner_that_cannot_be_pickled_passes() -> None:
    class Local(HeavyBall):
        pass

    check_learner(lambda: Local(BALL, 0.1, 0.5), squared(3, ROUNDS))


class Broken(HeavyBall):
    """A sound learner for the broken ones to spoil."""

    def __init__(self, horizon: int | None = ROUNDS) -> None:
        super().__init__(BALL, 0.3, 0.5, horizon)


class Writable(Broken):
    def act(self, hint: ArrayLike | None = None) -> Array:
        return super().act().copy()


class Restless(Broken):
    def act(self, hint: ArrayLike | None = None) -> Array:
        self.asked = getattr(self, "asked", 0) + 1
        decision = super().act() / self.asked
        decision.setflags(write=False)
        return decision


class Infeasible(Broken):
    def _learn(self, gradient: Array) -> None:
        self.point = self.point - 5.0 * gradient


class Misshapen(Broken):
    def _decide(self) -> Array:
        return self.point[None].copy()


class Rewriting(Broken):
    """Hands out a window on its own memory, and then writes to that."""

    def _decide(self) -> Array:
        window = self.point[:]
        window.setflags(write=False)
        return window

    def _learn(self, gradient: Array) -> None:
        self.point[:] = self.domain.project(self.point - 0.1 * gradient)


class Disorderly(Broken):
    def observe(self, gradient: Any) -> None:
        self.act()
        super().observe(gradient)


class Miscounting(Broken):
    @property
    def round(self) -> int:
        return self._round // 2


class TopHeavy(Broken):
    @property
    def weights(self) -> Array:
        return np.array([0.6, 0.4 + 1e-9])


class Negative(Broken):
    @property
    def weights(self) -> Array:
        return np.array([1.1, -0.1])


class Random(Broken):
    def _decide(self) -> Array:
        return self.domain.project(np.random.default_rng().uniform(-0.1, 0.1, 3))


class GlobalRandom(Broken):
    def _learn(self, gradient: Array) -> None:
        super()._learn(gradient)
        np.random.random()  # noqa: NPY002


class TwoFaced(dw.OGD):
    """Acts otherwise by hand than in the compiled loop, which reads what `act` leaves alone."""

    def __init__(self) -> None:
        super().__init__(BALL, step=0.3)

    def __getattribute__(self, name: str) -> Any:
        if name == "_decision":
            return 0.5 * super().__getattribute__(name)
        return super().__getattribute__(name)


class Entangled(Broken):
    def clone(self) -> "Entangled":
        twin = object.__new__(Entangled)
        twin.__dict__.update(self.__dict__)
        return twin

    def _learn(self, gradient: Array) -> None:
        self.velocity -= 0.1 * gradient
        self.point = self.domain.project(self.point + self.velocity)


class Amnesiac(Broken):
    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "velocity": np.zeros(3)}


class Gullible(Broken):
    """Reads what it is given without looking: one NaN and it is lost."""

    def observe(self, gradient: Any) -> None:
        given = gradient.gradient(self.act()) if hasattr(gradient, "gradient") else gradient
        if self._acted is None:
            raise self._too_early()
        self._learn(np.asarray(given, np.float64))
        self._round += 1
        self._acted = None

    def act(self, hint: ArrayLike | None = None) -> Array:
        if self._acted is None and np.isnan(self.point).any():
            self.point = np.zeros(3)
        return super().act()


class Poisoned(Broken):
    """Raises as it should, but only after the bad number has gone in."""

    def observe(self, gradient: Any) -> None:
        if isinstance(gradient, np.ndarray) and gradient.dtype.kind == "f" and gradient.shape == (3,):
            self.velocity = self.velocity + np.nan_to_num(gradient) * 1e-3 * (not np.isfinite(gradient).all())
        super().observe(gradient)


class WrongError(Broken):
    def _gradient_at(self, w: Array, given: Any) -> Array:
        if np.asarray(given).dtype.kind == "c":
            raise KeyError("gradient")
        return super()._gradient_at(w, given)


class Hoarding(Broken):
    """Keeps the caller's own array."""

    def _gradient_at(self, w: Array, given: Any) -> Array:
        checked = super()._gradient_at(w, given)
        return given if isinstance(given, np.ndarray) and given.dtype == np.float64 else checked

    def _learn(self, gradient: Array) -> None:
        self.point = self.domain.project(self.point - 0.1 * getattr(self, "last", gradient))
        self.last = gradient


class Picky(Broken):
    """Reads single precision as something else."""

    def _gradient_at(self, w: Array, given: Any) -> Array:
        factor = 2.0 if isinstance(given, np.ndarray) and given.dtype == np.float32 else 1.0
        return factor * super()._gradient_at(w, given)


class Vandal(Broken):
    def _gradient_at(self, w: Array, given: Any) -> Array:
        checked = super()._gradient_at(w, given)
        if isinstance(given, np.ndarray) and given.flags.writeable:
            given *= 2
        return checked


class Overflowing(Broken):
    def _learn(self, gradient: Array) -> None:
        with np.errstate(all="ignore"):
            size = float(np.sqrt(((gradient**2) ** 2).sum()))
            self.point = self.domain.project(self.point - 0.1 * gradient) * (size / size if size else 1.0)


class Endless(Broken):
    def act(self, hint: ArrayLike | None = None) -> Array:
        self._limit = 10**9
        return super().act()


BROKEN: list[tuple[Callable[[], dw.Learner], str]] = [
    (Writable, "can be written to"),
    (Restless, "two different decisions in round 1"),
    (Infeasible, r"left its domain Ball\(3, radius=1\) in round \d+: its decision .* away, 1e-09 is allowed"),
    (Misshapen, r"could not act in round 0: .* finite real numbers of shape \(3,\)"),
    (Rewriting, "changed the decision of round 0 after giving it"),
    (Disorderly, "should raise OrderError when observe was called before act"),
    (Miscounting, "counts 0 rounds after 1 were observed"),
    (TopHeavy, "weights in round 0 whose sum is off 1 by 1e-09"),
    (Negative, "has a weight below 0 in round 0"),
    (Random, "does not decide alike when the same run is repeated"),
    (GlobalRandom, "changed the global random state"),
    (TwoFaced, "decides otherwise in play than by hand: they differ by up to"),
    (Entangled, r"is changed by its copy taken by clone\(\)"),
    (Amnesiac, r"goes on otherwise than its copy taken by clone\(\)"),
    (Gullible, "should raise (InputError|OrderError)"),
    (Poisoned, r"was not left unchanged by the InputError it raised when it observed \w+ in round"),
    (WrongError, "should raise InputError when it observed complex numbers in round .*, but raised KeyError"),
    (Hoarding, "learns from .* otherwise than from"),
    (Picky, "learns from a float32 array otherwise than from an array"),
    (Vandal, "modified the gradient it observed as an array"),
    (Overflowing, r"could not act after \d+ gradients of size 1e.90: .* got nan"),
    (Endless, f"should raise HorizonError in round {ROUNDS}, beyond its horizon"),
]


@pytest.mark.parametrize(("make", "message"), BROKEN, ids=[make.__name__ for make, _ in BROKEN])
def test_a_broken_promise_is_found_and_named(make: Callable[[], dw.Learner], message: str) -> None:
    with pytest.raises(AssertionError, match=message) as caught:
        check_learner(make, squared(3, ROUNDS))
    assert str(caught.value).startswith(make.__name__)


def test_play_of_another_kind_is_found() -> None:
    """A loss that play reads otherwise than the check does, through the values alone."""

    class Drifting(dw.CustomLoss):
        def __init__(self) -> None:
            super().__init__(lambda t, w: float(w.sum()), lambda t, w: np.ones(3), ROUNDS, 3, compile="never")
            self.calls = 0

        def value(self, t: int, window: Any) -> float:
            self.calls += 1
            return super().value(t, window) + self.calls

    with pytest.raises(AssertionError, match="has other losses in play than by hand"):
        check_learner(Broken, Drifting())


@pytest.mark.parametrize(
    ("make", "losses", "words"),
    [
        (lambda: 3, squared(3, ROUNDS), ("learner, or what it makes", "got 3")),
        (Broken, squared(2, ROUNDS), ("dim 3", "dim=2")),
        (Broken, squared(3, 3), ("from 4 to 18 rounds", "rounds=3")),
        (Broken, squared(3, ROUNDS + 1), ("from 4 to 18 rounds", "rounds=19")),
        (Broken, [1.0], ("losses", "got [1.0]")),
    ],
)
def test_a_wrong_call_is_not_a_broken_promise(make: Any, losses: Any, words: tuple[str, ...]) -> None:
    check_refused(lambda: check_learner(make, losses), "check_learner", *words, kind=ParameterError)
