"""Explore, then commit: control of a plant whose A and B are not known (Section 5.3 of the paper, Algorithm 4)."""

import logging
import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from driftwise._compile import LARGEST
from driftwise._validate import Array, array, choice, instance, number, read_only, seeded, whole
from driftwise.control.bounds.problem import LOG
from driftwise.control.controllers.base import Controller
from driftwise.control.controllers.guard import Event
from driftwise.control.controllers.named import ScreamController
from driftwise.control.costs import Cost
from driftwise.control.identification.identify import Identified, identify
from driftwise.control.identification.making import made, read_maker, replay
from driftwise.control.identification.methods import METHODS
from driftwise.control.identification.past import Past, Round
from driftwise.control.identification.probes import WARM_UP, first_sizes, resized, settled
from driftwise.control.identification.rehearsal import plausible_plants, rehearse, stabilised
from driftwise.control.identification.saving import (
    resumed_estimate,
    resumed_events,
    resumed_inside,
    resumed_rounds,
    saved_estimate,
    saved_events,
    saved_rounds,
    whole_or_none,
)
from driftwise.control.plants import LinearSystem, as_matrix
from driftwise.control.policies.scales import WIDTH, gain_size, loop_memory
from driftwise.control.self_tuned import SelfTunedController
from driftwise.errors import DriftwiseError, ParameterError

EXPLORING, COMMITTED, FALLBACK = "exploring", "committed", "fallback"

MOST = 2000
"""Most rounds of exploration before the first attempt to commit, unless they are given or the theorem asks for more."""

PROBED = 500
"""Rounds with probes of their full size before the first attempt, where the controller sizes them itself."""

NARROW = 0.25
"""Size of policies, beside the usual, that are tried where those of the usual size are not safe."""

JUMP = 100.0
"""A state that is this many times as large as all before is left out of what is learnt from while exploring."""

GUARD = 10.0
"""The guard steps in when the state is this many times as large as exploration ever made it."""

HOLD = 100
"""Rounds with a state of the usual size before the learned policy comes back; twice as many each time."""

PATIENCE = 1.25
"""Factor by which the rounds of data grow before a commit that was refused is tried again."""

REPLAYED = 1000
"""Rounds of the exploration, the newest, that a controller is shown before it takes over."""

LOGGED = 1000
"""Events that are kept, the newest."""

LONGEST = 100_000
"""Rounds of data that are kept, the newest, however long exploration takes."""

KEPT = (
    "rng", "next", "sizes", "size_at", "full_at", "probe", "bound", "far", "began", "hold", "held", "moved",
)  # fmt: skip
"""What is saved besides what the controller shows."""

_logger = logging.getLogger("driftwise")


