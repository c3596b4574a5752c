"""Many short series at once: a year of days each, no season given, beside the last value."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from driftwise import regret
from driftwise._validate import Array
from driftwise.experiments.contests.contest import OPTIMUM
from driftwise.experiments.findings.finding import Claim, Finding, Table
from driftwise.experiments.studies.decisions.data.availability import left_out, there
from driftwise.experiments.studies.decisions.data.days import DEMANDS, LEVELS, Daily, Year, demand_of, level_of, year
from driftwise.experiments.studies.decisions.data.recordings import STREAMS
from driftwise.experiments.studies.decisions.ours import OURS, SCREAM, cost_of, ours, scream
from driftwise.experiments.studies.study import Arguments, Size, Study, group
from driftwise.movecost import move_cost_for

LAST = "last value"
LIMIT = 1.1
"""Multiple of the last value's total."""


class Kind(NamedTuple):
    """A kind of problem that every series is made into."""

    series: Mapping[str, Daily]
    make: Callable[[Array], Year]
    prices: tuple[float, ...]
    what: str


KINDS = {
    "levels": Kind(LEVELS, level_of, (0.0, 0.01, 0.1), "levels tracked, in standard deviations"),
    "demands": Kind(DEMANDS, demand_of, (0.0, 0.1, 1.0), "demands to keep capacity for, in means"),
}


def run(kind: str, series: str, seed: int) -> dict[str, Any]:
    """Return what everyone costs in a year at every price; a recording needs no seed."""
    of = KINDS[kind]
    p, at_price = of.make(year(of.series[series])), []
    for price in of.prices:
        moving = move_cost_for("reproduce", price).along(p.last).sum()
        at_price.append(
            {
                OURS: cost_of(ours(p.domain, price, p.last[0]), p.losses, price),
                LAST: float(p.losses.policy_losses(p.last).sum() + moving),
                SCREAM: cost_of(scream(p.domain, price, p.last[0]), p.losses, price),
                OPTIMUM: regret.hindsight_optimum(p.losses, p.domain, price).total,
            }
        )
    return {name: np.array([costs[name] for costs in at_price]) for name in at_price[0]}


def _recordings(spec: Daily) -> list[str]:
    return [spec.recording]


def _tasks(size: Size) -> list[Arguments]:
    tasks: list[Arguments] = []
    for kind, of in KINDS.items():
        names = [name for name in there("reproduce decisions", {**LEVELS, **DEMANDS}, _recordings) if name in of.series]
        tasks += [(kind, name, 0) for name in (names[::8] if size.quick else names)]
    return tasks


def _conclude(tasks: list[Arguments], results: list[dict[str, Any]]) -> Finding:
    rows, claims, summary = [], [], []
    for kind, of in group([task[0] for task in tasks], results).items():
        totals = {name: np.sum([result[name] for result in of], axis=0) for name in of[0]}
        ratios = totals[OURS] / totals[LAST]
        prices = KINDS[kind].prices
        for k, price in enumerate(prices):
            each = np.array([result[OURS][k] / result[LAST][k] for result in of])
            rows.append(
                [f"{len(of)} {kind}", f"{price:g}"]
                + [f"{totals[name][k] / totals[LAST][k]:.3f}" for name in (OURS, SCREAM, OPTIMUM)]
                + [f"{each.min():.2f} to {each.max():.2f}"]
            )
        text = f"{kind.capitalize()}: in total at most {LIMIT:g} times the last value's cost, at every price"
        spread = ", ".join(f"{ratio:.3f} at {price:g}" for ratio, price in zip(ratios, prices, strict=True))
        complete = not left_out(KINDS[kind].series, _recordings)
        verdict = bool(ratios.max() <= LIMIT) if complete else None
        measured = f"{spread}; {len(of)} series" + ("" if complete else f", not all are installed: {STREAMS}")
        claims.append(Claim(text, verdict, measured))
        summary.append(
            f"{len(of)} {KINDS[kind].what}: {OURS} costs {ratios.min():.2f} to {ratios.max():.2f} times what the last "
            f"value costs in total, and {SCREAM} {(totals[SCREAM] / totals[LAST]).max():.2f} times at most."
        )
    summary.append("The last year of each series is played; the first years of half of them were used for design.")
    summary += left_out({**LEVELS, **DEMANDS}, _recordings)
    header = ["series", "price", OURS, SCREAM, "hindsight", "series by series"]
    return Finding(STUDY.title, summary, [Table("Total cost / the last value's", header, rows)], claims)


STUDY = Study("daily", "Many short series, beside the last value", _tasks, run, _conclude)
