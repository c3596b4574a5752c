"""driftwise: decisions online, in a world that drifts, when changing your mind costs something.

A learner acts, the world answers, the learner observes:

>>> import driftwise as dw
>>> losses = dw.streams.drifting_regression(rounds=5000, seed=0)
>>> learner = dw.Scream(dw.Ball(10), switching_cost=2.0, gradient_bound=2.0, horizon=5000)
>>> trace = dw.play(learner, losses, switching_cost=2.0)
>>> trace.decisions.shape
(5000, 10)

Everything is imported when it is first asked for, so that the command line answers at once.
"""

import sys
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from driftwise import (
        applications,
        control,
        errors,
        estimators,
        experiments,
        learners,
        mirror,
        movers,
        optimum,
        regret,
        report,
        streams,
        testing,
    )
    from driftwise.checkpoint import from_bytes, load
    from driftwise.domains import Ball, Box, Domain, Product, Simplex, SpectralBalls
    from driftwise.drift import Growth
    from driftwise.fleet import Fleet
    from driftwise.learners import (
        OGD,
        Ader,
        Committee,
        Ensemble,
        Hedge,
        LazyScream,
        Learner,
        MirrorDescent,
        Scream,
        SelfTunedLearner,
        SelfTunedScream,
        StronglyAdaptive,
        rounded,
    )
    from driftwise.losses import (
        AbsoluteLoss,
        CapacityLoss,
        CustomLoss,
        FilteredLoss,
        HuberLoss,
        LinearLoss,
        LogisticLoss,
        LogWealthLoss,
        LossStream,
        QuantileLoss,
        SquaredLoss,
        TrackingLoss,
    )
    from driftwise.movecost import MoveCost
    from driftwise.play import play
    from driftwise.trace import Trace

__version__ = "0.2.0"

__all__ = [
    "OGD",
    "AbsoluteLoss",
    "Ader",
    "Ball",
    "Box",
    "CapacityLoss",
    "Committee",
    "CustomLoss",
    "Domain",
    "Ensemble",
    "FilteredLoss",
    "Fleet",
    "Growth",
    "Hedge",
    "HuberLoss",
    "LazyScream",
    "Learner",
    "LinearLoss",
    "LogWealthLoss",
    "LogisticLoss",
    "LossStream",
    "MirrorDescent",
    "MoveCost",
    "Product",
    "QuantileLoss",
    "Scream",
    "SelfTunedLearner",
    "SelfTunedScream",
    "Simplex",
    "SpectralBalls",
    "SquaredLoss",
    "StronglyAdaptive",
    "Trace",
    "TrackingLoss",
    "applications",
    "control",
    "errors",
    "estimators",
    "experiments",
    "from_bytes",
    "learners",
    "load",
    "mirror",
    "movers",
    "optimum",
    "play",
    "regret",
    "report",
    "rounded",
    "streams",
    "testing",
]

_FLOORS = ("movecost", "domains", "drift", "losses", "learners", "trace", "play", "checkpoint", "fleet")
"""Where classes and functions come from; every floor imports those before it, so they are looked for upwards."""


class _Package(ModuleType):
    """A package that looks its names up when they are asked for."""

    def __getattr__(self, name: str) -> Any:
        if name not in __all__ and name not in _FLOORS:
            raise AttributeError(f"module 'driftwise' has no attribute {name!r}")
        if name != "play" and find_spec(f"driftwise.{name}"):
            found: Any = import_module(f"driftwise.{name}")
        else:
            floors = (import_module(f"driftwise.{floor}") for floor in _FLOORS)
            found = next(getattr(floor, name) for floor in floors if hasattr(floor, name))
        self.__dict__[name] = found
        return found

    def __setattr__(self, name: str, value: Any) -> None:
        # Python makes a module that was imported an attribute of its package. There is a module `play`, but here the
        # name is that of the function in it.
        if name == "play" and isinstance(value, ModuleType):
            value = value.play
        super().__setattr__(name, value)

    def __reduce__(self) -> tuple[Any, ...]:
        # cloudpickle, which sends functions to workers, knows plain modules only.
        return import_module, (self.__name__,)

    def __dir__(self) -> list[str]:
        return sorted({*self.__dict__, *__all__})


sys.modules[__name__].__class__ = _Package
