"""The self-tuned learner: where would one like to be, how far is it worth going, and who has been right."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from driftwise import estimators as kinds_of_estimator
from driftwise import movers as kinds_of_mover
from driftwise._validate import Array, array, instance, read_only, whole
from driftwise.domains import Domain
from driftwise.errors import InputError, ParameterError
from driftwise.estimators import Estimator
from driftwise.learners.base import Learner
from driftwise.learners.parts import first_decision, wide_enough
from driftwise.learners.self_tuned.proposals import Proposals, read_proposals, read_table
from driftwise.learners.self_tuned_scream import SelfTunedScream
from driftwise.losses import LossStream, RoundLoss
from driftwise.losses.base import DataLoss
from driftwise.mirror import Euclidean
from driftwise.movecost import MoveCost, move_cost_for
from driftwise.movers import Mover
from driftwise.pairs import layout
from driftwise.pairs.judging import OK
from driftwise.pairs.kinds import Kind, kind_of
from driftwise.pairs.layout import GRADIENT
from driftwise.pairs.pool import Plan, Row, arrange
from driftwise.pairs.run import decide, observe_gradient, observe_loss, reweigh

NONE = np.zeros(1)


class SelfTunedLearner(Learner):
    """The learner to begin with: it knows what a move costs, and nothing else."""

    def __init__(
        self,
        domain: Domain,
        *,
        switching_cost: float | MoveCost,
        start: ArrayLike | None = None,
        period: int | None = None,
        estimators: Sequence[Estimator] | None = None,
        movers: Sequence[Mover] | None = None,
    ) -> None:
        super().__init__(domain)
        wide_enough("SelfTunedLearner", domain)
        self._cost = move_cost_for("SelfTunedLearner", switching_cost, domain.dim)
        self.switching_cost = self._cost.simplest
        self.period = None if period is None else whole("SelfTunedLearner", "period", period, low=2)
        self._estimators = tuple(kinds_of_estimator.default(period) if estimators is None else estimators)
        self._movers = tuple(kinds_of_mover.default() if movers is None else movers)
        self._given_start = start is not None
        self._start = first_decision("SelfTunedLearner", domain, Euclidean(), start)
        self._names: tuple[str, ...] = ()
        self._waiting: dict[str, Array] = {}
        self._plan: Plan | None = None
        self._vector, self._linked = NONE, False
        self._scream: SelfTunedScream | None = None

    # ---- what can be read

    @property
    def members(self) -> list[str]:
        """Names of the (estimator, mover) pairs, in the order of `weights`; before the first round, only "stay"."""
        return ["stay"] if self._plan is None else self._plan.members

    @property
    def weights(self) -> Array:
        """Weights of the pairs."""
        if self._plan is None:
            return np.ones(1)
        return self._plan.views(self._vector)["weights"][self._plan.lanes]

    @property
    def overhead(self) -> float:
        """What mixing has cost so far."""
        return 0.0 if self._plan is None else float(self._vector[layout.OVERHEAD])

    # ---- the two verbs

    def act(self, hint: ArrayLike | None = None, proposal: Proposals = None) -> Array:
        """Return the decision for this round: read-only, and the same until `observe`."""
        if proposal is not None:
            if self._acted is not None:
                raise self._acts_again("a proposal, which belongs to the first act of a round")
            if self._round >= self._limit:
                raise self._exhausted()
            self._waiting = read_proposals(self.domain, proposal)
        try:
            return super().act(hint)
        finally:
            self._waiting = {}

    def observe(self, gradient: "ArrayLike | RoundLoss | LossStream") -> None:
        """Take in what the decision cost."""
        w = self._acted
        if w is None:
            raise self._too_early()
        loss = self._loss(gradient)
        stream = loss._stream if isinstance(loss, RoundLoss) else None
        kind = kind_of(stream) if isinstance(stream, DataLoss) else Kind(GRADIENT, self.domain.dim)
        if kind.form == GRADIENT:
            given: Any = self._gradient_at(w, gradient)
        elif stream.dim != self.domain.dim:
            raise InputError(
                f"SelfTunedLearner.observe: the losses have dim {stream.dim}, the learner decides in {self.domain!r}."
            )
        self.prepare(kind)
        if kind.form == GRADIENT:
            status = observe_gradient(self._vector, self._cell, given)
        else:
            status = observe_loss(self._vector, self._cell, *stream._parts, loss._t)
        if status != OK:
            raise self._refused("the gradient" if kind.form == GRADIENT else f"{loss!r}: its numbers")
        self._end_round()

    # ---- how it is done

    def prepare(self, kind: Kind) -> None:
        """Make the pool for a kind of loss, or check that it is the one it was made for; link what is compiled."""
        if self._plan is None:
            plan = self._new_plan(kind)
            vector = plan.new(self._start)
            if any(row.family is not None and row.family.beside for row in plan.rows):
                self._scream = SelfTunedScream(self.domain, switching_cost=self._cost, start=self._start)
            self._plan, self._vector, self._linked = plan, vector, False
        elif kind != self._plan.kind:
            raise InputError(
                f"SelfTunedLearner.observe: it has learnt from {self._plan.kind.name} since its first round, and now got "
                f"{kind.name}; give the same kind of loss in every round."
            )
        if not self._linked:
            self._plan.link(self._vector)
            self._linked = True

    @property
    def lanes(self) -> Any:
        """Places of the pairs of `members` among the lanes of the pool."""
        assert self._plan is not None
        return self._plan.lanes

    def runs_compiled(self) -> bool:
        """Tell whether compiled loops may play in its place."""
        return True

    def ready(self, losses: DataLoss, proposals: Any) -> tuple[Array, Array, Array]:
        """Return the pool, the cell of self-tuned Scream and a table of proposals, ready for a compiled run."""
        named = {} if proposals is None else read_table("play", self.domain, proposals, len(losses))
        if self._round == 0:
            first = [rows[0] for rows in named.values() if not np.isnan(rows[0, 0])]
            if first and not self._given_start:
                self._start = self.domain.project(np.mean(first, axis=0))
            self._names = tuple(name for name, rows in named.items() if not np.isnan(rows[0, 0]))
        self.prepare(kind_of(losses))
        self._join([name for name in named if name not in self._names])
        self.prepare(kind_of(losses))
        table = np.full((len(losses), len(self._names), self.domain.dim), np.nan)
        for i, name in enumerate(self._names):
            if name in named:
                table[:, i] = named[name]
        return self._vector, self._cell, table

    def ran(self, rounds: int) -> None:
        """Count the rounds of a compiled run."""
        self.__dict__["_round"] += rounds
        self.__dict__["_acted"] = None
        if self._scream is not None:
            self._scream.adopt(self._scream.cell)

    def _join(self, names: Sequence[str]) -> None:
        """Let proposals of new names join, each with every mover, where the mixture is."""
        if not names:
            return
        assert self._plan is not None
        larger = Plan(self.domain, self._cost, self._plan.kind, (*self._plan.rows, *map(self._given, names)))
        self._vector = self._plan.grown(self._vector, larger)
        self._names += tuple(names)
        self._plan, self._linked = larger, False
        self.prepare(larger.kind)
        reweigh(self._vector)

    def _new_plan(self, kind: Kind) -> Plan:
        rows = [
            Row(one.name, one.family(kind), one, tuple(getattr(one, "movers", self._movers)))
            for one in self._estimators
            if one.suits(kind)
        ]
        rows += [self._given(name) for name in self._names]
        return Plan(self.domain, self._cost, kind, arrange(rows))

    def _given(self, name: str) -> Row:
        return Row(name, None, None, self._movers)

    @property
    def _cell(self) -> Array:
        return NONE if self._scream is None else self._scream.cell

    def _decide(self) -> Array:
        if self._round == 0:
            if self._waiting and not self._given_start:
                self._start = self.domain.project(np.mean(list(self._waiting.values()), axis=0))
            self._names = tuple(self._waiting)
            return read_only(self._start.copy())
        assert self._plan is not None
        self._join([name for name in self._waiting if name not in self._names])
        self.prepare(self._plan.kind)
        if self._names:
            parts, first = self._plan.views(self._vector), int(self._vector[layout.FIRST_GIVEN])
            for i, name in enumerate(self._names):
                point = self._waiting.get(name)
                parts["present"][first + i] = point is not None
                if point is not None:
                    parts["proposals"][first + i] = point
        decide(self._vector, self._cell)
        return read_only(self._plan.views(self._vector)["decision"].copy())

    def _learn(self, gradient: Array) -> None:
        raise NotImplementedError

    def _take_hint(self, hint: Array) -> None:
        if self._scream is not None:
            self._scream.act(hint)

    def __getstate__(self) -> dict[str, Any]:
        """Return what is to be copied: of the pool, what is neither scratch space nor an address."""
        dropped = ("_plan", "_vector", "_linked")
        kept = {name: part for name, part in self.__dict__.items() if name not in dropped}
        plan = self._plan
        return {**kept, "_known": None if plan is None else (plan.kind, plan.kept(self._vector))}

    def __setstate__(self, saved: dict[str, Any]) -> None:
        """Make a pool of what was copied or unpickled."""
        known = saved.pop("_known")
        super().__setstate__(saved)
        plan = None if known is None else self._new_plan(known[0])
        vector = NONE if plan is None else plan.vector_of(known[1])
        self.__dict__.update(_plan=plan, _vector=vector, _linked=False)
