"""Making a pool: the vector of a learner for some estimators, their movers, a price of moving and a kind of loss."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from driftwise._memory import Array
from driftwise.domains import Domain
from driftwise.domains.kernels import BOX, SIMPLEX
from driftwise.errors import CheckpointError
from driftwise.movecost import MoveCost
from driftwise.pairs import judging, layout, moving, rounds
from driftwise.pairs.kinds import Kind
from driftwise.pairs.layout import EACH, GRADIENT, POOL

RATE = 0.5
"""Hedge's rate is this times ln n over the overhead."""

NO_EVIDENCE = 1e250
"""The rate while mixing has cost nothing: so large that only those who have cost the least so far have any weight."""

JUDGES = (judging.judge_score, judging.judge_each, judging.judge_gradient)

FAVOUR = 0.9
"""Prior weight of what is hardly ever to be dearer than the pool: self-tuned Scream, followed, where only gradients are
known, and staying where losses are almost all noise (`LogWealthLoss`)."""

CONSTANT = ("plan", "prices", "tau", "waits", "log_prior", "owner", "records", "edges", "formed")

CHANGING = tuple(part.name for part in layout.KEPT if part.name not in (*CONSTANT, "record"))
"""Parts of the vector that change from round to round; of the records, each family knows which do."""

STAY = "stay"
"""Name of the pair that never moves from the start."""


@dataclass(frozen=True)
class Row:
    """An estimator of a pool: its family (None if its proposals come from outside), and its movers' numbers."""

    name: str
    family: Any
    estimator: Any
    movers: tuple[Any, ...]


