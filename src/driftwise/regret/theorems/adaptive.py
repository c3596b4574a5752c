"""The theorem about the strongly adaptive learner: regret with switching cost on every interval of a run."""

from driftwise.learners import StronglyAdaptive
from driftwise.regret import bounds
from driftwise.regret.theorems.base import Assumption, Theorem
from driftwise.regret.theorems.mixed import OfScream


class OfStronglyAdaptive(OfScream):
    """The theorem of the page "Strongly adaptive", which holds for every interval.

    So it holds for a run that goes on too, if gradients have kept to the bound from the start.
    """

    name = "the theorem on strongly adaptive learning"

    learner: StronglyAdaptive  # type: ignore[assignment]

    def bound(self, t: int) -> float:
        """Return the bound for the first t rounds."""
        return Theorem.bound(self, t)  # prices are what they are, so nothing has to be added once

    def of_rounds(self, start: int, stop: int, tuned_for: int) -> float:
        """Return the bound on an interval of the run, with what the comparators move in it."""
        return self.on_interval(start, stop, self.moving(start, stop)["path_length"])

    def on_interval(self, start: int, stop: int, path_length: float) -> float:
        """Return the bound on an interval for comparators with a path length."""
        before = self.learner.round
        return bounds.strongly_adaptive(
            start=before + start,
            stop=before + stop,
            gradient_bound=self.G,
            diameter=self.D,
            switching_cost=self.built.largest(self.losses.dim),
            path_length=path_length,
            horizon=self.learner.horizon,
        )

    def of_horizon(self) -> Assumption:
        """Say that none is needed; `play` sees to it that one that was given is kept."""
        planned = self.learner.horizon
        text = "none needed: base-learners for longer intervals join in time"
        if planned is not None:
            text = f"{planned} rounds planned, {self.learner.round + self.T} played"
        return Assumption("horizon", True, text)

    def of_start(self) -> Assumption:
        """Say that a run may begin anywhere, if gradients kept to the bound in earlier rounds too."""
        if not (played := self.learner.round):
            return Assumption("start", True, "a new learner")
        text = f"{played} rounds had been played before, which the theorem allows if their gradients kept to the bound"
        return Assumption("start", None, text)
