"""The self-tuned learner: where would one like to be, how far is it worth going, and who has been right."""

import copy
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from driftwise._compile import LARGEST
from driftwise._html import Bar
from driftwise._protocol import Rounds
from driftwise._validate import Array, array, instance, number, read_only, whole
from driftwise.domains import Domain
from driftwise.drift import Held, drifted
from driftwise.errors import CheckpointError, InputError, OrderError, ParameterError, unknown_name
from driftwise.estimators import Estimator
from driftwise.estimators import SelfTunedScream as Heeding
from driftwise.estimators import default as default_estimators
from driftwise.learners.base import Learner
from driftwise.learners.parts import first_decision, wide_enough
from driftwise.learners.self_tuned.explanation import Explanation, PoolCertificate, certify, explain
from driftwise.learners.self_tuned.late import alone
from driftwise.learners.self_tuned.own import (
    Follower,
    Shown,
    proposal_of,
    resume_state,
    saved_state,
    seen_in,
)
from driftwise.learners.self_tuned.proposals import Proposals, read_proposals
from driftwise.learners.self_tuned_scream import SelfTunedScream
from driftwise.losses import LossStream, RoundLoss
from driftwise.losses.base import DataLoss
from driftwise.losses.jax_loss import OneLoss
from driftwise.mirror import Euclidean
from driftwise.movecost import MoveCost, move_cost_for
from driftwise.movers import Mover
from driftwise.movers import default as default_movers
from driftwise.pairs import layout
from driftwise.pairs.judging import OK
from driftwise.pairs.kinds import Kind, kind_of
from driftwise.pairs.layout import EACH, GRADIENT, SCORE
from driftwise.pairs.pool import STAY, Plan, Row, arrange
from driftwise.pairs.run import decide, observe_aside, observe_gradient, observe_loss, reweigh

NONE = np.zeros(1)
"""Stands for a vector that is not there."""


