"""A self-tuned learner keeps the promises of every learner, with forecasts and with parts of somebody else."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike

import driftwise as dw
from driftwise._validate import Array
from driftwise.estimators import EACH, GRADIENT, SCORE, Estimator, Newton, Seen, SelfTunedScream, Smoothing
from driftwise.movers import Follow, Mover, Step
from driftwise.testing import check_learner
from tests.cases import DOMAINS, a_third, self_tuned, stream

ROUNDS = 18


class Advised(dw.SelfTunedLearner):
    """A self-tuned learner with two forecasts, of which one joins late and both are missing now and then."""

    def act(self, hint: ArrayLike | None = None, proposal: Any = None) -> Array:  # type: ignore[override]
        # After a round without feedback the decision stands, and its forecasts are not given again.
        judged = self.round - self.skipped
        if self._acted is not None or self._standing is not None or judged % 5 == 3:
            return super().act(hint)
        angle, size = 0.7 * judged, 0.5 * np.ones(self.domain.dim)
        late = {"late": np.cos(angle) * size} if judged > 4 else {}
        return super().act(hint, {"early": np.sin(angle) * size, **late})


@pytest.mark.parametrize("kind", ["squared", "capacity", "linear", "plain custom"])
def test_it_keeps_them_with_forecasts(kind: str) -> None:
    check_learner(lambda: Advised(dw.Ball(3), switching_cost=0.2), stream(kind, 3, ROUNDS))


class Slope(Estimator):
    """Goes against the gradient: an estimator that somebody else could have written."""

    name, forms = "slope", (SCORE, EACH, GRADIENT)

    def begin(self, point: Array, domain: dw.Domain) -> None:
        self.point, self.domain, self.squares = point, domain, 0.0

    def learn(self, seen: Seen) -> None:
        gradient = seen.gradient(self.point)
        self.squares = min(self.squares + float(gradient @ gradient), 1e290)
        step = self.domain.diameter / np.sqrt(self.squares) if self.squares > 0.0 else 0.0
        self.point = self.domain.project(self.point - step * gradient)

    def propose(self) -> Array | None:
        return None if self.squares == 0.0 else self.point


class Halfway(Mover):
    """Goes half of the way if that soon pays: a mover that somebody else could have written."""

    name = "halfway"

    def share(self, step: Step) -> float:
        return 0.5 if 8.0 * step.gain > step.price or step.staying > step.price else 0.0


@a_third(kind=["squared", "logistic", "tracking", "capacity", "linear", "plain custom"], where=["ball", "simplex"])
def test_it_keeps_them_with_parts_of_somebody_else(kind: str, where: str) -> None:
    domain, own = DOMAINS[where], [Slope(), Smoothing(0.3), Newton(), SelfTunedScream()]
    check_learner(
        lambda: self_tuned(domain, estimators=own, movers=[Halfway(), Follow()]), stream(kind, domain.dim, ROUNDS)
    )
