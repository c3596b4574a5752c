"""Explore, then commit: control of a plant whose A and B are not known (Section 5.3 of the paper, Algorithm 4)."""

import logging
import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from driftwise._validate import Array, choice, number, read_only, seeded, whole
from driftwise.control.controllers.base import Controller
from driftwise.control.controllers.named import ScreamController
from driftwise.control.costs import Cost
from driftwise.control.identification.identify import Identified, identify
from driftwise.control.identification.methods import METHODS
from driftwise.control.plants import as_matrix
from driftwise.control.policies.scales import WIDTH, gain_size, loop_memory
from driftwise.control.stability import spectral_radius
from driftwise.errors import DriftwiseError, ParameterError

EXPLORING, COMMITTED, FALLBACK = "exploring", "committed", "fallback"

MARGIN = 3.0
"""Multiple of its estimated error that an estimate is assumed to be off by."""

GAIN = 0.9
"""Largest gain of the loop through these errors; the small-gain theorem needs it to be below 1."""

GUARD = 10.0
"""The guard steps in when the state is this many times as large as exploration ever made it."""

HOLD = 100
"""Rounds with a state of the usual size before the learned policy comes back; twice as many each time."""

PATIENCE = 1.25
"""Factor by which the rounds of data grow before a commit that was refused is tried again."""

LONGEST = 100_000
"""Rounds of data that are kept, the newest, however long exploration takes."""

_logger = logging.getLogger("driftwise")


class Event(NamedTuple):
    """Something that an operator should know of."""

    round: int
    status: str
    text: str


