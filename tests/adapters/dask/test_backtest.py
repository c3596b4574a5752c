"""A backtest is what `play` says here, whatever the number of workers and shards, and whoever is killed."""

import hashlib
import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import driftwise as dw
from driftwise.adapters.dask import backtest
from driftwise.errors import InputError, ParameterError, RunError

distributed = pytest.importorskip("distributed")

SERIES = 31


def learner() -> dw.Learner:
    return dw.SelfTunedScream(dw.Box([-3.0], [3.0]), switching_cost=0.3)


def series(count: int = SERIES) -> list[dw.LossStream]:
    """Return series of different lengths."""
    walks = (np.random.default_rng([3, i]).normal(size=(40 + i % 5, 1)).cumsum(axis=0) / 4 for i in range(count))
    return [dw.TrackingLoss(walk) for walk in walks]


def digest(trace: Any) -> str:
    """Return a hash of every number of a result."""
    parts = [trace.ids, trace.rounds, trace.total_loss, trace.total_switching, *(trace.decisions or ())]
    return hashlib.sha256(b"".join(part.tobytes() for part in parts)).hexdigest()


class Slow(dw.TrackingLoss):
    """A series that leaves a mark when it is asked for a round, and takes its time."""

    def __init__(self, folder: str) -> None:
        super().__init__(np.ones((3, 1)))
        self.folder = folder

    def __len__(self) -> int:
        mark = Path(self.folder) / f"{os.getpid()}"
        if not mark.exists() and Path(self.folder).exists():
            mark.touch()
            time.sleep(1.0)
        return super().__len__()


def test_the_numbers_of_workers_and_shards_do_not_matter() -> None:
    here = digest(dw.play(dw.Fleet(learner(), SERIES), series(), 0.3, record=True))
    found = []
    with (
        distributed.LocalCluster(n_workers=1, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        for workers, shards in ((1, 1), (2, 5), (4, None)):
            cluster.scale(workers)
            client.wait_for_workers(workers, timeout=60)
            found.append(digest(backtest(client, learner(), series(), 0.3, record=True, shards=shards)))
    assert found == [here] * 3


def test_a_fleet_plays_from_where_it_is_and_is_left_as_it_was(client: Any) -> None:
    near = dw.Fleet.of([dw.OGD(dw.Ball(1), step=0.1 + 0.01 * i) for i in range(SERIES)])
    near.remove([3, 4])
    before = near.to_bytes()
    trace = backtest(client, near, series(SERIES - 2), dw.MoveCost(up=2.0, down=1.0), shards=4)
    assert near.to_bytes() == before
    assert trace.decisions is None
    assert digest(trace) == digest(dw.play(near, series(SERIES - 2), dw.MoveCost(up=2.0, down=1.0)))


def test_the_task_of_a_killed_worker_is_run_again(client: Any, tmp_path: Path) -> None:
    killed: list[int] = []

    def hunt() -> None:
        deadline = time.monotonic() + 30.0
        while not killed and time.monotonic() < deadline:
            for mark in tmp_path.iterdir():
                if int(mark.name) != os.getpid() and not killed:
                    os.kill(int(mark.name), signal.SIGKILL)
                    killed.append(int(mark.name))
            time.sleep(0.01)

    (tmp_path / str(os.getpid())).touch()  # this process is not to sleep
    hunter = threading.Thread(target=hunt)
    hunter.start()
    slow: list[dw.LossStream] = [Slow(str(tmp_path)) for _ in range(6)]
    trace = backtest(client, dw.OGD(dw.Ball(1), step=0.1), slow, shards=3)
    hunter.join()
    assert killed
    plain = dw.play(dw.OGD(dw.Ball(1), step=0.1), dw.TrackingLoss(np.ones((3, 1))))
    assert trace.total_loss.tolist() == [plain.total_loss] * 6


def test_what_is_wrong_with_a_series_is_said(client: Any) -> None:
    with pytest.raises(InputError, match="31 series for the 30 members"):
        backtest(client, dw.Fleet(learner(), 30), series())
    with pytest.raises(InputError, match="losses must be loss streams"):
        backtest(client, learner(), series()[0])  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="every one of losses"):
        backtest(client, learner(), [1.0])  # type: ignore[list-item]
    with pytest.raises(ParameterError, match="a Learner or a Fleet"):
        backtest(client, "scream", series())  # type: ignore[arg-type]
    wide: list[dw.LossStream] = [*series(3), dw.TrackingLoss(np.zeros((5, 2)))]
    with pytest.raises(InputError, match="dim"):
        backtest(client, learner(), wide)


def test_a_cluster_without_workers_is_an_error() -> None:
    with (
        distributed.LocalCluster(n_workers=0, processes=True, dashboard_address=":0") as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
        pytest.raises(RunError, match=r"no worker for 0\.5 seconds"),
    ):
        backtest(client, learner(), series(), patience=0.5)
