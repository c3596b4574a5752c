"""Figure 1 of the paper (Section 6.1): OGD, Ader and Scream on drifting regression, at three prices of moving.

The learners use G = 2 as the paper does (targets carry noise of up to 0.1, so the strict bound is 2.1), D = 2 and
lambda = alpha G. Scream runs with the learning rate of Theorem 2, which is the one that gives the paper's figure; the
appendix rate and the two ways to do without a horizon are in the table, and so is the cheapest sequence in hindsight.
"""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from driftwise import regret
from driftwise._validate import Array
from driftwise.domains import Domain
from driftwise.experiments.contests.contest import OPTIMUM
from driftwise.experiments.contests.words import joined, spoken
from driftwise.experiments.findings.curves import cumulative, mean_curve
from driftwise.experiments.findings.finding import Claim, Finding, Panel, Table
from driftwise.experiments.studies.paired import Ratio, paired, ratio_table
from driftwise.experiments.studies.study import Arguments, Size, Study, group
from driftwise.learners import OGD, Ader, LazyScream, Learner, Scream
from driftwise.optimum.values import step_lengths
from driftwise.play import play
from driftwise.streams import drifting_regression

ALPHAS = (0.1, 1.0, 2.0)
GRADIENT_BOUND = 2.0
ROUNDS = 50_000

Maker = Callable[[Domain, float, int], Learner]


def _maker(kind: Callable[..., Learner], *, priced: bool = False, **chosen: str | None) -> Maker:
    """Return a function that makes a learner, told the price of moving if it takes one, with these choices."""

    def make(domain: Domain, lambda_: float, T: int) -> Learner:
        price = {"switching_cost": lambda_} if priced else {}
        return kind(domain, **price, **{"gradient_bound": GRADIENT_BOUND, "horizon": T, **chosen})

    return make


CONTENDERS: dict[str, Maker] = {
    "OGD": _maker(OGD),
    "Ader, original": _maker(Ader, variant="original"),
    "Ader, improved": _maker(Ader),
    "Scream": _maker(Scream, priced=True, rate="theorem"),
    "Scream, appendix": _maker(Scream, priced=True, rate="appendix"),
    "Scream, no horizon": _maker(Scream, priced=True, rate="theorem", horizon=None),
    "Scream, doubling": _maker(Scream, priced=True, rate="theorem", horizon=None, horizon_free="doubling"),
    "Lazy Scream": _maker(LazyScream, priced=True, rate="theorem"),
}

ADERS = ("Ader, original", "Ader, improved")
DRAWN = ("OGD", *ADERS, "Scream", "Lazy Scream", OPTIMUM)
"""The curves of the nine panels."""

CLAIMS: dict[str, tuple[float, list[Ratio]]] = {
    "alpha 0.1: Ader best, Scream near, OGD far": (
        0.1,
        [*(Ratio("Scream", ader, 1.0, 1.25) for ader in ADERS), Ratio("OGD", "Scream", 1.25)],
    ),
    "alpha 1: Scream first of the three": (1.0, [Ratio(other, "Scream", 1.0) for other in ("OGD", *ADERS)]),
    "alpha 2: OGD good, Scream near, Ader far": (
        2.0,
        [Ratio("Scream", "OGD", 0.0, 1.1), *(Ratio(ader, "OGD", 1.25) for ader in ADERS)],
    ),
}
"""What the paper says of its figure, each at one alpha, as ratios of overall cost."""


def run(learner: str, alpha: float, rounds: int, seed: int) -> dict[str, Any]:
    """Play one contender at one price on the stream of one seed."""
    losses = drifting_regression(rounds, seed=seed)
    lambda_ = alpha * GRADIENT_BOUND
    if learner == OPTIMUM:
        best = regret.hindsight_optimum(losses, losses.domain, lambda_)
        values, moves = losses.unary_losses(best.decisions), step_lengths(best.decisions)
        books = {"certified": best.optimal, "gap": best.gap}
    else:
        trace = play(CONTENDERS[learner](losses.domain, lambda_, rounds), losses, lambda_)
        values, moves, books = trace.losses, trace.moves, {}
    return {"loss": cumulative(values), "switching": cumulative(lambda_ * moves), **books}


