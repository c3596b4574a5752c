"""Everyone on a file: the user, our learners, simple rules as people have them and tuned, and the best in hindsight."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from driftwise._validate import Array
from driftwise.errors import ParameterError, unknown_name
from driftwise.experiments.comparison import ours
from driftwise.experiments.comparison.decisions.problem import Problem
from driftwise.experiments.comparison.decisions.rules import Family, families
from driftwise.experiments.comparison.options import FORECASTS
from driftwise.experiments.contests.contest import OPTIMUM, Contest, Referee, ranked
from driftwise.experiments.contests.outcome import HINDSIGHT, MINE, OURS, RULE, Outcome
from driftwise.learners import Learner, SelfTunedScream, rounded
from driftwise.regret import best_fixed, hindsight_optimum

YOU, FIXED_LEVEL, FIXED_WEIGHTS = "You", "Best fixed level", "Best fixed weights"


@dataclass(frozen=True, eq=False)
class Comparison(Contest):
    """Everyone on the problem of a file."""

    problem: Problem
    about: str
    """Name of the learner that the comparison is about, the first of those that play."""
    rules: Sequence[Family]
    """The simple rules, with all their settings."""
    picked: Mapping[str, str]
    """Setting that was best in hindsight, for every rule that was tuned, by its name in the contest."""

    @property
    def ours(self) -> Outcome:
        """The learner that the comparison is about."""
        return self[self.about]

    @property
    def mine(self) -> Outcome | None:
        """What the user did, if that is known."""
        return next(iter(self.of(MINE)), None)

    @property
    def fixed(self) -> Outcome:
        """The best decision for the whole file."""
        return next(one for one in self.outcomes if one.label in (FIXED_LEVEL, FIXED_WEIGHTS))

    @property
    def tuned(self) -> list[Outcome]:
        """The rules with the settings that were best in hindsight, cheapest first."""
        return [one for one in self.of(HINDSIGHT) if one.label in self.picked]


def _learner(problem: Problem) -> Learner:
    return ours.build(problem.domain, problem.price, problem.start, problem.options.period)


def _scream(problem: Problem) -> Learner:
    return SelfTunedScream(problem.domain, switching_cost=problem.price, start=problem.start)


LEARNERS: dict[str, tuple[str, Callable[[Problem], Learner]]] = {
    "learner": (ours.LABEL, _learner),
    "selftuned": (ours.SCREAM, _scream),
}
"""Learners that need nothing but the price, by the names they have on the command line."""


def choose(names: Sequence[str] | None, known: Iterable[str]) -> list[str]:
    """Return the names of the learners that play, each once; all that can if none are given."""
    given = [names] if isinstance(names, str) else list(dict.fromkeys(names or LEARNERS))
    for name in given:
        if name not in known:
            raise unknown_name("compare", "learner", name, known)
        if name not in LEARNERS:
            raise ParameterError(
                f"compare: the learner {name!r} plays --problem regression only, as it has to be told a bound on "
                f"gradients; choose from {', '.join(LEARNERS)}, or leave --learner out."
            )
    return given


def hold_contest(
    problem: Problem, names: Sequence[str], hindsight: bool, progress: Callable[[str], None]
) -> Comparison:
    """Let everyone play, and work out the best in hindsight."""
    referee = Referee(problem.losses, problem.price, smallest=problem.counted)
    outcomes, picked = [], {}
    if problem.mine is not None:
        outcomes.append(_judge_mine(referee, problem))
    for name in names:
        label, make = LEARNERS[name]
        progress(label)
        outcomes.append(referee.judge(label, OURS, _decisions(problem, label, make(problem))))
    progress("simple rules")
    rules = families(problem)
    for rule in rules:
        if rule.default is not None:
            outcomes.append(referee.judge(rule.usual, RULE, rule.settings[rule.default]))
        if rule.default is None or len(rule.settings) > 1:
            costs = {name: referee.judge("", HINDSIGHT, rows).overall for name, rows in rule.settings.items()}
            picked[rule.tuned] = best = min(costs, key=costs.__getitem__)
            outcomes.append(referee.judge(rule.tuned, HINDSIGHT, rule.settings[best]))
    outcomes.append(_fixed(referee, problem))
    solution = optimum = None
    if hindsight:
        progress(OPTIMUM)
        solution = hindsight_optimum(problem.losses, problem.domain, problem.price)
        optimum = referee.judge(OPTIMUM, HINDSIGHT, solution.decisions)
    return Comparison(ranked(outcomes), optimum, solution, problem, LEARNERS[names[0]][0], rules, picked)


def _decisions(problem: Problem, label: str, learner: Learner) -> Array:
    """Return the decisions of a learner; ours is given the forecasts of the user's."""
    wanted = label == ours.LABEL and problem.kind != FORECASTS
    proposals = {name: column[:, None] for name, column in problem.forecasts.items()} if wanted else {}
    return ours.decide(rounded(learner) if problem.options.whole else learner, problem.losses, proposals)


def _judge_mine(referee: Referee, problem: Problem) -> Outcome:
    """Return what the user did; moves of weights that are not known are not counted."""
    assert problem.mine is not None
    if problem.mine.decisions is None:
        return Outcome(YOU, MINE, problem.mine.running, np.zeros(len(problem.values)))
    return referee.judge(YOU, MINE, problem.mine.decisions, problem.mine.running)


def _fixed(referee: Referee, problem: Problem) -> Outcome:
    """Return the best decision for the whole file, of whole numbers the better of its neighbours."""
    best = best_fixed(problem.losses, problem.domain)
    label = FIXED_WEIGHTS if problem.kind == FORECASTS else FIXED_LEVEL
    near = [np.floor(best), np.ceil(best)] if problem.options.whole else [best]
    tried = [referee.judge(label, HINDSIGHT, np.tile(one, (len(problem.values), 1))) for one in near]
    return min(tried, key=lambda one: one.overall)
