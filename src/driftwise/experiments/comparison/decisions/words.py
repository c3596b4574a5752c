"""What came out of a comparison of decisions: at most six short sentences, and notes for who wants to know more."""

from collections.abc import Sequence

import numpy as np

from driftwise.experiments.comparison.decisions.contest import Comparison
from driftwise.experiments.comparison.options import FORECASTS
from driftwise.experiments.contests.outcome import RULE, Outcome
from driftwise.experiments.contests.words import beside, counted, joined, more, show, times
from driftwise.experiments.findings.finding import Table

SAME = 1e-6
"""Part of a cost by which two that differ less are called the same."""

OUTLIER, USUAL = 20.0, 0.95
"""A value is pointed out if it is more than this many times the quantile of all of them."""

MOST = 3
"""Rules that are named in a sentence, at most."""


def summarise(contest: Comparison) -> list[str]:
    """Say what the user paid and what ours would have cost, and to whom ours loses."""
    said = [_outlier(contest), _paid(contest), _instead(contest), _against_rules(contest), _against_tuned(contest)]
    said += [_against_fixed(contest), _against_optimum(contest)]
    return [sentence for sentence in said if sentence]


def _outlier(contest: Comparison) -> str:
    """Say which row is so far out that it decides everybody's cost; nothing if there is none."""
    values, problem = np.abs(contest.problem.values), contest.problem
    row, usual = int(values.argmax()), float(np.quantile(values, USUAL))
    if not values[row] > OUTLIER * usual > 0.0:
        return ""
    far = show(values[row] / usual)
    return (
        f"Check row {row + 1}: {problem.target} is {show(problem.values[row])} there, {far} times what all but "
        f"{1.0 - USUAL:.0%} of the rows are below, and it sets limits and costs for everybody; correct it, or give "
        "--low and --high."
    )


def notes(contest: Comparison) -> Table:
    """Return what else there is to know."""
    problem = contest.problem
    found = {
        "Told beforehand": (
            f"Ours was told the price of a move, the limits ({problem.limits}) and where to begin ({problem.began})."
        ),
        "The rules": (
            "They decide on a row from the rows before it; before the first they know where ours begins. Where a rule "
            "is tuned, the setting that was cheapest on the whole file was picked: nobody knows it beforehand."
        ),
        "Moves": (
            f"A change by more than {show(problem.counted)} is counted as a move; smaller ones are paid for as well. "
            "The first decision is no move."
        ),
    }
    if problem.forecasts and problem.kind != FORECASTS:
        found["Your forecasts"] = (
            f"Ours was given {joined([repr(name) for name in problem.forecasts])} before every row, cut to the limits. "
            "A forecast has to be known before its row is."
        )
    if problem.options.whole:
        found["Whole numbers"] = (
            "Ours is rounded with one threshold for the whole run (driftwise.rounded), rules up for a demand and to "
            "the nearest for a level. The hindsight optimum may take fractions, so nobody can be below it."
        )
    if contest.mine is not None and contest.mine.decisions is None:
        found["Your moves"] = (
            "Only the forecast that you used is known, not its weights: your moves are not counted. As it need not be "
            "a mixture of the forecasts, it may cost less than the optimum."
        )
    return Table("Notes on this comparison", ["about", "note"], [list(note) for note in found.items()], detail=True)


def same(one: Outcome, other: Outcome) -> bool:
    """Tell whether two cost the same but for rounding."""
    return abs(one.overall - other.overall) <= SAME * max(abs(one.overall), abs(other.overall))


def cheaper(contest: Comparison, others: Sequence[Outcome]) -> list[Outcome]:
    """Return those that cost less than ours."""
    return [one for one in others if one.overall < contest.ours.overall and not same(one, contest.ours)]


def _paid(contest: Comparison) -> str:
    """Say what the user paid; or what ours cost, if that is not known."""
    mine, ours, problem = contest.mine, contest.ours, contest.problem
    if mine is None:
        rows = counted(len(problem.values), "row")
        return f"On {rows} of {problem.sheet.file}, ours ({ours.name}) would have cost {_parts(ours)}."
    verdict = "the same" if same(mine, ours) else beside(ours.overall, mine.overall)
    if cheaper(contest, [mine]):
        best = contest.optimum is not None and same(mine, contest.optimum)
        verdict += "; nobody beats you, even in hindsight" if best else "; what you do is better"
    return f"You paid {_parts(mine)}; ours would have cost {show(ours.overall)}: {verdict}."


def _parts(one: Outcome) -> str:
    """Return a cost with its parts."""
    if one.decisions is None:
        return f"{show(one.overall)}, moves not counted"
    moving = f"{show(one.total_moving)} for {counted(one.moves, 'move')}"
    return f"{show(one.overall)}, {show(one.total_running)} of it running and {moving}"


def _instead(contest: Comparison) -> str:
    """Say where the difference to what the user did comes from."""
    mine, ours = contest.mine, contest.ours
    if mine is None or mine.decisions is None or same(mine, ours):
        return ""
    running = f"{show(ours.total_running)} instead of {show(mine.total_running)} for running"
    moving = f"{show(ours.total_moving)} instead of {show(mine.total_moving)} for moving"
    moves = f"{counted(ours.moves, 'move')} instead of {mine.moves}"
    return f"With ours it would have been {running} and {moving}, with {moves}."


def _against_rules(contest: Comparison) -> str:
    rules, ours = contest.of(RULE), contest.ours
    best, lost = rules[0], cheaper(contest, rules)
    if not lost:
        cost = "the same" if same(best, ours) else more(best.overall, ours.overall)
        return f"Ours lost to no simple rule with its default setting; the cheapest, {best.name}, cost {cost}."
    named = [f"{one.name} (ours costs {more(ours.overall, one.overall)})" for one in lost[:MOST]]
    others = f", and {len(lost) - MOST} more" if len(lost) > MOST else ""
    return f"Ours lost to {len(lost)} of {len(rules)} simple rules with default settings: {joined(named)}{others}."


def _against_tuned(contest: Comparison) -> str:
    if not contest.tuned:
        return ""
    best, ours = contest.tuned[0], contest.ours
    name = next(rule.label for rule in contest.rules if rule.tuned == best.label)
    verdict = "the same" if same(best, ours) else beside(ours.overall, best.overall)
    return (
        f"The best rule tuned on the whole file, {name} with {contest.picked[best.label]}, cost {show(best.overall)}; "
        f"ours, which nobody tuned, {verdict}."
    )


def _against_fixed(contest: Comparison) -> str:
    fixed = contest.fixed
    if not cheaper(contest, [fixed]):
        return ""
    return f"The {fixed.name.lower()}, which takes hindsight and never moves, cost {show(fixed.overall)} and beat ours."


def _against_optimum(contest: Comparison) -> str:
    optimum, solution = contest.optimum, contest.solution
    if optimum is None or solution is None:
        return "The hindsight optimum was left out, so costs are multiples of the cheapest choice in hindsight."
    known = "" if solution.optimal else ", as far as it could be found (it is not certified)"
    text = f"Someone who knew the whole file would have paid {show(optimum.overall)}{known}"
    if times(contest.multiple(contest.ours)) == "-":
        return f"{text}."
    ours = f"ours {times(contest.multiple(contest.ours))} times that"
    paid = f"you paid {times(contest.multiple(contest.mine))} and " if contest.mine else ""
    return f"{text}; {paid}{ours}."
