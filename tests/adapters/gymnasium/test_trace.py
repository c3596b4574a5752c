"""The record of an episode as a table."""

from pathlib import Path

import numpy as np
import polars

from driftwise import control
from driftwise.adapters.gymnasium import EnvTrace, run
from tests.adapters.gymnasium.cases import PLANT, linear

COLUMNS = ["round", "cost", "reward", "x_0", "x_1", "u_0", "next_x_0", "next_x_1"]


def record() -> EnvTrace:
    return run(linear(), control.SelfTunedController(PLANT), seed=2, horizon=50)


def test_frames_have_the_record_bit_for_bit(tmp_path: Path) -> None:
    trace = record()
    pandas_frame, polars_frame = trace.to_pandas(), trace.to_polars()
    assert list(pandas_frame.columns) == polars_frame.columns == COLUMNS
    following = np.vstack([trace.states[1:], trace.final_state])
    for frame in (pandas_frame, polars_frame):
        np.testing.assert_array_equal(frame["round"].to_numpy(), np.arange(50))
        np.testing.assert_array_equal(frame["cost"].to_numpy(), trace.costs)
        np.testing.assert_array_equal(frame["reward"].to_numpy(), trace.rewards)
        np.testing.assert_array_equal(frame["u_0"].to_numpy(), trace.inputs[:, 0])
        for i in range(2):
            np.testing.assert_array_equal(frame[f"x_{i}"].to_numpy(), trace.states[:, i])
            np.testing.assert_array_equal(frame[f"next_x_{i}"].to_numpy(), following[:, i])
    settings = pandas_frame.attrs["driftwise"]
    assert "SelfTunedController" in str(settings)
    trace.to_parquet(tmp_path / "episode.parquet")
    assert polars.read_parquet(tmp_path / "episode.parquet").equals(polars_frame)


def test_it_says_what_it_is() -> None:
    trace = record()
    assert repr(trace) == f"EnvTrace(SelfTunedController, rounds=50, total={trace.total:.6g})"
    assert trace.total == trace.costs.sum()
    assert trace.label == "SelfTunedController"
    assert trace.controller.round == 0
