"""The instances behind the lower bounds: experts with switching cost (Theorem 3), comparators that move (Theorem 5)."""

import math
from typing import Any

import numpy as np

from driftwise import regret
from driftwise.experiments.findings.finding import Claim, Finding, Panel, Series, Table
from driftwise.experiments.studies.study import Arguments, Size, Study, exponent, group, means, within
from driftwise.experiments.studies.theory.jumping import JUMPER, costs
from driftwise.learners import OGD, Hedge, LazyScream, Scream
from driftwise.play import play

RANGES = {2: (0.6, 0.9), 10: (2.0, 2.6), 64: (3.0, 3.8)}
"""Range in which Hedge's regret over sqrt(lambda C T) was found to lie, for each number of experts."""


def expert_regret(experts: int, rounds: int, price: float, seed: int) -> float:
    """Return Hedge's regret with switching cost over sqrt(lambda C T) on the instance of Theorem 3."""
    losses = regret.adversaries.expert_blocks(rounds, experts, switching_cost=price, seed=seed)
    learner = Hedge(experts, loss_bound=1.0, horizon=rounds, switching_cost=price)
    trace = play(learner, losses, price)
    return regret.dynamic_regret(trace, losses, losses.comparators, norm=1) / losses.scale


def _expert_tasks(size: Size) -> list[Arguments]:
    cells = [(T, price) for T in (1_000, 10_000, 100_000) for price in (1.0, 4.0, 16.0, 64.0)]
    if size.quick:
        cells = [(1_000, 4.0), (1_000, 16.0), (10_000, 16.0), (10_000, 64.0)]
    return [(N, T, price, seed) for N in RANGES for T, price in cells for seed in range(20 if T > 10_000 else 40)]


def _conclude_experts(tasks: list[Arguments], results: list[float]) -> Finding:
    grouped = group([task[:3] for task in tasks], results)
    rows, claims, series = [], [], []
    for N, (low, high) in RANGES.items():
        cells = sorted((T * price, float(np.mean(grouped[n, T, price]))) for n, T, price in grouped if n == N)
        sizes, ratios = zip(*cells, strict=True)
        regrets = [ratio * math.sqrt(size) for size, ratio in cells]
        least, most, slope = min(ratios), max(ratios), exponent(sizes, regrets)
        series.append(Series(f"{N} experts", sizes, regrets, style="points"))
        rows.append([f"{N}", f"{len(cells)}", f"{least:.3f}", f"{most:.3f}", f"{slope:.3f}"])
        text = f"Hedge, {N} experts: regret / sqrt(lambda C T) in {low} to {high}"
        claims.append(Claim(text, low <= least and most <= high, f"{least:.3f} to {most:.3f}"))
        text = f"Hedge, {N} experts: slope in lambda C T is 0.49, give or take 0.02"
        claims.append(Claim(text, within(slope, 0.49, 0.02), f"{slope:.3f}"))
    ends = [series[0].x[0], series[0].x[-1]]
    series.append(Series("sqrt(lambda C T)", ends, [math.sqrt(end) for end in ends], style="dashed"))
    header = ["experts", "cells", "least ratio", "largest ratio", "slope in lambda C T"]
    summary = [
        "Theorem 3 says that no learner's regret with switching cost can be of a lower order than sqrt(lambda C T).",
        f"On its instance Hedge's regret grows with the exponents {', '.join(row[-1] for row in rows)} in lambda C T "
        f"for {', '.join(str(N) for N in RANGES)} experts, where the bound has 0.5.",
    ]
    panel = Panel("Hedge on the experts of Theorem 3", "lambda C T", "regret with switching cost", series, log=True)
    table = Table("Hedge's regret / sqrt(lambda C T)", header, rows)
    return Finding(EXPERTS.title, summary, [table], claims, [panel], columns=1)


def moving_regret(tau: int, price: float, rounds: int, seed: int) -> dict[str, float]:
    """Return the regret with switching cost over sqrt(lambda tau T) on the instance of Theorem 5, for each player."""
    losses = regret.adversaries.moving_blocks(rounds, float(tau), switching_cost=price, seed=seed)
    usual: dict[str, Any] = {"gradient_bound": 1.0, "switching_cost": price, "horizon": rounds}
    result = {}
    for name, kind in (("OGD", OGD), ("Scream", Scream), ("Lazy Scream", LazyScream)):
        trace = play(kind(losses.domain, **usual), losses, price)
        result[name] = regret.dynamic_regret(trace, losses, losses.comparators) / losses.scale
    _, jumped = costs(losses, price)[JUMPER]
    return {**result, JUMPER: jumped / losses.scale}


def _moving_tasks(size: Size) -> list[Arguments]:
    T, seeds = (4_000, 5) if size.quick else (40_000, 10)
    return [(tau, price, T, seed) for tau in (2, 8, 32) for price in (1.0, 8.0) for seed in range(seeds)]


def _conclude_moving(tasks: list[Arguments], results: list[dict[str, float]]) -> Finding:
    cells = means([task[:2] for task in tasks], results)
    names = list(results[0])
    rows = [[f"{tau}", f"{price:g}", *(f"{cell[name]:.3f}" for name in names)] for (tau, price), cell in cells.items()]
    least = min(min(cell.values()) for cell in cells.values())
    text = "Theorem 5's instance: the mean regret of each player is at least sqrt(lambda tau T) / 6"
    claim = Claim(text, least >= 1.0 / 6.0, f"least {least:.3f}")
    panels = []
    for price in dict.fromkeys(price for _, price in cells):
        taus = [tau for tau, p in cells if p == price]
        series = [Series(name, taus, [cells[tau, price][name] for tau in taus], style="points") for name in names]
        panels.append(Panel(f"Theorem 5, lambda = {price:g}", "tau", "regret / sqrt(lambda tau T)", series, log=True))
    lowest = [min((name for name in names if name != JUMPER), key=cell.__getitem__) for cell in cells.values()]
    most = max(cell["Scream"] / cell[name] for cell, name in zip(cells.values(), lowest, strict=True))
    summary = [
        "On the instance of Theorem 5 no causal player expects a regret below sqrt(lambda tau T) / 6; the least mean "
        f"here is {least:.3f}.",
        f"Of the learners OGD is lowest in {lowest.count('OGD')} of {len(lowest)} cells, and Scream is up to "
        f"{most - 1.0:.0%} above the lowest.",
        "The last player jumps to the best corner after the first round of a block if the rest of it pays for that: "
        "here it never does, so it stands still. Below it plays longer, beside others that jump.",
    ]
    table = Table("Regret / sqrt(lambda tau T), mean over seeds", ["tau", "lambda", *names], rows)
    return Finding(MOVING.title, summary, [table], [claim], panels, columns=2)


EXPERTS = Study("experts", "Hedge on the experts of Theorem 3", _expert_tasks, expert_regret, _conclude_experts)
ON_BLOCKS = "Regret / sqrt(lambda tau T) on the instance of Theorem 5"
MOVING = Study("moving", ON_BLOCKS, _moving_tasks, moving_regret, _conclude_moving)
