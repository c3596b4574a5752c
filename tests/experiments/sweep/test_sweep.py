import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest

from driftwise.errors import InputError, MissingExtraError, ParameterError
from driftwise.experiments.sweep.sweep import Run, Sweep, run_all, sweep


def measure(rate: float = 1.0, seed: int = 0, name: str = "x") -> dict[str, Any]:
    return {"total": rate * seed, "curve": np.arange(2) + rate, "label": f"{name}{seed}", "none": None}


def test_a_grid_is_run_in_full_and_in_order() -> None:
    runs = sweep(measure, {"rate": [0.5, 2.0], "name": ["a", "b"]}, seeds=2, workers=1)
    assert [run.configuration for run in runs] == [
        {"rate": rate, "name": name, "seed": seed} for rate in (0.5, 2.0) for name in "ab" for seed in (0, 1)
    ]
    assert [run.result["total"] for run in runs] == [0.0, 0.5, 0.0, 0.5, 0.0, 2.0, 0.0, 2.0]


def test_a_grid_may_be_a_list_of_configurations() -> None:
    points: list[dict[str, Any]] = [{"rate": 2.0}, {"name": "z"}]
    runs = sweep(measure, iter(points), seeds=(7, 3), workers=1)
    assert [run.configuration for run in runs] == [
        {"rate": 2.0, "seed": 7},
        {"rate": 2.0, "seed": 3},
        {"name": "z", "seed": 7},
        {"name": "z", "seed": 3},
    ]


def test_a_grid_may_be_empty_and_its_values_an_iterator() -> None:
    assert sweep(lambda seed: seed, {}, seeds=3, workers=1).column("result").tolist() == [0, 1, 2]
    runs = sweep(measure, {"rate": iter([1.0, 2.0]), "name": ["a", "b"]}, seeds=1, workers=1)
    assert runs.column("rate").tolist() == [1.0, 1.0, 2.0, 2.0]


def test_a_sweep_is_a_sequence_of_runs() -> None:
    runs = sweep(measure, {"rate": [1.0, 2.0]}, seeds=2, workers=1)
    assert repr(runs) == "Sweep of 4 runs with rate, seed, total, curve, label, none"
    assert len(runs) == 4
    assert runs[-1].configuration == {"rate": 2.0, "seed": 1}
    assert isinstance(runs[1:3], Sweep)
    assert len(runs[1:3]) == 2
    assert repr(Sweep([])) == "Sweep of 0 runs"


def test_columns_are_arrays() -> None:
    runs = sweep(measure, {"rate": np.array([1.0, 2.0])}, seeds=2, workers=1)
    np.testing.assert_array_equal(runs.column("rate"), [1.0, 1.0, 2.0, 2.0])
    np.testing.assert_array_equal(runs.column("total"), [0.0, 1.0, 0.0, 2.0])
    np.testing.assert_array_equal(runs.column("curve"), [[1, 2], [1, 2], [2, 3], [2, 3]])
    assert runs.column("label").tolist() == ["x0", "x1", "x0", "x1"]
    assert runs.column("seed").dtype.kind == "i"
    assert runs.column("none").tolist() == [None] * 4
    with pytest.raises(ParameterError, match=r"one of rate, seed, total, .*got 'speed'"):
        runs.column("speed")


def test_uneven_columns_are_objects() -> None:
    runs = Sweep([Run({"a": 1}, {"x": np.zeros(2)}), Run({}, {"x": np.zeros(3)}), Run({}, 4.0)])
    assert runs.column("a").tolist() == [1, None, None]
    assert [np.shape(value) for value in runs.column("x")] == [(2,), (3,), ()]
    assert runs.column("result").tolist() == [None, None, 4.0]


def test_frame_has_a_row_for_each_run() -> None:
    frame = sweep(measure, {"rate": [1, 2.5]}, seeds=2, workers=1).frame()
    assert frame.columns == ["rate", "seed", "total", "curve", "label", "none"]
    assert frame["rate"].to_list() == [1.0, 1.0, 2.5, 2.5]
    assert frame["curve"].dtype == polars.List(polars.Float64)
    assert frame["curve"].to_list()[3] == [2.5, 3.5]
    assert frame["none"].null_count() == 4
    numbers = sweep(lambda shape, seed: np.float32(0.5), {"shape": [(1, 2)]}, seeds=2, workers=1).frame()
    assert numbers.to_dict(as_series=False) == {"shape": [[1, 2]] * 2, "seed": [0, 1], "result": [0.5, 0.5]}


def test_frame_without_polars_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(MissingExtraError, match=r"polars.*pip install 'driftwise\[experiments\]'"):
        Sweep([Run({}, 1.0)]).frame()


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        ({"grid": {"rate": "abc"}}, r"grid\['rate'\] must be a list of values, got 'abc'"),
        ({"grid": {"rate": 0.5}}, r"grid\['rate'\] must be a list of values, got 0.5"),
        ({"grid": [1, 2]}, "a list of dicts, got 1"),
        ({"grid": "rate"}, "a list of dicts, got 'rate'"),
        ({"grid": 3}, "a list of dicts, got 3"),
        ({"grid": {"rate": []}}, "nothing to run"),
        ({"grid": []}, "nothing to run"),
        ({"grid": {"seed": [1]}}, "has a seed of its own"),
        ({"grid": {}, "seeds": 0}, "seeds must be a whole number of at least 1"),
        ({"grid": {}, "seeds": [-1]}, "seeds must be a whole number of at least 0"),
        ({"grid": {}, "seeds": "ab"}, "seeds must be a whole number"),
        ({"grid": {}, "seeds": []}, "nothing to run"),
        ({"grid": {}, "workers": 0}, "workers must be a whole number of at least 1"),
        ({"grid": {}, "workers": 2, "dask": "tcp://here"}, "give one of the two"),
        ({"grid": {}, "resume": True}, "resume needs out"),
    ],
)
def test_wrong_arguments_are_refused(arguments: dict[str, Any], shown: str) -> None:
    with pytest.raises(ParameterError, match=shown):
        sweep(measure, **arguments)


def test_usable_cores_are_the_default() -> None:
    assert run_all(lambda seed: seed, [{"seed": seed} for seed in range(3)], title="") == [0, 1, 2]
    assert run_all(measure, [], title="") == []


def test_resuming_a_whole_sweep_starts_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = sweep(measure, {}, seeds=2, out=tmp_path, workers=1)
    monkeypatch.setitem(sys.modules, "distributed", None)
    second = sweep(measure, {}, seeds=2, out=str(tmp_path), resume=True, dask="tcp://nowhere:1")
    assert second.column("label").tolist() == first.column("label").tolist()


def test_import_is_light() -> None:
    heavy = "{'joblib', 'distributed', 'dask', 'polars', 'rich', 'threadpoolctl', 'cloudpickle', 'matplotlib'}"
    code = f"import driftwise.experiments.sweep, sys; print(sorted({heavy} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_a_result_that_has_the_name_of_an_argument_is_refused() -> None:
    with pytest.raises(InputError, match=r"returns 'seed', which is also one of its arguments; rename"):
        sweep(lambda seed: {"seed": 99}, {}, seeds=2, workers=1)


def test_a_column_of_numbers_and_texts_keeps_both() -> None:
    runs = sweep(lambda seed: {"mixed": 1.5 if seed else "x"}, {}, seeds=2, workers=1)
    assert runs.column("mixed").tolist() == ["x", 1.5]
