import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from driftwise.errors import MissingExtraError, ParameterError, RunError
from driftwise.experiments.sweep import cluster, sweep
from driftwise.experiments.sweep.sweep import run_all
from tests.experiments.runs import deadly, digest, failing, killed_once, marks, solve

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
