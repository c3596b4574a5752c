"""River's own checks pass on all of them; features and labels come and go; what is refused changes nothing."""

import copy
import importlib
import itertools
import math
import pickle
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

pytest.importorskip("river")

from river import (
    checks,
    datasets,
    drift,
    ensemble,
    evaluate,
    linear_model,
    metrics,
    model_selection,
    multiclass,
    preprocessing,
    tree,
)

import driftwise as dw
from driftwise.adapters.river import DriftClassifier, DriftCombiner, DriftRegressor
from driftwise.errors import InputError, MissingExtraError, ParameterError

Rounds = list[tuple[dict[Any, Any], Any]]


def descent(domain: dw.Domain) -> dw.Learner:
    return dw.OGD(domain, step=0.05)


def scream(domain: dw.Domain) -> dw.Learner:
    return dw.SelfTunedScream(domain, switching_cost=0.5)


def pair() -> list[Any]:
    scaled = preprocessing.StandardScaler() | linear_model.LinearRegression(intercept_lr=0.1)
    return [scaled, preprocessing.StandardScaler() | DriftRegressor()]


REGRESSORS: dict[str, Callable[[], Any]] = {
    "as it comes": DriftRegressor,
    "with a price": lambda: DriftRegressor(switching_cost=2.0),
    "absolute, without intercept": lambda: DriftRegressor("absolute", intercept=False),
    "huber": lambda: DriftRegressor("huber"),
    "with l2": lambda: DriftRegressor(l2=0.1, radius=100.0),
    "gradient descent": lambda: DriftRegressor(learner=descent, radius=100.0),
    "self-tuned Scream, with l2": lambda: DriftRegressor(learner=scream, radius=100.0, l2=0.1),
    "scaled": lambda: preprocessing.StandardScaler() | DriftRegressor(switching_cost=2.0),
    "combiner": lambda: DriftCombiner(pair()),
    "combiner with a price": lambda: DriftCombiner(pair(), "absolute", switching_cost=1.0),
}
CLASSIFIERS: dict[str, Callable[[], Any]] = {
    "as it comes": DriftClassifier,
    "scaled, with a price": lambda: preprocessing.StandardScaler() | DriftClassifier(switching_cost=0.5),
    "gradient descent, with l2": lambda: DriftClassifier(l2=0.01, radius=10.0, intercept=False, learner=descent),
}


def passed(model: Any) -> list[str]:
    """Run every check that river has for a model, each on a clone; return their names."""
    assert model._unit_test_skips() == set()
    names = []
    for check in checks.yield_checks(model):
        check(model.clone())
        names.append(check.__name__)
    return names


ON_STREAMS = {
    "check_learn_one",
    "check_pickling",
    "check_shuffle_features_no_impact",
    "check_emerging_features",
    "check_disappearing_features",
    "check_radically_disappearing_features",
    "check_predict_one_pure",
    "check_predict_one_before_any_learn",
    "check_no_state_aliasing_with_input",
    "check_clone_is_independent",
    "check_bounded_memory_growth",
}
"""Checks that need a stream: without one they would be left out, and all else would be green."""


@pytest.mark.parametrize("name", REGRESSORS)
def test_a_regressor_passes_all_checks_of_river(name: str) -> None:
    names = passed(REGRESSORS[name]())
    assert len(names) >= 26
    assert set(names) >= ON_STREAMS


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_a_classifier_passes_all_checks_of_river_on_two_labels_and_on_many(name: str) -> None:
    names = passed(CLASSIFIERS[name]())
    assert len(names) >= 54
    assert set(names) >= ON_STREAMS | {"check_predict_proba_one", "check_classifier_tracks_seen_labels"}
    assert names.count("check_learn_one") == 3  # two streams of two labels, one of seven


