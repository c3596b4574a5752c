"""What is taken over the wire, and what is made of it."""

from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

import driftwise as dw
from driftwise.serve.shapes import Asked, Told

TWO = [3.0, -1.0]


@pytest.mark.parametrize(
    ("given", "loss"),
    [
        ({"kind": "capacity", "demand": [4, 2.5]}, dw.CapacityLoss([[4.0, 2.5]])),
        ({"kind": "capacity", "demand": [4, 2.5], "shortage": 3, "price": [1, 2]},
         dw.CapacityLoss([[4.0, 2.5]], shortage=3.0, price=[1.0, 2.0])),
        ({"kind": "tracking", "target": [4, 2.5]}, dw.TrackingLoss([[4.0, 2.5]])),
        ({"kind": "linear", "vector": [4, 2.5]}, dw.LinearLoss([[4.0, 2.5]])),
        ({"kind": "squared", "features": [1, 2], "target": 3}, dw.SquaredLoss([[1.0, 2.0]], [3.0])),
        ({"kind": "absolute", "features": [1, 2], "target": 3}, dw.AbsoluteLoss([[1.0, 2.0]], [3.0])),
        ({"kind": "logistic", "features": [1, 2], "target": -1}, dw.LogisticLoss([[1.0, 2.0]], [-1.0])),
        ({"kind": "huber", "features": [1, 2], "target": 3, "delta": 0.5}, dw.HuberLoss([[1.0, 2.0]], [3.0], 0.5)),
        ({"kind": "quantile", "features": [1, 2], "target": 3, "quantile": 0.9},
         dw.QuantileLoss([[1.0, 2.0]], [3.0], 0.9)),
    ],
    ids=lambda one: one["kind"] if isinstance(one, dict) else "",
)  # fmt: skip
def test_every_loss_is_that_of_the_library(given: dict[str, Any], loss: dw.LossStream) -> None:
    told = Told.model_validate({"loss": given})
    assert told.loss is not None
    assert type(told.loss.loss()._stream) is type(loss)
    assert told.loss.loss().value(TWO) == loss[0].value(TWO)
    assert np.array_equal(told.loss.loss().gradient(TWO), loss[0].gradient(TWO))


def test_a_level_needs_no_features() -> None:
    told = Told.model_validate({"loss": {"kind": "quantile", "target": 3, "quantile": 0.9}})
    assert told.loss is not None
    assert told.loss.loss().value([1.0]) == pytest.approx(1.8)


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"skip": False},
        {"skip": True, "gradient": 1.0},
        {"gradient": "1.0"},
        {"gradient": True},
        {"gradient": []},
        {"gradient": [[1.0]]},
        {"gradient": [1.0] * 10_001},
        {"gradient": float("nan")},
        {"gradient": [1.0, float("inf")]},
        {"gradient": 1.0, "round": -1},
        {"gradient": 1.0, "round": 1.5},
        {"gradient": 1.0, "rounds": 1},
        {"loss": {"kind": "capacity"}},
        {"loss": {"kind": "capasity", "demand": 1}},
        {"loss": {"kind": "capacity", "demand": 1, "idle": 1}},
        {"loss": {"kind": "capacity", "demand": float("-inf")}},
        {"loss": {"demand": 1}},
    ],
)
def test_nothing_is_guessed_of_feedback(given: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Told.model_validate(given)


@pytest.mark.parametrize(
    "given",
    [
        {"proposal": float("nan")},
        {"proposal": {"": 1.0}},
        {"proposal": {"x" * 65: 1.0}},
        {"proposal": {str(i): 1.0 for i in range(17)}},
        {"switching_cost": -1.0},
        {"switching_cost": {"up": 1.0}},
        {"hint": "1"},
        {"propsal": 1.0},
    ],
)
def test_nothing_is_guessed_of_what_is_asked(given: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Asked.model_validate(given)


def test_prices_are_those_of_the_library() -> None:
    assert Asked(switching_cost=2.0).price() == 2.0
    price = Asked.model_validate({"switching_cost": {"up": [1, 2], "down": 3}}).price()
    assert isinstance(price, dw.MoveCost)
    assert price([1.0, -1.0]) == 4.0


def test_what_is_given_is_written_in_one_way() -> None:
    one = Told.model_validate({"loss": {"demand": 17, "kind": "capacity"}, "round": 3})
    other = Told.model_validate({"loss": {"kind": "capacity", "shortage": 5.0, "demand": 17.0}})
    assert one.given() == other.given()
