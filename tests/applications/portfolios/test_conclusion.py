"""What a universe says, with numbers that make claims hold and fail."""

import dataclasses

import numpy as np
import pytest

from driftwise.adapters.portfolio import Backtest
from driftwise.applications.data import load
from driftwise.applications.portfolios import conclude, contest, overall
from driftwise.applications.portfolios.conclusion import shortfall
from driftwise.applications.portfolios.contest import Entry, Universe
from driftwise.experiments.contests.outcome import HINDSIGHT, OURS, RULE

DAYS = 10
OTHERS = {
    contest.UNIFORM: (RULE, 0.8),
    contest.EG: (RULE, 1.2),
    contest.NEWTON: (RULE, 0.1),
    contest.BEST_ASSET: (HINDSIGHT, 2.0),
    contest.BEST_CONSTANT: (HINDSIGHT, 2.5),
}


def entry(label: str, kind: str, end: float) -> Entry:
    flat = np.zeros(DAYS)
    return Entry(label, kind, Backtest(np.full(DAYS, end / DAYS), flat, flat, np.full((DAYS, 2), 0.5)))


def universe(
    ours: float, held: float = 1.0, name: str = "synthetic-stocks", costs: tuple[float, ...] = (0.0,)
) -> Universe:
    """Return a universe in which ours and doing nothing end with these log-wealths."""
    entries = [entry(contest.SELF_TUNED, OURS, ours), entry(contest.HOLD, RULE, held)]
    entries += [entry(label, kind, end) for label, (kind, end) in OTHERS.items()]
    data = dataclasses.replace(load("synthetic-stocks"), name=name)
    return Universe(data, DAYS, dict.fromkeys(costs, entries))


@pytest.mark.parametrize(
    ("ours", "held", "holds"),
    [(0.96, 1.0, True), (0.94, 1.0, False), (1.2, 1.0, True), (-1.04, -1.0, True), (-1.06, -1.0, False)],
)
def test_the_learner_may_be_a_twentieth_behind(ours: float, held: float, holds: bool) -> None:
    (claim,) = conclude(universe(ours, held)).claims
    assert claim.holds is holds
    assert f"{ours:.4f} for {held:.4f} at 0 %" in claim.measured
    assert shortfall(universe(ours, held), 0.0) == pytest.approx((held - ours) / abs(held))


def test_the_worst_cost_decides() -> None:
    mixed = universe(0.99, costs=(0.0, 0.001))
    mixed.entries[0.001] = [entry(contest.SELF_TUNED, OURS, 0.5), *mixed.entries[0.0][1:]]
    assert conclude(mixed).claims[0].holds is False


def test_sentences_name_who_ended_above() -> None:
    finding = conclude(universe(0.98))
    assert finding.title.endswith("(made up)")
    assert finding.bullets[0].startswith("SYNTHETIC DATA")
    assert (
        "EG, eta 0.05 ended above buy and hold, and SelfTunedLearner below it by 2.0% of its wealth"
        in finding.bullets[1]
    )
    assert finding.tables[0].title.partition(" of what")[0] == "At a cost of 0 %"
    rows = {row[0]: row for row in finding.tables[0].rows}
    assert rows[contest.EG][3] == "+0.200"
    assert finding.panels[0].series[0].y[-1] == pytest.approx(0.98)


def test_the_overview_counts_universes() -> None:
    finding = overall([universe(1.3, name="stocks"), universe(0.97, name="tse"), universe(-2.0, -1.0, name="djia")])
    table = finding.tables[0]
    assert [row[:3] for row in table.rows] == [
        ["stocks", "design", "0 %"],
        ["tse", "held out", "0 %"],
        ["djia", "held out", "0 %"],
    ]
    said = " ".join(finding.bullets)
    assert "of 3 universes these ended above buy and hold" in said
    assert "EG (eta 0.05) in 3" in said
    assert "SelfTunedLearner in 1" in said
    assert "furthest behind buy and hold on djia at 0 %: by 100.0% of the size" in said
    (claim,) = finding.claims
    assert claim.holds  # where buy and hold gained
    assert "+3.0% at worst, in 2 cases" in claim.measured
    assert overall([universe(0.9)]).claims[0].holds is False
    assert overall([universe(-1.0, -1.0)]).claims[0].holds is None
