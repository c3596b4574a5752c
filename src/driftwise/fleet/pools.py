"""Members that are self-tuned learners: the vectors of their pools side by side, and the states of Scream inside."""

from collections.abc import Hashable
from functools import partial
from typing import Any, Self

import numpy as np

from driftwise._compile import LARGEST
from driftwise._validate import Array, Indices, read_only
from driftwise.engine.layout import ROUND
from driftwise.errors import CheckpointError, InputError
from driftwise.estimators import Estimator
from driftwise.fleet.feedback import Feedback, Flags
from driftwise.fleet.members import Lesson, Members, Runner, Standing, count_rounds, settled
from driftwise.fleet.pool_kernels import Table, decide_pools, learn_pools
from driftwise.fleet.source import Source
from driftwise.fleet.threads import slices
from driftwise.learners import SelfTunedLearner, SelfTunedScream
from driftwise.losses import RoundLoss
from driftwise.losses.base import DataLoss
from driftwise.losses.kernels import TAP, unary_values
from driftwise.pairs import layout
from driftwise.pairs.judging import MOST
from driftwise.pairs.kinds import Kind, kind_of
from driftwise.pairs.layout import EACH, GRADIENT, POOL, SCORE
from driftwise.pairs.pool import Plan

Given = tuple[Kind, Array, Array, Array]
"""What kernels are given of a round: its kind, the terms of the loss, and features and targets in rows."""