def scaled(stream: Any) -> Rounds:
    """Return a stream with its features standardised, as they come."""
    scaler: Any = preprocessing.StandardScaler()
    rows: Rounds = []
    for x, y in stream:
        scaler.learn_one(x)
        rows.append((scaler.transform_one(x), y))
    return rows


def approval(rounds: int) -> Rounds:
    return scaled(datasets.TrumpApproval().take(rounds))  # type: ignore[no-untyped-call]


def sparse(rounds: int) -> Rounds:
    """Return rounds whose target is a sum over those of forty names that are in them."""
    rng = np.random.default_rng(3)
    worth = rng.normal(size=40)
    rows: Rounds = []
    for _ in range(rounds):
        names = rng.choice(40, size=int(rng.integers(1, 6)), replace=False)
        rows.append(({f"word {k}": 1 for k in names}, float(worth[names].sum())))
    return rows


WRAPPED: dict[str, Callable[[], Any]] = {
    "scaled target": lambda: preprocessing.TargetStandardScaler(DriftRegressor()),
    "bag": lambda: ensemble.BaggingRegressor(DriftRegressor(), n_models=2, seed=0),
    "selection": lambda: model_selection.GreedyRegressor([DriftRegressor(), DriftRegressor("huber")]),
    "stack of ours": lambda: DriftCombiner([DriftRegressor(), DriftCombiner(pair())]),
    "tree with ours in its leaves": lambda: tree.HoeffdingTreeRegressor(leaf_model=DriftRegressor(), grace_period=50),
}


def score(model: Any, stream: Any, metric: Any) -> float:
    return float(evaluate.progressive_val_score(stream.take(300), model, metric()).get())


@pytest.mark.parametrize("name", WRAPPED)
def test_it_is_at_home_in_what_river_wraps_around_models(name: str) -> None:
    model: Any = preprocessing.StandardScaler() | WRAPPED[name]()
    assert score(model, datasets.TrumpApproval(), metrics.MAE) < 1.5  # type: ignore[no-untyped-call]


def test_labels_are_learnt_in_what_river_wraps_around_classifiers() -> None:
    scaled_one: Any = preprocessing.StandardScaler() | DriftClassifier()
    retrained = drift.DriftRetrainingClassifier(scaled_one)
    one_by_one = preprocessing.StandardScaler() | multiclass.OneVsRestClassifier(DriftClassifier())
    for model in (retrained, one_by_one):
        assert score(model, datasets.ImageSegments(), metrics.Accuracy) > 0.7  # type: ignore[no-untyped-call]


def test_features_that_come_and_go_are_learnt() -> None:
    model, errors = DriftRegressor(), []
    for x, y in sparse(1500):
        errors.append(abs(y - model.predict_one(x)))
        model.learn_one(x, y)
    assert len(model.weights) == 40
    assert np.mean(errors[:100]) > 0.5
    assert np.mean(errors[-500:]) < 0.01
    assert model.predict_one({}) == pytest.approx(model.intercept_)
    assert model.predict_one({"never seen": 1e6, "word 0": 1.0}) == model.predict_one({"word 0": 1.0})


def test_an_absent_feature_is_a_zero() -> None:
    rows = sparse(200)
    names = sorted({name for x, _ in rows for name in x})
    left_out, zero = DriftRegressor(), DriftRegressor()
    first = dict.fromkeys(names, 0.0)  # gives both the same places
    for model in (left_out, zero):
        model.learn_one(first, 0.0)
    for x, y in rows:
        left_out.learn_one(x, y)
        zero.learn_one({**first, **x}, y)
    assert left_out.weights == zero.weights


