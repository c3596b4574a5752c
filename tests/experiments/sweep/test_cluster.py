import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from driftwise.errors import MissingExtraError, ParameterError, RunError
from driftwise.experiments.sweep import cluster, sweep
from driftwise.experiments.sweep.sweep import run_all
from tests.experiments.runs import deadly, digest, failing, killed_once, marked, marks, solve

distributed = pytest.importorskip("distributed")

SEEDS = [{"seed": seed} for seed in range(6)]


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Start two worker processes for all tests here, and give up a run after it has lost two."""
    import dask

    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 1}),
        distributed.LocalCluster(n_workers=2, threads_per_worker=2, processes=True, dashboard_address=":0") as local,
    ):
        yield local.scheduler_address


def test_results_are_those_of_this_process(address: str, tmp_path: Path) -> None:
    here = sweep(solve, {"dim": [3, 150]}, seeds=4, workers=1)
    there = sweep(solve, {"dim": [3, 150]}, seeds=4, dask=address, out=tmp_path)
    kept = sweep(solve, {"dim": [3, 150]}, seeds=4, dask=address, out=tmp_path, resume=True)
    assert digest(run.result for run in here) == digest(run.result for run in there)
    assert digest(run.result for run in here) == digest(run.result for run in kept)


def test_lambdas_run_and_are_run_again(address: str) -> None:
    import time

    first, second = (sweep(lambda seed: time.time(), {}, seeds=3, dask=address).column("result") for _ in range(2))
    assert (second > first.max()).all()


def test_a_killed_worker_loses_nothing(address: str, tmp_path: Path) -> None:
    tasks = [{"folder": str(tmp_path), "seed": seed} for seed in range(10)]
    assert run_all(killed_once, tasks, title="", out=tmp_path, dask=address) == [seed**2 for seed in range(10)]
    assert (tmp_path / "killed").exists()
    assert set(marks(tmp_path)) == set(range(10))


RUN = """
import sys
from pathlib import Path
from driftwise.experiments.sweep.sweep import run_all
from tests.experiments.runs import marked

folder, address = Path(sys.argv[1]), sys.argv[2]
tasks = [{"folder": str(folder), "seed": seed, "pause": 0.1} for seed in range(40)]
run_all(marked, tasks, title="", out=folder, dask=address)
"""


def test_a_killed_sweep_goes_on_with_what_was_finished(address: str, tmp_path: Path) -> None:
    root = Path(__file__).parents[3]
    paths = os.pathsep.join([str(root), str(Path(cluster.__file__).parents[3])])
    command = [sys.executable, "-c", RUN, str(tmp_path), address]
    with subprocess.Popen(command, cwd=root, env=os.environ | {"PYTHONPATH": paths}) as process:
        while process.poll() is None:
            time.sleep(0.02)
            if len(list(tmp_path.glob("*.npz"))) >= 5:
                process.kill()
    assert process.returncode == -signal.SIGKILL
    lines = (tmp_path / "manifest.jsonl").read_text().splitlines()
    kept = {json.loads(line)["configuration"]["seed"] for line in lines if line.endswith("}")}
    assert 4 <= len(kept) < 40
    tasks = [{"folder": str(tmp_path), "seed": seed, "pause": 0.1} for seed in range(40)]
    again = run_all(marked, tasks, title="", out=tmp_path, resume=True, dask=address)
    assert again == [seed**2 for seed in range(40)]
    made = marks(tmp_path)
    assert set(made) == set(range(40))
    assert all(made.count(seed) == 1 for seed in kept)


def test_a_run_that_raises_is_named_with_its_error(address: str, tmp_path: Path) -> None:
    tasks = [{"seed": seed, "kind": "plain"} for seed in range(6)]
    with pytest.raises(RunError, match=r"failing\(seed=2, kind='plain'\) failed: ValueError: no good") as caught:
        run_all(failing, tasks, title="", out=tmp_path, dask=address)
    assert isinstance(caught.value.__cause__, ValueError)


def test_a_run_that_kills_its_workers_is_named(address: str, tmp_path: Path) -> None:
    with pytest.raises(RunError, match="died again and again during deadly"):
        run_all(deadly, SEEDS[3:4], title="", out=tmp_path, dask=address)
    assert run_all(deadly, SEEDS[:3], title="", out=tmp_path, dask=address) == [0, 1, 2]
    assert len((tmp_path / "manifest.jsonl").read_text().splitlines()) == 3


def test_another_version_on_the_workers_is_an_error(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "__version__", "99")
    with pytest.raises(RunError, match=r"has driftwise .*; driftwise 99 is needed"):
        run_all(deadly, SEEDS[:1], title="", dask=address)


def test_no_scheduler_is_said_in_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "PATIENCE", 0.5)
    with pytest.raises(
        RunError, match=r"^There is no Dask scheduler at tcp://127.0.0.1:9; `dask scheduler` starts one\.$"
    ):
        run_all(deadly, SEEDS[:1], title="", dask="tcp://127.0.0.1:9")
    with pytest.raises(ParameterError, match="looks like tcp://host:8786, got 'nowhere'"):
        run_all(deadly, SEEDS[:1], title="", dask="nowhere")


def test_a_cluster_without_workers_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "PATIENCE", 1.0)
    with distributed.LocalCluster(n_workers=0, processes=True, dashboard_address=":0") as empty:
        where = empty.scheduler_address
        with pytest.raises(RunError, match=f"has no workers; `dask worker {where}` starts one"):
            run_all(deadly, SEEDS[:1], title="", dask=where)


def test_a_missing_package_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingExtraError, match=r"sweep needs distributed.*'driftwise\[dask\]'"):
        run_all(deadly, SEEDS[:1], title="", dask="tcp://127.0.0.1:9")
