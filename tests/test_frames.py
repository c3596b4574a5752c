"""Columns, frames and files: what goes in comes out bit for bit, and what does not belong is refused in words."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import driftwise as dw
from driftwise._frames import Part, Table, files, flatten, frames, gather
from driftwise._frames.table import pack, unpack
from driftwise.errors import CheckpointError, DriftwiseError, InputError, MissingExtraError, StorageError
from tests.cases import check_refused

LAYOUT = (Part("loss"), Part("w", 1), Part("M", 3, required=False))
FLOATS = st.floats(allow_nan=False, allow_infinity=False)


def _columns(rounds: int = 4) -> dict[str, Any]:
    w = np.arange(3.0 * rounds).reshape(rounds, 3) / 7.0
    return flatten(
        {"loss": np.linspace(1.0, 2.0, rounds), "w": w, "M": np.arange(4.0 * rounds).reshape(rounds, 2, 1, 2)}
    )


@st.composite
def _parts(draw: st.DrawFn) -> dict[str, Any]:
    rounds, dim = draw(st.integers(1, 5)), draw(st.integers(1, 12))
    shapes = {"loss": (rounds,), "w": (rounds, dim), "M": (rounds, 2, draw(st.integers(1, 2)), dim)}
    parts: dict[str, Any] = {
        name: draw(hnp.arrays(np.float64, shape, elements=FLOATS)) for name, shape in shapes.items()
    }
    return parts if draw(st.booleans()) else {**parts, "M": None}


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(parts=_parts(), random=st.randoms())
def test_every_way_out_and_back_keeps_every_bit(parts: dict[str, Any], random: Any, tmp_path: Path) -> None:
    columns = flatten(parts)
    shuffled = list(columns)
    random.shuffle(shuffled)
    table = Table(
        {name: columns[name] for name in shuffled}, {"prices": parts["loss"].tolist()}, {"learner": b"\0\xff"}
    )
    path = tmp_path / "table.parquet"
    files.write_parquet("test", path, table)
    read = files.read_parquet("test", path)
    assert (read.settings, read.attachments) == (table.settings, table.attachments)
    ways = [
        table,
        frames.from_pandas("test", frames.to_pandas("test", table)),
        frames.from_polars("test", frames.to_polars("test", table)),
        read,
        frames.from_pandas("test", pd.read_parquet(path)),
        frames.from_polars("test", pl.read_parquet(path)),
    ]
    for way in ways:
        back = gather("test", way.columns, LAYOUT)
        for name, values in parts.items():
            found = back[name]
            assert (found is None) == (values is None)
            if found is not None:
                assert (found.shape, found.tobytes()) == (values.shape, values.tobytes())
    assert ways[4].settings == table.settings  # pandas reads the settings of our file as its own attributes


def test_settings_keep_every_bit() -> None:
    numbers = [0.1, -0.0, 5e-324, 1.7976931348623157e308, 2.0**53 + 2.0]
    found = unpack("test", pack({"up": numbers}))
    assert found is not None
    assert np.array(found["up"]).tobytes() == np.array(numbers).tobytes()


@pytest.mark.parametrize("text", ["{", "[1]", "3", 3.0, {"a": 1}, "[" * 10**5, b"\xff"])
def test_settings_that_are_not_ours_are_refused(text: object) -> None:
    check_refused(lambda: unpack("test", text), "the settings under 'driftwise'", "give what they held by keyword")


def _with(change: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    columns = {name: values.copy() for name, values in _columns().items()}
    change(columns)
    return columns


def _set(name: str, values: Any) -> Callable[[dict[str, Any]], object]:
    return lambda columns: columns.update({name: np.array(values)})


WRONG: dict[str, tuple[Callable[[dict[str, Any]], object], tuple[str, ...]]] = {
    "missing": (lambda c: c.pop("loss"), ("the column loss is missing", "round, loss, w_0, ...")),
    "no round": (lambda c: c.pop("round"), ("the column round is missing",)),
    "none of a part": (lambda c: [c.pop(f"w_{i}") for i in range(3)], ("the column w_0 is missing",)),
    "gap": (lambda c: c.pop("w_1"), ("the column w_1 is missing", "there is w_2")),
    "gap in a grid": (lambda c: c.pop("M_1_0_0"), ("the column M_1_0_0 is missing", "there is M_1_0_1")),
    "far index": (_set("w_999999999", np.ones(4)), ("the column w_3 is missing",)),
    "misspelt": (_set("losss", np.ones(4)), ("a column 'losss'", "did you mean loss?", "rename it, or drop it")),
    "leading zero": (_set("w_03", np.ones(4)), ("a column 'w_03'", "did you mean w_0?")),
    "wrong depth": (_set("w_0_0", np.ones(4)), ("a column 'w_0_0'",)),
    "other digits": (_set("w_\u0663", np.ones(4)), ("a column 'w_\u0663'",)),
    "endless index": (_set("w_" + "9" * 5000, np.ones(4)), ("a column 'w_9999",)),
    "no name": (lambda c: c.update({7: np.ones(4)}), ("a column 7",)),  # type: ignore[dict-item]
    "text": (_set("loss", ["1", "2", "3", "4"]), ("the column loss must be float64", "<U1")),
    "objects": (_set("loss", [None, 1.0, 1.0, 1.0]), ("the column loss must be float64", "object")),
    "truth": (_set("loss", [True] * 4), ("the column loss must be float64", "bool")),
    "complex": (_set("loss", [1j] * 4), ("the column loss must be float64", "complex128")),
    "rounded": (_set("w_0", np.ones(4, np.float32)), ("without rounding", "float32")),
    "too long integers": (_set("w_0", [2**53 + 1] * 4), ("must be float64", "int64")),
    "NaN": (_set("w_0", [0.0, np.nan, 0.0, 0.0]), ("the column w_0 is nan in row 1",)),
    "infinity": (_set("loss", [0.0, 0.0, 0.0, -np.inf]), ("the column loss is -inf in row 3",)),
    "short": (_set("w_0", np.ones(3)), ("w_0 has 3 rows, and round has 4",)),
    "out of order": (_set("round", [0, 2, 1, 3]), ("row 1 is round 2", "sort the rows by round")),
    "round left out": (_set("round", [0, 1, 3, 4]), ("row 2 is round 3", "every round once")),
    "round twice": (_set("round", [0, 1, 1, 2]), ("row 2 is round 1", "every round once")),
    "late begin": (_set("round", [1, 2, 3, 4]), ("row 0 is round 1", "from round 0 on")),
    "negative": (_set("round", [-1, 0, 1, 2]), ("row 0 is round -1",)),
    "rounds that are no numbers": (_set("round", ["a"] * 4), ("whole numbers 0, 1, 2", "<U1")),
    "rounds that are not whole": (_set("round", [0.0, 1.0, 2.0, 3.0]), ("whole numbers 0, 1, 2", "float64")),
    "no rows": (lambda c: c.update({name: values[:0] for name, values in c.items()}), ("got 0 values",)),
}


@pytest.mark.parametrize("case", WRONG)
def test_columns_that_are_not_those_of_a_record_are_refused(case: str) -> None:
    change, words = WRONG[case]
    check_refused(lambda: gather("test", _with(change), LAYOUT), "test: ", *words)


def test_whole_numbers_are_numbers() -> None:
    found = gather("test", _with(_set("loss", [1, 2, 3, 4])), LAYOUT)["loss"]
    assert found is not None
    assert found.dtype == np.float64


def test_frames_do_not_share_memory_with_the_record() -> None:
    table = Table(_columns())
    frame = frames.to_pandas("test", table)
    frame.loc[0, "loss"] = 99.0
    assert table.columns["loss"][0] == 1.0


FRAME = pd.DataFrame(_columns())
PANDAS: dict[str, tuple[Callable[[], Any], str]] = {
    "array": (lambda: np.ones(3), "frame must be a pandas DataFrame"),
    "dict": (_columns, "frame must be a pandas DataFrame"),
    "other package": (lambda: pl.DataFrame(_columns()), "frame must be a pandas DataFrame"),
    "twice": (lambda: pd.concat([FRAME, FRAME[["loss"]]], axis=1), "two columns 'loss'"),
    "missing values": (lambda: FRAME.astype({"loss": "Float64"}).shift(1), "has 1 missing values"),
    "text": (lambda: FRAME.astype({"loss": str}), "loss must be float64"),
    "dates": (lambda: FRAME.assign(loss=pd.Timestamp("2020-01-01")), "loss must be float64"),
    "categories": (lambda: FRAME.astype({"loss": "category"}).assign(w_0=["a"] * 4), "w_0 must be float64"),
    "levels": (lambda: pd.concat({"a": FRAME}, axis=1), "a column ('a', 'round')"),
}


@pytest.mark.parametrize("case", PANDAS)
def test_pandas_frames_that_are_not_records_are_refused(case: str) -> None:
    make, words = PANDAS[case]
    check_refused(lambda: gather("test", frames.from_pandas("test", make()).columns, LAYOUT), "test: ", words)


def test_extension_types_without_gaps_are_read() -> None:
    for kind in ("Float64", "double[pyarrow]"):
        found = gather("test", frames.from_pandas("test", FRAME.astype({"loss": kind})).columns, LAYOUT)["loss"]
        assert found is not None
        assert found.tobytes() == FRAME["loss"].to_numpy().tobytes()


POLARS: dict[str, tuple[Callable[[], Any], str]] = {
    "lazy": (lambda: pl.DataFrame(_columns()).lazy(), "collect()"),
    "other package": (lambda: FRAME, "frame must be a polars DataFrame"),
    "missing values": (
        lambda: pl.DataFrame(_columns()).with_columns(loss=pl.Series([1.0, None, 1.0, 1.0])),
        "1 missing",
    ),
    "lists": (lambda: pl.DataFrame(_columns()).with_columns(loss=pl.Series([[1.0]] * 4)), "loss must be float64"),
    "single": (lambda: pl.DataFrame(_columns()).with_columns(pl.col("loss").cast(pl.Float32)), "float32"),
}


@pytest.mark.parametrize("case", POLARS)
def test_polars_frames_that_are_not_records_are_refused(case: str) -> None:
    make, words = POLARS[case]
    check_refused(lambda: gather("test", frames.from_polars("test", make()).columns, LAYOUT), "test: ", words)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "table.parquet"


TABLE = Table(_columns(), {"learner": "OGD", "switching_cost": 0.1}, {"learner": b"bytes of it"})


def _flips(path: Path, step: int, bits: tuple[int, ...]) -> dict[str, int]:
    """Flip bits of a file and cut it short: each time it is refused with a typed error, or nothing is different."""
    files.write_parquet("test", path, TABLE)
    whole = path.read_bytes()
    harmed = [whole[:end] for end in range(0, len(whole), step)]
    for place in range(0, len(whole), step):
        for bit in bits:
            harmed.append(whole[:place] + bytes([whole[place] ^ bit]) + whole[place + 1 :])
    counts = {"refused": 0, "same": 0}
    for data in harmed:
        path.write_bytes(data)
        try:
            back = files.read_parquet("test", path)
        except (CheckpointError, InputError):  # the latter for a damaged number of rows or name of a column
            counts["refused"] += 1
        else:
            assert (back.settings, back.attachments) == (TABLE.settings, TABLE.attachments)
            assert back.columns.keys() == TABLE.columns.keys()
            assert all(back.columns[name].tobytes() == values.tobytes() for name, values in TABLE.columns.items())
            counts["same"] += 1
    return counts


def test_damage_is_refused_or_does_not_matter(path: Path) -> None:
    counts = _flips(path, 17, (1 << 3,))
    assert counts["refused"] > counts["same"] > 0  # statistics, for example, are not read


@pytest.mark.full
def test_damage_is_refused_or_does_not_matter_at_every_bit(path: Path) -> None:
    counts = _flips(path, 1, tuple(1 << bit for bit in range(8)))
    assert counts["refused"] > counts["same"] > 0


@pytest.mark.parametrize("change", ["value", "settings", "attachment", "rows", "digest"])
def test_what_was_changed_after_it_was_written_is_refused(change: str, path: Path) -> None:
    files.write_parquet("test", path, TABLE)
    table = pq.read_table(path)
    metadata = dict(table.schema.metadata)
    if change == "value":
        table = table.set_column(1, "loss", pa.array([1.0, 2.0, 3.0, 4.0]))
    elif change == "settings":
        metadata[b"driftwise"] = metadata[b"driftwise"].replace(b"0.1", b"0.2")
    elif change == "attachment":
        metadata.pop(b"driftwise.learner")
    elif change == "rows":
        table = table.slice(0, 3)
    else:
        metadata.pop(b"driftwise.digest")
    pq.write_table(table.replace_schema_metadata(metadata), path)
    check_refused(lambda: files.read_parquet("test", path), "changed after driftwise wrote it", kind=CheckpointError)


def test_files_of_others_are_read_and_those_of_pandas_with_their_settings(path: Path) -> None:
    pl.DataFrame(_columns()).write_parquet(path)
    assert files.read_parquet("test", path).settings is None
    frames.to_pandas("test", TABLE).to_parquet(path)
    back = files.read_parquet("test", path)
    assert back.settings == TABLE.settings
    assert gather("test", back.columns, LAYOUT)["loss"] is not None
    frame = pd.DataFrame(_columns())
    frame.attrs["driftwise"] = "nonsense"
    frame.to_parquet(path)
    check_refused(lambda: files.read_parquet("test", path), "the settings under 'driftwise'")


@pytest.mark.parametrize("data", [b"", b"PAR1", b"PAR1" * 100, b"round,loss\n0,1.0\n", b"\0" * 1000])
def test_what_is_not_parquet_is_refused(data: bytes, path: Path) -> None:
    path.write_bytes(data)
    check_refused(
        lambda: files.read_parquet("test", path), "is not a parquet file, or is damaged", kind=CheckpointError
    )


def test_a_file_that_stands_for_billions_of_rows_is_refused_before_it_is_read(path: Path) -> None:
    run = pa.table({"round": pa.array(np.zeros(10**6, np.int64)), "loss": pa.array(np.zeros(10**6))})
    with pq.ParquetWriter(path, run.schema, compression="zstd") as writer:
        for _ in range(20):
            writer.write_table(run)
    assert path.stat().st_size < 2 * 10**5
    words = "holds 20000000 rows of 2 columns", "give max_bytes="
    check_refused(lambda: files.read_parquet("test", path, 10**8), *words)
    check_refused(lambda: files.read_parquet("test", path, 10), "at most 10 are read")


@pytest.mark.parametrize(
    ("column", "words"),
    [
        (pa.array([[1.0], [2.0]]), "must be float64"),
        (pa.array([1.0, None]), "1 missing values"),
        (pa.array([True, False]), "must be float64"),
        (pa.array([{"a": 1.0}, {"a": 2.0}]), "must be float64"),
    ],
)
def test_parquet_columns_of_other_types_are_refused(column: Any, words: str, path: Path) -> None:
    pq.write_table(pa.table({"loss": column}), path)
    check_refused(lambda: files.read_parquet("test", path), words)


def test_words_in_place_of_numbers_are_refused(path: Path) -> None:
    FRAME.astype({"loss": str}).to_parquet(path)
    check_refused(lambda: dw.Trace.from_parquet(path), "the column loss must be float64")
    check_refused(
        lambda: dw.Trace.from_polars(pl.DataFrame(_columns()).with_columns(loss=pl.lit("a"))), "loss must be float64"
    )
    FRAME.assign(note="a", mark="b").to_parquet(path)
    check_refused(lambda: dw.Trace.from_parquet(path), "the column 'note' must be float64")


def test_two_parquet_columns_of_one_name_are_refused(path: Path) -> None:
    pq.write_table(pa.Table.from_arrays([pa.array([1.0])] * 2, names=["loss", "loss"]), path)
    check_refused(lambda: files.read_parquet("test", path), "two columns of one name")


def test_what_cannot_be_stored_is_a_storage_error_and_nothing_is_lost(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check_refused(lambda: files.read_parquet("test", path), "cannot be read", kind=StorageError)
    away = path.parent / "no folder" / "table.parquet"
    check_refused(lambda: files.write_parquet("test", away, TABLE), "does not exist", kind=StorageError)
    files.write_parquet("test", path, TABLE)
    before = path.read_bytes()

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    other = Table(_columns(7))
    check_refused(lambda: files.write_parquet("test", path, other), "no room left", "unchanged", kind=StorageError)
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("path", [3, None, b"bytes", "", "a\0b"])
def test_what_is_no_path_is_refused(path: Any) -> None:
    for call in (lambda: files.read_parquet("test", path), lambda: files.write_parquet("test", path, TABLE)):
        with pytest.raises(DriftwiseError, match="path must be the name of a file"):
            call()


@pytest.mark.parametrize(
    ("package", "call"),
    [
        ("pandas", lambda: frames.to_pandas("test", TABLE)),
        ("pandas", lambda: frames.from_pandas("test", FRAME)),
        ("polars", lambda: frames.to_polars("test", TABLE)),
        ("polars", lambda: frames.from_polars("test", FRAME)),
        ("pyarrow", lambda: files.write_parquet("test", "x", TABLE)),
        ("pyarrow", lambda: files.read_parquet("test", "x")),
    ],
)
def test_what_is_not_installed_is_named(package: str, call: Callable[[], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    check_refused(call, f"test needs {package}", "pip install 'driftwise[frames]'", kind=MissingExtraError)


def test_none_of_the_packages_is_imported_before_it_is_asked_for() -> None:
    program = (
        "import sys, driftwise as dw; dw.Trace; dw.play; dw.control.ControlTrace; "
        "print(sorted({'pandas', 'polars', 'pyarrow'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_settings_in_a_file_are_json_under_one_name(path: Path) -> None:
    losses = dw.TrackingLoss([[1.0], [-1.0]])
    dw.play(dw.OGD(dw.Ball(1), step=0.5), losses, dw.MoveCost(up=3.0, down=[0.1])).to_parquet(path)
    assert json.loads(pq.read_metadata(path).metadata[b"driftwise"]) == {
        "record": "Trace",
        "version": 1,
        "learner": "OGD",
        "switching_cost": {"up": 3.0, "down": [0.1], "norm": "l1"},
        "proposals": False,
    }
