"""The theorems about runs, one class for each kind of learner: its measure, its bound, and its assumptions."""

from numpy.typing import ArrayLike

from driftwise.errors import InputError
from driftwise.learners import (
    OGD,
    Ader,
    Committee,
    Hedge,
    LazyScream,
    MirrorDescent,
    Scream,
    SelfTunedLearner,
    SelfTunedScream,
    StronglyAdaptive,
)
from driftwise.optimum.values import read_run
from driftwise.regret.theorems.adaptive import OfStronglyAdaptive
from driftwise.regret.theorems.base import Assumption, Theorem
from driftwise.regret.theorems.descent import OfDescent, OfHedge, OfMirrorDescent
from driftwise.regret.theorems.mixed import OfAder, OfLazyScream, OfScream
from driftwise.regret.theorems.self_tuned import OfSelfTunedLearner, OfSelfTunedScream
from driftwise.trace import Trace

__all__ = ["THEOREMS", "Assumption", "Theorem", "theorem_for"]

THEOREMS: dict[type, type[Theorem]] = {
    OGD: OfDescent,
    MirrorDescent: OfMirrorDescent,
    Hedge: OfHedge,
    Ader: OfAder,
    Scream: OfScream,
    LazyScream: OfLazyScream,
    SelfTunedScream: OfSelfTunedScream,
    SelfTunedLearner: OfSelfTunedLearner,
    StronglyAdaptive: OfStronglyAdaptive,
}


def theorem_for(owner: str, trace: Trace, comparators: ArrayLike) -> Theorem:
    """Return the theorem about a run's learner, applied to the run."""
    read_run(owner, trace, None)
    theorem = THEOREMS.get(type(trace.learner))  # a subclass may do anything, so no theorem is known for it
    if isinstance(trace.learner, Committee):
        raise InputError(
            f"{owner}: a committee is compared with its members, not with decisions: what it costs is at most what any "
            "of them would have cost plus a multiple of committee.overhead; see the docstring of Committee."
        )
    if theorem is None:
        raise InputError(
            f"{owner}: no theorem is known here for {trace.learner!r}; compare dynamic_regret with one of "
            "regret.bounds."
        )
    return theorem(owner, trace, comparators)
