"""Names have places; when they run out there are twice as many, and nothing is lost."""

import pickle
from typing import Any

import numpy as np
import pytest

import driftwise as dw
from driftwise._validate import Array
from driftwise.adapters._features import ONLY, RECENT, Named
from driftwise.adapters._linear import Settings
from driftwise.errors import HorizonError, InputError


def named() -> Named:
    return Named(Settings("Test", "squared", intercept=True), labelled=False)


def test_places_do_not_hang_on_the_order_of_names() -> None:
    one, other = named(), named()
    one.learn({"b": 1.0, "a": 2.0, 3: 1.0}, 1.0, {ONLY: None})
    other.learn({3: 1.0, "a": 2.0, "b": 1.0}, 1.0, {ONLY: None})
    assert one.places == other.places == {3: 1, "a": 2, "b": 3}
    assert one.coefficients(ONLY) == other.coefficients(ONLY)


def test_there_are_seldom_too_few_places() -> None:
    """Widths are doubled, so that a learner is taught anew a few times and not for every name."""
    some, widths = named(), []
    some.learn({}, 1.0, {ONLY: None})
    for k in range(100):
        some.learn({k: 1.0}, 1.0)
        widths.append(some.dim)
        assert some.models[ONLY].weights.shape == (some.dim,)
    assert sorted(set(widths)) == [2, 4, 8, 16, 32, 64, 128]


def test_a_wider_learner_says_nearly_the_same_as_the_one_before() -> None:
    rng, some = np.random.default_rng(0), named()
    for t in range(2 * RECENT):
        a, b = rng.normal(size=2)
        some.learn({"a": a, "b": b}, 3.0 * a - b + 1.0, {} if t else {ONLY: None})
    before, dim = some.scores({"a": 1.0, "b": 1.0})[0], some.dim
    some.learn({"a": 0.0, "b": 0.0, "new": 0.0, "newer": 0.0}, 1.0)
    assert some.dim > dim
    assert before == pytest.approx(3.0, abs=1e-3)
    assert some.scores({"a": 1.0, "b": 1.0})[0] == pytest.approx(before, abs=1e-3)
    assert some.coefficients(ONLY)["new"] == pytest.approx(0.0, abs=1e-3)


@pytest.mark.parametrize("price", [0.0, 0.5])
def test_a_model_that_joins_was_taught_the_last_rounds_and_has_not_moved(price: float) -> None:
    rng = np.random.default_rng(1)
    some = Named(Settings("Test", "squared", price), labelled=True)
    some.learn({"x": 0.0}, "left", {"left": None})
    for _ in range(60):
        x = rng.normal()
        some.learn({"x": x}, "left" if x < 0.0 else "right")
    some.learn({"x": 0.1}, "up", {"up": None})
    left, up = some.models["left"], some.models["up"]
    assert left.moved > 0.0
    assert left.paid == pytest.approx(price * left.moved)
    assert up.learner.round == 62  # with the round in which it joined
    assert up.moved < left.moved


def test_a_refused_round_leaves_no_name_behind() -> None:
    some = named()
    some.learn({"a": 1.0}, 1.0, {ONLY: None})
    with pytest.raises(InputError, match="Test: feature 'c' must be a finite number"):
        some.learn({"b": 1.0, "c": "text", "d": 1.0}, 1.0)
    assert some.places == {"a": 1}
    assert some.dim == 2
    assert len(some._recent) == 1


class Picky(dw.Learner):
    """Steps against gradients, and refuses large ones."""

    def __init__(self, domain: dw.Domain) -> None:
        super().__init__(domain)
        self.point = np.zeros(domain.dim)

    def _decide(self) -> Array:
        return self.point.copy()

    def _learn(self, gradient: Array) -> None:
        if np.abs(gradient).max() > 10.0:
            raise InputError("Picky: too much.")
        self.point = self.point - 0.1 * gradient


def ending(domain: dw.Domain) -> dw.Learner:
    return dw.Scream(domain, horizon=21, switching_cost=1.0, gradient_bound=10.0)


def three(learner: Any) -> Named:
    some = Named(Settings("Test", dw.LogisticLoss, radius=10.0, learner=learner), labelled=True)
    some.learn({"x": 1.0}, "a", {"a": None, "b": None, "c": None})
    return some


@pytest.mark.parametrize("new", [{}, {"new": 1.0}])
def test_a_round_that_a_later_model_refuses_changes_nothing(new: dict[Any, float]) -> None:
    some = three(Picky)
    before = pickle.dumps(some)
    with pytest.raises(InputError, match="Picky"):
        some.learn({"x": -1e3, **new}, "c")  # which the model of "a" had expected, and that of "b" had not
    assert pickle.dumps(some) == before
    some.learn({"x": 1.0}, "b")
    assert [model.learner.round for model in some.models.values()] == [2, 2, 2]


def test_a_round_beyond_the_horizon_changes_no_model() -> None:
    some = three(ending)
    for _ in range(19):
        some.learn({"x": 1.0}, "b")
    before = pickle.dumps(some)
    with pytest.raises(HorizonError, match=r"Test: .* 1 more and"):
        some.learn({"x": 1.0}, "c")
    assert pickle.dumps(some) == before


def test_models_look_at_a_round_before_the_first_learns() -> None:
    some = three(ending)
    for _ in range(19):
        some.models["b"].learn(np.ones(some.dim), 1.0)
    before = pickle.dumps(some)
    with pytest.raises(HorizonError, match=r"Test: .* 1 more and"):
        some.learn({"x": 1.0}, "c")
    assert pickle.dumps(some) == before


def test_models_of_learners_that_are_known_learn_without_copies() -> None:
    for make in (None, ending):
        some = three(make)
        models = list(some.models.values())
        some.learn({"x": 2.0}, "b")
        assert all(one is other for one, other in zip(models, some.models.values(), strict=True))
