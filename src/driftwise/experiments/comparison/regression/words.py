"""What came out of a comparison: at most six short sentences, and notes for those who want to know more."""

from collections.abc import Sequence

import numpy as np

from driftwise.experiments.comparison import ours
from driftwise.experiments.comparison.regression.contest import FIXED, ZERO, Comparison, error
from driftwise.experiments.contests.outcome import Outcome
from driftwise.experiments.contests.words import counted, joined, more, percent, show, times
from driftwise.experiments.findings.finding import Table

OUTLIER = 10.0
"""Ratio of the largest gradient to that of any other row from which the row is pointed out."""

HARDLY = 0.01
"""Part of the cost below which moving is said to hardly matter."""

HALF = 0.5
"""Part of the cheapest learner's cost that, if it falls in the first tenth of the rows, is pointed out."""

NOISE = 0.25
"""Part of the rows from which on an optimum that moves before so many is said to follow noise."""


def summarise(contest: Comparison) -> list[str]:
    """Say which learner is cheapest, against what, and what is most worth knowing about this file."""
    said = [_cheapest(contest), _others(contest), _against_optimum(contest), _against_fixed(contest)]
    said += [_against_zero(contest), *list(_remarks(contest).values())[:1]]
    return [sentence for sentence in said if sentence]


def notes(contest: Comparison) -> Table:
    """Return what else there is to know: what the learners were told, and what is special about this file."""
    found = {"Noise": _noise(contest), "Told beforehand": _told(contest), **_remarks(contest)}
    rows = [[about, note] for about, note in found.items() if note]
    return Table("Notes on this comparison", ["about", "note"], rows, detail=True)


def _cheapest(contest: Comparison) -> str:
    best, problem, count = contest.learners[0], contest.problem, len(contest.learners)
    parts = f"{show(best.total_running)} loss and {show(best.total_moving)} for moving"
    if not problem.setting.switching_cost:
        parts = "all of it loss, as moving is free"
    lead = f"{best.name} was the cheapest of {count} learners:" if count > 1 else f"{best.name} cost"
    rows = counted(len(problem.sheet), "row")
    return f"On {rows} of {problem.sheet.file}, {lead} {show(best.overall)}, {parts}."


def _others(contest: Comparison) -> str:
    best, *others = contest.learners
    if not others:
        return ""
    text = f"The next, {others[0].name}, cost {more(others[0].overall, best.overall)}"
    last = f", and the last, {others[-1].name}, {more(others[-1].overall, best.overall)}" if len(others) > 1 else ""
    return f"{text}{last}."


def _against_optimum(contest: Comparison) -> str:
    best, optimum, solution = contest.learners[0], contest.optimum, contest.solution
    if optimum is None or solution is None:
        return "The hindsight optimum was left out, so costs are multiples of that of the best fixed weights."
    known = "" if solution.optimal else ", as far as it could be found (it is not certified)"
    ratio = times(contest.multiple(best))
    beside = "" if ratio == "-" else f"; {best.name} cost {ratio} times that"
    return f"The hindsight optimum, for someone who knew the whole file, cost {show(optimum.overall)}{known}{beside}."


def _against_fixed(contest: Comparison) -> str:
    best, fixed = contest.learners[0], contest[FIXED]
    text = f"The best fixed weights, which take hindsight as well, cost {show(fixed.overall)}"
    if best.overall < fixed.overall:
        beaten = [outcome for outcome in contest.learners if outcome.overall >= fixed.overall]
        but = f"; {_named(beaten)} did not beat them" if beaten else ""
        return f"{text}: {best.name} beat them by {percent(1.0 - best.overall / fixed.overall)}{but}."
    if best.overall == fixed.overall:
        return f"{text}, the same."
    return f"{text} and beat {_all(contest)}, as {best.name} cost {more(best.overall, fixed.overall)}."


def _against_zero(contest: Comparison) -> str:
    cost = contest[ZERO].overall
    losers = [outcome for outcome in contest.learners if outcome.overall >= cost]
    text = f"Doing nothing (weights of 0) cost {show(cost)}"
    if not losers:
        return f"{text}, more than {_all(contest)}."
    if len(losers) == len(contest.learners):
        return f"{text} and was not beaten by {_all(contest, 'any')}: at this price, learning does not pay."
    return f"{text} and was not beaten by {_named(losers)}."


