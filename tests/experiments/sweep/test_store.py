import functools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import driftwise
from driftwise.errors import ParameterError, StorageError
from driftwise.experiments.sweep import store, sweep
from driftwise.experiments.sweep.fingerprint import full_name
from driftwise.experiments.sweep.result import encode
from driftwise.experiments.sweep.sweep import run_all
from tests.experiments.runs import digest, marked, marks, solve

SEEDS = range(4)


def run(folder: Path, resume: bool = True) -> list[Any]:
    tasks = [{"folder": str(folder), "seed": seed} for seed in SEEDS]
    return run_all(marked, tasks, title="marked", out=folder / "out", resume=resume, workers=1)


def files(folder: Path) -> list[Path]:
    """Return the files of the runs, in the order in which they were made."""
    lines = (folder / "out" / "manifest.jsonl").read_text().splitlines()
    return [folder / "out" / json.loads(line)["file"] for line in lines]


def test_manifest_says_what_every_file_is(tmp_path: Path) -> None:
    sweep(solve, {"dim": [3]}, seeds=[7], out=tmp_path, workers=1)
    (text,) = (tmp_path / "manifest.jsonl").read_text().splitlines()
    line = json.loads(text)
    assert line["function"] == "tests.experiments.runs:solve"
    assert line["configuration"] == {"dim": 3, "seed": 7}
    assert line["seed"] == 7
    assert line["version"] == driftwise.__version__
    assert len(line["source"]) == len(line["digest"]) == 64
    assert line["seconds"] >= 0
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([line["file"], "manifest.jsonl"])


def test_kept_runs_are_not_repeated(tmp_path: Path) -> None:
    first = run(tmp_path)
    assert run(tmp_path) == first == [0, 1, 4, 9]
    assert marks(tmp_path) == [0, 1, 2, 3]


def test_without_resume_all_are_run_again_into_the_same_files(tmp_path: Path) -> None:
    run(tmp_path)
    (tmp_path / "out" / "notes.txt").write_text("mine")
    before = {path.name: path.read_bytes() for path in (tmp_path / "out").glob("*.npz")}
    run(tmp_path, resume=False)
    assert marks(tmp_path) == [0, 0, 1, 1, 2, 2, 3, 3]
    assert before == {path.name: path.read_bytes() for path in (tmp_path / "out").glob("*.npz")}
    assert (tmp_path / "out" / "notes.txt").read_text() == "mine"


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


@pytest.mark.parametrize(
    "damage",
    [flip, Path.unlink, lambda path: path.write_bytes(b""), lambda path: path.write_bytes(path.read_bytes()[:-1])],
    ids=["flipped", "deleted", "emptied", "cut"],
)
def test_damaged_runs_are_run_again(tmp_path: Path, damage: Callable[[Path], Any]) -> None:
    first = run(tmp_path)
    damage(files(tmp_path)[2])
    with pytest.warns(UserWarning, match="1 of the runs in .* missing, damaged or were changed; they are run again"):
        assert run(tmp_path) == first
    assert marks(tmp_path) == [0, 1, 2, 2, 3]
    run(tmp_path)
    assert marks(tmp_path) == [0, 1, 2, 2, 3]


def test_every_flipped_byte_is_found(tmp_path: Path) -> None:
    sweep(solve, {"dim": [2]}, seeds=1, out=tmp_path, workers=1)
    (path,) = tmp_path.glob("*.npz")
    data = path.read_bytes()
    kept = store.Store(tmp_path, solve)
    assert kept.find({"dim": 2, "seed": 0}) is not None
    for place in range(len(data)):
        path.write_bytes(data[:place] + bytes([data[place] ^ 255]) + data[place + 1 :])
        assert kept.find({"dim": 2, "seed": 0}) is None


@pytest.mark.parametrize("cut", [1, 2, 40, 150])
def test_a_torn_last_line_is_ignored_and_not_continued(tmp_path: Path, cut: int) -> None:
    first = run(tmp_path)
    manifest = tmp_path / "out" / "manifest.jsonl"
    manifest.write_bytes(manifest.read_bytes()[:-cut])
    assert run(tmp_path) == first
    # With its end of line alone missing, a line is whole.
    assert marks(tmp_path) == ([0, 1, 2, 3] if cut == 1 else [0, 1, 2, 3, 3])
    run(tmp_path)
    assert marks(tmp_path) == ([0, 1, 2, 3] if cut == 1 else [0, 1, 2, 3, 3])


