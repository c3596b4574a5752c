"""What came out of a case, in plain words, every one of them computed from the numbers."""

from collections.abc import Sequence

from driftwise.applications.case import Case
from driftwise.applications.contest import HINDSIGHT, OURS, RULE, Contest, Outcome
from driftwise.applications.data import CATALOGUE, Dataset
from driftwise.applications.ours import SELF_TUNED
from driftwise.experiments.comparison.words import percent, show
from driftwise.experiments.findings.finding import spoken

NOBODY = {RULE: "rule of today", HINDSIGHT: "static level or tuned rule, which take hindsight"}
"""Those that a learner is not dearer than, if it is dearer than none of them."""


def summarise(contests: Sequence[Contest]) -> str:
    """Say who was cheapest at every price and where ours lost, and before all if the series is made up."""
    case = contests[0].case
    parts = [warning(case.data), _cheapest(contests), _lost(contests, SELF_TUNED)]
    return " ".join(part for part in [*parts, case.note, case.data.note] if part)


def warning(data: Dataset) -> str:
    """Say of a series that is made up that it is, and how to get a real one; nothing of any other."""
    if not data.synthetic:
        return ""
    commands = sorted({source.install for source in CATALOGUE.values() if "driftwise[" in source.install})
    return (
        f"SYNTHETIC DATA: {len(data)} {data.step}s that are {data.source}, so nothing here is evidence about the real "
        f"world. Real series come with {' and '.join(commands)}."
    )


def _cheapest(contests: Sequence[Contest]) -> str:
    """Say who was cheapest of those who need no hindsight, and how far the other side was."""
    parts = []
    for contest in contests:
        ours, rule = (_best(contest, kind) for kind in (OURS, RULE))
        best, other = sorted((ours, rule), key=lambda one: one.overall)
        side = "best of ours" if other is ours else "best rule of today"
        parts.append(
            f"at a move cost of {show(contest.move_cost)} {named(best)}, {contest.multiple(best):.2f} times the "
            f"optimum ({side}: {named(other)}, {more(other.overall / best.overall)})"
        )
    return f"Cheapest of all that are not picked or tuned in hindsight: {'; '.join(parts)}."


def _best(contest: Contest, kind: str) -> Outcome:
    return min((one for one in contest.outcomes if one.kind == kind), key=lambda one: one.overall)


def _lost(contests: Sequence[Contest], label: str) -> str:
    """Say at which prices, and to whom, a learner of ours lost: to rules of today, and to what takes hindsight."""
    said = []
    for kind, whom in ((RULE, "rules of today"), (HINDSIGHT, "what takes hindsight")):
        parts = []
        for contest in contests:
            mine = contest[label].overall
            better = sorted((one for one in contest.outcomes if one.kind == kind), key=lambda one: one.overall)
            better = [one for one in better if one.overall < mine]
            if better:
                shown = [f"{named(one)} ({more(mine / one.overall)})" for one in better]
                parts.append(f"at {show(contest.move_cost)} than {_joined(shown)}")
        said.append(
            f"{label} costs more than {whom}: {'; '.join(parts)}."
            if parts
            else f"{label} costs no more than any {NOBODY[kind]}."
        )
    return " ".join(said)


def more(ratio: float) -> str:
    """Return by how much something is dearer.

    Examples
    --------
    >>> more(1.25), more(1.0), more(8.0)
    ('25 % more', '0 % more', '8 times as much')
    """
    return f"{percent(ratio - 1.0)} more" if ratio < 2.0 else f"{ratio:.3g} times as much"


def named(outcome: Outcome) -> str:
    """Return a label as it can stand in a sentence."""
    return spoken(outcome.label)


def _joined(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def setting(case: Case) -> str:
    """Say in a heading that a series is made up, if it is."""
    return f"{case.title} (made up)" if case.data.synthetic else case.title
