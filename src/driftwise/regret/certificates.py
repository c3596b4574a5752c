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
from driftwise.movecost import MoveCost, move_cost_for
from driftwise.optimum.values import read_comparators, read_run, step_lengths
from driftwise.regret import bounds
from driftwise.trace import Trace

THEOREMS: dict[type[Learner], str] = {
    OGD: "Theorem 1",
    MirrorDescent: "Appendix B.3, mirror descent",
    Hedge: "Appendix B.3, Hedge",
    Ader: "Ader, Theorems 3 and 4 of Zhang, Lu, Zhou 2018",
    Scream: "Theorem 2",
    LazyScream: "Theorem 4",
}


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
        Name of the learner, the theorem that covers it, and the kind of regret.
    measured, bound : float
        The regret of this run, and the bound with explicit constants.
    path_length : float
        P, of the comparators.
    assumptions : tuple of Assumption
        Assumptions of the theorem, with what was found.
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
    """Compare the regret of a run with its theorem's bound, and report what was checked.

    The measure is the regret with the trace's switching cost (for losses with memory the policy regret; for `Ader`,
    whose theorem has no switching cost, the regret without it). The bound is computed from the constants that the
    learner was built with and the path length of the comparators. Where moves are priced by a `MoveCost`, lambda is the
    most that it charges for one unit of distance: no move costs more than that times its length, which is all that the
    theorems need, provided that no price the learner was built for is below that of the run.

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
      Theorem 2; the theorem applies
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
    """All that a theorem needs to know about a run."""

    def __init__(self, owner: str, trace: Trace, comparators: ArrayLike) -> None:
        self.owner, self.trace = owner, trace
        self.losses = losses = read_run(owner, trace, None)
        learner = trace.learner
        if type(learner) not in THEOREMS:  # a subclass may do anything, so no theorem is known for it
            raise InputError(
                f"{owner}: no theorem is known here for {learner!r}; compare dynamic_regret with one of regret.bounds."
            )
        assert isinstance(learner, Ensemble)
        self.learner, self.T = learner, len(losses)
        self.v = read_comparators(owner, comparators, self.T, learner.domain)
        # The norm that measures movement, and its dual, which measures gradients.
        self.norm = 1.0 if isinstance(learner.program.mirror, NegativeEntropy) else learner.program.mirror.exponent
        dual = np.inf if self.norm == 1.0 else self.norm / (self.norm - 1.0)
        self.paths = np.cumsum(step_lengths(self.v, self.norm))
        self.seen = float(np.linalg.norm(losses.unary_gradients(trace.decisions), ord=dual, axis=1).max())
        self.given = learner.loss_bound if isinstance(learner, Hedge) else getattr(learner, "gradient_bound", None)
        self.G = max(self.seen, 1e-100) if self.given is None else float(self.given)
        self.euclidean = isinstance(learner.program.mirror, Euclidean)
        self.blind = isinstance(learner, Ader)
        self.cost = trace.price
        self.lambda_ = self.cost.largest(losses.dim)
        self.of_memory: float | None = 0.0
        if losses.memory and not self.blind:
            try:
                self.of_memory = losses.switching_costs(learner.domain).tight
            except ParameterError:  # nothing is known about a custom loss
                self.of_memory = None

    @property
    def measure(self) -> str:
        """The kind of regret that the theorem is about, in words."""
        if self.blind:
            return "dynamic regret, moves not counted"
        kind = "dynamic policy regret" if self.losses.memory else "dynamic regret"
        price = self.cost if self.norm == 2.0 else f"{self.lambda_:g} on l{self.norm:g} movement"
        return f"{kind} with switching cost {price}"

    def regret(self) -> Array:
        """Return the measured regret of the first t rounds, for every t."""
        decisions = self.trace.decisions
        if self.blind:
            return np.cumsum(self.losses.unary_losses(decisions) - self.losses.unary_losses(self.v))
        lengths = step_lengths(decisions, self.norm)
        moves = self.cost.along(decisions, lengths) if self.norm == 2.0 else self.lambda_ * lengths
        return np.cumsum(self.trace.losses - self.losses.policy_losses(self.v) + moves)

    def bound(self, t: int) -> float:
        """Return the bound for the first t rounds, from the learner's own constants.

        With the doubling trick it is the sum of the bounds of the blocks, each of which is a separate learner with a
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
        usual: dict[str, Any] = {"horizon": t, "gradient_bound": G, "diameter": D, "path_length": min(P, D * (t - 1))}
        if isinstance(learner, Ader):
            return bounds.ader(**usual, tuned_for=tuned_for)
        if isinstance(learner, Scream | LazyScream):
            built = move_cost_for(self.owner, learner.switching_cost).largest(self.losses.dim)
            usual |= {"switching_cost": built, "rate": learner.rate, "tuned_for": tuned_for}
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
            experts = {"experts": first.size, "loss_bound": G, "rate": step, "prior": prior}
            return bounds.hedge(horizon=t, **experts, switching_cost=needed)
        radius = math.sqrt(learner.program.mirror.radius_squared(learner.domain, first))
        return bounds.mirror_descent(horizon=t, gradient_bound=G, radius=radius, switching_cost=needed, step=step)

    def assumptions(self) -> list[Assumption]:
        """Return the assumptions of the theorem, with what was found."""
        inside, played = self.learner.domain.contains(self.trace.decisions), self.learner.round
        convex = Assumption("convexity", True, f"{type(self.losses).__name__} is convex")
        if not isinstance(self.losses, DataLoss):
            text = "custom losses; best_fixed refuses those that contradict their gradients"
            convex = Assumption("convexity", None, text)
        found = [
            convex,
            self._gradients(),
            Assumption("domain", inside, f"decisions and comparators {'lie' if inside else 'do not all lie'} in it"),
            self._horizon(),
            Assumption("start", not played, f"{played} rounds had been played before" if played else "a new learner"),
        ]
        if isinstance(self.learner, Scream | LazyScream) or self.losses.memory:
            found.append(self._price())
        if not self.euclidean:
            moved = float(self.paths[-1])
            text = f"the theorem is for fixed ones, these move by {moved:g}" if moved else "the comparators are fixed"
            found.append(Assumption("comparators", moved == 0.0, text))
        return found

    def _gradients(self) -> Assumption:
        if self.given is None:
            text = f"none was given; the largest in the run, {self.seen:.6g}, is used"
            return Assumption("gradient bound", True, text)
        text = f"the largest in the run is {self.seen:.6g}, the bound {self.G:.6g}"
        if self.learner.program.own_gradients:
            text += "; those at the base-learners' own points were not looked at"
        return Assumption("gradient bound", self.seen <= self.G * (1.0 + 1e-9), text)

    def _horizon(self) -> Assumption:
        planned, schedule, proved = self.learner.horizon, self.learner.program.schedule, True
        if schedule == "fixed":
            text = "constant rates need none" if planned is None else f"{planned} rounds planned, {self.T} played"
        elif self._restarts:
            text = "none needed: the bound is the sum over the blocks of doubling"
        elif isinstance(self.learner, OGD | MirrorDescent) and self.euclidean:
            text = "none needed: the bound is that for shrinking steps"
        else:
            rates, proved = "rates that shrink" if schedule == "time-varying" else "its restarts", False
            text = f"none was given, and for {rates} nothing is proved here; the bound shown is for a known one"
        return Assumption("horizon", proved, text)

    def _price(self) -> Assumption:
        if self.blind:
            return Assumption("memory", True, "not part of the measure, which compares unary losses")
        if self.of_memory is None:
            return Assumption("memory", None, "Lipschitz constants of custom losses are not known")
        if not isinstance(self.learner, Scream | LazyScream):
            return Assumption("memory", True, f"counted as a switching cost of {self.of_memory:.6g}")
        built, needed, text = move_cost_for(self.owner, self.learner.switching_cost), self.cost, f"{self.cost}"
        if self.losses.memory:
            needed = MoveCost(self.lambda_ + self.of_memory, norm="l2")
            text += f" and {self.of_memory:.6g} for memory"
        text = f"the learner was built for {built}, the run is priced at {text}"
        return Assumption("switching cost", _covers(built, needed, self.losses.dim), text)


def _covers(built: MoveCost, needed: MoveCost, dim: int) -> bool:
    """Tell whether no move is cheaper at the prices a learner was built for than at those that are needed.

    A learner that was built for lower prices, even if only for moves down, does not hold its base-learners back from
    such moves, so nothing is proved about their cost.
    """
    prices = built.prices(dim) * (1.0 + 1e-9)
    if needed.norm == "l1" and built.norm == "l2":
        return bool(needed.largest(dim) <= prices.min())
    return bool(np.all(needed.prices(dim) <= prices))
