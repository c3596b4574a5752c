"""Every mover, compiled and as it is stated, with every kind of price; and movers of one's own."""

from typing import Any

import numpy as np
import pytest

import driftwise as dw
from driftwise import movers
from driftwise.errors import InputError, ParameterError
from driftwise.estimators import ChangePoints, Estimator, Kalman, SelfTunedScream, Smoothing
from driftwise.testing import check_learner
from tests.cases import by_hand, check_refused, every_pair, stream
from tests.estimators.agreement import problem
from tests.movers.agreement import check_agrees

PRICES: dict[str, float | dw.MoveCost] = {
    "number": 0.5,
    "l1": dw.MoveCost(0.3),
    "l2": dw.MoveCost([0.3, 0.6, 0.1], norm="l2"),
    "up and down": dw.MoveCost(up=0.6, down=0.1),
    "up and down l2": dw.MoveCost(up=0.6, down=0.1, norm="l2"),
    "down is free": dw.MoveCost(up=[0.6, 0.1, 0.3], down=0.0),
}
ESTIMATORS: dict[str, Estimator] = {"Kalman": Kalman(1e-2), "last value": Smoothing(1.0)}
WAYS = [*movers.default(), movers.SkiRental(0.3), movers.SkiRental(3.0), movers.Prox(0.5)]


@every_pair(kind=["squared", "absolute", "logistic", "tracking", "capacity"], price=PRICES, one=ESTIMATORS)
def test_compiled_movers_go_as_far_as_stated(kind: str, price: str, one: str) -> None:
    check_agrees(*problem(kind, 3), PRICES[price], ESTIMATORS[one], WAYS)


@pytest.mark.parametrize("price", [0.3, dw.MoveCost(up=0.6, down=0.1)], ids=repr)
@pytest.mark.parametrize("kind", ["squared", "tracking", "capacity"])
def test_they_agree_in_one_dimension(kind: str, price: float | dw.MoveCost) -> None:
    check_agrees(*problem(kind, 1), price, Kalman(1e-2), WAYS)


@pytest.mark.parametrize("kind", ["squared", "tracking"])
def test_they_agree_where_curvature_is_a_diagonal(kind: str) -> None:
    check_agrees(*problem(kind, 70), 0.5, Kalman(1e-2), WAYS)


@pytest.mark.parametrize("price", ["number", "up and down"])
def test_those_that_wait_do_as_stated(price: str) -> None:
    """Change points have movers of their own."""
    check_agrees(*problem("squared", 3), PRICES[price], ChangePoints(), [movers.Follow()])
    check_agrees(*problem("linear", 3), PRICES[price], ChangePoints(0.5), [movers.Follow()])


def test_the_usual_ones_have_different_names_and_are_compiled() -> None:
    names = [way.name for way in movers.default()]
    assert len(set(names)) == len(names) == 8
    assert all(way.tau is not None for way in movers.default())


class Own(movers.Mover):
    """A mover of this package as a user would write it: in Python."""

    def __init__(self, inner: movers.Mover) -> None:
        self.inner, self.name = inner, f"own {inner.name}"

    def share(self, step: movers.Step) -> float:
        return self.inner.share(step)


@pytest.mark.parametrize("kind", ["squared", "huber", "capacity"])
@pytest.mark.parametrize("one", [Kalman(), SelfTunedScream()], ids=lambda one: one.name)
def test_one_in_python_goes_where_one_that_is_compiled_goes(kind: str, one: Estimator) -> None:
    domain, losses = problem(kind, 3)
    inner = [movers.Follow(), movers.Prox(), movers.Prox(16.0), movers.SkiRental()]
    ways = [*inner, *map(Own, inner)]
    learner = dw.SelfTunedLearner(domain, switching_cost=PRICES["l2"], estimators=[one], movers=ways)
    by_hand(learner, losses)
    assert learner._plan is not None
    points = learner._plan.views(learner._vector)["points"]
    places = {name: points[lane // 4, :, lane % 4] for name, lane in zip(learner.members, learner.lanes, strict=True)}
    for way in inner:
        compiled, own = places[f"{one.name}, {way.name}"], places[f"{one.name}, own {way.name}"]
        np.testing.assert_allclose(own, compiled, rtol=1e-7)
    assert np.ptp([places[f"{one.name}, {way.name}"] for way in inner], axis=0).max() > 1e-3


class Halfway(movers.Mover):
    name = "halfway"

    def share(self, step: movers.Step) -> float:
        return 0.5


@pytest.mark.parametrize("kind", ["squared", "capacity", "linear"])
def test_with_one_in_python_a_learner_keeps_its_promises(kind: str) -> None:
    def make() -> dw.Learner:
        ways = [Halfway(), movers.SkiRental(), Own(movers.SkiRental(2.0))]
        return dw.SelfTunedLearner(
            dw.Ball(3), switching_cost=0.3, estimators=[Smoothing(), SelfTunedScream()], movers=ways
        )

    check_learner(make, stream(kind, 3, 12))


def test_they_may_be_all_there_is() -> None:
    learner = dw.SelfTunedLearner(
        dw.Box([0.0], [9.0]), switching_cost=0.1, estimators=[Smoothing(1.0)], movers=[Halfway()]
    )
    decisions = by_hand(learner, dw.TrackingLoss(np.full((30, 1), 8.0)))
    assert learner.members == ["stay", "smoothing 1, halfway"]
    assert decisions[-1, 0] == pytest.approx(8.0, abs=0.1)


class Odd(movers.Mover):
    name = "odd"

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def share(self, step: movers.Step) -> float:
        return self.answer  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("answer", "kind", "words"),
    [
        (1.5, ParameterError, "from 0 to 1, got 1.5"),
        (-0.1, ParameterError, "from 0 to 1, got -0.1"),
        (float("nan"), InputError, "finite"),
        (np.ones(3), InputError, "got an array of shape (3,)"),
        (None, InputError, "got None"),
    ],
    ids=["large", "negative", "nan", "array", "None"],
)
def test_a_share_that_is_none_is_refused(answer: Any, kind: type[Exception], words: str) -> None:
    learner = dw.SelfTunedLearner(dw.Ball(3), switching_cost=0.1, estimators=[Smoothing()], movers=[Odd(answer)])
    _, losses = problem("squared", 3)
    learner.act()
    learner.observe(losses[0])
    check_refused(learner.act, "Odd.share: ", words, kind=kind)
