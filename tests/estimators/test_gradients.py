"""Self-tuned Scream as an estimator: compiled, in NumPy, and as the learner that it is."""

import numpy as np
import pytest

import driftwise as dw
from driftwise.estimators import EACH, GRADIENT, SCORE, Kind, Seen, SelfTunedScream
from tests.cases import every_pair
from tests.estimators.agreement import DIMS, LEVELS, SCORES, check_agrees, problem

PRICES: dict[str, float | dw.MoveCost] = {
    "number": 0.3,
    "free": 0.0,
    "up and down": dw.MoveCost(up=0.5, down=0.1),
    "l2": dw.MoveCost(up=0.1, down=0.4, norm="l2"),
}


@every_pair(kind=(*SCORES, *LEVELS, "linear"), dim=DIMS, price=PRICES)
def test_compiled_scream_is_the_one_stated(kind: str, dim: int, price: str) -> None:
    check_agrees(SelfTunedScream(), *problem(kind, dim), price=PRICES[price])


def test_they_agree_on_a_simplex() -> None:
    check_agrees(SelfTunedScream(), dw.Simplex(4), problem("squared", 4)[1])


@pytest.mark.parametrize("price", PRICES)
def test_it_is_the_learner_of_that_name(price: str) -> None:
    domain, levels = dw.Box([0.0, 0.0], [9.0, 9.0]), 4.0 + np.sin(np.arange(80.0)).reshape(40, 2)
    learner, one = dw.SelfTunedScream(domain, switching_cost=PRICES[price]), SelfTunedScream()
    one.begin(np.zeros(2), domain)
    for t, level in enumerate(levels):
        np.testing.assert_allclose(one.propose(), learner.act(), rtol=0.0, atol=1e-9)
        seen = Seen.of_levels(t, level)
        one.learn(_priced(seen, learner.switching_cost))
        learner.observe(learner.act() - level)


def _priced(seen: Seen, price: float | dw.MoveCost) -> Seen:
    cost = price if isinstance(price, dw.MoveCost) else dw.MoveCost(price, norm="l2")
    return Seen(**{**vars(seen), "price": cost})


def test_it_is_for_everything_and_follows_where_only_gradients_are_known() -> None:
    one = SelfTunedScream()
    assert all(one.suits(Kind(form, 5)) for form in (SCORE, EACH, GRADIENT))
    ways = one.ways(Kind(GRADIENT, 5))
    assert ways is not None
    assert [way.name for way in ways] == ["follow"]
    assert one.ways(Kind(SCORE, 5)) is None
