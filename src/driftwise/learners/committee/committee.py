"""A committee: the user's own policies or forecasts, mixed or followed, when moving costs something."""

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Unpack

import numpy as np
from numpy.typing import ArrayLike

from driftwise._html import Bar, heaviest
from driftwise._protocol import Actor, Rounds, expect_names
from driftwise._validate import Array, array, choice, describe, number, read_only, seeded, whole
from driftwise.errors import CheckpointError, InputError
from driftwise.learners.committee import kernels, layout
from driftwise.learners.committee.follow import draw, redraw
from driftwise.learners.committee.late import Late, begin_again, end_again, learn_behind
from driftwise.learners.committee.layout import (
    Flags,
    begin_round,
    charge,
    keep_rows,
    new_committee,
    parts_of,
    take_parts,
)
from driftwise.learners.committee.pairs import Pairs, read_movers
from driftwise.learners.committee.reading import read_losses, read_pair_losses, read_proposals
from driftwise.learners.parts import read_prior
from driftwise.losses import LossStream
from driftwise.losses.jax_loss import OneLoss
from driftwise.movecost import MoveCost, move_cost_for, price_like
from driftwise.movers import Mover


class _Round(NamedTuple):
    """What `observe` needs to know of `act`."""

    awake: Flags
    rows: Array
    """Proposals as rows, 0 for members that sleep."""
    decision: float | Array
    announced: bool
    """Whether own moves were charged before the weights were made."""


