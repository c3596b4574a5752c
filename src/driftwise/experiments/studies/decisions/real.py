"""Regression and tracking on real streams, beside rules that are tuned in hindsight."""

from typing import Any

import numpy as np

from driftwise import regret
from driftwise._validate import Array
from driftwise.experiments.contests.contest import OPTIMUM
from driftwise.experiments.contests.words import counted, show
from driftwise.experiments.findings.finding import Claim, Finding, Panel, Series, Table
from driftwise.experiments.studies.decisions.baselines.tuned import LEVEL, REGRESSION, Rules
from driftwise.experiments.studies.decisions.data.availability import left_out, there
from driftwise.experiments.studies.decisions.data.problems import ROUNDS, Level, problem, recordings
from driftwise.experiments.studies.decisions.data.recordings import RECORDINGS, STREAMS
from driftwise.experiments.studies.decisions.data.streams import DESIGN, EVERY, HELD_OUT
from driftwise.experiments.studies.decisions.ours import OURS, SCREAM, cost_of, ours, scream
from driftwise.experiments.studies.study import Arguments, Size, Study

PRICES = (0.1, 1.0, 10.0)
"""Prices of moving, in the unit of a scaled series."""
NEAR, SHARE, FAR = 1.08, 0.95, 1.25
"""Multiples of the best tuned rule: the near one in this share of the cells, the far one nowhere exceeded."""
ENOUGH = 10
"""Number of held-out streams below which nothing is claimed."""
LISTED = 5
"""Number of lost cells that the summary names."""
TUNED, BANDED, DEFAULT = "tuned: ", "tuned with a band: ", "default: "
"""Rules with the best setting, with the best setting and the best dead band around them, and with the usual setting."""

Cell = tuple[str, float]


def run(stream: str, rounds: int, seed: int) -> dict[str, Any]:
    """Return what everyone costs at every price; a recording needs no seed."""
    p = problem(EVERY[stream], rounds)
    rules = Rules(LEVEL if isinstance(EVERY[stream], Level) else REGRESSION, p.features, p.targets, p.radius)
    at_price = [
        {
            OURS: cost_of(ours(p.domain, price), p.losses, price),
            SCREAM: cost_of(scream(p.domain, price), p.losses, price),
            OPTIMUM: regret.hindsight_optimum(p.losses, p.domain, price).total,
            **{f"{TUNED}{name}": cost for name, cost in rules.tuned(price).items()},
            **{f"{BANDED}{name}": cost for name, cost in rules.banded(price).items()},
            **{f"{DEFAULT}{name}": cost for name, cost in rules.default(price).items()},
        }
        for price in PRICES
    ]
    return {name: np.array([costs[name] for costs in at_price]) for name in at_price[0]}


def _tasks(size: Size) -> list[Arguments]:
    rounds = 250 if size.quick else ROUNDS
    return [(name, rounds, 0) for name in there("reproduce decisions", EVERY, recordings)]


def _conclude(tasks: list[Arguments], results: list[dict[str, Any]]) -> Finding:
    cells = {
        (task[0], price): {name: float(costs[k]) for name, costs in result.items()}
        for task, result in zip(tasks, results, strict=True)
        for k, price in enumerate(PRICES)
    }
    played = list(dict.fromkeys(name for name, _ in cells))
    fresh = {cell: costs for cell, costs in cells.items() if cell[0] in HELD_OUT}
    used = {cell: costs for cell, costs in cells.items() if cell[0] in DESIGN}
    title = "Overall cost as a multiple of the best tuned rule's"
    kinds = {"held out": fresh, "used for design": used}
    tables = [_table(f"{title}, {what}", of) for what, of in kinds.items() if of]
    tables.append(_sources(played))
    summary = [*_summary(fresh, used), *left_out(EVERY, recordings)]
    return Finding(STUDY.title, summary, tables, _claims(fresh), _panels(fresh))


def best_rule(costs: dict[str, float], kind: str = TUNED) -> str:
    """Return the cheapest rule of a kind, by the name that its cost has."""
    return min((name for name in costs if name.startswith(kind)), key=lambda name: costs[name])


def multiples(cells: dict[Cell, dict[str, float]], who: str) -> Array:
    """Return the cost of one player as a multiple of the best tuned rule's, in every cell."""
    return np.array([costs[who] / costs[best_rule(costs)] for costs in cells.values()])


def _claims(fresh: dict[Cell, dict[str, float]]) -> list[Claim]:
    texts = (
        f"Within {NEAR - 1.0:.0%} of the best rule tuned in hindsight in {SHARE:.0%} of the held-out cells",
        f"In no held-out cell more than {FAR:g} times the best rule tuned in hindsight",
    )
    streams = {name for name, _ in fresh}
    if len(streams) < ENOUGH:
        measured = f"{len(streams)} held-out streams are installed, {ENOUGH} are needed: {STREAMS}"
        return [Claim(text, None, measured) for text in texts]
    ratios = multiples(fresh, OURS)
    worst = int(ratios.argmax())
    name, price = list(fresh)[worst]
    inside = _near(ratios)
    return [
        Claim(texts[0], inside >= SHARE * ratios.size, f"{inside} of {ratios.size} cells, {len(streams)} streams"),
        Claim(texts[1], bool(ratios[worst] <= FAR), f"at most {ratios[worst]:.3f}, {name} at price {price:g}"),
    ]


