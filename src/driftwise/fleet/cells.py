"""Members of the `Ensemble` family: constants in a table, states side by side, rounds compiled."""

import math
from collections.abc import Hashable, Sequence
from functools import partial
from typing import Any, Self

import numpy as np

from driftwise._memory import address_of
from driftwise._saving import title
from driftwise._validate import Array, Indices, read_only
from driftwise.engine import layout
from driftwise.engine.layout import ROOM, STATE
from driftwise.engine.program import MOST_COUNT
from driftwise.errors import CheckpointError
from driftwise.fleet.feedback import Feedback, Flags
from driftwise.fleet.kernels import Table, learn_members, play_members
from driftwise.fleet.laying import capacity_for, laid_out, sides_for, starts_of, updates_within
from driftwise.fleet.members import Lesson, Members, Played, Runner, Standing, count_rounds, settled
from driftwise.fleet.recipes import Recipes
from driftwise.fleet.source import Source
from driftwise.fleet.threads import shares, slices
from driftwise.learners import Ensemble
from driftwise.losses import LossStream
from driftwise.losses.base import DataLoss
from driftwise.movecost import MoveCost


def family(learner: Ensemble) -> Hashable:
    """Return what learners have in common whose states and constants have the same parts, and the same plugins."""
    program = learner.program
    blocks = tuple((block.kind, block.size) for block in program.domain.blocks)
    shape = (program.schedule, program.growth, program._base, program._share > 0.0, program.heedless, program.epoch)
    return title(type(learner)), learner.horizon is None, *program.sides.items(), *blocks, *shape, program.steps.size


