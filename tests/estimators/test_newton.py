"""Second-order steps from gradients: compiled and in NumPy, and where they lead."""

import numpy as np
import pytest

import driftwise as dw
from driftwise.estimators import EACH, GRADIENT, SCORE, Kind, Newton
from tests.cases import every_pair
from tests.estimators.agreement import DIMS, check_agrees, problem


@every_pair(drift=[1e-1, 1e-3, 0.0], reach=[0.5, 1 / 128], dim=DIMS)
def test_compiled_steps_are_the_ones_stated(drift: float, reach: float, dim: int) -> None:
    check_agrees(Newton(drift, reach), *problem("linear", dim))


@pytest.mark.parametrize("domain", [dw.Simplex(4), dw.Product(dw.Ball(2), dw.Simplex(2))], ids=repr)
def test_they_agree_on_other_domains(domain: dw.Domain) -> None:
    check_agrees(Newton(), domain, problem("linear", 4)[1])


def test_they_agree_where_some_gradients_are_nothing() -> None:
    _, losses = problem("linear", 3)
    gradients = losses.data.features.copy()
    gradients[[0, 1, 7, 50]] = 0.0
    check_agrees(Newton(), dw.Ball(3), dw.LinearLoss(gradients))


def test_two_steps_by_hand() -> None:
    """In one dimension, with no drift: P = 10, then 10 / 11; the longest gradient reaches half a diameter, 1."""
    learner = dw.SelfTunedLearner(dw.Box([-1.0], [1.0]), switching_cost=0.0, estimators=[Newton(0.0, 0.5)])
    learner.act()
    learner.observe(np.array([-2.0]))
    assert learner._plan is not None
    assert learner._plan.views(learner._vector)["proposals"][0, 0] == pytest.approx(10.0 / 11.0)


def test_they_are_for_gradients_and_have_fewer_movers() -> None:
    assert Newton().suits(Kind(GRADIENT, 1000))
    assert not Newton().suits(Kind(SCORE, 3))
    assert not Newton().suits(Kind(EACH, 3))
    assert [way.name for way in Newton().ways(Kind(GRADIENT, 3))] == ["follow", "prox 256", "prox 32"]
