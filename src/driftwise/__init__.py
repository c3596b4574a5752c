"""driftwise: decisions online, in a world that drifts, when changing your mind costs something.

A learner acts, the world answers, the learner observes:

>>> import driftwise as dw
>>> losses = dw.streams.drifting_regression(rounds=5000, seed=0)
>>> learner = dw.Scream(dw.Ball(10), switching_cost=2.0, gradient_bound=2.0, horizon=5000)
>>> trace = dw.play(learner, losses, switching_cost=2.0)
>>> trace.decisions.shape
(5000, 10)
"""

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

from driftwise import errors, learners, mirror, streams
from driftwise.domains import Ball, Box, Domain, Product, Simplex, SpectralBalls
from driftwise.learners import OGD, Ader, Ensemble, Hedge, LazyScream, Learner, MirrorDescent, Scream
from driftwise.losses import (
    AbsoluteLoss,
    CustomLoss,
    FilteredLoss,
    HuberLoss,
    LinearLoss,
    LogisticLoss,
    LossStream,
    SquaredLoss,
    TrackingLoss,
)
from driftwise.play import play
from driftwise.trace import Trace

if TYPE_CHECKING:
    from driftwise import control, regret, testing

__version__ = "0.1.0"

__all__ = [
    "OGD",
    "AbsoluteLoss",
    "Ader",
    "Ball",
    "Box",
    "CustomLoss",
    "Domain",
    "Ensemble",
    "FilteredLoss",
    "Hedge",
    "HuberLoss",
    "LazyScream",
    "Learner",
    "LinearLoss",
    "LogisticLoss",
    "LossStream",
    "MirrorDescent",
    "Product",
    "Scream",
    "Simplex",
    "SpectralBalls",
    "SquaredLoss",
    "Trace",
    "TrackingLoss",
    "control",
    "errors",
    "learners",
    "mirror",
    "play",
    "regret",
    "streams",
    "testing",
]


def __getattr__(name: str) -> ModuleType:
    """Import the larger parts when they are first asked for, so that importing the package stays quick."""
    if name in ("control", "regret", "testing"):
        return import_module(f"driftwise.{name}")
    raise AttributeError(f"module 'driftwise' has no attribute {name!r}")


def __dir__() -> list[str]:
    """List the parts that are imported later, too."""
    return sorted({*globals(), *__all__})
