"""Streams of pandas and polars data: their numbers, what their rounds are called, and what is refused."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import driftwise as dw
from driftwise import control
from driftwise.errors import ArgumentError, InputError, ParameterError
from tests.cases import check_refused

HOURS = pd.date_range("2024-03-01", periods=6, freq="h", name="hour")
TABLE = pd.DataFrame(
    {"a": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], "b": [2.0, 1.0, 0.0, 1.0, 2.0, 1.0], "y": [1, 0, 1, 1, 0, 1]}, index=HOURS
)
POLARS = pl.from_pandas(TABLE.reset_index())


def _played(losses: dw.LossStream) -> dw.Trace:
    return dw.play(dw.OGD(dw.Ball(losses.dim, radius=9.0), step=0.5), losses, 1.0)


MAKERS: dict[str, tuple[Callable[[], dw.LossStream], Callable[[], dw.LossStream]]] = {
    "squared": (
        lambda: dw.SquaredLoss.from_frame(TABLE, features=["a", "b"], targets="y"),
        lambda: dw.SquaredLoss(TABLE[["a", "b"]].to_numpy(), TABLE["y"].to_numpy()),
    ),
    "squared, by hand": (
        lambda: dw.SquaredLoss(TABLE[["a", "b"]], TABLE["y"]),
        lambda: dw.SquaredLoss(TABLE[["a", "b"]].to_numpy(), TABLE["y"].to_numpy()),
    ),
    "squared, one feature": (
        lambda: dw.SquaredLoss.from_frame(TABLE, features="a", targets="y"),
        lambda: dw.SquaredLoss(TABLE["a"].to_numpy(), TABLE["y"].to_numpy()),
    ),
    "squared, polars": (
        lambda: dw.SquaredLoss.from_frame(POLARS, time="hour", features=["a", "b"], targets="y"),
        lambda: dw.SquaredLoss(TABLE[["a", "b"]].to_numpy(), TABLE["y"].to_numpy()),
    ),
    "huber": (
        lambda: dw.HuberLoss.from_frame(TABLE, features=["a", "b"], targets="y", delta=0.5),
        lambda: dw.HuberLoss(TABLE[["a", "b"]].to_numpy(), TABLE["y"].to_numpy(), delta=0.5),
    ),
    "quantile": (
        lambda: dw.QuantileLoss.from_frame(TABLE, features=["a", "b"], targets="y", quantile=0.9),
        lambda: dw.QuantileLoss(TABLE[["a", "b"]].to_numpy(), TABLE["y"].to_numpy(), quantile=0.9),
    ),
    "absolute": (
        lambda: dw.AbsoluteLoss(TABLE[["a", "b"]], TABLE["y"]),
        lambda: dw.AbsoluteLoss(TABLE[["a", "b"]].to_numpy(), TABLE["y"].to_numpy()),
    ),
    "logistic": (
        lambda: dw.LogisticLoss(TABLE[["a", "b"]], 2 * TABLE["y"] - 1),
        lambda: dw.LogisticLoss(TABLE[["a", "b"]].to_numpy(), 2 * TABLE["y"].to_numpy() - 1),
    ),
    "tracking": (
        lambda: dw.TrackingLoss(TABLE[["a", "b"]]),
        lambda: dw.TrackingLoss(TABLE[["a", "b"]].to_numpy()),
    ),
    "linear": (
        lambda: dw.LinearLoss.from_frame(TABLE, vectors=["b", "a"]),
        lambda: dw.LinearLoss(TABLE[["b", "a"]].to_numpy()),
    ),
    "capacity": (
        lambda: dw.CapacityLoss.from_frame(TABLE, demands="a", shortage=5.0),
        lambda: dw.CapacityLoss(TABLE["a"].to_numpy(), shortage=5.0),
    ),
    "filtered": (
        lambda: dw.FilteredLoss([1.0, 0.5], features=TABLE[["a", "b"]], targets=TABLE["y"]),
        lambda: dw.FilteredLoss([1.0, 0.5], features=TABLE[["a", "b"]].to_numpy(), targets=TABLE["y"].to_numpy()),
    ),
}


@pytest.mark.parametrize("name", MAKERS)
def test_a_frame_is_its_numbers_and_its_times(name: str) -> None:
    of_frame, of_arrays = (_played(make()) for make in MAKERS[name])
    for part in ("decisions", "losses", "moves"):
        assert getattr(of_frame, part).tobytes() == getattr(of_arrays, part).tobytes()
    assert of_arrays.index is None
    assert list(of_frame.to_pandas().index) == list(HOURS)
    assert of_frame.to_pandas().index.name == "hour"


@pytest.mark.parametrize("name", ["capacity", "squared, polars"])
def test_the_times_survive_every_table(name: str, tmp_path: Path) -> None:
    trace = _played(MAKERS[name][0]())
    trace.to_parquet(tmp_path / "run.parquet")
    for back in (
        dw.Trace.from_pandas(trace.to_pandas()),
        dw.Trace.from_polars(trace.to_polars()),
        dw.Trace.from_parquet(tmp_path / "run.parquet"),
        dw.Trace.from_parquet(tmp_path / "run.parquet", stream=trace.stream, learner=trace.learner),
    ):
        assert list(back.to_pandas().index) == list(HOURS)
        assert back.to_polars()["hour"].to_list() == list(HOURS.to_pydatetime())
        assert back.decisions.tobytes() == trace.decisions.tobytes()


@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin"])
def test_time_zones_are_kept(zone: str, tmp_path: Path) -> None:
    index = HOURS.tz_localize(zone)
    trace = _played(dw.TrackingLoss(TABLE["a"].set_axis(index)))
    trace.to_parquet(tmp_path / "run.parquet")
    for frame in (trace.to_pandas(), dw.Trace.from_parquet(tmp_path / "run.parquet").to_pandas()):
        assert str(frame.index.tz) == zone
        assert list(frame.index) == list(index)
    assert getattr(trace.to_polars().schema["hour"], "time_zone", None) == zone


def test_a_clock_that_is_put_back_goes_forward_with_its_zone_and_backwards_without() -> None:
    utc = pd.date_range("2024-10-27 00:00", periods=4, freq="h", tz="UTC")
    berlin = pd.Series([1.0, 2.0, 3.0, 4.0], index=utc.tz_convert("Europe/Berlin"))
    assert list(_played(dw.TrackingLoss(berlin)).index.hour) == [2, 2, 3, 4]
    half_hours = pd.Series([1.0] * 4, index=pd.to_datetime(["02:00", "02:30", "02:00", "02:30"], format="%H:%M"))
    check_refused(lambda: dw.TrackingLoss(half_hours), "time goes backwards", "in row 2")


@pytest.mark.parametrize(
    ("index", "kept"),
    [
        (pd.period_range("2024-01", periods=6, freq="M"), True),
        (HOURS - HOURS[0], True),
        (list("uvwxyz"), True),
        (pd.CategoricalIndex(list("xyzxyz")), True),
        ([10, 20, 30, 40, 50, 60], True),
        ([3, 1, 2, 0, 5, 4], True),  # numbers are names, in any order
        (pd.MultiIndex.from_product([["p", "q"], [1, 2, 3]], names=["plant", "unit"]), True),
        (range(6), False),
        (range(1, 7), True),
    ],
)
def test_an_index_of_any_kind_is_what_rounds_are_called(index: Any, kept: bool) -> None:
    series = TABLE["a"].set_axis(index)
    trace = _played(dw.TrackingLoss(series))
    assert (trace.index is not None) == kept
    assert trace.to_pandas().index.equals(series.index)
    assert trace.to_polars()["w_0"].to_list() == trace.decisions.ravel().tolist()


BACK = "time goes backwards"


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: dw.TrackingLoss(TABLE["a"][::-1]), (BACK, "the index of targets", "05:00:00 to 2024-03-01 04:00:00")),
        (lambda: dw.TrackingLoss.from_frame(TABLE[::-1], targets="a"), (BACK, "the index of the frame", "row 1")),
        (
            lambda: dw.TrackingLoss.from_frame(TABLE[::-1].reset_index(), time="hour", targets="a"),
            (BACK, "the column 'hour'"),
        ),
        (lambda: dw.TrackingLoss.from_frame(POLARS.reverse(), time="hour", targets="a"), (BACK, "the column 'hour'")),
        # A column that is said to be time must not go backwards, whatever it is made of.
        (lambda: dw.TrackingLoss.from_frame(TABLE, time="b", targets="a"), (BACK, "from 2.0 to 1.0 in row 1")),
        (
            lambda: dw.TrackingLoss.from_frame(pd.DataFrame({"t": [1, "b"], "a": [1.0, 2.0]}), time="t", targets="a"),
            ("values of several types",),
        ),
        (lambda: dw.TrackingLoss(pd.concat([TABLE, TABLE])["a"]), (BACK, "row 6")),
        (
            lambda: dw.TrackingLoss(TABLE["a"].set_axis(pd.DatetimeIndex([pd.NaT, *HOURS[1:]]))),
            ("the index of targets has no value in row 0",),
        ),
        (
            lambda: dw.TrackingLoss.from_frame(pl.DataFrame({"t": [1, None], "a": [1.0, 2.0]}), time="t", targets="a"),
            ("the column 't' has no value in row 1",),
        ),
        (
            lambda: dw.SquaredLoss(TABLE[["a"]], TABLE["y"].shift(freq="h")),
            ("features and targets have different indexes", "00:00:00 in one", "targets.reindex(features.index)"),
        ),
        (lambda: dw.SquaredLoss(TABLE[["a"]][:3], TABLE["y"]), ("targets must be", "of shape (3,)")),
    ],
)
def test_rounds_are_in_the_order_of_time(call: Callable[[], object], words: tuple[str, ...]) -> None:
    check_refused(call, *words)


def test_two_rounds_at_one_time_are_two_rounds() -> None:
    twice = TABLE["a"].set_axis(HOURS.repeat(2)[:6])
    assert len(_played(dw.TrackingLoss(twice)).to_pandas().loc[HOURS[1]]) == 2


@pytest.mark.parametrize(
    "column",
    [
        pd.Series([1, 2, 3], dtype="Int64"),
        pd.Series([1, 2, 3], dtype="Float32"),
        pd.Series([1, 2, 3], dtype="int8"),
        pd.Series([1, 2, 3], dtype="int64[pyarrow]"),
        pd.Series([1, 2, 3], dtype="Sparse[float]"),
        pl.Series([1, 2, 3], dtype=pl.UInt8),
        pl.Series([1, 2, 3], dtype=pl.Float32),
        pl.Series([1, 2, 3], dtype=pl.Decimal(10, 2)),
    ],
    ids=lambda column: str(column.dtype),
)
def test_numbers_of_every_type_are_read(column: Any) -> None:
    assert dw.TrackingLoss(column).data.features.ravel().tolist() == [1.0, 2.0, 3.0]


@pytest.mark.parametrize(
    ("column", "words"),
    [
        (pd.Series([1, None, None], dtype="Int64"), ("targets has 2 missing values, the first in row 1", "ffill()")),
        (pd.Series([1.0, None], index=["mon", "tue"]), ("targets has 1 missing value, the first in row 'tue'",)),
        (TABLE[["a", "b"]].where(TABLE["a"] < 5.0), ("in the column 'a'", "in row 2024-03-01 04:00:00")),
        (pl.Series([1.0, None]), ("1 missing value, the first in row 1", "forward_fill()")),
        (pl.Series([1.0, float("nan")]), ("1 missing value, the first in row 1",)),
        (pd.Series([True, False]), ("must be numbers, got bool",)),
        (pd.Series([True, None], dtype="boolean"), ("must be numbers, got boolean",)),
        (pl.Series([True, False]), ("must be numbers, got Boolean",)),
        (pd.Series([1, 2]).astype("category"), ("must be numbers, got category",)),
        (pd.Series(["1", "2"]), ("must be numbers",)),
        (pd.Series(HOURS), ("must be numbers, got datetime64", "time= of from_frame")),
        (pd.Series(HOURS - HOURS[0]), ("must be numbers, got timedelta64",)),
        (pd.Series([1j, 2j]), ("must be numbers, got complex128",)),
        (pd.DataFrame({"a": [1.0], "note": ["x"]}), ("in the column 'note'",)),
        (POLARS, ("in the column 'hour'",)),
        (POLARS.lazy(), ("is a polars LazyFrame; collect()",)),
        (TABLE["a"][:0], ("shape (0, 1)",)),
        (pd.DataFrame(index=HOURS), ("shape (6, 0)",)),
        (pd.Series([1.0, np.inf]), ("got inf at [1, 0]",)),
    ],
)
def test_what_is_no_number_or_missing_is_refused_by_column_and_row(column: Any, words: tuple[str, ...]) -> None:
    check_refused(lambda: dw.TrackingLoss(column), *words)


UNTYPED: Any = dw.TrackingLoss.from_frame


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (lambda: UNTYPED(POLARS.lazy(), targets="a"), InputError, ("pandas or polars DataFrame", "collect()")),
        (lambda: UNTYPED(TABLE["a"], targets="a"), InputError, ("frame must be a pandas or polars DataFrame",)),
        (lambda: UNTYPED({"a": [1.0]}, targets="a"), InputError, ("frame must be a pandas or polars DataFrame",)),
        (lambda: UNTYPED(TABLE, targets="aa"), InputError, ("no column 'aa' for targets; did you mean 'a'?",)),
        (lambda: UNTYPED(TABLE, targets=["a", "c"]), InputError, ("no column 'c' for targets", "'a', 'b', 'y'")),
        (lambda: UNTYPED(POLARS, time="hours", targets="a"), InputError, ("for time; did you mean 'hour'?",)),
        (lambda: UNTYPED(TABLE, time=3, targets="a"), ParameterError, ("time must be the name of a column, got 3",)),
        (lambda: UNTYPED(TABLE, targets="a", wrong="b"), ArgumentError, ("unexpected keyword argument 'wrong'",)),
        (lambda: UNTYPED(TABLE), ArgumentError, ("targets",)),
        (
            lambda: UNTYPED(pd.DataFrame([[1.0, 2.0]], columns=["a", "a"]), targets="a"),
            InputError,
            ("there are 2 columns 'a' for targets",),
        ),
        (
            lambda: UNTYPED(pd.DataFrame([[1.0, 2.0, 3.0]], columns=["a", "t", "t"]), time="t", targets="a"),
            InputError,
            ("there are 2 columns 't' for time",),
        ),
    ],
)
def test_wrong_calls_of_from_frame_are_refused_by_name(
    call: Callable[[], object], kind: type[Exception], words: tuple[str, ...]
) -> None:
    check_refused(call, *words, kind=kind)


def test_columns_whose_names_are_no_words_are_given_as_values() -> None:
    numbered = pd.DataFrame(np.arange(12.0).reshape(4, 3))
    losses = dw.SquaredLoss.from_frame(numbered, features=numbered[[0, 1]], targets=numbered[2])
    assert losses.data.features.tolist() == numbered[[0, 1]].to_numpy().tolist()
    levels = numbered.set_axis(pd.MultiIndex.from_tuples([("x", "a"), ("x", "b"), ("y", "")]), axis=1)
    losses = dw.SquaredLoss.from_frame(levels, features="x", targets=levels[("y", "")])
    assert losses.data.features.tolist() == numbered[[0, 1]].to_numpy().tolist()


@pytest.mark.parametrize("given", [TABLE[["a", "b"]].copy(), TABLE["a"].copy(), TABLE.copy()], ids=["2", "1", "3"])
def test_neither_side_sees_what_the_other_changes_later(given: Any) -> None:
    losses = dw.TrackingLoss(given)
    before = losses.data.features.copy()
    given.iloc[:] = 100
    np.testing.assert_array_equal(losses.data.features, before)
    trace = _played(losses)
    frame = trace.to_pandas()
    frame.loc[:, "w_0"] = 7.0
    assert trace.to_pandas()["w_0"].tolist() == trace.decisions[:, 0].tolist()


def test_a_simulation_keeps_the_times_of_its_disturbances(tmp_path: Path) -> None:
    plant, cost = control.LinearSystem(0.5, 1.0), control.QuadraticCost(1.0, 1.0)
    given: list[Any] = [TABLE["a"], TABLE[["a"]], POLARS["a"], TABLE["a"].to_numpy()]
    controller = control.LinearController(plant, K=[[0.5]])
    runs = [control.simulate(plant, controller.clone(), cost, each) for each in given]
    assert len({run.states.tobytes() for run in runs}) == 1
    assert [run.index is None for run in runs] == [False, False, True, True]
    runs[0].to_parquet(tmp_path / "run.parquet")
    for frame in (runs[0].to_pandas(), control.ControlTrace.from_parquet(tmp_path / "run.parquet").to_pandas()):
        assert list(frame.index) == list(HOURS)
    missing = TABLE["a"].where(TABLE["a"] > 2.0)
    before = controller.round
    check_refused(lambda: control.simulate(plant, controller, cost, missing), "disturbances has 2 missing values")
    check_refused(lambda: control.simulate(plant, controller, cost, TABLE["a"][::-1]), BACK)
    assert controller.round == before


def test_prices_of_the_rounds_may_be_a_series() -> None:
    losses, prices = dw.TrackingLoss(TABLE["a"]), TABLE["b"]
    learner = dw.OGD(dw.Ball(1, radius=9.0), step=0.5)
    trace = dw.play(learner.clone(), losses, prices)
    assert trace.total == dw.play(learner.clone(), losses, prices.to_numpy()).total
    assert trace.total == dw.play(learner.clone(), losses, POLARS["b"]).total
    check_refused(lambda: dw.play(learner, losses, prices.shift(freq="D")), "losses and switching_cost have different")
    check_refused(lambda: dw.play(learner, losses, prices.where(prices > 0.0)), "switching_cost has 1 missing value")
