"""Wherever there is one coordinate, a number will do for a vector of it."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import driftwise as dw
from driftwise import control
from driftwise.errors import InputError
from tests.cases import check_refused

BOX = dw.Box(0, 40)

LEARNERS: dict[str, Callable[[], dw.Learner]] = {
    "OGD": lambda: dw.OGD(BOX, step=1.0, start=20),
    "Ader": lambda: dw.Ader(BOX, gradient_bound=4.0, start=20),
    "Scream": lambda: dw.Scream(BOX, switching_cost=1.0, gradient_bound=4.0, horizon=50, start=20.0),
    "StronglyAdaptive": lambda: dw.StronglyAdaptive(BOX, switching_cost=1.0, gradient_bound=4.0, start=20.0),
    "SelfTunedScream": lambda: dw.SelfTunedScream(BOX, switching_cost=1.0, start=20.0),
    "SelfTunedLearner": lambda: dw.SelfTunedLearner(BOX, switching_cost=1.0, start=20.0),
    "rounded": lambda: dw.rounded(dw.SelfTunedLearner(BOX, switching_cost=1.0, start=20.0)),
}
NUMBERS: list[Any] = [2.0, -1, np.float32(0.5), np.int64(3), np.array(1.5), [2.0], np.array([2.0])]


@pytest.mark.parametrize("name", LEARNERS)
def test_a_gradient_may_be_a_number(name: str) -> None:
    one, other = LEARNERS[name](), LEARNERS[name]()
    assert one.act().tolist() == [20.0]
    for number in NUMBERS * 3:
        assert one.act().tobytes() == other.act().tobytes()
        one.observe(number)
        other.observe(np.asarray(number, float).reshape(1))
    assert one.act().tolist() != [20.0]


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("wrong", [True, "3", float("nan"), float("inf"), [[1.0]], [1.0, 2.0], 1j, {}])
def test_what_is_no_number_is_refused_and_changes_nothing(name: str, wrong: Any) -> None:
    learner = LEARNERS[name]()
    learner.act()
    before = learner.to_bytes()
    check_refused(lambda: learner.observe(wrong), "shape (1,)", kind=InputError)
    assert learner.to_bytes() == before


@pytest.mark.parametrize("name", ["OGD", "Scream", "SelfTunedScream", "SelfTunedLearner", "rounded"])
def test_a_hint_may_be_a_number(name: str) -> None:
    one, other = LEARNERS[name](), LEARNERS[name]()
    for t in range(12):
        number = NUMBERS[t % len(NUMBERS)]
        assert one.act(number).tobytes() == other.act(np.asarray(number, float).reshape(1)).tobytes()
        one.observe(1.0)
        other.observe([1.0])


@pytest.mark.parametrize("number", [3, 3.0, np.float32(3.0), np.int64(3), np.array(3.0), [3.0], {"mine": 3.0}])
def test_a_proposal_may_be_a_number(number: Any) -> None:
    learner = dw.SelfTunedLearner(BOX, switching_cost=1.0)
    assert learner.act(proposal=number).tolist() == [3.0]


def test_losses_take_numbers_for_targets_features_and_decisions() -> None:
    losses = dw.TrackingLoss([1, 2, 3])
    assert (len(losses), losses.dim) == (3, 1)
    assert losses.value(0, 3.0) == losses.unary_value(0, [3.0]) == losses[0].value(3) == 2.0
    assert losses.gradient(0, 3.0).tolist() == losses[0].gradient(3.0).tolist() == [2.0]
    assert losses.policy_losses([1.0, 2.0, 5.0]).tolist() == [0.0, 0.0, 2.0]
    assert losses.unary_losses([1.0, 2.0, 5.0]).tolist() == losses.unary_losses([[1.0], [2.0], [5.0]]).tolist()
    assert losses.unary_losses(1.0).tolist() == [0.0, 0.5, 2.0]
    assert losses.unary_gradients(1.0).tolist() == [[0.0], [-1.0], [-2.0]]
    check_refused(lambda: losses.policy_losses([1.0, 2.0]), "shape (3, 1)")
    check_refused(lambda: dw.TrackingLoss([[1.0, 2.0]]).unary_losses([1.0, 2.0]), "shape (rounds, 2)")
    assert dw.SquaredLoss([1.0, 2.0], [1.0, 1.0]).unary_value(1, 2.0) == 4.5
    custom = dw.CustomLoss(lambda t, w: (w[0] - t) ** 2, lambda t, w: 2 * (w[0] - t), rounds=3, dim=1)
    assert custom.gradient(1, 3.0).tolist() == [4.0]


def test_domains_take_numbers() -> None:
    assert BOX.dim == 1
    assert repr(BOX) == "Box(low=[0.], high=[40.])"
    assert BOX.project(50).tolist() == [40.0]
    assert BOX.contains(3.0)
    assert not BOX.contains(41)
    assert (float(BOX.support(1.0)), float(BOX.farthest(3))) == (40.0, 37.0)
    assert dw.Ball(1, radius=3.0, center=2.0).project(9.0).tolist() == [5.0]


def test_comparators_and_prices_take_numbers() -> None:
    losses = dw.TrackingLoss([1, 2, 3])
    trace = dw.play(dw.OGD(BOX, step=1.0), losses, dw.MoveCost(up=3, down=1))
    assert dw.regret.dynamic_regret(trace, losses, [1, 2, 3]) == dw.regret.dynamic_regret(
        trace, losses, [[1], [2], [3]]
    )
    assert dw.regret.dynamic_regret(trace, losses, 2.0) == dw.regret.dynamic_regret(trace, losses, [2.0])


def test_plants_controllers_and_costs_take_numbers() -> None:
    plant, cost = control.LinearSystem(0.5, 1.0), control.QuadraticCost(1.0, 1.0)
    controller = control.LinearController(plant, K=0.5)
    assert controller.act(3.0).tolist() == [-1.5]
    controller.observe(cost, applied=-1.0)
    known = control.QuadraticCost([[1.0]], [[1.0]])  # one for all plants does not know how many states there are
    assert known.value(1.0, 2) == 5.0
    assert [part.tolist() for part in known.gradient(1, 2.0)] == [[2.0], [4.0]]
    assert control.simulate(plant, control.LinearController(plant, K=0.5), cost, [1.0, 0.0], start=1.0).total > 0.0
