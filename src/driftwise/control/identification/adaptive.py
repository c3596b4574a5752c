"""A controller for plants that drift: it keeps correcting A and B while it runs, and adopts a correction with care."""

import logging
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from driftwise._saving import expect
from driftwise._validate import Array, array, choice, instance, loose, read_only, whole
from driftwise.control.controllers.base import Controller
from driftwise.control.controllers.guard import Event
from driftwise.control.costs import Cost
from driftwise.control.identification.making import made, read_maker, replay
from driftwise.control.identification.past import Past, Round
from driftwise.control.identification.rehearsal import by, over
from driftwise.control.identification.saving import (
    resume_tracker,
    resumed_events,
    resumed_inside,
    resumed_rounds,
    saved_events,
    saved_rounds,
    saved_tracker,
)
from driftwise.control.identification.tracking import BLOCK, FIRST, WINDOW, Tracker
from driftwise.control.plants import PLANT_HINT, LinearSystem, System
from driftwise.control.policies.disturbance_action import stable_loop
from driftwise.control.policies.model import weights_of
from driftwise.control.self_tuned import SelfTunedController
from driftwise.control.stability import lqr, spectral_radius
from driftwise.errors import CheckpointError, DriftwiseError, ParameterError

NOMINAL, ADAPTED = "nominal", "adapted"

STRONG, BACK = 16.0, 3.0
"""Logarithms of the likelihood ratio at which a correction is considered, and at which the given model comes back."""

PAUSE, LONGEST = 100, 1600
"""Rounds after one that was considered before the next one is."""

FADE = 20
"""Rounds in which one controller hands over to the next."""

DRAWN, PLAYED = 40, 3
"""Plants drawn around a correction, and how many of them are played."""

STABLE, MARGIN = 0.9, 0.999
"""Share of these plants that the gain must stabilise, and the largest spectral radius that counts as stable."""

WORTH, WORST, WRONG = 0.9, 1.0, 1.1
"""Largest cost after a change, over that before: on average, on the worst plant, and if the old model is right."""

RECENT, USUAL, HARM = 10.0, 300.0, 5.0
"""Rounds over which costs are averaged, at present and before a correction; it is taken back if costs are HARM times
what they were."""

LOGGED = 1000
"""Events that are kept, the newest."""

LARGEST = 1e100
"""Largest size of a state that counts as one."""

COUNTS, NUMBERS = ("left", "wait", "pause", "began", "seen", "shift"), ("paid", "used_to_pay", "before")
"""What is saved besides models, rounds and controllers."""

_logger = logging.getLogger("driftwise")


