"""A search for a violation of the inequality that is proved for the mixture of `SelfTunedScream`.

For N base-learners at the end, and for each of them, with losses counted from the decision::

    sum_t <p_t, l_t> + lambda D |p_{t+1} - p_t|_1  <=  L_i + (1 + ln(N) / 2) overhead

where l_t are linearised losses and own moves, and L_i is their sum for base-learner i: from the start, or from what the
mixture had suffered when i joined. Random gradients stay far from equality, so hill-climbing looks for worse ones.

The proof has a step that is nearly an equality, which makes it the place to look for a mistake. With the rate r of the
last weights, what the mixture suffers less all mixability gaps is at most ``-(1/r) ln(sum_i exp(-r L_i) / N)``: mix
losses add up although the rate falls. It fails at once if a gap is measured with another rate than that of its weights.
"""

import math
from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np
from scipy.special import logsumexp

from driftwise._validate import Array
from driftwise.domains import Ball, Box, Domain, Simplex
from driftwise.experiments.findings.finding import Claim, Finding, Panel, Series, Table
from driftwise.experiments.studies.study import Arguments, Study, group
from driftwise.learners import SelfTunedScream
from driftwise.movecost import MoveCost, move_cost_for

SHORTEST, LONGEST = 3, 40
"""Numbers of rounds that are tried."""

DRAWN = 15
"""Random problems of which the worst begins a climb."""

ROUNDING = 1e-12
"""Difference, as a part of all that could have been lost, that counts as rounding."""


class Mixing(Protocol):
    """What the inequality is about: a learner that shows its base-learners, their weights, and what mixing cost."""

    @property
    def weights(self) -> Array:
        """Weights of the base-learners."""

    @property
    def base_decisions(self) -> Array:
        """Points of the base-learners, those that joined last at the end."""

    @property
    def overhead(self) -> float:
        """Cost of mixing so far."""

    @property
    def given(self) -> Array:
        """The last gradient, as base-learners were given it: clipped."""

    def act(self) -> Array:
        """Return the decision."""

    def observe(self, gradient: Array, /) -> None:
        """Take in a gradient."""


Maker = Callable[[Domain, MoveCost], Mixing]


class Problem(NamedTuple):
    """Something to play: a domain, the price of moving, and the gradients that come whatever is decided."""

    domain: Domain
    price: float
    """lambda, up."""
    skew: float
    """Price of a move down, as a multiple of that of one up; with 1, prices are for Euclidean distance."""
    gradients: Array

    @property
    def cost(self) -> MoveCost:
        """The price of moving."""
        if self.skew == 1.0:
            return move_cost_for("Problem", self.price, self.domain.dim)
        return MoveCost(up=self.price, down=self.skew * self.price)


AGAINST = ("founders", "newcomers", "step")
"""What climbs look at, one after the other."""


class Used(NamedTuple):
    """Parts of the bound that are used, at most 1 where the inequality holds."""

    founders: float
    """Against the best of the base-learners that were there from the start."""
    newcomers: float
    """Against the best of those that joined; -inf if nobody did."""
    step: float
    """1 less what is left in the step of the proof, as a part of the bound; -inf as long as mixing has cost nothing."""


class Observed(SelfTunedScream):
    """The learner that the inequality is proved for, which also shows what its base-learners were given."""

    @property
    def given(self) -> Array:
        """The last gradient, as base-learners were given it: clipped."""
        return self.program.last_gradient(self.cell)


def self_tuned(domain: Domain, cost: MoveCost) -> Mixing:
    """Return the learner that the inequality is proved for."""
    return Observed(domain, switching_cost=cost)