class Cells(Members):
    """Members of the `Ensemble` family, on shared gradients.

    Attributes
    ----------
    program : Program
        That of one of them.
    recipes : Recipes
        What the members were built with, each configuration once.
    which : array of int64
        The configuration of each row.
    starts : array of shape (n, dim), or None
        First decisions, where not all are `start`.
    """

    kind = "states"

    def __init__(self, pattern: Ensemble) -> None:
        self.family = family(pattern)
        self.program, self.recipes = pattern.program, Recipes(pattern)
        self.which = np.zeros(0, np.int64)
        self.starts: Array | None = None
        self.sides: dict[str, int]
        self.start = starts_of(pattern._state[None], self.program.sides)[0]
        self._take(np.zeros((0, 0)), 0, capacity_for(self.program, 0.0), 0.0)
        self._states = np.zeros((0, STATE.size(self.sides)))
        self.room = ROOM.size(self.program.sides)

    def _take(self, states: Array, count: int, capacity: int, updates: float) -> None:
        """Continue with states that have room for so many step sizes, and have made at most so many updates."""
        self._states, self.count, self.capacity, self.updates = states, count, capacity, updates
        self.sides = sides_for(self.program, capacity)
        self._limit = updates_within(self.program, capacity)
        self._table: Array | None = None
        self._where: tuple[Any, Any, Any, Table] | None = None

    def __len__(self) -> int:
        return self.count

    @property
    def states(self) -> Array:
        """The states, in rows."""
        return self._states[: self.count]

    @classmethod
    def family_of(cls, learner: Any) -> Hashable | None:
        """Return the family of a learner in whose place compiled rounds may play."""
        if not isinstance(learner, Ensemble) or not learner.runs_compiled() or learner.program.own_gradients:
            return None
        ours = type(learner).__module__.split(".")[0] == "driftwise"
        return family(learner) if ours and settled(learner) and not learner._number(layout.HINTED) else None

    def append(self, source: Source) -> None:
        """Take in newcomers, in new rows."""
        which, states, inverse = self.recipes.add(source)
        updates = float(states[:, [layout.ROUND, layout.UPDATES]].max())
        self.make_room(max(updates, self.updates))
        count = self.count + which.size
        if count > len(self._states):
            larger = np.empty((count if self.count == 0 else count + count // 4, self._states.shape[1]))
            larger[: self.count] = self.states
            self._states = larger
        begun = starts_of(states, self.program.sides)
        short = laid_out(states, self.program.sides, self.sides, begun)
        for first in range(0, which.size, 4096):
            some = slice(first, min(first + 4096, which.size))
            rows = short[inverse[some]]
            if source.starts is not None:
                self._begin(rows, source.starts[some])
            self._states[self.count + some.start : self.count + some.stop] = rows
        self._note_starts(begun, inverse) if source.starts is None else self._note_starts(source.starts, None)
        self.which, self.count = np.concatenate([self.which, which]), count
        self.updates, self._table, self._where = max(self.updates, updates), None, None

    def _begin(self, states: Array, starts: Array) -> None:
        """Let states of new learners begin elsewhere."""
        for name, place, shape in STATE._places(self.sides)[0]:
            if not math.prod(shape):
                continue
            if name in ("decision", "centre", "played"):
                states[:, place] = starts
            elif name == "points":
                states[:, place] = np.tile(np.repeat(starts, 4, axis=1), shape[0])
            elif name == "log_start":
                states[:, place] = np.log(np.maximum(starts / self.program.domain.numbers[0], 1e-300))

    def _note_starts(self, starts: Array, inverse: Indices | None) -> None:
        """Keep the first decisions of newcomers if they are not those of the others."""
        if self.starts is None and np.array_equal(starts, np.broadcast_to(self.start, starts.shape)):
            return
        before = np.tile(self.start, (self.count, 1)) if self.starts is None else self.starts
        self.starts = np.concatenate([before, starts if inverse is None else starts[inverse]])

    def make_room(self, updates: float) -> None:
        """Lay the states out anew if base-learners could come into play, within so many updates, that have no room."""
        if updates <= self._limit:
            return
        known = float(self.states[:, [layout.ROUND, layout.UPDATES]].max()) if self.count else 0.0
        ahead = updates - self.updates
        self.updates = min(known, self.updates)
        capacity = capacity_for(self.program, max(self.updates, 0.0) + max(ahead, 0.0))
        if capacity <= self.capacity:
            return
        new = sides_for(self.program, capacity)
        starts = self.start if self.starts is None else self.starts
        laid = np.empty((self.count, STATE.size(new)))
        for first in range(0, self.count, 4096):
            some = slice(first, min(first + 4096, self.count))
            laid[some] = laid_out(self.states[some], self.sides, new, starts if starts.ndim == 1 else starts[some])
        self._take(laid, self.count, capacity, self.updates)

    def keep(self, rows: Indices) -> None:
        """Forget all rows but these."""
        self._states, self.count = self._states[rows], rows.size
        self.which, self._where = self.which[rows], None
        self.starts = None if self.starts is None else self.starts[rows]

    def learner(self, row: int, standing: Standing) -> Any:
        """Return a member as a learner of its own."""
        learner = self.recipes.learner(int(self.which[row]))
        starts = self.start if self.starts is None else self.starts[row : row + 1]
        known = laid_out(self._states[row : row + 1], self.sides, self.program.sides, starts)[0]
        if learner.program.heedless != self.program.heedless:
            learner.program = learner.program.with_twins()
        count_rounds(learner, standing)
        learner._take(learner.program.cell_of(known))
        if standing.acted:
            learner.__dict__["_acted"] = read_only(learner._decision.copy())
        return learner

    def decide(self, rows: Indices) -> Array:
        """Return decisions, which were made at the end of the last round."""
        place = next(place for name, place, _ in STATE._places(self.sides)[0] if name == "decision")
        return self._states[rows, place]

    def learn(self, rows: Indices, feedback: Feedback, places: Indices, run: Runner) -> Lesson:
        """Look at gradients: whoever's are finite will learn."""
        return Lesson(feedback.unusable()[places], "", partial(self._commit, rows, feedback.rows, places, run))

    def _commit(
        self,
        rows: Indices,
        gradients: Array,
        places: Indices,
        run: Runner,
        skipped: Flags,
        decisions: Array,
        to: Indices,
    ) -> bool:
        self.make_room(self.updates + 1.0)
        table, where = self.table, self._placed(rows, places, to)
        states, room = self._states, self.room
        run(
            [
                partial(_learn, table, states, where[some], skipped[some], gradients, decisions, room)
                for some in slices(rows.size)
            ]
        )
        self.updates += 1.0
        return True

    def _placed(self, rows: Indices, places: Indices, to: Indices) -> Table:
        """Return what kernels are told of every member; what is asked for again and again is kept."""
        kept = self._where
        if kept is not None and kept[0] is rows and kept[1] is places and kept[2] is to:
            return kept[3]
        where = np.stack([rows, self.which[rows], places, to], axis=1)
        self._where = (rows, places, to, where) if rows.size == self.count else None
        return where

    @property
    def table(self) -> Array:
        """The constants of every configuration, ready for kernels."""
        if self._table is None:
            header = np.zeros(layout.HEADER)
            STATE.write_offsets(header, self.sides)
            self._table = self.recipes.linked(header[layout.DECISION : layout.DUALS + 1])
        return self._table

    def plays(self, stream: LossStream) -> bool:
        """Tell whether the compiled loop plays such losses."""
        return isinstance(stream, DataLoss)

    def play(
        self, rows: Indices, streams: Sequence[Any], cost: MoveCost, records: Sequence[Array], run: Runner
    ) -> Played:
        """Play a stream with each of some members, on copies of their states."""
        lengths = np.array([len(stream) for stream in streams], np.int64)
        self.make_room(self.updates + float(lengths.max()))
        dim, table = self.program.domain.dim, self.table
        trial, sums = self._states[rows], np.zeros((rows.size, 3))
        where = np.stack([np.arange(rows.size), self.which[rows], np.arange(rows.size)], axis=1)
        addresses = np.zeros((rows.size, 5), np.int64)
        parts = [stream._parts for stream in streams]
        addresses[:, 4] = lengths
        for k, given in enumerate(parts):
            addresses[k, :3] = [address_of(part) for part in given]
            if records:
                addresses[k, 3] = address_of(records[k])
        prices = np.concatenate([[-1.0 if cost.plain is None else 1.0, cost.norm == "l1"], cost.prices(dim).ravel()])
        windowed = 0 if records else max((len(s) for s in streams if s.memory), default=0)
        done = np.zeros(rows.size, np.int64)
        jobs = [
            partial(
                _play,
                table,
                trial,
                where[some],
                addresses[some],
                prices,
                (self.room, max(windowed, 2), dim),
                sums,
                done[some],
            )
            for some in shares(lengths)
        ]
        run(jobs)
        if cost.plain is not None:
            sums[:, 1] *= cost.plain

        def commit() -> None:
            self._states[rows] = trial
            self.updates += float(lengths.max())

        return Played(np.flatnonzero(done == 0), sums[:, 0], sums[:, 1], commit)

    def skip(self, rows: Indices) -> list[tuple[int, Any]]:
        """End a round without feedback: nothing changes."""
        return []

    def clone(self) -> Self:
        """Return an independent copy."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        other._states, other.recipes, other._where = self.states.copy(), self.recipes.clone(), None
        return other

    @property
    def patterns(self) -> list[Any]:
        """A learner for every configuration that is not a matter of single numbers."""
        return self.recipes.bases

    @property
    def nbytes(self) -> int:
        """Bytes of memory."""
        parts = (self._states, self.which, self.starts, self._table, None if self._where is None else self._where[3])
        return sum(part.nbytes for part in parts if part is not None) + self.recipes.nbytes

    def saved(self) -> dict[str, Any]:
        """Return what is to be saved: configurations, each once, and states."""
        own = {"which": self.which, "states": self.states, "capacity": self.capacity}
        return {**own, "start": self.start, "starts": self.starts, "recipes": self.recipes.saved()}

    @classmethod
    def resumed(cls, saved: dict[str, Any]) -> "Cells":
        """Return a block from what was saved, after checking every state."""
        recipes = Recipes.resumed(saved["recipes"])
        bases = recipes.bases
        if any(cls.family_of(base) != family(bases[0]) for base in bases):
            raise CheckpointError("Fleet: members whose states are side by side must be of one family.")
        block = cls(bases[0])
        program, which, states, starts = block.program, saved["which"], saved["states"], saved["starts"]
        count, dim = len(which), program.domain.dim
        capacity = saved["capacity"]
        if not isinstance(capacity, int) or not 1 <= capacity <= program.sizes:
            raise CheckpointError(f"Fleet: states have room for 1 to {program.sizes} step sizes, not {capacity!r}.")
        size = STATE.size(sides_for(program, capacity))
        if states.shape != (count, size) or states.dtype != np.float64 or count == 0:
            raise CheckpointError(f"Fleet: states must have {size} numbers each, got {states.shape}.")
        if which.shape != (count,) or which.dtype != np.int64 or not (which.min() >= 0 and which.max() < len(recipes)):
            raise CheckpointError("Fleet: every member must have one of the configurations.")
        for given, shape in ((saved["start"], (dim,)), (starts, (count, dim))):
            if given is not None and not (given.shape == shape and np.isfinite(given).all()):
                raise CheckpointError("Fleet: first decisions must be finite.")
        block.recipes, block.which, block.start, block.starts = recipes, which, saved["start"], starts
        block._take(states, count, capacity, float(states[:, [layout.ROUND, layout.UPDATES]].max()))
        block._check()
        return block

    def _check(self) -> None:
        """Raise unless kernels can work with all states: sizes, counts, weights, decisions."""
        program, states = self.program, self.states
        counts = states[:, [layout.ROUND, layout.UPDATES, layout.WAITING, layout.ACTIVE, layout.POWER, layout.HINTED]]
        parts = {name: states[:, place] for name, place, _ in STATE._places(self.sides)[0]}
        prior, active, kinds = parts["prior"], states[:, layout.ACTIVE], program.kinds
        in_play = np.zeros(prior.shape, bool)
        order = program.order[: self.capacity * kinds]
        in_play[:, order] = np.arange(order.size) < active[:, None] * kinds
        first = STATE._places(self.sides)[0]
        start, stop = next((place.start, place.stop) for name, place, _ in first if name == "prior")
        finite = np.isfinite(states[:, :start]).all() and np.isfinite(states[:, stop:]).all()
        weights = parts["weights"]
        possible = {
            "powers": not program.growth or np.array_equal(states[:, layout.POWER], 2.0 ** np.minimum(active, 1000.0)),
            "counts": np.all((counts >= 0.0) & (counts == np.floor(counts)) & (counts <= MOST_COUNT)),
            "base-learners in play": np.all((active >= 1.0) & (active <= self.capacity)),
            "room": capacity_for(program, self.updates) <= self.capacity,
            "epoch": np.all(states[:, layout.WAITING] < max(program.epoch, 1)),
            "hints": not states[:, layout.HINTED].any(),
            "numbers": finite,
            "prior": np.isfinite(prior[in_play]).all() and not np.isnan(prior).any(),
            "weights": np.all(weights >= 0.0) and np.all(np.abs(weights.sum(axis=1) - 1.0) <= 1e-9),
            "decisions": all(
                self.recipes.learner(k).domain.contains(parts["decision"][self.which == k])
                for k in np.unique(self.which).tolist()
            ),
        }
        wrong = [name for name, fine in possible.items() if not fine]
        if wrong:
            raise CheckpointError(f"Fleet: states with such {', '.join(wrong)} are not possible.")


def _play(
    table: Array,
    trial: Array,
    where: Table,
    streams: Table,
    prices: Array,
    sides: tuple[int, int, int],
    sums: Array,
    done: Indices,
) -> None:
    """Play some members, and note who has played to the end."""
    room, path = np.zeros(sides[0]), np.zeros(sides[1:])
    done[: play_members(table, trial, where, streams, prices, room, path, sums)] = 1


def _learn(
    table: Array, states: Array, where: Table, skipped: Flags, gradients: Array, decisions: Array, room: int
) -> None:
    learn_members(table, states, where, skipped, gradients, decisions, np.zeros(room))
