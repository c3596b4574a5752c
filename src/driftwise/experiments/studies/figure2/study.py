"""Figure 2, concluded: four readings of the paper's experiment in three environments, with every claim checked.

The paper does not say where its learners start and how their constants were chosen. So there are the reading that its
figure suggests (a random first policy, constants tuned), the one that a user gets (u = -K x to begin with, constants
measured on the way), the one between (the same start, tuned), and one with disturbances that are worth learning.
"""

from typing import Any, NamedTuple

import numpy as np

from driftwise._validate import Array
from driftwise.experiments.findings.curves import mean_curve
from driftwise.experiments.findings.finding import Claim, Finding, Panel, Table
from driftwise.experiments.studies.figure2.environments import NAMES
from driftwise.experiments.studies.figure2.runs import FIXED, LEARNERS, LQR, REFERENCES, STAGED, run
from driftwise.experiments.studies.paired import Ratio, paired, ratio_table
from driftwise.experiments.studies.study import Arguments, Size, Study, group

ROUNDS = 10_000


class Reading(NamedTuple):
    """How the experiment is read."""

    correlated: bool
    random_start: bool
    tuned: bool


READINGS = {
    "random start, tuned": Reading(correlated=False, random_start=True, tuned=True),
    "zero start, measured": Reading(correlated=False, random_start=False, tuned=False),
    "zero start, tuned": Reading(correlated=False, random_start=False, tuned=True),
    "correlated disturbances": Reading(correlated=True, random_start=False, tuned=False),
}
TUNED, MEASURED, ZERO, CORRELATED = READINGS

NEAR = 1.005
"""Ratio of costs that differ by half a per cent."""


def _tasks(size: Size) -> list[Arguments]:
    cells = dict.fromkeys((name, reading.correlated) for reading in READINGS.values() for name in NAMES)
    tasks: list[Arguments] = [
        (name, correlated, reference, False, None, ROUNDS, seed)
        for reference in reversed(REFERENCES)  # those that take longest first
        for name, correlated in cells
        for seed in size.seeds
    ]
    # Multiples of the measured gradient bound to tune on; next to nothing is learnt at the end of the grid.
    powers = (-2, 0, 2, 4, 8, 12) if size.quick else (-2, -1, 0, 1, 2, 3, 4, 5, 6, 8, 10, 12)
    for reading in READINGS.values():
        factors = [2.0**k for k in powers] if reading.tuned else [None]
        tasks += [
            (name, reading.correlated, learner, reading.random_start, factor, ROUNDS, seed)
            for name in NAMES
            for learner in LEARNERS
            for factor in factors
            for seed in size.seeds
        ]
    return tasks


Cell = dict[str, list[dict[str, Any]]]
"""The runs of one panel: by contender, one for each seed."""
Totals = dict[tuple[str, str], dict[str, list[float]]]
"""Total costs by reading and environment: of every contender, one for each seed."""


def _cells(tasks: list[Arguments], results: list[dict[str, Any]], seeds: list[int]) -> dict[tuple[str, str], Cell]:
    """Return the runs of every panel; of a learner that is tuned, the best of its grid, seed by seed."""
    keys = [(*key, factor is not None, seed) for *key, factor, _, seed in tasks]
    runs = group(keys, [result | {"factor": task[4]} for task, result in zip(tasks, results, strict=True)])
    cells: dict[tuple[str, str], Cell] = {}
    for title, reading in READINGS.items():
        for name in NAMES:
            cell = cells[title, name] = {}
            for contender in (*LEARNERS, *REFERENCES):
                how = (reading.random_start, reading.tuned) if contender in LEARNERS else (False, False)
                of = [runs[(name, reading.correlated, contender, *how, seed)] for seed in seeds]
                cell[contender] = [min(tried, key=lambda result: float(result["total"])) for tried in of]
    return cells


def _conclude(tasks: list[Arguments], results: list[dict[str, Any]]) -> Finding:
    seeds, rounds = sorted({task[-1] for task in tasks}), tasks[0][-2]
    cells = _cells(tasks, results, seeds)
    totals = {key: {name: [float(r["total"]) for r in of] for name, of in cell.items()} for key, cell in cells.items()}
    claims = [
        paired(text, ratios, totals[reading, name], paper=reading == TUNED)
        for text, reading, name, ratios in _statements()
    ]
    tables = [_overview(reading, totals) for reading in READINGS]
    tables += [_ratios(reading, totals, seeds) for reading in READINGS]
    tables.append(_choices(cells, seeds))
    panels = []
    for name in NAMES:
        series = [mean_curve(of, [r["cost"] for r in cells[TUNED, name][of]], rounds) for of in LEARNERS]
        panels.append(Panel(f"{name}, as in the paper", "round", "cumulative cost", series))
    panels += [_panel(title, name, cell, rounds) for (title, name), cell in cells.items()]
    end = max(factor for *_, factor, _, _ in tasks if factor is not None)
    chosen = [run["factor"] == end for name in NAMES for learner in LEARNERS for run in cells[ZERO, name][learner]]
    summary = _summary(totals, claims, f"{sum(chosen)} of {len(chosen)}")
    return Finding(STUDY.title, summary, tables, claims, panels)