class SelfTunedLearner(Learner):
    """The learner to begin with: tell it what a move costs, and nothing else.

    No horizon, no bound on gradients, no learning rate, no unit. It asks three questions, and keeps many answers to
    each: *where would I like to be* (estimators), *how far is it worth going* (movers), and *who has been right* (one
    Hedge over all pairs of these).

    Parameters
    ----------
    domain : Domain
        Where decisions live.
    switching_cost : float or MoveCost
        lambda, the price of moving by one unit of Euclidean distance, or prices up and down.
    start : array of shape (dim,), optional
        First decision. When left out, the mean of the proposals of the first round, or without any the feasible point
        nearest to the origin.
    period : int, optional
        Rounds from one season to the next, for losses of each coordinate; found online when left out.
    estimators : sequence of Estimator, optional
        Instead of `driftwise.estimators.default`.
    movers : sequence of Mover, optional
        Instead of `driftwise.movers.default`.
    on_bad_input, late
        As in `Learner`.

    Notes
    -----
    - An **estimator** proposes a point u_t, what it would play if moving were free. Losses of a score <x, w> (squared,
      absolute, Huber, logistic, quantile, filtered) are learnt from by least squares with forgetting, Kalman filters,
      normalised steps, local trends and Bayesian change points, all with the loss's own slope and curvature. Losses of
      each coordinate (tracking, capacity) add seasons, and where the best level is not the mean of the targets, a
      running quantile of each forecast's errors. Gradients, linear and custom losses are learnt from by second-order
      steps with assumed curvatures. `SelfTunedScream` is always one of the estimators, and so is everything that is
      given to ``act(proposal=)``.
    - A **mover** follows an estimator at a price: at once, as far as it pays within a number of rounds, or once staying
      has cost as much as going.
    - **Hedge** weighs the pairs: ``p_j ~ prior_j exp(-rate L_j)``, ``rate = ln(n) / (2 A)``. A pair is charged its loss
      and the price of its own move, and as that price is known before the decision, it is charged before the weights
      are made. The overhead A is the sum of what the decision lost beyond Hedge's mix loss, and of what its move cost
      beyond the pairs' own moves; it begins with what is at stake (see `driftwise.pairs.moving`). The decision is the
      mixture of the pairs' points. Priors are equal; but where only gradients are known, `SelfTunedScream` has 0.9.
    - For `LogWealthLoss` staying has 0.9, and estimators that take the best decision to wander are left out, as returns
      are almost all noise. The rate begins at 1, at which a mixture of portfolios never loses more than their mix loss;
      so A begins with ln(n) / 2, which is never lost, and `certificate` takes it off.
    - Where decisions **drift by themselves** (``observe(held=)``), so does every pair's point: the pair that stays is
      then buy and hold. What the mixture moves beyond its pairs, from where it has drifted to, is in A as ever. So what
      is proved below holds; but not what it says of `SelfTunedScream`, which knows nothing of drift.
    - Everything that anybody learns from is **clipped once**: residuals, features and gradients that are far beyond
      what was usual count with at most 6 times the usual size (3 times in the first 20 rounds), or the size of the last
      one, so that a true jump is let through after one round.

    *Proved*, on clipped losses f that are convex: for every pair i, with prior p_i,

        sum_t f_t(w_t) + moves <= sum_t f_t(w_{t,i}) + moves of i + (1 + 2 ln(1 / p_i) / ln(n)) A_T.

    Charges that are known before weighing cost the mixture at most their mix loss, those that are not their mix loss
    plus the gap in A; mix losses under a rate that never increases add up to at most L_i + ln(1 / p_i) / rate. On true
    losses the right-hand side has one term more, what clipped rounds cost the decisions beyond the pair; all of it can
    be read off, and `certificate` prints it. As `SelfTunedScream`, followed, is one of the pairs, its bound on the
    regret to any comparators holds for these decisions, with ``(1 + 2 ln(1 / p_i) / ln(n)) A_T`` and what was clipped
    added: ``regret.certificate(trace, comparators)`` has the numbers. A proposal that joins later is compared from then
    on.

    *Only measured*: that A_T is small, and that some pair is good. ``driftwise reproduce decisions`` holds it against
    tuned rules on real streams, and shows where it loses: mostly in short runs where moves are expensive, and at jumps,
    which it believes one round late.

    Decisions do not change when losses and prices are multiplied by a number, but for ties that rounding decides; for a
    power of 2 they are the same to the bit. Up to 64 coordinates estimators keep full matrices, and a round takes time
    quadratic in their number; above, they keep diagonals, and it takes linear time.

    References
    ----------
    .. [1] Zhao, Yan, Wang, Zhou, "Non-stationary online learning with memory ...", JMLR 24, 2023.
    .. [2] de Rooij, van Erven, Gruenwald, Koolen, "Follow the leader if you can, hedge if you must", JMLR 15, 2014.

    See Also
    --------
    SelfTunedScream : the same from gradients only, with less to go wrong.
    Committee : mixes policies of your own, wherever they come from.

    Examples
    --------
    >>> import driftwise as dw
    >>> losses = dw.streams.drifting_regression(rounds=2000, dim=3, segment=500, seed=1)
    >>> learner = dw.SelfTunedLearner(dw.Ball(3), switching_cost=2.0)
    >>> round(dw.play(learner, losses, switching_cost=2.0).total, 2)
    14.26
    >>> print(learner.certificate())
    SelfTunedLearner after 2000 rounds: cost, with moves 14.2569 <= 19.8687
      10.414, what change points, prox 1024 after waiting would have cost
      + 3 x 3.15157, the overhead of mixing
      + 1.25327e-08, what clipping may have hidden
    """

    state_names = ()
    _takes_prices = True
    _unsettled = False
    """Whether the moves into the present decision have not been counted yet, as its round brought no loss."""

    def __init__(
        self,
        domain: Domain,
        *,
        switching_cost: float | MoveCost,
        start: ArrayLike | None = None,
        period: int | None = None,
        estimators: Sequence[Estimator] | None = None,
        movers: Sequence[Mover] | None = None,
        **rounds: Unpack[Rounds],
    ) -> None:
        super().__init__(domain, **rounds)
        owner = "SelfTunedLearner"
        wide_enough(owner, domain)
        self._cost = move_cost_for(owner, switching_cost, domain.dim)
        self.switching_cost, self._built_for = self._cost.simplest, self._cost
        self.period = None if period is None else whole(owner, "period", period, low=2)
        # Those of the user's in Python have a state of their own, which two learners must not share.
        chosen = default_estimators(self.period) if estimators is None else copy.deepcopy(list(estimators))
        for one in chosen:
            instance(owner, "estimators", one, Estimator, "[Smoothing(0.3)]")
            if not set(one.forms) <= {SCORE, EACH, GRADIENT}:
                raise ParameterError(
                    f"{owner}: the forms of estimator {one.name!r} must be some of SCORE, EACH and GRADIENT of "
                    f"driftwise.estimators, got {one.forms!r}."
                )
        self._estimators, self._usual = tuple(chosen), estimators is None
        ways = default_movers() if movers is None else list(movers)
        self._movers = tuple(instance(owner, "movers", one, Mover, "[Follow()]") for one in ways)
        if not self._movers:
            raise ParameterError(f"{owner}: movers must have at least one mover, such as [Follow()].")
        self._start_given = start is not None
        self._start = first_decision(owner, domain, Euclidean(), start)
        self._names: tuple[str, ...] = ()
        self._followers: list[Follower] = []
        self._proposed: dict[int, Array | None] = {}
        self._waiting: dict[str, Array] = {}
        self._scream: SelfTunedScream | None = None
        self._plan: Plan | None = None
        self._vector, self._linked = NONE, False
        self._looked_at: tuple[Array, dict[str, Array]] = (NONE, {})
        self._stream_seen: tuple[LossStream | None, Kind | None] = (None, None)

    def _in_charge(self) -> tuple[str, list[Bar]]:
        card = self.explain()._card()
        return card.heading, list(card.bars)

    @property
    def members(self) -> list[str]:
        """Names of the (estimator, mover) pairs, in the order of `weights`; before the first round only "stay"."""
        return [STAY] if self._plan is None else self._plan.members

    @property
    def weights(self) -> Array:
        """Weights of the pairs; they sum to 1."""
        if self._plan is None:
            return np.ones(1)
        return np.asarray(self._parts["weights"][self._plan.lanes])

    @property
    def overhead(self) -> float:
        """Cost of mixing so far (A_T in the notes): the proved bound on regret is a small multiple of it."""
        return 0.0 if self._plan is None else float(self._vector[layout.OVERHEAD])

    @property
    def scream(self) -> SelfTunedScream | None:
        """The `SelfTunedScream` inside, which learns from the clipped losses; None if there is none, or not yet."""
        return self._scream

    @property
    def linearised(self) -> bool:
        """Whether pairs are judged by losses linearised at the decision, as only gradients are known."""
        return self._plan is not None and self._plan.kind.form == GRADIENT

    def explain(self) -> Explanation:
        """Say who is in charge, and why: print it, or call its `plot`."""
        if self._plan is None:
            return Explanation(0, [STAY], np.ones(1), np.zeros(1), 0.0, 0)
        return explain(self._plan, self._vector)

    def certificate(self, pair: str | None = None) -> PoolCertificate:
        """Return the proved inequality for the rounds so far, with its numbers.

        Parameters
        ----------
        pair : str, optional
            One of `members` to be held against; when left out, the one that gives the least bound.
        """
        if self._plan is None:
            raise OrderError("SelfTunedLearner.certificate: there is nothing to certify before the first round.")
        if pair is not None and pair not in self._plan.members:
            raise unknown_name("SelfTunedLearner.certificate", "pair", pair, self._plan.members)
        return certify(self._plan, self._vector, pair)

    def act(
        self,
        hint: ArrayLike | None = None,
        proposal: Proposals = None,
        *,
        switching_cost: float | MoveCost | None = None,
    ) -> Array:
        """Return the decision for this round: read-only, and the same until `observe`.

        Parameters
        ----------
        hint : array of shape (dim,), optional
            A guess of the gradient that this round will bring; `SelfTunedScream`, which is one of the estimators, takes
            an optimistic step on it.
        proposal : array of shape (dim,), or dict of arrays by name, optional
            Where a forecast or a rule of yours would like to be: one, or several with names. Each is an estimator with
            every mover from the round on in which its name is first given. It may be None, or left out, in a round.
        switching_cost : float or MoveCost, optional
            What a move costs in this round, the one into this round's decision included; of the kind that the learner
            was built with. The next round has the usual price again.
        """
        if proposal is not None:
            if self._acted is not None:
                raise self._acts_again("a proposal, which belongs to the first act of a round")
            try:
                self._waiting = read_proposals(self.domain, proposal)
            except InputError as error:
                self._refuse(error)
        try:
            return super().act(hint, switching_cost=switching_cost)
        finally:
            self.__dict__["_waiting"] = {}

    def observe(
        self,
        gradient: "ArrayLike | OneLoss | LossStream | None",
        round: int | None = None,
        *,
        held: Held | None = None,
    ) -> None:
        """Take in what the decision cost.

        Parameters
        ----------
        gradient : a loss, or array of shape (dim,), or None
            The loss of the round, such as ``losses[t]``, or a whole stream, which is then read at this learner's round;
            or the gradient at the decision. What comes first decides on the estimators: those that learn from whole
            losses, or, for gradients, linear and custom losses, those that work from gradients. In a round that brings
            another kind, pairs are judged by its gradient, and only `SelfTunedScream` learns from it. None if there is
            no feedback, as with `skip`.
        round : int, optional
            The round that the feedback is for, if that is not the present one: one of the last `late` rounds, which
            had ended without feedback. Pairs are then judged by its loss where they stand now.
        held : array of shape (dim,), or a function, optional
            Where the decision has drifted to by the end of the round, if it does not stay where it is put, as the
            weights of a portfolio; the next move is paid for from there. An array is a point of the domain, and every
            pair drifts likewise: on a simplex each share grows in the same proportion (one that the decision hardly
            holds, in that of the whole), elsewhere by the same shift. A function is given points, one a row, and
            returns where each drifts to; for portfolios that is `Growth`.
        """
        if round is not None and not self._is_now(round, gradient):
            if held is not None:
                raise InputError(
                    f"SelfTunedLearner.observe: held is for the present round, {self.round}, and the feedback for "
                    f"round {round}; give held with the feedback of its own round."
                )
            return self._observe_late(gradient, round)
        if self._acted is None:
            raise self._too_early()
        there = None
        if held is not None:
            try:
                there = self._drifted(self._acted, held)
            except InputError as error:
                self._refuse(error)
                return self._end_without()
        if gradient is None:
            return self._end_held(there)
        try:
            taught = self._take_in(self._acted, gradient)
        except InputError as error:
            self._refuse(error)
            return self._end_held(there)
        # The pool has learnt; if an estimator in Python fails now, the round is over all the same.
        opened = self.__dict__.pop("_open", None)
        self._end_round()
        try:
            self._teach(taught)
        finally:
            if there is not None:
                self._put_down(*there)
            if opened is not None:
                self._close(opened)

    def _drifted(self, w: Array, held: Held) -> tuple[Array, Array]:
        """Return where the decision and the points of all lanes have drifted to."""
        lanes = self._lanes_of(self._parts["points"]) if self._plan is not None else w[None]
        return drifted("SelfTunedLearner.observe", self.domain, held, w, lanes)

    @staticmethod
    def _lanes_of(points: Array) -> Array:
        """Return the points of all lanes, one a row."""
        return points.transpose(0, 2, 1).reshape(-1, points.shape[1])

    def _put_down(self, decision: Array, lanes: Array) -> None:
        """Put the decision and the points of all lanes where they have drifted to: the next moves begin there."""
        parts = self._parts
        parts["decision"][:] = decision
        if len(lanes) == 1:  # the pool was made in this round
            parts["points"][:] = decision[:, None]
        else:
            blocks, dim, width = parts["points"].shape
            parts["points"][:] = lanes.reshape(blocks, width, dim).transpose(0, 2, 1)

    def _end_held(self, there: tuple[Array, Array] | None) -> None:
        """End a round without feedback; what has drifted stays there, unless something is learnt or given before."""
        if there is not None and self._plan is None:
            self.__dict__["_start"] = read_only(there[0].copy())
        elif there is not None:
            self._put_down(*there)
        self._end_without()
        if there is not None and self._standing is not None:
            self.__dict__["_standing"] = read_only(there[0].copy())

    def _take_in(self, w: Array, gradient: Any) -> "tuple[bool, Array | None]":
        """Let the pool learn feedback, with gradients at w; return whether those in Python learn too, and from what."""
        loss, new = self._loss(gradient), self._plan is None
        stream = loss._stream if isinstance(loss, RoundLoss) else None
        kind = Kind(GRADIENT, self.domain.dim) if stream is None else self._kind_of(stream)
        if kind.dim != self.domain.dim:
            raise InputError(
                f"SelfTunedLearner.observe: the losses have dim {kind.dim}, the learner decides in {self.domain!r}."
            )
        if self._plan is not None and self._plan.kind.form == GRADIENT:
            kind = self._plan.kind
        alike = self._plan is None or kind == self._plan.kind
        if kind.form == GRADIENT or not alike:
            given, terms = self._gradient_at(w, gradient if loss is None else loss), None
            self.prepare(kind)
            if not alike and self._plan is not None:
                self._plan.link(self._vector, aside=True)
            status = (observe_gradient if alike else observe_aside)(self._vector, self._cell, given)
        else:
            assert isinstance(loss, RoundLoss)
            assert isinstance(stream, DataLoss)
            self.prepare(kind)
            terms, status = stream._parts[0], observe_loss(self._vector, self._cell, *stream._parts, loss._t)
        if status != OK:
            if new:  # nothing has been learnt, so the next loss may be of any kind
                self._plan, self._scream, self._vector = None, None, NONE
            raise self._refused("the gradient" if kind.form == GRADIENT else f"{loss!r}: its numbers")
        if self._scream is not None:
            self._scream.adopt(self._scream.cell)
        if self._unsettled:
            del self.__dict__["_unsettled"]
        self.__dict__.pop("_standing", None)
        return alike, terms

    def _let_go(self) -> None:
        """Keep the decision, and the pairs where they have gone: what that cost is counted with the next loss."""
        super()._let_go()
        state = self.__dict__
        state["_priced_at"] = self._open.get("price")
        if self._plan is not None:
            state["_unsettled"] = True
        if self._scream is not None and self._scream._acted is not None:
            self._scream.skip()

    def _decide_given(self, hint: ArrayLike | None, switching_cost: float | MoveCost | None) -> Array:
        cost = None if switching_cost is None else self._read_price("SelfTunedLearner.act", switching_cost)
        if self._waiting or (cost or self._cost) != (self._priced_at or self._cost):
            self.__dict__.pop("_standing", None)
        decision = super()._decide_given(hint, switching_cost)
        self.__dict__.pop("_priced_at", None)
        return decision

    def _set_price(self, cost: MoveCost | None) -> Callable[[], None]:
        if cost is None:
            return super()._set_price(cost)
        before = self.__dict__.get("_open")

        def undo() -> None:
            self.__dict__.pop("_open")
            if before is not None:
                self.__dict__["_open"] = before
            self._put_price(self._cost)

        self.__dict__["_open"] = {**self._open, "price": cost}
        self._put_price(cost)
        return undo

    def _put_price(self, cost: MoveCost) -> None:
        """Write a price into the pool and into self-tuned Scream inside."""
        if self._plan is not None:
            self._parts["prices"][:] = cost.prices(self.domain.dim)
            self._vector[layout.PRICE] = cost.largest(self.domain.dim)
        if self._scream is not None:
            self._scream.price_round(None if cost == self._cost else cost)

    def _put_open_price(self) -> None:
        """Write the price of a round that is not over into a pool that has just been made."""
        if "price" in self._open:
            self._put_price(self._open["price"])

    def _close(self, held: Mapping[str, Any]) -> None:
        if "price" in held:
            self._put_price(self._cost)
        super()._close(held)

    def _read_late(self, given: Any, k: int, played: Any) -> Any:
        """Return the loss of round k, alone in a stream, if the pool learns from such; else the gradient then."""
        loss = self._loss(given, k)
        if isinstance(loss, RoundLoss) and isinstance(loss._stream, DataLoss):
            kind = kind_of(loss._stream)
            if kind.form != GRADIENT and (self._plan is None or kind == self._plan.kind):
                if not abs(loss.value(played)) <= LARGEST:
                    raise self._refused(f"{loss!r}: its numbers")
                return played, alone(loss)
        return super()._read_late(given, k, played)

    def _learn_late(self, what: Any) -> None:
        """Learn a loss or a gradient of an earlier round; what the last moves cost has been counted, or is now."""
        if self._plan is not None and not self._unsettled:
            self._vector[layout.MOVED] = self._vector[layout.CHARGE] = 0.0
        played, given = what if isinstance(what, tuple) else (self._start, what)
        self._teach(self._take_in(played, given[0] if isinstance(given, LossStream) else given))

    def _check_late(self, what: Any) -> Any:
        if not isinstance(what, tuple):
            return super()._check_late(what)
        played, one = what
        if not isinstance(one, DataLoss) or (one.dim, len(one)) != (self.domain.dim, 1):
            raise CheckpointError(f"SelfTunedLearner: a loss that waits is one of {self.domain!r}, got {one!r:.60}.")
        return self._check_point(played), one

    def _kind_of(self, stream: LossStream) -> Kind:
        """Return the kind of a stream, which is mostly the stream of the round before."""
        if self._stream_seen[0] is not stream:
            self.__dict__["_stream_seen"] = (stream, kind_of(stream))
        return self._stream_seen[1]  # type: ignore[return-value]

    def prepare(self, kind: Kind) -> None:
        """Make the pool for a kind of loss, if there is none yet, and compile what it needs."""
        if self._plan is None:
            plan = self._new_plan(kind)
            vector = plan.new(self._start)
            if vector[layout.SCREAM_ROW] >= 0.0:
                self._scream = SelfTunedScream(self.domain, switching_cost=self._cost, start=self._start)
            for row in plan.rows:
                if row.family is None and row.estimator is not None:
                    row.estimator.begin(self._start.copy(), self.domain)
            self._plan, self._vector, self._linked = plan, vector, False
            self._put_open_price()
        if not self._linked:
            self._plan.link(self._vector)
            self._linked = True

    @property
    def lanes(self) -> NDArray[np.int64]:
        """Places of the pairs of `members` among the lanes of the pool; for compiled loops."""
        assert self._plan is not None
        return self._plan.lanes

    def runs_compiled(self, losses: LossStream, proposals: Mapping[str, Array]) -> bool:
        """Tell whether the compiled loop may play in its place, with proposals (T, d) by name.

        Not if it has estimators or movers in Python, or verbs of a subclass; nor if the losses are of another kind than
        those before, a proposal joins in the middle, or something of the last rounds is left over.
        """
        if not isinstance(losses, DataLoss) or self._unsettled or self._standing is not None:
            return False
        if not self._open.keys() <= {"unhinted"}:
            return False
        if self._plan is not None and self._plan.kind.form != GRADIENT and kind_of(losses) != self._plan.kind:
            return False
        if any(name not in self._names and np.isnan(rows[0, 0]) for name, rows in proposals.items()):
            return False
        mine = all(
            getattr(type(self), name) is getattr(SelfTunedLearner, name) for name in ("act", "observe", "_decide")
        )
        suited = [type(one).family is not Estimator.family for one in self._estimators]
        return mine and all(suited) and all(mover.tau is not None for mover in self._movers)

    def ready(self, losses: DataLoss, named: Mapping[str, Array]) -> tuple[Array, Array, Array]:
        """Return the pool, the cell of self-tuned Scream and a table of proposals, ready for a compiled run."""
        decided = self._acted is not None
        if self._plan is None and not decided:
            self._begin({name: rows[0] for name, rows in named.items()})
        self.prepare(kind_of(losses))
        self._join([name for name in named if name not in self._names])
        self._vector[layout.DECIDED] = decided
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

    @property
    def _parts(self) -> dict[str, Array]:
        """The parts of the pool by name; looked up once for every vector, as a round by hand is short."""
        if self._looked_at[0] is not self._vector:
            assert self._plan is not None
            self.__dict__["_looked_at"] = (self._vector, self._plan.views(self._vector))
        return self._looked_at[1]

    @property
    def _cell(self) -> Array:
        return NONE if self._scream is None else self._scream.cell

    def _begin(self, proposals: dict[str, Array]) -> None:
        """Begin with the proposals of the first round, and if no start was given in the middle of them."""
        if proposals and not self._start_given:
            self._start = self.domain.project(np.mean(list(proposals.values()), axis=0))
        self._names = tuple(proposals)

    def _new_plan(self, kind: Kind) -> Plan:
        """Return the pool of everybody who suits a kind of loss: those compiled, those in Python, and proposals."""
        compiled = tuple(mover for mover in self._movers if mover.tau is not None)
        suited = [one for one in self._estimators if one.suits(kind)]
        if self._usual and kind.mixable > 0.0:
            suited = [one for one in suited if not one.restless]
        own = [(one, one.ways(kind)) for one in suited]
        rows = [Row(one.name, one.family(kind), one, tuple(ways or compiled)) for one, ways in own]
        rows = list(arrange(rows))
        self._followers, count = [], len(rows)
        for i in range(count):
            self._look(rows, i)
        for name in self._names:
            self._add(rows, name)
        return Plan(self.domain, self._cost, kind, tuple(rows))

    def _add(self, rows: list[Row], name: str) -> None:
        """Add a row for proposals of a name."""
        rows.append(Row(name, None, None, tuple(mover for mover in self._movers if mover.tau is not None)))
        self._look(rows, len(rows) - 1)

    def _look(self, rows: list[Row], source: int) -> None:
        """Add a row for every mover in Python that looks at a row."""
        for mover in self._movers:
            if mover.tau is None:
                self._followers.append(Follower(len(rows), source, mover))
                rows.append(Row(rows[source].name, None, None, (Shown(mover.name),)))

    def _join(self, names: Sequence[str]) -> None:
        """Let proposals of new names join, each with every mover, where the mixture is."""
        if not names:
            return
        assert self._plan is not None
        rows = list(self._plan.rows)
        for name in names:
            self._add(rows, name)
        larger = Plan(self.domain, self._cost, self._plan.kind, tuple(rows))
        self._vector = self._plan.grown(self._vector, larger)
        self._names += tuple(names)
        self._plan, self._linked = larger, False
        self._put_open_price()
        self.prepare(larger.kind)
        reweigh(self._vector)

    def _decide(self) -> Array:
        if self._plan is None:
            self._begin(self._waiting)
            return read_only(self._start.copy())
        self._join([name for name in self._waiting if name not in self._names])
        self.prepare(self._plan.kind)
        parts = self._parts
        for row, point in {**self._proposed, **self._given()}.items():
            parts["present"][row] = point is not None
            if point is not None:
                parts["proposals"][row] = point
        if self._followers:
            if self._scream is not None:
                parts["proposals"][int(self._vector[layout.SCREAM_ROW])] = self._scream.act()
            for one in self._followers:
                here = parts["present"][one.row] = parts["present"][one.source]
                if here:
                    parts["proposals"][one.row] = one.go(self._plan_now, self._vector)
        moved, charge = self._vector[layout.MOVED], self._vector[layout.CHARGE]
        decide(self._vector, self._cell)
        if self._unsettled:  # the moves of a round without a loss are still to be counted
            self._vector[layout.MOVED] += moved
            self._vector[layout.CHARGE] += charge
        decision = read_only(parts["decision"].copy())
        if not math.isfinite(float(decision @ decision)):
            raise CheckpointError(
                "SelfTunedLearner: its state leads to no finite decision, which only a state from a crafted file does; "
                "use an earlier copy."
            )
        return decision

    @property
    def _plan_now(self) -> Plan:
        """The pool, with the price of this round."""
        assert self._plan is not None
        return replace(self._plan, cost=self._open["price"]) if "price" in self._open else self._plan

    def _given(self) -> dict[int, Array | None]:
        """Return the proposals of this round by row; None for those that are missing."""
        if not self._names:
            return {}
        assert self._plan is not None
        looking = {one.row for one in self._followers}
        rows = [i for i, row in enumerate(self._plan.rows) if row.family is None and row.estimator is None]
        rows = [i for i in rows if i not in looking]
        return {row: self._waiting.get(name) for row, name in zip(rows, self._names, strict=True)}

    def _teach(self, taught: "tuple[bool, Array | None]") -> None:
        """Let estimators and movers in Python take in the round that the pool has just learnt from."""
        alike, terms = taught
        if not alike:
            return
        assert self._plan is not None
        pupils = [(i, row.estimator) for i, row in enumerate(self._plan.rows) if row.family is None and row.estimator]
        if pupils:
            seen = seen_in(self._plan, self._vector, terms)
            for i, one in pupils:
                one.learn(seen)
                self._proposed[i] = proposal_of(one, self._plan)
        for follower in self._followers:
            follower.learn(self._plan, self._vector)

    def _learn(self, gradient: Array) -> None:
        """Not used: `observe` takes whole losses."""

    def _take_hint(self, hint: Array) -> None:
        if self._scream is not None:
            self._scream.act(hint)
        elif self._plan is not None or not any(isinstance(one, Heeding) for one in self._estimators):
            raise ParameterError(
                "SelfTunedLearner makes use of hints by self-tuned Scream, which is not one of the estimators that "
                "this one was given; call act() without one, or add estimators.SelfTunedScream()."
            )

    def _saved(self) -> dict[str, Any]:
        """Return the state: of the pool all but constants, self-tuned Scream inside, and what is in Python."""
        plan, scream = self._plan, self._scream
        return {
            **super()._saved(),
            "names": list(self._names),
            "start": self._start,
            "kind": None if plan is None else plan.kind,
            "pool": None if plan is None else plan.kept(self._vector),
            "scream": None if scream is None else scream._saved(),
            "staying": [one.staying for one in self._followers],
            "proposed": list(self._proposed.items()),
            "estimators": [saved_state(one) for one in self._in_python],
        }

    def _resume(self, saved: dict[str, Any]) -> None:
        """Continue from a state that was saved."""
        parts = {name: saved.pop(name) for name in self._saved().keys() - {"round", "acted", "missing"}}
        super()._resume(saved)
        dim, kind = self.domain.dim, parts["kind"]
        self._names = tuple(str(name) for name in parts["names"])
        self._start = first_decision("SelfTunedLearner", self.domain, Euclidean(), parts["start"])
        if kind is not None:
            if kind.dim != dim or kind.form not in (SCORE, EACH, GRADIENT):
                raise CheckpointError(f"SelfTunedLearner: it decides in {dim} coordinates, and learnt from {kind}.")
            self._plan = self._new_plan(kind)
            self._vector = self._plan.resumed(parts["pool"], self._start)
            if (self._vector[layout.SCREAM_ROW] >= 0.0) != (parts["scream"] is not None):
                raise CheckpointError(
                    "SelfTunedLearner: self-tuned Scream is inside, but was not saved, or the reverse."
                )
            if parts["scream"] is not None:
                self._scream = SelfTunedScream(self.domain, switching_cost=self._cost, start=self._start)
                self._scream._resume(parts["scream"])
        for one, known in zip(self._in_python, parts["estimators"], strict=True):
            resume_state(one, known)
        for follower, staying in zip(self._followers, parts["staying"], strict=True):
            follower.staying = number("SelfTunedLearner", "staying", staying, low=0.0)
        self._put_open_price()
        rows = 0 if self._plan is None else len(self._plan.rows)
        for row, point in parts["proposed"]:
            fits = point is None or array("SelfTunedLearner", "proposed", point, (dim,)) is not None
            self._proposed[whole("SelfTunedLearner", "row", row, low=0, high=rows - 1)] = point if fits else None

    def _missing(self) -> dict[str, Any] | None:
        found = super()._missing()
        return None if found is None else {**found, "unsettled": self._unsettled}

    def _resume_missing(self, saved: dict[str, Any] | None) -> None:
        if saved is not None and saved.pop("unsettled"):
            self._unsettled = True
        super()._resume_missing(saved)

    @property
    def _in_python(self) -> list[Estimator]:
        """The estimators that are written in Python, and have begun."""
        rows = () if self._plan is None else self._plan.rows
        return [row.estimator for row in rows if row.family is None and row.estimator is not None]

    def __getstate__(self) -> dict[str, Any]:
        """Return what is to be copied: of the pool, what is neither scratch space nor an address."""
        dropped = ("_plan", "_vector", "_linked", "_looked_at", "_stream_seen")
        kept = {name: part for name, part in self.__dict__.items() if name not in dropped}
        plan = self._plan
        return {**kept, "_known": None if plan is None else (plan.kind, plan.kept(self._vector))}

    def __setstate__(self, saved: dict[str, Any]) -> None:
        """Make a pool of what was copied or unpickled."""
        known, followers = saved.pop("_known"), saved["_followers"]
        super().__setstate__(saved)
        plan = None if known is None else self._new_plan(known[0])
        vector = NONE if plan is None else plan.vector_of(known[1])
        self.__dict__.update(
            _plan=plan,
            _vector=vector,
            _linked=False,
            _followers=followers,
            _looked_at=(NONE, {}),
            _stream_seen=(None, None),
        )
        self._put_open_price()
