"""Scikit-learn's own checks pass; rows in their order are rounds; what is refused changes nothing."""

import copy
import importlib
import math
import pickle
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

pytest.importorskip("sklearn")

from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, TimeSeriesSplit, cross_val_score
from sklearn.multioutput import MultiOutputRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

import driftwise as dw
from driftwise._validate import Array
from driftwise.adapters import _linear
from driftwise.adapters.sklearn import DriftClassifier, DriftRegressor
from driftwise.errors import HorizonError, InputError, MissingExtraError, ParameterError


def descent(domain: dw.Domain) -> dw.Learner:
    return dw.OGD(domain, step=0.05)


def drifting(rounds: int, dim: int = 3, seed: int = 0) -> tuple[Array, Array]:
    """Return features and targets whose coefficients change signs in the middle."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rounds, dim))
    signs = np.where(np.arange(rounds) < rounds // 2, 1.0, -1.0)
    return X, signs * (X @ np.arange(1.0, dim + 1.0)) + 2.0 + 0.1 * rng.normal(size=rounds)


SKIPPED = {"check_array_api_input"}
"""What scikit-learn leaves out unless an environment variable is set before SciPy is imported."""

CHECKED: dict[str, tuple[Callable[[], Any], int]] = {
    "regressor": (DriftRegressor, 51),
    "regressor with a price": (lambda: DriftRegressor("huber", switching_cost=1.0, intercept=False), 51),
    "regressor with l2": (lambda: DriftRegressor(l2=0.01, radius=10.0), 51),
    "regressor by gradient descent": (lambda: DriftRegressor(learner=descent, radius=1e3), 51),
    "classifier": (DriftClassifier, 54),
    "classifier with a price": (lambda: DriftClassifier(switching_cost=0.1), 54),
    "classifier with l2": (lambda: DriftClassifier(l2=0.01, radius=1e2, intercept=False), 54),
}


@pytest.mark.parametrize("name", CHECKED)
@pytest.mark.filterwarnings("ignore")
def test_all_checks_of_scikit_learn_pass(name: str) -> None:
    make, least = CHECKED[name]
    results = check_estimator(make(), on_fail=None, on_skip=None)
    status = {result["check_name"]: result["status"] for result in results}
    assert {check for check, what in status.items() if what != "passed"} <= SKIPPED
    assert sum(result["status"] == "passed" for result in results) >= least
    assert {"check_n_features_in_after_fitting", "check_fit2d_1sample", "check_estimators_nan_inf"} <= set(status)


LEARNERS: dict[str, dict[str, Any]] = {
    "as it comes": {},
    "with a price": {"switching_cost": 0.5},
    "without intercept": {"intercept": False, "loss": "absolute"},
    "gradient descent": {"learner": descent, "radius": 100.0},
    "l2": {"l2": 0.01, "radius": 100.0},
}


@pytest.mark.parametrize("name", LEARNERS)
def test_all_at_once_is_row_by_row_to_the_bit(name: str) -> None:
    X, y = drifting(150)
    whole = DriftRegressor(**LEARNERS[name]).fit(X, y)
    one, parts = DriftRegressor(**LEARNERS[name]), DriftRegressor(**LEARNERS[name])
    path = []
    for t in range(len(X)):
        one.partial_fit(X[t : t + 1], y[t : t + 1])
        path.append(np.append(one.intercept_, one.coef_))
    for rows in (slice(0, 40), slice(40, 41), slice(41, 120), slice(120, 150)):
        parts.partial_fit(X[rows], y[rows])
    assert whole.coef_.tobytes() == one.coef_.tobytes() == parts.coef_.tobytes()
    assert whole.intercept_ == one.intercept_ == parts.intercept_
    # The first decision is at the origin, and the first move from there.
    moved = np.linalg.norm(np.diff(path, axis=0, prepend=0.0), axis=1).sum()
    assert moved > 1.0
    for model in (whole, one, parts):
        assert model.moved_ == pytest.approx(moved)
        assert model.moving_cost_ == pytest.approx(model.switching_cost * moved)


@pytest.mark.parametrize("labels", [2, 3])
def test_all_classes_at_once_are_row_by_row_to_the_bit(labels: int) -> None:
    rng = np.random.default_rng(1)
    X, corners = rng.normal(size=(120, 2)), np.array([[1.0, 0.0], [-1.0, 1.0], [-1.0, -1.0]])[:labels]
    y = np.array(["a", "b", "c"])[(X @ corners.T).argmax(axis=1)]
    whole, one, path = DriftClassifier(switching_cost=0.1).fit(X, y), DriftClassifier(switching_cost=0.1), []
    for t in range(len(X)):
        one.partial_fit(X[t : t + 1], y[t : t + 1], classes=["a", "b", "c"][:labels])
        path.append(np.column_stack([one.intercept_, one.coef_]))
    assert whole.coef_.tobytes() == one.coef_.tobytes()
    assert whole.coef_.shape == (1 if labels == 2 else 3, 2)
    moved = np.linalg.norm(np.diff(path, axis=0, prepend=0.0), axis=2).sum()
    assert whole.moved_ == pytest.approx(moved)
    assert one.moving_cost_ == pytest.approx(0.1 * moved)
    assert whole.predict_proba(X).sum(axis=1) == pytest.approx(np.ones(120))
    assert (whole.classes_[whole.predict_proba(X).argmax(axis=1)] == whole.predict(X)).all()
    assert np.mean(whole.predict(X) == y) > 0.85


def test_coefficients_are_the_decisions_of_the_learner() -> None:
    X, y = drifting(100)
    model = DriftRegressor(switching_cost=0.7, learner=descent, radius=50.0).fit(X, y)
    losses = dw.SquaredLoss(np.column_stack([np.ones(100), X]), y)
    learner = dw.OGD(dw.Ball(4, 50.0), step=0.05)
    trace = dw.play(learner, losses, 0.7)
    last = learner.act()
    assert np.append(model.intercept_, model.coef_).tobytes() == last.tobytes()
    into_last = float(np.linalg.norm(last - trace.decisions[-1]))
    assert model.moving_cost_ == pytest.approx(trace.total - trace.losses.sum() + 0.7 * into_last)


def test_it_follows_a_world_that_turns() -> None:
    X, y = drifting(400)
    model = DriftRegressor().fit(X, y)
    assert model.coef_ == pytest.approx([-1.0, -2.0, -3.0], abs=0.1)
    assert model.score(X[300:], y[300:]) > 0.99
    assert model.score(X[:200], y[:200]) < 0.0


def test_a_price_may_change_between_calls() -> None:
    X, y = drifting(200)
    model = DriftRegressor(switching_cost=1.0).fit(X[:100], y[:100])
    moved, paid = model.moved_, model.moving_cost_
    model.set_params(switching_cost=6.0).partial_fit(X[100:], y[100:])
    assert model.moved_ > moved
    assert paid == pytest.approx(moved)
    assert model.moving_cost_ - paid == pytest.approx(6.0 * (model.moved_ - moved))


def test_it_is_at_home_in_pipelines_and_searches() -> None:
    X, y = drifting(240)
    units = X * [1.0, 1e3, 1e-3]
    model = make_pipeline(StandardScaler(), DriftRegressor())
    grid = {"driftregressor__switching_cost": [0.0, 50.0], "driftregressor__loss": ["squared", "huber"]}
    search = GridSearchCV(model, grid, cv=TimeSeriesSplit(4), scoring="neg_mean_absolute_error")
    search.fit(units[:120], y[:120])
    assert search.best_params_["driftregressor__switching_cost"] == 0.0
    assert -search.best_score_ < 0.2
    assert cross_val_score(model, units[:120], y[:120], cv=TimeSeriesSplit(3)).min() > 0.97
    two = MultiOutputRegressor(DriftRegressor()).fit(X[:120], np.column_stack([y, -y])[:120])
    assert two.predict(X[:2])[:, 0] == pytest.approx(-two.predict(X[:2])[:, 1], rel=1e-6)
    scaled = TransformedTargetRegressor(DriftRegressor(), transformer=StandardScaler()).fit(X[:120], y[:120])
    assert scaled.score(X[:120], y[:120]) > 0.98


def test_parameters_are_cloned_and_nothing_that_was_learnt() -> None:
    X, y = drifting(50)
    model = DriftRegressor("huber", 2.0, 10.0, 0.1, False, descent).fit(X, y)
    other = clone(model)
    assert other.get_params() == model.get_params()
    assert other.get_params() == {
        "loss": "huber", "switching_cost": 2.0, "radius": 10.0, "l2": 0.1, "intercept": False, "learner": descent
    }  # fmt: skip
    for name in ("coef_", "intercept_", "moved_", "moving_cost_"):
        with pytest.raises(NotFittedError):
            getattr(other, name)
    with pytest.raises(NotFittedError):
        other.predict(X)


def pickled(model: Any) -> Any:
    return pickle.loads(pickle.dumps(model))


@pytest.mark.parametrize("how", [copy.deepcopy, pickled])
def test_a_copy_goes_on_as_the_original_does(how: Callable[[Any], Any]) -> None:
    X, y = drifting(160)
    model = DriftRegressor(switching_cost=1.0).fit(X[:80], y[:80])
    other, whole = how(model), DriftRegressor(switching_cost=1.0).fit(X, y)
    assert other.partial_fit(X[80:], y[80:]).coef_.tobytes() == whole.coef_.tobytes()
    assert model.moved_ < other.moved_


def spoilt(X: Array, row: int, value: float) -> Array:
    bad = X.copy()
    bad.flat[row] = value
    return bad


@pytest.mark.parametrize("verb", ["fit", "partial_fit"])
def test_what_is_refused_changes_nothing(verb: str) -> None:
    X, y = drifting(90)
    labels = np.where(y > 0.0, "up", "down")
    regressor, classifier = DriftRegressor().fit(X, y), DriftClassifier().fit(X, labels)
    before = pickle.dumps((regressor, classifier))
    for value, text in ((math.nan, "NaN"), (math.inf, "infinity"), (1e31, "too large")):
        for model, target in ((regressor, y), (classifier, labels)):
            with pytest.raises(InputError, match=f"{type(model).__name__}: .*{text}"):
                getattr(model, verb)(spoilt(X, 200, value), target)
            with pytest.raises(InputError, match=text):
                model.predict(spoilt(X, 200, value))
        with pytest.raises(InputError, match=text):
            getattr(regressor, verb)(X, spoilt(y, 80, value))
    wide = np.column_stack([X, X])
    with pytest.raises(InputError, match="inconsistent numbers of samples"):
        getattr(regressor, verb)(wide, y[:-1])
    refused = (["up"] * 90, [0.25, 0.5] * 45) if verb == "fit" else (["up", "sideways"] * 45, [0.25, 0.5] * 45)
    for strange in refused:
        with pytest.raises(InputError, match="DriftClassifier: "):
            getattr(classifier, verb)(wide if verb == "fit" else X, strange)
    assert pickle.dumps((regressor, classifier)) == before


class Stopped(dw.Learner):
    """Stands still, and is interrupted in the round after one in which a feature was 77."""

    def __init__(self, domain: dw.Domain) -> None:
        super().__init__(domain)
        self.stop = False

    def _decide(self) -> Array:
        return np.zeros(self.domain.dim)

    def _learn(self, gradient: Array) -> None:
        if self.stop:
            raise KeyboardInterrupt
        self.stop = bool((np.abs(gradient) == 38.5).any())  # the slope of the logistic loss at 0 is a half


def ending(domain: dw.Domain) -> dw.Learner:
    return dw.Scream(domain, horizon=151, switching_cost=1.0, gradient_bound=100.0)


@pytest.mark.parametrize("which", [1, 2, 3])
@pytest.mark.parametrize("verb", ["fit", "partial_fit"])
def test_an_interrupted_run_changes_nothing(verb: str, which: int, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = drifting(90)
    labels = np.digitize(y, [-1.0, 3.0])
    model, other = (DriftClassifier(switching_cost=0.1).fit(X, labels) for _ in range(2))
    before = pickle.dumps(model)
    played: list[Any] = []

    def interrupted(*given: Any) -> Any:
        played.append(given)
        if len(played) == which:
            raise KeyboardInterrupt
        return dw.play(*given)

    with monkeypatch.context() as patch:
        patch.setattr(_linear, "play", interrupted)
        with pytest.raises(KeyboardInterrupt):
            getattr(model, verb)(X, labels)
    assert len(played) == which
    assert pickle.dumps(model) == before
    assert model.partial_fit(X, labels).coef_.tobytes() == other.partial_fit(X, labels).coef_.tobytes()


@pytest.mark.parametrize("count", [1, 20, 50])
def test_an_interruption_halfway_changes_nothing(count: int) -> None:
    X, y = drifting(90)
    labels = np.digitize(y, [-1.0, 3.0])
    model = DriftClassifier(intercept=False, radius=10.0, learner=Stopped).fit(X, labels)
    for one in model._models[1:] if count == 1 else ():
        one.learn(np.full(3, 77.0), 1.0)
    model.set_params(switching_cost=3.0)
    before = pickle.dumps(model)
    rows = spoilt(X[:count], 3 * (count // 2), 77.0) if count > 1 else X[:1]
    with pytest.raises(KeyboardInterrupt):
        model.partial_fit(rows, labels[:count])
    assert pickle.dumps(model) == before


@pytest.mark.parametrize("count", [1, 20, 50])
def test_rows_beyond_the_horizon_change_nothing(count: int) -> None:
    X, y = drifting(150)
    labels = np.digitize(y, [-1.0, 3.0])
    regressor: Any = DriftRegressor(radius=10.0, learner=ending)
    classifier: Any = DriftClassifier(radius=10.0, learner=ending)
    for model, targets in ((regressor, y), (classifier, labels)):
        model.fit(X[: 151 - count], targets[: 151 - count]).set_params(switching_cost=3.0)
        before = pickle.dumps(model)
        with pytest.raises(HorizonError, match=f"{type(model).__name__}: .* {count} more and"):
            model.partial_fit(X[:count], targets[:count])
        assert pickle.dumps(model) == before
        if count > 1:
            model.partial_fit(X[: count - 1], targets[: count - 1])


@pytest.mark.parametrize("rows", [1, 31, 32])
def test_a_loss_says_which_targets_it_takes(rows: int) -> None:
    X, y = drifting(60)
    model: Any = DriftRegressor(loss=dw.LogisticLoss)
    for verb in ("fit", "partial_fit"):
        with pytest.raises(InputError, match="LogisticLoss: targets must be -1 or \\+1, got 0"):
            getattr(model, verb)(X[:rows], np.zeros(rows))
    assert not vars(model).keys() & {"_models", "n_features_in_"}
    model.fit(X, np.where(y > 0.0, 1.0, -1.0))
    before = pickle.dumps(model)
    for verb in ("fit", "partial_fit"):
        with pytest.raises(InputError, match="LogisticLoss: targets must be -1 or \\+1, got 0"):
            getattr(model, verb)(X[:rows], np.zeros(rows))
    assert pickle.dumps(model) == before


def test_parameters_are_checked_where_learning_begins() -> None:
    X, y = drifting(20)
    for wrong, text in (
        ({"loss": "cubic"}, "loss must be one of 'squared', 'absolute', 'huber'"),
        ({"switching_cost": -1.0}, "switching_cost must be"),
        ({"radius": 0.0}, "radius must be"),
        ({"radius": 1e10}, "radius must be at most 1e\\+09"),
        ({"l2": 1.0}, "give a radius"),
        ({"learner": "OGD"}, "learner must be a function"),
        ({"learner": lambda domain: dw.OGD(dw.Ball(99), step=1.0)}, "decides in the domain it is given"),
        ({"loss": lambda X, y: dw.TrackingLoss(X)}, "must make a loss of a score against a target"),
    ):
        model = DriftRegressor(**wrong)
        with pytest.raises(ParameterError, match=text):
            model.fit(X, y)
        assert not hasattr(model, "n_features_in_")


def test_classes_are_named_first() -> None:
    X, y = drifting(20)
    labels = np.where(y > 0.0, "up", "down")
    with pytest.raises(InputError, match="classes must be passed on the first call"):
        DriftClassifier().partial_fit(X, labels)
    model = DriftClassifier().partial_fit(X[:3], ["up"] * 3, classes=["up", "down", "level"])
    assert model.classes_.tolist() == ["down", "level", "up"]
    assert model.predict_proba(X).shape == (20, 3)
    with pytest.raises(InputError, match="those of the first call"):
        model.partial_fit(X, labels, classes=["up", "down"])


def test_a_missing_package_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in [one for one in sys.modules if one.partition(".")[0] == "sklearn"]:
        monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.delitem(sys.modules, "driftwise.adapters.sklearn")
    with pytest.raises(MissingExtraError, match=r"needs sklearn, .*driftwise\[sklearn\]"):
        importlib.import_module("driftwise.adapters.sklearn")