def _summary(fresh: dict[Cell, dict[str, float]], used: dict[Cell, dict[str, float]]) -> list[str]:
    bullets = []
    if fresh:
        mine, old = multiples(fresh, OURS), multiples(fresh, SCREAM)
        plain = np.array([costs[best_rule(costs, DEFAULT)] / costs[best_rule(costs)] for costs in fresh.values()])
        bullets = [
            f"On streams that were not used for design, {OURS} is within {NEAR - 1.0:.0%} of the best rule tuned in "
            f"hindsight in {_near(mine)} of {mine.size} cells, and {SCREAM} in {_near(old)}.",
            f"It costs {np.median(mine):.2f} times as much in the median cell and {mine.max():.2f} in the worst; "
            f"{SCREAM} {np.median(old):.2f} and {old.max():.2f}.",
            f"The best rule with default settings costs {np.median(plain):.2f} times as much in the median, and more "
            f"than {OURS} in {int((plain > mine).sum())} of {mine.size} cells.",
            *_losses(fresh, mine),
            _against_bands(fresh),
        ]
    if used:
        mine = multiples(used, OURS)
        bullets.append(
            f"On the streams that it was designed on it is within {NEAR - 1.0:.0%} in {_near(mine)} of {mine.size} "
            "cells, which proves nothing."
        )
    return bullets


def _against_bands(fresh: dict[Cell, dict[str, float]]) -> str:
    """Say how the learner does beside rules that have a dead band as well, both tuned in hindsight for every price."""
    ratios = np.array([costs[OURS] / costs[best_rule(costs, BANDED)] for costs in fresh.values()])
    return (
        f"Beside rules that also have a dead band, tuned with their setting for every price, it is within "
        f"{NEAR - 1.0:.0%} in {_near(ratios)} of {ratios.size} cells; {np.median(ratios):.2f} times in the median, "
        f"{ratios.max():.2f} in the worst."
    )


def _losses(fresh: dict[Cell, dict[str, float]], mine: Array) -> list[str]:
    """Say where the learner loses by more than is near, worst first."""
    ranked = sorted(zip(mine.tolist(), fresh, strict=True), reverse=True)
    lost = [f"{name} at price {price:g} ({ratio:.2f})" for ratio, (name, price) in ranked if ratio > NEAR]
    if not lost:
        return []
    others = f"; and {counted(len(lost) - LISTED, 'other cell')}" if len(lost) > LISTED else ""
    return [f"It loses by more than that on {'; '.join(lost[:LISTED])}{others}."]


def _near(ratios: Array) -> int:
    return int((ratios <= NEAR).sum())


def _table(title: str, cells: dict[Cell, dict[str, float]]) -> Table:
    rows = []
    for (name, price), costs in cells.items():
        best = best_rule(costs)
        unit = costs[best]
        others = (SCREAM, best_rule(costs, BANDED), best_rule(costs, DEFAULT), OPTIMUM)
        players = [costs[who] / unit for who in (OURS, *others)]
        rows.append([name, f"{price:g}", *(f"{ratio:.3f}" for ratio in players), best.removeprefix(TUNED), show(unit)])
    header = [
        "stream",
        "price",
        OURS,
        SCREAM,
        "best with a band",
        "best default",
        "hindsight",
        "best tuned rule",
        "its cost",
    ]
    return Table(title, header, rows, detail=next(iter(cells))[0] in DESIGN)


def _sources(names: list[str]) -> Table:
    rows = []
    for name in names:
        for key in recordings(EVERY[name]):
            recording = RECORDINGS[key]
            use = "design" if name in DESIGN else "held out"
            rows.append([name, use, recording.package, recording.source, recording.licence])
    return Table("Where the streams are from", ["stream", "use", "package", "source", "licence"], rows, detail=True)


def _panels(fresh: dict[Cell, dict[str, float]]) -> list[Panel]:
    """Return the multiples of both learners, each from the smallest to the largest."""
    if not fresh:
        return []
    ranks = list(range(1, len(fresh) + 1))
    curves = [Series(who, ranks, sorted(multiples(fresh, who).tolist()), style="points") for who in (OURS, SCREAM)]
    limit = Series(f"{NEAR:g}", ranks, [NEAR] * len(ranks), style="dashed")
    return [Panel("Cost / best tuned rule", "cells, best first", "multiple", [*curves, limit], log=True)]


STUDY = Study("real", "Real streams, beside rules tuned in hindsight", _tasks, run, _conclude)
