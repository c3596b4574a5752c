"""The link to one shard: an actor on some worker, waited for within bounds, and made anew when its worker is lost."""

import contextlib
import time
from collections.abc import Sequence
from typing import Any

from driftwise._extras import optional
from driftwise._validate import describe
from driftwise.adapters.dask.shard import Buffer, Outcome, Shard
from driftwise.errors import ParameterError, RunError

PATIENCE = 60.0
"""Seconds to wait for a worker to answer, and for a worker to come."""

LOOK = 0.5
"""Seconds between two looks at whether a worker that does not answer is still there."""

DEATHS = 4
"""Workers that may die of one and the same call."""


class Lost(Exception):
    """The worker that had a shard is gone."""


class Cluster:
    """A client of a Dask cluster, and how long to wait for it.

    Parameters
    ----------
    owner : str
        Who complains.
    client : distributed.Client
        The client, which stays open.
    patience : float
        Seconds to wait for an answer, and for a worker.
    """

    def __init__(self, owner: str, client: Any, patience: float) -> None:
        distributed = optional(owner, "distributed", "dask")
        if not isinstance(client, distributed.Client) or client.asynchronous:
            raise ParameterError(
                f"{owner}: client must be a distributed.Client that is not asynchronous, got {describe(client)}."
            )
        self.owner, self.client, self.patience = owner, client, patience

    def workers(self) -> list[str]:
        """Return the addresses of the workers that are there now."""
        try:
            return sorted(self.client.sync(self.client.scheduler.ncores, callback_timeout=self.patience))
        except Exception as error:  # closed, refused, timed out: whatever it is, there is no talking to it
            raise RunError(f"{self.owner}: the connection to the Dask scheduler was lost: {error!r:.200}.") from error

    def wait_for_workers(self) -> int:
        """Return the number of workers, once there is one."""
        deadline = time.monotonic() + self.patience
        while not (found := self.workers()):
            if time.monotonic() > deadline:
                raise RunError(
                    f"{self.owner}: the Dask cluster has had no worker for {self.patience:g} seconds; start one with "
                    f"`dask worker {self.client.scheduler.address}` and call again: nothing was lost."
                )
            time.sleep(min(LOOK, 0.1))
        return len(found)

    def result(self, future: Any) -> Any:
        """Wait for a task as long as there are workers, and return its value or raise its error."""
        last = time.monotonic()
        while True:
            try:
                outcome: Outcome = future.result(timeout=LOOK)
                break
            except TimeoutError:
                if self.workers():
                    last = time.monotonic()
                elif time.monotonic() > last + self.patience:
                    self.wait_for_workers()  # says what is wrong
            except Exception as error:  # a task never raises: what fails is the way to it
                raise RunError(f"{self.owner}: a task was lost again and again: {error!r:.300}.") from error
        if outcome.error is not None:
            raise outcome.error
        return outcome.value


class Link:
    """A shard on some worker.

    Parameters
    ----------
    cluster : Cluster
        Where it lives.
    """

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self._future: Any = None
        self._actor: Any = None

    @property
    def up(self) -> bool:
        """Whether there is a shard at the other end, as far as is known."""
        return self._actor is not None

    def start(self, source: Buffer | str, done: int, classes: Sequence[type]) -> None:
        """Make the shard on one of the workers, in the state that it is given."""
        self.drop()
        self.cluster.wait_for_workers()
        client = self.cluster.client
        try:
            with client.as_current():  # a proxy of an actor finds its client here, and only here
                self._future = client.submit(Shard, actor=True, pure=False)
                self._actor = self._future.result(timeout=self.cluster.patience)
        except Exception as error:
            self.drop()
            if self.cluster.workers():
                raise RunError(f"{self.cluster.owner}: no worker takes a shard: {error!r:.200}.") from error
            raise Lost from error
        self.read(self.send("begin", source, done, classes))

    def drop(self) -> None:
        """Forget the shard; a worker that has it may forget it too."""
        if self._future is not None:
            with contextlib.suppress(Exception):
                self._future.release()
        self._future = self._actor = None

    def send(self, method: str, *given: Any) -> Any:
        """Send a call on its way; what is returned is for `read`."""
        if self._actor is None:
            raise Lost
        try:
            return getattr(self._actor, method)(*given)
        except Exception as error:  # the proxy's own: it knows that the worker was lost
            raise Lost from error

    def read(self, pending: Any) -> Any:
        """Wait for an answer, and raise the error that it is; `Lost` if the worker is."""
        deadline = time.monotonic() + self.cluster.patience
        while True:
            try:
                outcome: Outcome = pending.result(timeout=LOOK)
                break
            except TimeoutError:
                if self._actor._address not in self.cluster.workers():
                    raise Lost from None
                if time.monotonic() > deadline:
                    raise RunError(
                        f"{self.cluster.owner}: the worker {self._actor._address} has not answered for "
                        f"{self.cluster.patience:g} seconds; if it is at work, give a longer patience=."
                    ) from None
            except Exception as error:  # a shard never raises: what fails is the way to it
                raise Lost from error
        if outcome.error is not None:
            raise outcome.error
        return outcome.value
