"""Self-tuned Scream on the paper's stream, next to Scream, which knows the horizon and the gradient bound."""

from collections.abc import Callable
from typing import Any

import numpy as np

from driftwise.domains import Domain
from driftwise.experiments.findings.curves import cumulative
from driftwise.experiments.findings.finding import Claim, Finding, Table
from driftwise.experiments.studies import figure1
from driftwise.experiments.studies.figure1 import ALPHAS, CONTENDERS, GRADIENT_BOUND, ROUNDS
from driftwise.experiments.studies.paired import ratio_table
from driftwise.experiments.studies.study import Arguments, Size, Study, group
from driftwise.learners import Ensemble, Learner, Meta, SelfTunedScream, Surrogate
from driftwise.learners.self_tuned_scream import self_tuned_pool
from driftwise.play import play
from driftwise.streams import drifting_regression

SEEDS = (*range(200, 210), *range(1000, 1020))
"""Seeds that were not used to choose anything."""

TARGETS = (0.33, 0.54, 0.69)
"""Parts of Scream's overall cost at each alpha, which a prototype without patient base-learners came near to."""


def _part(
    domain: Domain, lambda_: float, patience: tuple[float, ...], dead_zone: float, prior: str | None = "equal"
) -> Learner:
    """Return self-tuned Scream without some of its parts, or with another prior."""
    return Ensemble(
        domain,
        pool=self_tuned_pool(domain.diameter, patience),
        meta=Meta(2.0, prior=prior),
        surrogate=Surrogate(lambda_),
        horizon_free="self-tuned",
        dead_zone=dead_zone,
    )


LEARNERS: dict[str, Callable[[Domain, float], Learner]] = {
    "Scream": lambda domain, lambda_: CONTENDERS["Scream"](domain, lambda_, ROUNDS),
    "Self-tuned Scream": lambda domain, lambda_: SelfTunedScream(domain, switching_cost=lambda_),
    "only its rates": lambda domain, lambda_: _part(domain, lambda_, (0.0,), 0.0),
    "without patience": lambda domain, lambda_: _part(domain, lambda_, (0.0,), 0.25),
    "without the dead zone": lambda domain, lambda_: _part(domain, lambda_, (0.0, 1.0), 0.0),
    "with Scream's prior": lambda domain, lambda_: _part(domain, lambda_, (0.0, 1.0), 0.25, None),
}


def run(learner: str, alpha: float, seed: int) -> dict[str, Any]:
    """Play one learner at one price on the stream of one seed."""
    losses, lambda_ = drifting_regression(ROUNDS, seed=seed), alpha * GRADIENT_BOUND
    trace = play(LEARNERS[learner](losses.domain, lambda_), losses, lambda_)
    return {"loss": cumulative(trace.losses), "switching": cumulative(lambda_ * trace.moves)}


def _tasks(size: Size) -> list[Arguments]:
    seeds = SEEDS[:3] if size.quick else SEEDS
    return [(name, alpha, seed) for name in LEARNERS for alpha in ALPHAS for seed in seeds]


def _conclude(tasks: list[Arguments], results: list[dict[str, Any]]) -> Finding:
    seeds = sorted({seed for *_, seed in tasks})
    runs = group([(name, alpha) for name, alpha, _ in tasks], results)
    costs = {key: figure1.overall(of) for key, of in runs.items()}
    ratios = {alpha: costs["Self-tuned Scream", alpha] / costs["Scream", alpha] for alpha in ALPHAS}
    claims = [
        Claim(
            f"alpha {alpha:g}: self-tuned Scream costs at most {most} of Scream on every seed",
            bool(each.max() <= most),
            f"{each.min():.3f} to {each.max():.3f}, mean {each.mean():.3f}, {each.size} seeds",
        )
        for (alpha, each), most in zip(ratios.items(), TARGETS, strict=True)
    ]
    rows = [
        [name]
        + [f"{figure1.split(runs[name, a])} {costs[name, a].mean() / costs['Scream', a].mean():.3f}" for a in ALPHAS]
        for name in LEARNERS
    ]
    columns = {f"alpha = {alpha:g}": each for alpha, each in ratios.items()}
    tables = [
        Table(f"{figure1.TITLE}, and as a part of Scream's; lambda = 2 alpha", ["learner", *columns], rows),
        ratio_table("Overall cost of self-tuned Scream / Scream", seeds, columns)._replace(detail=True),
    ]
    prices = ", ".join(f"{alpha:g}" for alpha in ALPHAS)
    means = ", ".join(f"{each.mean():.2f}" for each in ratios.values())
    worst = ", ".join(f"{each.max():.2f}" for each in ratios.values())
    without = ", ".join(f"{np.mean(costs['without patience', a] / costs['Scream', a]):.2f}" for a in ALPHAS)
    summary = [
        f"Self-tuned Scream knows neither the horizon nor a bound on gradients, and costs {means} of what Scream costs "
        f"at alpha {prices}.",
        f"On the worst of {len(seeds)} seeds it is {worst}.",
        f"Without patient base-learners it would be {without} on average.",
    ]
    panels = [figure1.panel(runs, alpha, "overall cost", ROUNDS, LEARNERS) for alpha in ALPHAS]
    return Finding(STUDY.title, summary, tables, claims, panels)


STUDY = Study("stream", "Self-tuned Scream on the paper's stream", _tasks, run, _conclude)
