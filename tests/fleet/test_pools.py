"""Members that are self-tuned learners are equal to separate ones, for gradients and for losses of every kind."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import driftwise as dw
from driftwise.errors import InputError
from tests.cases import DOMAINS, PRICES, every_pair


def feedback(what: str, rng: np.random.Generator, dim: int) -> Any:
    x, y = rng.normal(size=(3, dim)), rng.normal(size=3)
    forms: dict[str, Callable[[], Any]] = {
        "gradients": lambda: x,
        "scores": lambda: dw.SquaredLoss(x, y),
        "each": lambda: dw.TrackingLoss(x),
        "capacity": lambda: dw.CapacityLoss(np.abs(x), shortage=3.0),
        "linear": lambda: dw.LinearLoss(x),
        "apart": lambda: [dw.SquaredLoss(x, y)[i] for i in range(3)],
    }
    return forms[what]()


@every_pair(what=["gradients", "scores", "each", "capacity", "linear", "apart"], domain=DOMAINS, price=PRICES)
def test_every_kind_of_feedback(what: str, domain: str, price: str) -> None:
    where, rng = DOMAINS[domain], np.random.default_rng(2)
    alone = [dw.SelfTunedLearner(where, switching_cost=PRICES[price](where.dim)) for _ in range(3)]
    fleet = dw.Fleet(alone[0], 3, workers=2)
    for _ in range(12):
        assert fleet.act().tobytes() == np.array([learner.act() for learner in alone]).tobytes()
        given = feedback(what, rng, where.dim)
        fleet.observe(given)
        for i, learner in enumerate(alone):
            learner.observe(given[i])
    assert "3 as pools" in repr(fleet)
    assert [fleet.member(i).to_bytes() for i in range(3)] == [learner.to_bytes() for learner in alone]


def test_another_kind_of_loss_in_between() -> None:
    rng = np.random.default_rng(0)
    alone = [dw.SelfTunedLearner(dw.Ball(2), switching_cost=1.0) for _ in range(3)]
    fleet = dw.Fleet.of(alone)
    for what in ("scores", "scores", "gradients", "each", "scores", "apart"):
        given = feedback(what, rng, 2)
        assert fleet.act().tobytes() == np.array([learner.act() for learner in alone]).tobytes()
        fleet.observe(given)
        for i, learner in enumerate(alone):
            learner.observe(given[i])
    assert [fleet.member(i).to_bytes() for i in range(3)] == [learner.to_bytes() for learner in alone]


def test_wild_losses_are_refused_for_all() -> None:
    fleet = dw.Fleet(dw.SelfTunedLearner(dw.Box([0.0], [1e90]), switching_cost=1.0, start=[1e90]), 2)
    fleet.act()
    before = [fleet.member(i).to_bytes() for i in range(2)]
    with pytest.raises(InputError, match="members 1 "):
        fleet.observe(dw.SquaredLoss([[1.0], [1e99]], [0.0, 0.0]))
    assert [fleet.member(i).to_bytes() for i in range(2)] == before
