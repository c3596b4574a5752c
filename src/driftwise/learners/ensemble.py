"""Two-layer algorithms by composition: a pool of step sizes, a base step, Hedge on top, and what Hedge is fed.

Every learner of the paper is a few lines of this::

    algorithm      pool                      base        meta              surrogate
    -------------  ------------------------  ----------  ----------------  -------------------------------
    OGD            one step                  any         none              none
    Ader           doubling, growth 4/7      Euclidean   rate, 1/(i(i+1))  shared or own gradient, lambda 0
    Scream         doubling, growth 1        Euclidean   rate, 1/(i(i+1))  shared gradient, lambda
    Lazy Scream    Scream's, over epochs     Euclidean   Scream's          Scream's
    self-tuned     doubling, growth 256,     Euclidean   self-tuned rate,  Scream's; a dead zone
                   each also with patience               equal prior

Rates are given *per root round*: a step of 0.5 is used as 0.5 / sqrt(T) when the horizon T is known, and as
0.5 / sqrt(t) in the time-varying schedule when it is not. In the self-tuned schedule steps are distances, divided by
the root of what the gradients so far add up to.
"""

import copy
from collections.abc import Callable, Mapping
from typing import Any, Self, Unpack

import numpy as np
from numba.core.errors import NumbaError
from numpy.typing import ArrayLike, NDArray

from driftwise._protocol import NONE_MISSING, NOTHING, Rounds
from driftwise._validate import Array, array, choice, instance, number, read_only, whole
from driftwise.domains import Domain
from driftwise.drift import Held
from driftwise.engine import Program, layout
from driftwise.engine.program import CLIP, UNCLIPPED
from driftwise.engine.rounds import MISFIT, OK
from driftwise.engine.run import act_on_hint, observe, observe_own
from driftwise.errors import InputError, ParameterError
from driftwise.learners import prices
from driftwise.learners.base import Learner
from driftwise.learners.parts import Meta, Pool, Surrogate, first_decision, wide_enough
from driftwise.losses import LossStream, RoundLoss
from driftwise.losses.jax_loss import OneLoss
from driftwise.mirror import Euclidean, MirrorMap, NegativeEntropy
from driftwise.movecost import MoveCost, move_cost_for

_ARRAY, _FLOAT64 = np.ndarray, np.dtype(np.float64)


MOST_ROUNDS = 2**53
"""A pool that grows without a horizon has room for this many rounds."""