class Pools(Members):
    """Self-tuned learners of one configuration, whose losses have been of one kind so far.

    Attributes
    ----------
    pattern : SelfTunedLearner
        A new learner with their configuration.
    plan : Plan or None
        The pool of each of them; None before any of them has learnt.
    begun : array of bool
        Who has learnt at all.
    starts : array of shape (n, dim)
        Their first decisions.
    pools, screams : array of shape (n, size)
        The vectors of the pools without scratch space, and the states of self-tuned Scream inside.
    """

    kind = "pools"

    def __init__(self, pattern: SelfTunedLearner) -> None:
        self.family = self.family_of(pattern)
        self.example, self.losses = pattern.clone(), None if pattern._plan is None else pattern._plan.kind
        self.plan: Plan | None = None
        self.begun, self.starts = np.zeros(0, bool), np.zeros((0, pattern.domain.dim))
        self.pools, self.screams = np.zeros((0, 0)), np.zeros((0, 0))
        self._cell, self._linked = np.zeros(1), False
        if pattern._plan is not None:
            self._plan_for(pattern._plan.kind)

    def __len__(self) -> int:
        return self.begun.size

    @classmethod
    def family_of(cls, learner: Any) -> Hashable | None:
        """Return the family of a self-tuned learner that runs compiled, and has had no proposals."""
        if type(learner) is not SelfTunedLearner or not settled(learner):
            return None
        parts = [type(one).family is not Estimator.family for one in learner._estimators]
        parts += [mover.tau is not None for mover in learner._movers]
        given, scream = learner._arguments, learner._scream
        if not all(parts) or learner._names or (scream is not None and not (scream._acted is None and settled(scream))):
            return None
        usual = given["estimators"] is None and given["movers"] is None
        domain, cost = learner.domain, learner._cost.prices(learner.domain.dim)
        numbers = (domain.plan(link=False).tobytes(), cost.tobytes(), learner._cost.norm, type(domain).__name__)
        rules = (learner.period, learner._start_given, learner.on_bad_input)
        loss = None if learner._plan is None else learner._plan.kind
        return (cls.kind, *numbers, *rules, None if usual else id(given), loss)

    def _plan_for(self, kind: Kind) -> None:
        """Make the pool for a kind of loss."""
        pattern = self._new()
        self.plan, self.losses = pattern._new_plan(kind), kind
        size = int(self.plan.new(pattern._start)[layout.ROOM_AT])
        vector = self.plan.new(pattern._start)
        count = len(self)
        self.pools = np.zeros((count, size))
        wide = 0
        if vector[layout.SCREAM_ROW] >= 0.0:
            scream = SelfTunedScream(pattern.domain, switching_cost=pattern._cost, start=pattern._start)
            self._cell, wide = scream._cell.copy(), scream._state.size
        self.screams = np.zeros((count, wide))
        self._linked = False

    def _new(self) -> SelfTunedLearner:
        """Return a new learner of this configuration."""
        given = self.example._configuration()
        return type(self.example)(**given)

    def _begin(self, rows: Indices, kind: Kind) -> None:
        """Make pools for members that are about to learn for the first time."""
        if self.plan is None:
            self._plan_for(kind)
        assert self.plan is not None
        new = rows[~self.begun[rows]]
        if not new.size:
            return
        starts, which = np.unique(self.starts[new], axis=0, return_inverse=True)
        which = which.reshape(-1)
        for i, start in enumerate(starts):
            mine = new[which == i]
            vector = self.plan.new(start)
            self.pools[mine] = vector[: self.pools.shape[1]]
            if self.screams.shape[1]:
                self.screams[mine] = SelfTunedScream(
                    self.example.domain, switching_cost=self.example._cost, start=start
                )._state
        if self._linked:
            self._write_addresses(new)

    def _link(self) -> None:
        """Compile what the pools need, and let all of them know where it is."""
        if not self._linked:
            self._linked = True
            self._write_addresses(np.arange(len(self)))
            if self.screams.shape[1]:
                scream = SelfTunedScream(self.example.domain, switching_cost=self.example._cost)
                self._cell = scream.cell.copy()

    def _write_addresses(self, rows: Indices) -> None:
        assert self.plan is not None
        bare = self.plan.new(self.starts[0])
        vector = bare.copy()
        self.plan.link(vector)
        changed = np.flatnonzero(vector[: self.pools.shape[1]] != bare[: self.pools.shape[1]])
        self.pools[np.ix_(rows, changed)] = vector[changed]

    def append(self, source: Source) -> None:
        """Take in newcomers, in new rows."""
        count, first = source.which.size, len(self)
        learners = [source.patterns[i] for i in range(len(source.patterns))]
        starts = np.array([learner._start for learner in learners])[source.which]
        self.starts = np.concatenate([self.starts, starts if source.starts is None else source.starts])
        self.begun = np.concatenate([self.begun, np.zeros(count, bool)])
        if self.plan is not None:
            self.pools = np.concatenate([self.pools, np.zeros((count, self.pools.shape[1]))])
            self.screams = np.concatenate([self.screams, np.zeros((count, self.screams.shape[1]))])
            self._linked = False
        for i, learner in enumerate(learners):
            if learner._plan is not None:
                self._put(first + np.flatnonzero(source.which == i), learner)

    def _put(self, rows: Indices, learner: SelfTunedLearner) -> None:
        """Let rows be what a learner is, whose losses are of the same kind."""
        assert learner._plan is not None
        self.pools[rows] = learner._plan.kept(learner._vector)
        if learner._scream is not None:
            self.screams[rows] = learner._scream._state
        self.begun[rows], self.starts[rows] = True, learner._start
        if self._linked:
            self._write_addresses(rows)

    def keep(self, rows: Indices) -> None:
        """Forget all rows but these."""
        self.begun, self.starts = self.begun[rows], self.starts[rows]
        if self.plan is not None:
            self.pools, self.screams = self.pools[rows], self.screams[rows]

    def learner(self, row: int, standing: Standing) -> Any:
        """Return a member as a learner of its own."""
        learner = self._new()
        count_rounds(learner, standing)
        known = learner.__dict__
        known["_start"] = self.starts[row].copy()
        if self.begun[row]:
            assert self.plan is not None
            plan = learner._new_plan(self.plan.kind)
            kept = plan.kept(POOL.with_room(self.pools[row], plan.sides))
            known["_plan"], known["_vector"], known["_linked"] = plan, plan.vector_of(kept), False
            if self.screams.shape[1]:
                scream = SelfTunedScream(learner.domain, switching_cost=learner._cost, start=learner._start)
                scream._take(scream.program.cell_of(self.screams[row]))
                known["_scream"] = scream
        if standing.acted:
            decision = learner._parts["decision"] if self.begun[row] else learner._start
            known["_acted"] = read_only(decision.copy())
        return learner

    def decide(self, rows: Indices) -> Array:
        """Move the pairs, and return the decisions."""
        decisions = self.starts[rows]
        some = np.flatnonzero(self.begun[rows])
        if some.size:
            self._link()
            where = np.stack([rows[some], some], axis=1)
            decide_pools(self.pools, self.screams, where, decisions, self._vector(), self._cell.copy())
        return decisions

    def _vector(self) -> Array:
        assert self.plan is not None
        return POOL.with_room(np.zeros(self.pools.shape[1]), self.plan.sides)

    def learn(self, rows: Indices, feedback: Feedback, places: Indices, run: Runner) -> Lesson:
        """Look at losses or gradients; those of one kind are learnt from by compiled code."""
        given = self._read(feedback, rows)
        if given is None:
            return self._by_hand(rows, feedback, places)
        kind, terms, features, targets = given
        if kind.form == GRADIENT:
            refused = feedback.unusable()[places]
        else:
            values = np.empty(feedback.count)
            unary_values(terms, features, targets, 0, feedback.decisions, values)
            wild = np.any(~(np.abs(features * terms[TAP]) <= LARGEST), axis=1) & (kind.form == SCORE)
            refused = ((wild | ~(np.abs(values) <= MOST)) & ~feedback.absent)[places]

        def commit(skipped: Flags, decisions: Array, where: Indices) -> bool:
            rest = np.flatnonzero(~skipped)
            self._begin(rows[rest], kind)
            self._link()
            table = np.stack([rows[rest], places[rest]], axis=1)
            run([partial(self._learn, table[some], terms, features, targets) for some in slices(rest.size, 128)])
            self.begun[rows[rest]] = True
            moved.extend(self._skipped(rows, np.flatnonzero(skipped)))
            return False

        moved: list[tuple[int, Any]] = []
        return Lesson(refused, "", commit, moved)

    def _learn(self, where: Table, terms: Array, features: Array, targets: Array) -> None:
        learn_pools(self.pools, self.screams, where, terms, features, targets, self._vector(), self._cell.copy())

    def _read(self, feedback: Feedback, rows: Indices) -> Given | None:
        """Return a round as kernels take it, or None if it is not of the kind that these members know."""
        kind, parts = self._parts_of(feedback)
        if self.losses is not None and self.losses.form == GRADIENT:
            kind = self.losses
        if kind is None or (self.losses is not None and kind != self.losses):
            return None
        if kind.form == GRADIENT:
            return kind, feedback.rows, feedback.rows, feedback.rows.reshape(-1)
        assert parts is not None
        return kind, *parts

    def _parts_of(self, feedback: Feedback) -> "tuple[Kind | None, tuple[Array, Array, Array] | None]":
        stream, items, dim = feedback.stream, feedback.items, self.example.domain.dim
        if isinstance(stream, DataLoss):
            return kind_of(stream), stream._parts
        if stream is not None or items is None:
            return Kind(GRADIENT, dim), None
        there = [item for item in items if item is not None]
        if not all(isinstance(item, RoundLoss) and isinstance(item._stream, DataLoss) for item in there):
            return None, None
        streams = {id(item._stream): item._stream for item in there}
        terms = {stream._terms.tobytes() for stream in streams.values()}
        kinds = {kind_of(stream) for stream in streams.values()}
        if len(terms) != 1 or len(kinds) != 1:
            return None, None
        features, targets = np.zeros((feedback.count, dim)), np.zeros(feedback.count)
        for i, item in enumerate(items):
            if item is not None:
                features[i], targets[i] = item._stream.data.features[item._t], item._stream.data.targets[item._t]
        return kinds.pop(), (next(iter(streams.values()))._terms, features, targets)

    def _by_hand(self, rows: Indices, feedback: Feedback, places: Indices) -> Lesson:
        """Let every member look at its feedback by itself."""
        refused, why, trials = np.zeros(rows.size, bool), "", dict[int, Any]()
        for k, (row, place) in enumerate(zip(rows.tolist(), places.tolist(), strict=True)):
            trial = self.learner(row, Standing(True, int(self._rounds(row)), 0, 0))
            if feedback.absent[place]:
                continue
            try:
                trial.observe(feedback.item(place))
                trials[k] = trial
                refused[k] = trial.refused > 0
            except InputError as error:
                refused[k], why = True, why or str(error)

        def commit(skipped: Flags, decisions: Array, where: Indices) -> bool:
            for k, trial in trials.items():
                if trial._plan is not None and trial._plan.kind == self.losses:
                    self._put(rows[k : k + 1], trial)
                else:
                    moved.append((k, trial))
            moved.extend(self._skipped(rows, np.array([k for k in range(rows.size) if k not in trials], np.int64)))
            return False

        moved: list[tuple[int, Any]] = []
        return Lesson(refused, why, commit, moved)

    def _rounds(self, row: int) -> float:
        return float(self.pools[row, layout.ROUNDS]) if self.begun[row] else 0.0

    def skip(self, rows: Indices) -> list[tuple[int, Any]]:
        """End the round of some members without feedback: until the next they are objects, who know how."""
        return self._skipped(rows, np.arange(rows.size))

    def _skipped(self, rows: Indices, which: Indices) -> list[tuple[int, Any]]:
        moved = []
        for k in which.tolist():
            learner = self.learner(int(rows[k]), Standing(True, int(self._rounds(int(rows[k]))), 0, 0))
            learner.skip()
            moved.append((k, learner))
        return moved

    def clone(self) -> Self:
        """Return an independent copy."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        for name in ("begun", "starts", "pools", "screams"):
            other.__dict__[name] = self.__dict__[name].copy()
        return other

    def saved(self) -> dict[str, Any]:
        """Return what is to be saved: the configuration, and states without addresses."""
        if self._linked:
            assert self.plan is not None
            bare, vector = self.plan.new(self.starts[0]), self.plan.new(self.starts[0])
            self.plan.link(vector)
            changed = np.flatnonzero(vector[: self.pools.shape[1]] != bare[: self.pools.shape[1]])
            self.pools[:, changed], self._linked = bare[changed], False
        known = {name: getattr(self, name) for name in ("begun", "starts", "pools", "screams")}
        return {"example": self.example, "losses": self.losses, **known}

    @classmethod
    def resumed(cls, saved: dict[str, Any]) -> "Pools":
        """Return a block from what was saved, after checking every pool."""
        example, kind = saved["example"], saved["losses"]
        begun, starts, pools, screams = (saved[name] for name in ("begun", "starts", "pools", "screams"))
        if cls.family_of(example) is None:
            raise CheckpointError("Fleet: its pools must be those of a SelfTunedLearner.")
        count, dim = len(begun), example.domain.dim
        block = cls(example)
        if kind is not None:
            if kind.dim != dim or kind.form not in (SCORE, EACH, GRADIENT) or block.losses not in (None, kind):
                raise CheckpointError(f"Fleet: members decide in {dim} coordinates, and learnt from {kind}.")
            block._plan_for(kind)
        shapes = ((count,), (count, dim), (count, block.pools.shape[1]), (count, block.screams.shape[1]))
        given = (begun, starts, pools, screams) if kind is not None else (begun, starts)
        fits = all(part.shape == shape for part, shape in zip(given, shapes, strict=False))
        if not fits or begun.dtype != bool or not example.domain.contains(starts) or (kind is None and begun.any()):
            raise CheckpointError("Fleet: self-tuned learners must have a state each, and begin in their domain.")
        block.begun, block.starts = begun, starts
        if block.plan is not None:
            for row in np.flatnonzero(begun).tolist():
                pools[row] = block.plan.resumed(pools[row], starts[row])[: pools.shape[1]]
                if screams.shape[1]:
                    scream = SelfTunedScream(example.domain, switching_cost=example._cost, start=starts[row])
                    scream.program.check_state("Fleet", screams[row], int(screams[row, ROUND]))
            block.pools, block.screams = pools, screams
        return block

    @property
    def patterns(self) -> list[Any]:
        """One of them."""
        return [self.example]

    @property
    def nbytes(self) -> int:
        """Bytes of memory."""
        return sum(part.nbytes for part in (self.begun, self.starts, self.pools, self.screams))