def used(problem: Problem, make: Maker = self_tuned) -> Used:
    """Play a problem, and return how much of the inequality's right-hand side is used.

    All is counted from what the learner shows, not by its own accounts, except for the overhead, and for the gradients
    that it has clipped.

    Examples
    --------
    >>> from driftwise import Box
    >>> gradients = np.array([[-100.0], [-4.0], [-1600.0], [71.0], [4.7]])
    >>> [round(part, 3) for part in used(Problem(Box([-1.0], [1.0]), 0.054975, 1.0, gradients))]
    [0.527, 0.036, 0.777]
    """
    domain, cost, gradients = problem.domain, problem.cost, problem.gradients
    learner, priced = make(domain, cost), cost.largest(domain.dim) * domain.diameter
    last = learner.base_decisions
    founders, mixture, shifts, shift, totals = len(last), 0.0, 0.0, 0.0, np.zeros(len(last))
    for gradient in gradients:
        w, points, weights = learner.act(), learner.base_decisions, learner.weights
        learner.observe(gradient)
        losses = (points - w) @ learner.given
        losses[: len(last)] += cost(points[: len(last)] - last)
        # Newcomers join with what the mixture has suffered so far, where it is, so that joining moves nothing.
        totals = np.append(totals, np.full(len(points) - len(last), mixture)) + losses
        mixture += float(weights @ losses)
        after = learner.weights[: weights.size]
        shifts += (shift := priced * float(np.abs(after / after.sum() - weights).sum()))
        last = points
    noise = ROUNDING * (float(np.linalg.norm(gradients, axis=1).sum()) * domain.diameter + priced)
    bound = (1.0 + math.log(learner.weights.size) / 2.0) * learner.overhead + noise
    parts, spent, step = (mixture + shifts - totals) / bound, learner.overhead - shift, -math.inf
    if spent > noise:
        potential = -spent / 2.0 * float(logsumexp(-2.0 / spent * totals, b=1.0 / totals.size))
        step = 1.0 + (mixture + shifts - learner.overhead - potential - noise) / bound
    return Used(float(parts[:founders].max()), float(parts[founders:].max(initial=-math.inf)), step)


def random_problem(rng: np.random.Generator) -> Problem:
    """Return a problem with heavy-tailed gradients of all sizes; two in three are short."""
    longest = 8 if rng.random() < 2.0 / 3.0 else LONGEST
    dim, rounds = int(rng.integers(1, 4)), int(rng.integers(SHORTEST, longest + 1))
    size = 10.0 ** rng.uniform(-1.0, 1.0)
    domains: list[Domain] = [Box(np.full(dim, -size), np.full(dim, size)), Ball(dim, size), Simplex(dim + 1, size)]
    domain = domains[rng.integers(3)]
    gradients = rng.standard_t(1.0, (rounds, domain.dim)) * 10.0 ** rng.uniform(-2.0, 2.0, (rounds, 1))
    return Problem(domain, 10.0 ** rng.uniform(-3.0, 1.0), float(rng.choice([1.0, 1.0, 0.1, 10.0])), gradients)


def neighbour(problem: Problem, rng: np.random.Generator) -> Problem:
    """Return a problem with one change: a round dropped, added, swapped, turned or resized, another price, or noise."""
    gradients, price = problem.gradients.copy(), problem.price
    rounds, dim = gradients.shape
    first, second = rng.integers(rounds, size=2)
    match int(rng.integers(8)):
        case 0 if rounds > SHORTEST:
            gradients = np.delete(gradients, first, axis=0)
        case 1 if rounds < LONGEST:
            fresh = rng.standard_t(1.0, dim) * float(np.abs(gradients[second]).max())
            gradients = np.insert(gradients, first, fresh, axis=0)
        case 2:
            gradients[[first, second]] = gradients[[second, first]]
        case 3:
            gradients[first] *= -1.0
        case 4:
            gradients[first] *= math.exp(0.5 * rng.normal())
        case 5:
            gradients[first] *= rng.choice([-1.0, 1.0]) * math.exp(2.0 * rng.normal())
        case 6:
            price *= math.exp(2.0 * rng.normal())
        case _:
            gradients *= np.exp(rng.normal(size=gradients.shape) * rng.choice([0.02, 0.1, 0.3]))
            price *= math.exp(0.2 * rng.normal())
    # Far beyond these limits squares would overflow, or nothing would happen.
    gradients = np.sign(gradients) * np.clip(np.abs(gradients), 1e-12, 1e12)
    return problem._replace(gradients=gradients, price=min(max(price, 1e-9), 1e9))


class Climbed(NamedTuple):
    """Where a climb ended."""

    problem: Problem
    """The worst that was found."""
    begun: Used
    """What the first problem used of the bound: the worst of a few at random."""
    reached: Used
    """The most that any problem used."""
    violations: int
    """Number of problems that used more than all of it."""


