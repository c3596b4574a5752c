"""What a universe says: a table for every cost, one claim, and sentences computed from the numbers."""

from collections.abc import Sequence

import numpy as np

from driftwise.applications.conclusion import warning
from driftwise.applications.portfolios import contest
from driftwise.applications.portfolios.contest import HOLD, SELF_TUNED, Entry, Universe
from driftwise.experiments.contests.outcome import RULE
from driftwise.experiments.contests.words import counted, joined, spoken
from driftwise.experiments.data.files import version
from driftwise.experiments.findings.curves import cumulative, marks
from driftwise.experiments.findings.finding import Claim, Finding, Panel, Series, Table

LEAST = 0.05
"""The learner is to fall short of buy and hold by at most this part of its log-wealth, or of its size if it lost."""

SHOWN = (SELF_TUNED, HOLD, contest.UNIFORM, contest.EG, contest.NEWTON, contest.BEST_ASSET, contest.BEST_CONSTANT)
"""Who is in the overview."""

TRADERS = (contest.UNIFORM, contest.EG, contest.NEWTON)
"""Rules of the field that trade every day."""

DESIGN = ("synthetic-stocks", "stocks")
"""Universes that are like those that the learner was designed on, or overlap with them."""


def conclude(universe: Universe) -> Finding:
    """Say what came out on a universe."""
    return Finding(
        f"Portfolios: {universe.data.title}" + (" (made up)" if universe.data.synthetic else ""),
        _summary(universe),
        [*(_table(universe, cost) for cost in universe.entries), _problem(universe), _settings(universe)],
        [_claim(universe)],
        [_panel(universe)],
        columns=1,
    )


def overall(universes: Sequence[Universe]) -> Finding:
    """Say over all universes what doing nothing is worth."""
    rows = []
    for universe in universes:
        for cost in universe.entries:
            found = [f"{universe.log_wealth(label, cost):.3f}" for label in SHOWN]
            used = "design" if universe.data.name in DESIGN else "held out"
            rows.append([universe.data.name, used, _percent(cost), *found])
    table = Table("Log-wealth, costs paid", ["universe", "used for", "cost", *SHOWN], rows)
    return Finding("Portfolios: who ends above doing nothing", _overview(universes), [table], [_joint_claim(universes)])


def _overview(universes: Sequence[Universe]) -> list[str]:
    """Say who ended above buy and hold how often, at every cost, and where the learner was furthest behind."""
    said = [warning(universe.data) for universe in universes if universe.data.synthetic][:1]
    for cost in universes[0].entries:
        counts = []
        for label in (*TRADERS, SELF_TUNED):
            above = [one for one in universes if one.log_wealth(label, cost) > one.log_wealth(HOLD, cost)]
            counts.append(f"{spoken(label)} in {len(above)}")
        said.append(
            f"At a cost of {_percent(cost)}, of {counted(len(universes), 'universe')} these ended above buy and hold: "
            f"{joined(counts)}."
        )
    behind = {(one.data.name, cost): shortfall(one, cost) for one in universes for cost in one.entries}
    (name, cost), worst = max(behind.items(), key=lambda item: item[1])
    if worst > 0.0:
        said.append(
            f"{SELF_TUNED} was furthest behind buy and hold on {name} at {_percent(cost)}: by {worst:.1%} of the size "
            "of its log-wealth."
        )
    return said


def shortfall(universe: Universe, cost: float) -> float:
    """Return by which part of the size of buy and hold's log-wealth the learner is behind; below 0 if it is ahead."""
    held = universe.log_wealth(HOLD, cost)
    return (held - universe.log_wealth(SELF_TUNED, cost)) / max(abs(held), 1e-12)


def _claim(universe: Universe) -> Claim:
    """Hold the learner against doing nothing."""
    behind = {cost: shortfall(universe, cost) for cost in universe.entries}
    measured = ", ".join(
        f"{universe.log_wealth(SELF_TUNED, cost):.4f} for {universe.log_wealth(HOLD, cost):.4f} at {_percent(cost)}"
        for cost in behind
    )
    text = f"{SELF_TUNED} falls short of buy and hold by at most {LEAST:.0%} of its log-wealth, {universe.data.name}"
    return Claim(text, max(behind.values()) <= LEAST, measured)