def test_it_is_the_learner_fed_by_hand() -> None:
    rows = approval(150)
    model = DriftRegressor(switching_cost=0.5, radius=200.0, learner=lambda domain: dw.OGD(domain, step=0.1))
    learner = dw.OGD(dw.Ball(7, 200.0), step=0.1)
    names, moved = sorted(rows[0][0], key=repr), 0.0
    w = learner.act()
    for x, y in rows:
        features = np.array([1.0, *(x[name] for name in names)])
        assert model.predict_one(x) == pytest.approx(float(features @ w))
        model.learn_one(x, y)
        learner.observe(dw.SquaredLoss(features[None], [y])[0])
        moved += float(np.linalg.norm(learner.act() - w))
        w = learner.act()
    assert moved > 10.0
    assert model.moved == pytest.approx(moved)
    assert model.moving_cost == pytest.approx(0.5 * moved)
    assert [model.intercept_, *(model.weights[name] for name in names)] == pytest.approx(w.tolist())


def test_more_names_than_places_count_the_move_that_was_made() -> None:
    """A wider learner takes over: no weight is lost, and its way there is a move like any other."""
    model = DriftRegressor(switching_cost=3.0)
    before: dict[Any, float] = {}
    path = 0.0
    for x, y in sparse(300):
        model.learn_one(x, y)
        now = {"": model.intercept_, **model.weights}
        path += math.dist([before.get(name, 0.0) for name in now], list(now.values()))
        before = now
    assert len(before) == 41
    assert model.moved == pytest.approx(path)
    assert model.moving_cost == pytest.approx(3.0 * path)


def test_a_price_holds_coefficients_back() -> None:
    rows = approval(300)
    free, dear = DriftRegressor(), DriftRegressor(switching_cost=20.0)
    for x, y in rows:
        free.learn_one(x, y)
        dear.learn_one(x, y)
    assert free.moving_cost == 0.0
    assert dear.moved < 0.85 * free.moved
    assert dear.moving_cost == pytest.approx(20.0 * dear.moved)


@pytest.mark.parametrize("include_attributes", [False, True])
def test_a_price_can_be_changed_on_the_way_and_in_a_clone(include_attributes: bool) -> None:
    rows = approval(200)
    model = DriftRegressor(switching_cost=1.0)
    for x, y in rows[:100]:
        model.learn_one(x, y)
    moved, paid = model.moved, model.moving_cost
    other = model.clone({"switching_cost": 50.0}, include_attributes)
    assert (other.moved == moved) == include_attributes
    assert other.switching_cost == 50.0
    untouched = pickle.dumps(model)
    other.mutate({"switching_cost": 5.0})
    for x, y in rows[100:]:
        other.learn_one(x, y)
    start = (moved, paid) if include_attributes else (0.0, 0.0)
    assert other.switching_cost == 5.0
    assert other.moving_cost - start[1] == pytest.approx(5.0 * (other.moved - start[0]))
    assert other.moved > start[0]
    assert pickle.dumps(model) == untouched
    assert model.clone().switching_cost == 1.0


def test_what_was_learnt_is_not_kept_with_another_loss() -> None:
    model = DriftRegressor()
    model.learn_one({"a": 1.0}, 1.0)
    with pytest.raises(ParameterError, match="cannot be kept with another loss"):
        model.clone({"loss": "huber"}, include_attributes=True)
    with pytest.raises(ValueError, match="not a mutable attribute"):
        model.mutate({"radius": 1.0})
    with pytest.raises(ParameterError, match="switching_cost must be"):
        model.mutate({"switching_cost": -1.0})
    assert model.switching_cost == 0.0
    combiner = DriftCombiner(pair())
    combiner.learn_one({"a": 1.0}, 1.0)
    kept = combiner.clone(include_attributes=True)
    assert pickle.dumps(kept.weights) == pickle.dumps(combiner.weights)
    assert kept.predict_one({"a": 2.0}) == combiner.predict_one({"a": 2.0})


MODELS: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
    "DriftRegressor": (lambda: DriftRegressor(switching_cost=1.0), datasets.TrumpApproval),
    "DriftClassifier": (lambda: DriftClassifier(switching_cost=0.1), datasets.ImageSegments),
    "DriftCombiner": (lambda: DriftCombiner(pair(), switching_cost=1.0), datasets.TrumpApproval),
}