def climb(seed: int, steps: int, make: Maker = self_tuned) -> Climbed:
    """Climb from the worst of a few random problems, by small changes, to ones that use more and more of the bound.

    Seeds take turns: they climb against the base-learners that were there from the start, against newcomers, or look at
    the step of the proof.
    """
    rng, against = np.random.default_rng(seed), seed % len(AGAINST)
    drawn = [random_problem(rng) for _ in range(DRAWN)]
    parts = [used(problem, make) for problem in drawn]
    best = max(range(DRAWN), key=lambda k: parts[k][against])
    problem, height = drawn[best], parts[best][against]
    begun = parts[best]
    for _ in range(steps):
        trial = neighbour(problem, rng)
        parts.append(used(trial, make))
        if parts[-1][against] > height:
            problem, height = trial, parts[-1][against]
    reached = Used(*(max(column) for column in zip(*parts, strict=True)))
    return Climbed(problem, begun, reached, sum(max(part) > 1.0 for part in parts))


def searched(seed: int, steps: int) -> dict[str, float]:
    """Return what one climb found."""
    end = climb(seed, steps)
    return {
        "begun": end.begun[seed % len(AGAINST)],
        **end.reached._asdict(),
        "violations": float(end.violations),
        "rounds": float(len(end.problem.gradients)),
    }


def _conclude(tasks: list[Arguments], results: list[dict[str, float]]) -> Finding:
    steps = sum(count for _, count in tasks)
    violations = int(sum(result["violations"] for result in results))
    largest = {name: max(result[name] for result in results) for name in AGAINST}
    nearest = max(largest["founders"], largest["newcomers"])
    rows, series, middles = [], [], []
    for name, mine in group([AGAINST[seed % len(AGAINST)] for seed, _ in tasks], results).items():
        begun, reached = (np.sort([result[key] for result in mine]) for key in ("begun", name))
        middles.append((float(np.median(begun)), float(np.median(reached))))
        rounds = np.median([result["rounds"] for result in mine])
        rows.append(
            [name, f"{len(mine)}", *(f"{value:.3f}" for value in middles[-1]), f"{reached[-1]:.3f}", f"{rounds:g}"]
        )
        share = ((np.arange(len(mine)) + 1.0) / len(mine)).tolist()
        series.append(Series(f"{name}: random", np.maximum(begun, 0.0).tolist(), share, style="dashed"))
        series.append(Series(f"{name}: after the climb", np.maximum(reached, 0.0).tolist(), share))
    text = "No sequence that a search finds violates the inequality of the mixture of SelfTunedScream"
    measured = f"{violations} violations in {steps} steps of hill-climbing from {len(tasks)} starts"
    higher = all(after > before for before, after in middles)
    shown = ", ".join(f"{before:.3f} to {after:.3f}" for before, after in middles)
    claims = [
        Claim(text, violations == 0 and max(largest.values()) <= 1.0, f"{measured}, largest ratio {nearest:.3f}"),
        Claim("Climbing makes the median ratio larger", higher, shown),
    ]
    summary = [
        "What the mixture of SelfTunedScream suffers beyond any of its base-learners is proved to be at most "
        "(1 + ln(N) / 2) times its overhead.",
        f"Hill-climbing looked for gradients, prices and lengths that break this: {measured}.",
        f"The nearest that it came is {nearest:.3f} of the bound. That mix losses add up, a step of the proof, is "
        f"almost equality: the least that was left is {1.0 - largest['step']:.1e} of the bound.",
        f"The medians went from {shown}: base-learners that were there from the start, newcomers, and that step.",
    ]
    header = ["against", "starts", "median at random", "median after", "largest", "median rounds"]
    table = Table("Part of the inequality's right-hand side that is used", header, rows)
    panel = Panel("How near the search comes to equality", "part of the bound used", "part of the starts below", series)
    return Finding(STUDY.title, summary, [table], claims, [panel], columns=1)


STUDY = Study(
    "search",
    "A search for a violation of the self-tuned mixture's inequality",
    lambda size: [(seed, 50 if size.quick else 120) for seed in range(40 if size.quick else 200)],
    searched,
    _conclude,
)
