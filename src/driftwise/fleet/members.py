"""What every kind of member can do: a block holds members of one family, in rows."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Sequence, Sized
from typing import Any, NamedTuple, Self

from driftwise._validate import Array, Indices
from driftwise.fleet.feedback import Feedback, Flags
from driftwise.fleet.source import Source

MOST_ROWS = 1 << 15
"""Members in a block: when a block grows or is laid out anew, no more than this many are copied."""

Runner = Callable[[Sequence[Callable[[], Any]]], None]
"""Runs jobs that do not depend on each other, on as many threads as the fleet has workers."""


class Standing(NamedTuple):
    """What a fleet knows of a member besides its state."""

    acted: bool
    rounds: int
    skipped: int
    refused: int
    stands: bool = False
    """Whether the last round ended without feedback, and nothing has been decided since."""


OPEN = ("_open", "_owed", "_standing", "_priced_at", "_origins", "_unsettled")
"""What an ordinary learner knows of rounds that are not quite over; states side by side have no place for it."""


def settled(learner: Any) -> bool:
    """Tell whether a learner knows nothing but its state: no late feedback, no price or hint of an open round."""
    known = vars(learner)
    return not learner.late and "_arguments" in known and not any(_given(known.get(name)) for name in OPEN)


def _given(what: Any) -> bool:
    return what is not None and what is not False and not (isinstance(what, Sized) and not len(what))


def count_rounds(learner: Any, standing: Standing) -> None:
    """Let a learner know how many rounds it has had, and how many of them went wrong."""
    learner.__dict__["_round"] = standing.rounds
    for name, count in (("_skipped", standing.skipped), ("_passed", standing.refused)):
        if count:
            learner.__dict__[name] = count
        else:
            learner.__dict__.pop(name, None)


class Lesson(NamedTuple):
    """A round that can be taken in as a whole or not at all."""

    refused: Flags
    """Rows whose feedback is refused."""
    why: str
    """What is wrong with the first of them; empty if it is simply not finite."""
    commit: Callable[[Flags, Array, Indices], bool]
    """Take the round in, but not for the rows that are to be skipped. Writes new decisions, given all decisions and
    where those of these rows are, and returns True; or returns False if members are yet to decide."""
    moved: "list[tuple[int, Any]] | None" = None
    """Who has become somebody for another block: rows, counted in this call, and learners; known after `commit`."""


class Played(NamedTuple):
    """A run of some members on copies of their states."""

    failed: Indices
    """Who met numbers that are refused."""
    losses: Array
    switching: Array
    commit: Callable[[], None]
    """Let the members continue from where the copies are."""


class Members(ABC):
    """Members of one family, in rows 0, 1, ...: one struct of arrays.

    Parameters
    ----------
    pattern : Learner or Committee
        One of the family.
    """

    kind: str
    """What such members are called in `repr` and in files."""
    family: Hashable
    """What members must have in common to share this block."""

    @abstractmethod
    def __init__(self, pattern: Any) -> None: ...

    @abstractmethod
    def __len__(self) -> int: ...

    @classmethod
    @abstractmethod
    def family_of(cls, learner: Any) -> Hashable | None:
        """Return the family of a learner; None if members of this kind cannot be like it."""

    @abstractmethod
    def append(self, source: Source) -> None:
        """Take in newcomers of this family, in new rows."""

    @abstractmethod
    def keep(self, rows: Indices) -> None:
        """Forget all rows but these, which become rows 0, 1, ...."""

    @abstractmethod
    def learner(self, row: int, standing: Standing) -> Any:
        """Return a member as an ordinary learner of its own."""

    @abstractmethod
    def decide(self, rows: Indices) -> Array:
        """Return the decisions of some rows; of committees the last ones."""

    def propose(self, rows: Indices, proposals: Any, places: Indices) -> tuple[Array, Callable[[], None]]:
        """Look at proposals for some committees, which are at these places; return decisions and what makes them so."""
        raise NotImplementedError

    @abstractmethod
    def learn(self, rows: Indices, feedback: Feedback, places: Indices, run: Runner) -> Lesson:
        """Look at the feedback for some rows, which is at these places."""

    @abstractmethod
    def skip(self, rows: Indices) -> "list[tuple[int, Any]]":
        """End the round of some rows without feedback; return who has become somebody for another block, as in `Lesson`."""

    def plays(self, stream: Any) -> bool:
        """Tell whether members play such losses in a compiled loop."""
        return False

    def play(self, rows: Indices, streams: Sequence[Any], cost: Any, records: Sequence[Array], run: Runner) -> Played:
        """Play a stream with each of some members, if `plays` says so; write decisions where there are records."""
        raise NotImplementedError

    @abstractmethod
    def clone(self) -> Self:
        """Return an independent copy."""

    @property
    @abstractmethod
    def patterns(self) -> "list[Any]":
        """Learners of all kinds that are here."""

    @property
    @abstractmethod
    def nbytes(self) -> int:
        """Bytes of memory that the block takes."""

    @abstractmethod
    def saved(self) -> dict[str, Any]:
        """Return what is to be saved."""

    @classmethod
    @abstractmethod
    def resumed(cls, saved: dict[str, Any]) -> "Members":
        """Return a block from what was saved, if it is possible."""
