"""What one player cost, round by round: running and moving, whoever it is and whatever was decided."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from driftwise._validate import Array
from driftwise.experiments.contests.words import spoken
from driftwise.optimum.values import step_lengths
from driftwise.trace import Trace

MINE, OURS, CAUTION, RULE, HINDSIGHT = KINDS = ("mine", "ours", "caution", "rule", "hindsight")
"""Kinds of players, in the order in which they are shown: what a user really did, ours, a way of using ours that we
warn of, rules that people use, and those who know everything beforehand."""


@dataclass(frozen=True, eq=False)
class Outcome:
    """What one player cost in every round."""

    label: str
    kind: str
    """One of `KINDS`."""
    running: Array
    """Cost of the decisions themselves, shape (T,)."""
    charges: Array
    """Cost of the move into each round, 0 for the first; shape (T,)."""
    decisions: Array | None = None
    """Shape (T, d); None for a player that decides nothing."""
    smallest: float = 0.0
    """Largest change of the decision that is not counted as a move."""
    trace: Trace | None = None
    """Run of a learner whose theorem can be checked."""

    @property
    def total_running(self) -> float:
        """Sum of the running cost."""
        return float(self.running.sum())

    @property
    def total_moving(self) -> float:
        """Sum of the cost of moving."""
        return float(self.charges.sum())

    @property
    def overall(self) -> float:
        """Running and moving."""
        return self.total_running + self.total_moving

    @cached_property
    def steps(self) -> Array:
        """Euclidean distance moved into each round, 0 for the first."""
        return np.zeros(len(self.running)) if self.decisions is None else step_lengths(self.decisions)

    @property
    def distance(self) -> float:
        """Length of the whole path."""
        return float(self.steps.sum())

    @property
    def moves(self) -> int:
        """Number of moves."""
        return int(np.count_nonzero(self.steps > self.smallest))

    @property
    def name(self) -> str:
        """The label as it can stand in a sentence."""
        return spoken(self.label)
