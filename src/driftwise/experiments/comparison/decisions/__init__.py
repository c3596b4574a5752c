"""Decisions that a file is the record of: a level to follow, a capacity for a demand, weights of forecasts."""

from driftwise.experiments.comparison.decisions.conclusion import READERS, conclude
from driftwise.experiments.comparison.decisions.contest import choose, hold_contest
from driftwise.experiments.comparison.decisions.problem import Options

__all__ = ["READERS", "Options", "choose", "conclude", "hold_contest"]
