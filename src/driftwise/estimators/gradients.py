"""Self-tuned Scream as an estimator: it learns from the gradient at its own decision, and proposes that decision."""

from collections.abc import Sequence
from typing import Any

from driftwise._compile import plugin
from driftwise._memory import Array, Pointer, Section, at, call, part, whole_at
from driftwise.engine.layout import DECISION_AT
from driftwise.engine.rounds import learn
from driftwise.estimators import families as record
from driftwise.estimators.base import Estimator
from driftwise.estimators.families import Family
from driftwise.losses.kernels import SHAPE, SLOPE
from driftwise.movers import Follow, Mover
from driftwise.pairs import layout as slot
from driftwise.pairs.judging import score_slope
from driftwise.pairs.kinds import Kind
from driftwise.pairs.layout import EACH, FAMILY, GRADIENT, SCORE


@plugin(FAMILY)
def scream_learns(v: Pointer, own: Pointer, terms: Pointer, scream: Pointer) -> int:
    """Let self-tuned Scream observe the gradient of the clipped loss where it is."""
    d, there, g, x = whole_at(v, slot.DIM), at(scream, DECISION_AT), at(v, slot.TRIAL), at(v, slot.X)
    if v[slot.FORM] == slot.EACH:
        call(whole_at(terms, SLOPE), there, at(v, slot.TARGETS), at(terms, SHAPE), d, g)
    elif v[slot.FORM] == slot.SCORE:
        z = 0.0
        for k in range(d):
            z += x[k] * there[k]
        slope = score_slope(v, terms, z)
        for k in range(d):
            g[k] = slope * x[k]
    else:
        g = at(v, slot.TARGETS)
    learn(scream, g)
    return 0


def _fill(header: Array, parts: dict[str, Array], estimators: Sequence[Any], start: Array) -> None:
    """Nothing to write: what it knows is in a cell of its own."""


SCREAM = Family(scream_learns, Section(record.OWN, []), _fill, lambda count, dim: {}, beside=True)


class SelfTunedScream(Estimator):
    """`driftwise.SelfTunedScream`, which sees gradients only; its theorem carries over to the pool."""

    name = "Scream"
    forms = (SCORE, EACH, GRADIENT)

    def family(self, kind: Kind) -> Family:
        """Return the family of one."""
        return SCREAM

    def ways(self, kind: Kind) -> list[Mover] | None:
        """Return only `Follow` where all that is known are gradients, as it has patience of its own."""
        return [Follow()] if kind.form == GRADIENT else None
