"""The front of a fleet on a Dask cluster: the verbs of a fleet, for shards that are on many machines."""

from collections.abc import Callable, Iterable, Sequence
from os import PathLike
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from driftwise._compile import LARGEST
from driftwise._validate import Array, Checked, Indices, describe, loose, number, read_only, whole
from driftwise.adapters.dask.keeping import Folder
from driftwise.adapters.dask.link import PATIENCE, Cluster
from driftwise.adapters.dask.post import Post
from driftwise.adapters.dask.shard import as_buffer
from driftwise.checkpoint import from_bytes
from driftwise.errors import InputError, OrderError, ParameterError, RunError
from driftwise.fleet import Fleet
from driftwise.learners import Committee, Learner

EVERY = 100
"""Calls between two checkpoints."""

KEPT_BYTES = 1 << 30
"""Bytes of feedback that the front keeps at most: beyond, it makes a checkpoint early."""

Path = str | PathLike[str]


class DaskFleet(metaclass=Checked):
    """A fleet whose members live on the workers of a Dask cluster, with the verbs and the numbers of a `Fleet`.

    Made by `Fleet.on_dask`, or from a folder of checkpoints by `DaskFleet.resume`. The fleet is cut into shards, each
    a Dask actor. A shard whose worker dies is made anew on another from its last checkpoint, and the feedback that
    it has had since is sent to it again, so that its decisions are, bit for bit, those of a shard that never died.

    A call is made by all shards that it is for, or it raises and leaves every member as it was. No call waits for a
    worker for longer than `patience`. The fleet may be used by one thread at a time. Leave it with `close`, or use it
    in a ``with`` statement.

    Parameters
    ----------
    posts, cluster, folder, every, state
        What `Fleet.on_dask` and `DaskFleet.resume` give it; call these.

    Attributes
    ----------
    round : int
        Number of calls of `observe`, `step` and `skip` so far, over all runs of this fleet. After `resume`, go on with
        the feedback of this round.

    Examples
    --------
    >>> import distributed
    >>> import numpy as np
    >>> import driftwise as dw
    >>> shops = dw.Fleet(dw.SelfTunedScream(dw.Ball(2), switching_cost=1.0), 4)
    >>> with distributed.Client(processes=False, n_workers=1, dashboard_address=None, set_as_default=False) as client:
    ...     with shops.on_dask(client, shards=2) as far:
    ...         for _ in range(3):
    ...             stock = far.act()
    ...             far.observe(np.ones((4, 2)))
    ...         far.round, far.act().round(3)[0]
    (3, array([-0.075, -0.075]))
    """

    def __init__(
        self, posts: list[Post], cluster: Cluster, folder: Folder | None, every: int, state: dict[str, Any]
    ) -> None:
        self._posts, self._cluster, self._folder, self._every = posts, cluster, folder, every
        self.dim, self._strict, self._next = int(state["dim"]), bool(state["strict"]), int(state["next"])
        self.round = int(state["round"])
        self._decisions: Array | None = None
        self._acted = self._closed = False

    @classmethod
    def cut(
        cls,
        fleet: Fleet,
        client: Any,
        *,
        shards: int | None,
        checkpoint: Path | None,
        every: int,
        patience: float,
        classes: Sequence[type],
    ) -> Self:
        """Cut a fleet into shards and put them on the workers; `Fleet.on_dask` says what the parameters are."""
        cluster, every = _read("Fleet.on_dask", client, every, patience)
        folder = None if checkpoint is None else Folder("Fleet.on_dask", checkpoint)
        if len(fleet) == 0:
            raise ParameterError("Fleet.on_dask: an empty fleet cannot be cut; add a member first.")
        if isinstance(fleet.member(int(fleet.ids[0])), Committee):
            raise ParameterError(
                "Fleet.on_dask: this is for fleets of learners; committees need proposals every round."
            )
        count = None if shards is None else whole("Fleet.on_dask", "shards", shards, high=len(fleet))
        if folder is not None:
            folder.make()
        count = count or min(cluster.wait_for_workers(), len(fleet))
        ids = fleet.ids
        posts = []
        for mine in np.array_split(ids, count):
            part = fleet.clone()
            part.remove(np.setdiff1d(ids, mine, assume_unique=True))
            posts.append(Post(cluster, as_buffer(part.to_bytes()), mine, mine.copy(), classes))
        state = {"dim": fleet.dim, "strict": fleet.on_bad_input == "raise", "next": int(ids[-1]) + 1, "round": 0}
        made = cls(posts, cluster, folder, every, state)
        made.checkpoint()
        return made

    @classmethod
    def resume(
        cls,
        client: Any,
        folder: Path,
        *,
        every: int = EVERY,
        patience: float = PATIENCE,
        classes: Sequence[type] = (),
    ) -> Self:
        """Go on from the last checkpoint in a folder, after the whole run has ended or was killed.

        Parameters
        ----------
        client : distributed.Client
            Of any cluster; the number of its workers does not matter.
        folder : str or path
            What ``checkpoint=`` was. The run goes on to make its checkpoints there.
        every, patience, classes
            As in `Fleet.on_dask`.

        Returns
        -------
        DaskFleet
            In the state after ``fleet.round`` rounds: its next feedback is that of this round.
        """
        owner = "DaskFleet.resume"
        cluster, every = _read(owner, client, every, patience)
        kept = Folder(owner, folder)
        header, arrays, files = kept.read()
        ends = np.cumsum(arrays["sizes"])
        pieces = zip(files, np.split(arrays["ids"], ends[:-1]), np.split(arrays["local"], ends[:-1]), strict=True)
        posts = [Post(cluster, file, ids, local, classes) for file, ids, local in pieces]
        made = cls(posts, cluster, kept, every, header)
        made._ask(posts, "size")  # what cannot be read is said now
        return made

    def __len__(self) -> int:
        return sum(post.ids.size for post in self._posts)

    def __repr__(self) -> str:
        return f"DaskFleet({len(self)} members, dim={self.dim}, {self.shards} shards, round {self.round})"

    @property
    def ids(self) -> Indices:
        """Names of the members, in their order."""
        return np.concatenate([post.ids for post in self._posts])

    @property
    def shards(self) -> int:
        """Number of shards."""
        return len(self._posts)

    def act(self, ids: ArrayLike | None = None) -> Array:
        """Return the decisions of the round, read-only, shape (size, dim); the same until `observe`.

        Parameters
        ----------
        ids : int, or sequence of int, optional
            Ask only these members, in this order.
        """
        self._open()
        if ids is not None:
            positions = self._find("act", ids)
            return read_only(self._everybody()[positions])
        found = self._everybody()
        self._acted = True
        return found

    def observe(self, gradients: ArrayLike) -> None:
        """Take in what the decisions cost, for everybody or for nobody.

        Parameters
        ----------
        gradients : array of shape (size, dim)
            Gradients at the decisions, in the order of `ids`. Only gradients: loss objects do not travel.
        """
        self._open()
        if not self._acted:
            raise OrderError("DaskFleet: observe was called before act; call act() first, once a round.")
        rows = self._gradients("observe", gradients, len(self))
        ends = np.cumsum([post.ids.size for post in self._posts])
        parts = np.split(rows, ends[:-1])
        self._change([(post, ("observe", part)) for post, part in zip(self._posts, parts, strict=True)], self._took_in)

    def step(self, ids: ArrayLike, gradients: ArrayLike) -> Array:
        """Play one round with a part of the members: take in gradients, and return their next decisions, read-only.

        Parameters
        ----------
        ids : int, or sequence of int
            The members, each at most once.
        gradients : array of shape (len(ids), dim)
            Gradients at the present decisions of these members.
        """
        self._open()
        positions = self._find("step", ids)
        rows = self._gradients("step", gradients, positions.size)
        out = np.empty_like(rows)
        parts = self._split(positions)
        calls = [(post, ("step", post.local[mine], rows[places])) for post, mine, places in parts]

        def took(answers: list[Any]) -> None:
            for (_, _, places), answer in zip(parts, answers, strict=True):
                out[places] = answer
            self.round += 1
            self._decisions = None

        self._change(calls, took)
        return read_only(out)

    def skip(self, ids: ArrayLike | None = None) -> None:
        """End the round of some members without feedback; their next decision is the same.

        Parameters
        ----------
        ids : int, or sequence of int, optional
            The members; by default all of them.
        """
        self._open()
        if ids is None:
            self._change([(post, ("skip", None)) for post in self._posts], self._took_in)
            return
        parts = self._split(self._find("skip", ids))
        self._change([(post, ("skip", post.local[mine])) for post, mine, _ in parts], lambda _: self._counted())

    def add(self, what: Learner | Fleet) -> Indices:
        """Let a copy of a learner join, or of all members of a fleet; return their ids.

        Parameters
        ----------
        what : Learner or Fleet
            Whoever joins, with what they know. It goes into the last shard.
        """
        self._open()
        if not isinstance(what, Learner | Fleet):
            raise ParameterError(
                f"DaskFleet.add: give a learner or a Fleet, such as Fleet.of([...]), got {describe(what)}."
            )
        count, dim = (1, what.domain.dim) if isinstance(what, Learner) else (len(what), what.dim)
        if dim != self.dim:
            raise InputError(f"DaskFleet.add: the members decide in {self.dim} coordinates, not in {dim}.")
        post = self._posts[-1]  # so that the order of shards is the order of members
        ids = np.arange(self._next, self._next + count)

        def took(answers: list[Any]) -> None:
            post.ids = np.concatenate([post.ids, ids])
            post.local = np.concatenate([post.local, np.atleast_1d(np.asarray(answers[0], np.int64))])
            self._next += count
            self._counted(0)

        self._change([(post, ("add", as_buffer(what.to_bytes()), post.classes))], took)
        return ids

    def remove(self, ids: ArrayLike) -> None:
        """Let members go; the others keep their ids.

        Parameters
        ----------
        ids : int, or sequence of int
            The members, each at most once.
        """
        self._open()
        parts = self._split(self._find("remove", ids))

        def took(answers: list[Any]) -> None:
            for post, mine, _ in parts:
                post.ids, post.local = np.delete(post.ids, mine), np.delete(post.local, mine)
            self._counted(0)

        self._change([(post, ("remove", post.local[mine])) for post, mine, _ in parts], took)

    def replace(self, member: int, learner: Learner) -> None:
        """Put a copy of a learner in the place of a member.

        Parameters
        ----------
        member : int
            One of `ids`.
        learner : Learner
            Who is to be this member from now on.
        """
        self._open()
        ((post, mine, _),) = self._split(self._find("replace", [member]))
        call = ("replace", int(post.local[mine[0]]), as_buffer(learner.to_bytes()), post.classes)
        self._change([(post, call)], lambda _: self._counted(0))

    def member(self, member: int) -> Any:
        """Return a copy of a member: an ordinary learner that goes on as the member would, bit for bit.

        Parameters
        ----------
        member : int
            One of `ids`.
        """
        self._open()
        ((post, mine, _),) = self._split(self._find("member", [member]))
        (data,) = self._ask([post], "member", int(post.local[mine[0]]))
        return from_bytes(data.tobytes(), classes=post.classes)

    def gather(self) -> Fleet:
        """Return the whole fleet as a `Fleet` here, in the order of its members."""
        self._open()
        parts = [from_bytes(data.tobytes(), classes=self._posts[0].classes) for data in self._ask(self._posts, "bytes")]
        made: Fleet = parts[0]
        for part in parts[1:]:
            made.add(part)
        made._crew.columns.ids[:], made._crew.next = self.ids, self._next  # their names are those that they have here
        return made

    def save(self, path: Path) -> None:
        """Write the whole fleet to one file, which `driftwise.load` reads as a `Fleet`.

        Parameters
        ----------
        path : str or path
            The file, on this machine; one that exists is replaced, in one step.
        """
        self.gather().save(path)

    def checkpoint(self) -> None:
        """Make a checkpoint of every shard now, and forget the feedback that was kept until here."""
        self._open()
        if self._folder is None:
            for post, data in zip(self._posts, self._ask(self._posts, "bytes"), strict=True):
                post.kept(data)
            return
        files = [self._folder.name(number, self.round) for number in range(self.shards)]
        self._ask(self._posts, "save", each=[(file,) for file in files])
        arrays = {
            "ids": self.ids,
            "local": np.concatenate([post.local for post in self._posts]),
            "sizes": np.array([post.ids.size for post in self._posts], np.int64),
        }
        header = {"round": self.round, "next": self._next, "dim": self.dim, "strict": self._strict}
        self._folder.commit(header, arrays, files)
        for post, file in zip(self._posts, files, strict=True):
            post.kept(file)

    def close(self) -> None:
        """Make a last checkpoint if there is a folder for it, and take the shards from the workers."""
        if self._closed:
            return
        try:
            if self._folder is not None and any(post.log for post in self._posts):
                self.checkpoint()
        finally:
            self._release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.close()
        else:  # what went wrong is to be seen, not what a checkpoint would add to it
            self._release()

    def _release(self) -> None:
        self._closed = True
        for post in self._posts:
            post.link.drop()

    def _open(self) -> None:
        if self._closed:
            raise RunError("DaskFleet: this fleet was closed; DaskFleet.resume goes on from its last checkpoint.")

    def _everybody(self) -> Array:
        if self._decisions is None:
            self._decisions = read_only(np.concatenate(self._ask(self._posts, "act")))
        return self._decisions

    def _took_in(self, answers: list[Any]) -> None:
        """Count a round of everybody, and begin the next."""
        self.round += 1
        self._acted = False
        self._decisions = None if any(a is None for a in answers) else read_only(np.concatenate(answers))

    def _counted(self, rounds: int = 1) -> None:
        """Count a round of some, or a change of who there is."""
        self.round += rounds
        self._decisions = None

    def _gradients(self, verb: str, given: Any, count: int) -> Array:
        expected = f"real numbers of shape ({count}, {self.dim})"
        values = loose(f"DaskFleet.{verb}", "gradients", given, expected)
        if self.dim == 1 and values.ndim == 1:
            values = values[:, None]
        if values.shape != (count, self.dim) or values.dtype.kind not in "fiu":
            raise InputError(f"DaskFleet.{verb}: gradients must be {expected}, got {describe(given)}.")
        rows = np.array(values, np.float64, order="C")  # a copy: it is kept until the next checkpoint
        if self._strict and not np.all(np.abs(rows) <= LARGEST):
            bad = np.flatnonzero(~np.all(np.abs(rows) <= LARGEST, axis=1))
            raise InputError(
                f"DaskFleet.{verb}: gradients must be finite and at most {LARGEST:g}; row {bad[0]} is not, and "
                f"{bad.size - 1} more. No member has changed."
            )
        return rows

    def _find(self, verb: str, ids: ArrayLike) -> Indices:
        """Return the positions of members by their ids."""
        wanted = np.atleast_1d(np.asarray(ids))
        if wanted.ndim != 1 or (wanted.size and wanted.dtype.kind not in "iu"):
            raise InputError(f"DaskFleet.{verb}: ids must be whole numbers, got {describe(ids)}.")
        wanted, mine = wanted.astype(np.int64), self.ids
        positions = np.minimum(np.searchsorted(mine, wanted), mine.size - 1)
        missing = wanted[mine[positions] != wanted] if mine.size else wanted
        if missing.size:
            raise InputError(f"DaskFleet.{verb}: there is no member {missing[0]}.")
        if np.unique(positions).size < positions.size:
            raise InputError(f"DaskFleet.{verb}: every id may be named once.")
        return np.asarray(positions, np.int64)

    def _split(self, positions: Indices) -> list[tuple[Post, Indices, Indices]]:
        """Return for every shard that is concerned the places in it, and those in the call."""
        ends = np.cumsum([post.ids.size for post in self._posts])
        owner = np.searchsorted(ends, positions, side="right")
        parts = []
        for shard in np.unique(owner).tolist():
            places = np.flatnonzero(owner == shard)
            start = ends[shard] - self._posts[shard].ids.size
            parts.append((self._posts[shard], positions[places] - start, places))
        return parts

    def _change(self, calls: list[tuple[Post, tuple[Any, ...]]], took: Callable[[list[Any]], None]) -> None:
        """Make calls that change members: all of them, or none."""
        if any(len(p.log) >= self._every for p in self._posts) or sum(p.logged for p in self._posts) > KEPT_BYTES:
            self.checkpoint()  # before the call: if there is no room for it, nothing has happened yet
        try:
            pending = [post.send("call", *call) for post, call in calls]
            answers = [post.answer(sent, "call", *call) for sent, (post, call) in zip(pending, calls, strict=True)]
        except BaseException:
            # Some have made the call, some have not. All are made anew when they are next needed, as they were before.
            for post, _ in calls:
                post.link.drop()
            raise
        for post, call in calls:
            post.took(call)
        took(answers)

    def _ask(self, posts: list[Post], question: str, *given: Any, each: Iterable[tuple[Any, ...]] = ()) -> list[Any]:
        """Ask questions, which may be asked again."""
        asked = [(question, *more) for more in each] or [(question, *given)] * len(posts)
        pending = [post.send("ask", *one) for post, one in zip(posts, asked, strict=True)]
        return [post.answer(sent, "ask", *one) for post, sent, one in zip(posts, pending, asked, strict=True)]


def _read(owner: str, client: Any, every: int, patience: float) -> tuple[Cluster, int]:
    longest = number(owner, "patience", patience, low=0.0, exclusive=True)
    return Cluster(owner, client, longest), whole(owner, "every", every)
