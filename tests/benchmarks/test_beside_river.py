"""The benchmark runs everybody on every stream; paths are those of the coefficients, and a tuned model is the best."""

import math
import re
import subprocess
import sys
from importlib import util
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

pytest.importorskip("river")

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "beside_river.py"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = util.spec_from_file_location("beside_river", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_contender_is_on_every_stream(script: ModuleType) -> None:
    command = [sys.executable, "-W", "error", str(SCRIPT), "--rounds", "12"]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    number = r" +(?:[\d.e+-]+)"
    for who in script.REGRESSORS:
        assert re.search(rf"^{re.escape(who)}{number * 7}$", printed, re.MULTILINE), who
    for who in (*script.OURS, *script.PLANES):
        assert re.search(rf"^{re.escape(who)}{number * 9}$", printed, re.MULTILINE), who
    for who in (*script.OURS, *script.SOFTMAX, *script.OTHERS):
        assert re.search(rf"^{re.escape(who)}{number * 3}$", printed, re.MULTILINE), who
    for name, count in [*((name, 6) for name in script.NUMBERS), *((name, 5) for name in script.LABELS)]:
        for price in script.PRICES:
            assert re.search(rf"^{name} at {price:g}{number * count}$", printed, re.MULTILINE), name


def constant(target: float, rounds: int) -> list[tuple[dict[str, float], float]]:
    return [({"x": float(t % 2)}, target) for t in range(rounds)]


def test_a_path_is_that_of_coefficients_and_intercept(script: ModuleType) -> None:
    given = script.rounds(constant(4.0, 30), 30)
    model = script.linear.LinearRegression(intercept_lr=0.7)
    run = script.progressive(model, given, follow=True)
    again, path, before = script.linear.LinearRegression(intercept_lr=0.7), 0.0, (0.0, 0.0)
    for one in given:
        again.learn_one(one.learnt, one.target)
        now = (again.weights.get("x", 0.0), again.intercept)
        path += math.dist(before, now)
        before = now
    assert run.path == pytest.approx(path)
    assert run.path > 4.0
    ours: Any = script.DriftRegressor()
    assert script.progressive(ours, given).path == ours.moved > 0.0


@pytest.mark.parametrize("kind", ["BayesianLinearRegression", "PARegressor", "LinearRegression"])
def test_coefficients_are_those_that_predict(script: ModuleType, kind: str) -> None:
    rng, model = np.random.default_rng(0), getattr(script.linear, kind)()
    for _ in range(40):
        x = dict(zip("ab", rng.normal(size=2).tolist(), strict=True))
        model.learn_one({"constant": 1.0, **x}, x["a"] - 2.0 * x["b"] + 1.0)
    names = ["a", "b", "constant"]
    values = script.coefficients(model, names)
    x = {"a": 0.3, "b": -2.0, "constant": 1.0}
    score = sum(value * x[name] for name, value in zip(names, values, strict=False)) + sum(values[3:])
    assert score == pytest.approx(model.predict_one(x))


def test_a_setting_that_diverges_is_not_the_best(script: ModuleType) -> None:
    assert script.least([math.nan, 3.0, 2.0, math.inf]) == 2
    given = script.rounds(constant(4.0, 60), 60)
    rates = script.Contender([lambda rate=rate: script.stepping(script.linear.LinearRegression, rate, rate)
                              for rate in (1e9, 0.3, 1e-6)])  # fmt: skip
    run = script.best(rates, given, script.mean_error)
    alone = script.progressive(script.stepping(script.linear.LinearRegression, 0.3, 0.3), given)
    assert run.predicted == alone.predicted


def test_mixtures_hear_what_was_said_in_the_round(script: ModuleType) -> None:
    given = script.rounds(constant(1.0, 50), 50)
    said = {
        name: script.Run([value] * 50, 0.0, 0.0) for name, value in zip(script.MIXED, (1.0, 5.0, -3.0), strict=True)
    }
    mixed = script.mixtures(given, said)
    assert mixed["DriftCombiner of three (ours)"].predicted[-1] == pytest.approx(1.0, abs=0.1)
    assert mixed["EWARegressor of three, tuned"].predicted[-1] == pytest.approx(1.0, abs=0.1)
    replayed = script.Replayed([3.0, 4.0])
    assert [replayed.predict_one({}), replayed.learn_one({}, 0.0), replayed.predict_one({})] == [3.0, None, 4.0]


def test_losses_are_what_they_are_called(script: ModuleType) -> None:
    numbers = [script.Round({}, {}, y) for y in (0.0, 2.0)]
    assert script.mean_error(numbers, [1.0, 2.0]) == 0.5
    assert script.half_square(numbers, [1.0, 2.0]) == 0.25  # of a variance of 1
    labels = [script.Round({}, {}, y) for y in "abc"]
    shares = [{"a": 0.5, "b": 0.5 - 1e-9}, {"a": 1.0}, {}]
    assert script.log_loss(labels, shares) == pytest.approx((math.log(2.0) + 2.0 * math.log(1e3)) / 3.0)
    assert script.misses(labels, shares) == pytest.approx(200.0 / 3.0)