COPIES: dict[str, Callable[[Any], Any]] = {
    "copy": copy.deepcopy,
    "pickle": lambda model: pickle.loads(pickle.dumps(model)),
    "clone": lambda model: model.clone(include_attributes=True),
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("how", COPIES.values(), ids=COPIES)
def test_a_copy_goes_on_as_the_original_does(name: str, how: Callable[[Any], Any]) -> None:
    make, stream = MODELS[name]
    rows, model = scaled(stream().take(160)), make()
    for x, y in rows[:80]:
        model.learn_one(x, y)
    other = how(model)
    for x, y in rows[80:]:
        assert other.predict_one(x) == model.predict_one(x)
        model.learn_one(x, y)
        other.learn_one(x, y)
    assert other.moved == model.moved > 0.0
    assert other.moving_cost == model.moving_cost


BAD_FEATURES: tuple[Any, ...] = (
    math.nan,
    math.inf,
    -math.inf,
    1e31,
    10**400,
    "text",
    None,
    1j,
    [1.0, 2.0],
    np.ones(2),
    {},
)


@pytest.mark.parametrize("name", ["DriftRegressor", "DriftClassifier"])
def test_refused_features_change_nothing(name: str) -> None:
    make, stream = MODELS[name]
    rows, model = scaled(stream().take(60)), make()
    for x, y in rows:
        model.learn_one(x, y)
    before, (x, y) = pickle.dumps(model), rows[-1]
    strange: tuple[Any, ...] = (None, [1.0], np.ones(3), "x")
    for bad in BAD_FEATURES:
        for given in ({**x, next(iter(x)): bad}, {**x, "new": bad}, {"newest": 1.0, **x, "new": bad}):
            with pytest.raises(InputError, match="must be a finite number of at most 1e\\+30"):
                model.learn_one(given, y)
            with pytest.raises(InputError, match="must be a finite number"):
                model.predict_one(given)
    for given in strange:
        with pytest.raises(InputError, match="x must be a dict"):
            model.learn_one(given, y)
        with pytest.raises(InputError, match="x must be a dict"):
            model.predict_one(given)
    assert pickle.dumps(model) == before


@pytest.mark.parametrize("name", ["DriftRegressor", "DriftCombiner"])
def test_refused_targets_change_nothing(name: str) -> None:
    make, stream = MODELS[name]
    rows, model = scaled(stream().take(60)), make()
    for x, y in rows:
        model.learn_one(x, y)
    before = pickle.dumps(model)
    for bad in BAD_FEATURES:
        with pytest.raises(InputError, match="y must be a finite number"):
            model.learn_one(rows[0][0], bad)
    assert pickle.dumps(model) == before


@pytest.mark.parametrize("bad", [0.0, 3.0])
def test_a_loss_says_which_targets_it_takes(bad: float) -> None:
    mixture = DriftCombiner(pair(), loss=dw.LogisticLoss)
    for model in (DriftRegressor(loss=dw.LogisticLoss), mixture):
        for t in range(20):
            model.learn_one({"a": float(t % 2)}, 1.0 if t % 2 else -1.0)
        before = pickle.dumps(model)
        with pytest.raises(InputError, match=f"targets must be -1 or \\+1, got {bad:g}"):
            model.learn_one({"a": 1.0}, bad)
        assert pickle.dumps(model) == before


def test_where_a_model_of_a_mixture_refuses_its_weights_do_not_learn() -> None:
    mixture = DriftCombiner([DriftRegressor(), DriftRegressor(loss=dw.LogisticLoss)])
    mixture.learn_one({"a": 1.0}, 1.0)
    mixture.learn_one({"a": 1.0}, -1.0)
    weights, scorer = mixture.weights.tolist(), pickle.dumps(mixture._scorer)
    with pytest.raises(InputError, match="targets must be"):
        mixture.learn_one({"a": 1.0}, 5.0)
    assert (mixture._low, mixture._high) == (-1.0, 1.0)
    assert mixture.weights.tolist() == weights
    assert pickle.dumps(mixture._scorer) == scorer


def test_refused_labels_change_nothing() -> None:
    model = DriftClassifier()
    for y in ("a", "b", "c"):
        model.learn_one({"one": 1.0}, y)
    before = pickle.dumps(model)
    strange: tuple[Any, ...] = (None, math.nan, np.ones(2), [1], {})
    for bad in strange:
        with pytest.raises(InputError, match="y must be a label"):
            model.learn_one({"one": 1.0}, bad)
    assert pickle.dumps(model) == before


def test_the_largest_numbers_that_are_taken_break_nothing() -> None:
    """Were one label's model refused after another's has learnt, labels would not have seen the same rounds."""
    model, rng = DriftClassifier(), np.random.default_rng(0)
    for t in range(60):
        size = 1e30 if t % 7 == 3 else 1.0
        model.learn_one({"a": size * rng.normal() / 5.0, "b": rng.normal()}, "xyz"[t % 3])
    assert {one.learner.round for one in model._named.models.values()} == {60}
    assert all(math.isfinite(p) for p in model.predict_proba_one({"a": 1e30, "b": -1.0}).values())
    regressor = DriftRegressor()
    for t in range(60):
        regressor.learn_one({"a": 1e30 if t % 7 == 3 else 1.0}, -1e30 if t % 5 == 3 else 1.0)
    assert math.isfinite(regressor.predict_one({"a": 1e30}))


def test_flags_and_whole_numbers_are_features() -> None:
    flags, floats = DriftRegressor(), DriftRegressor()
    for a, b in itertools.product((False, True), (0, 3)):
        flags.learn_one({"a": np.bool_(a), "b": np.int64(b), "c": a}, float(np.float32(b)))
        floats.learn_one({"a": float(a), "b": float(b), "c": float(a)}, float(b))
    assert flags.weights == floats.weights


def test_labels_join_at_any_time() -> None:
    model: Any = DriftClassifier()
    rng, right = np.random.default_rng(5), []
    assert model.predict_one({"x": 1.0}) is None
    for t in range(900):
        x = {"x": rng.normal(), "y": rng.normal()}
        angle = math.atan2(x["y"], x["x"])
        label = ["east", "north", "west"][0 if abs(angle) < 1.0 or t < 5 else 1 if angle > 0.0 or t < 300 else 2]
        right.append(model.predict_one(x) == label)
        model.learn_one(x, label)
        share = model.predict_proba_one(x)
        assert sum(share.values()) == pytest.approx(1.0)
        assert len(model.weights) == {1: 1, 2: 1, 3: 3}[len(model.labels)]
    assert model.labels == ["east", "north", "west"]
    assert np.mean(right[50:300]) > 0.85
    assert np.mean(right[-300:]) > 0.85


def test_a_new_label_begins_as_its_opposite_and_is_not_lost() -> None:
    """With a third label, the second gets a model of its own; beside the first it is as likely as before."""
    rng, model = np.random.default_rng(2), DriftClassifier()
    for _ in range(200):
        x = {"x": rng.normal()}
        model.learn_one(x, "plus" if x["x"] + 0.3 * rng.normal() > 0.0 else "minus")
    for t in range(150):  # so that nothing of what was learnt is among the last rounds, which are taught again
        model.learn_one({"y": 1.0}, "minus" if t % 2 else "plus")
    for z in (-2.0, 2.0):
        before = model.predict_proba_one({"x": z})
        wiser = model.clone(include_attributes=True)
        wiser.learn_one({"x": 0.0, "z": 1.0}, "other")
        after = wiser.predict_proba_one({"x": z})
        assert max(before.values()) > 0.99
        assert after["plus"] / (after["plus"] + after["minus"]) == pytest.approx(before["plus"], abs=0.001)


def test_a_mixture_follows_who_is_right() -> None:
    class Always(DriftRegressor):
        """Says the same for ever."""

        def __init__(self, what: float = 0.0) -> None:
            super().__init__()
            self.what = what

        def predict_one(self, x: dict[Any, Any]) -> float:
            return self.what

    mixture = DriftCombiner([Always(1.0), Always(5.0)])
    for t in range(200):
        mixture.learn_one({}, 1.0 if t < 100 else 4.0)
        if t == 99:
            assert mixture.predict_one({}) == pytest.approx(1.0, abs=0.05)
    assert mixture.predict_one({}) == pytest.approx(4.0, abs=0.05)
    assert mixture.weights == pytest.approx([0.25, 0.75], abs=0.02)


def test_a_mixture_survives_models_that_break() -> None:
    class Broken(DriftRegressor):
        """Predicts what is no number, or far too much."""

        rounds = 0

        def learn_one(self, x: dict[Any, Any], y: float) -> None:
            self.rounds += 1

        def predict_one(self, x: dict[Any, Any]) -> float:
            return [math.nan, math.inf, 1e200, -1e9, math.nan][self.rounds % 5]

    rows = approval(200)
    mixture, good, errors = DriftCombiner([Broken(), DriftRegressor()]), DriftRegressor(), []
    for x, y in rows:
        predicted = mixture.predict_one(x)
        assert math.isfinite(predicted)
        errors.append((abs(predicted - y), abs(good.predict_one(x) - y)))
        mixture.learn_one(x, y)
        good.learn_one(x, y)
    ours, alone = np.mean(errors[50:], axis=0)
    assert ours < 1.5 * alone


def test_a_mixture_is_of_two_or_more() -> None:
    for models in ([], [DriftRegressor()]):
        with pytest.raises(ParameterError, match="two river regressors or more"):
            DriftCombiner(models)


def test_its_models_learn_once_a_round_as_they_would_alone() -> None:
    rows = approval(60)
    mixture: Any = DriftCombiner([DriftRegressor(), tree.HoeffdingTreeRegressor()])
    alone = DriftRegressor()
    for x, y in rows:
        mixture.learn_one(x, y)
        alone.learn_one(x, y)
    assert mixture[0].weights == alone.weights
    assert mixture.clone()[0].weights == {}


def test_a_missing_package_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in [one for one in sys.modules if one.partition(".")[0] == "river"]:
        monkeypatch.setitem(sys.modules, module, None)
    for module in [one for one in sys.modules if one.startswith("driftwise.adapters.river")]:
        monkeypatch.delitem(sys.modules, module)
    with pytest.raises(MissingExtraError, match=r"needs river, .*driftwise\[river\]"):
        importlib.import_module("driftwise.adapters.river")


TWICE = linear_model.LinearRegression()


@pytest.mark.parametrize(
    ("models", "words"),
    [
        (linear_model.LinearRegression(), "a list of two river regressors"),
        ([linear_model.LinearRegression()], "a list of two river regressors"),
        ([DriftRegressor, DriftRegressor], "a list of two river regressors"),
        ({"a": DriftRegressor(), "b": DriftRegressor()}, "a list of two river regressors"),
        ([preprocessing.StandardScaler(), DriftRegressor()], "a list of two river regressors"),
        ([linear_model.LogisticRegression(), linear_model.LogisticRegression()], "a list of two river regressors"),
        ([TWICE, TWICE], "different objects"),
    ],
    ids=["one", "a list of one", "classes", "dict", "transformer", "classifiers", "twice"],
)
def test_what_is_mixed_are_regressors(models: Any, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        DriftCombiner(models)
    pipeline: Any = preprocessing.StandardScaler() | DriftRegressor()
    assert len(DriftCombiner([pipeline, DriftRegressor()])) == 2
