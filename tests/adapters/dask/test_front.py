"""A fleet on a cluster has the numbers of one in this process, whoever is killed meanwhile."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import driftwise as dw
from driftwise.adapters.dask import DaskFleet, link
from driftwise.errors import (
    CheckpointError,
    HorizonError,
    InputError,
    OrderError,
    ParameterError,
    RunError,
    StorageError,
)

distributed = pytest.importorskip("distributed")

SIZE, DIM = 23, 3
Kill = Callable[[str], None]


def fleet() -> dw.Fleet:
    learner = dw.Scream(dw.Ball(DIM), switching_cost=0.5, gradient_bound=4.0, horizon=10_000)
    return dw.Fleet(learner, SIZE)


def gradients(t: int, size: int = SIZE) -> Any:
    return np.random.default_rng([7, t]).normal(size=(size, DIM))


def places(far: DaskFleet) -> list[str]:
    return [post.link._actor._address for post in far._posts]


def test_all_verbs_have_the_numbers_of_a_fleet_here(client: Any) -> None:
    near = fleet()
    with near.on_dask(client, shards=3, every=4) as far:
        assert (len(far), far.dim, far.shards, far.round) == (SIZE, DIM, 3, 0)
        for t in range(9):
            np.testing.assert_array_equal(far.act(), near.act())
            near.observe(gradients(t))
            far.observe(gradients(t))
        some = np.array([21, 0, 9, 8])
        np.testing.assert_array_equal(far.act(ids=some), near.act(ids=some))
        np.testing.assert_array_equal(far.step(some, gradients(9, 4)), near.step(some, gradients(9, 4)))
        for part in (near, far):
            part.skip([3, 20])
            part.skip()
            part.remove([2, 9])
            part.replace(7, near.member(0))
        joined = dw.Fleet.of([near.member(4), near.member(5)])
        assert far.add(near.member(1)).tolist() == near.add(near.member(1)).tolist() == [23]
        assert far.add(joined).tolist() == near.add(joined).tolist() == [24, 25]
        np.testing.assert_array_equal(far.ids, near.ids)
        for t in range(3):
            np.testing.assert_array_equal(far.act(), near.act())
            near.observe(gradients(t, len(near)))
            far.observe(gradients(t, len(far)))
        mine, ours = far.member(24), near.member(24)
        assert mine.round == ours.round
        np.testing.assert_array_equal(mine.act(), ours.act())
        assert far.round == 15
        here = far.gather()
        np.testing.assert_array_equal(here.act(), near.act())
        np.testing.assert_array_equal(here.ids, near.ids)
        assert here.add(near.member(0)).tolist() == near.add(near.member(0)).tolist()


def test_a_saved_fleet_is_an_ordinary_one(client: Any, tmp_path: Path) -> None:
    near = fleet()
    with near.on_dask(client, shards=2) as far:
        far.act()
        far.observe(gradients(0))
        far.save(tmp_path / "fleet")
        np.testing.assert_array_equal(dw.load(tmp_path / "fleet").act(), far.act())


@pytest.mark.parametrize("folder", [True, False], ids=["files", "memory"])
def test_a_killed_workers_shard_comes_back_and_catches_up(
    client: Any, kill: Kill, tmp_path: Path, folder: bool
) -> None:
    near = fleet()
    with near.on_dask(client, shards=3, checkpoint=tmp_path / "kept" if folder else None, every=6) as far:
        for t in range(20):
            np.testing.assert_array_equal(far.act(), near.act())
            if t == 9:  # three calls after a checkpoint, at rest
                kill(places(far)[0])
            if t == 13:  # and in the middle of a call
                address = places(far)[1]
                pid = next(iter(client.run(os.getpid, workers=[address]).values()))
                timer = threading.Timer(0.003, os.kill, (pid, signal.SIGKILL))
                timer.start()
            near.observe(gradients(t))
            far.observe(gradients(t))
        timer.join()
        assert far.round == 20
        np.testing.assert_array_equal(far.gather().act(), near.act())
        for ours in near.ids.tolist():
            assert far.member(ours).round == 20


def test_a_worker_that_dies_while_nobody_looks_loses_no_step(client: Any, kill: Kill) -> None:
    near, rng = fleet(), np.random.default_rng(0)
    with near.on_dask(client, shards=2, every=50) as far:
        for t in range(12):
            ids = rng.permutation(SIZE)[:7]
            if t in (4, 8):
                kill(places(far)[t // 8])
            np.testing.assert_array_equal(far.step(ids, gradients(t, 7)), near.step(ids, gradients(t, 7)))
        np.testing.assert_array_equal(far.act(), near.act())


RUN = """
import os, sys, numpy as np, distributed, driftwise as dw
from driftwise.adapters.dask import DaskFleet
from tests.adapters.dask.test_front import fleet, gradients

