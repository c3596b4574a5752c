"""A committee with movers in NumPy, written to be read: the compiled one is held against it."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import driftwise as dw
from driftwise._validate import Array
from driftwise.learners.committee.layout import Flags
from driftwise.movers import Mover, Step


class PlainCommittee:
    """Members (n, d) followed by movers, mixed by one Hedge; the books of every pair are kept."""

    def __init__(self, n: int, cost: dw.MoveCost, movers: Sequence[Mover], prior: Array) -> None:
        self.cost, self.movers = cost, movers
        pairs = n * len(movers)
        self.prior = np.repeat(prior / len(movers), len(movers))
        self.points: list[Array | None] = [None] * pairs
        self.owner = np.repeat(np.arange(n), len(movers))
        self.staying, self.beyond, self.squares = np.zeros(pairs), np.zeros(n), np.zeros(n)
        self.totals, self.overhead, self.rounds = np.zeros(pairs), 0.0, 0
        self.charged: list[Array] = []
        self.last: Array | None = None

    @property
    def rate(self) -> float:
        return math.log(max(self.totals.size, 2)) / self.overhead if self.overhead else math.inf

    def _mix(self, charges: Array, here: Flags) -> float:
        """Return the mix loss of charges, before they join the totals."""
        weights = self._weights(here)[here]
        least = charges[here].min()
        if not self.overhead:
            return float(least)
        return float(least - math.log(weights @ np.exp(-self.rate * (charges[here] - least))) / self.rate)

    def _weights(self, here: Flags) -> Array:
        power = np.log(self.prior) - (self.rate * self.totals if self.overhead else 0.0)
        weights = np.exp(np.where(here, power - power[here].max(), -np.inf))
        return np.asarray(weights / weights.sum())

    def _go(self, j: int, there: Array) -> float:
        """Move a pair as far as its mover says, and return what that costs."""
        here, i = self.points[j], self.owner[j]
        if here is None:
            self.points[j] = there.copy()
            return 0.0
        way = there - here
        if not way.any():
            return 0.0
        bend = 2.0 * max(self.beyond[i], 0.0) / self.squares[i] if self.squares[i] else 0.0
        step = Step(
            way,
            float(np.asarray(self.cost(way))),
            bend * float(way @ way),
            self.staying[j],
            self.rounds,
            self.rounds + 2.0,
        )
        share = self.movers[j % len(self.movers)].share(step)
        self.staying[j] *= share == 0.0
        went = there.copy() if share == 1.0 else here + share * way
        self.points[j] = went
        return float(np.asarray(self.cost(went - here)))

    def act(self, proposals: Array, awake: Flags) -> Array:
        self.awake, self.here, self.proposals = awake, awake[self.owner], proposals
        self.own = np.zeros(self.here.size)
        for j in np.flatnonzero(self.here):
            self.own[j] = self._go(int(j), proposals[self.owner[j]])
        if self.overhead:  # announced
            mix = self._mix(self.own, self.here)
            self.totals += np.where(self.here, self.own, mix)
        self.weights = self._weights(self.here)
        points = [np.zeros(proposals.shape[1]) if point is None else point for point in self.points]
        decision = self.weights @ np.array(points)
        moved = 0.0 if self.last is None else float(self.cost(decision - self.last))
        self.extra = max(moved - float(self.weights @ self.own), 0.0)
        self.last = decision
        return np.asarray(decision)

    def observe(self, loss: Callable[[Any], float]) -> None:
        losses = np.zeros(self.here.size)
        for j in np.flatnonzero(self.here):
            i, point = self.owner[j], self.points[j]
            assert point is not None
            losses[j] = loss(point)
            beyond = losses[j] - loss(self.proposals[i])
            self.staying[j] = max(self.staying[j] + beyond, 0.0)
            self.beyond[i] += beyond
            self.squares[i] += ((point - self.proposals[i]) ** 2).sum()
        self.charged.append(losses + self.own)
        charges = losses if self.overhead else losses + self.own
        if np.ptp(charges[self.here]) <= 1e-13 * np.abs(charges[self.here]).max():
            charges = np.zeros(charges.size)  # it is rounding noise
        mix = self._mix(charges, self.here)
        gap = float(self.weights @ charges) - mix + self.extra
        self.totals += np.where(self.here, charges, mix)
        self.overhead += gap
        self.rounds += 1
