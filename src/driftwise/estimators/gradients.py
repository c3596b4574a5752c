"""Self-tuned Scream as an estimator: it learns from the gradient at its own decision, and proposes that decision."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from driftwise._compile import plugin
from driftwise._memory import Array, Pointer, Section, at, call, whole_at
from driftwise.domains import Domain
from driftwise.engine.layout import DECISION_AT
from driftwise.engine.program import CLIP, Program, pool_size
from driftwise.engine.reference import Reference
from driftwise.engine.rounds import learn
from driftwise.estimators import families as record
from driftwise.estimators.base import Estimator, Seen
from driftwise.estimators.families import Family
from driftwise.losses.kernels import SHAPE, SLOPE
from driftwise.mirror import Euclidean
from driftwise.movecost import MoveCost
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


GROWTH, MOST_ROUNDS = 256.0, 2.0**53
"""What the pool of step sizes grows with, and the rounds that there are step sizes for."""

SCREAM = Family(scream_learns, Section(record.OWN, []), _fill, lambda count, dim: {}, beside=True)


class SelfTunedScream(Estimator):
    """The learner `driftwise.SelfTunedScream` as an estimator, which sees gradients only.

    Base-learners of many step sizes, mixed by a Hedge of their own; the price of a move is in it already. It asks
    nothing of the losses, and what is proved of it carries over to the pool. It learns from the gradient of the
    clipped loss at its own decision, where that is known, else from the gradient at the pool's.

    The NumPy statement of its rounds is `driftwise.engine.reference`.

    See Also
    --------
    driftwise.SelfTunedScream : the learner, with its formulas and what is proved of it.

    Examples
    --------
    >>> import numpy as np
    >>> import driftwise as dw
    >>> from driftwise import estimators
    >>> one = estimators.SelfTunedScream()
    >>> one.begin(np.zeros(1), dw.Box([0.0], [10.0]))
    >>> for t in range(20):
    ...     one.learn(estimators.Seen.of_levels(t, [4.0]))
    >>> one.propose().round(2)
    array([4.])
    """

    name = "Scream"
    forms = (SCORE, EACH, GRADIENT)

    _reference: Reference | None

    def family(self, kind: Kind) -> Family:
        """Return the family of one."""
        return SCREAM

    def ways(self, kind: Kind) -> list[Mover] | None:
        """Return only `Follow` where all that is known are gradients, as it has patience of its own."""
        return [Follow()] if kind.form == GRADIENT else None

    def begin(self, point: Array, domain: Domain) -> None:
        """Begin at a point; the price of a move is known with the first round."""
        self._point, self._domain, self._reference = point, domain, None

    def learn(self, seen: Seen) -> None:
        """Take in the gradient at its own decision."""
        if self._reference is None:
            self._reference = Reference(_program(self._domain, seen.price), self._point)
        self._reference.observe(seen.gradient(self._reference.decision))

    def propose(self) -> Array:
        """Return its decision."""
        return self._point if self._reference is None else self._reference.decision


def _program(domain: Domain, price: MoveCost) -> Program:
    """Return what `driftwise.SelfTunedScream` is, as data."""
    patience = (0.0, 1.0) if price.largest(domain.dim) > 0.0 else (0.0,)
    steps = np.repeat(domain.diameter / 16.0 * 2.0 ** np.arange(pool_size(MOST_ROUNDS, GROWTH)), len(patience))
    return Program(
        domain,
        Euclidean(),
        steps,
        np.zeros(steps.size),
        rate=2.0,
        switching_cost=price,
        schedule="self-tuned",
        growth=GROWTH,
        patience=patience,
        dead_zone=0.25,
        clip=CLIP,
    )
