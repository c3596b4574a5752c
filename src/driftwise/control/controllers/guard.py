"""What a guard is told, what it reports, and how it says so; the guard itself is in ``policies.guard``."""

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from driftwise._settings import Fixed
from driftwise._validate import Array, array, instance, loose, number, read_only
from driftwise.control.policies import guard as kinds
from driftwise.control.policies import layout as slot
from driftwise.errors import ParameterError


class Event(NamedTuple):
    """Something that an operator should know of.

    Parameters
    ----------
    round : int
        When it happened.
    status : str
        What the controller was from then on.
    text : str
        What happened, and why.

    Examples
    --------
    >>> import driftwise as dw
    >>> controller = dw.control.LinearController(dw.control.double_integrator(), guard=True)
    >>> for x in ([1.0, 0.0], None):
    ...     u = controller.act(x)
    ...     controller.observe(dw.control.QuadraticCost(1.0, 1.0))
    >>> controller.log[0].round, controller.log[0].status
    (1, 'fallback')
    """

    round: int
    status: str
    text: str


LEARNING, FALLBACK, RETURNING = "learning", "fallback", "returning"
"""What a guarded controller may be doing: as it likes, u = -K x, or on its way back from that."""


class Guard(Fixed):
    """Settings of the guard of a controller; ``guard=True`` stands for ``Guard()``.

    A guarded controller falls back on u = -K x when the energy of the disturbances that it recovers grows beyond ten
    times what was usual and goes on growing (its model may be wrong, and its own inputs come back at it), when a state
    is beyond `state_bound`, and when a sample is missing, not a number or late. What is learnt fades within three
    rounds and comes back without a jump; nothing is learnt from samples that were lost. ``controller.health`` says how
    it is, and ``controller.log`` what happened.

    Parameters
    ----------
    state_bound : float or array of shape (dx,), optional
        Largest size of every state; beyond it u = -K x takes over until the loop has settled. No bound when left out:
        what is usual is learnt from the first twenty rounds in which the plant is disturbed.
    deadline : float, optional
        Longest time between two samples, in seconds of the clock. A sample that comes later is used, but nothing is
        learnt from it.
    clock : callable, optional
        Returns the time in seconds; ``time.monotonic`` when left out. Give your own for tests, or the clock of your
        machine; a controller with such a guard cannot be saved, as a clock is code.

    Examples
    --------
    >>> import driftwise as dw
    >>> plant = dw.control.double_integrator()
    >>> controller = dw.control.SelfTunedController(plant, guard=dw.control.Guard(state_bound=[5.0, 2.0]))
    >>> for x in ([1.0, 0.0], [0.8, -0.2], None, [6.0, 0.0]):
    ...     u = controller.act(x)
    ...     controller.observe(dw.control.QuadraticCost(1.0, 1.0))
    >>> for event in controller.log:
    ...     print(event.round, event.text)
    2 the sample is missing: the model goes on in its place, and what is learnt fades
    3 state 0 is beyond its bound: u = -K x takes over until the loop settles
    """

    def __init__(
        self,
        state_bound: ArrayLike | None = None,
        deadline: float | None = None,
        clock: Callable[[], float] | None = None,
    ) -> None:
        given = None if state_bound is None else loose("Guard", "state_bound", state_bound)
        if given is not None:
            given = array("Guard", "state_bound", given, given.shape if given.ndim < 2 else ("states",), copy=True)
            if not (given > 0.0).all():
                raise ParameterError("Guard: state_bound must be above 0 for every state.")
        self.state_bound = None if given is None else read_only(given)
        self.deadline = None if deadline is None else number("Guard", "deadline", deadline, low=0.0, exclusive=True)
        clock = time.monotonic if clock is None else clock
        if not callable(clock):
            raise ParameterError(f"Guard: clock must return the time in seconds when called, got {clock!r}.")
        self.clock = clock

    def _configuration(self) -> dict[str, Any]:
        """Return what builds it again; a clock of one's own is code, which is not saved."""
        known = super()._configuration()
        return known if self.clock is not time.monotonic else {**known, "clock": None}


def read_guard(owner: str, guard: bool | Guard) -> Guard | None:
    """Return the settings of a guard, None if there is none."""
    if isinstance(guard, Guard):
        return guard
    return Guard() if instance(owner, "guard", guard, bool, "True, False or Guard(deadline=0.01)") else None


