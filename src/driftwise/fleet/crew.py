"""Who is in a fleet, in which row of which block, and what they have decided: the bookkeeping behind its verbs."""

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from driftwise._validate import Array, Indices, describe, loose, read_only
from driftwise.errors import CheckpointError, HorizonError, InputError, OrderError, ParameterError
from driftwise.fleet.columns import NEVER, Columns
from driftwise.fleet.feedback import Feedback
from driftwise.fleet.kinds import kind_for, kind_named
from driftwise.fleet.members import MOST_ROWS, Members, Standing, count_rounds
from driftwise.fleet.objects import Objects
from driftwise.fleet.source import Source
from driftwise.fleet.threads import run_jobs, undisturbed
from driftwise.learners import Committee


class Part(NamedTuple):
    """Members of one block that a call is for."""

    block: Members
    rows: Indices
    """Their rows in the block."""
    places: Indices
    """Their places in the call."""


class Crew:
    """The members of a fleet.

    Parameters
    ----------
    pattern : Learner or Committee
        What members are like: how many coordinates a decision has, and how many numbers feedback has.

    Attributes
    ----------
    columns : Columns
        What is kept of every member.
    blocks : list of Members
        Their states.
    decisions : array of shape (size, dim)
        What each has decided, where that is known.
    """

    def __init__(self, pattern: Any) -> None:
        self.committees = isinstance(pattern, Committee)
        self.width = pattern.n if isinstance(pattern, Committee) else pattern.domain.dim
        self.shape: tuple[int, ...] | None = None if self.committees else (pattern.domain.dim,)
        if isinstance(pattern, Committee):
            self.shape = pattern._shape
        self.columns, self.blocks, self.next = Columns(), list[Members](), 0
        self.decisions, self._lent = np.empty((0, *(self.shape or ()))), False
        self._everybody: list[Part] | None = None

    def __len__(self) -> int:
        return self.columns.count

    def clone(self) -> "Crew":
        """Return an independent copy."""
        other = object.__new__(Crew)
        other.__dict__.update(self.__dict__)
        other.blocks, other.columns = [block.clone() for block in self.blocks], self.columns.clone()
        other.decisions, other._lent, other._everybody = self.decisions.copy(), False, None
        return other

    # Who is meant.

    def places(self, owner: str, ids: Any) -> Indices | None:
        """Return the places of members by their ids, each once; None for everybody."""
        if ids is None:
            return None
        wanted = np.atleast_1d(loose(owner, "ids", ids, "whole numbers"))
        if wanted.ndim != 1 or (wanted.size and wanted.dtype.kind not in "iu"):
            raise InputError(f"{owner}: ids must be whole numbers, such as those of fleet.ids, got {describe(ids)}.")
        wanted = wanted.astype(np.int64)
        known = self.columns.ids
        places = np.searchsorted(known, wanted)
        missing = np.ones(wanted.size, bool)
        if known.size:
            missing = known[np.minimum(places, known.size - 1)] != wanted
        if missing.any():
            raise InputError(
                f"{owner}: there are no members {shown_ids(wanted[missing])} in this fleet of {known.size}."
            )
        if np.unique(places).size != places.size:
            unique, counts = np.unique(wanted, return_counts=True)
            raise InputError(f"{owner}: members {shown_ids(unique[counts > 1])} are asked for more than once.")
        return np.asarray(places, np.int64)

    def parts(self, places: Indices | None) -> list[Part]:
        """Return members block by block."""
        if places is not None:
            return self._parted(places)
        if self._everybody is None:
            self._everybody = self._parted(np.arange(len(self)))
        return self._everybody

    def _parted(self, places: Indices) -> list[Part]:
        found, blocks, rows = [], self.columns.blocks[places], self.columns.rows[places]
        if len(self.blocks) <= 1:
            return [Part(self.blocks[0], rows, np.arange(places.size))] if places.size else []
        order = np.argsort(blocks, kind="stable")
        edges = np.searchsorted(blocks[order], np.arange(len(self.blocks) + 1))
        for block, first, last in zip(self.blocks, edges[:-1].tolist(), edges[1:].tolist(), strict=True):
            if last > first:
                found.append(Part(block, rows[order[first:last]], order[first:last]))
        return found

    def named(self, flags: Any, places: Indices | None) -> str:
        """Return the first ids that are flagged, for a message."""
        ids = self.columns.ids if places is None else self.columns.ids[places]
        return shown_ids(ids[flags])

    # The verbs.

    def refresh(self, owner: str, places: Indices | None) -> None:
        """Let members decide who have not."""
        columns = self.columns
        chosen = slice(None) if places is None else places
        over = (columns.rounds[chosen] >= columns.limits[chosen]) & ~columns.acted[chosen]
        if over.any():
            first = np.flatnonzero(over)[0] if places is None else places[np.flatnonzero(over)[0]]
            raise HorizonError(
                f"{owner}: members {self.named(over, places)} have played all {columns.limits[first]} rounds of their "
                "horizon; build them with a larger horizon, or with horizon=None, or remove them."
            )
        stale = ~columns.current[chosen]
        if stale.any():
            late = np.flatnonzero(stale) if places is None else places[stale]
            self.write(late, [(part.places, part.block.decide(part.rows)) for part in self.parts(late)])

    def propose(self, owner: str, places: Indices | None, proposals: Any) -> None:
        """Let committees decide by proposals."""
        count = len(self) if places is None else places.size
        try:
            given = -1 if isinstance(proposals, str | bytes | dict | set) else len(proposals)
        except TypeError:
            given = -1
        if given != count:
            raise InputError(
                f"{owner}: proposals must be one row for each of the {count} committees, got {describe(proposals)}."
            )
        parts = self.parts(places)
        try:
            looked = [part.block.propose(part.rows, proposals, part.places) for part in parts]
        except InputError as error:
            raise InputError(f"{owner}: {error} Nobody has acted.") from None
        decided = [(part.places, values) for part, (values, _) in zip(parts, looked, strict=True)]
        shapes: set[tuple[int, ...]] = {values.shape[1:] for _, values in decided}
        if self.shape is not None:
            shapes.add(self.shape)
        if len(shapes) > 1:
            raise InputError(f"{owner}: all proposals must have one shape, got {sorted(shapes)}. Nobody has acted.")
        for _, commit in looked:
            commit()
        if self.shape is None and shapes:
            self.shape = shapes.pop()
            self.decisions, self._lent = np.zeros((len(self), *self.shape)), False
        everybody = np.arange(len(self)) if places is None else places
        self.write(everybody, decided)
        self.has_acted(everybody)

    def has_acted(self, places: Indices | None) -> None:
        """Note that members have acted."""
        chosen: Any = slice(None) if places is None else places
        self.columns.acted[chosen] = True

    def write(self, places: Indices, decided: Sequence[tuple[Indices, Array]]) -> None:
        """Write decisions, of which those are given out already must stay as they are."""
        if self._lent:
            self.decisions, self._lent = self.decisions.copy(), False
        for where, values in decided:
            self.decisions[places[where]] = values
        self.columns.current[places] = True

    def shown(self, places: Indices | None) -> Array:
        """Return decisions, read-only."""
        if places is not None:
            return read_only(self.decisions[places])
        self._lent = True
        return read_only(self.decisions[:])

    def expect_acted(self, owner: str, places: Indices | None) -> None:
        """Raise unless all of them have acted."""
        waiting = ~self.columns.acted[slice(None) if places is None else places]
        if waiting.any():
            raise OrderError(
                f"{owner}: members {self.named(waiting, places)} have not acted in their round; call act() first, once "
                "a round, or step(ids, gradients), which is both."
            )

    def learn(self, owner: str, places: Indices | None, given: Any, skips: bool, workers: int) -> None:
        """Take in a round, for everybody or for nobody."""
        columns = self.columns
        chosen: Any = slice(None) if places is None else places
        feedback = Feedback(owner, given, self.decisions[chosen], self.width, self.committees)
        parts = self.parts(places)
        run = partial(run_jobs, workers=workers)
        lessons = [part.block.learn(part.rows, feedback, part.places, run) for part in parts]
        refused = np.zeros(feedback.count, bool)
        for part, lesson in zip(parts, lessons, strict=True):
            refused[part.places] = lesson.refused
        if refused.any() and not skips:
            why = next(lesson.why for lesson in lessons if lesson.refused.any())
            raise InputError(
                f"{owner}: {feedback.what} of members {self.named(refused, places)} must be finite and at most 1e+100 "
                f"in size; nobody has learnt from this call. Correct these rows, or build the fleet with "
                f"on_bad_input='skip'.{' ' + why if why else ''}"
            )
        without = refused | feedback.absent
        decisions = self.decisions
        if self._lent and places is None:
            decisions = np.empty_like(self.decisions)
        elif self._lent:
            decisions = self.decisions.copy()
        with undisturbed():
            for part, lesson in zip(parts, lessons, strict=True):
                where = part.places if places is None else places[part.places]
                columns.current[where] = lesson.commit(without[part.places], decisions, where)
            self.decisions, self._lent = decisions, False
            columns.rounds[chosen] += 1
            columns.acted[chosen] = False
            if without.any():
                columns.skipped[chosen] += without
                columns.refused[chosen] += refused
            for part, lesson in zip(parts, lessons, strict=True):
                self._move(part, places, lesson.moved)
            self._return(parts, places)

    def skip(self, places: Indices | None) -> None:
        """End the round without feedback."""
        columns = self.columns
        chosen: Any = slice(None) if places is None else places
        with undisturbed():
            gone = [(part, part.block.skip(part.rows)) for part in self.parts(places)]
            columns.rounds[chosen] += 1
            columns.skipped[chosen] += 1
            columns.acted[chosen] = columns.current[chosen] = False
            for part, moved in gone:
                self._move(part, places, moved)

    def _move(self, part: Part, places: Indices | None, moved: "Sequence[tuple[int, Any]] | None") -> None:
        """Put members who have become somebody for another block where they belong; their rounds are counted."""
        columns = self.columns
        for k, learner in moved or ():
            place = int(part.places[k] if places is None else places[part.places[k]])
            names = ("rounds", "skipped", "refused")
            kept = {name: getattr(columns, name)[place] for name in names}
            count_rounds(learner, Standing(False, *(int(kept[name]) for name in names)))
            self.replace(place, learner)
            for name, value in kept.items():
                getattr(columns, name)[place] = value

    def _return(self, parts: Sequence[Part], places: Indices | None) -> None:
        """Put members who were objects for a round only back beside their like."""
        for part in parts:
            if isinstance(part.block, Objects):
                held = part.block.held
                back = [
                    (k, held[row]) for k, row in enumerate(part.rows.tolist()) if kind_for(held[row])[0] is not Objects
                ]
                self._move(part, places, back)

    # Coming and going.

    def check_newcomers(self, owner: str, learners: Sequence[Any]) -> None:
        """Raise unless all of them can be members."""
        for learner in learners:
            crew = Crew(learner)
            if crew.committees != self.committees or crew.width != self.width:
                what = "proposals of one number of members" if self.committees else f"{self.width} coordinates"
                raise ParameterError(f"{owner}: all members must decide by {what}, and {learner!r:.100} does not.")
            if self.shape is not None and crew.shape is not None and crew.shape != self.shape:
                raise ParameterError(
                    f"{owner}: decisions have shape {self.shape}, those of {learner!r:.100} {crew.shape}."
                )

    def join(self, source: Source) -> Indices:
        """Let newcomers in, and return their ids."""
        count = source.which.size
        with undisturbed():
            ids = self._enter(count)
            self._settle(source, np.arange(len(self) - count, len(self)))
        return ids

    def merge(self, other: "Crew") -> Indices:
        """Let copies of all members of another crew in, block by block."""
        other = other.clone()
        with undisturbed():
            ids = self._enter(len(other))
            new = slice(len(self) - len(other), None)
            for name in ("rows", "rounds", "limits", "skipped", "refused", "acted", "current"):
                getattr(self.columns, name)[new] = getattr(other.columns, name)
            self.columns.blocks[new] = other.columns.blocks + len(self.blocks)
            self.blocks += other.blocks
            if self.shape is None and other.shape is not None:
                self.shape, self.decisions = other.shape, np.zeros((len(self), *other.shape))
            if other.shape is not None:
                self.decisions[new] = other.decisions
        return ids

    def _enter(self, count: int) -> Indices:
        """Make place for newcomers."""
        new = self.columns.add(count)
        self.columns.ids[new] = np.arange(self.next, self.next + count)
        self.next += count
        larger = np.zeros((len(self), *(self.shape or ())))
        larger[: len(self) - count] = self.decisions[: len(self) - count]
        self.decisions, self._lent, self._everybody = larger, False, None
        return self.columns.ids[new].copy()

    def _settle(self, source: Source, places: Indices) -> None:
        """Put newcomers into blocks of their families, and note where."""
        columns, patterns = self.columns, source.patterns
        families: dict[Any, list[int]] = {}
        for i, pattern in enumerate(patterns):
            families.setdefault(kind_for(pattern), []).append(i)
            mine = places[source.which == i] if len(patterns) < 8 else None
            if mine is not None:
                self._note(mine, pattern)
        if len(patterns) >= 8:
            for place, i in zip(places.tolist(), source.which.tolist(), strict=True):
                self._note(place, patterns[i])
        for (kind, family), members in families.items():
            group = np.zeros(len(patterns), bool)
            group[members] = True
            mine = np.flatnonzero(group[source.which])
            while mine.size:
                b = self._block_for(kind, family, patterns[source.which[mine[0]]])
                some, mine = np.split(mine, [MOST_ROWS - len(self.blocks[b])])
                first = len(self.blocks[b])
                self.blocks[b].append(source.only(some) if some.size < source.which.size else source)
                columns.blocks[places[some]] = b
                columns.rows[places[some]] = np.arange(first, first + some.size)
        self._everybody = None

    def _note(self, place: Any, pattern: Any) -> None:
        columns = self.columns
        columns.rounds[place] = pattern.round
        columns.skipped[place], columns.refused[place] = pattern.skipped, pattern.refused
        columns.limits[place] = NEVER if pattern.horizon is None else pattern.horizon
        columns.acted[place], columns.current[place] = pattern._acted is not None and not self.committees, False

    def _block_for(self, kind: type[Members], family: Any, pattern: Any) -> int:
        """Return the number of a block of a family that has room, or of a new one."""
        for b in range(len(self.blocks) - 1, -1, -1):
            block = self.blocks[b]
            if type(block) is kind and block.family == family and len(block) < MOST_ROWS:
                return b
        self.blocks.append(kind(pattern))
        return len(self.blocks) - 1

    def remove(self, places: Indices) -> None:
        """Let members go."""
        with undisturbed():
            self._leave(places)
            rest = np.setdiff1d(np.arange(len(self)), places)
            self.columns.keep(rest)
            self.decisions, self._lent = self.decisions[rest], False
            self._drop_empty()

    def replace(self, place: int, learner: Any) -> None:
        """Put a copy of a learner in the place of a member."""
        with undisturbed():
            where = np.array([place])
            self._leave(where)
            self.columns.blocks[place] = -1
            self._settle(Source([learner], np.zeros(1, np.int64)), where)
            self._drop_empty()

    def _leave(self, places: Indices) -> None:
        """Take members out of their blocks."""
        columns = self.columns
        for part in self._parted(places):
            kept = np.ones(len(part.block), bool)
            kept[part.rows] = False
            here = columns.blocks == columns.blocks[places[part.places[0]]]
            columns.rows[here] = (np.cumsum(kept) - 1)[columns.rows[here]]
            part.block.keep(np.flatnonzero(kept))
        self._everybody = None

    def _drop_empty(self) -> None:
        """Forget blocks in which nobody is left."""
        full = np.array([len(block) > 0 for block in self.blocks], bool)
        self.columns.blocks[:] = (np.cumsum(full) - 1)[self.columns.blocks]
        self.blocks = [block for block in self.blocks if len(block)]
        self._everybody = None

    def member(self, place: int) -> Any:
        """Return a member as an ordinary learner."""
        columns = self.columns
        standing = Standing(
            bool(columns.acted[place]),
            int(columns.rounds[place]),
            int(columns.skipped[place]),
            int(columns.refused[place]),
        )
        return self.blocks[columns.blocks[place]].learner(int(columns.rows[place]), standing)

    @property
    def nbytes(self) -> int:
        """Bytes of memory."""
        everybody = sum(part.rows.nbytes + part.places.nbytes for part in self._everybody or ())
        return self.columns.nbytes + self.decisions.nbytes + everybody + sum(block.nbytes for block in self.blocks)

    def saved(self) -> dict[str, Any]:
        """Return what is to be saved."""
        blocks = [{"kind": block.kind, **block.saved()} for block in self.blocks]
        shape = None if self.shape is None else list(self.shape)
        return {"next": self.next, "shape": shape, "members": self.columns.saved(), "blocks": blocks}

    def resume(self, saved: dict[str, Any]) -> None:
        """Take in what was saved."""
        if saved.keys() != {"next", "shape", "members", "blocks"}:
            raise CheckpointError(f"Fleet: a saved state has members and blocks, this one {sorted(saved)}.")
        self.blocks = [kind_named(block.pop("kind")).resumed(block) for block in saved["blocks"]]
        self.columns, self.next = Columns.resumed(saved["members"], self.blocks, saved["next"]), saved["next"]
        for block in self.blocks:
            self.check_newcomers("Fleet", block.patterns)
        if self.committees and saved["shape"] is not None:
            self.shape = tuple(int(side) for side in saved["shape"])
        self.decisions, self._lent = np.zeros((len(self), *(self.shape or ()))), False


def shown_ids(ids: Indices) -> str:
    """Return the first few ids, for a message."""
    shown = ", ".join(map(str, ids[:3].tolist()))
    return shown if ids.size <= 3 else f"{shown}, ... ({ids.size} in all)"