def _joint_claim(universes: Sequence[Universe]) -> Claim:
    """Hold the learner against doing nothing wherever that gained."""
    gained = [
        shortfall(universe, cost)
        for universe in universes
        for cost in universe.entries
        if universe.log_wealth(HOLD, cost) > 0.0
    ]
    text = f"Wherever buy and hold gained, {SELF_TUNED} falls short of it by at most {LEAST:.0%} of its log-wealth"
    if not gained:
        return Claim(text, None, "buy and hold gained nowhere")
    return Claim(text, max(gained) <= LEAST, f"{max(gained):+.1%} at worst, in {len(gained)} cases")


def _beating(universe: Universe, cost: float) -> list[str]:
    """Return the rules that trade every day and end above buy and hold."""
    held = universe.log_wealth(HOLD, cost)
    return [label for label in TRADERS if universe.log_wealth(label, cost) > held]


def _summary(universe: Universe) -> list[str]:
    """Say who ended above doing nothing, at every cost."""
    said = [warning(universe.data)]
    for cost in universe.entries:
        above = _beating(universe, cost)
        names = joined(above) if above else "none"
        said.append(
            f"At a cost of {_percent(cost)}, of the rules that trade every day {names} ended above buy and hold, and "
            f"{SELF_TUNED} {_beside(universe, cost)}."
        )
    return [sentence for sentence in (*said, universe.data.note) if sentence]


def _beside(universe: Universe, cost: float) -> str:
    ahead = universe.log_wealth(SELF_TUNED, cost) - universe.log_wealth(HOLD, cost)
    return f"{'above' if ahead > 0.0 else 'below'} it by {abs(np.expm1(ahead)):.1%} of its wealth"


def _table(universe: Universe, cost: float) -> Table:
    held = universe.log_wealth(HOLD, cost)

    def row(one: Entry) -> list[str]:
        end, turnover, paid = one.run.log_wealth, round(one.run.turnover, 6), float(one.run.paid.sum())
        numbers = [f"{end:.3f}", f"{one.run.wealth:.4g}", f"{end - held:+.3f}", f"{turnover:.4g}", f"{paid:.3f}"]
        return [one.label, *numbers]

    header = ["who", "log-wealth", "wealth", "beyond buy and hold", "turnover", "paid for trades"]
    title = f"At a cost of {_percent(cost)} of what is traded; paid, and beyond buy and hold: in units of log-wealth"
    return Table(title, header, [row(one) for one in universe.entries[cost]])


def _problem(universe: Universe) -> Table:
    data = universe.data
    shipped = "driftwise, which makes it up" if data.package is None else f"{data.package}{version(data.package)}"
    rows = [
        ["What is decided", f"shares of wealth in {data.values.shape[1]} assets, once a {data.step}; none is borrowed"],
        ["What it costs", "minus the logarithm of what wealth is multiplied by, trades paid for out of the portfolio"],
        ["Everybody begins with", "the same share of each asset, without a trade"],
        ["Used for", "design" if data.name in DESIGN else "held out"],
        ["Series", f"{data.title}; {universe.rounds} {data.step}s"],
        ["Source", data.source],
        ["Licence", data.licence],
        ["Shipped by", shipped],
    ]
    return Table("The problem", ["what", "which"], rows)


def _settings(universe: Universe) -> Table:
    rows = [
        [_percent(cost), one.label, one.setting]
        for cost, entries in universe.entries.items()
        for one in entries
        if one.setting
    ]
    return Table("Picked in hindsight", ["cost", "what", "which"], rows, detail=True)


def _panel(universe: Universe) -> Panel:
    costs = list(universe.entries)
    cost = costs[len(costs) // 2]
    rounds = marks(universe.rounds)
    series = [
        Series(
            one.label,
            rounds,
            cumulative(one.run.growth).tolist(),
            style="dashed" if one.kind == RULE else "line",
        )
        for one in universe.entries[cost]
        if one.label in (SELF_TUNED, HOLD, *TRADERS)
    ]
    return Panel(f"Log-wealth so far, at a cost of {_percent(cost)}", universe.data.step, "log-wealth", series)


def _percent(cost: float) -> str:
    return f"{100.0 * cost:g} %"
