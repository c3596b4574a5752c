"""What the front knows of one shard: its members, its last checkpoint, and every call since."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from driftwise._validate import Indices
from driftwise.adapters.dask.link import DEATHS, Cluster, Link, Lost
from driftwise.adapters.dask.shard import Buffer
from driftwise.errors import RunError


class Post:
    """One shard, wherever it is: a call is answered by a shard that has made all calls before it.

    Parameters
    ----------
    cluster : Cluster
        Where shards live.
    source : array of bytes, or str
        The state to begin with: a checkpoint, or the file that it is in.
    ids, local : array of int64
        The members' names in the whole fleet and in this shard.
    classes : sequence of types
        Classes outside driftwise that may be in a checkpoint.
    """

    def __init__(
        self, cluster: Cluster, source: Buffer | str, ids: Indices, local: Indices, classes: Sequence[type]
    ) -> None:
        self.cluster, self.ids, self.local, self.classes = cluster, ids, local, classes
        self.link = Link(cluster)
        self.source, self.base = source, 0
        self.log: list[tuple[Any, ...]] = []

    @property
    def logged(self) -> int:
        """Bytes of arrays that are kept to be sent again."""
        return sum(part.nbytes for call in self.log for part in call if isinstance(part, np.ndarray))

    def send(self, method: str, *given: Any) -> Any:
        """Send a call, or None if the shard is not there; what is returned is for `answer`."""
        try:
            return self.link.send(method, *self._numbered(method, given))
        except Lost:
            self.link.drop()
            return None

    def answer(self, pending: Any, method: str, *given: Any) -> Any:
        """Return the answer to what was sent; if the worker is lost, from another that has caught up."""
        for _ in range(DEATHS):
            try:
                if pending is None:
                    self.revive()
                    pending = self.link.send(method, *self._numbered(method, given))
                return self.link.read(pending)
            except Lost:
                self.link.drop()
                pending = None
        raise RunError(
            f"{self.cluster.owner}: {DEATHS} workers died one after another at the same call, {given[0]!r} of a shard "
            f"of {self.ids.size} members: it needs more memory than they have, or it crashes; try more shards=."
        )

    def revive(self) -> None:
        """Make the shard anew from its checkpoint, unless it is there, and have it make all calls since."""
        if self.link.up:
            return
        self.link.start(self.source, self.base, self.classes)
        for number, call in enumerate(self.log, self.base + 1):
            self.link.read(self.link.send("call", number, *call))

    def took(self, call: tuple[Any, ...]) -> None:
        """Keep a call that was made."""
        self.log.append(call)

    def kept(self, source: Buffer | str) -> None:
        """Begin from a new checkpoint from now on."""
        self.source, self.base, self.log = source, self.base + len(self.log), []

    def _numbered(self, method: str, given: tuple[Any, ...]) -> tuple[Any, ...]:
        return (self.base + len(self.log) + 1, *given) if method == "call" else given
