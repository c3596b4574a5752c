"""What came out of a comparison, in plain words."""

from collections.abc import Sequence

import numpy as np

from driftwise.experiments.comparison.outcome import Contest, Outcome
from driftwise.experiments.comparison.problem import Problem
from driftwise.experiments.findings.finding import spoken

OUTLIER = 10.0
"""A row that can have a gradient so many times that of any other is pointed out."""

HARDLY = 0.01
"""When every learner pays less than this part of its cost for moving, that is said."""

HALF = 0.5
"""When more than this part of the cheapest learner's cost falls in the first tenth of the rows, that is said."""

NOISE = 0.25
"""When the optimum moves before more than this part of the rows, it fits noise, and that is said."""


def show(value: float) -> str:
    """Return a number with as many digits as a reader wants.

    Examples
    --------
    >>> [show(value) for value in (0.0, 0.01234567, 12.34567, 123456.7, 1.5e9, 3e-7)]
    ['0', '0.01235', '12.35', '123457', '1.5e+09', '3e-07']
    """
    return f"{value:.0f}" if 1e4 <= abs(value) < 1e7 else f"{value:.4g}"


def percent(part: float) -> str:
    """Return a share in per cent: whole from 10 on, two digits below.

    Examples
    --------
    >>> [percent(part) for part in (0.0, 0.0123, 0.25, 3.0, 0.00004)]
    ['0 %', '1.2 %', '25 %', '300 %', 'less than 0.1 %']
    """
    if 0.0 < part < 1e-3:
        return "less than 0.1 %"
    return f"{100.0 * part:.0f} %" if part >= 0.0995 or part == 0.0 else f"{100.0 * part:.1f} %"


def times(contest: Contest, outcome: Outcome) -> str:
    """Return a cost as a multiple of the optimum's, or of the best fixed weights' where that is not known."""
    multiple = contest.multiple(outcome)
    if multiple is None:
        return "-"
    return f"{multiple:.3g}" if multiple < 1000.0 else show(multiple)


def named(outcome: Outcome) -> str:
    """Return a label that can stand in a sentence."""
    return spoken(outcome.label)


def summarise(contest: Contest) -> str:
    """Say which learner is cheapest, against what, what moving did, and what was taken from the data."""
    parts = [_cheapest(contest), _against_optimum(contest), _against_fixed(contest), _against_zero(contest)]
    parts += [_against_last(contest), _beginning(contest)]
    parts += [*_moving(contest), _setting(contest), _outlier(contest.problem)]
    return " ".join(part for part in parts if part)


def _cheapest(contest: Contest) -> str:
    best, others, problem = contest.learners[0], contest.learners[1:], contest.problem
    cost = f"{show(best.overall)} in all, {show(best.loss)} of it loss and {show(best.switching)} for moving"
    if not best.switching_cost:
        cost = f"{show(best.overall)}, all of it loss, as moving is free"
    lead = f"{named(best)} was the cheapest of {len(others) + 1} learners:" if others else f"{named(best)} cost"
    text = f"On {len(problem.sheet)} row{'s' if len(problem.sheet) > 1 else ''} of {problem.sheet.file}, {lead} {cost}"
    text += f"; its predictions of {problem.target!r} were off by {show(best.error)} (root mean square)."
    if others:
        text += f" The next, {named(others[0])}, cost {_more(others[0], best)}"
        text += f", and the last, {named(others[-1])}, {_more(others[-1], best)}." if len(others) > 1 else "."
    return text


def _against_optimum(contest: Contest) -> str:
    best, optimum, solution = contest.learners[0], contest.optimum, contest.solution
    if optimum is None or solution is None:
        return "The hindsight optimum was left out, so costs are shown as multiples of that of the best fixed weights."
    known = "" if solution.optimal else ", as far as it could be found (it is not certified)"
    text = (
        "The hindsight optimum, the cheapest weights over time for someone who knew the whole file, cost "
        f"{show(optimum.overall)}{known}"
    )
    if contest.multiple(best) is not None:
        text += f"; {named(best)} cost {times(contest, best)} times that"
    if optimum.moves > NOISE * len(optimum.steps):
        text += f". The optimum moved before {optimum.moves} rows: it follows the noise, too, which nobody can foresee"
    return f"{text}."


def _against_fixed(contest: Contest) -> str:
    best, fixed = contest.learners[0], contest.fixed
    text = f"The best fixed weights, which take hindsight as well, cost {show(fixed.overall)}"
    if best.overall < fixed.overall:
        beaten = [outcome for outcome in contest.learners if outcome.overall >= fixed.overall]
        but = f"; {_joined(beaten)} did not beat them" if beaten else ""
        return f"{text}: {named(best)} beat them by {percent(1.0 - best.overall / fixed.overall)}{but}."
    if best.overall == fixed.overall:
        return f"{text}, the same."
    return (
        f"{text} and beat {_all(contest)}, as {named(best)} cost {_more(best, fixed)}: learning on the way cost more "
        "here than following the drift brought."
    )