def test_a_manifest_of_something_else_is_no_obstacle(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "manifest.jsonl").write_bytes(b'7\n"x"\n{}\n{"file": []}\n{"file": "a.npz"}\n\xff\x00\n')
    run(tmp_path)
    run(tmp_path)
    assert marks(tmp_path) == [0, 1, 2, 3]


def test_another_version_is_run_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(tmp_path)
    monkeypatch.setattr(store, "__version__", "99")
    with pytest.warns(UserWarning, match="4 of the runs .* they are run again"):
        run(tmp_path)
    assert marks(tmp_path) == [0, 0, 1, 1, 2, 2, 3, 3]


def scale(factor: float) -> Callable[[int], float]:
    return lambda seed: factor * seed


def power(seed: int, exponent: int) -> int:
    return int(seed**exponent)


class Adder:
    def __init__(self, summand: int) -> None:
        self.summand = summand

    def __call__(self, seed: int) -> int:
        return seed + self.summand

    def add(self, seed: int) -> int:
        return seed + self.summand


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (scale(2.0), scale(3.0)),
        (functools.partial(power, exponent=1), functools.partial(power, exponent=2)),
        (Adder(1), Adder(2)),
        (Adder(1).add, Adder(2).add),
        (lambda seed, factor=2: factor * seed, lambda seed, factor=3: factor * seed),
        (eval("lambda seed: 2 * seed"), eval("lambda seed: 3 * seed")),
    ],
    ids=["closure", "partial", "object", "method", "default", "no source"],
)
def test_what_a_function_carries_is_part_of_it(tmp_path: Path, one: Any, other: Any) -> None:
    first = sweep(one, {}, seeds=3, out=tmp_path, workers=1).column("result")
    assert (sweep(one, {}, seeds=3, out=tmp_path, resume=True, workers=1).column("result") == first).all()
    assert store.Store(tmp_path, one).find({"seed": 2}) == first[2]
    assert store.Store(tmp_path, other).find({"seed": 2}) is None
    if full_name(one) == full_name(other):
        with pytest.warns(UserWarning, match="3 of the runs in .* were made by another version of"):
            second = sweep(other, {}, seeds=3, out=tmp_path, resume=True, workers=1).column("result")
        assert second[2] != first[2]


def test_functions_of_one_folder_do_not_meet(tmp_path: Path) -> None:
    sweep(solve, {"dim": [2]}, seeds=2, out=tmp_path, workers=1)
    sweep(scale(2.0), {}, seeds=2, out=tmp_path, workers=1)
    assert len(list(tmp_path.glob("*.npz"))) == 4
    assert store.Store(tmp_path, solve).find({"dim": 2, "seed": 1}) is not None


def test_kept_results_are_identical_to_fresh_ones(tmp_path: Path) -> None:
    fresh = [run.result for run in sweep(solve, {"dim": [2, 30]}, seeds=2, out=tmp_path, workers=1)]
    kept = [run.result for run in sweep(solve, {"dim": [2, 30]}, seeds=2, out=tmp_path, resume=True, workers=1)]
    assert digest(fresh) == digest(kept)


def test_configurations_are_numbers_texts_and_lists(tmp_path: Path) -> None:
    kept = store.Store(tmp_path, solve)
    text = kept.text_of(
        {"b": (1, np.float64(2.5)), "a": np.int64(3), "c": np.float32(0.5), "d": None, "e": np.bool_(True)}
    )
    assert text == '{"a": 3, "b": [1, 2.5], "c": 0.5, "d": null, "e": true}'
    assert kept.text_of({"x": 1}) != kept.text_of({"x": 1.0}) != kept.text_of({"x": True})
    marked_before = marks(tmp_path)
    with pytest.raises(ParameterError, match="made of numbers, texts"):
        sweep(marked, {"folder": [str(tmp_path), tmp_path]}, seeds=1, out=tmp_path, workers=1)
    assert marks(tmp_path) == marked_before
    with pytest.raises(ParameterError, match="made of numbers"):
        kept.text_of({"x": np.zeros(3)})


def test_nan_in_a_configuration_is_found_again(tmp_path: Path) -> None:
    kept = store.Store(tmp_path, power)
    kept.keep({"x": float("nan")}, encode(2.0), 0.1)
    assert store.Store(tmp_path, power).find({"x": float("nan")}) == 2.0


def test_out_must_be_a_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="file cannot be written: File exists"):
        sweep(solve, {"dim": [2]}, out=tmp_path / "file", workers=1)