@dataclass(frozen=True)
class Plan:
    """A pool before it has a state. Rows of one family are neighbours, and those without one come last."""

    domain: Domain
    cost: MoveCost
    kind: Kind
    rows: tuple[Row, ...]

    @property
    def members(self) -> list[str]:
        """Names of the pairs, in the order of the weights."""
        return [STAY, *(f"{row.name}, {mover.name}" for row in self.rows for mover in row.movers)]

    @cached_property
    def families(self) -> list[Any]:
        """The families, in the order of their rows."""
        return list(dict.fromkeys(row.family for row in self.rows if row.family is not None))

    @cached_property
    def lanes(self) -> NDArray[np.int64]:
        """The lanes of the pairs, in the order of `members`."""
        places, start = [0], 4
        for row in self.rows:
            places += range(start, start + len(row.movers))
            start += _padded(len(row.movers))
        return np.array(places)

    def first_lane(self, row: int) -> int:
        """Return the lane of the first pair of a row."""
        return 4 + sum(_padded(len(before.movers)) for before in self.rows[:row])

    @cached_property
    def sides(self) -> dict[str, int]:
        """Sides of the vector's parts, by name."""
        dim, count = self.domain.dim, len(self.rows)
        lanes = 4 + sum(_padded(len(row.movers)) for row in self.rows)
        return {
            "plan": self.domain.plan(link=False).size,
            "dim": dim,
            "lanes": lanes,
            "blocks": lanes // 4,
            "families": len(self.families),
            "simplices": len(self._simplices),
            "estimators": count,
            "offsets": count * self.kind.offsets,
            "moments": dim * dim if self.kind.full else dim,
            "record": sum(record.size for record in self._records(np.zeros(dim))),
            "terms": dim + 1,
            "scratch": 4 * dim + 16,
            "spare": max(self.domain.room, 1),
        }

    @property
    def _boxed(self) -> bool:
        """Whether coordinates may be moved one by one: in any other domain that may lead out of it."""
        return all(block.kind == BOX for block in self.domain.blocks)

    @property
    def _simplices(self) -> list[slice]:
        parts = zip(self.domain.blocks, self.domain.slices, strict=True)
        return [part for block, part in parts if block.kind == SIMPLEX]

    def _records(self, start: Array) -> list[Array]:
        """Return the record of every family."""
        found = []
        for family in self.families:
            rows = [i for i, row in enumerate(self.rows) if row.family is family]
            found.append(family.record([self.rows[i].estimator for i in rows], rows[0], start))
        return found

    def views(self, vector: Array) -> dict[str, Array]:
        """Return the parts of a vector by name."""
        return POOL.views(vector, self.sides)

    def new(self, start: Array) -> Array:
        """Return the vector of a pool that begins at `start`."""
        vector, cost, kind, dim = POOL.new(self.sides), self.cost, self.kind, self.domain.dim
        adds_up = cost.norm == "l1"
        numbers = {
            layout.DIM: dim,
            layout.LANES: self.sides["lanes"],
            layout.ESTIMATORS: len(self.rows),
            layout.FAMILIES: len(self.families),
            layout.FORM: kind.form,
            layout.FULL: kind.full,
            layout.ADDS_UP: adds_up,
            layout.APART: kind.form == EACH and (dim == 1 or (adds_up and self._boxed)),
            layout.RATE: NO_EVIDENCE,
            layout.FACTOR: RATE * math.log(max(len(self.members), 2)),
            layout.HALF_WIDTH: self.domain.diameter / 2.0,
            layout.SIMPLICES: len(self._simplices),
            layout.BEND: kind.bend,
            layout.SHIFTED: kind.shifted,
            layout.OFFSETS: kind.offsets,
            layout.PRICE: cost.largest(dim),
            layout.CURVE: kind.bend,
            layout.SCREAM_ROW: next((i for i, row in enumerate(self.rows) if _beside(row)), -1),
            layout.FIRST_GIVEN: sum(row.family is not None for row in self.rows),
            layout.GIVEN: sum(row.family is None for row in self.rows),
        }
        for place, value in numbers.items():
            vector[place] = value
        parts = self.views(vector)
        parts["plan"][:], parts["prices"][:] = self.domain.plan(link=False), cost.prices(dim)
        for edge, part in zip(parts["edges"], self._simplices, strict=True):
            edge[:] = part.start, part.stop
        for name in ("start", "decision", "last", "proposals"):
            parts[name][:] = start
        parts["points"][:] = start[:, None]
        parts["tau"][:], parts["log_prior"][:], parts["owner"][0] = math.inf, -math.inf, -1.0
        places = iter(self.lanes)
        parts["log_prior"][next(places)] = 0.0
        for e, row in enumerate(self.rows):
            for mover in row.movers:
                lane = next(places)
                parts["tau"][lane], parts["waits"][lane], parts["log_prior"][lane] = mover.tau, mover.waits, 0.0
                parts["owner"][lane // 4] = e
        favourite = self._favourite(int(vector[layout.SCREAM_ROW]))
        if favourite is not None and len(self.lanes) > 1:
            parts["log_prior"][self.lanes] = math.log((1.0 - FAVOUR) / (len(self.lanes) - 1))
            parts["log_prior"][favourite] = math.log(FAVOUR)
        if kind.mixable > 0.0:  # what is at stake is known: at this rate mixing costs nothing
            vector[layout.RATE], vector[layout.OVERHEAD] = kind.mixable, vector[layout.FACTOR] / kind.mixable
        parts["prior"][:] = parts["log_prior"]
        shares = np.exp(parts["prior"])
        parts["weights"][:] = shares / shares.sum()
        parts["horizons"][:], parts["bends"][:], parts["present"][:] = 2.0, 1.0, 1.0
        parts["formed"][:] = [row.family is not None and not _beside(row) for row in self.rows]
        offset = 0
        for f, record in enumerate(self._records(start)):
            parts["records"][f, 1] = offset
            parts["record"][offset : offset + record.size] = record
            offset += record.size
        return vector

    def _favourite(self, scream: int) -> int | None:
        """Return the lane of the pair that has most of the prior, if there is one; `scream` is its row, or -1."""
        if self.kind.mixable > 0.0:
            return 0
        return self.first_lane(scream) if self.kind.form == GRADIENT and scream >= 0 else None

    def grown(self, vector: Array, larger: "Plan") -> Array:
        """Return the vector of a plan with more rows behind these; newcomers begin where the decision is."""
        old = self.views(vector)
        new_vector = larger.new(old["start"])
        at_stake = new_vector[layout.OVERHEAD]
        new_vector[: layout.HEADER][layout.ROUNDS : layout.SCREAM_ROW] = vector[layout.ROUNDS : layout.SCREAM_ROW]
        if vector[layout.ROUNDS] > 0.0:  # a rate that is used must not rise
            new_vector[layout.FACTOR] = vector[layout.FACTOR]
        else:
            new_vector[layout.OVERHEAD] = at_stake
        new = larger.views(new_vector)
        for name, part in old.items():
            if part.ndim and name not in ("records", "plan"):
                new[name][tuple(slice(side) for side in part.shape)] = part
        lanes, rows = self.sides["lanes"], len(self.rows)
        new["points"][lanes // 4 :] = old["decision"][:, None]
        new["proposals"][rows:], new["totals"][lanes:] = old["decision"], _potential(vector[layout.RATE], old)
        new["horizons"][rows:] = vector[layout.ROUNDS] + 2.0
        return new_vector

    def link(self, vector: Array, aside: bool = False) -> None:
        """Write the addresses of the plugins that this pool needs, and compile those that are not on disk."""
        parts = self.views(vector)
        parts["plan"][:] = self.domain.plan()
        for f, family in enumerate(self.families):
            parts["records"][f, 0] = family.plugin.address
        vector[layout.JUDGE_CALL] = JUDGES[self.kind.form].address
        vector[layout.LEARN_CALL], vector[layout.DECIDE_CALL] = rounds.learn.address, moving.decide.address
        vector[layout.WEIGH_CALL] = rounds.reweigh.address
        if aside:
            vector[layout.ASIDE_CALL] = rounds.learn_aside.address

    def kept(self, vector: Array) -> Array:
        """Return a copy of what is to be kept of a vector: without its room, and without addresses."""
        kept = POOL.kept(vector)
        kept[layout.JUDGE_CALL : layout.WEIGH_CALL + 1] = 0.0
        start = int(kept[layout.RECORDS])
        kept[start : start + 2 * len(self.families) : 2] = 0.0
        start = int(kept[layout.PLAN])
        kept[start : start + self.sides["plan"]] = self.domain.plan(link=False)
        return kept

    def resumed(self, kept: Array, start: Array) -> Array:
        """Return the vector of what was saved, without its constants, which are those of a new pool."""
        vector = self.new(start)
        size = int(vector[layout.ROOM_AT])
        if kept.dtype != np.float64 or kept.shape != (size,):
            raise CheckpointError(f"SelfTunedLearner: a pool of {size} numbers was expected, not one of {kept.shape}.")
        saved, parts = POOL.views(POOL.with_room(kept, self.sides), self.sides), self.views(vector)
        vector[layout.FACTOR] = kept[layout.FACTOR]
        vector[layout.ROUNDS : layout.SCREAM_ROW] = kept[layout.ROUNDS : layout.SCREAM_ROW]
        for name in CHANGING:
            parts[name][:] = saved[name]
        edges = [*parts["records"][:, 1].astype(int).tolist(), parts["record"].size]
        for family, first, last in zip(self.families, edges[:-1], edges[1:], strict=True):
            family.resume(parts["record"][first:last], saved["record"][first:last], self.domain.dim)
        numbers = np.concatenate(
            [vector[layout.ROUNDS : layout.SCREAM_ROW], *(parts[name].ravel() for name in CHANGING)]
        )
        weights = parts["weights"]
        possible = {
            "numbers": not np.isnan(numbers).any(),
            "rounds": vector[layout.ROUNDS] == np.floor(vector[layout.ROUNDS])
            and 0.0 <= vector[layout.ROUNDS] < 2.0**53,
            "rates": vector[layout.RATE] >= 0.0 and vector[layout.FACTOR] > 0.0,
            "weights": np.all(weights >= 0.0) and abs(weights.sum() - 1.0) <= 1e-9,
            "decision": self.domain.contains(parts["decision"]),
        }
        wrong = [name for name, fine in possible.items() if not fine]
        if wrong:
            raise CheckpointError(f"SelfTunedLearner: a pool with such {', '.join(wrong)} is not possible.")
        return vector

    def vector_of(self, kept: Array) -> Array:
        """Return what was kept as a vector with room."""
        return POOL.with_room(kept, self.sides)


def _potential(rate: float, parts: dict[str, Array]) -> float:
    """Return the total with which a newcomer leaves Hedge's potential as it is, and has just its prior weight."""
    here = np.isfinite(parts["prior"])
    totals, shares = parts["totals"][here], np.exp(parts["prior"][here])
    with np.errstate(over="ignore"):
        above = np.minimum(rate * (totals - totals.min()), 700.0)
    return float(totals.min() - math.log(float(np.sum(shares / shares.sum() * np.exp(-above)))) / rate)


def _beside(row: Row) -> bool:
    """Tell whether the estimator of a row keeps its proposal in a cell of its own."""
    return row.family is not None and row.family.beside


def _padded(count: int) -> int:
    return -(-count // 4) * 4


def arrange(rows: Sequence[Row]) -> tuple[Row, ...]:
    """Return rows with those of one family side by side, and those without one last."""
    order = list(dict.fromkeys(row.family for row in rows if row.family is not None))
    return tuple(sorted(rows, key=lambda row: len(order) if row.family is None else order.index(row.family)))
