"""Regression on a file of features and targets: learners decide on weights, and moving them costs something."""

from driftwise.experiments.comparison.regression.conclusion import conclude
from driftwise.experiments.comparison.regression.contest import hold_contest
from driftwise.experiments.comparison.regression.learners import CONTENDERS, DEFAULT, Contender, choose
from driftwise.experiments.comparison.regression.problem import Options, read_problem

__all__ = ["CONTENDERS", "DEFAULT", "Contender", "Options", "choose", "conclude", "hold_contest", "read_problem"]
