"""Members that are committees which mix: their vectors side by side, and rounds compiled."""

import math
from collections.abc import Callable, Hashable
from typing import Any, Self

import numpy as np

from driftwise._validate import Array, Indices, array, read_only
from driftwise.engine.hedge import TIE
from driftwise.errors import CheckpointError, InputError, OrderError
from driftwise.fleet.committee_kernels import end_committees, mix_committees
from driftwise.fleet.feedback import Feedback, Flags
from driftwise.fleet.members import Lesson, Members, Runner, Standing, count_rounds, settled
from driftwise.fleet.source import Source
from driftwise.fleet.threads import slices
from driftwise.learners import Committee
from driftwise.learners.committee.committee import _Round
from driftwise.learners.committee.layout import CHARGE, COMMITTEE, RATE, ROUNDS, new_committee, parts_of
from driftwise.learners.committee.reading import read_losses, read_proposals
from driftwise.movecost import move_cost_for


class Committees(Members):
    """Committees of one configuration, whose decisions have one shape.

    Attributes
    ----------
    example : Committee
        One of them.
    shape : tuple of int, or None
        Shape of a proposal; None before the first.
    vectors : array of shape (count, size)
        What they know.
    begun : array of bool
        Who has decided at all.
    acted : array of bool
        Who has decided in this round.
    """

    kind = "committees"

    def __init__(self, pattern: Committee) -> None:
        self.family, self.example, self.shape = self.family_of(pattern), pattern.clone(), pattern._shape
        self.begun, self.acted = np.zeros(0, bool), np.zeros(0, bool)
        self.vectors = np.zeros((0, 0 if self.shape is None else self._fresh(self.shape).size))
        self.before = self.vectors.copy()

    def __len__(self) -> int:
        return self.begun.size

    @classmethod
    def family_of(cls, learner: Any) -> Hashable | None:
        """Return the family of a committee that mixes its members, and has no movers."""
        if type(learner) is not Committee or learner.mode != "mix" or learner._pairs is not None:
            return None
        if learner._acted is not None or not settled(learner):
            return None
        cost = learner._price
        prices = (np.asarray(cost.up).tobytes(), np.asarray(cost.down).tobytes(), cost.norm)
        draws = str(learner._rng.bit_generator.state)  # it draws nothing, but is saved with them
        rules = (learner.n, learner._shape, learner._log_prior.tobytes(), learner.on_bad_input, draws)
        return (cls.kind, *prices, *rules)

    def _fresh(self, shape: tuple[int, ...]) -> Array:
        """Return the vector of a new committee."""
        size = math.prod(shape)
        cost = move_cost_for("Fleet", self.example._price, size)
        return new_committee(self.example._log_prior, cost.prices(size), cost.norm == "l1")

    def append(self, source: Source) -> None:
        """Take in newcomers, in new rows."""
        count = source.which.size
        if self.shape is not None:
            rows = np.array([learner._vector for learner in source.patterns])
            self.vectors = np.concatenate([self.vectors, rows[source.which]])
            self.before = np.concatenate([self.before, rows[source.which]])
        self.begun = np.concatenate([self.begun, np.full(count, self.shape is not None)])
        self.acted = np.concatenate([self.acted, np.zeros(count, bool)])

    def keep(self, rows: Indices) -> None:
        """Forget all rows but these."""
        self.begun, self.acted = self.begun[rows], self.acted[rows]
        if self.shape is not None:
            self.vectors, self.before = self.vectors[rows], self.before[rows]

    def learner(self, row: int, standing: Standing) -> Any:
        """Return a member as a committee of its own."""
        made = self.example.clone()
        count_rounds(made, standing)
        known = made.__dict__
        known["_acted"] = None
        if not self.begun[row]:
            return made
        known["_shape"] = self.shape
        made._take(self.vectors[row].copy())
        if self.acted[row]:
            parts = made._parts
            awake = parts["prior"] > -math.inf
            decision = read_only(parts["decision"].reshape(self.shape).copy())
            shown = decision if self.shape else float(decision)
            known["_acted"] = _Round(awake, parts["rows"].copy(), shown, False)
            known["_open"] = {"before": [self.before[row].copy(), None]}
        return made

    def decide(self, rows: Indices) -> Array:
        """Return the decisions of committees that have acted."""
        assert self.shape is not None
        decided = np.array([parts_of(self.vectors[row])["decision"] for row in rows.tolist()])
        return decided.reshape(-1, *self.shape)

    def propose(self, rows: Indices, proposals: Any, places: Indices) -> "tuple[Array, Callable[[], None]]":
        """Look at proposals; return the decisions, and what makes them so."""
        awake, given, shape = self._read(proposals, places)
        size, n = math.prod(shape), self.example.n
        repeated = self.acted[rows]
        if self.shape is None:
            vectors = np.tile(self._fresh(shape), (rows.size, 1))
        else:
            vectors = self.vectors[rows]
            vectors[~self.begun[rows]] = self._fresh(shape)
        before, parts = vectors.copy(), self._views(vectors, size)
        if repeated.any():
            same = np.all(parts["rows"] == given, axis=(1, 2)) & np.all((parts["prior"] > -math.inf) == awake, axis=1)
            if not same[repeated].all():
                raise OrderError("Fleet.act: members act again before observe, with other proposals; observe comes first.")
        decisions, new = parts["decision"].copy(), np.flatnonzero(~repeated)
        totals = parts["totals"][new]
        parts["totals"][new] = totals - totals.min(axis=1, keepdims=True)
        parts["before"][new] = parts["weights"][new]
        parts["prior"][new] = np.where(awake[new], parts["log_prior"][new], -math.inf)
        parts["rows"][new] = given[new]
        written = np.empty((new.size, size))
        mix_committees(vectors, new, written)
        decisions[new] = written
        kept = parts["kept"]
        kept[new] = np.where(awake[new][:, :, None], parts["rows"][new], kept[new])
        assert n == awake.shape[1]

        def commit() -> None:
            if self.shape is None:
                self.shape = shape
                self.vectors = np.tile(self._fresh(shape), (len(self), 1))
                self.before = self.vectors.copy()
            self.before[rows[new]] = before[new]
            self.vectors[rows], self.begun[rows], self.acted[rows] = vectors, True, True

        return decisions.reshape(-1, *shape), commit

    def _views(self, vectors: Array, size: int) -> dict[str, Array]:
        """Return the parts of vectors side by side, without padding."""
        n = self.example.n
        sides = {"members": n, "lanes": -(-n // 4) * 4, "dim": size}
        padded = {part.name for part in COMMITTEE.parts if part.shape == ("lanes",)}
        found = {}
        for name, place, shape in COMMITTEE._places(sides)[0]:
            part = vectors[:, place]
            view = np.lib.stride_tricks.as_strided(
                part, (len(part), *shape), (part.strides[0], *np.empty(shape).strides)
            )
            found[name] = view[:, :n] if name in padded else view
        return found

    def _read(self, proposals: Any, places: Indices) -> tuple[Flags, Array, tuple[int, ...]]:
        """Return who is awake, the proposals as rows, and the shape of one of them."""
        n = self.example.n
        if isinstance(proposals, np.ndarray) and proposals.dtype.kind in "fiu":
            given = proposals[places]
            shape = given.shape[2:] if self.shape is None else self.shape
            checked = array("Fleet.act", "proposals", given, (places.size, n, *shape), copy=True)
            return np.ones((places.size, n), bool), checked.reshape(places.size, n, -1), shape
        shown, awake, rows = self.shape, [], []
        for place in places.tolist():
            here, row, shown = read_proposals(n, proposals[place], shown)
            awake.append(here)
            rows.append(row)
        assert shown is not None
        return np.array(awake), np.array(rows), shown

    def learn(self, rows: Indices, feedback: Feedback, places: Indices, run: Runner) -> Lesson:
        """Look at losses: one for each member that is awake."""
        assert self.shape is not None
        parts = self._views(self.vectors, math.prod(self.shape))
        awake = parts["prior"][rows] > -math.inf
        refused, why, losses = np.zeros(rows.size, bool), "", np.zeros((rows.size, self.example.n))
        if feedback.plain:
            losses = np.where(awake, feedback.rows[places], 0.0)
            refused = np.any(~(np.abs(losses) <= 1e100), axis=1) & ~feedback.absent[places]
        else:
            for k, (row, place) in enumerate(zip(rows.tolist(), places.tolist(), strict=True)):
                if not feedback.absent[place]:
                    try:
                        losses[k] = read_losses(feedback.item(place), awake[k], parts["rows"][row], self.shape, 0)
                    except InputError as error:
                        refused[k], why = True, why or str(error)

        def commit(skipped: Flags, decisions: Array, where: Indices) -> bool:
            mine = ~skipped
            charges = losses[mine] + parts["own"][rows[mine]]
            here = np.where(awake[mine], charges, math.inf)
            least, most = here.min(axis=1), np.where(awake[mine], charges, -math.inf).max(axis=1)
            alike = ~(most - least > TIE * np.maximum(most, -least))
            charges[alike] = 0.0
            parts["charges"][rows[mine]] = charges
            some = rows[mine]
            run([_Ending(self.vectors, some[part]) for part in slices(some.size)])
            self.skip(rows[skipped])
            self.acted[rows] = False
            return False

        return Lesson(refused, why, commit)

    def skip(self, rows: Indices) -> list[tuple[int, Any]]:
        """End the round of some committees without feedback: they know what they knew before they acted."""
        self.vectors[rows], self.acted[rows] = self.before[rows], False
        return []

    def clone(self) -> Self:
        """Return an independent copy."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        other.before = self.before.copy()
        other.vectors, other.begun, other.acted = self.vectors.copy(), self.begun.copy(), self.acted.copy()
        return other

    @property
    def patterns(self) -> list[Any]:
        """One of them."""
        return [self.example]

    @property
    def nbytes(self) -> int:
        """Bytes of memory."""
        return self.vectors.nbytes + self.before.nbytes + self.begun.nbytes + self.acted.nbytes

    def saved(self) -> dict[str, Any]:
        """Return what is to be saved."""
        shape = None if self.shape is None else list(self.shape)
        return {
            "example": self.example,
            "shape": shape,
            "begun": self.begun,
            "acted": self.acted,
            "vectors": self.vectors,
            "before": self.before,
        }

    @classmethod
    def resumed(cls, saved: dict[str, Any]) -> "Committees":
        """Return a block from what was saved, after checking all of it."""
        example, vectors, before = (saved[name] for name in ("example", "vectors", "before"))
        begun, acted = saved["begun"], saved["acted"]
        if cls.family_of(example) is None:
            raise CheckpointError("Fleet: its committees must be committees that mix.")
        block, count = cls(example), len(begun)
        if saved["shape"] is not None:
            block.shape = tuple(int(side) for side in saved["shape"])
        fits = begun.shape == acted.shape == (count,) and begun.dtype == acted.dtype == bool
        if block.shape is None:
            possible = not begun.any() and not acted.any()
        else:
            if not 0 < math.prod(block.shape) <= max(vectors.size, 1) or len(block.shape) > 2:
                raise CheckpointError(f"Fleet: proposals cannot be of shape {block.shape}.")
            fresh = block._fresh(block.shape)
            fits = fits and vectors.shape == (count, fresh.size) and vectors.dtype == np.float64
            fits = fits and before.shape == vectors.shape and before.dtype == np.float64
            known = [block._possible(part, here, fresh) for part, here in ((vectors, begun), (before, acted)) if fits]
            possible = all(known)
        if not fits or not possible or np.any(acted & ~begun):
            raise CheckpointError("Fleet: such committees are not possible.")
        block.before = before
        block.vectors, block.begun, block.acted = vectors, begun, acted
        return block

    def _possible(self, vectors: Array, begun: Flags, fresh: Array) -> bool:
        """Write the constants of a new committee into vectors, and tell whether the rest is possible."""
        assert self.shape is not None
        parts, size = self._views(vectors, math.prod(self.shape)), 22
        constants = np.r_[0:ROUNDS, CHARGE + 1 : size]
        vectors[:, constants] = fresh[constants]
        new = self._views(fresh[None], math.prod(self.shape))
        for name in ("log_prior", "prices"):
            parts[name][:] = new[name]
        prior = parts["prior"]
        awake = ~np.isnan(prior) & (np.isneginf(prior) | np.isfinite(prior))
        finite = all(np.isfinite(part).all() for name, part in parts.items() if name not in ("prior", "log_prior"))
        weights, numbers = parts["weights"], vectors[:, [ROUNDS, RATE, RATE + 1, CHARGE]]
        sums = np.abs(weights.sum(axis=1) - 1.0) <= 1e-9
        return bool(
            finite
            and awake.all()
            and np.all(np.any(np.isfinite(prior), axis=1) | ~begun)
            and np.all(weights >= 0.0)
            and np.all(sums | ~begun | (vectors[:, ROUNDS] == 0.0))
            and np.all(numbers >= 0.0)
            and not np.isnan(numbers).any()
        )


class _Ending:
    """A job: end the round of some committees."""

    def __init__(self, vectors: Array, rows: Indices) -> None:
        self.vectors, self.rows = vectors, np.ascontiguousarray(rows)

    def __call__(self) -> None:
        end_committees(self.vectors, self.rows)