address, folder, resume = sys.argv[1:]
with distributed.Client(address, set_as_default=False) as client:
    if resume == "yes":
        far = DaskFleet.resume(client, folder, every=5)
    else:
        far = fleet().on_dask(client, shards=2, checkpoint=folder, every=5)
    print("round", far.round, flush=True)
    while far.round < 400:
        far.act()
        far.observe(gradients(far.round))
        print(far.round, flush=True)
"""


def test_a_killed_run_goes_on_from_a_round_that_it_states(client: Any, tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    for resume, least in (("no", 13), ("yes", 31)):  # the whole run is killed twice
        command = [sys.executable, "-c", RUN, client.scheduler.address, str(folder), resume]
        root = str(Path(__file__).parents[3])
        paths = os.pathsep.join([root, str(Path(dw.__file__).parents[1])])
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True, cwd=root, env=os.environ | {"PYTHONPATH": paths}
        ) as run:
            assert run.stdout is not None
            for line in run.stdout:
                if line.strip().isdigit() and int(line) >= least:
                    run.send_signal(signal.SIGKILL)
                    break
        assert run.returncode == -signal.SIGKILL
    with DaskFleet.resume(client, folder) as far:
        assert 30 <= far.round <= 40
        assert far.round % 5 == 0
        near = fleet()
        for t in range(far.round):
            near.act()
            near.observe(gradients(t))
        for t in range(far.round, far.round + 5):
            np.testing.assert_array_equal(far.act(), near.act())
            far.observe(gradients(t))
            near.observe(gradients(t))
        at = far.round
    with DaskFleet.resume(client, folder) as again:  # leaving made a checkpoint
        assert again.round == at
        np.testing.assert_array_equal(again.act(), near.act())


def test_a_refused_call_leaves_everybody_as_they_were(client: Any) -> None:
    near = fleet()
    short = dw.Scream(dw.Ball(DIM), switching_cost=0.5, gradient_bound=4.0, horizon=2)
    with near.on_dask(client, shards=2, every=50) as far:
        with pytest.raises(OrderError, match="observe was called before act"):
            far.observe(gradients(0))
        first = far.act()
        bad = gradients(0)
        bad[5, 1] = np.nan
        wrong: list[tuple[Any, str]] = [(bad, "row 5 is not"), (gradients(0, 4), r"shape \(23, 3\)"), ("no", "real")]
        for given, said in wrong:
            with pytest.raises(InputError, match=said):
                far.observe(given)
        for ids, said in (([99], "no member 99"), ([1, 1], "once"), ([0.5], "whole numbers"), ([[1]], "whole")):
            with pytest.raises(InputError, match=said):
                far.step(ids, gradients(0, 1))
        np.testing.assert_array_equal(far.act(), first)
        with pytest.raises(InputError, match="not in 1"):
            far.add(dw.OGD(dw.Ball(1), step=1.0))
        with pytest.raises(ParameterError, match="a learner or a Fleet"):
            far.add("learner")
        # Only one shard refuses this, when the other has taken it in: both are as they were.
        (last,) = far.add(short)
        near.add(short)
        for t in range(2):
            np.testing.assert_array_equal(far.act(), near.act())
            near.observe(gradients(t, SIZE + 1))
            far.observe(gradients(t, SIZE + 1))
        with pytest.raises(HorizonError):
            far.step([0, last], gradients(2, 2))
        assert far.round == 2
        far.remove([last])
        near.remove([last])
        np.testing.assert_array_equal(far.act(), near.act())


def test_rows_that_are_passed_over_are_those_of_a_fleet_here(client: Any) -> None:
    near = dw.Fleet(dw.OGD(dw.Ball(DIM), step=0.1), SIZE, on_bad_input="skip")
    with near.on_dask(client, shards=2) as far:
        bad = gradients(0)
        bad[[5, 20], 1] = np.nan
        for one in (near, far):
            one.act()
            one.observe(bad)
        np.testing.assert_array_equal(far.act(), near.act())
        assert far.gather().refused.tolist() == near.refused.tolist()


def test_no_worker_is_said_within_the_patience_and_nothing_is_lost(tmp_path: Path) -> None:
    near = fleet()
    with (
        distributed.LocalCluster(n_workers=1, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        far = near.on_dask(client)
        np.testing.assert_array_equal(far.act(), near.act())
        cluster.scale(0)
        deadline = time.monotonic() + 20
        while client.nthreads():
            assert time.monotonic() < deadline
            time.sleep(0.05)
        far._cluster.patience = 2.0
        with pytest.raises(RunError, match="no worker for 2 seconds; start one with `dask worker tcp://"):
            far.observe(gradients(0))
        assert far.round == 0
        cluster.scale(1)
        client.wait_for_workers(1, timeout=30)
        far._cluster.patience = 30.0
        near.observe(gradients(0))
        far.observe(gradients(0))  # the same call again
        np.testing.assert_array_equal(far.act(), near.act())
        far.close()
        with pytest.raises(RunError, match="was closed"):
            far.act()


def test_a_worker_that_does_not_answer_is_an_error(client: Any, kill: Kill, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link, "LOOK", 0.1)
    near = fleet()
    far = near.on_dask(client, shards=1)
    far.act()
    (address,) = places(far)
    (pid,) = client.run(os.getpid, workers=[address]).values()
    os.kill(pid, signal.SIGSTOP)
    try:
        far._cluster.patience = 0.5
        with pytest.raises(RunError, match=r"has not answered for 0\.5 seconds"):
            far.observe(gradients(0))
    finally:
        os.kill(pid, signal.SIGCONT)
    far._cluster.patience = 30.0
    near.act()
    near.observe(gradients(0))
    far.observe(gradients(0))
    np.testing.assert_array_equal(far.act(), near.act())
    far.close()


def test_what_cannot_be_done_is_refused_before_anything_begins(client: Any, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="client must be a distributed"):
        fleet().on_dask("tcp://127.0.0.1:8786")
    with pytest.raises(ParameterError, match="an empty fleet"):
        dw.Fleet(dw.OGD(dw.Ball(1), step=1.0), 0).on_dask(client)
    with pytest.raises(ParameterError, match="for fleets of learners"):
        dw.Fleet(dw.Committee(2), 3).on_dask(client)
    with pytest.raises(ParameterError, match="at most 23"):
        fleet().on_dask(client, shards=24)
    with pytest.raises(ParameterError, match="every"):
        fleet().on_dask(client, every=0)
    with fleet().on_dask(client, checkpoint=tmp_path / "kept"):
        pass
    with pytest.raises(ParameterError, match="holds the checkpoints of a fleet"):
        fleet().on_dask(client, checkpoint=tmp_path / "kept")
    with pytest.raises(StorageError):
        DaskFleet.resume(client, tmp_path / "nowhere")
    shard = next((tmp_path / "kept").glob("shard-*"))
    shard.write_bytes(shard.read_bytes()[:-1])
    with pytest.raises(CheckpointError, match="damaged or cut short"):
        DaskFleet.resume(client, tmp_path / "kept")


def test_checkpoints_come_early_when_there_is_much_to_keep(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("driftwise.adapters.dask.front.KEPT_BYTES", 3 * SIZE * DIM * 8)
    with fleet().on_dask(client, shards=2, every=1000) as far:
        most = 0
        for t in range(12):
            far.act()
            far.observe(gradients(t))
            most = max(most, *(len(post.log) for post in far._posts))
        assert most == 4