def _tasks(size: Size) -> list[Arguments]:
    names = (OPTIMUM, *CONTENDERS)  # the one that takes longest first
    return [(name, alpha, ROUNDS, seed) for name in names for alpha in ALPHAS for seed in size.seeds]


Runs = dict[tuple[str, float], list[dict[str, Any]]]
"""The runs of every learner at every alpha, one for each seed."""


def _conclude(tasks: list[Arguments], results: list[dict[str, Any]]) -> Finding:
    seeds = sorted({seed for *_, seed in tasks})
    runs = group([(name, alpha) for name, alpha, _, _ in tasks], results)
    costs = {key: overall(of) for key, of in runs.items()}
    header = ["learner", *(f"alpha = {alpha:g}" for alpha in ALPHAS)]
    rows = [[name, *(split(runs[name, alpha]) for alpha in ALPHAS)] for name in (*CONTENDERS, OPTIMUM)]
    claims, tables = [], [Table(f"{TITLE}; lambda = 2 alpha", header, rows)]
    for text, (alpha, ratios) in CLAIMS.items():
        here = {name: of for (name, a), of in costs.items() if a == alpha}
        claims.append(paired(text, ratios, here, paper=True))
        tables.append(ratio_table(text, seeds, {str(ratio): ratio.of(here) for ratio in ratios}))
    certified = [bool(r["certified"]) for (name, _), of in runs.items() if name == OPTIMUM for r in of]
    measured = f"{sum(certified)} of {len(certified)}"
    claims.append(Claim("Every hindsight optimum certified to 1e-6", all(certified), measured))
    panels = [panel(runs, alpha, measure, tasks[0][2], DRAWN) for alpha in ALPHAS for measure in MEASURES]
    return Finding(STUDY.title, _summary({key: float(of.mean()) for key, of in costs.items()}), tables, claims, panels)


TITLE = "Overall cost (loss + switching cost), mean over seeds"

MEASURES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "overall cost": lambda r: r["loss"] + r["switching"],
    "cumulative loss": lambda r: r["loss"],
    "switching cost": lambda r: r["switching"],
}


def overall(runs: list[dict[str, Any]]) -> Array:
    """Return the overall cost of every run."""
    return np.array([r["loss"][-1] + r["switching"][-1] for r in runs])


def split(runs: list[dict[str, Any]]) -> str:
    """Return the mean overall cost, and the loss and the switching cost that it is made of."""
    loss, switching = (np.mean([r[part][-1] for r in runs]) for part in ("loss", "switching"))
    return f"{loss + switching:.0f} ({loss:.0f} + {switching:.0f})"


def panel(runs: Runs, alpha: float, measure: str, rounds: int, names: Iterable[str]) -> Panel:
    """Return one of `MEASURES` of some learners at one alpha; that of the optimum is dashed."""
    series = [
        mean_curve(
            name, [MEASURES[measure](r) for r in runs[name, alpha]], rounds, "dashed" if name == OPTIMUM else "line"
        )
        for name in names
    ]
    return Panel(f"{measure}, alpha = {alpha:g}", "round", measure, series)


def _summary(mean: dict[tuple[str, float], float]) -> list[str]:
    """Say who is cheapest of the paper's three at each price, and how far Scream is from that and from the optimum."""
    sentences = []
    for alpha, price in zip(ALPHAS, ("cheap", "neither cheap nor expensive", "expensive"), strict=True):
        costs = {name: mean[name, alpha] for name in ("OGD", *ADERS, "Scream")}
        first, second = sorted(costs, key=lambda name: costs[name])[:2]
        rival = second if first == "Scream" else "Scream"
        more = costs[rival] / costs[first] - 1.0
        sentences.append(
            f"Where moving is {price} (alpha {alpha:g}), {spoken(first)} costs least of the paper's three, "
            + (f"and {spoken(rival)} {more:.1%} more." if more >= 5e-4 else f"with {spoken(rival)} level.")
        )
    multiples = [f"{mean['Scream', alpha] / mean[OPTIMUM, alpha]:.1f}" for alpha in ALPHAS]
    far = f"The cheapest decisions in hindsight are far away: Scream costs {joined(multiples)} times as much."
    return [*sentences, far]


STUDY = Study("streams", "Drifting regression, three prices lambda = 2 alpha", _tasks, run, _conclude)