class Ensemble(Learner):
    """N base-learners mixed by Hedge, composed from parts.

    Use it to write a new two-layer algorithm; the named learners (`OGD`, `Ader`, `Scream`, ...) are compositions of it.

    Parameters
    ----------
    domain : Domain
        Where decisions live.
    pool : Pool
        Step sizes, per root round.
    meta : Meta, optional
        Hedge's rate, per root round, and prior.
    surrogate : Surrogate, optional
        What Hedge is fed.
    base : MirrorMap, optional
        Geometry of the base step; Euclidean when left out.
    horizon : int, optional
        Number of rounds T; None for any number.
    horizon_free : {"time-varying", "doubling", "self-tuned"}, default "time-varying"
        What to do without a horizon: rates that shrink with the root of the rounds so far and a pool that grows, or
        restarts with blocks of twice the length; ``driftwise reproduce`` shows Scream with both. Or rates that need no
        bound on the gradients either, see `SelfTunedScream`.
    epoch : int, default 1
        Rounds that share one decision; their gradients are summed.
    start : array of shape (dim,), optional
        First decision; the feasible point nearest to the origin when left out.
    constant : bool, default False
        Use the rates as they are, whatever the number of rounds.
    dead_zone : float, default 0.0
        For the self-tuned schedule: play the point nearest to the last decision within this times
        ``D / sqrt(t) * lambda / (lambda + |g|)`` of the mixture; 0 plays the mixture.
    on_bad_input, late
        As in `Learner`.

    Examples
    --------
    Gradient descent with two step sizes, mixed:

    >>> import numpy as np
    >>> import driftwise as dw
    >>> from driftwise.learners import Ensemble, Meta, Pool
    >>> learner = Ensemble(dw.Ball(2), pool=Pool(1.0, growth=1.0), meta=Meta(rate=1.0), horizon=3)
    >>> w = learner.act()
    >>> learner.observe(np.array([1.0, 0.0]))
    >>> learner.act().round(4)
    array([-0.683,  0.   ])
    """

    state_names = ()
    _takes_prices = True
    _averages = False
    """Whether it judges moves by the means of prices up and down, where these add up."""
    _lent: MoveCost | None = None
    """The price in force, as `price_round` said."""
    _origins: Mapping[float, Array] = NOTHING
    """Where base-learners stood before an update, by its number, since a round had a price of its own."""

    def __init__(
        self,
        domain: Domain,
        *,
        pool: Pool,
        meta: Meta | None = None,
        surrogate: Surrogate | None = None,
        base: MirrorMap | None = None,
        horizon: int | None = None,
        horizon_free: str = "time-varying",
        epoch: int = 1,
        start: ArrayLike | None = None,
        constant: bool = False,
        dead_zone: float = 0.0,
        **rounds: Unpack[Rounds],
    ) -> None:
        super().__init__(domain, horizon, **rounds)
        owner = type(self).__name__
        wide_enough(owner, domain)
        meta = instance(owner, "meta", Meta() if meta is None else meta, Meta, "Meta(rate=0.1)")
        pool = instance(owner, "pool", pool, Pool, "Pool(0.1)")
        surrogate = Surrogate() if surrogate is None else surrogate
        instance(owner, "surrogate", surrogate, Surrogate, "Surrogate(2.0)")
        base = Euclidean() if base is None else instance(owner, "base", base, MirrorMap, "Euclidean()")
        instance(owner, "constant", constant, bool, "True")
        own = surrogate.gradients == "own"
        length = whole(owner, "epoch", epoch)
        if own and length > 1:
            raise ParameterError(f"{owner}: gradients='own' goes with epoch=1, got epoch={length}.")
        self.horizon_free = choice(owner, "horizon_free", horizon_free, ("time-varying", "doubling", "self-tuned"))
        radius = number(owner, "dead_zone", dead_zone, low=0.0)
        tuned = self.horizon_free == "self-tuned"
        if tuned and (own or length > 1 or constant or self.horizon is not None or type(base) is not Euclidean):
            raise ParameterError(
                f"{owner}: horizon_free='self-tuned' goes with Euclidean steps, shared gradients, epoch=1 and neither "
                "a horizon nor constant rates."
            )
        if radius > 0.0 and not tuned:
            raise ParameterError(f"{owner}: dead_zone goes with horizon_free='self-tuned', got {horizon_free!r}.")
        if any(pool.kinds) and type(base) is not Euclidean:
            raise ParameterError(f"{owner}: patience in the pool goes with Euclidean steps, got {base!r}.")
        anytime = self.horizon is None and not constant
        if anytime and isinstance(base, NegativeEntropy) and base.share > 0.0:
            raise ParameterError(f"{owner}: a share needs horizon= or a constant rate, got neither with {base!r}.")
        updates = MOST_ROUNDS if self.horizon is None else -(-self.horizon // length)
        steps = pool.for_rounds(updates)
        self.program = Program(
            domain,
            base,
            steps,
            meta.log_prior(steps.size),
            float(meta.rate),
            move_cost_for(owner, surrogate.switching_cost, domain.dim),
            self.horizon_free if anytime else "fixed",
            1.0 if constant else float(updates),
            pool.growth if anytime else 0.0,
            length,
            own,
            pool.kinds,
            radius,
            clip=CLIP if tuned else UNCLIPPED,
        )
        self._own = own
        self._take(self.program.new_cell(first_decision(owner, domain, base, start)))

    @property
    def weights(self) -> Array:
        """Weights of the base-learners in play, in the order of `step_sizes`; they sum to 1."""
        return np.asarray(self._parts["weights"][self._lanes])

    @property
    def step_sizes(self) -> Array:
        """Step sizes of the base-learners in play, as the next update will use them.

        In the self-tuned schedule they depend on the gradient to come too: these are the last ones used, 0 before any.
        """
        steps = self.program.steps[: self._active]
        if self.program.schedule == "self-tuned":
            seen = self._number(layout.SEEN)
            return np.asarray(steps * (seen**-0.5 if seen > 0.0 else 0.0))
        return np.asarray(steps / np.sqrt(self.program.clock_at(int(self._number(layout.UPDATES)) + 1)))

    @property
    def base_decisions(self) -> Array:
        """Points of the base-learners in play, shape (N, dim)."""
        return np.asarray(self._parts["points"].transpose(0, 2, 1).reshape(-1, self.domain.dim)[self._lanes])

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
        gradient : array of shape (dim,), or a loss, or None
            The gradient of the unary loss at the decision; or an object with a method ``gradient(w)`` (and
            ``value(w)`` for learners with gradients of their own), such as ``losses[t]``; or a whole loss stream, which
            is then read at this learner's round. None if there is no feedback, as with `skip`.
        round : int, optional
            The round that the feedback is for, if that is not the present one: one of the last `late` rounds, which
            had ended without feedback. A loss is asked at what was played then.
        held : None
            Not taken: see `SelfTunedLearner`.
        """
        if held is not None:
            raise self._holds_nothing()
        if round is not None and not self._is_now(round, gradient):
            return self._observe_late(gradient, round)
        w = self._acted
        if w is None:
            raise self._too_early()
        try:
            if self._own and gradient is not None:
                self._observe_own(gradient)
            else:
                # A plain float64 array goes straight to the kernel, which checks its numbers.
                if not (
                    type(gradient) is _ARRAY
                    and gradient.dtype is _FLOAT64
                    and gradient.shape == self._shape
                    and gradient.flags.carray
                ):
                    if gradient is None:
                        return self._end_without()
                    gradient = self._gradient_at(w, gradient)
                self._learn(gradient)
        except InputError as error:
            self._refuse(error)
            return self._end_without()
        self._end_round()
        return None

    def clone(self) -> Self:
        """Return an independent copy in the same state."""
        return copy.deepcopy(self, {id(part): part for part in (self.domain, self.program)})

    def runs_compiled(self, *, with_weights: bool = False) -> bool:
        """Tell whether compiled loops may play in its place.

        Not if a subclass has verbs or weights of its own, nor if something of the round, such as a price, is left over.
        """
        if self._priced_at is not None or not self._open.keys() <= {"unhinted"}:
            return False
        names = ("act", "observe", "_decide", "_learn", *(["weights"] if with_weights else []))
        return all(getattr(type(self), name) is getattr(Ensemble, name) for name in names)

    def _take(self, cell: Array) -> None:
        """Continue from another cell; the decision that was acted, if any, is forgotten."""
        self._cell, self._acted, self._linked = cell, None, False
        self._views: dict[str, Array] | None = None
        start = int(cell[layout.DECISION_AT])
        self._decision = cell[start : start + self.domain.dim]
        self._shape = self._decision.shape
        self._round = int(self._number(layout.ROUND)) + self._missed

    @property
    def cell(self) -> Array:
        """The learner as one vector, ready for kernels, which read and write it (see `driftwise.engine.layout`).

        What it needs of them is compiled now, or read from disk, and their addresses are written. For compiled loops
        such as those of `play` and `simulate`: let them work on a copy, and `adopt` it at the end.
        """
        if not self._linked:
            self.program.link(self._cell)
            if self._number(layout.HINTED):
                self.program.link_hints(self._cell)
            self._linked = True
        return self._cell

    def adopt(self, cell: Array) -> None:
        """Continue from where `cell`, or a copy of it, has come."""
        self.__dict__.pop("_open", None)
        if cell is self._cell:  # addresses and views are as they were
            self._round, self._acted = int(cell[int(cell[layout.STATE_AT]) + layout.ROUND]) + self._missed, None
        else:
            self._take(cell)

    def __getstate__(self) -> dict[str, Any]:
        """Return what is to be copied: of the cell only what the learner knows, as its addresses are this process's."""
        dropped = ("_cell", "_decision", "_linked", "_views")
        kept = {name: part for name, part in self.__dict__.items() if name not in dropped}
        return {**kept, "_known": self._state.copy()}

    def __setstate__(self, saved: dict[str, Any]) -> None:
        """Make a cell for what the copied or unpickled learner knows."""
        known = saved.pop("_known")
        super().__setstate__(saved)
        acted = self._acted
        self._take(self.program.cell_of(known))
        self._acted = acted
        if "price" in self._open:
            prices.put(self.program, self._cell, self._open["price"])

    def _saved(self) -> dict[str, Any]:
        """Return the state: the vector of all it knows, and whether its base-learners have twins that heed hints."""
        return {**super()._saved(), "known": self._state, "twins": self.program.heedless > 0}

    def _resume(self, saved: dict[str, Any]) -> None:
        """Continue from a state that was saved."""
        known, twins, acted = saved.pop("known"), saved.pop("twins"), saved["acted"]
        if twins:
            self.program = self.program.with_twins()
            self._take(self.program.new_cell(self._decision))
        super()._resume(saved)
        if "unhinted" in self._open:
            self.program.check_state(type(self).__name__, self._open["unhinted"], self._round - self._missed)
        self.program.check_state(type(self).__name__, known, self._round - self._missed)
        self._take(self.program.cell_of(known))
        if acted is not None:
            self._acted = read_only(array(type(self).__name__, "acted", acted, self._shape, copy=True))
        if "price" in self._open:
            prices.put(self.program, self._cell, self._open["price"])

    def _missing(self) -> dict[str, Any] | None:
        found = super()._missing()
        if found is None and not self._origins:
            return None
        return {**NONE_MISSING, "priced_at": None, **(found or {}), "origins": list(self._origins.items())}

    def _resume_missing(self, saved: dict[str, Any] | None) -> None:
        if saved is None:
            return
        owner, shape = type(self).__name__, self._parts["points"].shape
        origins = saved.pop("origins")
        super()._resume_missing(saved)
        if origins:
            known = {number(owner, "update", k): array(owner, "origins", points, shape) for k, points in origins}
            self.__dict__["_origins"] = known

    def _check_owed(self, what: Any) -> Any:
        if not self._own:
            return super()._check_owed(what)
        decision, points = what
        return self._check_point(decision), array(type(self).__name__, "points", points, ("n", self.domain.dim))

    def _check_open(self, name: str, what: Any) -> Any:
        if name == "unhinted" and isinstance(what, np.ndarray):
            return what  # `_resume` checks it
        return super()._check_open(name, what)

    def _check_late(self, what: Any) -> Any:
        if not self._own:
            return super()._check_late(what)
        owner, (gradients, values) = type(self).__name__, what
        checked = array(owner, "gradients", gradients, ("n", self.domain.dim))
        return checked, array(owner, "values", values, (len(checked),))

    @property
    def _missed(self) -> int:
        """Number of rounds that nothing has been learnt from, at least not yet."""
        return self._skipped + len(self._open.get("waiting", ()))

    @property
    def _built_for(self) -> MoveCost:  # type: ignore[override]
        return self.program.switching_cost

    @property
    def _state(self) -> Array:
        """All that the learner knows, as one vector."""
        return layout.state_of(self._cell)

    def _number(self, place: int) -> float:
        """Return a single number of the state."""
        return float(self._state[place])

    @property
    def _active(self) -> int:
        return int(self._number(layout.ACTIVE)) * self.program.kinds

    @property
    def _lanes(self) -> NDArray[np.int64]:
        """The lanes of those in play, smallest step first."""
        return self.program.order[: self._active]

    @property
    def _parts(self) -> dict[str, Array]:
        """The parts of the state by name, in the order of lanes."""
        if self._views is None:
            self._views = self.program.views(self._cell)
        return self._views

    def _decide(self) -> Array:
        decision = self._decision.copy()
        decision.setflags(write=False)
        return decision

    def _take_hint(self, hint: Array) -> None:
        program = self.program
        if self._own or program.epoch > 1 or type(program.mirror) is not Euclidean:
            raise ParameterError(
                f"{type(self).__name__}.act: a hint goes with Euclidean steps on one gradient for all base-learners in "
                "every round; this learner has others. Call act() without one."
            )
        if program.rate > 0.0 and not program.heedless:
            # Hedge is to find out what hints are worth: from now on every base-learner has a twin that heeds them.
            cell = program.twins(self._cell)
            self.program = program.with_twins()
            self._take(cell)
            self.__dict__.pop("_origins", None)  # those were of fewer base-learners
            price = self._open.get("price", self._lent)
            if price is not None:
                prices.put(self.program, self._cell, price)
        self.__dict__["_open"] = {**self._open, "unhinted": self._state.copy()}
        act_on_hint(self.cell, self.program.link_hints(self._cell), hint)

    def _let_go(self) -> None:
        """Take a hint back; what was played stays known, as the next decision may be made from there."""
        if "unhinted" in self._open:
            self._state[:] = self._open["unhinted"]
        if self.program.dead_zone > 0.0:
            self._parts["played"][:] = self._acted
            if "unhinted" in self._open:
                prices.follow(self.program, self._cell)

    def _played(self) -> Any:
        return (self._acted, self.base_decisions) if self._own else self._acted

    def _read_late(self, given: Any, k: int, played: Any) -> Any:
        """Return the gradient of round k; or gradients and losses at each own point then, and at the decision."""
        if not self._own:
            return super()._read_late(given, k, played)
        decision, points = played
        return self._ask(self._loss(given, k), given, np.vstack([points, decision]))

    def _learn_late(self, what: Any) -> None:
        """Learn feedback of an earlier round as that of a round would be; what was played last stays known."""
        if self._priced_at is not None:
            self._adjust(None)
        if self.program.dead_zone > 0.0:
            self._decision[:] = self._parts["played"]
        if not self._own:
            return self._learn(what)
        # Whoever has joined since was not there: it is told what the decision of that round is.
        rows = np.minimum(np.arange(self._active), len(what[1]) - 1)
        self._learn_own(what[0][rows], what[1][rows])
        return None

    def _read_price(self, owner: str, given: float | MoveCost) -> MoveCost:
        cost = super()._read_price(owner, given)
        return cost.averaged if self._averages and cost.norm == "l1" else cost

    def _set_price(self, cost: MoveCost | None) -> Callable[[], None]:
        known = {name: self.__dict__.get(name) for name in ("_open", "_origins", "_priced_at")}
        state = self._state.copy()

        def undo() -> None:
            for name, value in known.items():
                self.__dict__.pop(name, None)
                if value is not None:
                    self.__dict__[name] = value
            self._state[:] = state
            prices.put(self.program, self._cell, self._usual)

        self._adjust(cost)
        if cost is not None:
            self.__dict__["_open"] = {**self._open, "price": cost}
            prices.put(self.program, self._cell, cost)
        return undo

    def price_round(self, cost: MoveCost | None) -> None:
        """Let a price be in force until further notice, None for the usual one; for a learner that has this inside."""
        self.__dict__["_lent"] = cost
        self._adjust(cost)
        prices.put(self.program, self._cell, self._usual)

    @property
    def _usual(self) -> MoveCost:
        """The price of rounds that are given none."""
        return self._lent or self._built_for

    def _adjust(self, cost: MoveCost | None) -> None:
        """Let what follows from the price of a round be as if the last round had ended with this one."""
        now, was = cost or self._usual, self._priced_at or self._built_for
        updates = self._number(layout.UPDATES)
        if now != was:
            if self.program.priced:
                prices.judge_again(self.program, self._cell, self._origins.get(updates), now)
            if self.program.dead_zone > 0.0:
                prices.put(self.program, self._cell, now)
                prices.follow(self.program, self._cell)
                prices.put(self.program, self._cell, self._usual)
            self.__dict__["_priced_at"] = now if now != self._built_for else None
        if cost is not None and self.program.priced:
            kept = {k: points for k, points in self._origins.items() if k >= updates}
            self.__dict__["_origins"] = {updates + 1.0: self._parts["points"].copy(), **kept}

    def _close(self, held: Mapping[str, Any]) -> None:
        if "price" in held:
            prices.put(self.program, self._cell, self._usual)
        super()._close(held)

    def _learn(self, gradient: Array) -> None:
        cell = self._cell if self._linked else self.cell
        try:
            status = observe(cell, gradient)
        except (NumbaError, TypeError, AttributeError):  # an array that kernels do not read, from a subclass
            status = MISFIT
        if status == MISFIT:
            status = observe(cell, array(f"{type(self).__name__}._learn", "gradient", gradient, self._shape, copy=True))
        if status != OK:
            raise self._refused(f"gradient {np.array2string(gradient, threshold=6)}")

    def _observe_own(self, given: object) -> None:
        self._learn_own(*self._ask(self._loss(given), given, self.base_decisions))

    def _ask(self, loss: RoundLoss | None, given: object, points: Array) -> tuple[Array, Array]:
        """Return gradients and losses at points."""
        owner = type(self).__name__
        if loss is None or not callable(getattr(loss, "value", None)):
            raise InputError(
                f"{owner}.observe: every base-learner needs the loss at its own point, so give an object with value(w) "
                f"and gradient(w), such as losses[t]; got {type(given).__name__}."
            )
        gradients, values = np.zeros(points.shape), np.zeros(len(points))
        for i, point in enumerate(points):
            gradients[i] = self._gradient_at(point, loss)
            values[i] = array(f"{owner}.observe", "value", loss.value(point), ())
        return gradients, values

    def _learn_own(self, gradients: Array, values: Array) -> None:
        if observe_own(self.cell, gradients, values) != OK:
            raise self._refused("the loss and its gradient")
