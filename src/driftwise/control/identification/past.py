"""What an exploration has seen, round by round, and what part of it is due to the probes."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from driftwise._validate import Array
from driftwise.control.costs import Cost


class Round(NamedTuple):
    """One round: the state, the input that was applied, the probe in it, and the cost that it turned out to have."""

    state: Array
    input: Array
    probe: Array
    cost: Cost


class Past(NamedTuple):
    """Rounds in a row, as arrays; there is one state more, that after the last round."""

    states: Array
    inputs: Array
    probes: Array
    costs: Sequence[Cost]

    @classmethod
    def of(cls, rounds: Sequence[Round], last: Array) -> "Past":
        """Return these rounds, of which the last led to this state."""
        states, inputs, probes, costs = zip(*rounds, strict=True)
        return cls(np.array([*states, last]), np.array(inputs), np.array(probes), costs)

    def latest(self, rounds: int) -> "Past":
        """Return the last so many rounds, or all if there are fewer."""
        first = max(len(self.inputs) - rounds, 0)
        return Past(self.states[first:], self.inputs[first:], self.probes[first:], self.costs[first:])

    def disturbances(self, A: Array, B: Array) -> Array:
        """Return what a plant leaves unexplained."""
        return np.asarray(self.states[1:] - self.states[:-1] @ A.T - self.inputs @ B.T)
