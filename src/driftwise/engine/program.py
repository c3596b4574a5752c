"""A learner's configuration in the form the kernels read, and the state it starts from."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from driftwise._compile import LARGEST
from driftwise._validate import Array
from driftwise.domains import Domain
from driftwise.engine import kernels, layout
from driftwise.engine.layout import EUCLIDEAN_PRICE, L1_PRICES, L2_PRICES, Integers
from driftwise.errors import ParameterError
from driftwise.mirror import ENTROPY, MirrorMap
from driftwise.movecost import MoveCost, largest_price

SCHEDULES = ("fixed", "time-varying", "doubling", "self-tuned")


@dataclass(frozen=True)
class Program:
    """Everything that distinguishes one two-layer algorithm from another.

    Attributes
    ----------
    domain : Domain
        Where decisions live.
    mirror : MirrorMap
        Geometry of the base step.
    steps : array of shape (N,)
        Step sizes at clock 1; divided by the root of the clock in use.
    log_prior : array of shape (N,)
        Logarithm of Hedge's prior, up to a constant.
    rate : float
        Hedge's learning rate at clock 1; the factor 2 of its formula in the self-tuned schedule.
    switching_cost : float or MoveCost
        lambda in the surrogate loss of the meta layer.
    schedule : "fixed", "time-varying", "doubling" or "self-tuned"
        Which clock divides the rates.
    clock : float
        The clock of the fixed schedule: the number of updates planned, or 1 for rates given outright.
    growth : float
        c in N = ceil(log2(1 + c * clock) / 2) + 1 for the schedules without a horizon; 0 keeps all N in play.
    epoch : int
        Rounds that share one decision.
    own_gradients : bool
        Whether every base-learner is judged and moved by the loss at its own point.
    patience : array of shape (kinds,)
        How much of the price of a move a base-learner's gradients must outweigh before it moves: the steps are those of
        one base-learner of each kind in turn.
    dead_zone : float
        Radius of the dead zone around the mixture, as a part of its formula; 0 for none.
    heedless : int
        How many kinds, from the first, make nothing of hints.
    """

    domain: Domain
    mirror: MirrorMap
    steps: Array
    log_prior: Array
    rate: float = 0.0
    switching_cost: float | MoveCost = 0.0
    schedule: str = "fixed"
    clock: float = 1.0
    growth: float = 0.0
    epoch: int = 1
    own_gradients: bool = False
    patience: tuple[float, ...] = (0.0,)
    dead_zone: float = 0.0
    heedless: int = 0

    def __post_init__(self) -> None:
        """Refuse constants that leave the range of floating point."""
        if not (np.all(self.steps <= LARGEST) and np.all(self.steps >= 0.0) and 0.0 <= self.rate <= LARGEST):
            raise ParameterError(
                f"step sizes {self.steps} and learning rate {self.rate:g} must be between 0 and {LARGEST:g}; "
                "rescale the losses or the domain so that diameter and gradient bound are nearer to 1."
            )

    @property
    def price(self) -> float:
        """The most that a move by one unit of distance can cost."""
        return largest_price(self.switching_cost, self.domain.dim)

    def constants(self) -> tuple[Integers, Array]:
        """Pack the configuration into the two vectors that the kernels read."""
        count, dim, cost = self.steps.size, self.domain.dim, self.switching_cost
        norm, unit, prices = EUCLIDEAN_PRICE, cost, np.empty(0)
        if isinstance(cost, MoveCost):
            norm, unit, prices = L1_PRICES if cost.norm == "l1" else L2_PRICES, 1.0, cost.prices(dim).ravel()
        plain = self.schedule != "self-tuned" and not any(self.patience) and norm == EUCLIDEAN_PRICE
        schedule, base = SCHEDULES.index(self.schedule), self.mirror.kind(self.domain)
        header = [schedule, base, self.epoch, count, dim, len(self.patience), norm, self.heedless, plain]
        settings = [self.rate, unit, self.growth, self.clock, self.mirror.exponent]
        settings += [self.domain.diameter, self.dead_zone, self.price]
        patience = np.resize(self.patience, count)
        integers = np.concatenate([np.array(header, np.int64), self.domain.table.ravel()])
        parts = [self.steps, self.log_prior, patience, prices, self.domain.numbers]
        return integers, np.concatenate([np.array(settings, np.float64), *parts])

    def with_twins(self) -> Self:
        """Return the program in which every base-learner has a twin of its own kind that heeds hints."""
        kinds = len(self.patience)
        rows = [np.repeat(part.reshape(-1, kinds), 2, axis=0).ravel() for part in (self.steps, self.log_prior)]
        return replace(self, steps=rows[0], log_prior=rows[1], patience=self.patience * 2, heedless=kinds)

    def twins(self, counters: Integers, state: Array) -> tuple[Integers, Array]:
        """Return the state of the program `with_twins`: both twins where the one was, with half its weight each."""
        kinds, dim, count = len(self.patience), self.domain.dim, self.steps.size
        both = np.repeat(np.arange(count).reshape(-1, kinds), 2, axis=0).ravel()
        old = layout.views.py_func(state, count, dim)  # type: ignore[attr-defined]
        counters = counters.copy()
        counters[layout.ACTIVE] *= 2
        larger = np.zeros(layout.state_size(2 * count, dim, old.duals.size > 0))
        new = layout.views.py_func(larger, 2 * count, dim)  # type: ignore[attr-defined]
        each = ("weights", "totals", "moves", "fresh", "points", "duals")
        for name, part in old._asdict().items():
            getattr(new, name)[...] = part[both] if name in each and part.size else part
        new.weights[...] /= 2.0
        return counters, larger

    def clock_at(self, updates: int) -> float:
        """Return the clock of an update, counted from 1."""
        return float(kernels.clock_at(SCHEDULES.index(self.schedule), self.clock, updates))

    def new_state(self, start: Array) -> tuple[Integers, Array]:
        """Return the counters and the state vector of a learner that has seen nothing yet."""
        integers, floats = self.constants()
        dim, duals = self.domain.dim, bool(integers[layout.BASE] == ENTROPY) or any(self.patience)
        counters = np.zeros(layout.COUNTERS, np.int64)
        state = np.zeros(layout.state_size(self.steps.size, dim, duals))
        state[:dim] = start
        kernels.begin(integers, floats, counters, state)
        return counters, state


def pool_size(clock: float, growth: float) -> int:
    """Return the paper's number of base-learners, ceil(log2(1 + growth * clock) / 2) + 1."""
    return int(kernels.pool_size(float(clock), float(growth)))
