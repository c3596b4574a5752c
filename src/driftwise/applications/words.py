"""What came out of a case, in plain words, every one of them computed from the numbers."""

from collections.abc import Sequence

from driftwise.applications.case import Case
from driftwise.applications.contest import HINDSIGHT, OURS, RULE, Contest, Outcome
from driftwise.applications.data import CATALOGUE, Dataset
from driftwise.applications.ours import SELF_TUNED
from driftwise.experiments.comparison.words import percent, show
from driftwise.experiments.finding import spoken


def summarise(contests: Sequence[Contest]) -> str:
    """Say what was played, who was cheapest at every price, and where ours lost."""
    case = contests[0].case
    parts = [origin(case.data), case.what, f"A move cost of 1 means: {case.moving}."]
    parts += [_cheapest(contest) for contest in contests]
    parts += [_lost(contests, SELF_TUNED), case.data.note]
    return " ".join(part for part in parts if part)


def origin(data: Dataset) -> str:
    """Say what a series is and where it comes from; of a synthetic one, how to get a real one."""
    filled = f" ({data.filled} of them filled with the value before)" if data.filled else ""
    if not data.synthetic:
        return (
            f"{data.title}: {len(data)} {data.step}s{filled}. Source: {data.source}. Licence: {data.licence}. Shipped "
            f"by {data.package}."
        )
    commands = sorted({source.install for source in CATALOGUE.values() if "driftwise[" in source.install})
    return (
        f"SYNTHETIC DATA: {len(data)} {data.step}s that are {data.source}, so nothing here is evidence about the real "
        f"world. Real series come with {' and '.join(commands)}."
    )


def _cheapest(contest: Contest) -> str:
    playable = [one for one in contest.outcomes if one.kind != HINDSIGHT]
    best = min(playable, key=lambda one: one.overall)
    mine = min((one for one in playable if one.kind == OURS), key=lambda one: one.overall)
    text = f"At a move cost of {show(contest.move_cost)}, {named(best)} was the cheapest that needs no hindsight"
    text += f", at {contest.multiple(best):.3g} times the hindsight optimum"
    if best is not mine:
        text += f"; the best of ours, {named(mine)}, cost {percent(mine.overall / best.overall - 1.0)} more"
    else:
        rule = min((one for one in playable if one.kind == RULE), key=lambda one: one.overall)
        text += f"; the best rule of today, {named(rule)}, cost {percent(rule.overall / best.overall - 1.0)} more"
    return f"{text}."


def _lost(contests: Sequence[Contest], label: str) -> str:
    """Say at which prices, and to whom, a learner of ours lost."""
    lost, won = [], []
    for contest in contests:
        mine = contest[label]
        better = [one for one in contest.outcomes if one.kind != OURS and one.overall < mine.overall]
        if better:
            lost.append(f"at {show(contest.move_cost)} to {_listed(better, mine)}")
        else:
            won.append(show(contest.move_cost))
    if not lost:
        return f"{label} lost to none of the rules here, tuned ones included."
    text = f"Where {label} loses: {'; '.join(lost)}."
    return f"{text} At {_joined(won)} it lost to none of them." if won else text


def _listed(better: Sequence[Outcome], mine: Outcome) -> str:
    ranked = sorted(better, key=lambda one: one.overall)
    return _joined([f"{named(one)} (by {percent(1.0 - one.overall / mine.overall)})" for one in ranked])


def named(outcome: Outcome) -> str:
    """Return a label as it can stand in a sentence."""
    return spoken(outcome.label)


def _joined(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def setting(case: Case) -> str:
    """Say in a heading that a series is made up, if it is."""
    return f"{case.title} (made up)" if case.data.synthetic else case.title
