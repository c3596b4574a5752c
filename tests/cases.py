"""What many tests play: domains, loss streams, learners, and the two verbs by hand."""

import functools
import itertools
import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
import pytest

import driftwise as dw
from driftwise._validate import Array
from driftwise.errors import DriftwiseError


def every_pair(**axes: Iterable[Any]) -> pytest.MarkDecorator:
    """Run a test so often that every value of an argument meets every value of every other one.

    All combinations of three and more are run with -m full.
    """
    lengths = [len(list(axis)) for axis in axes.values()]
    return _product(axes, lambda i, j, *rest: all(k == (i + n * j) % lengths[n + 1] for n, k in enumerate(rest, 1)))


def a_third(**axes: Iterable[Any]) -> pytest.MarkDecorator:
    """Run a test with a third of all combinations, every value being in some of them; with -m full with all."""
    return _product(axes, lambda *places: sum(places) % 3 == 0)


def _product(axes: dict[str, Iterable[Any]], usual: Callable[..., bool]) -> pytest.MarkDecorator:
    """Return all combinations, of which those that are not usual are run with -m full."""
    cases = []
    for chosen in itertools.product(*(enumerate(axis) for axis in axes.values())):
        places, values = zip(*chosen, strict=True)
        name = "-".join(value if isinstance(value, str) else repr(value) for value in values)
        cases.append(pytest.param(*values, id=name, marks=() if usual(*places) else pytest.mark.full))
    return pytest.mark.parametrize(list(axes), cases)


DOMAINS: dict[str, dw.Domain] = {
    "ball": dw.Ball(3),
    "shifted ball": dw.Ball(2, radius=0.5, center=[3.0, -1.0]),
    "box": dw.Box([-1.0, 0.0, 2.0], [1.0, 0.5, 3.0]),
    "simplex": dw.Simplex(4, scale=2.0),
    "product": dw.Product(dw.Ball(2), dw.Simplex(2)),
    "spectral": dw.SpectralBalls(shape=(1, 2, 2), radii=0.8),
}

SCHEDULES: dict[str, dict[str, Any]] = {
    "fixed": {},
    "time-varying": {"horizon": None},
    "doubling": {"horizon": None, "horizon_free": "doubling"},
}

EUCLIDEAN: dict[str, tuple[type[dw.Ensemble], dict[str, Any]]] = {
    "OGD": (dw.OGD, {"gradient_bound": 2.0}),
    "OGD switching-aware": (dw.OGD, {"gradient_bound": 2.0, "switching_cost": 3.0}),
    "OGD constant step": (dw.OGD, {"step": 0.1}),
    "MirrorDescent": (dw.MirrorDescent, {"gradient_bound": 2.0}),
    "Ader improved": (dw.Ader, {"gradient_bound": 2.0}),
    "Ader original": (dw.Ader, {"gradient_bound": 2.0, "variant": "original"}),
    "Scream appendix": (dw.Scream, {"gradient_bound": 2.0, "switching_cost": 3.0}),
    "Scream theorem": (dw.Scream, {"gradient_bound": 2.0, "switching_cost": 3.0, "rate": "theorem"}),
    "LazyScream appendix": (dw.LazyScream, {"gradient_bound": 2.0, "switching_cost": 3.0}),
    "LazyScream theorem": (dw.LazyScream, {"gradient_bound": 2.0, "switching_cost": 5.0, "rate": "theorem"}),
}
"""Learners that take any domain, with what they need besides a horizon."""


PRICES: dict[str, Callable[[int], float | dw.MoveCost]] = {
    "number": lambda dim: 0.3,
    "free": lambda dim: 0.0,
    "l1": lambda dim: dw.MoveCost(up=0.4, down=0.1),
    "l2": lambda dim: dw.MoveCost(up=0.1, down=0.5, norm="l2"),
    "each": lambda dim: dw.MoveCost(up=np.linspace(0.1, 0.5, dim), down=np.linspace(0.4, 0.0, dim)),
}
"""Prices of moves for decisions of a dimension."""


def self_tuned(domain: dw.Domain, price: str = "number", **settings: Any) -> dw.SelfTunedLearner:
    """Return a self-tuned learner with one of `PRICES`."""
    return dw.SelfTunedLearner(domain, switching_cost=PRICES[price](domain.dim), **settings)


