"""The strongly adaptive round, stated in NumPy: to be read next to its proof, and to test the kernel against."""

import numpy as np

from driftwise._validate import Array
from driftwise.engine.adaptive import LIMIT
from driftwise.engine.program import pool_size
from driftwise.engine.reference import Reference


class AdaptiveReference(Reference):
    """Gradient descents for intervals of many lengths, mixed by credits that never fall below zero."""

    @property
    def rates(self) -> Array:
        """Rates of the base-learners in play."""
        return np.array(self.program.rates[: self.totals.size])

    @property
    def credits(self) -> Array:
        """C_k of the base-learners in play; 0 is the least."""
        return -self.totals

    def count(self, updates: int) -> int:
        """Return the number of base-learners in play."""
        p = self.program
        return pool_size(max(updates, 1), p.growth) if p.growth else p.steps.size

    def update(self, gradients: Array, values: Array) -> None:
        """Judge the base-learners by loss, movement and surcharge, let each take its step, and mix them again."""
        p = self.program
        self.updates += 1
        losses = values - self.decision @ gradients
        losses = losses + (1.0 if self.price.plain is None else self.price.plain) * self.moves
        self.regrets = self.weights @ losses - losses
        sides = np.maximum(self.regrets, 0.0), np.maximum(-self.regrets, 0.0)
        gained, lost = (float(self.weights @ (self.rates * side)) for side in sides)
        self.surcharges = p.charge * self.rates * (sides[0] if gained >= lost else sides[1])
        self.charged = self.regrets + self.weights @ self.surcharges - self.surcharges
        grown = self.credits + np.log1p(np.clip(self.rates * self.charged, -LIMIT, LIMIT))
        self.totals = -np.maximum(grown, 0.0)
        self.step(np.broadcast_to(gradients, self.points.shape), 1.0, np.full(self.totals.size, True))
        self.last = self.decision
        self.mix(1.0)
        self.join()

    def join(self) -> None:
        """Without a horizon, let base-learners for longer intervals begin at the decision, with no credit."""
        newcomers = self.count(self.updates + 1) - self.totals.size
        if newcomers > 0:
            self.points = np.vstack([self.points, np.tile(self.decision, (newcomers, 1))])
            self.waiting = np.vstack([self.waiting, np.zeros((newcomers, self.decision.size))])
            self.totals, self.moves = (np.append(part, np.zeros(newcomers)) for part in (self.totals, self.moves))
            self.mix(1.0)
