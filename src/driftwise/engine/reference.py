"""The engine's round, stated in NumPy: to be read next to the paper, and what the compiled kernels are tested against.

It runs any `Program` with Euclidean base steps, for every schedule. It is for reading and for tests; the kernels are
far faster.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from driftwise._validate import Array
from driftwise.domains.kernels import SIMPLEX
from driftwise.engine.hedge import TIE, TINY
from driftwise.engine.program import Program, pool_size
from driftwise.engine.tuned import ABSURD, RAMP


class Reference:
    """N base-learners mixed by Hedge, one plain round at a time."""

    def __init__(self, program: Program, start: Array) -> None:
        self.program = program
        self.decision = np.array(start, np.float64)
        self.price = program.switching_cost
        self.updates = 0
        self.held: list[Array] = []
        self.given = np.zeros_like(self.decision)
        self.hinted: Array | None = None
        self.spent = self.sizes = self.squares = self.agreed = self.chance = self.guessed = 0.0
        self.counted, self.before, self.largest, self.cut = 0, 0.0, 0.0, 0.0
        self.begin(1)

    @property
    def patience(self) -> Array:
        """Patience of the base-learners in play."""
        return np.resize(self.program.patience, self.totals.size)

    def count(self, updates: int) -> int:
        """Return the number of base-learners in play."""
        p = self.program
        if not p.growth:
            return p.steps.size
        sizes = pool_size(p.clock_at(updates), p.growth)
        if p.schedule == "self-tuned":
            sizes = min(sizes, 1 + int(np.log2(p.clock_at(updates))))
        return len(p.patience) * sizes

    def begin(self, updates: int) -> None:
        """Start every base-learner at the decision, with no loss yet."""
        p = self.program
        self.centre = self.last = self.decision
        self.points = np.tile(self.decision, (self.count(updates), 1))
        self.waiting = np.zeros_like(self.points)
        self.totals, self.moves = np.zeros((2, len(self.points)))
        self.mixture = 0.0
        self.mix(p.clock_at(updates))

    def mix(self, clock: float) -> None:
        """Set p_i ~ prior_i exp(-eps L_i), and the decision to sum_i p_i w_i, or within the dead zone around it."""
        p = self.program
        self.rate = p.rate / np.sqrt(clock)
        if p.schedule == "self-tuned":
            self.rate = p.rate / self.spent if self.spent > TINY else 0.0
        exponent = p.log_prior[: self.totals.size] - self.rate * (self.totals - self.totals.min())
        weights = np.exp(exponent - exponent.max())
        self.weights = weights / weights.sum()
        self.follow()

    def follow(self) -> None:
        """Play the mixture; with a dead zone, the point nearest to the last decision within its radius."""
        p, rounds = self.program, max(self.updates, 1)
        self.decision = self.centre = self.weights @ self.points
        if p.dead_zone == 0.0:
            return
        radius = 0.0
        if p.price > 0.0:
            usual = np.sqrt(self.squares / rounds)
            radius = p.dead_zone * p.domain.diameter / np.sqrt(rounds) * p.price / (p.price + usual)
        distance = float(np.linalg.norm(self.centre - self.last))
        self.decision = self.last
        if distance > radius:
            self.decision = self.last + (1.0 - radius / distance) * (self.centre - self.last)

    def hint(self, guess: Array) -> None:
        """Let base-learners that heed hints step on the trusted part of one; `update` undoes that step."""
        if self.program.rate > 0.0 and not self.program.heedless:
            self.take_twins()
        p = self.program
        proved = self.agreed - np.sqrt(self.chance)
        trust = min(max(proved / self.guessed, 0.0), 1.0) if self.guessed > 0.0 else 0.0
        self.guess = self.tangent(guess)
        self.hinted = trust * self.guess
        clock = p.clock_at(self.updates + 1)
        if p.schedule == "self-tuned":
            size = float(np.linalg.norm(self.hinted))
            clock = self.sizes + size**2 + p.price * size
        moved = self.moves
        self.step(np.where(self.heeds[:, None], self.hinted, 0.0), clock, self.heeds)
        self.moves = self.moves + moved
        self.follow()

    def take_twins(self) -> None:
        """Give every base-learner a twin that heeds hints, where it is."""
        kinds = len(self.program.patience)
        both = np.repeat(np.arange(self.totals.size).reshape(-1, kinds), 2, axis=0).ravel()
        self.program = self.program.with_twins()
        self.points, self.waiting = self.points[both], self.waiting[both]
        self.totals, self.moves, self.weights = self.totals[both], self.moves[both], self.weights[both] / 2.0

    @property
    def heeds(self) -> NDArray[np.bool_]:
        """Flags of the base-learners that heed hints."""
        return np.arange(self.totals.size) % len(self.program.patience) >= self.program.heedless

    def observe(self, gradient: Array) -> None:
        """Take in the gradient at the decision; act on it when the epoch is over."""
        self.held.append(gradient)
        if len(self.held) == self.program.epoch:
            shared = self.tangent(np.sum(self.held, axis=0))
            shared = self.clip(float(np.linalg.norm(shared))) * shared
            self.held, self.given = [], shared
            values = self.points @ shared
            if self.program.schedule == "self-tuned":
                values = values - self.decision @ shared
            self.update(shared, values)

    def update(self, gradients: Array, values: Array) -> None:
        """Judge the base-learners by loss plus movement, let each take its step, and mix them again.

        Base-learners with gradients of their own are given one row and one loss each.
        """
        p = self.program
        self.updates += 1
        losses = values + (1.0 if self.price.plain is None else self.price.plain) * self.moves
        self.mixture += float(self.weights @ losses)
        beyond = np.array(np.broadcast_to(gradients, self.points.shape))
        if self.hinted is not None:
            beyond[self.heeds] -= self.hinted
            self.agreed += float(gradients @ self.guess)
            self.chance += float(gradients @ self.guess) ** 2
            self.guessed += float(self.guess @ self.guess)
        clock = p.clock_at(self.updates)
        before = self.weights
        if p.schedule == "self-tuned":
            self.squares += float(gradients @ gradients)
            self.sizes += float(gradients @ gradients) + p.price * float(np.linalg.norm(gradients))
            self.spent += self.gap(losses, float(np.abs(gradients * self.decision).sum()))
        self.totals = self.totals + losses
        everyone = np.full(self.totals.size, True)
        self.step(beyond, self.sizes if p.schedule == "self-tuned" else clock, everyone)
        self.last = self.decision
        self.hinted = None
        self.mix(clock)
        shift = float(np.abs(self.weights - before).sum())
        self.reschedule(clock)
        self.spent += p.price * p.domain.diameter * shift

    def gap(self, losses: Array, size: float) -> float:
        """Return AdaHedge's mixability gap: <p, l> plus the logarithm of sum_i p_i exp(-eps l_i) over eps.

        The rate eps is the one that the weights were made with; 0 stands for no evidence yet, where the mix loss is the
        least loss. Where losses of this size differ by no more than rounding, the gap is 0.
        """
        above = losses - losses.min()
        mean = float(self.weights @ above)
        if above.max() <= TIE * size:
            return 0.0
        if self.rate == 0.0:
            return mean
        before = self.program.log_prior[: losses.size] - self.rate * self.totals
        mix = (logsumexp(before) - logsumexp(before - self.rate * above)) / self.rate
        return mean - min(max(float(mix), 0.0), mean)

    def step(self, gradients: Array, clock: float, who: NDArray[np.bool_]) -> None:
        """Move base-learners; a patient one only by what its gradients have beyond the price of a move."""
        p = self.program
        scale = 1.0 / np.sqrt(clock) if clock > 0.0 else 0.0
        directions = gradients.copy()
        for i in np.flatnonzero(self.patience * who):
            held = self.waiting[i] + gradients[i]
            directions[i] = self.beyond(held, self.patience[i])
            self.waiting[i] = held - directions[i]
        points = p.domain.project(self.points - scale * p.steps[: self.totals.size, None] * directions)
        changes = points - self.points
        self.moves = np.asarray(self.price(changes) if p.priced else np.linalg.norm(changes, axis=1))
        self.points = points

    def beyond(self, held: Array, patience: float) -> Array:
        """Return the part of the held gradients that is beyond the price of a move."""
        up, down = patience * self.price.prices(held.size)
        if self.price.norm == "l1":
            return np.asarray(held - np.clip(held, -up, down))
        asked = held != 0.0
        with np.errstate(divide="ignore"):  # a free move never waits
            size = float(np.linalg.norm(held[asked] / np.where(held > 0.0, down, up)[asked]))
        return np.asarray(held * (1.0 - 1.0 / size)) if size > 1.0 else np.zeros_like(held)

    def tangent(self, gradient: Array) -> Array:
        """Return a gradient, in the self-tuned schedule without its mean over each simplex."""
        rest = np.array(gradient)
        if self.program.schedule == "self-tuned":
            for block, part in zip(self.program.domain.blocks, self.program.domain.slices, strict=True):
                if block.kind == SIMPLEX:
                    rest[part] -= rest[part].mean()
        return rest

    def clip(self, size: float) -> float:
        """Return the part of a gradient of this size that counts, and note the size."""
        early, late = self.program.clip
        if late == 0.0 or size == 0.0:
            return 1.0
        limit = np.inf
        if self.counted:
            usual = max(np.sqrt(self.squares / self.counted), self.before)
            limit = np.clip(RAMP * np.sqrt(self.counted), early, late) * usual
            limit = usual if size > ABSURD * limit else limit
        if self.counted == 1 and self.before > late * size:  # the first was absurd: take it back
            self.cut += self.before
            self.sizes = self.squares = self.agreed = self.chance = self.guessed = 0.0
        self.counted, self.before, self.largest = self.counted + 1, size, max(self.largest, size)
        cut = self.cut + size - limit
        if size <= limit or cut > np.sqrt(self.updates + 1) * self.largest:
            return 1.0
        self.cut = cut
        return float(limit / size)

    def reschedule(self, clock: float) -> None:
        """Without a horizon: let newcomers join at the mixture, or begin a new block of twice the length."""
        p = self.program
        upcoming = p.clock_at(self.updates + 1)
        if p.schedule == "doubling" and upcoming > clock:
            self.begin(self.updates + 1)
        elif p.schedule in ("time-varying", "self-tuned") and p.growth:
            newcomers = self.count(self.updates + 1) - self.totals.size
            if newcomers > 0:
                self.points = np.vstack([self.points, np.tile(self.centre, (newcomers, 1))])
                self.waiting = np.vstack([self.waiting, np.zeros((newcomers, self.centre.size))])
                self.totals = np.append(self.totals, np.full(newcomers, self.mixture))
                self.moves = np.append(self.moves, np.zeros(newcomers))
                self.mix(clock)