class AdaptiveController(Controller):
    """Controls a plant that drifts away from the (A, B) it was given, or was never quite like that.

    Runs another controller, `SelfTunedController` by default, and beside it corrects A and B by least squares with
    forgetting. A correction is adopted only if it foresees states much better in rounds that it has not seen, if some
    gain is safe for what it leaves open, and if a rehearsal on plants around it promises at least 10 % less cost on
    average, no more on any of them, and at most 10 % more should the old model be right after all. Then a new
    controller, with the gain of LQR for the corrected model where costs are quadratic, sees the last rounds and takes
    over within 20. When the model that was given foresees states better again, or costs are five times those before
    the correction, it comes back. `log` says what was adopted, refused or left, and why.

    Where the plant is what it was said to be, nothing is adopted as a rule, and inputs are those of the controller
    inside. For a plant of which nothing is known see `ExploreThenCommit`.

    Begin with `SelfTunedController`, which takes a drift for a disturbance and answers that. This one is for plants
    that may drift so far that K no longer stabilises them; short of that it is no cheaper on average, see the notes.

    Parameters
    ----------
    system : System
        The plant as it is thought to be; the controller uses its nominal (A, B). It must have no delay or lag.
    K : array of shape (du, dx), optional
        Gain that stabilises the plant; `lqr` with the weights of `cost`, or unit weights, when left out.
    cost : Cost, optional
        The cost that is to be expected, for the gain and for the controller inside.
    controller : callable, default SelfTunedController
        Makes the controller inside, called as ``controller(system, K=, input_bound=, cost=, horizon=None)``, with those
        of the keywords that it takes.
    input_bound : float or array of shape (du,) or (du, 2), optional
        Largest size of each input, or rows [low, high].
    on_bad_input : {"raise", "skip"}, default "raise"
        What to do about input that is refused; see `Controller`.

    Attributes
    ----------
    status : str
        "nominal" while it goes by the plant that was given, "adapted" while it goes by a correction.
    model : LinearSystem
        The plant that it goes by.
    gain : array of shape (du, dx)
        The gain that it goes by.
    inner : Controller
        The controller in charge.
    health : Health or None
        How the controller in charge is.
    log : tuple of Event
        What happened, each with its `round`, `status` and `text`.

    Notes
    -----
    Nothing is proved. No probes are added to the inputs, so that A and B are corrected as far as disturbances and the
    controller itself excite the plant: `model` foresees states under this controller, and need not be the plant. A
    disturbance that is correlated over time may look like another A; it is told from it, as far as that goes, by an
    autoregression of order 20 that every model is judged with. Every 25 rounds the models are judged by a likelihood
    ratio over about 250 rounds; its logarithm must reach 16. The fit remembers about 330 rounds, so drifts that are
    faster than that are followed late.

    Measured by ``driftwise reproduce control``, in the study "Plants that drift": seven plants drift by 20 or 40 %, and
    LQR stays stable around them. They are not held out for this class: that a correction is taken back was added
    because of one of them, where it had cost 50 times as much without. It cost 1.005 times what `SelfTunedController`
    does in the geometric mean of 108 settings, 0.87 at best and 1.44 at worst. A correction was adopted in 24 of them;
    in these it cost 1.022 times as much.

    A round takes some 50 microseconds more than one of the controller inside, every 25th some milliseconds, and one
    in which a correction is considered as long as 4000 of its rounds; they are at least 100 rounds apart, and ever
    further the more are refused.

    References
    ----------
    .. [1] Astrom, Wittenmark, "Adaptive Control", 2nd ed., 1995, on least squares with forgetting, and on the caution
       that it takes.

    Examples
    --------
    >>> import numpy as np
    >>> from driftwise import control
    >>> plant = control.LinearSystem([[1.2]], [[1.0]])
    >>> t, rng = np.arange(2000), np.random.default_rng(0)
    >>> ramp = np.clip(t / 1000.0, 0.0, 1.0)[:, None, None]
    >>> drifting = control.TimeVaryingSystem(plant.A, plant.B, changes_A=0.3 * ramp, changes_B=-0.5 * ramp)
    >>> waves = 0.3 * np.sin(np.pi * t / 10.0)[:, None] + 0.1 * rng.standard_normal((2000, 1))
    >>> controller = control.AdaptiveController(plant)
    >>> trace = control.simulate(drifting, controller, control.QuadraticCost(1.0, 1.0), waves)
    >>> controller.status, bool(abs(controller.model.B[0, 0] - 0.5) < 0.3)
    ('adapted', True)
    """

    state_names = ()

    def __init__(
        self,
        system: System,
        K: ArrayLike | None = None,
        *,
        cost: Cost | None = None,
        controller: Callable[..., Controller] = SelfTunedController,
        input_bound: ArrayLike | None = None,
        on_bad_input: str = "raise",
    ) -> None:
        owner = "AdaptiveController"
        instance(owner, "system", system, System, PLANT_HINT)
        self._make = read_maker(owner, controller, "SelfTunedController")
        if system.delay or system.lag is not None:
            raise ParameterError(
                f"{owner}: plants with a delay or a lag are not supported, as only A and B are corrected; leave both "
                "out (SelfTunedController finds them by itself), or use SelfTunedController."
            )
        super().__init__(system.state_dim, system.input_dim, None, input_bound, on_bad_input=on_bad_input)
        if cost is not None:
            instance(owner, "cost", cost, Cost, "QuadraticCost(1.0, 1.0)")
            cost.probe(self.state_dim, self.input_dim)
        weights = weights_of(cost, self.state_dim, self.input_dim)
        gain, _ = stable_loop(owner, system, lqr(system, *weights) if K is None and weights is not None else K)
        self.system = system
        self.K = read_only(gain)
        self._cost = cost
        self._tracker = Tracker(system.A, system.B)
        self._rounds: deque[Round] = deque(maxlen=WINDOW + 1)
        self._gain = self.K
        self._inner = self._controller_for(system, self.K)
        self._leaving: Controller | None = None
        self._left = 0
        self._wait, self._pause = FIRST, PAUSE
        self._events: deque[Event] = deque(maxlen=LOGGED)
        self._began = self._seen = self._shift = 0
        self._paid, self._used_to_pay, self._before = 0.0, 0.0, np.inf
        self.status = NOMINAL

    @property
    def _may_miss(self) -> bool:
        return self.guard is not None or super()._may_miss

    def _saved(self) -> dict[str, Any]:
        """Return the state: the models, the rounds that were seen, and the controllers in charge."""
        known = {name: getattr(self, f"_{name}") for name in (*COUNTS, *NUMBERS, "inner", "leaving")}
        seen = {"past": saved_rounds(self._rounds), "models": saved_tracker(self._tracker)}
        return {
            **super()._saved(),
            **known,
            **seen,
            "gain": self._gain.copy(),
            "events": saved_events(self._events),
            "status": self.status,
        }

    def _resume(self, saved: dict[str, Any]) -> None:
        """Continue from a state that was saved."""
        owner, (n, du) = type(self).__name__, (self.state_dim, self.input_dim)
        others = ("inner", "leaving", "gain", "past", "models", "events", "status")
        known = {name: saved.pop(name) for name in (*COUNTS, *NUMBERS, *others)}
        inner, leaving = (resumed_inside(owner, known[name], n, du) for name in ("inner", "leaving"))
        if inner is None:
            raise CheckpointError(f"{owner}: there is no controller in charge.")
        self._inner, self._leaving = inner, leaving
        super()._resume(saved)
        for name in COUNTS:
            self.__dict__[f"_{name}"] = whole(owner, name, known[name], low=-(2**53) if name == "shift" else 0)
        for name in NUMBERS:
            expect(owner, "a state", {name: isinstance(known[name], float) and known[name] == known[name]})
            self.__dict__[f"_{name}"] = known[name]
        rounds = resumed_rounds(owner, known["past"], n, du)
        expect(owner, "a state", {"rounds": len(rounds) <= WINDOW + 1, "weights": self._left <= FADE})
        self._rounds.extend(rounds)
        self._gain = read_only(array(owner, "gain", known["gain"], (du, n)))
        resume_tracker(owner, self._tracker, known["models"])
        self._events.extend(resumed_events(owner, known["events"]))
        self.status = choice(owner, "status", known["status"], (NOMINAL, ADAPTED))

    def _controller_for(self, system: System, gain: Array) -> Controller:
        bound = self.input_bound if np.isfinite(self.input_bound).any() else None
        options: dict[str, Any] = {"K": gain, "input_bound": bound, "cost": self._cost, "horizon": None}
        if self.on_bad_input == "skip":
            options["on_bad_input"] = "skip"
        return made(self._make, system, options)

    @property
    def model(self) -> LinearSystem:
        """The plant that it goes by at present."""
        both, n = self._tracker.current.matrix, self.state_dim
        return LinearSystem(both[:, :n], both[:, n:])

    @property
    def gain(self) -> Array:
        """The gain K of u = -K x that it goes by at present."""
        return self._gain

    @property
    def inner(self) -> Controller:
        """The controller in charge."""
        return self._inner

    @property
    def guard(self) -> Any:
        """The guard of the controller in charge, None if it has none."""
        return getattr(self._inner, "guard", None)

    @property
    def health(self) -> Any:
        """How the controller in charge is, None if it does not say."""
        return getattr(self._inner, "health", None)

    @property
    def log(self) -> tuple[Event, ...]:
        """What happened, oldest first: models that were adopted, refused or left, and what the guard did."""
        return tuple(sorted([*self._events, *self._of_inner()], key=lambda event: event.round))

    def _of_inner(self) -> list[Event]:
        """Return what the controller in charge has to say of the rounds in which it was."""
        events = [event._replace(round=event.round + self._shift) for event in getattr(self._inner, "log", ())]
        return [event for event in events if event.round >= self._began]

    @property
    def weights(self) -> Array:
        """Weights of the base-learners of the controller in charge."""
        return self._inner.weights

    def _say(self, status: str, text: str) -> None:
        self.status = status
        self._events.append(Event(self.round, status, text))
        _logger.info("round %d: %s", self.round, text)

    def _read_state(self, x: ArrayLike | None) -> Array:
        if self.guard is None:
            return super()._read_state(x)  # type: ignore[arg-type]
        if x is None:
            return np.full(self.state_dim, np.nan)
        given = loose(f"{type(self).__name__}.act", "x", x)
        if given.shape == (self.state_dim,) and given.dtype.kind in "fiu":
            return np.array(given, dtype=float)
        return super()._read_state(x)

    def _decide(self, x: Array) -> Array:
        u = self._inner.act(x)
        if self._leaving is None:
            return u
        try:
            old = self._leaving.act(x)
        except DriftwiseError:
            self._leaving = None
            return u
        share = self._left / FADE
        return np.asarray((1.0 - share) * u + share * old)

    def _decide_blind(self, seen: Array) -> Array:
        self._leaving = None  # one hands over to the next by what both say of a state
        return self._inner.act(None if self._inner._may_miss else seen)  # type: ignore[arg-type]

    def _miss(self, x: Array, applied: Array) -> None:
        self._inner.skip(applied=applied)
        if self._leaving is not None:
            self._leaving.skip(applied=applied)
        known = self._last_known is None and bool(np.abs(x).max() <= LARGEST)
        if known and self._rounds:  # A and B are corrected by this round too; its cost is taken to be the last one
            self._rounds.append(Round(x, applied, applied, self._rounds[-1].cost))
        else:
            self._rounds.clear()

    def _learn(self, x: Array, applied: Array, cost: Cost) -> None:
        known = bool(np.abs(x).max() <= LARGEST)
        # Before anything is learnt: a cost of the user's own may refuse this state.
        paid = float(cost.value(x, applied)) if known else 0.0
        self._inner.observe(cost, applied=applied)
        if self._leaving is not None:
            self._left -= 1
            try:
                self._leaving.observe(cost, applied=applied)
            except DriftwiseError:
                self._left = 0
            if self._left <= 0:
                self._leaving = None
        if not known or (self._rounds and self._tracker.jumped(self._rounds[-1], x)):
            self._rounds.clear()
            return
        self._rounds.append(Round(x, applied, applied, cost))
        self._seen += 1
        self._paid += (paid - self._paid) / min(self._seen, RECENT)
        self._used_to_pay += (paid - self._used_to_pay) / min(self._seen, USUAL)
        try:
            if self.status == ADAPTED and self._paid > HARM * self._before and len(self._rounds) > BLOCK:
                self._take_back()
            if self._seen % BLOCK == 0 and len(self._rounds) > 2 * BLOCK:
                self._look(cost)
        except np.linalg.LinAlgError:
            self._rounds.clear()
        except DriftwiseError as error:  # the round is over: what would have taken over does not
            self._say(self.status, f"another model cannot be used: {error}")

    def _look(self, cost: Cost) -> None:
        """Judge the models by the last rounds, and change the one in use if that is called for."""
        rounds = list(self._rounds)
        past = Past.of(rounds[:-1], rounds[-1].state)
        tracker = self._tracker
        with np.errstate(all="ignore"):
            tracker.look(past)
            if tracker.fitted is None or self._leaving is not None:
                return
            for_nominal = tracker.evidence(tracker.nominal, tracker.current)
            for_fitted = tracker.evidence(tracker.fitted, tracker.current)
        if self.status == ADAPTED and for_nominal > BACK:
            self._hand_over(self.system, self.K, past, rounds[-1])
            tracker.go_back()
            self._say(
                NOMINAL, f"back to the model that was given: it foresees states better (evidence {for_nominal:.3g})"
            )
        elif for_fitted > STRONG and self._seen >= self._wait:
            self._pause = PAUSE if self._consider(for_fitted, cost, past, rounds[-1]) else min(2 * self._pause, LONGEST)
            self._wait = self._seen + self._pause

    def _take_back(self) -> None:
        """Go back to the model that was given at once: the one that was adopted does harm."""
        rounds = list(self._rounds)
        self._hand_over(self.system, self.K, Past.of(rounds[:-1], rounds[-1].state), rounds[-1])
        self._tracker.go_back()
        self._leaving, self._pause, self._wait = None, LONGEST, self._seen + LONGEST
        ratio = self._paid / self._before if self._before > 0.0 else np.inf
        self._say(NOMINAL, f"back to the model that was given: costs are {ratio:.3g} times those before the correction")

    def _consider(self, evidence: float, cost: Cost, past: Past, last: Round) -> bool:
        """Adopt the fitted model if that is safe and worth it."""
        tracker, n = self._tracker, self.state_dim
        assert tracker.fitted is not None
        A, B = tracker.fitted.matrix[:, :n], tracker.fitted.matrix[:, n:]
        drawn = tracker.draw(DRAWN, np.random.default_rng(self._seen))
        text = "a corrected model foresees states better"
        try:
            system = LinearSystem(A, B)
            gain = self._gain_for(system, drawn, cost)
            if gain is None:
                self._say(self.status, f"{text} (evidence {evidence:.3g}), but no gain is safe for what it leaves open")
                return False
            plants = [(A, B), *((drawn[0][i], drawn[1][i]) for i in range(PLAYED))]
            old = self.model if self.status == ADAPTED else self.system
            new_one, old_one = (
                partial(self._controller_for, system, gain),
                partial(self._controller_for, old, self._gain),
            )
            ratios = [over(by(new_one()), by(old_one()), plant, past) for plant in plants]
            wrong = over(by(new_one()), by(old_one()), (self.model.A, self.model.B), past)
        except DriftwiseError as error:
            self._say(self.status, f"{text}, but cannot be used: {error}")
            return False
        outcome = f"{np.mean(ratios):.2f} of the cost if it is right, {wrong:.2f} if it is not"
        if np.mean(ratios) > WORTH or max(ratios) > WORST or wrong > WRONG:
            self._say(self.status, f"{text} (evidence {evidence:.3g}), but is not worth it: {outcome}")
            return False
        self._hand_over(system, gain, past, last)
        tracker.adopt()
        if self.status == NOMINAL:
            self._before = self._used_to_pay
        self._say(ADAPTED, f"{text} (evidence {evidence:.3g}) and is adopted: {outcome}")
        return True

    def _gain_for(self, system: LinearSystem, drawn: tuple[Array, Array], cost: Cost) -> Array | None:
        """Return the best gain for a model if it is safe on most plants around it, else the present one if that is."""
        weights = weights_of(cost, self.state_dim, self.input_dim)
        for gain in ([] if weights is None else [lqr(system, *weights)]) + [self._gain]:
            radii = np.abs(np.linalg.eigvals(drawn[0] - drawn[1] @ gain)).max(axis=1)
            if np.mean(radii < MARGIN) >= STABLE and spectral_radius(system.A - system.B @ gain) < MARGIN:
                return gain
        return None

    def _hand_over(self, system: System, gain: Array, past: Past, last: Round) -> None:
        """Let another controller take over, which has seen the last rounds."""
        new = self._controller_for(system, gain)
        replay(new, past)
        new.act(last.state)
        new.observe(last.cost, applied=last.input)
        self._events.extend(self._of_inner())
        self._leaving, self._left, self._began = self._inner, FADE, self.round + 1
        self._shift = self._began - new.round
        self._inner, self._gain = new, read_only(gain)
