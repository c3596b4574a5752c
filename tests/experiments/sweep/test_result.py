import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from driftwise.errors import InputError
from driftwise.experiments.sweep.result import decode, encode
from tests.experiments.runs import exact


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        (3, 3),
        (True, True),
        (2**80, 2**80),
        (0.1, 0.1),
        (-0.0, -0.0),
        (float("inf"), float("inf")),
        (np.float64(0.1), 0.1),
        (np.float32(0.1), float(np.float32(0.1))),
        (np.int8(3), 3),
        (np.bool_(True), True),
        ({}, {}),
        (
            {"a": np.float64(1.5), "b": None, "c": "text", "d": np.str_("t")},
            {"a": 1.5, "b": None, "c": "text", "d": "t"},
        ),
        ({"x": np.arange(3)}, {"x": np.arange(3)}),
        ({"x": np.arange(6.0).reshape(2, 3).T}, {"x": np.arange(6.0).reshape(2, 3).T.copy()}),
        ({"x": np.arange(3, dtype=">f4")}, {"x": np.arange(3, dtype="f4")}),
        ({"x": np.zeros((0, 2))}, {"x": np.zeros((0, 2))}),
        ({"x": np.array(2.0)}, {"x": np.array(2.0)}),
        ({"file": np.array(["a", "bc"])}, {"file": np.array(["a", "bc"])}),
        (
            {"a/b, c": np.array([True]), "result.json": np.ones(1)},
            {"a/b, c": np.array([True]), "result.json": np.ones(1)},
        ),
    ],
)
def test_results_have_one_form(given: Any, wanted: Any) -> None:
    back = decode(encode(given))
    assert exact(back) == exact(wanted)
    assert encode(back) == encode(given)


def test_nan_is_kept() -> None:
    back = decode(encode({"number": float("nan"), "array": np.array([np.nan, 1.0])}))
    assert np.isnan(back["number"])
    np.testing.assert_array_equal(back["array"], [np.nan, 1.0])


def test_numpy_reads_the_file_without_pickle(tmp_path: Path) -> None:
    with np.load(io.BytesIO(encode({"total": 2.5, "curve": np.arange(4.0)})), allow_pickle=False) as file:
        np.testing.assert_array_equal(file["curve"], np.arange(4.0))
        assert file["result.json"] == b'{"total": 2.5, "curve": ["float64", [4]]}'


@pytest.mark.parametrize(
    ("result", "shown"),
    [
        ([1, 2], "list"),
        (None, "NoneType"),
        ("text", "str"),
        (1j, "complex"),
        (np.arange(3), "ndarray"),
        ({"a": [1]}, "'a' is of type list"),
        ({"a": {"b": 1}}, "'a' is of type dict"),
        ({1: 2}, "1 is not a name"),
        ({"a\0": 2}, "is not a name"),
        ({"a": np.array([None])}, "dtype object"),
        ({"a": np.ma.masked_array([1.0], [True])}, "MaskedArray"),
        ({"a": np.array([1j])}, "complex128"),
        ({"a": np.datetime64("2020-01-01")}, "'a' is of type date"),
    ],
)
def test_other_results_are_refused(result: Any, shown: str) -> None:
    with pytest.raises(InputError, match=shown):
        encode(result)
