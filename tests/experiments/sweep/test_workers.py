import json
import os
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import threadpoolctl
from joblib.externals import loky

from driftwise.errors import MissingExtraError, RunError
from driftwise.experiments.sweep.sweep import run_all, sweep
from driftwise.experiments.sweep.task import libraries
from tests.experiments.runs import Strange, deadly, digest, failing, killed_once, marked, marks, solve

SEEDS = [{"seed": seed} for seed in range(6)]


@pytest.fixture
def new_pool() -> Iterator[None]:
    """Start workers that have seen nothing yet, and leave none that have seen this test."""
    loky.get_reusable_executor().shutdown(kill_workers=True)
    yield
    loky.get_reusable_executor().shutdown(kill_workers=True)


def test_results_do_not_depend_on_the_number_of_workers() -> None:
    hashes = {
        digest(run.result for run in sweep(solve, {"dim": [3, 150]}, seeds=4, workers=workers)) for workers in (1, 2, 4)
    }
    assert len(hashes) == 1


def test_results_come_in_the_order_of_the_configurations() -> None:
    def slow_first(seed: int) -> int:
        time.sleep(0.3 if seed == 0 else 0.0)
        return seed

    assert run_all(slow_first, SEEDS, title="", workers=2) == [0, 1, 2, 3, 4, 5]


def threads(seed: int) -> int:
    import threadpoolctl

    return max(int(library["num_threads"]) for library in threadpoolctl.threadpool_info())


@pytest.mark.usefixtures("new_pool")
def test_a_run_has_one_thread_on_every_path(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        monkeypatch.setenv(variable, "2")
    assert run_all(threads, SEEDS, title="", workers=2) == [1] * 6
    with threadpoolctl.threadpool_limits(2):
        before = threads(0)
        assert run_all(threads, SEEDS, title="", workers=1) == [1] * 6
        assert threads(0) == before


@pytest.mark.parametrize("workers", [1, 2])
def test_a_run_that_changes_its_arguments_changes_no_other(workers: int) -> None:
    def greedy(values: list[int], seed: int) -> int:
        values.append(seed)
        return len(values)

    runs = sweep(greedy, {"values": [[1, 2]]}, seeds=3, workers=workers)
    assert [run.result for run in runs] == [3, 3, 3]
    assert runs[2].configuration == {"values": [1, 2], "seed": 2}


@pytest.mark.parametrize("workers", [1, 2])
def test_lambdas_and_closures_run_everywhere(tmp_path: Path, workers: int) -> None:
    factor = np.array([2.0, 3.0])
    runs = sweep(lambda x, seed: {"y": factor * x}, {"x": [1.0, 2.0]}, seeds=1, out=tmp_path, workers=workers)
    np.testing.assert_array_equal(runs.column("y"), [[2.0, 3.0], [4.0, 6.0]])


def test_a_killed_worker_costs_only_its_runs(tmp_path: Path) -> None:
    tasks = [{"folder": str(tmp_path), "seed": seed} for seed in range(10)]
    with warnings.catch_warnings(record=True) as caught:
        assert run_all(killed_once, tasks, title="", out=tmp_path, workers=2) == [seed**2 for seed in range(10)]
    assert caught == []
    assert (tmp_path / "killed").exists()
    assert set(marks(tmp_path)) == set(range(10))
    # At most those that were under way have been run twice.
    assert len(marks(tmp_path)) <= 10 + 3
    assert len((tmp_path / "manifest.jsonl").read_text().splitlines()) == 10


def test_a_run_that_kills_its_workers_is_named(tmp_path: Path) -> None:
    with pytest.raises(RunError, match=r"died again and again during .*deadly\(seed=3\)"):
        run_all(deadly, SEEDS, title="", out=tmp_path, workers=2)
    kept = [json.loads(line)["seed"] for line in (tmp_path / "manifest.jsonl").read_text().splitlines()]
    assert {0, 1, 2} <= set(kept) <= {0, 1, 2, 4, 5}
    # And there are workers again for what comes next.
    assert run_all(abs_seed, SEEDS, title="", workers=2) == [0, 1, 2, 3, 4, 5]


def abs_seed(seed: int) -> int:
    return abs(seed)


@pytest.mark.parametrize("workers", [1, 2])
def test_a_run_that_raises_is_named_with_its_error(tmp_path: Path, workers: int) -> None:
    tasks = [{"seed": seed, "kind": "plain"} for seed in range(6)]
    with pytest.raises(RunError, match=r"failing\(seed=2, kind='plain'\) failed: ValueError: no good") as caught:
        run_all(failing, tasks, title="", out=tmp_path, workers=workers)
    assert isinstance(caught.value.__cause__, ValueError)
    kept = {json.loads(line)["seed"] for line in (tmp_path / "manifest.jsonl").read_text().splitlines()}
    assert 2 not in kept
    if workers == 1:
        assert kept == {0, 1}
        assert caught.value.__cause__.__traceback__ is not None
    else:
        assert "in failing" in caught.value.__cause__.__notes__[0]


@pytest.mark.parametrize("workers", [1, 2])
def test_an_error_that_cannot_be_sent_is_told(workers: int) -> None:
    tasks = [{"seed": seed, "kind": "strange"} for seed in range(6)]
    with pytest.raises(RunError, match=r"kind='strange'\) failed: Strange: this and that$") as caught:
        run_all(failing, tasks, title="", workers=workers)
    assert isinstance(caught.value.__cause__, Strange if workers == 1 else RuntimeError)


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize(
    ("function", "shown"),
    [
        (lambda seed: [seed], r"<lambda>\(seed=0\) failed: InputError: a run returns a number.* is of type list"),
        (lambda seed: sys.exit(3), r"failed: SystemExit: 3"),
        (lambda: 0, r"failed: TypeError: .*unexpected keyword argument 'seed'"),
    ],
)
def test_what_else_goes_wrong_in_a_run_is_told(workers: int, function: Callable[..., Any], shown: str) -> None:
    with pytest.raises(RunError, match=shown):
        run_all(function, SEEDS[:1], title="", workers=workers)


def test_what_cannot_be_sent_is_said_at_once() -> None:
    lines = (line for line in ["a"])
    with pytest.raises(RunError, match=r"<lambda> and its arguments cannot be sent to a worker .*generator"):
        run_all(lambda seed: len(list(lines)), SEEDS, title="", workers=2)


@pytest.mark.parametrize("module", ["joblib.externals.loky", "threadpoolctl", "cloudpickle"])
def test_missing_packages_are_named_with_their_extra(monkeypatch: pytest.MonkeyPatch, module: str) -> None:
    libraries.cache_clear()
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match=rf"sweep needs {module.split('.')[0]}, .*'driftwise\[experiments\]'"):
        run_all(abs_seed, SEEDS, title="", workers=1 if module == "threadpoolctl" else 2)


