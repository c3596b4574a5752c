"""Theorems about one step size: gradient descent, mirror descent and Hedge."""

import math

import numpy as np
from numpy.typing import ArrayLike

from driftwise._validate import Array
from driftwise.learners import Ensemble, Hedge
from driftwise.mirror import Euclidean, NegativeEntropy
from driftwise.regret import bounds
from driftwise.regret.theorems.base import Assumption, Theorem
from driftwise.trace import Trace


class OfDescent(Theorem):
    """Theorem 1, for `OGD`, and for `MirrorDescent` with the Euclidean map."""

    name = "Theorem 1"

    def of_rounds(self, start: int, stop: int, tuned_for: int) -> float:
        """Return the bound of gradient descent with the steps that were used."""
        usual = self.moving(start, stop)
        return bounds.ogd(**usual, switching_cost=self.needed, step=self.last_step(stop), anytime=self.shrinks)

    def last_step(self, stop: int) -> float:
        """Return the step of the last update before `stop`."""
        return float(self.program.steps[0] / math.sqrt(self.program.clock_at(stop)))


class OfMirrorDescent(OfDescent):
    """The theorem of Appendix B.3, for `MirrorDescent`, in the norm of its map; with the Euclidean one, Theorem 1.

    Moving comparators are covered where the divergence has a Lipschitz constant, and with entropy where weights are
    shared. Its R^2 may be taken from the start, as the proof needs no other divergence while the step is constant.
    """

    name = "Appendix B.3, mirror descent"

    def __init__(self, owner: str, trace: Trace, comparators: ArrayLike) -> None:
        mirror = trace.learner.program.mirror  # type: ignore[union-attr]
        self.norm = 1.0 if isinstance(mirror, NegativeEntropy) else mirror.exponent
        self.share = mirror.share if isinstance(mirror, NegativeEntropy) else 0.0
        self.euclidean, self.entropic = isinstance(mirror, Euclidean), isinstance(mirror, NegativeEntropy)
        super().__init__(owner, trace, comparators)

    @property
    def first(self) -> Array:
        """The first decision."""
        assert isinstance(self.learner, Ensemble)
        return np.asarray(self.learner.base_decisions[0])

    @property
    def restarts(self) -> bool:
        """Whether the run falls into blocks, with a theorem for each: not in other geometries than the Euclidean."""
        return self.euclidean and super().restarts

    def of_rounds(self, start: int, stop: int, tuned_for: int) -> float:
        """Return the bound in the map's own norm."""
        if self.euclidean:
            return super().of_rounds(start, stop, tuned_for)
        if self.share > 0.0 or (self.entropic and self.shrinks):
            return self.of_experts(stop - start)
        given = {
            "horizon": stop - start,
            "gradient_bound": self.G,
            "switching_cost": self.needed,
            "radius": math.sqrt(self.program.mirror.radius_squared(self.learner.domain, self.first)),
            "step": self.last_step(stop),
        }
        if self.lipschitz < math.inf:
            given |= {"path_length": float(self.paths[stop - 1] - self.paths[start]), "lipschitz": self.lipschitz}
        return bounds.mirror_descent(**given)  # type: ignore[arg-type]

    @property
    def lipschitz(self) -> float:
        """Lipschitz constant of the map's divergence, if it has one."""
        return self.program.mirror.lipschitz(self.learner.domain)

    def of_experts(self, t: int) -> float:
        """Return the bound of Hedge for the first t rounds, in shares of the simplex's scale."""
        scale = float(self.learner.domain.numbers[0])
        first = self.first / scale
        given = {
            "horizon": t,
            "experts": first.size,
            "loss_bound": scale * self.G,
            "switching_cost": scale * self.needed,
            "rate": self.last_step(t) / scale**2,
            "anytime": self.shrinks,
            "prior": math.exp(min(float(self.v[0] / scale @ np.log(first)), 0.0)),
        }
        if self.share > 0.0:
            moved = float(self.paths[t - 1]) / scale
            given |= {"path_length": moved, "share": self.share, "least": min(float(first.min()), 1.0 / first.size)}
        return bounds.hedge(**given)  # type: ignore[arg-type]

    def of_shrinking(self) -> tuple[str, bool]:
        """Say that shrinking steps are covered for gradient descent and for Hedge."""
        if self.euclidean or (self.entropic and self.shrinks):
            return super().of_shrinking()
        rates = "rates that shrink" if self.shrinks else "its restarts"
        return f"none was given, and for {rates} nothing is proved here; the bound shown is for a known one", False

    def further(self) -> list[Assumption]:
        """Return what is assumed of comparators in other geometries."""
        found = super().further()
        if not self.euclidean:
            moved = float(self.paths[-1])
            text, covered = f"the theorem is for fixed ones, these move by {moved:g}", False
            if self.share > 0.0:
                text, covered = f"they move by {moved:g}; weights keep {self.share:g} of where they began", True
            elif self.lipschitz < math.inf:
                text, covered = f"they move by {moved:g}; the divergence is {self.lipschitz:g}-Lipschitz", True
            if not moved:
                text, covered = "the comparators are fixed", True
            found.append(Assumption("comparators", covered, text))
        return found


class OfHedge(OfMirrorDescent):
    """The corollary on Hedge of Appendix B.3."""

    name = "Appendix B.3, Hedge"

    learner: Hedge

    def _given(self) -> float | None:
        return self.learner.loss_bound

    def of_rounds(self, start: int, stop: int, tuned_for: int) -> float:
        """Return the bound against the mixtures of experts that the comparators are."""
        return self.of_experts(stop - start)
