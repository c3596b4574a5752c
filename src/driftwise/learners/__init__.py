"""The learners of the paper, and the parts to compose new ones from."""

from driftwise.learners.ader import Ader
from driftwise.learners.base import Learner
from driftwise.learners.committee import Committee
from driftwise.learners.ensemble import Ensemble
from driftwise.learners.hedge import Hedge
from driftwise.learners.lazy_scream import LazyScream
from driftwise.learners.mirror_descent import MirrorDescent
from driftwise.learners.moves import MoveConstants, move_constants
from driftwise.learners.ogd import OGD
from driftwise.learners.parts import Meta, Pool, Surrogate
from driftwise.learners.rounded import Rounded, rounded
from driftwise.learners.scream import Scream
from driftwise.learners.self_tuned import SelfTunedLearner
from driftwise.learners.self_tuned_scream import SelfTunedScream
from driftwise.learners.strongly_adaptive import StronglyAdaptive

__all__ = [
    "OGD",
    "Ader",
    "Committee",
    "Ensemble",
    "Hedge",
    "LazyScream",
    "Learner",
    "Meta",
    "MirrorDescent",
    "MoveConstants",
    "Pool",
    "Rounded",
    "Scream",
    "SelfTunedLearner",
    "SelfTunedScream",
    "StronglyAdaptive",
    "Surrogate",
    "move_constants",
    "rounded",
]
