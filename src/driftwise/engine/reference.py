"""The engine's round, stated in NumPy: to be read next to the paper, and what the compiled kernels are tested against.

It runs any `Program` with Euclidean base steps, for every schedule. It is for reading and for tests, and
far slower.
"""

import numpy as np

from driftwise._validate import Array
from driftwise.engine.program import Program, pool_size


class Reference:
    """N base-learners mixed by Hedge, one plain round at a time."""

    def __init__(self, program: Program, start: Array) -> None:
        self.program = program
        self.decision = np.array(start, np.float64)
        self.updates = 0
        self.held: list[Array] = []
        self.begin(1)

    def begin(self, updates: int) -> None:
        """Start every base-learner at the decision, with nothing suffered yet."""
        p = self.program
        count = pool_size(p.clock_at(updates), p.growth) if p.growth else p.steps.size
        self.points = np.tile(self.decision, (count, 1))
        self.previous = self.points
        self.totals = np.zeros(count)
        self.mixture = 0.0
        self.mix(p.clock_at(updates))

    def mix(self, clock: float) -> None:
        """Set p_i ~ prior_i exp(-eps L_i), and the decision to sum_i p_i w_i."""
        p = self.program
        exponent = p.log_prior[: self.totals.size] - p.rate / np.sqrt(clock) * self.totals
        weights = np.exp(exponent - exponent.max())
        self.weights = weights / weights.sum()
        self.decision = self.weights @ self.points

    def observe(self, gradient: Array) -> None:
        """Take in the gradient at the decision; act on it when the epoch is over."""
        self.held.append(gradient)
        if len(self.held) == self.program.epoch:
            shared = np.sum(self.held, axis=0)
            self.held = []
            self.update(shared, self.points @ shared)

    def observe_own(self, gradients: Array, values: Array) -> None:
        """Take in a gradient and a loss for every base-learner."""
        self.update(gradients, values)

    def update(self, gradients: Array, values: Array) -> None:
        """Judge the base-learners by loss plus movement, let each take its step, and mix them anew."""
        p = self.program
        self.updates += 1
        clock = p.clock_at(self.updates)
        losses = values + p.switching_cost * np.linalg.norm(self.points - self.previous, axis=1)
        self.totals = self.totals + losses
        self.mixture += float(self.weights @ losses)
        steps = p.steps[: self.totals.size] / np.sqrt(clock)
        self.previous = self.points
        self.points = p.domain.project(self.points - steps[:, None] * gradients)
        self.mix(clock)
        self.reschedule(clock)

    def reschedule(self, clock: float) -> None:
        """Without a horizon: let newcomers join at the decision, or begin a new block of twice the length."""
        p = self.program
        upcoming = p.clock_at(self.updates + 1)
        if p.schedule == "doubling" and upcoming > clock:
            self.begin(self.updates + 1)
        elif p.schedule == "time-varying" and p.growth:
            newcomers = pool_size(upcoming, p.growth) - self.totals.size
            if newcomers > 0:
                self.points = np.vstack([self.points, np.tile(self.decision, (newcomers, 1))])
                self.previous = np.vstack([self.previous, np.tile(self.decision, (newcomers, 1))])
                self.totals = np.append(self.totals, np.full(newcomers, self.mixture))
                self.mix(clock)
