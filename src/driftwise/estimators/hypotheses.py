"""The NumPy statement of `ChangePoints`: hypotheses about when the world last changed, one small object each."""

import math
from dataclasses import dataclass, replace

import numpy as np

from driftwise._validate import Array
from driftwise.domains import Domain
from driftwise.estimators.families import FAINT, LONGEST
from driftwise.estimators.seen import Seen
from driftwise.estimators.statement import Aim, floored, near
from driftwise.pairs.judging import LEAST
from driftwise.pairs.layout import GRADIENT

HYPOTHESES = 8
"""Most hypotheses at a time."""


@dataclass(eq=False)
class Hypothesis:
    """A normal-inverse-gamma posterior of the weights and an intercept, which began in some round."""

    born: int
    """Round in which it began."""
    log: float
    """Log weight."""
    mean: Array
    P: Array
    """Covariance of the mean in units of the noise."""
    a: float
    """Half the number of observations that its noise is told by, and 1."""
    b: float
    """Half the sum of their squares; the noise is b / a."""
    keep: float = 1.0
    """Forgetting factor."""

    def forget(self, limit: Array) -> None:
        """Widen the posterior, to variances of no more than `limit`."""
        if self.keep < 1.0:
            P = self.P / self.keep
            shrink = np.sqrt(np.minimum(1.0, limit / np.maximum(np.diag(P), 1e-280)))
            self.P = P * np.outer(shrink, shrink)
            if self.a * self.keep >= 1.0:
                self.a, self.b = self.a * self.keep, self.b * self.keep

    def learn(self, gain: Array, spread: float, error: float) -> None:
        """Take in an error, and weigh it by its likelihood under Student's t distribution."""
        a, odds = self.a, error**2 / (2.0 * self.b * spread)
        self.log += log_ratio(a) - 0.5 * math.log(2.0 * math.pi * self.b * spread) - (a + 0.5) * math.log1p(odds)
        self.a, self.b = a + 0.5, self.b * (1.0 + odds)
        if self.a > LONGEST:
            self.a, self.b = LONGEST, self.b * LONGEST / self.a
        self.mean = self.mean + gain * (error / spread)
        self.P = floored(self.P - np.outer(gain, gain) / spread)


def log_ratio(a: float) -> float:
    """Return log Gamma(a + 1/2) - log Gamma(a), by Stirling's series far out and the recurrence on the way there."""
    if a < 8.0:
        return math.log(a / (a + 0.5)) + log_ratio(a + 1.0)
    return 0.5 * math.log(a) - 1.0 / (8.0 * a) + 1.0 / (192.0 * a**3)


class Hypotheses:
    """All of them, with what they share: the noise, and how often the world has changed."""

    def __init__(self, reach: float | None, point: Array, domain: Domain) -> None:
        self.start, self.half, self.aim = point, domain.diameter / 2.0, Aim((reach or 0.0) * domain.diameter)
        self.all: list[Hypothesis] = []
        self.noise = self.usual = 0.0
        self.told, self.changes, self.last_born = False, 0, 0

    @property
    def leader(self) -> Hypothesis:
        """The likeliest one."""
        return max(self.all, key=lambda one: one.log)

    @property
    def mean(self) -> Array:
        """Weighted mean of the weights, without the intercept; the start before anything was seen."""
        likely = [one for one in self.all if one.log > -14.0]
        if not likely:
            return self.start
        weights = np.exp([one.log for one in likely])
        return np.asarray(weights @ [one.mean[:-1] for one in likely] / weights.sum())

    def learn(self, seen: Seen) -> None:
        """Spawn, update and weigh the hypotheses."""
        error, count = seen.error, seen.rounds + 1
        if seen.kind.form == GRADIENT:
            if not seen.targets.any():
                return
            target = self.aim.target(seen)
            error, count = (lambda score: target - score), self.aim.count
        self.usual += (error(float(seen.features @ self.start)) ** 2 - self.usual) / count
        if not seen.scales.any():
            return
        self.noise = self.noise if self.told else max(self.usual, 1e-280)
        widths = self.widths(seen)
        self.spawn(seen.rounds, widths)
        x, t = (np.append(part, seen.intercept) for part in (seen.features, seen.tangent))
        for one in self.all:
            one.forget(np.append(4.0 * widths[:-1] / self.noise, math.inf))
            gain = one.P @ t
            one.learn(gain, max(1.0 + float(t @ gain), 1.0), error(float(x @ one.mean)))
            one.mean = near(one.mean, self.start, self.half, seen.kind)
        self.weigh(seen.rounds)

    def widths(self, seen: Seen) -> Array:
        """Return the prior variances of the weights and the intercept."""
        d, usual = seen.features.size, max(self.usual, 1e-280)
        by_size = np.divide(4.0 * usual, d * seen.scales, out=np.full(d, math.inf), where=seen.scales > LEAST)
        return np.append(np.minimum(self.half**2 / (d + 2.0), by_size), usual / max(seen.curve, 1e-100))

    def spawn(self, rounds: int, widths: Array) -> None:
        """Add one that begins now, and if the leader is old enough, a copy of it with another forgetting factor."""
        fresh = Hypothesis(rounds, 0.0, np.append(self.start, 0.0), np.diag(widths / self.noise), 1.0, self.noise)
        if not self.all:
            self.all = [fresh]
            return
        hazard = min((1.0 + self.changes) / (rounds + 2.0), 0.5)
        for one in self.all:
            one.log += math.log(1.0 - hazard)
        leader, fresh.log = self.leader, math.log(hazard / 2.0)
        self.place(fresh, leader)
        if rounds - leader.born >= 16:
            step = rounds % (int(math.log2(rounds - leader.born)) - 2)
            keep = 1.0 - 2.0 ** (-3.0 - step) if step else 1.0
            self.place(replace(leader, log=leader.log + fresh.log, keep=keep), leader)

    def place(self, one: Hypothesis, leader: Hypothesis) -> None:
        """Put a hypothesis into a free place, or in that of the least likely other than the leader."""
        if len(self.all) < HYPOTHESES:
            self.all.append(one)
        else:
            least = min((other for other in self.all if other is not leader), key=lambda other: other.log)
            self.all[self.all.index(least)] = one

    def weigh(self, rounds: int) -> None:
        """Make the weights sum to 1, and let a leader that is old enough tell the noise and count a change."""
        leader = self.leader
        total = leader.log + math.log(sum(math.exp(one.log - leader.log) for one in self.all))
        for one in self.all:
            one.log = max(one.log - total, FAINT)
        # A younger leader has fewer rounds than weights, and would take its perfect fit for an absence of noise.
        if rounds - leader.born >= 2 * leader.mean.size:
            self.changes += leader.born > self.last_born
            self.last_born, self.told = leader.born, True
            self.noise = max(leader.b / leader.a, 1e-290)