def _statements() -> list[tuple[str, str, str, list[Ratio]]]:
    """Return every claim: its text, the reading and the environment it is about, and its ratios.

    Those about the first reading are the paper's.
    """
    rivals = {TUNED: ("OGD", "Ader"), MEASURED: ("OGD", "Ader"), CORRELATED: ("OGD", "Ader", LQR)}
    statements = [
        (f"{name}, {reading}: Scream below {other}", reading, name, [Ratio("Scream", other, 0.0, 1.0)])
        for reading, others in rivals.items()
        for other in others
        for name in NAMES
    ]
    pairs = [("OGD", "Ader"), ("Scream", "OGD"), ("Scream", "Ader")]
    near = [Ratio(top, bottom, 1.0 / NEAR, NEAR) for top, bottom in pairs]
    return statements + [(f"{name}, {ZERO}: all three within 0.5 % of each other", ZERO, name, near) for name in NAMES]


def _choices(cells: dict[tuple[str, str], Cell], seeds: list[int]) -> Table:
    """Return the constants that tuning chose."""
    rows = [
        [f"{name}, {reading}: {learner}", *(f"{run['factor']:g}" for run in cells[reading, name][learner])]
        for reading, how in READINGS.items()
        for name in NAMES
        for learner in LEARNERS
        if how.tuned
    ]
    title = "What tuning chose: times the measured gradient bound; at the end of the grid next to nothing is learnt"
    return Table(title, ["learner", *(f"seed {seed}" for seed in seeds)], rows, detail=True)


def _overview(reading: str, totals: Totals) -> Table:
    """Return the total costs of a reading, and their ratios to LQR's on the same seed."""

    def cell(contender: str, name: str) -> str:
        here = totals[reading, name]
        return f"{np.mean(here[contender]):.0f} ({Ratio(contender, LQR).of(here).mean():.3f})"

    rows = [[each, *(cell(each, name) for name in NAMES)] for each in (*LEARNERS, *REFERENCES)]
    title = f"{reading.capitalize()}: total cost, mean over seeds (over LQR's on the same seed)"
    return Table(title, ["controller", *NAMES], rows)


def _ratios(reading: str, totals: Totals, seeds: list[int]) -> Table:
    """Return the ratios that matter, seed by seed."""
    ratios = (Ratio("Scream", "OGD"), Ratio("Scream", "Ader"), *(Ratio(learner, LQR) for learner in LEARNERS))
    columns = {f"{name}: {ratio}": ratio.of(totals[reading, name]) for name in NAMES for ratio in ratios}
    title = f"{reading.capitalize()}: ratios of total cost on the same seed"
    return ratio_table(title, seeds, columns)._replace(detail=True)


def _panel(reading: str, name: str, cell: Cell, rounds: int) -> Panel:
    """Return the costs so far over those of LQR: plants differ from seed to seed, and so do their costs."""

    def ratios(contender: str) -> list[Array]:
        return [own["cost"] / lqr["cost"] for own, lqr in zip(cell[contender], cell[LQR], strict=True)]

    learners = [mean_curve(learner, ratios(learner), rounds) for learner in LEARNERS]
    references = [mean_curve(each, ratios(each), rounds, "dashed")._replace(spread=None) for each in REFERENCES]
    return Panel(f"{name}, {reading}", "round", "cost so far / LQR's", [*learners, *references])


def _summary(totals: Totals, claims: list[Claim], still: str) -> list[str]:
    """Say it in percentages; three in a row are those of the three environments."""

    def means(reading: str, top: str, bottom: str) -> list[float]:
        return [float(Ratio(top, bottom).of(totals[reading, name]).mean()) for name in NAMES]

    def more(reading: str, top: str, bottom: str) -> str:
        # Rounded first, and 0.0 added, so that nothing is -0.0%.
        return " / ".join(f"{round(value - 1.0, 3) + 0.0:+.1%}" for value in means(reading, top, bottom))

    def part(top: str) -> str:
        return " / ".join(f"{value:.0%}" for value in means(CORRELATED, top, LQR))

    paper = [claim.holds for claim in claims if claim.paper]
    cheaper = min(min(means(TUNED, learner, LQR)) for learner in LEARNERS) > 1.0
    pays = max(means(CORRELATED, "Scream", LQR)) < 1.0
    return [
        f"As in the paper (independent noise, random start, everybody tuned), Scream costs "
        f"{more(TUNED, 'Scream', 'OGD')} against OGD and {more(TUNED, 'Scream', 'Ader')} against Ader; the three "
        f"numbers are means for {' / '.join(NAMES)}.",
        f"It is below them on every seed in {paper.count(True)} of {len(paper)} of these comparisons.",
        f"Nobody can predict such noise{', and the plain gain of LQR is cheaper than all of them' if cheaper else ''}: "
        f"Scream is at {more(TUNED, 'Scream', LQR)} against LQR.",
        f"The best policy in hindsight is at {more(MEASURED, FIXED, LQR)} against LQR if it is one for all rounds, and "
        f"at {more(MEASURED, STAGED, LQR)} if it is one for each of five stages.",
        f"Tuned from u = -K x on, the best that {still} runs can do is hardly to learn, at the end of the grid.",
        f"Where disturbances are correlated, {'learning can pay: ' if pays else ''}Scream costs {part('Scream')} of "
        f"what LQR does, OGD {part('OGD')}, Ader {part('Ader')}.",
    ]


STUDY = Study("controllers", "Controllers under changing costs", _tasks, run, _conclude)