SCRIPT = """
import sys
from pathlib import Path
from driftwise.experiments.sweep import sweep

def run(folder, seed):
    import time
    time.sleep(0.15)
    with open(folder + "/marks", "a") as file:
        file.write(f"{seed}\\n")
    return {"square": seed * seed}

try:
    runs = sweep(run, {"folder": [sys.argv[1]]}, seeds=10, out=sys.argv[1], resume=True, workers=2)
except KeyboardInterrupt:
    print("interrupted")
    sys.exit(130)
print(runs.column("square").tolist())
"""


def start(folder: Path) -> subprocess.Popen[str]:
    """Start a sweep as from a terminal: in a process group of its own."""
    (folder / "script.py").write_text(SCRIPT)
    command = [sys.executable, str(folder / "script.py"), str(folder)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)


def kept(folder: Path) -> list[int]:
    manifest = folder / "manifest.jsonl"
    return [json.loads(line)["seed"] for line in manifest.read_text().splitlines()] if manifest.exists() else []


def wait_until(condition: Callable[[], bool], seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def gone(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return True
    return False


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has neither SIGKILL nor process groups")
def test_workers_leave_the_interrupt_to_their_parent() -> None:
    def blocked(seed: int) -> bool:
        return signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, [])

    assert run_all(blocked, SEEDS, title="", workers=2) == [True] * 6
    assert not blocked(0)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has neither SIGKILL nor process groups")
@pytest.mark.parametrize("how", ["Ctrl-C", "kill -9"])
def test_a_stopped_sweep_keeps_its_runs_and_can_be_resumed(tmp_path: Path, how: str) -> None:
    process = start(tmp_path)
    try:
        wait_until(lambda: len(kept(tmp_path)) >= 3)
        if how == "Ctrl-C":
            os.killpg(process.pid, signal.SIGINT)
        else:
            process.kill()
        output, errors = process.communicate(timeout=30)
        wait_until(lambda: gone(process.pid), 20.0)
    finally:
        if not gone(process.pid):
            os.killpg(process.pid, signal.SIGKILL)
    if how == "Ctrl-C":
        assert (output, errors, process.returncode) == ("interrupted\n", "", 130)
    finished = kept(tmp_path)
    # A line that can be read may still be on its way to the disk; Ctrl-C at that moment takes it back.
    assert (2 if how == "Ctrl-C" else 3) <= len(finished) < 10
    second = start(tmp_path)
    output, errors = second.communicate(timeout=60)
    assert (output, errors) == (f"{[seed * seed for seed in range(10)]}\n", "")
    assert all(marks(tmp_path).count(seed) == 1 for seed in finished)
    assert sorted(kept(tmp_path)) == list(range(10))
    assert not list(tmp_path.glob("*.part"))


def test_marks_show_that_finished_runs_are_not_repeated(tmp_path: Path) -> None:
    tasks = [{"folder": str(tmp_path), "seed": seed} for seed in range(4)]
    run_all(marked, tasks[:2], title="", out=tmp_path, workers=2)
    assert run_all(marked, tasks, title="", out=tmp_path, resume=True, workers=2) == [0, 1, 4, 9]
    assert marks(tmp_path) == [0, 1, 2, 3]
