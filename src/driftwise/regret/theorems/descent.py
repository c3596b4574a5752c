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
    """The theorem of Appendix B.3, for `MirrorDescent`, in the norm of its map; with the Euclidean one, Theorem 1."""

    name = "Appendix B.3, mirror descent"

    def __init__(self, owner: str, trace: Trace, comparators: ArrayLike) -> None:
        mirror = trace.learner.program.mirror  # type: ignore[union-attr]
        self.norm = 1.0 if isinstance(mirror, NegativeEntropy) else mirror.exponent
        self.euclidean = isinstance(mirror, Euclidean)
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
        radius = math.sqrt(self.program.mirror.radius_squared(self.learner.domain, self.first))
        usual = {"horizon": stop - start, "gradient_bound": self.G, "switching_cost": self.needed}
        return bounds.mirror_descent(**usual, radius=radius, step=self.last_step(stop))  # type: ignore[arg-type]

    def of_shrinking(self) -> tuple[str, bool]:
        """Say that shrinking steps are covered in the Euclidean geometry only."""
        if self.euclidean:
            return super().of_shrinking()
        rates = "rates that shrink" if self.schedule == "time-varying" else "its restarts"
        return f"none was given, and for {rates} nothing is proved here; the bound shown is for a known one", False

    def further(self) -> list[Assumption]:
        """Return what is assumed of comparators in other geometries."""
        found = super().further()
        if not self.euclidean:
            moved = float(self.paths[-1])
            text = f"the theorem is for fixed ones, these move by {moved:g}" if moved else "the comparators are fixed"
            found.append(Assumption("comparators", moved == 0.0, text))
        return found


class OfHedge(OfMirrorDescent):
    """The corollary on Hedge of Appendix B.3."""

    name = "Appendix B.3, Hedge"

    learner: Hedge

    def _given(self) -> float | None:
        return self.learner.loss_bound

    def of_rounds(self, start: int, stop: int, tuned_for: int) -> float:
        """Return the bound against the mixture of experts that the comparators are."""
        prior = math.exp(min(float(self.v[0] @ np.log(self.first)), 0.0))
        experts = {"experts": self.first.size, "loss_bound": self.G, "rate": self.last_step(stop), "prior": prior}
        known = {"horizon": stop - start, "switching_cost": self.needed, "anytime": self.shrinks}
        return bounds.hedge(**known, **experts)  # type: ignore[arg-type]

    def of_shrinking(self) -> tuple[str, bool]:
        """Say that rates that shrink are covered, and restarts are not."""
        return Theorem.of_shrinking(self) if self.shrinks else super().of_shrinking()