def maker(name: str, domain: dw.Domain, rounds: int, schedule: str = "fixed") -> Callable[[], dw.Ensemble]:
    """Return what makes a learner of `EUCLIDEAN` for so many rounds."""
    kind, settings = EUCLIDEAN[name]
    return lambda: kind(domain, **{"horizon": rounds, **settings, **SCHEDULES[schedule]})


@functools.cache
def squared(dim: int, rounds: int, seed: int = 0) -> dw.SquaredLoss:
    """Return a drifting regression with two or more segments."""
    return dw.streams.drifting_regression(rounds=rounds, dim=dim, segment=-(-rounds // 3), seed=seed)


def custom(dim: int, rounds: int, memory: int = 0, compile: str = "always") -> dw.CustomLoss:
    """Return half the squared distance from a moving centre to the mean of the window."""
    centers = np.sin(1.7 * np.arange(rounds * dim)).reshape(rounds, dim)

    def of_window(t: int, window: Array) -> float:
        return float(0.5 * ((window.sum(axis=0) / (memory + 1) - centers[t]) ** 2).sum())

    def value(t: int, w: Array) -> float:
        return float(0.5 * ((w - centers[t]) ** 2).sum())

    def gradient(t: int, w: Array) -> Array:
        slope: Array = w - centers[t]
        return slope

    return dw.CustomLoss(of_window if memory else value, gradient, rounds, dim, memory, compile)


STREAMS: tuple[str, ...] = (
    "squared",
    "linear",
    "absolute",
    "quantile",
    "huber",
    "logistic",
    "tracking",
    "capacity",
    "filtered",
    "custom",
    "custom with memory",
    "plain custom",
)


@functools.cache
def stream(kind: str, dim: int, rounds: int) -> dw.LossStream:
    """Return a stream of `STREAMS`."""
    rng = np.random.default_rng(11)
    x, y = rng.uniform(-1.0, 1.0, (rounds, dim)), rng.uniform(-1.0, 1.0, rounds)
    makers: dict[str, Callable[[], dw.LossStream]] = {
        "squared": lambda: dw.SquaredLoss(x, y),
        "linear": lambda: dw.LinearLoss(x),
        "absolute": lambda: dw.AbsoluteLoss(x, y),
        "quantile": lambda: dw.QuantileLoss(x, y, quantile=0.8),
        "huber": lambda: dw.HuberLoss(x, y, delta=0.3),
        "logistic": lambda: dw.LogisticLoss(x, np.sign(y)),
        "tracking": lambda: dw.TrackingLoss(x),
        "capacity": lambda: dw.CapacityLoss(x, shortage=np.linspace(1.5, 4.0, dim), price=0.7),
        "filtered": lambda: dw.FilteredLoss([1.0, 0.5, -0.25], x, y),
        "custom": lambda: custom(dim, rounds),
        "custom with memory": lambda: custom(dim, rounds, memory=2),
        "plain custom": lambda: custom(dim, rounds, compile="never"),
    }
    return makers[kind]()


def by_hand(learner: dw.Learner, losses: dw.LossStream, act: Callable[[int], dict[str, Any]] = lambda t: {}) -> Array:
    """Play with the two verbs and return the decisions; `act` gives what `act` is called with in a round."""
    decisions = np.empty((len(losses), losses.dim))
    for t in range(len(losses)):
        decisions[t] = learner.act(**act(t))
        learner.observe(losses[t])
    return decisions


def proposing(table: Mapping[str, Array]) -> Callable[[int], dict[str, Any]]:
    """Return what `act` is given in a round of a table of proposals, (T, d) by name; a row of NaN is missing."""
    return lambda t: {"proposal": {name: None if np.isnan(rows[t, 0]) else rows[t] for name, rows in table.items()}}


def knowledge(learner: dw.Ensemble) -> bytes:
    """Return everything a built-in learner knows, as bytes."""
    acted = b"" if learner._acted is None else learner._acted.tobytes()
    return learner._state.tobytes() + acted


def check_refused(call: Callable[[], object], *words: str, kind: type[Exception] = DriftwiseError) -> None:
    """Check that a call raises a typed error whose text has all the words."""
    with pytest.raises(kind) as caught:
        call()
    assert isinstance(caught.value, DriftwiseError)
    for word in words:
        assert word in str(caught.value), f"{word!r} is not in {caught.value}"


def paper_pool(rounds: float, growth: float) -> int:
    """Return ceil(log2(1 + growth * rounds) / 2) + 1."""
    return math.ceil(0.5 * math.log2(1.0 + growth * rounds)) + 1
