"""Capacity for a demand with a season, when a forecast is at hand: the same hour, day or week a season ago."""

from typing import Any

import numpy as np

from driftwise import regret
from driftwise.experiments.contests.contest import OPTIMUM
from driftwise.experiments.findings.finding import Claim, Finding, Table
from driftwise.experiments.studies.decisions.data.availability import left_out, there
from driftwise.experiments.studies.decisions.data.demand import (
    DESIGN,
    EVERY,
    HEADROOM,
    HELD_OUT,
    SHORTAGE,
    Demand,
    provision,
)
from driftwise.experiments.studies.decisions.data.problems import ROUNDS
from driftwise.experiments.studies.decisions.data.recordings import STREAMS
from driftwise.experiments.studies.decisions.ours import OURS, SCREAM, cost_of, ours, scream
from driftwise.experiments.studies.study import Arguments, Size, Study
from driftwise.movecost import MoveCost

PRICES = (0.5, 2.0, 8.0)
"""Prices of starting a unit, in rounds of keeping it; stopping one is free."""
LIMIT = 1.02
"""Multiple of the better of the forecast and the learner without it."""
ENOUGH = 4
"""Number of held-out series below which nothing is claimed."""
WITH, WITHOUT, FORECAST = f"{OURS} with the forecast", f"{OURS} without it", "forecast followed at once"

Costs = dict[str, float]


def run(series: str, rounds: int, seed: int) -> dict[str, Any]:
    """Return what everyone costs at every price of starting a unit; a recording needs no seed."""
    p, at_price = provision(EVERY[series], rounds), []
    start = p.forecast[0]
    for up in PRICES:
        price = MoveCost(up=up, down=0.0)
        at_price.append(
            {
                WITH: cost_of(ours(p.domain, price, start), p.losses, price, p.forecast),
                WITHOUT: cost_of(ours(p.domain, price, start), p.losses, price),
                FORECAST: float(p.losses.policy_losses(p.forecast).sum() + price.along(p.forecast).sum()),
                SCREAM: cost_of(scream(p.domain, price, start), p.losses, price),
                OPTIMUM: regret.hindsight_optimum(p.losses, p.domain, price).total,
            }
        )
    return {name: np.array([costs[name] for costs in at_price]) for name in at_price[0]}


def _recordings(spec: Demand) -> list[str]:
    return [spec.recording]


def _tasks(size: Size) -> list[Arguments]:
    rounds = 300 if size.quick else ROUNDS
    return [(name, rounds, 0) for name in there("reproduce decisions", EVERY, _recordings)]


def _conclude(tasks: list[Arguments], results: list[dict[str, Any]]) -> Finding:
    cells = {
        (task[0], up): {name: float(costs[k]) for name, costs in result.items()}
        for task, result in zip(tasks, results, strict=True)
        for k, up in enumerate(PRICES)
    }
    rows = [
        [
            name,
            "design" if name in DESIGN else "held out",
            EVERY[name].what,
            f"{up:g}",
            f"{_ratio(costs):.3f}",
            *(f"{costs[who] / costs[OPTIMUM]:.3f}" for who in (WITH, WITHOUT, FORECAST, SCREAM)),
        ]
        for (name, up), costs in cells.items()
    ]
    header = ["demand", "use", "forecast", "price", "with / better", "with", "without", "forecast alone", SCREAM]
    table = Table("Overall cost with the forecast / the better of two, and as multiples of hindsight", header, rows)
    fresh = {cell: costs for cell, costs in cells.items() if cell[0] in HELD_OUT}
    summary = [
        f"A unit of capacity costs 1 a round, one that is missing {SHORTAGE:g}, and starting one {PRICES[0]:g} to "
        f"{PRICES[-1]:g}; the forecast is {HEADROOM:g} times the demand of a season ago.",
        *_words(fresh),
        *left_out(EVERY, _recordings),
    ]
    return Finding(STUDY.title, summary, [table], [_claim(fresh)])


def _ratio(costs: Costs) -> float:
    """Return the cost with the forecast as a multiple of the better of following it and doing without."""
    return costs[WITH] / min(costs[FORECAST], costs[WITHOUT])


def _words(fresh: dict[tuple[str, float], Costs]) -> list[str]:
    if not fresh:
        return []
    followed = [costs[FORECAST] < costs[WITHOUT] for costs in fresh.values()]
    gains = np.array([costs[WITHOUT] / costs[WITH] - 1.0 for costs in fresh.values()])
    ratios = np.array([_ratio(costs) for costs in fresh.values()])
    return [
        f"In {sum(followed)} of {len(fresh)} held-out cells the forecast, followed at once, is cheaper than {OURS} "
        "without it.",
        f"With the forecast the learner costs {ratios.min():.3f} to {ratios.max():.3f} times as much as the better of "
        "the two.",
        f"Being given it is worth {np.median(gains):.1%} of the cost in the median, {gains.max():.1%} at most.",
    ]


def _claim(fresh: dict[tuple[str, float], Costs]) -> Claim:
    text = f"With the forecast, at most {LIMIT:g} times the better of following it at once and doing without it"
    series = {name for name, _ in fresh}
    if len(series) < ENOUGH:
        return Claim(text, None, f"{len(series)} held-out series are installed, {ENOUGH} are needed: {STREAMS}")
    worst = max(fresh, key=lambda cell: _ratio(fresh[cell]))
    largest = _ratio(fresh[worst])
    measured = f"at most {largest:.3f}, {worst[0]} at price {worst[1]:g}; {len(series)} series"
    return Claim(text, largest <= LIMIT, measured)


STUDY = Study("capacity", "Capacity with a seasonal forecast", _tasks, run, _conclude)
