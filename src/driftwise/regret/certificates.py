"""A run next to its theorem: measured regret, bound, ratio, and which assumptions were checked on the data."""

import math
from dataclasses import dataclass

from numpy.typing import ArrayLike

from driftwise._html import Bar, Card, Shown
from driftwise._validate import checked
from driftwise.regret.theorems import Assumption, theorem_for
from driftwise.trace import Trace

MARKS = {True: "\N{CHECK MARK}", False: "\N{BALLOT X}", None: "?"}
"""What a card shows of an assumption: that it holds, is not met, or was not checked."""

ROUNDING = 1e-9
"""Part of a regret and its bound that may be rounding; gradients may exceed their bound by as much."""


@dataclass(frozen=True)
class Certificate(Shown):
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

    Examples
    --------
    >>> import driftwise as dw
    >>> losses = dw.streams.drifting_regression(rounds=500, dim=2, segment=100, seed=0)
    >>> learner = dw.Scream(losses.domain, switching_cost=1.0, gradient_bound=2.1, horizon=500)
    >>> found = dw.regret.certificate(dw.play(learner, losses, switching_cost=1.0), losses.generator)
    >>> found.within, found.guaranteed, round(found.ratio, 4)
    (True, True, 0.0296)
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
        if self.bound == 0.0:
            return math.copysign(math.inf, self.measured) if self.measured else 0.0
        return self.measured / self.bound

    @property
    def within(self) -> bool:
        """Whether the measured regret is within the bound, up to rounding."""
        return self.measured <= self.bound + ROUNDING * (abs(self.measured) + abs(self.bound))

    @property
    def guaranteed(self) -> bool:
        """Whether every assumption was checked and holds, so that the theorem applies."""
        return all(assumption.holds is True for assumption in self.assumptions)

    @property
    def _verdict(self) -> str:
        """What the assumptions come to, in words."""
        if any(assumption.holds is False for assumption in self.assumptions):
            return "an assumption is not met: the bound is no guarantee here"
        return "the theorem applies" if self.guaranteed else "the theorem applies if what was not checked holds"

    def _card(self) -> Card:
        rows = [
            ("measure", self.measure),
            ("path length of the comparators", f"{self.path_length:.6g}"),
            ("theorem", f"{self.theorem}; {self._verdict}"),
            *((f"{MARKS[assumption.holds]} {assumption.name}", assumption.text) for assumption in self.assumptions),
        ]
        most = max(abs(self.measured), abs(self.bound)) or 1.0
        pairs = (("measured", self.measured), ("bound", self.bound))
        bars = [Bar(name, value / most, f"{value:.6g}") for name, value in pairs]
        heading = f"{'within' if self.within else 'ABOVE'} the bound, ratio {self.ratio:.2%}"
        return Card(f"Certificate of {self.learner}", rows, heading, bars)

    def __str__(self) -> str:
        relation, verdict = "<=" if self.within else ">", self._verdict
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
    most that it charges for one unit of distance: no move costs more than that times its length. For `Scream` and
    `LazyScream`, whose pool and rates are made for prices, the bound has the constants of `learners.move_constants`; no
    price that the learner was built for may then be below that of the run. Of losses that are your own functions, what
    the theorem uses is looked for in the run, and what contradicts it is named.

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
    theorem = theorem_for("certificate", trace, comparators)
    return Certificate(
        type(theorem.learner).__name__,
        theorem.statement,
        theorem.measure,
        float(theorem.regret()[-1]),
        theorem.bound(theorem.T),
        float(theorem.paths[-1]),
        tuple(theorem.assumptions()),
    )
