"""A learner's configuration in the form the kernels read, and the state it starts from."""

from dataclasses import dataclass

import numpy as np

from driftwise._compile import LARGEST
from driftwise._validate import Array
from driftwise.domains import Domain
from driftwise.engine import kernels
from driftwise.errors import ParameterError
from driftwise.mirror import ENTROPY, MirrorMap

SCHEDULES = ("fixed", "time-varying", "doubling")


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
        Hedge's learning rate at clock 1.
    switching_cost : float
        lambda in the surrogate loss of the meta layer.
    schedule : "fixed", "time-varying" or "doubling"
        Which clock divides the rates.
    clock : float
        The clock of the fixed schedule: the number of updates planned, or 1 for rates given outright.
    growth : float
        c in N = ceil(log2(1 + c * clock) / 2) + 1 for the schedules without a horizon; 0 keeps all N in play.
    epoch : int
        Rounds that share one decision.
    own_gradients : bool
        Whether every base-learner is judged and moved by the loss at its own point.
    """

    domain: Domain
    mirror: MirrorMap
    steps: Array
    log_prior: Array
    rate: float = 0.0
    switching_cost: float = 0.0
    schedule: str = "fixed"
    clock: float = 1.0
    growth: float = 0.0
    epoch: int = 1
    own_gradients: bool = False

    def __post_init__(self) -> None:
        """Refuse constants that leave the range of floating point."""
        if not (np.all(self.steps <= LARGEST) and np.all(self.steps >= 0.0) and 0.0 <= self.rate <= LARGEST):
            raise ParameterError(
                f"step sizes {self.steps} and learning rate {self.rate:g} must be between 0 and {LARGEST:g}; "
                "rescale the losses or the domain so that diameter and gradient bound are nearer to 1."
            )

    def constants(self) -> tuple[kernels.Integers, Array]:
        """Pack the configuration into the two vectors that the kernels read."""
        count, dim = self.steps.size, self.domain.dim
        header = [SCHEDULES.index(self.schedule), self.mirror.kind(self.domain), self.epoch, count, dim]
        settings = [self.rate, self.switching_cost, self.growth, self.clock, self.mirror.exponent]
        integers = np.concatenate([np.array(header, np.int64), self.domain.table.ravel()])
        return integers, np.concatenate([settings, self.steps, self.log_prior, self.domain.numbers])

    def clock_at(self, updates: int) -> float:
        """Return the clock of an update, counted from 1."""
        return float(kernels.clock_at(SCHEDULES.index(self.schedule), self.clock, updates))

    def new_state(self, start: Array) -> tuple[kernels.Integers, Array]:
        """Return the counters and the state vector of a learner that has seen nothing yet."""
        integers, floats = self.constants()
        dim, duals = self.domain.dim, bool(integers[kernels.BASE] == ENTROPY)
        counters, state = np.zeros(4, np.int64), np.zeros(kernels.state_size(self.steps.size, dim, duals))
        state[:dim] = start
        kernels.begin(integers, floats, counters, state)
        return counters, state


def pool_size(clock: float, growth: float) -> int:
    """Return the paper's number of base-learners, ceil(log2(1 + growth * clock) / 2) + 1."""
    return int(kernels.pool_size(float(clock), float(growth)))
