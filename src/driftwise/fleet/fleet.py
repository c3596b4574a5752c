"""Many learners at once: the two verbs for all of them, one struct of arrays for those of one family."""

import math
import os
from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from driftwise._container import pack
from driftwise._files import write_atomically
from driftwise._html import Bar, Card, Shown
from driftwise._saving import Writer, header_of, savable
from driftwise._validate import Array, Checked, Indices, choice, describe, whole
from driftwise.errors import OrderError, ParameterError
from driftwise.fleet.crew import Crew
from driftwise.fleet.feedback import without_bad
from driftwise.fleet.playing import play_all
from driftwise.fleet.source import Source, copies
from driftwise.fleet.threads import usual_workers
from driftwise.fleet.trace import FleetTrace
from driftwise.learners import Committee, Learner
from driftwise.movecost import MoveCost
from driftwise.play import Many

Ids = int | Sequence[int] | Indices


@savable
class Fleet(Many, Shown, metaclass=Checked):
    """Many learners at once, each with the decisions that it would make alone, bit for bit.

    Parameters
    ----------
    learner : Learner or Committee
        What every member begins as: a copy of this one, with what it knows.
    size : int
        Number of members; 0 for a fleet that others are to join.
    switching_cost : array of shape (size,), or sequence of MoveCost, optional
        A price for each member in place of the learner's, which must not have begun yet.
    start : array of shape (size, dim), optional
        A first decision for each.
    radius : array of shape (size,), optional
        A radius of the domain for each.
    on_bad_input : {"raise", "skip"}, optional
        By default as `learner` has it. What to do if the feedback of some members is refused, such as a row with a NaN.
        "raise": an `InputError` that names the first of them, and nothing has changed for anybody. "skip": for these
        the round ends without feedback, and `refused` and `skipped` count it; a proposal of a committee with a NaN
        sleeps, and `refused` counts it.
    workers : int, optional
        Number of threads; by default that of the processors. Results do not depend on it.

    Notes
    -----
    Members keep the names that they were given when they joined, see `ids`; rows of decisions and of feedback are in
    the order of `ids`. Learners that driftwise has no struct of arrays for, such as your own, are members too: as
    objects, with the same verbs, in a plain Python loop.

    Examples
    --------
    >>> import numpy as np
    >>> import driftwise as dw
    >>> fleet = dw.Fleet(dw.SelfTunedScream(dw.Box([0.0], [9.0]), switching_cost=2.0), 1000)
    >>> demand = np.linspace(1.0, 8.0, 1000)
    >>> for t in range(50):
    ...     w = fleet.act()
    ...     fleet.observe(np.sign(w[:, 0] - demand))
    >>> fleet.act()[[0, 500, 999], 0].round(2)
    array([0.78, 4.39, 7.79])
    >>> fleet.member(500).round
    50
    """

    def __init__(
        self,
        learner: Learner | Committee,
        size: int,
        *,
        switching_cost: "ArrayLike | Sequence[MoveCost] | None" = None,
        start: ArrayLike | None = None,
        radius: ArrayLike | None = None,
        on_bad_input: str | None = None,
        workers: int | None = None,
    ) -> None:
        if not isinstance(learner, Learner | Committee):
            raise ParameterError(
                "Fleet: learner must be a Learner or a Committee, such as SelfTunedScream(Ball(2), switching_cost=1.0),"
                f" got {describe(learner)}."
            )
        count = whole("Fleet", "size", size, low=0)
        rule = learner.on_bad_input if on_bad_input is None else on_bad_input
        self._on_bad_input = choice("Fleet", "on_bad_input", rule, ("raise", "skip"))
        self._workers = None if workers is None else whole("Fleet", "workers", workers)
        self._pattern, self._crew = learner.clone(), Crew(learner)
        if count:
            self._crew.join(copies(learner, count, switching_cost, start, radius))

    @classmethod
    def of(
        cls, learners: "Iterable[Learner | Committee]", *, on_bad_input: str | None = None, workers: int | None = None
    ) -> Self:
        """Return a fleet of copies of these learners, in their order; those of one family share a struct of arrays.

        Parameters
        ----------
        learners : iterable of Learner, or of Committee
            They may be of different kinds, in different domains of as many coordinates.
        on_bad_input, workers : optional
            As in the constructor; by default as the first of them has it.

        Examples
        --------
        >>> import driftwise as dw
        >>> ball = dw.Ball(2)
        >>> dw.Fleet.of([dw.OGD(ball, step=0.1), dw.SelfTunedScream(ball, switching_cost=1.0)]).act().shape
        (2, 2)
        """
        given = list(learners)
        if not given:
            raise ParameterError(
                "Fleet.of: there must be at least one learner; Fleet(learner, 0) makes an empty fleet."
            )
        fleet = cls(given[0], 0, on_bad_input=on_bad_input, workers=workers)
        fleet.add(given)
        return fleet

    def __len__(self) -> int:
        return len(self._crew)

    @property
    def on_bad_input(self) -> str:
        """What is done if the feedback of some members is refused."""
        return self._on_bad_input

    @property
    def workers(self) -> int:
        """Number of threads."""
        return self._workers or usual_workers()

    @property
    def dim(self) -> int | None:
        """Number of coordinates of a decision; for committees None until the first proposals."""
        shape = self._crew.shape
        return None if shape is None else math.prod(shape)

    @property
    def ids(self) -> Indices:
        """Names of the members, ascending: 0, 1, ... in the order in which they joined."""
        return self._crew.columns.ids.copy()

    @property
    def rounds(self) -> Indices:
        """Rounds that are over for each member, those without feedback included."""
        return self._crew.columns.rounds.copy()

    @property
    def skipped(self) -> Indices:
        """Rounds of each member that ended without feedback."""
        return self._crew.columns.skipped.copy()

    @property
    def refused(self) -> Indices:
        """Inputs of each member that were refused and passed over, with ``on_bad_input="skip"``."""
        return self._crew.columns.refused.copy()

    @property
    def nbytes(self) -> int:
        """Bytes of memory that the fleet takes: states, constants, decisions and what it keeps of every member."""
        return self._crew.nbytes

    @property
    def bytes_per_member(self) -> float:
        """Bytes of memory for each member."""
        return self.nbytes / max(len(self), 1)

    def act(self, proposals: Any = None, *, ids: Ids | None = None) -> Array:
        """Return the decisions of this round, read-only, shape (size, dim); the same until `observe`.

        Parameters
        ----------
        proposals : array of shape (size, n) or (size, n, dim), for committees
            What the members of every committee propose. Decisions then have shape (size,) or (size, dim).
        ids : int, or sequence of int, optional
            Ask only these members, in this order.
        """
        crew = self._crew
        places = crew.places("Fleet.act", ids)
        if crew.committees:
            usable, refused = without_bad(proposals) if self._on_bad_input == "skip" else (proposals, 0)
            chosen: Any = slice(None) if places is None else places
            again = crew.columns.acted[chosen].copy()
            crew.propose("Fleet.act", places, usable)
            crew.columns.refused[chosen] += np.where(again, 0, refused)
            return crew.shown(places)
        if proposals is not None:
            raise ParameterError(
                "Fleet.act: proposals go with fleets of committees; these learners decide by themselves."
            )
        crew.refresh("Fleet.act", places)
        crew.has_acted(places)
        return crew.shown(places)

    def decisions(self, ids: Ids | None = None) -> Array:
        """Return the present decisions, as `act` does.

        Parameters
        ----------
        ids : int, or sequence of int, optional
            Those of these members only, in this order.
        """
        crew = self._crew
        if not crew.committees:
            return self.act(ids=ids)
        places = crew.places("Fleet.decisions", ids)
        crew.expect_acted("Fleet.decisions", places)
        crew.refresh("Fleet.decisions", places)
        return crew.shown(places)

    def observe(self, gradients: Any, *, ids: Ids | None = None) -> None:
        """Take in what the decisions cost, for everybody or for nobody.

        Parameters
        ----------
        gradients : array of shape (size, dim), or losses
            Gradients at the decisions, a row for each member. Or a loss for each: a sequence of them, in which None
            stands for no feedback; or a loss stream with as many rounds as there are members, whose loss i is that of
            the member in place i. Or one loss for all of them, such as ``stream[t]``. Or an object with a method
            ``gradient(decisions)`` that returns all gradients at once. For committees: losses of shape (size, n), or
            any of these losses. None alone is no feedback for anybody, as with `skip`.
        ids : int, or sequence of int, optional
            Only for these members, in this order.
        """
        places = self._crew.places("Fleet.observe", ids)
        self._crew.expect_acted("Fleet.observe", places)
        if gradients is None:
            self._crew.skip(places)
            return
        self._crew.learn("Fleet.observe", places, gradients, self._on_bad_input == "skip", self.workers)

    def step(self, ids: Ids, gradients: Any) -> Array:
        """Play one round with a part of the members: take in feedback, and return their next decisions, read-only.

        A member whose horizon ends with this round has no next decision: its row is the last one.

        Parameters
        ----------
        ids : int, or sequence of int
            The members, each at most once.
        gradients : as in `observe`
            At the present decisions of these members, as `act` or `decisions` gives them, or the last step.
        """
        crew = self._crew
        if crew.committees:
            raise OrderError(
                "Fleet.step: committees decide by proposals, so a round of some of them is act(proposals, ids=...) and "
                "observe(losses, ids=...)."
            )
        places = crew.places("Fleet.step", ids)
        assert places is not None
        crew.refresh("Fleet.step", places)
        crew.learn("Fleet.step", places, gradients, self._on_bad_input == "skip", self.workers)
        columns = crew.columns
        going = places[columns.rounds[places] < columns.limits[places]]
        crew.refresh("Fleet.step", going)
        crew.has_acted(going)
        return crew.shown(places)

    def skip(self, ids: Ids | None = None) -> None:
        """End the round of some members without feedback; their next decision is the same.

        Parameters
        ----------
        ids : int, or sequence of int, optional
            The members; by default all of them.
        """
        crew = self._crew
        places = crew.places("Fleet.skip", ids)
        if crew.committees:
            crew.expect_acted("Fleet.skip", places)
        else:
            crew.refresh("Fleet.skip", places)
        crew.skip(places)

    def add(self, learner: "Learner | Committee | Fleet | Iterable[Learner | Committee]") -> Indices:
        """Let a copy of a learner join, of several, or of all members of another fleet; return their ids.

        Parameters
        ----------
        learner : Learner, Committee, Fleet, or an iterable of learners
            Whoever joins, with what they know.
        """
        if isinstance(learner, Fleet):
            self._crew.check_newcomers("Fleet.add", [learner._pattern])
            return self._crew.merge(learner._crew)
        given = [learner] if isinstance(learner, Learner | Committee) else list(learner)
        self._check("add", given)
        return self._crew.join(Source(given, np.arange(len(given))))

    def remove(self, ids: Ids) -> None:
        """Let members go.

        Parameters
        ----------
        ids : int, or sequence of int
            Who goes; the others keep their ids.
        """
        places = self._crew.places("Fleet.remove", ids)
        assert places is not None
        self._crew.remove(places)

    def member(self, id: int) -> Any:
        """Return a copy of a member: an ordinary learner that goes on as the member would, bit for bit.

        Parameters
        ----------
        id : int
            One of `ids`.
        """
        return self._crew.member(self._one("member", id))

    def replace(self, id: int, learner: Learner | Committee) -> None:
        """Put a copy of a learner in the place of a member.

        Parameters
        ----------
        id : int
            One of `ids`.
        learner : Learner or Committee
            Who is to be this member from now on.
        """
        place = self._one("replace", id)
        self._check("replace", [learner])
        self._crew.replace(place, learner)

    def on_dask(
        self,
        client: Any,
        *,
        shards: int | None = None,
        checkpoint: "str | os.PathLike[str] | None" = None,
        every: int = 100,
        patience: float = 60.0,
        classes: Sequence[type] = (),
    ) -> Any:
        """Put copies of all members on the workers of a Dask cluster; return a `driftwise.adapters.dask.DaskFleet`.

        It has the same verbs, and the same numbers however many shards and workers there are, and whatever happens to
        these.

        Parameters
        ----------
        client : distributed.Client
            A client of the cluster.
        shards : int, optional
            Number of parts to cut the fleet into, each of which lives on one worker; by default that of the workers.
        checkpoint : str or path, optional
            A folder that all machines see under this name, for checkpoints. Without one they are in the memory of this
            process, as large as the fleet, and a run whose own process is killed cannot go on.
        every : int, default 100
            Calls between two checkpoints. The feedback since the last one is kept here, in memory.
        patience : float, default 60.0
            Longest time in seconds to wait for the answer of a worker, or for a worker to come.
        classes : sequence of types, optional
            Classes of members that are not driftwise's own, as for `load`.
        """
        far = import_module("driftwise.adapters.dask")  # it stands above this room
        given = {"shards": shards, "checkpoint": checkpoint, "every": every, "patience": patience, "classes": classes}
        return far.DaskFleet.cut(self, client, **given)

    def _one(self, verb: str, id: Any) -> int:
        places = self._crew.places(f"Fleet.{verb}", whole(f"Fleet.{verb}", "id", id, low=0))
        assert places is not None
        return int(places[0])

    def _check(self, verb: str, learners: Sequence[Any]) -> None:
        for one in learners:
            if not isinstance(one, Learner | Committee):
                raise ParameterError(f"Fleet.{verb}: members are learners or committees, got {describe(one)}.")
        self._crew.check_newcomers(f"Fleet.{verb}", learners)

    def clone(self) -> Self:
        """Return an independent copy."""
        other = type(self)(self._pattern, 0, on_bad_input=self._on_bad_input, workers=self._workers)
        other._crew = self._crew.clone()
        return other

    def __copy__(self) -> Self:
        return self.clone()

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self.clone()

    def to_bytes(self) -> bytes:
        """Return a checkpoint of the whole fleet, which `driftwise.from_bytes` reads."""
        return b"".join(self._checkpoint("to_bytes"))

    def save(self, path: "str | os.PathLike[str]") -> None:
        """Write a checkpoint of the whole fleet to a file, which `driftwise.load` reads.

        Parameters
        ----------
        path : str or path
            The file; one that exists is replaced, in one step.
        """
        write_atomically("Fleet.save", path, *self._checkpoint("save"))

    def _checkpoint(self, verb: str) -> list[bytes | memoryview]:
        writer = Writer(f"Fleet.{verb}")
        return pack(header_of(self, writer), writer.arrays)

    def _configuration(self) -> dict[str, Any]:
        given = {"on_bad_input": self._on_bad_input, "workers": self._workers}
        return {"learner": self._pattern, "size": 0, **given}

    def _saved(self) -> dict[str, Any]:
        return self._crew.saved()

    def _resume(self, saved: dict[str, Any]) -> None:
        self._crew.resume(saved)

    def _play(self, losses: Any, switching_cost: float | MoveCost, record: bool) -> FleetTrace:
        return play_all(self._crew, losses, switching_cost, record, self.workers)

    def _card(self) -> Card:
        rounds, kinds = self._crew.columns.rounds, dict[str, int]()
        for block in self._crew.blocks:
            kinds[block.kind] = kinds.get(block.kind, 0) + len(block)
        rows = [("members", f"{len(self)}"), ("coordinates", f"{self.dim}"), ("memory", f"{self.nbytes / 1e6:.4g} MB")]
        if len(self):
            rows.append(("rounds", f"{rounds.min()} to {rounds.max()}, {rounds.sum()} in all"))
        for name, counts in (("skipped", self.skipped), ("refused", self.refused)):
            rows += [(name, f"{counts.sum()}")] if counts.any() else []
        bars = [Bar(kind, count / len(self), f"{count}") for kind, count in kinds.items()]
        return Card("Fleet", rows, "members by how they are kept", bars)

    def __repr__(self) -> str:
        rounds, counts = self._crew.columns.rounds, dict[str, int]()
        for block in self._crew.blocks:
            counts[block.kind] = counts.get(block.kind, 0) + len(block)
        kinds = ", ".join(f"{count} as {kind}" for kind, count in counts.items())
        least, most = (int(rounds.min()), int(rounds.max())) if len(self) else (0, 0)
        shown = f"{least}" if least == most else f"{least} to {most}"
        return f"Fleet({len(self)} members{': ' if kinds else ''}{kinds}; dim={self.dim}, rounds={shown})"
