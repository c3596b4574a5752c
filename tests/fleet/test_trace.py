"""The record of a fleet as tables: totals of members, and their decisions with the times of their rounds."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import driftwise as dw
from driftwise.errors import ParameterError
from driftwise.fleet.trace import FleetTrace
from tests.cases import check_refused

DAYS = pd.date_range("2024-03-01", periods=5, tz="UTC", name="day")
DEMANDS = [pd.Series([1.0, 3.0, 2.0, 5.0, 4.0], index=DAYS), pd.Series([2.0, 2.0, 7.0], index=DAYS[2:])]


def _played(streams: Any = None, record: bool = True) -> FleetTrace:
    losses = [dw.TrackingLoss(each) for each in DEMANDS] if streams is None else streams
    fleet = dw.Fleet(dw.SelfTunedScream(dw.Box(0.0, 9.0), switching_cost=1.0), size=2)
    trace: FleetTrace = dw.play(fleet, losses, 1.5, record=record)
    return trace


def test_totals_have_a_row_for_each_member(tmp_path: Path) -> None:
    trace = _played(record=False)
    trace.to_parquet(tmp_path / "fleet.parquet")
    frame = trace.to_pandas()
    for each in (frame, trace.to_polars().to_pandas(), pd.read_parquet(tmp_path / "fleet.parquet")):
        assert list(each.columns) == ["id", "rounds", "loss", "switching", "total"]
        assert each["id"].tolist() == [0, 1]
        assert each["rounds"].tolist() == [5, 3]
        for name, values in (("loss", trace.total_loss), ("switching", trace.total_switching), ("total", trace.total)):
            assert each[name].to_numpy().tobytes() == values.tobytes()
    alone = dw.play(dw.SelfTunedScream(dw.Box(0.0, 9.0), switching_cost=1.0), dw.TrackingLoss(DEMANDS[1]), 1.5)
    assert frame["total"][1] == pytest.approx(alone.total, rel=1e-12)
    frame.loc[0, "loss"] = -1.0
    assert trace.total_loss[0] >= 0.0


def test_decisions_have_a_row_for_each_member_and_round_with_its_time(tmp_path: Path) -> None:
    trace = _played()
    trace.to_parquet(tmp_path / "fleet.parquet", decisions=True)
    frame = trace.to_pandas(decisions=True)
    assert list(frame.columns) == ["id", "round", "w_0"]
    assert list(frame.index) == [*DAYS, *DAYS[2:]]
    assert frame["id"].tolist() == [0] * 5 + [1] * 3
    assert frame["round"].tolist() == [0, 1, 2, 3, 4, 0, 1, 2]
    assert trace.decisions is not None
    for member, rows in enumerate(trace.decisions):
        assert frame["w_0"][frame["id"] == member].to_numpy().tobytes() == rows.tobytes()
    for other in (trace.to_polars(decisions=True), pl.read_parquet(tmp_path / "fleet.parquet")):
        assert other.columns == ["day", "id", "round", "w_0"]
        assert other["w_0"].to_list() == frame["w_0"].tolist()
        assert other["day"].to_list() == list(frame.index.to_pydatetime())


def test_a_fleet_without_members_has_empty_tables() -> None:
    fleet = dw.Fleet(dw.OGD(dw.Box(0.0, 1.0), step=1.0), size=1)
    fleet.remove([0])
    trace: FleetTrace = dw.play(fleet, [], record=True)
    assert list(trace.to_pandas(decisions=True).columns) == ["id", "round"]
    assert len(trace.to_pandas(decisions=True)) == len(trace.to_pandas()) == 0


def test_times_of_polars_are_joined_and_left_as_they_were() -> None:
    given = pl.DataFrame({"day": list(DAYS.tz_localize(None).to_pydatetime()), "x": [1.0, 2.0, 3.0, 2.0, 1.0]})
    losses = dw.TrackingLoss.from_frame(given, time="day", targets="x")
    trace = _played([losses, losses])
    for _ in range(2):
        assert trace.to_polars(decisions=True)["day"].to_list() == given["day"].to_list() * 2
    assert len(losses.index) == 5


def test_times_that_only_some_have_are_left_out() -> None:
    for other in (dw.TrackingLoss([1.0, 2.0]), dw.TrackingLoss(np.ones(4))):
        frame = _played([dw.TrackingLoss(DEMANDS[0]), other]).to_pandas(decisions=True)
        assert frame.index.equals(pd.RangeIndex(len(frame)))


def test_decisions_that_were_not_kept_are_refused() -> None:
    trace = _played(record=False)
    check_refused(lambda: trace.to_pandas(decisions=True), "play with record=True", kind=ParameterError)
    wrong: Any = "yes"
    check_refused(lambda: trace.to_polars(decisions=wrong), "decisions must be a bool", kind=ParameterError)