class ExploreThenCommit(Controller):
    """Learns what the plant is by probing it, and hands over to a controller that needs to know it.

    Plays u = -K x plus random signs for a while, estimates A and B, and commits to a controller for the estimate. It
    commits only when K, and every policy that the controller may learn, keep all plants stable that are within three
    times the estimated error; until then it goes on exploring. After that, whenever the state becomes ten times as
    large as it was while exploring, it falls back on u = -K x and comes back later; `log` says when and why.

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
        Rounds of exploration before the first attempt to commit; T^(2/3) when left out, as the theorem asks.
    probe : float, default 1.0
        Size of the probes, in units of the input.
    order : int, optional
        k of `identify`; the number of states when left out.
    method : {"iv", "moments", "ols"}, default "iv"
        How A and B are estimated; see `identify`.
    controller : callable, default ScreamController
        Makes the controller to commit to, called as ``controller(system, horizon=, K=, memory=, radii=,
        input_bound=)``.
    memory : int, optional
        H, the number of past disturbances that its policies answer to; enough for the loop of the estimate when left
        out.
    input_bound : float or array of shape (du,), optional
        Largest size of each input.

    Attributes
    ----------
    status : str
        "exploring", "committed" or "fallback".
    identified : Identified or None
        The last estimate.
    committed : Controller or None
        The controller in charge after the commit.
    log : list of Event
        What happened: refused attempts, the commit, fallbacks.

    Notes
    -----
    Theorem 8 is about this scheme with the paper's own parts: dynamic policy regret O(sqrt(T (1 + P)) + T^(2/3)) up to
    logarithms with high probability, for a linear plant that is strongly controllable, T large and known, T^(2/3)
    rounds of exploration, `method` "moments", and a `controller` for which Theorem 7 holds. By default nothing is
    proved: `guarantee` says what holds for the controller at hand.

    What is checked before a commit is a small-gain condition: with A and B
    off by at most so much, the disturbance that the controller recovers contains its own states and inputs multiplied
    by these errors, and the loop through them must have a gain below 1. The radii of the policies are reduced until it
    has. That is no proof for the plant itself: the error is an estimate (the truth was within three times of it in 99 %
    of cases), inputs that are clipped are not covered, nor is a `controller` that does not keep to its radii. The guard
    is there for the rest.

    References
    ----------
    .. [1] Hazan, Kakade, Singh, "The nonstochastic control problem", ALT 2020.

    Examples
    --------
    >>> import driftwise as dw
    >>> plant = dw.control.double_integrator()
    >>> controller = dw.control.ExploreThenCommit(K=[[0.4, 1.2]], state_dim=2, input_dim=1, horizon=20_000, seed=1)
    >>> waves = dw.control.SinusoidDisturbance(0.3, period=40.0, seed=1)
    >>> trace = dw.control.simulate(plant, controller, dw.control.QuadraticCost(1.0, 1.0), waves, rounds=2000)
    >>> controller.status, controller.identified.rounds
    ('committed', 737)
    """

    def __init__(
        self,
        *,
        K: ArrayLike,
        state_dim: int,
        input_dim: int,
        horizon: int | None = None,
        seed: int | np.random.Generator = 0,
        exploration: int | None = None,
        probe: float = 1.0,
        order: int | None = None,
        method: str = "iv",
        controller: Callable[..., Controller] = ScreamController,
        memory: int | None = None,
        input_bound: ArrayLike | None = None,
    ) -> None:
        owner = "ExploreThenCommit"
        super().__init__(state_dim, input_dim, horizon, input_bound)
        self.K = read_only(as_matrix(owner, "K", K, (self.input_dim, self.state_dim)))
        self.probe = number(owner, "probe", probe, low=0.0, exclusive=True)
        self.order = self.state_dim if order is None else whole(owner, "order", order)
        self.method = choice(owner, "method", method, tuple(METHODS))
        self.memory = None if memory is None else whole(owner, "memory", memory)
        if not callable(controller):
            raise ParameterError(
                f"{owner}: controller must make a controller, such as ScreamController, got {controller!r}."
            )
        if exploration is None and self.horizon is None:
            raise ParameterError(f"{owner}: give the horizon, or the rounds of exploration=.")
        budget = math.ceil((self.horizon or 0) ** (2.0 / 3.0)) if exploration is None else exploration
        self.exploration = whole(owner, "exploration", budget)
        self._make = controller
        self._rng = seeded(owner, seed)
        self._next = self.exploration
        self._past: list[tuple[Array, Array, Array]] = []  # states, inputs and probes while exploring
        self._sign = np.zeros(self.input_dim)
        self._bound = 0.0
        self._hold = self._held = 0
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
        if self.horizon is None or self.method != "moments" or self.exploration < least:
            return (
                f"{none}: Theorem 8 needs a known horizon T, at least T^(2/3) rounds of exploration and the method "
                f"'moments', and here they are {self.horizon}, {self.exploration} and {self.method!r}."
            )
        if self.committed is None:
            return f"{none} before the commit: Theorem 8 rests on the controller that is committed to."
        if not isinstance(self.committed, ScreamController):
            return f"{none}: Theorem 8 is for a ScreamController, and it committed to {self.committed!r}."
        objection = self.committed.objection(anywhere=True)
        if objection is not None:
            return f"{none} for the controller that it committed to, which Theorem 8 rests on. {objection}"
        return (
            "Theorem 8: dynamic policy regret O(sqrt(T (1 + P_T)) + T^(2/3)), up to logarithms, with high probability, "
            "on the linear system itself, if it is strongly controllable and strongly stable under K, "
            f"T = {self.horizon} is large enough for the estimate, H grows like log T (with H = "
            f"{self.committed.memory} as it is, an error of truncation linear in T is left), and, as the estimated "
            f"plant explains the states, {self.committed.constants.condition}."
        )

    def _say(self, status: str, text: str) -> None:
        self.status = status
        self.log.append(Event(self.round, status, text))
        _logger.log(logging.WARNING if status == FALLBACK else logging.INFO, "round %d: %s", self.round, text)

    def _decide(self, x: Array) -> Array:
        if self.committed is None and len(self._past) >= self._next:
            self._attempt(x)
        if self.committed is None:
            self._sign = self.probe * self._rng.choice([-1.0, 1.0], self.input_dim)
            return np.asarray(self._sign - self.K @ x)
        u = self.committed.act(x)
        return np.asarray(-self.K @ x) if self._guarded(x) else u

    def _learn(self, x: Array, applied: Array, cost: Cost) -> None:
        if self.committed is not None:
            self.committed.observe(cost, applied=applied)
            return
        self._past.append((x, applied, self._sign))
        if len(self._past) > LONGEST:
            del self._past[: LONGEST // 2]
        self._bound = max(self._bound, float(np.linalg.norm(x)))

    def _attempt(self, x: Array) -> None:
        """Commit if the data allow it, else say why not and when to try again."""
        self._next = min(math.ceil(PATIENCE * len(self._past)), LONGEST)
        try:
            states, inputs, probes = zip(*self._past, strict=True)
            found = self.identified = identify([*states, x], inputs, probes, self.K, self.order, method=self.method)
            H = loop_memory(found.A - found.B @ self.K) if self.memory is None else self.memory
            radii = safe_radii(found, self.K, H)
            if radii is None:
                text = f"the estimate, off by about {found.error:.3g}, does not prove K safe"
            else:
                left = None if self.horizon is None else self.horizon - self.round
                bound = self.input_bound if np.isfinite(self.input_bound).all() else None
                options = {"horizon": left, "K": self.K, "memory": H, "radii": radii, "input_bound": bound}
                self.committed = self._make(found.system, **options)
                self._past = []
                kept = radii[0] / (WIDTH * gain_size(found.system, self.K))
                self._say(
                    COMMITTED,
                    f"committed to {type(self.committed).__name__} for an estimate from {found.rounds} rounds that is "
                    f"off by about {found.error:.3g}, with policies of {kept:.0%} of the usual size",
                )
                return
        except DriftwiseError as error:
            text = str(error)
        self._say(EXPLORING, f"goes on exploring, at least until there are {self._next} rounds of data: {text}")

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


def safe_radii(found: Identified, K: Array, memory: int) -> Array | None:
    """Return radii of policies that are safe on every plant near the estimate, or None if even M = 0 may not be.

    Let A_K be off by at most e and B by at most e_B. In the loop of the estimate the controller sees the disturbance
    w + (error of A_K) x + (error of B) s, where s is what its policy adds to -K x. In mean square, s is at most m times
    that disturbance, where m is the sum of the radii, and x at most p + q m times, where p and q are the peak gains of
    (z - A_K)^-1 and (z - A_K)^-1 B over the unit circle. The loop through the errors is stable if its gain
    e (p + q m) + e_B m is below 1 (the small-gain theorem); 0.9 is asked for, with errors taken three times.
    """
    e, e_B = MARGIN * found.error_loop, MARGIN * found.error_B
    system = found.system
    closed = system.A - system.B @ K
    if spectral_radius(closed) >= 1.0:
        return None
    p, q = _peak_gains(closed, system.B)
    room = GAIN - e * p
    if room <= 0.0:
        return None
    usual = np.full(memory, WIDTH * gain_size(system, K))
    return np.asarray(usual * min(1.0, room / max(e * q + e_B, 1e-300) / float(usual.sum())))


def _peak_gains(closed: Array, B: Array) -> tuple[float, float]:
    """Return the peaks over the unit circle of the norms of (z - A_K)^-1 and (z - A_K)^-1 B.

    They are looked for on a grid of angles and at those of the eigenvalues, and then ever closer around the highest
    found.
    """
    grid, peaks = np.concatenate([np.linspace(0.0, np.pi, 257), np.abs(np.angle(np.linalg.eigvals(closed)))]), []
    for gain in (np.eye(len(closed)), B):
        angles, width = grid, np.pi / 256.0
        for _ in range(6):
            inverses = np.linalg.inv(np.exp(1j * angles)[:, None, None] * np.eye(len(closed)) - closed)
            norms = np.linalg.norm(inverses @ gain, 2, axis=(1, 2))
            highest = angles[np.argsort(norms)[-5:]]
            angles = (highest[:, None] + np.linspace(-width, width, 33)).ravel()
            width /= 16.0
        peaks.append(float(norms.max()))
    return peaks[0], peaks[1]