class Committee(Actor):
    """Mix your own policies or forecasts, or follow one of them at a time, knowing only what a move costs.

    For an operator with several rules of thumb and no way to tell beforehand which is right: the committee costs little
    more than the best of them in hindsight, its own movement included. It needs no horizon, no bound on the losses and
    no learning rate; every round ``act(proposals)`` gives the decision and ``observe(losses)`` takes in what each
    proposal would have cost. Members that do not know what to propose may sleep.

    Parameters
    ----------
    n : int
        Number of members.
    switching_cost : float or MoveCost, default 0.0
        What a move costs, in the unit of the losses: a price per unit of Euclidean distance, or prices up and down.
        With 0 the committee ignores movement, which can cost several times as much where moves are not free.
    mode : {"mix", "follow"}, default "mix"
        "mix": the decision is the weighted mean of the proposals. "follow": it is exactly one member's proposal, drawn
        by the weights; the draws are coupled so that the member changes with probability ``|p_t - p_{t-1}|_1 / 2``.
        Use it where a mean makes no sense, or where losses are not convex. With movers it is one pair's point.
    seed : int or numpy Generator, default 0
        For the draws of "follow".
    prior : array of shape (n,), optional
        Initial weights, positive, normalised here; equal when left out.
    movers : bool or sequence of Mover, default False
        With True, every member is followed by every mover of `driftwise.movers.default`, or by those given: each of
        these pairs keeps a point of its own and decides how much of the way to its member's proposal is worth what it
        costs, and the weights are over pairs. Losses are then asked for at the pairs' points, so ``observe`` needs a
        loss, not an array of numbers. Use it where members say where they would like to be if moving were free.
    on_bad_input, late
        As in `Learner`. Under "skip", a member whose proposal is refused sleeps in that round.

    Notes
    -----
    A member is charged the loss of its proposal and the price of its own move, from its last proposal to this one.
    The weights are ``p_i ~ prior_i exp(-eps_t L_i)`` with L_i what member i was charged so far and
    ``eps_t = ln n / A_{t-1}``. The overhead A_t is the sum up to round t of the gap between the mean charge and the mix
    loss (as in AdaHedge [1]_), and of what the decision's move cost above the members' own, ``max(0, price(w_t -
    w_{t-1}) - sum_i p_{t,i} price(x_{t,i} - x_{t-1,i}))`` (in "follow", the expectation of that over the draws).

    *Proved.* Let the losses be convex in "mix"; in "follow" they may be anything that does not depend on the draws, and
    the left side is an expectation. For every member i,

        cost of the committee <= cost of member i + (1 + ln(1 / prior_i) / ln n) A_T,

    moves included on both sides: the mean charge is the mix loss plus the gap, and mix losses under a rate that never
    increases sum to at most ``L_i + ln(1 / prior_i) / eps_T``. `overhead` is A_T, so the guarantee can be read off any
    run. And without sleepers ``A_T <= sqrt(T ln n s (s / 4 + S / 2)) + 3 (s + S) + S (1 - 2 ln min_i prior_i)``,
    where s is the largest difference between two charges in a round and S the largest price of a move between two
    proposals of one round. For the weights move by at most ``eps s / 4`` (half the l1 distance) when charges are added
    and by ``(1/2 - ln min_i prior_i) ln(A_t / A_{t-1})`` when the rate falls; multiplied by the overhead the first is
    at most a constant a round, and the second telescopes. No rule has a lower order (Theorem 3 of the paper).

    With sleepers the first inequality holds for each member over the rounds in which it was awake: a sleeper is taken
    to have been charged the mix loss of those awake [2]_.

    *With movers* the n M pairs take the place of the members, with ``prior_i / M`` each, and a pair is charged the loss
    at its own point and the price of its own move. The first inequality then holds for every pair, so for a member as
    it is if `Follow` is among the movers. The price of a pair's move is known before the weights are made, and is added
    to its L_i then, unless A is still 0. The proof stays: weights that know the prices have a mean price of at most
    the mix loss of the prices, so that only losses have a gap. Movers ask for the curvature of the losses along a way,
    which a committee is not told. It takes twice what the pairs of a member have paid beyond its proposals so far, at
    least 0, over the sum of their squared distances from these, times the square of the way's length. Pairs of a
    sleeping member stay where they are, and sleep too.

    *Only measured.* How small the overhead is on real problems: ``driftwise apply`` shows a committee next to its best
    member, and next to one that is blind to movement. Learning who is best costs something once, so the excess over
    the best member is largest in short runs where moves are expensive, and a single run of "follow" has luck in it. The
    comparison is with single members: where the plain mean of all proposals beats each of them, it may also beat the
    committee. And the weights add up the past without discount, so they are slow to leave a member that was best long.

    References
    ----------
    .. [1] de Rooij, van Erven, Grünwald, Koolen, "Follow the leader if you can, Hedge if you must", JMLR 2014.
    .. [2] Freund, Schapire, Singer, Warmuth, "Using and combining predictors that specialize", STOC 1997.

    Examples
    --------
    Capacity for a demand that jumps up and down, when a unit of change costs 4: one member follows the last demand, one
    stays at 2.

    >>> import driftwise as dw
    >>> committee = dw.Committee(2, switching_cost=4.0)
    >>> last = 1.0
    >>> for t in range(100):
    ...     x = committee.act([last, 2.0])
    ...     demand = 2.0 if t % 3 == 0 else 1.0
    ...     committee.observe(lambda x: x + 5.0 * max(demand - x, 0.0))
    ...     last = demand
    >>> committee.weights.round(4)
    array([0., 1.])
    >>> round(committee.overhead, 4)
    4.4742

    With movers, a member may say where it would like to be if moving were free. Demand now stays on one of two levels
    for 50 rounds at a time, and goes up and down a little around it:

    >>> demands = [1.0 + (t // 50) % 2 + 0.2 * (t % 3) for t in range(300)]
    >>> proposals = [[last, 2.0] for last in [1.0, *demands[:-1]]]
    >>> losses = dw.CapacityLoss(demands, shortage=5.0)
    >>> plain, moving = (dw.Committee(2, switching_cost=4.0, movers=movers) for movers in (False, True))
    >>> [round(dw.play(one, losses, 4.0, proposals=proposals).total, 1) for one in (plain, moving)]
    [754.2, 688.8]
    >>> moving.members[moving.pair_weights.argmax()]
    'member 0, ski rental'
    """

    _act, _observe = "act(proposals)", "observe(losses)"
    _for_all = ("on_bad_input", "late")
    _takes_prices = True

    def __init__(
        self,
        n: int,
        switching_cost: float | MoveCost = 0.0,
        *,
        mode: str = "mix",
        seed: int | np.random.Generator = 0,
        prior: ArrayLike | None = None,
        movers: bool | Sequence[Mover] = False,
        **rounds: Unpack[Rounds],
    ) -> None:
        super().__init__(**rounds)
        self.n = whole("Committee", "n", n)
        self.mode = choice("Committee", "mode", mode, ("mix", "follow"))
        self._price = move_cost_for("Committee", switching_cost)
        self.switching_cost = self._price.simplest
        self._rng = seeded("Committee", seed)
        equal = np.full(self.n, -math.log(self.n))
        self._log_prior = equal if prior is None else np.log(read_prior("Committee", prior, self.n))
        self.movers = read_movers(movers)
        self._pairs = Pairs(self.n, self.movers) if self.movers else None
        self._each = max(len(self.movers), 1)
        if self._pairs is not None:
            self._log_prior = np.repeat(self._log_prior - math.log(self._each), self._each)
        self._followed: int | None = None
        # What a proposal looks like shows when the first ones come.
        self._shape: tuple[int, ...] | None = None
        self._take(new_committee(self._log_prior, np.empty((2, 0)), adds_up=False))

    def _facts(self) -> list[tuple[str, str]]:
        movers = [("movers", ", ".join(mover.name for mover in self.movers))] if self.movers else []
        return [("members", f"{self.n}, mode {self.mode!r}"), *super()._facts(), *movers]

    def _in_charge(self) -> tuple[str, list[Bar]]:
        return "members by weight", heaviest(self.members, self.pair_weights)

    @property
    def weights(self) -> Array:
        """Weights behind the present decision, 0 for members that sleep; after `observe`, those of all n members.

        With movers, that of a member is the sum over its pairs.
        """
        weights = self.pair_weights
        return weights if self._pairs is None else weights.reshape(self.n, -1).sum(axis=1)

    @property
    def pair_weights(self) -> Array:
        """Weights in the order of `members`: of every pair of member and mover; without movers, `weights`."""
        if self._acted is not None:
            return self._parts["weights"].copy()
        weights = np.empty(int(self._vector[layout.LANES]))
        kernels.weigh_everybody(self._vector, weights)
        return weights[: self.n * self._each]

    @property
    def members(self) -> list[str]:
        """Names of those that are weighed: "member 0, ski rental" with movers, else "member 0"."""
        names = [f"member {i}" for i in range(self.n)]
        return [f"{name}, {mover.name}" for name in names for mover in self.movers] if self.movers else names

    @property
    def member(self) -> int | None:
        """Index of the member that is followed; None in mode "mix" and before the first decision."""
        return None if self._followed is None else self._followed // self._each

    @property
    def overhead(self) -> float:
        """Cost of weighting so far (A_T in the notes): the proved bound on regret is a small multiple of it."""
        return float(self._vector[layout.OVERHEAD])

    def act(
        self,
        proposals: Sequence[ArrayLike | None] | ArrayLike,
        *,
        switching_cost: float | MoveCost | None = None,
    ) -> float | Array:
        """Return the decision: a float if members propose numbers, otherwise a read-only array of their shape.

        The same proposals give the same decision until `observe`.

        Parameters
        ----------
        proposals : sequence of length n, or array of shape (n,), (n, d) or (n, rows, columns)
            What each member would do this round, numbers, vectors or matrices of one shape; None for a member that
            sleeps.
        switching_cost : float or MoveCost, optional
            What a move costs in this round, those into this round's proposals and decision; of the kind that the
            committee was built with. The next round has the usual price again.
        """
        awake, rows, shape = self._read_proposals(proposals)
        now: _Round | None = self._acted
        if now is not None:
            if switching_cost is not None:
                raise self._acts_again("a switching cost, which belongs to the first act of a round")
            if not (np.array_equal(awake, now.awake) and np.array_equal(rows, now.rows)):
                raise self._acts_again("other proposals")
            return now.decision
        price = self._price
        if switching_cost is not None:
            price = price_like("Committee.act", switching_cost, price, rows.shape[1])
        if self._shape is None:
            cost = move_cost_for("Committee", self._price, rows.shape[1])
            self._take(new_committee(self._log_prior, cost.prices(rows.shape[1]), cost.norm == "l1"))
            self._shape = shape
        self._put_by("before", self._known())
        try:
            if switching_cost is not None:
                self._parts["prices"][:] = price.prices(rows.shape[1])
            present, announced = self._begin(awake, rows, price)
            decision = self._decide()
        except BaseException:
            self._know(self.__dict__.pop("_open")["before"])
            raise
        finally:
            if switching_cost is not None:
                self._parts["prices"][:] = self._price.prices(rows.shape[1])
        keep_rows(self._parts, present)
        acted = read_only(decision.reshape(shape).copy()) if shape else float(decision[0])
        self.__dict__["_acted"] = _Round(awake, rows, acted, announced)
        return acted

    def observe(
        self,
        losses: ArrayLike | Sequence[float | None] | Callable[[Any], float] | OneLoss | LossStream | None,
        round: int | None = None,
        *,
        held: Callable[[Array], ArrayLike] | None = None,
    ) -> None:
        """Take in what each proposal would have cost, without the price of moving, which the committee knows.

        Parameters
        ----------
        losses : sequence of length n, or a loss, or None
            One number for each member; whatever stands in the place of a member that slept is ignored, and may be None.
            Or a function of a decision, or an object with a method ``value(w)``, such as ``losses[t]``, which is then
            asked at the proposal of everybody awake; or a whole loss stream, which is read at this committee's round.
            With movers it must be one of these losses, which is also asked at the point of every pair. None if there is
            no feedback, as with `skip`.
        round : int, optional
            The round that the losses are for, if that is not the present one: one of the last `late` rounds, which had
            ended without feedback. Members are then charged what they proposed in that round.
        held : function, optional
            Where decisions drift to by themselves until the end of the round, if they do not stay where they are put,
            as the weights of portfolios: given points, one a row, it returns where each of them drifts to, as `Growth`
            does. The next moves, the decision's and those of the members, are paid for from there. It comes with the
            losses of the present round, and only where none can be late.
        """
        now_is_meant = round is None or self._is_now(round, losses)
        if held is not None and (losses is None or not now_is_meant):
            raise InputError("Committee.observe: held comes with the losses of the present round, and here are none.")
        if not now_is_meant:
            assert round is not None
            return self._observe_late(losses, round)
        now: _Round | None = self._acted
        if now is None:
            raise self._too_early()
        if losses is None:
            return self._end_without()
        shape, pairs = self._shape or (), self._pairs
        try:
            there = None if held is None else self._drifted(held)
            if pairs is None:
                charge(self._parts, now.awake, read_losses(losses, now.awake, now.rows, shape, self._round))
            else:
                points = self._parts["kept"].reshape(self.n, self._each, -1)
                proposed, paid = read_pair_losses(losses, now.awake, now.rows, points, shape, self._round)
                pairs.learn(self._vector, now.rows, proposed, paid)
                charge(self._parts, np.repeat(now.awake, self._each), paid, now.announced)
        except InputError as error:
            self._refuse(error)
            return self._end_without()
        kernels.observe(self._vector)
        if there is not None:
            self._parts["kept"][:], self._parts["decision"][:] = there[1:], there[0]
        self._end_round()
        return None

    def _drifted(self, held: Callable[[Array], ArrayLike]) -> Array:
        """Return where the decision, and the points of the members below it, have drifted to."""
        if self.late:
            raise InputError(
                f"Committee.observe: this one takes feedback up to {self.late} rounds late, and then it cannot tell "
                "where members stood; leave out held, or build one with late=0."
            )
        if not callable(held):
            raise InputError(
                "Committee.observe: held must be a function that says where points, one a row, drift to, such as "
                f"Growth(relatives), as every member has a point of its own; got {describe(held)}."
            )
        here = np.vstack([self._parts["decision"], self._parts["kept"]])
        seen = np.concatenate([[self.mode == "mix"], self._parts["seen"] > 0.0])
        here[seen] = array("Committee.observe", "what held returns", held(here[seen]), here[seen].shape)
        return here

    def _read_proposals(self, given: Any) -> tuple[Flags, Array, tuple[int, ...]]:
        """Return who is awake, what they propose, and its shape; members whose proposal is refused may sleep."""
        try:
            return read_proposals(self.n, given, self._shape)
        except InputError as error:
            if self.on_bad_input == "raise" or not isinstance(given, Sequence | np.ndarray) or len(given) != self.n:
                raise
            kept: list[Any] = []
            for one in given:
                try:
                    kept.append(None if one is None else read_proposals(1, [one], self._shape) and one)
                except InputError:
                    kept.append(None)
            found = read_proposals(self.n, kept, self._shape)
            if self._acted is None:
                self._refuse(error)
            return found

    def _known(self) -> list[Any]:
        """Return a copy of all that `act` changes, but the generator."""
        pairs = [] if self._pairs is None else [self._pairs.staying.copy(), self._pairs.known.copy()]
        return [self._vector.copy(), self._followed, *pairs]

    def _know(self, known: list[Any]) -> None:
        """Go back to what was known before `act`."""
        self._vector[:], self.__dict__["_followed"] = known[:2]
        if self._pairs is not None:
            self._pairs.staying[:], self._pairs.known[:] = known[2:]

    def _missing(self) -> dict[str, Any] | None:
        """Return what is to be saved about rounds that went wrong, and about the one that is not over."""
        found = super()._missing()
        if found is not None and "before" in self._open:
            vector, *rest = self._open["before"]
            parts = {name: part for name, part in parts_of(vector).items() if name in layout.CHANGING}
            found["open"]["before"] = [vector[layout.ROUNDS : layout.CHARGE + 1], parts, *rest]
        if found is not None and "waiting" in self._open:
            found["open"]["waiting"] = [tuple(one) for one in self._open["waiting"]]
        return found

    def _let_go(self) -> None:
        """Forget the round: moves are counted from the last proposals that were judged; a draw is used again."""
        self._know(self._open["before"])
        if self.mode == "follow":
            self.__dict__["_standing"] = self._open["drawn"]

    def _played(self) -> Any:
        now: _Round = self._acted
        return now.awake, now.rows, self._parts["kept"].copy() if self._pairs is not None else None

    def _read_late(self, given: Any, k: int, played: Any) -> Late:
        """Return who was awake in round k, the points of pairs, the proposals, and what these cost."""
        (awake, rows, points), shape = played, self._shape or ()
        if points is None:
            return Late(k, awake, rows, None, read_losses(given, awake, rows, shape, k), None)
        each = points.reshape(self.n, self._each, -1)
        return Late(k, awake, rows, points, *read_pair_losses(given, awake, rows, each, shape, k))

    def _learn_late(self, what: Any) -> None:
        """Play an earlier round again; if a later one has been judged, charge everybody the losses alone."""
        what = Late(*what)
        known, present = (self._vector, self._parts, self._pairs), what.present(self._each)
        if any(j not in self._owed for j in range(what.round + 1, self._round)):
            learn_behind(*known, what, present)
        else:
            announced = begin_again(*known, what, present)
            self._decide()
            end_again(*known, what, present, announced)
        self.__dict__.pop("_standing", None)

    def _check_owed(self, what: Any) -> Any:
        awake, rows, points = what
        return *self._check_rows(awake, rows), self._check_points(points)

    def _check_rows(self, awake: Any, rows: Any) -> tuple[Flags, Array]:
        if not isinstance(awake, np.ndarray) or awake.shape != (self.n,) or awake.dtype != bool:
            raise CheckpointError(f"Committee: who is awake must be {self.n} truth values.")
        return awake, array("Committee", "rows", rows, (self.n, math.prod(self._shape or ())))

    def _check_points(self, points: Any) -> Array | None:
        if points is None and self._pairs is None:
            return None
        return array("Committee", "points", points, self._parts["kept"].shape)

    def _check_standing(self, what: Any) -> Any:
        return number("Committee", "a draw", what, low=0.0)

    def _check_open(self, name: str, what: Any) -> Any:
        if name == "waiting":
            return [self._check_late(one) for one in what]
        if name == "drawn":
            return number("Committee", "a draw", what, low=0.0)
        if name != "before":
            return super()._check_open(name, what)
        numbers, parts, followed, *pairs = what
        vector = self._vector.copy()
        take_parts(vector, parts_of(vector), numbers, parts)
        own = [] if self._pairs is None else [self._pairs.staying, self._pairs.known]
        last = (
            None if followed is None else whole("Committee", "followed", followed, low=0, high=self.n * self._each - 1)
        )
        return [vector, last, *(array("Committee", "pairs", a, b.shape) for a, b in zip(pairs, own, strict=True))]

    def _check_late(self, what: Any) -> Late:
        k, awake, rows, points, proposed, paid = what
        k = whole("Committee", "round", k, low=0)
        losses = array("Committee", "losses", proposed, (self.n,))
        lanes = None if self._pairs is None else array("Committee", "losses", paid, (self.n * self._each,))
        return Late(k, *self._check_rows(awake, rows), self._check_points(points), losses, lanes)

    def __repr__(self) -> str:
        movers = f", movers={len(self.movers)}" if self.movers else ""
        return (
            f"Committee(n={self.n}, switching_cost={self.switching_cost!r}, mode={self.mode!r}{movers}, "
            f"round={self.round})"
        )

    def _saved(self) -> dict[str, Any]:
        """Return the state: of the vector all but constants, the draws, and what the pairs have learnt."""
        now: _Round | None = self._acted
        pairs = self._pairs
        return {
            "round": self._round,
            "acted": None if now is None else tuple(now),
            "missing": self._missing(),
            "shape": None if self._shape is None else list(self._shape),
            "numbers": self._vector[layout.ROUNDS : layout.CHARGE + 1],
            "parts": {name: self._parts[name] for name in layout.CHANGING},
            "followed": self._followed,
            "draws": self._rng,
            "pairs": None if pairs is None else [pairs.staying, pairs.known],
        }

    def _resume(self, saved: dict[str, Any]) -> None:
        """Continue from a state that was saved."""
        owner, shape = "Committee", saved["shape"]
        expect_names(owner, saved, set(self._saved()))
        if shape is not None:
            self._shape = tuple(whole(owner, "shape", side) for side in shape)
            size = math.prod(self._shape)
            cost = move_cost_for(owner, self._price, size)
            self._take(new_committee(self._log_prior, cost.prices(size), cost.norm == "l1"))
        take_parts(self._vector, self._parts, saved["numbers"], saved["parts"])
        self._followed, self._rng = saved["followed"], saved["draws"]
        if self._followed is not None:
            whole(owner, "followed", self._followed, low=0, high=self.n * self._each - 1)
        if self._pairs is not None:
            for own, known in zip([self._pairs.staying, self._pairs.known], saved["pairs"], strict=True):
                own[:] = array(owner, "pairs", known, own.shape)
        self._round = whole(owner, "round", saved["round"], low=0)
        self._resume_missing(saved["missing"])
        if saved["acted"] is not None:
            awake, rows, decision, announced = saved["acted"]
            rows = array(owner, "rows", rows, (self.n, math.prod(self._shape or ())))
            if awake.shape != (self.n,) or awake.dtype != bool:
                raise CheckpointError(f"{owner}: who is awake must be {self.n} truth values.")
            acted = read_only(array(owner, "decision", decision, self._shape)) if self._shape else float(decision)
            self._acted = _Round(awake, rows, acted, bool(announced))

    def __getstate__(self) -> dict[str, Any]:
        """Return what is to be copied: the vector, without the views of its parts."""
        return {name: value for name, value in self.__dict__.items() if name != "_parts"}

    def __setstate__(self, saved: dict[str, Any]) -> None:
        """Take what was copied, and look at its parts."""
        super().__setstate__(saved)
        self._take(self._vector)
        if self._acted is not None and isinstance(self._acted.decision, np.ndarray):
            read_only(self._acted.decision)

    def _take(self, vector: Array) -> None:
        """Know what a vector says from now on."""
        self._vector, self._parts = vector, parts_of(vector)

    def _decide(self) -> Array:
        """Make the weights of the round that has begun, and return the decision as a row."""
        if self.mode == "mix":
            kernels.act_by_mixing(self._vector)
            return self._parts["decision"]
        kernels.act_by_following(self._vector)
        again = self.__dict__.pop("_standing", None)
        uniform = self._rng.random() if again is None else again
        if "_open" in self.__dict__:  # not where a round is played again
            self._put_by("drawn", uniform)
        row: Array = self._parts["rows"][self._follow(uniform)]
        return row

    def _follow(self, uniform: float) -> int:
        """Draw the member that is followed from now on."""
        weights = self._parts["weights"]
        if self._followed is None:
            self._followed = draw(weights, uniform)
        else:
            self._followed = redraw(self._followed, self._parts["before"], weights, uniform)
        return self._followed

    def _begin(self, awake: Flags, rows: Array, price: MoveCost) -> tuple[Flags, bool]:
        """Begin a round: let pairs go, if there are any. Return who is awake, and whether own moves were announced."""
        pairs = self._pairs
        if pairs is None:
            begin_round(self._parts, awake, rows)
            return awake, False
        shares, present = (
            pairs.shares(price, self._vector, self._parts, awake, rows),
            np.repeat(awake, self._each),
        )
        begin_round(self._parts, present, np.repeat(rows, self._each, axis=0))
        pairs.go(self._vector, shares)
        return present, bool(kernels.announce(self._vector))
