"""Runs on a Dask cluster, which starts the runs of a lost worker again on another."""

import contextlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from driftwise import __version__
from driftwise._extras import optional
from driftwise.errors import ParameterError, RunError
from driftwise.experiments.sweep.result import Result
from driftwise.experiments.sweep.task import Configuration, attempt_packed, call, killers, pack
from driftwise.experiments.sweep.workers import Attempts, Task

PATIENCE = 10.0
"""Seconds to wait for a connection, and for a first worker."""


def on_cluster(function: Callable[..., Result], tasks: Iterable[Task], address: str) -> Attempts:
    """Run on the workers of the scheduler at an address; the cluster is left as it was."""
    distributed = optional("sweep", "distributed", "dask")
    packed = pack(function, function)
    tasks = list(tasks)
    arguments = [pack(function, dict(configuration)) for _, configuration in tasks]
    with _connected(distributed, address) as client:
        # Not pure: a run is made again even if the cluster still knows the result of an equal one.
        futures = client.map(attempt_packed, [packed] * len(tasks), arguments, pure=False, key="driftwise")
        places = {future.key: task for future, task in zip(futures, tasks, strict=True)}
        try:
            for batch in distributed.as_completed(futures, loop=client.loop).batches():
                finished = [future for future in batch if future.status == "finished"]
                for future, tried in zip(finished, client.gather(finished), strict=True):
                    yield places.pop(future.key)[0], tried
                for future in batch:
                    if future not in finished:
                        raise _lost(function, places[future.key][1], address, future)
        except OSError as error:
            raise RunError(f"The connection to the Dask cluster at {address} was lost: {error}.") from error
        finally:
            with contextlib.suppress(Exception):
                client.cancel([future for future in futures if future.key in places])


def _lost(function: Callable[..., Result], configuration: Configuration, address: str, future: Any) -> RunError:
    """Return the error to raise for a run that gave nothing back; one that fails gives its error."""
    if future.status == "error" and type(future.exception()).__name__ == "KilledWorker":
        return killers(function, [configuration])
    return RunError(f"The Dask cluster at {address} lost {call(function, configuration)} ({future.status}).")


@contextlib.contextmanager
def _connected(distributed: Any, address: str) -> Iterator[Any]:
    """Give a client of a cluster that has workers with this version of driftwise."""
    if "://" not in address:
        raise ParameterError(f"The address of a Dask scheduler looks like tcp://host:8786, got {address!r}.")
    try:
        client = distributed.Client(address, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError):
        raise RunError(f"There is no Dask scheduler at {address}; `dask scheduler` starts one.") from None
    with contextlib.closing(client):
        try:
            client.wait_for_workers(1, timeout=PATIENCE)
        except TimeoutError:
            raise RunError(
                f"The Dask cluster at {address} has no workers; `dask worker {address}` starts one."
            ) from None
        # A lambda is sent whole, so that it runs where driftwise is missing too.
        versions = client.run(lambda: __import__("driftwise").__version__, on_error="return")
        for worker, version in versions.items():
            if version != __version__:
                found = f"driftwise {version}" if isinstance(version, str) else f"no driftwise ({version})"
                raise RunError(
                    f"The worker {worker} of the Dask cluster has {found}; driftwise {__version__} is needed."
                )
        yield client
