"""From columns to losses, domain and constants."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import driftwise as dw
from driftwise.errors import InputError, ParameterError
from driftwise.experiments.comparison.regression.problem import Options, Problem, read_problem
from driftwise.experiments.comparison.sheet import read_sheet
from tests.experiments.comparison.files import drifting, write


def problem(path: Path, content: str, target: str = "y", switching_cost: float = 1.0, **options: Any) -> Problem:
    return read_problem(read_sheet(write(path / "d.csv", content)), target, switching_cost, Options(**options))


def test_constants_are_those_of_the_library(tmp_path: Path) -> None:
    frame = drifting()
    frame.write_parquet(tmp_path / "d.parquet")
    made = read_problem(read_sheet(tmp_path / "d.parquet"), "power", 2.0, Options())
    losses = dw.SquaredLoss(frame.select("wind", "sun").to_numpy(), frame["power"].to_numpy())
    fixed = dw.regret.best_fixed(losses, dw.Ball(2, radius=10.0))
    assert made.fixed == pytest.approx(fixed, rel=1e-9)
    assert made.domain.radius == pytest.approx(2.0 * np.linalg.norm(fixed), rel=1e-9)
    assert made.setting.gradient_bound == losses.gradient_bound(made.domain)
    assert made.steepest.max() == pytest.approx(made.setting.gradient_bound, rel=1e-12)
    assert (made.setting.horizon, made.setting.switching_cost, made.names) == (400, 2.0, ["wind", "sun"])


def test_a_radius_below_that_of_the_best_weights_binds_them(tmp_path: Path) -> None:
    made = problem(tmp_path, "x,y\n1,2\n2,5\n", radius=0.1)
    assert made.fixed == pytest.approx([0.1])
    assert made.radius_from == "chosen"
    with pytest.raises(ParameterError, match="compare: radius must be a number that is above 0"):
        problem(tmp_path, "x,y\n1,2\n", radius=0.0)


def test_targets_of_zero_leave_a_radius_of_one(tmp_path: Path) -> None:
    made = problem(tmp_path, "x,y\n1,0\n2,0\n")
    assert (made.domain.radius, made.radius_from) == (1.0, "a default, as the best fixed weights are all 0")


def test_features_are_all_other_columns_or_those_chosen(tmp_path: Path) -> None:
    content = "a,y,b,note\n1,2,3,x\n4,5,7,x\n"
    assert problem(tmp_path, content, features=["b", "a"]).features.tolist() == [[3.0, 1.0], [7.0, 4.0]]
    with pytest.raises(InputError, match="column 'note': 'x' is not a number; name the features to use, as in --fea"):
        problem(tmp_path, content)
    with pytest.raises(InputError, match="no column 'c' for the features"):
        problem(tmp_path, content, features=["c"])
    with pytest.raises(InputError, match="the feature 'a' is named more than once"):
        problem(tmp_path, content, features=["a", "a"])
    with pytest.raises(InputError, match="'y' is the target and cannot be a feature, too"):
        problem(tmp_path, content, features=["a", "y"])


def test_columns_without_a_name(tmp_path: Path) -> None:
    content = ",x,y\n0,1,2\n1,2,3\n"
    with pytest.raises(InputError, match=r"column 1 has no name in the header; name the features .*index=False"):
        problem(tmp_path, content)
    assert problem(tmp_path, content, features=["x"]).names == ["x"]
    assert problem(tmp_path, "x,y,\n1,2,\n3,4,\n").names == ["x"]


def test_intercept(tmp_path: Path) -> None:
    made = problem(tmp_path, "x,y\n1,2\n2,3\n", intercept=True)
    assert made.names == ["x", "intercept"]
    assert made.features.tolist() == [[1.0, 1.0], [2.0, 1.0]]
    with pytest.raises(InputError, match="a feature of its own called 'intercept'; rename it"):
        problem(tmp_path, "intercept,y\n1,2\n2,3\n", intercept=True)


@pytest.mark.parametrize("features", [None, []])
def test_without_features_the_level_is_tracked(tmp_path: Path, features: list[str] | None) -> None:
    content = "y\n1\n2\n6\n"
    made = problem(tmp_path, content, features=features, intercept=True)
    assert made.fixed == pytest.approx([3.0])
    with pytest.raises(InputError, match="no features beside the target 'y'; add --intercept"):
        problem(tmp_path, content, features=features)


def test_standardised_features(tmp_path: Path) -> None:
    made = problem(tmp_path, "x,z,y\n1,10,2\n2,50,3\n6,30,7\n", standardise=True, intercept=True)
    assert made.features[:, :2].mean(axis=0) == pytest.approx([0.0, 0.0])
    assert made.features[:, :2].std(axis=0) == pytest.approx([1.0, 1.0])
    assert made.features[:, 2].tolist() == [1.0] * 3
    with pytest.raises(InputError, match="column 'z' is 7 in every row, so it cannot be standardised; leave it out"):
        problem(tmp_path, "x,z,y\n1,7,2\n2,7,3\n", standardise=True)


@pytest.mark.parametrize(("x", "y"), [(1e60, 1e60), (1e-60, 1e60), (1e100, 1e100), (1e-100, 1e100)])
def test_units_that_are_beyond_computing(tmp_path: Path, x: float, y: float) -> None:
    with pytest.raises(InputError, match="beyond computing; bring features and target nearer to 1 in size"):
        problem(tmp_path, f"x,y\n{x},{y}\n{x},{0.5 * y}\n")


def test_units_that_are_far_apart_are_no_trouble(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=(50, 2)) * [1e-6, 1e6]
    rows = "".join(f"{a},{b},{3e6 * a - 2e-6 * b}\n" for a, b in x.tolist())
    assert problem(tmp_path, f"a,b,y\n{rows}").fixed == pytest.approx([3e6, -2e-6], rel=1e-6)


def test_nothing_to_learn_from(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"every feature \('x'\) is 0 in every row"):
        problem(tmp_path, "x,y\n0,1\n0,2\n")


@pytest.mark.parametrize("price", [-1.0, float("nan"), float("inf")])
def test_the_price_of_moving_is_a_number_from_zero_up(tmp_path: Path, price: float) -> None:
    with pytest.raises(ParameterError, match="compare: switching_cost must be a number that is at least 0"):
        problem(tmp_path, "x,y\n1,2\n", switching_cost=price)