class ExploreThenCommit(Controller):
    """Learns what the plant is by probing it, and hands over to a controller that needs to know it.

    Plays u = -K x plus random signs for a while, estimates A and B, and commits to a controller for the estimate. It
    commits only when that controller has been rehearsed: the rounds observed so far are played again on plants that
    explain them as well as the estimate does, and on none of them may it cost over a tenth more than u = -K x. Until
    then it goes on exploring. After that, whenever the state becomes ten times as large as it was while exploring, it
    falls back on u = -K x and comes back later; `log` says when and why.

    A sample that is missing or not a number is refused by an `InputError`, and changes nothing: give the last one
    again, for example. While exploring, a state that is 100 times as large as all before it teaches nothing, unless it
    stays so for 30 rounds.

    Exploring costs what the probes cost: on a short horizon, u = -K x alone is cheaper.

    Parameters
    ----------
    K : array of shape (du, dx)
        A gain with which u = -K x stabilises the plant; zeros for a plant that is stable by itself.
    state_dim, input_dim : int
        Number of states dx and of inputs du.
    horizon : int, optional
        Number of rounds T; None for any number, with `exploration` given.
    seed : int or numpy.random.Generator, default 0
        For the probes; a generator is drawn from as they are needed.
    exploration : int, optional
        Rounds of exploration before the first attempt to commit; T^(2/3) when left out, as the theorem asks, and
        at most 2000 unless `method` is "moments".
    probe : float, optional
        Size of the probes, in units of the input. When left out, the first 30 rounds are played without probes, and
        then every input gets probes of a size of its own, corrected from time to time, such that together they add
        about 25 % to the cost of u = -K x, whatever the units.
    order : int, optional
        k of `identify`; the number of states when left out.
    method : {"whitened", "iv", "moments", "ols"}, default "whitened"
        How A and B are estimated; see `identify`.
    controller : callable, default SelfTunedController
        Makes the controller to commit to, called as ``controller(system, horizon=, K=, memory=, radii=, input_bound=,
        cost=)``, with those of the keywords that it takes and that a ``functools.partial`` has not set already, and the
        last cost observed.
    memory : int or "log", optional
        H, the number of past disturbances that its policies answer to; enough for the loop of the estimate when left
        out. "log" is left to the controller, which then gets a number as `radii`.
    input_bound : float or array of shape (du,), optional
        Largest size of each input.
    on_bad_input : {"raise", "skip"}, default "raise"
        What to do about input that is refused; see `Controller`.

    Attributes
    ----------
    status : str
        "exploring", "committed" or "fallback".
    identified : Identified or None
        The last estimate.
    committed : Controller or None
        The controller in charge after the commit.
    log : list of Event
        What happened: refused attempts, the commit, fallbacks; each with its `round`, `status` and `text`.

    Notes
    -----
    Theorem 8 is about this scheme with the paper's own parts: dynamic policy regret O(sqrt(T (1 + P)) + T^(2/3)) up to
    logarithms with high probability, for a linear plant that is strongly controllable, T large and known, T^(2/3)
    rounds of exploration with probes of a given size, `method` "moments", a commit at the first attempt, and a
    `controller` for which Theorem 7 holds, such as a `ScreamController` at the scale "certified" with the `memory`
    "log". `bounds.unknown_system` is the bound with its constants, `bounds.moment_recovery` the probability. By default
    nothing is proved: `guarantee` says what holds for the controller at hand.

    What is checked before a commit is no proof either. Sixty plants are drawn with errors as large as that of the
    estimate (`Identified.draw`); K must stabilise a quarter of them, and the others are taken to be ruled out by what
    is known of K. For four in five of them the loop of a good gain through the error of the estimate must have a gain
    below 1. The rehearsal is on the six for which that loop has the highest peak over frequencies: there the controller
    may cost at most 1.1 times what u = -K x does, and 1.02 times on average. Where it
    does not pass, policies of a quarter of the usual size are tried. What that leaves open is an error that is larger
    than estimated, and disturbances that are not like those of the exploration; the guard is there for the rest. An
    attempt to commit takes as long as some 2400 rounds of the controller.

    Measured on plants with 2 to 6 states under white, autoregressive and periodic disturbances of many sizes: see
    ``driftwise reproduce control``. A controller without a horizon of its own has seen the rounds of the exploration,
    up to the last 1000, when it takes over.

    References
    ----------
    .. [1] Hazan, Kakade, Singh, "The nonstochastic control problem", ALT 2020.

    Examples
    --------
    >>> import driftwise as dw
    >>> plant = dw.control.double_integrator()
    >>> controller = dw.control.ExploreThenCommit(K=[[0.4, 1.2]], state_dim=2, input_dim=1, horizon=5000, seed=1)
    >>> waves = dw.control.SinusoidDisturbance(0.3, period=40.0, seed=1)
    >>> trace = dw.control.simulate(plant, controller, dw.control.QuadraticCost(1.0, 1.0), waves, rounds=1000)
    >>> controller.status, controller.identified.rounds <= 1000
    ('committed', True)
    """

    state_names = ()

    def __init__(
        self,
        *,
        K: ArrayLike,
        state_dim: int,
        input_dim: int,
        horizon: int | None = None,
        seed: int | np.random.Generator = 0,
        exploration: int | None = None,
        probe: float | None = None,
        order: int | None = None,
        method: str = "whitened",
        controller: Callable[..., Controller] = SelfTunedController,
        memory: int | str | None = None,
        input_bound: ArrayLike | None = None,
        on_bad_input: str = "raise",
    ) -> None:
        owner = "ExploreThenCommit"
        super().__init__(state_dim, input_dim, horizon, input_bound, on_bad_input=on_bad_input)
        self.K = read_only(as_matrix(owner, "K", K, (self.input_dim, self.state_dim)))
        self.probe = None if probe is None else number(owner, "probe", probe, low=0.0, exclusive=True)
        self.order = self.state_dim if order is None else whole(owner, "order", order)
        self.method = choice(owner, "method", method, tuple(METHODS))
        self.memory = memory if memory is None or memory == LOG else whole(owner, "memory", memory)
        self._make = read_maker(owner, controller, "SelfTunedController or ScreamController")
        if exploration is None and self.horizon is None:
            raise ParameterError(f"{owner}: give the horizon, or the rounds of exploration=.")
        budget = math.ceil((self.horizon or 0) ** (2.0 / 3.0))
        most = budget if self.method == "moments" else min(budget, MOST)
        self.exploration = whole(owner, "exploration", most if exploration is None else exploration)
        self._rng = seeded(owner, seed)
        self._next = self.exploration
        self._past: list[Round] = []  # while exploring
        self._sizes = np.full(self.input_dim, self.probe or 0.0)
        self._size_at = WARM_UP if self.probe is None else None
        self._full_at: int | None = None  # when they were about right for the first time
        self._probe = np.zeros(self.input_dim)
        self._bound, self._far = 0.0, 0
        self._began = 0.0  # size of the first state
        self._hold = self._held = 0
        self._moved = False  # whether the estimate was moved such that K stabilises it
        self.status = EXPLORING
        self.identified: Identified | None = None
        self.committed: Controller | None = None
        self.log: list[Event] = []

    @property
    def weights(self) -> Array:
        """Weights of the base-learners of the controller in charge."""
        return np.ones(1) if self.committed is None else self.committed.weights

    @property
    def guarantee(self) -> str:
        """What is promised about this controller's regret, with the conditions, as it is now."""
        none, least = "No bound on the regret is proved", math.ceil((self.horizon or 0) ** (2.0 / 3.0))
        if any(event.status == FALLBACK for event in self.log):
            return "None any more: the state left the range of the exploration, and u = -K x took over for a while."
        if self.horizon is None or self.method != "moments" or self.exploration < least or self.probe is None:
            return (
                f"{none}: Theorem 8 needs a known horizon T, at least T^(2/3) rounds of exploration, the method "
                f"'moments' and a size of the probes, and here they are {self.horizon}, {self.exploration}, "
                f"{self.method!r} and {self.probe}."
            )
        if self.committed is None:
            return f"{none} before the commit: Theorem 8 rests on the controller that is committed to."
        if not isinstance(self.committed, ScreamController):
            return f"{none}: Theorem 8 is for a ScreamController, and it committed to {self.committed!r}."
        if self._began > 0.0:
            return f"{none}: Theorem 8 is for plants that start at the origin, and this one began at {self._began:.4g}."
        if self._moved or any(event.status == EXPLORING for event in self.log):
            why = next((event.text for event in self.log if event.status == EXPLORING), "")
            return (
                f"{none}: Theorem 8 is for a commit at the first attempt, to what the moments of {self.exploration} "
                f"rounds say, and here {why or 'the estimate was moved such that K stabilises it'}."
            )
        objection = self.committed.objection(anywhere=True)
        if objection is not None:
            return f"{none} for the controller that it committed to, which Theorem 8 rests on. {objection}"
        return (
            "Theorem 8: dynamic policy regret O(sqrt(T (1 + P_T)) + T^(2/3)), up to logarithms, with high probability, "
            "on the linear system itself, if x_0 = 0, it is strongly controllable and strongly stable under K, "
            f"T = {self.horizon} is large enough for the estimate, disturbances do not react to the probes, and, as "
            f"the estimated plant explains the states, {self.committed.constants.condition}"
            f"{self.committed.truncation_clause()}"
        )

    def _configuration(self) -> dict[str, Any]:
        """Return what builds it again; what probes are drawn from is part of the state."""
        known = super()._configuration()
        return {**known, "seed": 0} if "seed" in known else known

    def _saved(self) -> dict[str, Any]:
        """Return the state: the rounds that were explored, the probes, the estimate, and the controller in charge."""
        known = {name: getattr(self, f"_{name}") for name in KEPT}
        found = {"identified": saved_estimate(self.identified), "committed": self.committed}
        seen = {"past": saved_rounds(self._past), "log": saved_events(self.log)}
        return {**super()._saved(), **known, **found, **seen, "status": self.status}

    def _resume(self, saved: dict[str, Any]) -> None:
        """Continue from a state that was saved."""
        owner, shape = type(self).__name__, (self.state_dim, self.input_dim)
        known = {name: saved.pop(name) for name in (*KEPT, "identified", "committed", "past", "log", "status")}
        super()._resume(saved)
        for name in ("next", "far", "hold", "held"):
            whole(owner, name, known[name], low=0)
        for name in ("bound", "began"):
            number(owner, name, known[name], low=0.0)
        for name in ("sizes", "probe"):
            array(owner, name, known[name], (self.input_dim,))
        for name in ("size_at", "full_at"):
            whole_or_none(owner, name, known[name])
        instance(owner, "moved", known["moved"], bool, "True")
        instance(owner, "rng", known["rng"], np.random.Generator, "numpy.random.default_rng(0)")
        self.__dict__.update({f"_{name}": known[name] for name in KEPT})
        self.identified = resumed_estimate(owner, known["identified"], *shape)
        self.committed = resumed_inside(owner, known["committed"], *shape)
        self._past = resumed_rounds(owner, known["past"], *shape)
        self.log = resumed_events(owner, known["log"])
        allowed = (EXPLORING,) if self.committed is None else (COMMITTED, FALLBACK)
        self.status = choice(owner, "status", known["status"], allowed)

    def _say(self, status: str, text: str) -> None:
        self.status = status
        self.log.append(Event(self.round, status, text))
        del self.log[:-LOGGED]
        _logger.log(logging.WARNING if status == FALLBACK else logging.INFO, "round %d: %s", self.round, text)

    def _decide(self, x: Array) -> Array:
        if self.round == 0:
            self._began = float(np.linalg.norm(x))
        if self.committed is not None:
            return self._committed_input(self.committed, x)
        before = {**self.__dict__, "log": self.log.copy()}
        if not self._jumped(x):
            if self._size_at is not None and len(self._past) >= self._size_at:
                self._resize(x)
            if self._ready():
                self._attempt(x)
        if self.committed is None:
            self._probe = self._sizes * self._rng.choice([-1.0, 1.0], self.input_dim)
            return np.clip(self._probe - self.K @ x, -LARGEST, LARGEST)
        try:
            return self._committed_input(self.committed, x)
        except BaseException:
            self.__dict__.update(before)  # as if it had not committed
            raise

    def _decide_blind(self, seen: Array) -> Array:
        if self.committed is not None:
            return self.committed.act(None if self.committed._may_miss else seen)  # type: ignore[arg-type]
        self._probe = self._sizes * self._rng.choice([-1.0, 1.0], self.input_dim)
        return np.clip(self._probe - self.K @ seen, -LARGEST, LARGEST)

    def _miss(self, x: Array, applied: Array) -> None:
        if self.committed is not None:
            self.committed.skip(applied=applied)
        elif self._last_known is None and self._past and not self._jumped(x):
            self._explored(Round(x, applied, self._probe, self._past[-1].cost))  # what A and B are needs no cost

    def _committed_input(self, committed: Controller, x: Array) -> Array:
        u = committed.act(x)
        return np.clip(-self.K @ x, -LARGEST, LARGEST) if self._guarded(x) else u

    def _learn(self, x: Array, applied: Array, cost: Cost) -> None:
        if self.committed is not None:
            self.committed.observe(cost, applied=applied)
            return
        if self._jumped(x):
            if self._far == 0:
                size = f"the norm of the state is {np.linalg.norm(x):.3g}, over {JUMP:g} times all before"
                self._say(EXPLORING, f"{size}: nothing is learnt from it")
            self._far += 1
            return
        self._explored(Round(x, applied, self._probe, cost))

    def _explored(self, one: Round) -> None:
        """Keep a round of the exploration."""
        self._far = 0
        self._past.append(one)
        if len(self._past) > LONGEST:
            del self._past[: LONGEST // 2]
        self._bound = max(self._bound, float(np.linalg.norm(one.state)))

    def _jumped(self, x: Array) -> bool:
        """Tell whether a state is far larger than all before: a jump, or a mistake of a sensor, unless it stays so."""
        known = self.round >= WARM_UP and self._bound > 0.0 and self._far < WARM_UP
        return known and bool(np.linalg.norm(x) > JUMP * self._bound)

    def _ready(self) -> bool:
        """Tell whether it is time to try to commit: not before probes have been of their full size for a while."""
        rounds = len(self._past)
        if self.probe is not None or rounds >= MOST:
            return rounds >= self._next
        return self._full_at is not None and rounds >= max(self._next, self._full_at + PROBED)

    def _resize(self, x: Array) -> None:
        """Size the probes by what they cost, and say when to do so again."""
        past = Past.of(self._past, x)
        self._size_at = min(math.ceil(PATIENCE * len(self._past)), LONGEST)
        try:
            if not self._sizes.any():
                self._sizes = first_sizes(past)
                self._size_at = WARM_UP + 4 * (2 * self.order + 3) * max(self.input_dim, 2)
                return
            sizes = resized(self._sizes, past, self.K, self.order)
        except DriftwiseError:  # numbers are out of range, and probes stay as they are
            return
        if self._full_at is None and settled(self._sizes, sizes):
            self._full_at = len(self._past)
        self._sizes = sizes

    def _attempt(self, x: Array) -> None:
        """Commit if the data allow it, else say why not and when to try again."""
        self._next = min(math.ceil(PATIENCE * len(self._past)), LONGEST)
        past = Past.of(self._past, x)
        try:
            self.identified = identify(*past[:3], self.K, self.order, method=self.method)
            text = self._commit(self.identified, past)
        except DriftwiseError as error:
            text = str(error)
        if self.committed is None:
            self._say(EXPLORING, f"goes on exploring, at least until there are {self._next} rounds of data: {text}")

    def _commit(self, found: Identified, past: Past) -> str:
        """Commit to the first controller that passes its rehearsal, or return why there is none."""
        off = f"the estimate, off by about {found.error:.3g},"
        stable = stabilised(found, self.K)
        if stable is None:
            return f"{off} says that K does not stabilise the plant"
        self._moved, self.identified, found = stable is not found, stable, stable
        plants = plausible_plants(found, self.K, past.states)
        if not plants:
            return f"{off} leaves too much open of what the inputs do"
        for share in (1.0, NARROW):
            make = partial(self._controller_for, found.system, share, past.costs[-1])
            outcome = rehearse(make, plants, self.K, past)
            if outcome.passed:
                break
        else:
            return f"a controller for {off} costs {outcome}"
        self.committed, self._past = self._warmed(make(), past), []
        size = "" if share == 1.0 else f", with policies of {share:.0%} of the usual size"
        name = type(self.committed).__name__
        text = f"committed to {name} for an estimate from {found.rounds} rounds that is off by about {found.error:.3g}"
        self._say(COMMITTED, f"{text}{size}; it costs {outcome}")
        return ""

    def _controller_for(self, system: LinearSystem, share: float, cost: Cost) -> Controller:
        """Return a controller for an estimate, with policies of some share of the usual size."""
        H = loop_memory(system.A - system.B @ self.K) if self.memory is None else self.memory
        width = share * WIDTH * gain_size(system, self.K)
        options: dict[str, Any] = {
            "horizon": None if self.horizon is None else self.horizon - self.round,
            "K": self.K,
            "memory": H,
            "radii": width if isinstance(H, str) else np.full(H, width),
            "input_bound": self.input_bound if np.isfinite(self.input_bound).any() else None,
            "cost": cost,
        }
        if self.on_bad_input == "skip":
            options["on_bad_input"] = "skip"
        return made(self._make, system, options)

    def _warmed(self, controller: Controller, past: Past) -> Controller:
        """Show a controller without a horizon the last rounds."""
        if controller.horizon is None:
            replay(controller, past.latest(REPLAYED))
        return controller

    def _guarded(self, x: Array) -> bool:
        """Tell whether the fallback is in charge: from a state that is too large until states are usual for a while."""
        size = float(np.linalg.norm(x))
        if size > GUARD * self._bound:
            if self.status != FALLBACK:
                self._hold = max(2 * self._hold, HOLD)
                limit = f"{GUARD:g} times the {self._bound:.3g} of the exploration"
                self._say(FALLBACK, f"fell back on u = -K x: the norm of the state is {size:.3g}, over {limit}")
            self._held = self._hold
        elif self.status == FALLBACK:
            self._held -= size <= self._bound
            if self._held <= 0:
                self._say(COMMITTED, "back from u = -K x to the learned policy")
        return self.status == FALLBACK
