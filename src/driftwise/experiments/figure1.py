"""Figure 1 of the paper (Section 6.1): OGD, Ader and Scream on drifting regression, at three prices of moving.

The learners use G = 2 as the paper does (targets carry noise of up to 0.1, so the strict bound is 2.1), D = 2 and
lambda = alpha G. Scream runs with the learning rate of Theorem 3, which is the one that gives the paper's figure; the
appendix rate and the two ways to do without a horizon are shown next to it.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from driftwise.domains import Domain
from driftwise.learners import OGD, Ader, LazyScream, Learner, Scream
from driftwise.play import play
from driftwise.streams import drifting_regression

ALPHAS = (0.1, 1.0, 2.0)
GRADIENT_BOUND = 2.0
ROUNDS = 50_000

Maker = Callable[[Domain, float, int], Learner]

CONTENDERS: dict[str, Maker] = {
    "OGD": lambda domain, lambda_, T: OGD(domain, gradient_bound=GRADIENT_BOUND, horizon=T),
    "Ader, original": lambda domain, lambda_, T: Ader(
        domain, gradient_bound=GRADIENT_BOUND, horizon=T, variant="original"
    ),
    "Ader, improved": lambda domain, lambda_, T: Ader(domain, gradient_bound=GRADIENT_BOUND, horizon=T),
    "Scream": lambda domain, lambda_, T: Scream(
        domain, switching_cost=lambda_, gradient_bound=GRADIENT_BOUND, horizon=T, rate="theorem"
    ),
    "Scream, appendix": lambda domain, lambda_, T: Scream(
        domain, switching_cost=lambda_, gradient_bound=GRADIENT_BOUND, horizon=T, rate="appendix"
    ),
    "Scream, no horizon": lambda domain, lambda_, T: Scream(
        domain, switching_cost=lambda_, gradient_bound=GRADIENT_BOUND, rate="theorem"
    ),
    "Scream, doubling": lambda domain, lambda_, T: Scream(
        domain, switching_cost=lambda_, gradient_bound=GRADIENT_BOUND, rate="theorem", horizon_free="doubling"
    ),
    "Lazy Scream": lambda domain, lambda_, T: LazyScream(
        domain, switching_cost=lambda_, gradient_bound=GRADIENT_BOUND, horizon=T, rate="theorem"
    ),
}


@dataclass(frozen=True)
class Row:
    """One whole run."""

    seed: int
    alpha: float
    learner: str
    loss: float
    switching: float

    @property
    def overall(self) -> float:
        """Loss plus switching cost."""
        return self.loss + self.switching


@dataclass(frozen=True)
class Claim:
    """A statement about the learners that is checked on every seed by itself."""

    text: str
    holds: int
    """Number of seeds on which it holds."""
    seeds: int
    ratios: list[str]
    """The ratios it is about, with their range over the seeds."""

    def __str__(self) -> str:
        verdict = "holds" if self.holds == self.seeds else "does not hold"
        return f"{self.text}: {verdict} ({self.holds} of {self.seeds} streams)"


def runs(seeds: Iterable[int], rounds: int = ROUNDS, dim: int = 10, segment: int = 1000) -> Iterator[Row]:
    """Play every contender at every price on the stream of every seed, and yield a row for each run."""
    for seed in seeds:
        losses = drifting_regression(rounds, dim, segment, seed=seed)
        for alpha in ALPHAS:
            lambda_ = alpha * GRADIENT_BOUND
            for name, make in CONTENDERS.items():
                trace = play(make(losses.domain, lambda_, rounds), losses, lambda_)
                yield Row(seed, alpha, name, trace.total_loss, trace.total_switching)


def mean(rows: Iterable[Row], learner: str, alpha: float, field: str = "overall") -> float:
    """Return the mean over seeds of "overall", "loss" or "switching"."""
    values = [getattr(row, field) for row in rows if row.learner == learner and row.alpha == alpha]
    return float(sum(values) / len(values))


def claims(rows: list[Row]) -> list[Claim]:
    """Check what the paper says of its Figure 1, as ratios of overall cost on each seed.

    The spread between seeds is as large as some of the margins, so means of unpaired runs would prove little.
    """
    cost = {(row.seed, row.alpha, row.learner): row.overall for row in rows}
    seeds = sorted({row.seed for row in rows})

    def ratio(alpha: float, top: str, bottom: str) -> list[float]:
        return [cost[seed, alpha, top] / cost[seed, alpha, bottom] for seed in seeds]

    def claim(text: str, parts: list[tuple[float, str, str, float, float]]) -> Claim:
        columns = [(ratio(alpha, top, bottom), top, bottom, low, high) for alpha, top, bottom, low, high in parts]
        holds = sum(all(low < values[k] < high for values, _, _, low, high in columns) for k in range(len(seeds)))
        ranges = [f"{top} / {bottom} {min(values):.3f} to {max(values):.3f}" for values, top, bottom, _, _ in columns]
        return Claim(text, holds, len(seeds), ranges)

    inf, aders = float("inf"), ("Ader, original", "Ader, improved")
    return [
        claim(
            "alpha 0.1: Ader best, Scream near, OGD far",
            [(0.1, "Scream", ader, 1.0, 1.25) for ader in aders] + [(0.1, "OGD", "Scream", 1.25, inf)],
        ),
        claim(
            "alpha 1: Scream first",
            [(1.0, other, "Scream", 1.0, inf) for other in ("OGD", *aders)],
        ),
        claim(
            "alpha 2: OGD good, Scream near, Ader far",
            [(2.0, "Scream", "OGD", 0.0, 1.1)] + [(2.0, ader, "OGD", 1.25, inf) for ader in aders],
        ),
    ]
