"""The simple rules on a file: each with the setting that people have, and with those that are tried in hindsight."""

from driftwise.experiments.comparison.decisions.problem import Problem
from driftwise.experiments.comparison.decisions.rules.family import Family
from driftwise.experiments.comparison.decisions.rules.levels import level_rules
from driftwise.experiments.comparison.decisions.rules.weights import weight_rules
from driftwise.experiments.comparison.options import FORECASTS

__all__ = ["Family", "families"]


def families(problem: Problem) -> list[Family]:
    """Return the simple rules of a problem."""
    return weight_rules(problem) if problem.kind == FORECASTS else level_rules(problem)