@dataclass(frozen=True)
class Health:
    """How a controller is.

    Attributes
    ----------
    status : {"learning", "fallback", "returning"}
        Whether what is learnt is in use, is not, or is on its way back.
    share : float
        What is learnt comes times this: 1 if all is well, 0 at u = -K x.
    most : float
        The largest share that the guard, and margins that were asked for, allow at present.
    lost : int
        Samples in a row that were missing or late.
    strikes : int
        How often what was learnt turned out to do harm.
    model : str
        The delay, gain and lag of the actuator that the controller goes by.
    events : int
        Number of events so far.

    Examples
    --------
    >>> import driftwise as dw
    >>> controller = dw.control.LinearController(dw.control.double_integrator(), guard=True)
    >>> for x in ([1.0, 0.0], None):
    ...     u = controller.act(x)
    ...     controller.observe(dw.control.QuadraticCost(1.0, 1.0))
    >>> print(controller.health)
    fallback: 25% of what is learnt is in use, 1 samples lost
    """

    status: str
    share: float
    most: float
    lost: int
    strikes: int
    model: str
    events: int

    @property
    def good(self) -> bool:
        """Whether what is learnt is in use, to the full."""
        return self.status == LEARNING and self.most == 1.0

    def __str__(self) -> str:
        parts = [f"{self.status}: {self.share:.0%} of what is learnt is in use"]
        parts += [f"at most {self.most:.0%} is allowed"] if self.most < 1.0 else []
        parts += [f"{self.lost} samples lost"] if self.lost else []
        parts += [f"actuator: {self.model}"] if self.model != "none" else []
        return ", ".join(parts)


def health_of(cell: Array, model: str) -> Health:
    """Return how a controller is, from its cell."""
    share, most = float(cell[slot.SHARE]), float(min(cell[slot.CAP], cell[slot.ALLOWED]))
    resting = cell[slot.RESTING] > 0.0 or cell[slot.LOST] > 0.0
    status = FALLBACK if resting or (share == 0.0 < most) else LEARNING if share >= most else RETURNING
    lost, strikes, events = (int(cell[place]) for place in (slot.LOST, slot.STRIKES, slot.EVENTS))
    return Health(status, share, most, lost, strikes, model, events)


_TEXTS = {
    kinds.TRIPPED: (
        FALLBACK,
        "disturbances grow, to {value:.3g} times the usual energy: u = -K x takes over until the loop settles",
    ),
    kinds.BOUND: (FALLBACK, "state {value:.0f} is beyond its bound: u = -K x takes over until the loop settles"),
    kinds.GUILTY: (
        RETURNING,
        "u = -K x has calmed the plant, so what was learnt did harm: it begins again, with {value:.3g} of the say",
    ),
    kinds.INNOCENT: (RETURNING, "{why}: what is learnt comes back"),
    kinds.TRUSTED: (RETURNING, "all has been calm: what is learnt may have {value:.3g} of the say"),
    kinds.MISSING: (FALLBACK, "the sample is missing: the model goes on in its place, and what is learnt fades"),
    kinds.LATE: (FALLBACK, "the sample is late, after {value:.3g} s: nothing is learnt from it"),
    kinds.OUT_OF_RANGE: (FALLBACK, "the sample is out of range: the model goes on in its place"),
    kinds.COSTLY: (FALLBACK, "the cost of the round is out of range: nothing is learnt from it"),
    kinds.NOT_FINITE: (FALLBACK, "what is learnt is no longer a number, and was left out"),
    kinds.SPIKE: (
        FALLBACK,
        "a disturbance is {value:.3g} times as energetic as usual: what is learnt fades while that lasts",
    ),
    kinds.FORGOTTEN: (LEARNING, "a burst of huge disturbances is over: what was learnt in it is forgotten"),
    kinds.LIMITED: (LEARNING, "the margins that were asked for allow {value:.0%} of what is learnt"),
    kinds.ADOPTED: (LEARNING, "states are foreseen better with another actuator; from now on: {model}"),
}
"""What the kinds of event mean for the status, and how they are put in words."""


KINDS = tuple(_TEXTS)
"""All kinds of event."""


def told(row: Array, name: Callable[[int], str]) -> Event:
    """Return an event from its numbers; `name` says what a model of the actuator is called."""
    when, kind, value = int(row[0]), float(row[1]), float(row[2])
    why = "states are within their bounds" if value < 0.0 else "disturbances are as large under u = -K x"
    status, text = _TEXTS[kind]
    model = name(int(value)) if kind == kinds.ADOPTED else ""
    return Event(when, status, text.format(value=value, why=why, model=model))


def log_of(cell: Array, rows: Array, name: Callable[[int], str]) -> tuple[Event, ...]:
    """Return the last events, oldest first."""
    count = int(cell[slot.EVENTS])
    return tuple(told(rows[k % slot.LOGGED], name) for k in range(max(0, count - slot.LOGGED), count))


def settle_time(closed: Array) -> int:
    """Return the rounds that a loop needs to settle: until a disturbance is down to a tenth, from 10 to 60."""
    power, rounds = np.linalg.matrix_power(closed, 10), 10
    while rounds < 60 and np.linalg.norm(power, 2) > 0.1:
        power, rounds = closed @ power, rounds + 1
    return rounds


def sight_of(closed: Array, K: Array) -> Array:
    """Return S such that ``|S w|^2`` is what a disturbance costs under u = -K x, for the cost x'x + u'u."""
    from scipy.linalg import LinAlgWarning, solve_discrete_lyapunov

    with warnings.catch_warnings():
        # With states in units that are far apart; the directions that are lost cost nothing beside the others.
        warnings.simplefilter("ignore", LinAlgWarning)
        P = solve_discrete_lyapunov(closed.T, np.eye(len(closed)) + K.T @ K)
    values, vectors = np.linalg.eigh(0.5 * (P + P.T))
    return np.asarray(np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T)
