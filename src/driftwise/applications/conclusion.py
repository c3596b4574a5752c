"""What a case says: a table for every price of moving, claims, and short sentences computed from the numbers."""

from collections.abc import Sequence

from driftwise.applications.case import Case
from driftwise.applications.contest import CaseContest
from driftwise.applications.data import CATALOGUE, Dataset
from driftwise.applications.figures import cost_table, panels, problem_table, settings_table
from driftwise.applications.ours import INFORMED, SELF_TUNED
from driftwise.experiments.contests.outcome import HINDSIGHT, OURS, RULE, Outcome
from driftwise.experiments.contests.words import more, show
from driftwise.experiments.findings.finding import Claim, Finding, Table

MOST_EXTRA = 0.02
"""A learner that is given forecasts should cost at most this share more than the best of them, and than without."""

RIVALS = {RULE: "a common rule", HINDSIGHT: "a choice made in hindsight"}
NOBODY = {RULE: "common rule", HINDSIGHT: "static level or tuned rule, chosen in hindsight"}
"""Who a learner may lose to, and who it did not lose to."""


def conclude(contests: Sequence[CaseContest]) -> Finding:
    """Say what came out of a case: a table for every price, what was claimed, and words."""
    case = contests[0].case
    return Finding(
        setting(case),
        summarise(contests),
        [
            *(cost_table(contest) for contest in contests),
            problem_table(case),
            settings_table(contests),
            losses_table(contests),
        ],
        _claims(contests),
        panels(contests),
        columns=2,
    )


def _claims(contests: Sequence[CaseContest]) -> list[Claim]:
    """Hold ours against the rule with default settings and the forecasts it is given, and certify the optimum."""
    default = next(label for label in contests[0].case.rules if "default" in label)
    rule = default.replace(", default", " with default settings").lower()
    ratios = [contest[SELF_TUNED].overall / contest[default].overall for contest in contests]
    series = f"{contests[0].case.application} on {contests[0].case.data.name}"
    gaps = max(contest.solution.gap for contest in contests)
    return [
        Claim(f"{SELF_TUNED} costs less than the {rule}, {series}", max(ratios) < 1.0, _at_prices(ratios, contests)),
        *_forecasts_claim(contests, series),
        Claim(
            f"The hindsight optimum is certified, {series}",
            all(contest.solution.optimal for contest in contests),
            f"relative gap at most {gaps:.1e}",
        ),
    ]


def _forecasts_claim(contests: Sequence[CaseContest], series: str) -> list[Claim]:
    """Hold the learner that is given forecasts against the better of these, and against itself without them."""
    given = contests[0].case.forecasts
    if not given:
        return []
    ratios = []
    for contest in contests:
        best = min(contest[label].overall for label in (SELF_TUNED, *given))
        ratios.append(contest[INFORMED].overall / best)
    return [
        Claim(
            f"{INFORMED} costs at most {100.0 * MOST_EXTRA:g} % more than the better of that forecast, followed at "
            f"once, and the learner without it, {series}",
            max(ratios) <= 1.0 + MOST_EXTRA,
            _at_prices(ratios, contests),
        )
    ]


def _at_prices(ratios: Sequence[float], contests: Sequence[CaseContest]) -> str:
    """Return a ratio for every price of moving."""
    pairs = zip(ratios, contests, strict=True)
    return ", ".join(f"{ratio:.3f} at {show(contest.move_cost)}" for ratio, contest in pairs) + ", as a ratio"


def summarise(contests: Sequence[CaseContest]) -> list[str]:
    """Say who was cheapest and where ours lost; and first of all, if the series is made up, that it is."""
    case = contests[0].case
    shown = dict.fromkeys((0, len(contests) // 2, len(contests) - 1))  # the lowest, a middle and the highest price
    said = [warning(case.data), *(_cheapest(contests[k]) for k in shown), _lost(contests, SELF_TUNED)]
    return [sentence for sentence in (*said, case.note, case.data.note) if sentence]


def warning(data: Dataset) -> str:
    """Say of a series that is made up that it is, and how to get a real one; nothing of any other."""
    if not data.synthetic:
        return ""
    commands = sorted({source.install for source in CATALOGUE.values() if "driftwise[" in source.install})
    return (
        f"SYNTHETIC DATA: {len(data)} {data.step}s that are {data.source}, so nothing here is evidence about the real "
        f"world. Real series come with {' and '.join(commands)}."
    )


def _cheapest(contest: CaseContest) -> str:
    """Say who was cheapest of those who need no hindsight, and how far the other side was."""
    ours, rule = (contest.of(kind)[0] for kind in (OURS, RULE))
    best, other = sorted((ours, rule), key=lambda one: one.overall)
    side = "best of ours" if other is ours else "best common rule"
    return (
        f"At a move cost of {show(contest.move_cost)}, {best.name} was cheapest without hindsight: "
        f"{contest.multiple(best):.2f} times the optimum; the {side}, {other.name}, cost "
        f"{more(other.overall, best.overall)}."
    )


def beaten(contest: CaseContest, label: str, kind: str) -> list[Outcome]:
    """Return the players of a kind that cost less than a learner, cheapest first."""
    return [one for one in contest.of(kind) if one.overall < contest[label].overall]


def _lost(contests: Sequence[CaseContest], label: str) -> str:
    """Say at how many prices a learner lost to common rules and to choices made in hindsight, and the worst case."""
    said = []
    for kind, whom in RIVALS.items():
        losses = [(contest, found[0]) for contest in contests if (found := beaten(contest, label, kind))]
        if not losses:
            said.append(f"no more than any {NOBODY[kind]}")
            continue
        worst, best = max(losses, key=lambda pair: pair[0][label].overall / pair[1].overall)
        extra = more(worst[label].overall, best.overall)
        said.append(
            f"more than {whom} at {len(losses)} of {len(contests)} prices (at worst {extra}, against {best.name} at "
            f"{show(worst.move_cost)})"
        )
    return f"{label} costs {', and '.join(said)}."


def losses_table(contests: Sequence[CaseContest]) -> Table:
    """Return everyone to whom the learner to begin with lost, at every price."""
    rows = [
        [show(contest.move_cost), one.label, whom, more(contest[SELF_TUNED].overall, one.overall)]
        for contest in contests
        for kind, whom in RIVALS.items()
        for one in beaten(contest, SELF_TUNED, kind)
    ]
    header = ["move cost", "to", "which is", f"{SELF_TUNED} costs"]
    return Table(f"Where {SELF_TUNED} loses", header, rows, detail=True)


def setting(case: Case) -> str:
    """Return the heading of a case, which says so if the series is made up."""
    return f"{case.title} (made up)" if case.data.synthetic else case.title
