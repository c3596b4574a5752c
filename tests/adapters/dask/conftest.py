"""A small cluster of real processes, one for all tests of a file."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """Start two workers, each a process that is started again when it dies."""
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        client.wait_for_workers(2, timeout=30)
        yield client


@pytest.fixture
def kill(client: Any) -> Callable[[str], None]:
    """Return what kills the worker at an address with the signal that no process can catch."""

    def killed(address: str) -> None:
        (pid,) = client.run(os.getpid, workers=[address]).values()
        os.kill(pid, signal.SIGKILL)

    return killed


def wait_until(happens: Callable[[], bool], seconds: float = 30.0) -> None:
    """Wait for something, and fail if it does not come."""
    deadline = time.monotonic() + seconds
    while not happens():
        assert time.monotonic() < deadline
        time.sleep(0.05)
