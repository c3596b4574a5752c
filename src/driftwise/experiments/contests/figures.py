"""A contest as a table and as panels: what everyone cost in all, and what it had cost so far in every round."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from driftwise._validate import Array
from driftwise.experiments.contests.outcome import MINE, OURS, Outcome
from driftwise.experiments.findings.curves import cumulative, marks
from driftwise.experiments.findings.finding import Panel, Series, Table

Column = Callable[[Outcome], str]

PARTS: dict[str, Callable[[Outcome], Array]] = {
    "Overall cost so far": lambda outcome: outcome.running + outcome.charges,
    "Loss so far": lambda outcome: outcome.running,
    "Switching cost so far": lambda outcome: outcome.charges,
}


def cost_table(title: str, who: str, outcomes: Iterable[Outcome], columns: Mapping[str, Column]) -> Table:
    """Return a row for every player, with a cell for every column; `who` is the header of their names."""
    rows = [[outcome.label, *(cell(outcome) for cell in columns.values())] for outcome in outcomes]
    return Table(title, [who, *columns], rows)


def costs_so_far(outcomes: Sequence[Outcome], x_label: str) -> list[Panel]:
    """Return three panels: overall cost, loss and switching cost so far; all but ours and the user's are dashed."""
    rounds = marks(len(outcomes[0].running))

    def curve(one: Outcome, costs: Array) -> Series:
        style = "line" if one.kind in (MINE, OURS) else "dashed"
        return Series(one.label, rounds, cumulative(costs).tolist(), style=style)

    return [Panel(title, x_label, "cost", [curve(one, part(one)) for one in outcomes]) for title, part in PARTS.items()]
