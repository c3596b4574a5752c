"""Which of my policies: a committee of the rules that people use, against the best of them in hindsight."""

from collections.abc import Sequence

from driftwise.applications.conclusion import warning
from driftwise.applications.contest import CaseContest
from driftwise.applications.ours import BLIND, COMMITTEE, FOLLOWING, MOVING, SELF_TUNED
from driftwise.experiments.contests.words import show
from driftwise.experiments.findings.finding import Claim, Finding, Panel, Series, Table
from driftwise.experiments.studies.study import group

MARGIN = 0.03
"""A committee should cost at most this share more than its best member in hindsight."""

SHOWN = (COMMITTEE, MOVING, FOLLOWING, BLIND, SELF_TUNED)
"""Who is held against the best member."""

MOST_EXTRA = 0.01
"""A committee that knows what moves cost should cost at most this share more than one that does not."""


def excess(contest: CaseContest, label: str) -> float:
    """Return by which share someone cost more than the best member of the committee, picked in hindsight."""
    return contest[label].overall / contest.best_member.overall - 1.0


def which(contests: Sequence[CaseContest]) -> Finding:
    """Say how far a committee is from its best member, on every series and at every price of moving."""
    return Finding(
        "Which of my policies: a committee against its best member",
        _summary(contests),
        [_table(contests), _members(contests)],
        _claims(contests),
        [_panel(contests)],
        columns=1,
    )


def _table(contests: Sequence[CaseContest]) -> Table:
    header = ["application", "series", "move cost", "best member in hindsight", "its overall", "x optimum"]
    header += ["committee", "with movers", "one at a time", "blind to moves", SELF_TUNED]
    rows = []
    for contest in contests:
        best = contest.best_member
        rows.append(
            [
                contest.case.application,
                contest.case.data.name,
                show(contest.move_cost),
                best.label,
                show(best.overall),
                f"{contest.multiple(best):.3f}",
                *(f"{1.0 + excess(contest, name):.3f}" for name in SHOWN),
            ]
        )
    return Table(
        f"Overall cost of committees and {SELF_TUNED}, over that of the best single member in hindsight", header, rows
    )


def _members(contests: Sequence[CaseContest]) -> Table:
    cases = {contest.case.title: contest.case for contest in contests}
    rows = [[title, str(len(case.members)), ", ".join(case.members)] for title, case in cases.items()]
    return Table("Who sits in the committees", ["case", "members", "who"], rows, detail=True)


def _claims(contests: Sequence[CaseContest]) -> list[Claim]:
    claims = []
    for application, part in group([contest.case.application for contest in contests], contests).items():
        values = [excess(contest, COMMITTEE) for contest in part]
        worst = part[max(range(len(part)), key=values.__getitem__)]
        inside = sum(value <= MARGIN for value in values)
        measured = (
            f"in {inside} of {len(values)} cases; {_signed(min(values))} to {_signed(max(values))}, the most on "
            f"{worst.case.data.name} at {show(worst.move_cost)}"
        )
        claims.append(
            Claim(
                f"The committee costs at most {100.0 * MARGIN:g} % more than its best member, {application}",
                inside == len(values),
                measured,
            )
        )
        claims.append(_movers_claim(application, part))
    saved = [contest[BLIND].overall / contest[COMMITTEE].overall for contest in contests]
    claims.append(
        Claim(
            f"Knowing what moves cost never makes a committee more than {100.0 * MOST_EXTRA:g} % more expensive",
            min(saved) >= 1.0 / (1.0 + MOST_EXTRA),
            f"one that is blind to moves costs {min(saved):.3f} to {max(saved):.3f} times as much",
        )
    )
    return claims


def gained(contest: CaseContest) -> float:
    """Return by which share a committee with movers costs more than one without; below 0 where it costs less."""
    return contest[MOVING].overall / contest[COMMITTEE].overall - 1.0


def _movers_claim(application: str, contests: Sequence[CaseContest]) -> Claim:
    """Hold a committee with movers against one without."""
    values = [gained(contest) for contest in contests]
    worst = contests[max(range(len(values)), key=values.__getitem__)]
    fine = sum(value <= 0.0 for value in values)
    return Claim(
        f"A committee with movers costs no more than one without, {application}",
        fine == len(values),
        f"in {fine} of {len(values)} cases; {100.0 * min(values):+.2f} % to {100.0 * max(values):+.2f} %, the most on "
        f"{worst.case.data.name} at {show(worst.move_cost)}",
    )


def _signed(share: float) -> str:
    return f"{100.0 * share:+.1f} %"


def _summary(contests: Sequence[CaseContest]) -> list[str]:
    count = len(contests)
    worst = max(contests, key=lambda contest: excess(contest, COMMITTEE))
    blind = max(contests, key=lambda contest: excess(contest, BLIND))
    moved = max(contests, key=lambda contest: excess(contest, MOVING))
    losing = [contest for contest in contests if contest[COMMITTEE].overall > contest[SELF_TUNED].overall]
    jumpy = [contest for contest in contests if contest[FOLLOWING].overall < contest[COMMITTEE].overall]
    made_up = [contest.case.data for contest in contests if contest.case.data.synthetic]
    return [
        *(warning(data) for data in made_up[:1]),
        f"On {count} cases {len({contest.best_member.label for contest in contests})} different rules were the best "
        "one in hindsight, and nobody knows beforehand which.",
        f"A committee of all of them was off by {_signed(excess(worst, COMMITTEE))} at worst ({_place(worst)}).",
        f"With movers it was off by {_signed(excess(moved, MOVING))} at worst ({_place(moved)}), and cheaper than "
        f"without in {sum(gained(contest) < 0.0 for contest in contests)} of {count}.",
        f"A committee that is blind to moves was off by {_signed(excess(blind, BLIND))} at worst ({_place(blind)}).",
        f"{SELF_TUNED}, which needs no rules, was cheaper than the committee in {len(losing)} of {count}"
        f"{_which_of(losing, contests)}.",
        f"Following one member at a time was cheaper than mixing in {len(jumpy)} of {count}.",
    ]


def _which_of(some: Sequence[CaseContest], contests: Sequence[CaseContest]) -> str:
    """Name some of the cases, or all the others where that is shorter."""
    others = [contest for contest in contests if contest not in some]
    word, named = ("", some) if len(some) <= len(others) else ("all but ", others)
    return f" ({word}{', '.join(map(_place, named))})" if named else ""


def _place(contest: CaseContest) -> str:
    return f"{contest.case.application} on {contest.case.data.name} at {show(contest.move_cost)}"


def _panel(contests: Sequence[CaseContest]) -> Panel:
    x = list(range(1, len(contests) + 1))
    series = [Series(name, x, [1.0 + excess(contest, name) for contest in contests], style="points") for name in SHOWN]
    limit = Series(f"Best member + {100.0 * MARGIN:g} %", [x[0], x[-1]], [1.0 + MARGIN] * 2, style="dashed")
    return Panel(
        "Overall cost over that of the best member in hindsight", "case, in the order of the table", "ratio",
        [*series, limit],
    )  # fmt: skip