def _remarks(contest: Comparison) -> dict[str, str]:
    """Return what is special about this file by what it is about, the most important first."""
    best, fixed, problem, said = contest.learners[0], contest[FIXED], contest.problem, dict[str, str]()
    second, first = np.partition([0.0, *problem.steepest], -2)[-2:]
    if second and first >= OUTLIER * second:
        said["One row"] = (
            f"One row rules the bound on gradients: row {int(np.argmax(problem.steepest)) + 1} makes it "
            f"{show(first / second)} times what any other row needs, and the learners' steps that much smaller; check "
            "that row."
        )
    losses = sorted(contest.learners, key=lambda one: one.total_running)
    eaten = [one for one in losses if one.total_running < best.total_running]
    if eaten:
        also = f" The same goes for {_named(eaten[1:])}." if eaten[1:] else ""
        said["Moving, beside the cheapest"] = _ate(eaten[0], f"that of {best.name}", best) + also
    if best.total_running < fixed.total_running and best.overall > fixed.overall:
        said["Moving, beside fixed weights"] = _ate(best, "that of the best fixed weights", fixed)
    costs, tenth = best.running + best.charges, len(problem.sheet) // 10
    part = float(costs[:tenth].sum()) / max(float(costs.sum()), 1e-300)
    if part >= HALF:
        where = f"fell in the first {tenth} rows, on the way from weights of 0"
        said["The beginning"] = f"{percent(part)} of what {best.name} cost {where}."
    largest = max(outcome.total_moving / max(outcome.overall, 1e-300) for outcome in contest.learners)
    if problem.setting.switching_cost and largest < HARDLY:
        share = f"less than {100 * HARDLY:g} % of any learner's cost"
        said["Moving"] = f"At this price moving hardly matters: it is {share}."
    if contest.last is not None:
        said["The last value"] = _against_last(contest, contest.last)
    return said


def _ate(outcome: Outcome, whose: str, rival: Outcome) -> str:
    """Say that moving cost what better predictions had gained."""
    return (
        f"Moving ate the gain of {outcome.name}: its loss, {show(outcome.total_running)}, was below {whose}, "
        f"{show(rival.total_running)}, but it paid {show(outcome.total_moving)} for moving."
    )


def _against_last(contest: Comparison, last: float) -> str:
    """Say what a forecast without any weights does, which learners of weights need not beat."""
    text = f"Repeating the last {contest.problem.target!r}, without weights, would have been off by {show(last)}"
    better = [outcome for outcome in contest.learners if error(outcome) < last]
    if len(better) == len(contest.learners):
        return f"{text}, more than {_all(contest)}."
    return f"{text}, less than {_all(contest, 'any')}." if not better else f"{text}; only {_named(better)} did better."


def _noise(contest: Comparison) -> str:
    optimum = contest.optimum
    if optimum is None or optimum.moves <= NOISE * len(optimum.steps):
        return ""
    return f"The optimum moved before {optimum.moves} rows: it follows the noise, too, which nobody can foresee."


def _told(contest: Comparison) -> str:
    """Say what the learners were told that someone without the file would not know."""
    problem = contest.problem
    told = f"the number of rows and a bound on gradients, {show(problem.setting.gradient_bound)}"
    if problem.options.radius is None:
        told += f", and kept their weights within {show(problem.domain.radius)} of 0 ({problem.radius_from})"
    text = f"The learners were told {told}: numbers that are known only once the file is complete."
    free = [one.name for one in contest.learners if one.label in (ours.LABEL, ours.SCREAM)]
    if free:
        verb = "make" if len(free) > 1 else "makes"
        text += f" {joined(free)} {verb} no use of the first two."
    if problem.options.standardise:
        text += " Features were standardised with means and deviations of the whole file, which is hindsight, too."
    return text


def _all(contest: Comparison, word: str = "every") -> str:
    return f"{word} learner" if len(contest.learners) > 1 else contest.learners[0].name


def _named(outcomes: Sequence[Outcome]) -> str:
    return joined([outcome.name for outcome in outcomes])
