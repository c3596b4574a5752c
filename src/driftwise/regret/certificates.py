"""A run next to its theorem: measured regret, bound, ratio, and which assumptions were checked on the data."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from driftwise._validate import Array, checked
from driftwise.errors import InputError, ParameterError
from driftwise.learners import OGD, Ader, Ensemble, Hedge, LazyScream, Learner, MirrorDescent, Scream
from driftwise.losses.base import DataLoss
from driftwise.mirror import Euclidean, NegativeEntropy
from driftwise.movecost import euclidean_price, largest_price
from driftwise.optimum.values import policy_losses, read_comparators, read_run, step_lengths, unary_losses, unary_slopes
from driftwise.regret import bounds
from driftwise.trace import Trace

THEOREMS: dict[type[Learner], str] = {
    OGD: "Theorem 1",
    MirrorDescent: "Appendix B.3, mirror descent",
    Hedge: "Appendix B.3, Hedge",
    Ader: "Ader, Theorems 3 and 4 of Zhang, Lu, Zhou 2018",
    Scream: "Theorem 3",
    LazyScream: "Theorem 5",
}


@dataclass(frozen=True)
class Assumption:
    """Something that a theorem takes for granted.

    Attributes
    ----------
    name : str
        What it is about.
    holds : bool or None
        Whether it holds in this run; None if that was not, or cannot be, checked.
    text : str
        What was found.
    """

    name: str
    holds: bool | None
    text: str

    def __str__(self) -> str:
        verdict = {True: "holds", False: "NOT MET", None: "not checked"}[self.holds]
        return f"{self.name:<15} {verdict:<12} {self.text}"


@dataclass(frozen=True)
class Certificate:
    """A measured regret and what the theory allows.

    Attributes
    ----------
    learner, theorem, measure : str
        Who played, which theorem speaks of it, and of which regret.
    measured, bound : float
        The regret of this run, and the bound with explicit constants.
    path_length : float
        P, of the comparators.
    assumptions : tuple of Assumption
        What the theorem takes for granted, and what was found.
    """

    learner: str
    theorem: str
    measure: str
    measured: float
    bound: float
    path_length: float
    assumptions: tuple[Assumption, ...]

    @property
    def ratio(self) -> float:
        """Measured regret over the bound; above 1 is a violation."""
        return self.measured / self.bound

    @property
    def within(self) -> bool:
        """Whether the measured regret is within the bound."""
        return self.measured <= self.bound

    @property
    def guaranteed(self) -> bool:
        """Whether every assumption was checked and holds, so that the theorem applies."""
        return all(assumption.holds is True for assumption in self.assumptions)

    def __str__(self) -> str:
        relation = "<=" if self.within else ">"
        verdict = "the theorem applies"
        if any(assumption.holds is False for assumption in self.assumptions):
            verdict = "an assumption is not met: the bound is no guarantee here"
        elif not self.guaranteed:
            verdict = "the theorem applies if what was not checked holds"
        return "\n".join(
            [
                f"{self.learner}: {self.measure}, path length of the comparators {self.path_length:.6g}",
                f"  measured {self.measured:.6g} {relation} bound {self.bound:.6g}   ratio {self.ratio:.2%}",
                f"  {self.theorem}; {verdict}",
                *(f"    {assumption}" for assumption in self.assumptions),
            ]
        )


@checked
def certificate(trace: Trace, comparators: ArrayLike) -> Certificate:
    """Put the regret of a run next to its theorem's bound, and say what was checked.

    The measure is the regret with the trace's switching cost (for losses with memory the policy regret; for `Ader`,
    whose theorem knows no switching cost, the regret without it). The bound is computed from the constants that the
    learner was built with and the path length of the comparators.

    Parameters
    ----------
    trace : Trace
        A run of one of the named learners.
    comparators : array of shape (T, d) or (d,)
        v_1, ..., v_T in the learner's domain.

    Examples
    --------
    >>> import driftwise as dw
    >>> losses = dw.streams.drifting_regression(rounds=5000, seed=0)
    >>> learner = dw.Scream(losses.domain, switching_cost=2.0, gradient_bound=2.1, horizon=5000)
    >>> print(dw.regret.certificate(dw.play(learner, losses, switching_cost=2.0), losses.generator))
    Scream: dynamic regret with switching cost 2, path length of the comparators 4.74604
      measured 115.9 <= bound 3121.05   ratio 3.71%
      Theorem 3; the theorem applies
        convexity       holds        DriftingRegression is convex
        gradient bound  holds        the largest in the run is 0.782214, the bound 2.1
        domain          holds        decisions and comparators lie in it
        horizon         holds        5000 rounds planned, 5000 played
        start           holds        a new learner
        switching cost  holds        the learner was built for 2, the run is priced at 2
    """
    run = Run("certificate", trace, comparators)
    return Certificate(
        type(run.learner).__name__,
        THEOREMS[type(run.learner)],
        run.measure,
        float(run.regret()[-1]),
        run.bound(run.T),
        float(run.paths[-1]),
        tuple(run.assumptions()),
    )


class Run:
    """What a theorem needs to know of a run."""

    def __init__(self, owner: str, trace: Trace, comparators: ArrayLike) -> None:
        self.trace, self.losses, self.learner = trace, read_run(owner, trace, None), _named(owner, trace)
        losses, learner = self.losses, self.learner
        self.T = len(losses)
        self.v = read_comparators(owner, comparators, self.T, learner.domain)
        self.norm, dual = _norms(learner)
        self.paths = np.cumsum(step_lengths(self.v, self.norm))
        self.seen = float(np.linalg.norm(unary_slopes(losses, trace.decisions), ord=dual, axis=1).max())
        self.given = learner.loss_bound if isinstance(learner, Hedge) else getattr(learner, "gradient_bound", None)
        self.G = max(self.seen, 1e-100) if self.given is None else float(self.given)
        self.euclidean = isinstance(learner.program.mirror, Euclidean)
        self.fixed = learner.program.schedule == "fixed"
        self.blind = isinstance(learner, Ader)
        remedy = "play with switching_cost={price}"
        self.lambda_ = 0.0 if self.blind else euclidean_price(owner, trace.switching_cost, losses.dim, remedy)
        self.of_memory: float | None = 0.0
        if losses.memory and not self.blind:
            try:
                self.of_memory = losses.switching_costs(learner.domain).tight
            except ParameterError:  # a custom loss, of which nothing is known
                self.of_memory = None

    @property
    def measure(self) -> str:
        """Say which regret the theorem is about."""
        if self.blind:
            return "dynamic regret, moves not counted"
        kind = "dynamic policy regret" if self.losses.memory else "dynamic regret"
        norm = "" if self.norm == 2.0 else f" on l{self.norm:g} movement"
        return f"{kind} with switching cost {self.lambda_:g}{norm}"

    def regret(self) -> Array:
        """Return the measured regret of the first t rounds, for every t."""
        if self.blind:
            rounds = unary_losses(self.losses, self.trace.decisions) - unary_losses(self.losses, self.v)
        else:
            rounds = self.trace.losses - policy_losses(self.losses, self.v)
            rounds += self.lambda_ * step_lengths(self.trace.decisions, self.norm)
        return np.asarray(np.cumsum(rounds))

    def bound(self, t: int) -> float:
        """Return the bound for the first t rounds, from the learner's own constants.

        With the doubling trick it is the sum of the bounds of the blocks, each of which is a learner of its own with a
        known horizon. With other rates that shrink it is the bound for a horizon of all T rounds, except for OGD, whose
        theorem covers them.
        """
        of_comparators = (self.of_memory or 0.0) * float(self.paths[t - 1])
        if not self._restarts:
            return self._bound(0, t, max(self.learner.horizon or 0, self.T)) + of_comparators
        total, start, length = of_comparators, 0, self.learner.program.epoch
        while start < t:  # blocks of 1, 2, 4, ... updates
            stop = min(start + length, t)
            total += self._bound(start, stop, length)
            start, length = stop, 2 * length
        return total

    @property
    def _restarts(self) -> bool:
        return self.euclidean and self.learner.program.schedule == "doubling"

    def _bound(self, start: int, stop: int, tuned_for: int) -> float:
        """Return the bound for some rounds, with rates for `tuned_for` rounds."""
        learner, G, D, t = self.learner, self.G, self.learner.domain.diameter, stop - start
        P = float(self.paths[stop - 1] - self.paths[start])
        needed = self.lambda_ + (self.of_memory or 0.0)
        common: dict[str, Any] = {"horizon": t, "gradient_bound": G}
        usual = {**common, "diameter": D, "path_length": min(P, D * (t - 1))}
        if isinstance(learner, Ader):
            return bounds.ader(**usual, tuned_for=tuned_for)
        if isinstance(learner, Scream | LazyScream):
            usual |= {"switching_cost": learner.switching_cost, "rate": learner.rate, "tuned_for": tuned_for}
            if isinstance(learner, Scream):
                return bounds.scream(**usual)
            return bounds.lazy_scream(**usual, epoch=learner.epoch)
        step = float(learner.program.steps[0] / math.sqrt(learner.program.clock_at(stop)))
        if self.euclidean:
            anytime = learner.program.schedule == "time-varying"
            return bounds.ogd(**usual, switching_cost=needed, step=step, anytime=anytime)
        first = learner.base_decisions[0]
        if isinstance(learner, Hedge):
            prior = math.exp(min(float(self.v[0] @ np.log(first)), 0.0))
            return bounds.hedge(
                horizon=t, experts=first.size, loss_bound=G, switching_cost=needed, rate=step, prior=prior
            )
        radius = math.sqrt(learner.program.mirror.radius_squared(learner.domain, first))
        return bounds.mirror_descent(**common, radius=radius, switching_cost=needed, step=step)

    def assumptions(self) -> list[Assumption]:
        """Return what the theorem takes for granted, with what was found."""
        found = [self._convex(), self._gradients(), self._domain(), self._horizon(), self._start()]
        if isinstance(self.learner, Scream | LazyScream) or self.losses.memory:
            found.append(self._price())
        if not self.euclidean:
            moved = float(self.paths[-1])
            text = f"the theorem is for fixed ones, these move by {moved:g}" if moved else "the comparators are fixed"
            found.append(Assumption("comparators", moved == 0.0, text))
        return found

    def _convex(self) -> Assumption:
        if isinstance(self.losses, DataLoss):
            return Assumption("convexity", True, f"{type(self.losses).__name__} is convex")
        return Assumption("convexity", None, "custom losses; best_fixed refuses those that contradict their gradients")

    def _gradients(self) -> Assumption:
        if self.given is None:
            return Assumption(
                "gradient bound", True, f"none was given; the largest in the run, {self.seen:.6g}, is used"
            )
        text = f"the largest in the run is {self.seen:.6g}, the bound {self.G:.6g}"
        if self.learner.program.own_gradients:
            text += "; those at the base-learners' own points were not looked at"
        return Assumption("gradient bound", self.seen <= self.G * (1.0 + 1e-9), text)

    def _domain(self) -> Assumption:
        inside = self.learner.domain.contains(self.trace.decisions)
        return Assumption("domain", inside, f"decisions and comparators {'lie' if inside else 'do not all lie'} in it")

    def _horizon(self) -> Assumption:
        if self.fixed and self.learner.horizon is not None:
            return Assumption("horizon", True, f"{self.learner.horizon} rounds planned, {self.T} played")
        if self.fixed:
            return Assumption("horizon", True, "constant rates need none")
        if self._restarts:
            return Assumption("horizon", True, "none needed: the bound is the sum over the blocks of doubling")
        if isinstance(self.learner, OGD | MirrorDescent) and self.euclidean:
            return Assumption("horizon", True, "none needed: the bound is that for shrinking steps")
        rates = "rates that shrink" if self.learner.program.schedule == "time-varying" else "its restarts"
        text = f"none was given, and for {rates} nothing is proved here; the bound shown is for a known one"
        return Assumption("horizon", False, text)

    def _start(self) -> Assumption:
        rounds = self.learner.round
        return Assumption(
            "start", rounds == 0, "a new learner" if rounds == 0 else f"{rounds} rounds had been played before"
        )

    def _price(self) -> Assumption:
        if self.blind:
            return Assumption("memory", True, "not part of the measure, which compares unary losses")
        if self.of_memory is None:
            return Assumption("memory", None, "Lipschitz constants of custom losses are not known")
        if not isinstance(self.learner, Scream | LazyScream):
            return Assumption("memory", True, f"counted as a switching cost of {self.of_memory:.6g}")
        needed = self.lambda_ + self.of_memory
        parts = f"{self.lambda_:.6g}" + (f" and {self.of_memory:.6g} for memory" if self.losses.memory else "")
        built = largest_price(self.learner.switching_cost, self.losses.dim)
        text = f"the learner was built for {built:.6g}, the run is priced at {parts}"
        return Assumption("switching cost", needed <= built * (1.0 + 1e-9), text)


def _named(owner: str, trace: Trace) -> Ensemble:
    """Return the learner of a trace if a theorem is known for it."""
    learner = trace.learner
    if type(learner) not in THEOREMS:  # a subclass may do anything, so no theorem is known for it
        raise InputError(
            f"{owner}: no theorem is known here for {learner!r}; compare dynamic_regret with one of regret.bounds."
        )
    assert isinstance(learner, Ensemble)
    return learner


def _norms(learner: Ensemble) -> tuple[float, float]:
    """Return the order of the norm that measures movement, and of its dual, which measures gradients."""
    mirror = learner.program.mirror
    if isinstance(mirror, NegativeEntropy):
        return 1.0, np.inf
    p = mirror.exponent
    return p, p / (p - 1.0)
