"""The instances behind the lower bounds: experts with switching cost (Theorem 4), comparators that move (Theorem 6)."""

import math
from typing import Any

import numpy as np

from driftwise import regret
from driftwise.domains import Domain
from driftwise.experiments.findings.finding import Claim, Finding, Panel, Series, Table
from driftwise.experiments.studies.study import Size, Study, Task, exponent, group, within
from driftwise.learners import OGD, Hedge, LazyScream, Learner, Scream
from driftwise.play import play

RANGES = {2: (0.6, 0.9), 10: (2.0, 2.6), 64: (3.0, 3.8)}
"""Where Hedge's regret over sqrt(lambda C T) was found to lie, for each number of experts."""


def expert_regret(experts: int, rounds: int, price: float, seed: int) -> float:
    """Return Hedge's regret with switching cost over sqrt(lambda C T) on the instance of Theorem 4."""
    losses = regret.adversaries.expert_blocks(rounds, experts, switching_cost=price, seed=seed)
    learner = Hedge(experts, loss_bound=1.0, horizon=rounds, switching_cost=price)
    trace = play(learner, losses, price)
    return regret.dynamic_regret(trace, losses, losses.comparators, norm=1) / losses.scale


def _expert_tasks(size: Size) -> list[Task]:
    cells = [(1_000, 4.0), (1_000, 16.0), (10_000, 16.0), (10_000, 64.0)]
    if not size.quick:
        cells = [(T, lambda_) for T in (1_000, 10_000, 100_000) for lambda_ in (1.0, 4.0, 16.0, 64.0)]
    seeds = {1_000: 40, 10_000: 40} if size.quick else {1_000: 40, 10_000: 40, 100_000: 20}
    return [(N, T, lambda_, seed) for N in RANGES for T, lambda_ in cells for seed in range(seeds[T])]


def _conclude_experts(tasks: list[Task], results: list[float]) -> Finding:
    grouped = group([task[:3] for task in tasks], results)
    rows, claims, series, slopes = [], [], [], []
    for N, (low, high) in RANGES.items():
        cells = {(T, price): float(np.mean(grouped[n, T, price])) for n, T, price in grouped if n == N}
        sizes = [price * T for T, price in cells]
        slope = exponent(sizes, [cell * math.sqrt(size) for cell, size in zip(cells.values(), sizes, strict=True)])
        least, most = min(cells.values()), max(cells.values())
        slopes.append(f"{slope:.3f}")
        points = sorted((size, cell * math.sqrt(size)) for size, cell in zip(sizes, cells.values(), strict=True))
        series.append(Series(f"{N} experts", *zip(*points, strict=True), style="points"))  # type: ignore[arg-type, misc]
        rows.append([f"{N}", f"{len(cells)}", f"{least:.3f}", f"{most:.3f}", f"{slope:.3f}"])
        measured = f"{least:.3f} to {most:.3f}"
        claims.append(
            Claim(
                f"Hedge, {N} experts: regret / sqrt(lambda C T) in {low} to {high}",
                low <= least and most <= high,
                measured,
            )
        )
        claims.append(
            Claim(
                f"Hedge, {N} experts: slope in lambda C T is 0.49, give or take 0.02",
                within(slope, 0.49, 0.02),
                f"{slope:.3f}",
            )
        )
    ends = [float(end) for end in (min(series[0].x), max(series[0].x))]
    series.append(Series("sqrt(lambda C T)", ends, [math.sqrt(end) for end in ends], style="dashed"))
    header = ["experts", "cells", "least ratio", "largest ratio", "slope in lambda C T"]
    summary = (
        "Theorem 4 says that no learner's regret with switching cost can be of a lower order than sqrt(lambda C T). On "
        f"its instance Hedge's regret grows with the exponents {', '.join(slopes)} in lambda C T for "
        f"{', '.join(str(N) for N in RANGES)} experts, where the bound has 0.5."
    )
    panel = Panel("Hedge on the experts of Theorem 4", "lambda C T", "regret with switching cost", series, log=True)
    table = Table("Hedge's regret / sqrt(lambda C T)", header, rows)
    return Finding(EXPERTS.title, summary, [table], claims, [panel], columns=1)


def moving_regret(tau: int, price: float, rounds: int, seed: int) -> dict[str, float]:
    """Return the regret with switching cost over sqrt(lambda tau T) on the instance of Theorem 6, for each learner."""
    losses = regret.adversaries.moving_blocks(rounds, float(tau), switching_cost=price, seed=seed)
    result = {}
    for name, learner in _three(losses.domain, price, rounds).items():
        trace = play(learner, losses, price)
        result[name] = regret.dynamic_regret(trace, losses, losses.comparators) / losses.scale
    return result


def _three(domain: Domain, price: float, rounds: int) -> dict[str, Learner]:
    usual: dict[str, Any] = {"gradient_bound": 1.0, "switching_cost": price, "horizon": rounds}
    return {"OGD": OGD(domain, **usual), "Scream": Scream(domain, **usual), "Lazy Scream": LazyScream(domain, **usual)}


def _moving_tasks(size: Size) -> list[Task]:
    T = 4_000 if size.quick else 40_000
    return [
        (tau, price, T, seed) for tau in (2, 8, 32) for price in (1.0, 8.0) for seed in range(5 if size.quick else 10)
    ]


def _conclude_moving(tasks: list[Task], results: list[dict[str, float]]) -> Finding:
    grouped = group([task[:2] for task in tasks], results)
    means = {
        cell: {name: float(np.mean([value[name] for value in values])) for name in values[0]}
        for cell, values in grouped.items()
    }
    rows = [
        [f"{tau}", f"{price:g}", *(f"{value:.3f}" for value in mean.values())] for (tau, price), mean in means.items()
    ]
    least = min(min(mean.values()) for mean in means.values())
    claim = Claim("Theorem 6: nobody gets below a tenth of sqrt(lambda tau T)", least > 0.1, f"least {least:.3f}")
    names = list(next(iter(means.values())))
    prices = list(dict.fromkeys(price for _, price in means))
    panels = []
    for price in prices:
        taus = [tau for tau, p in means if p == price]
        series = [Series(name, taus, [means[tau, price][name] for tau in taus], style="points") for name in names]
        panels.append(Panel(f"Theorem 6, lambda = {price:g}", "tau", "regret / sqrt(lambda tau T)", series, log=True))
    best = [min(mean, key=lambda name: mean[name]) for mean in means.values()]
    most = max(mean["Scream"] / min(mean.values()) for mean in means.values())
    summary = (
        "Theorem 6 gives an instance on which comparators with a path of length tau D are hard to follow. Of these "
        f"three, none gets below {least:.3f} sqrt(lambda tau T). Lowest in {best.count('OGD')} of {len(best)} cells is "
        f"OGD, and Scream is up to {most - 1.0:.0%} above the lowest."
    )
    table = Table("Regret / sqrt(lambda tau T), mean over seeds", ["tau", "lambda", *names], rows)
    return Finding(MOVING.title, summary, [table], [claim], panels, columns=2)


EXPERTS = Study("experts", "Hedge on the experts of Theorem 4", _expert_tasks, expert_regret, _conclude_experts)
MOVING = Study(
    "moving", "Regret / sqrt(lambda tau T) on the instance of Theorem 6", _moving_tasks, moving_regret, _conclude_moving
)