def _against_zero(contest: Contest) -> str:
    zero, problem = contest.zero, contest.problem
    losers = [outcome for outcome in contest.learners if outcome.overall >= zero.overall]
    text = (
        f"Doing nothing (weights of 0, so that every prediction of {problem.target!r} is 0) cost {show(zero.overall)}"
    )
    if not losers:
        return f"{text}, more than {_all(contest)}."
    if len(losers) == len(contest.learners):
        return f"{text} and was not beaten by {_all(contest, 'any')}: at this price, learning does not pay."
    return f"{text} and was not beaten by {_joined(losers)}."


def _against_last(contest: Contest) -> str:
    """Say what a forecast without any weights does, which learners of weights need not beat."""
    if contest.last is None:
        return ""
    text = (
        f"Repeating the last {contest.problem.target!r}, without weights, would have been off by {show(contest.last)}"
    )
    better = [outcome for outcome in contest.learners if outcome.error < contest.last]
    if len(better) == len(contest.learners):
        return f"{text}, more than {_all(contest)}."
    return f"{text}, less than {_all(contest, 'any')}." if not better else f"{text}; only {_joined(better)} did better."


def _beginning(contest: Contest) -> str:
    """Say so if most of the cost is that of the way from weights of zero."""
    best, first = contest.learners[0], len(contest.problem.sheet) // 10
    costs = best.losses + best.switching_cost * best.steps
    part = float(costs[:first].sum()) / max(float(costs.sum()), 1e-300)
    if part < HALF:
        return ""
    return f"{percent(part)} of what {named(best)} cost fell in the first {first} rows, on the way from weights of 0."


def _moving(contest: Contest) -> list[str]:
    """Say where moving ate what better predictions had gained, or that it hardly matters."""
    best, fixed, said = contest.learners[0], contest.fixed, []
    eaten = sorted((one for one in contest.learners if one.loss < best.loss), key=lambda one: one.loss)
    if eaten:
        said.append(_ate(eaten[0], f"that of {named(best)}, {show(best.loss)}"))
    if eaten[1:]:
        said.append(f"The same goes for {_joined(eaten[1:])}.")
    if best.loss < fixed.loss and best.overall > fixed.overall:
        said.append(_ate(best, f"that of the best fixed weights, {show(fixed.loss)}"))
    largest = max(outcome.switching / max(outcome.overall, 1e-300) for outcome in contest.learners)
    if best.switching_cost and largest < HARDLY:
        said.append(f"At this price moving hardly matters: it is less than {100 * HARDLY:g} % of any learner's cost.")
    return said


def _ate(outcome: Outcome, rival: str) -> str:
    return (
        f"Moving ate the gain of {named(outcome)}: its loss, {show(outcome.loss)}, was below {rival}, but it paid "
        f"{show(outcome.switching)} for moving."
    )


def _setting(contest: Contest) -> str:
    """Say what the learners were told that someone without the file would not know."""
    problem = contest.problem
    told = f"the number of rows and a bound on gradients, {show(problem.setting.gradient_bound)}"
    if problem.options.radius is None:
        told += f", and kept their weights within {show(problem.domain.radius)} of 0 ({problem.radius_from})"
    text = f"The learners were told {told}: numbers that are known only once the file is complete."
    if any(one.label == "Self-tuned Scream" for one in contest.learners):
        text += " Self-tuned Scream makes no use of the first two, and no bound is proved for it."
    if problem.options.standardise:
        text += " Features were standardised with means and deviations of the whole file, which is hindsight, too."
    return text


def _outlier(problem: Problem) -> str:
    steepest = problem.steepest
    if len(steepest) < 2:
        return ""
    second, first = np.partition(steepest, -2)[-2:]
    if first < OUTLIER * second or not second:
        return ""
    row = int(np.argmax(steepest)) + 1
    return (
        f"One row rules the bound on gradients: row {row} makes it {show(first / second)} times what any other row "
        "needs, and the learners' steps that much smaller; check that row."
    )


def _more(outcome: Outcome, best: Outcome) -> str:
    if outcome.overall == best.overall:
        return "the same"
    if not best.overall:
        return show(outcome.overall)
    extra = outcome.overall / best.overall - 1.0
    return f"{percent(extra)} more" if extra < 1.0 else f"{extra + 1.0:.3g} times as much"


def _all(contest: Contest, word: str = "every") -> str:
    return f"{word} learner" if len(contest.learners) > 1 else named(contest.learners[0])


def _joined(outcomes: Sequence[Outcome]) -> str:
    names = [named(outcome) for outcome in outcomes]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
