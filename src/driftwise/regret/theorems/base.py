"""What every theorem about a run has: the run, a measure of regret, a bound, and assumptions that can be checked."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from driftwise._validate import Array
from driftwise.engine import Program
from driftwise.errors import ParameterError
from driftwise.learners import Ensemble, Learner
from driftwise.losses.base import DataLoss
from driftwise.movecost import MoveCost
from driftwise.optimum.values import read_comparators, read_run, step_lengths
from driftwise.regret.theorems import checks
from driftwise.trace import Trace


@dataclass(frozen=True)
class Assumption:
    """An assumption of a theorem.

    Attributes
    ----------
    name : str
        Subject of the assumption.
    holds : bool or None
        Whether it holds in this run; None if that was not, or cannot be, checked.
    text : str
        Finding in words.

    Examples
    --------
    >>> import driftwise as dw
    >>> learner = dw.OGD(dw.Ball(1), gradient_bound=1.0, horizon=3)
    >>> trace = dw.play(learner, dw.TrackingLoss([[1.0], [1.0], [-1.0]]))
    >>> for assumption in dw.regret.certificate(trace, [[0.5]] * 3).assumptions:
    ...     print(assumption)
    convexity       holds        TrackingLoss is convex
    gradient bound  NOT MET      the largest in the run is 2, the bound 1
    domain          holds        decisions and comparators lie in it
    horizon         holds        3 rounds planned, 3 played
    start           holds        a new learner
    """

    name: str
    holds: bool | None
    text: str

    def __str__(self) -> str:
        verdict = {True: "holds", False: "NOT MET", None: "not checked"}[self.holds]
        return f"{self.name:<15} {verdict:<12} {self.text}"


class Theorem(ABC):
    """A theorem about one kind of learner, applied to a run of it.

    A theorem for another learner is a subclass with `bound` and what it assumes beyond the usual, and an entry in
    `THEOREMS`.
    """

    name: ClassVar[str]
    """Where it is stated."""

    learner: Learner

    def __init__(self, owner: str, trace: Trace, comparators: ArrayLike) -> None:
        self.owner, self.trace = owner, trace
        self.losses = losses = read_run(owner, trace, None)
        learner = trace.learner
        assert isinstance(learner, Learner)
        self.learner, self.T = learner, len(losses)
        self.v = read_comparators(owner, comparators, self.T, learner.domain)
        self.paths = np.cumsum(step_lengths(self.v, self.norm))
        self.slopes = self._lengths(losses.unary_gradients(trace.decisions))
        self.seen, self.given = float(self.slopes.max()), self._given()
        self.G = max(self.seen, 1e-100) if self.given is None else float(self.given)
        self.cost: MoveCost = trace.price
        self.lambda_ = self.cost.largest(losses.dim, self.norm)
        self.of_memory: float | None = 0.0
        if losses.memory and self.counts_moves:
            try:
                self.of_memory = losses.switching_costs(learner.domain).tight
            except ParameterError:  # nothing is known about a custom loss
                self.of_memory = None

    norm: float = 2.0
    """Exponent of the norm that measures moves; gradients are measured in the dual one."""

    counts_moves: ClassVar[bool] = True
    """Whether the theorem is about regret with moves."""

    def _lengths(self, gradients: Array) -> Array:
        """Return the norm of every gradient that the theorem is about."""
        dual = np.inf if self.norm == 1.0 else self.norm / (self.norm - 1.0)
        return np.asarray(np.linalg.norm(gradients, ord=dual, axis=1))

    def _given(self) -> float | None:
        """Return the bound on gradients that the learner was built with, if it was."""
        given: float | None = getattr(self.learner, "gradient_bound", None)
        return given

    @property
    def program(self) -> Program:
        """The learner's configuration."""
        assert isinstance(self.learner, Ensemble)
        return self.learner.program

    @property
    def D(self) -> float:
        """Diameter of the domain."""
        return self.learner.domain.diameter

    @property
    def needed(self) -> float:
        """The switching cost that the theorem has to pay for: what moves are priced at, and what memory adds."""
        return self.lambda_ + (self.of_memory or 0.0)

    @property
    def statement(self) -> str:
        """Where it is stated, for the schedule at hand."""
        extended = self.shrinks and self.of_shrinking()[1]
        return f"{self.name}, for rates that shrink (page Proofs)" if extended else self.name

    @property
    def measure(self) -> str:
        """The kind of regret that the theorem is about, in words."""
        if not self.counts_moves:
            return "dynamic regret, moves not counted"
        kind = "dynamic policy regret" if self.losses.memory else "dynamic regret"
        price = self.cost if self.as_priced else f"{self.lambda_:g} on l{self.norm:g} movement"
        return f"{kind} with switching cost {price}"

    @property
    def as_priced(self) -> bool:
        """Whether moves are counted at the prices of the run; a number is a price in the norm of the theorem."""
        return self.norm == 2.0 or self.cost.plain is None

    def regret(self) -> Array:
        """Return the measured regret of the first t rounds, for every t."""
        decisions = self.trace.decisions
        if not self.counts_moves:
            return np.cumsum(self.losses.unary_losses(decisions) - self.losses.unary_losses(self.v))
        lengths = step_lengths(decisions, self.norm)
        moves = self.cost.along(decisions, lengths) if self.as_priced else self.lambda_ * lengths
        return np.cumsum(self.trace.losses - self.losses.policy_losses(self.v) + moves)

    def bound(self, t: int) -> float:
        """Return the bound for the first t rounds, from the learner's own constants.

        With the doubling trick it is the sum of the bounds of the blocks, each of which is a separate learner with a
        known horizon.
        """
        of_comparators = (self.of_memory or 0.0) * float(self.paths[t - 1])
        if not self.restarts:
            return self.of_rounds(0, t, max(self.learner.horizon or 0, self.T)) + of_comparators
        total, start, length = of_comparators, 0, self.program.epoch
        while start < t:  # blocks of 1, 2, 4, ... updates
            stop = min(start + length, t)
            total += self.of_rounds(start, stop, length)
            start, length = stop, 2 * length
        return total

    @abstractmethod
    def of_rounds(self, start: int, stop: int, tuned_for: int) -> float:
        """Return the bound for some rounds, with rates for `tuned_for` rounds; policy regret adds to it elsewhere."""

    def moving(self, start: int, stop: int) -> dict[str, Any]:
        """Return T, G, D and P of some rounds, as most bounds take them."""
        t, P = stop - start, float(self.paths[stop - 1] - self.paths[start])
        return {
            "horizon": t,
            "gradient_bound": self.G,
            "diameter": self.D,
            "path_length": min(P, self.D * (t - 1)),
        }

    @property
    def schedule(self) -> str:
        """The schedule of the rates: "fixed", "time-varying", "doubling" or "self-tuned"."""
        return self.program.schedule

    @property
    def shrinks(self) -> bool:
        """Whether rates shrink with the rounds so far."""
        return self.schedule == "time-varying"

    @property
    def restarts(self) -> bool:
        """Whether the run falls into blocks, with a theorem for each."""
        return self.schedule == "doubling"

    def assumptions(self) -> list[Assumption]:
        """Return the assumptions of the theorem, with what was found."""
        inside = self.learner.domain.contains(self.trace.decisions)
        return [
            self.of_convexity(),
            self.of_gradients(),
            Assumption("domain", inside, f"decisions and comparators {'lie' if inside else 'do not all lie'} in it"),
            self.of_horizon(),
            self.of_start(),
            *self.further(),
        ]

    def of_start(self) -> Assumption:
        """Say whether the learner was new."""
        played = self.learner.round
        if played:
            return Assumption("start", False, f"{played} rounds had been played before")
        if self.trace.hints is not None or (isinstance(self.learner, Ensemble) and self.program.heedless):
            return Assumption("start", False, "a hint had been given, and the theorem is for rounds without any")
        return Assumption("start", True, "a new learner")

    @property
    def own_gradients(self) -> bool:
        """Whether base-learners have gradients at their own points."""
        return isinstance(self.learner, Ensemble) and self.program.own_gradients

    @property
    def own_losses(self) -> bool:
        """Whether the losses are a user's own functions, of which nothing is known but what they state."""
        return not isinstance(self.losses, DataLoss)

    def of_convexity(self) -> Assumption:
        """Say whether the losses are convex, or where the run contradicts it."""
        if not self.own_losses:
            return Assumption("convexity", True, f"{type(self.losses).__name__} is convex")
        if breach := checks.convexity_breach(self.losses, self.trace.decisions, self.v):
            return Assumption("convexity", False, breach)
        text = "decisions and comparators agree with it in every round"
        if self.own_gradients:
            return Assumption("convexity", None, f"{text}; the base-learners' own points were not looked at")
        return Assumption("convexity", True, f"{text}, which is all that the theorem uses")

    def of_gradients(self) -> Assumption:
        """Compare the gradients of the run with the bound that was given."""
        if self.own_losses and (
            breach := checks.gradient_breach(self.losses, self.learner.domain, self.trace.decisions, self.v)
        ):
            return Assumption("gradient bound", False, breach)
        if self.given is None:
            text = f"none was given; the largest in the run, {self.seen:.6g}, is used"
            return Assumption("gradient bound", True, text)
        text, holds = f"the largest in the run is {self.seen:.6g}, the bound {self.G:.6g}", self.keeps(self.seen)
        if holds and self.own_gradients and not self.everywhere:
            text += "; those at the base-learners' own points were not looked at, and may be larger"
            return Assumption("gradient bound", None, text)
        return Assumption("gradient bound", holds, text)

    def keeps(self, size: float) -> bool:
        """Tell whether a gradient of this size keeps to the bound, up to rounding."""
        return size <= self.G * (1.0 + 1e-9)

    @property
    def everywhere(self) -> bool:
        """Whether no gradient of the losses is above the bound anywhere in the domain."""
        return isinstance(self.losses, DataLoss) and self.keeps(self.losses.gradient_bound(self.learner.domain))

    def of_horizon(self) -> Assumption:
        """Say what was known about the number of rounds, and whether the theorem needs it."""
        planned, proved = self.learner.horizon, True
        if self.schedule == "fixed":
            text = "constant rates need none" if planned is None else f"{planned} rounds planned, {self.T} played"
        elif self.restarts:
            text = "none needed: the bound is the sum over the blocks of doubling"
        else:
            text, proved = self.of_shrinking()
        return Assumption("horizon", proved, text)

    def of_shrinking(self) -> tuple[str, bool]:
        """Say what holds where rates shrink with the rounds so far, and whether that is proved."""
        return "none needed: the bound is that for rates that shrink with the rounds so far", True

    def further(self) -> list[Assumption]:
        """Return what the theorem assumes besides."""
        return [self.of_memory_loss()] if self.losses.memory else []

    def of_memory_loss(self) -> Assumption:
        """Say what is known about the memory of the losses."""
        if not self.counts_moves:
            return Assumption("memory", True, "not part of the measure, which compares unary losses")
        if self.of_memory is None:
            return Assumption("memory", None, "Lipschitz constants of custom losses are not known; give lipschitz=")
        text = f"counted as a switching cost of {self.of_memory:.6g}"
        if not self.own_losses:
            return Assumption("memory", True, text)
        constants = self.losses.lipschitz(self.learner.domain)
        used, breach = checks.memory_slopes(self.losses, constants, self.trace.decisions, self.v)
        text += f"; in every round slopes keep to the constants given, and reach {used:.0%} of them"
        return Assumption("memory", not breach, breach or text)
