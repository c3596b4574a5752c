"""A linear system whose matrices change from round to round (the synthetic plant of Section 6 of the paper)."""

from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike

from driftwise._validate import Array, array, number, read_only, whole
from driftwise.control.plants.actuator import ActuatorOptions
from driftwise.control.plants.base import System
from driftwise.control.plants.kernels import VARYING
from driftwise.errors import InputError

OWN_STREAM = 0x5F3759DF
"""Keeps the changes of a plant apart from disturbances that were given the same seed."""


class TimeVaryingSystem(System):
    """A linear system whose matrices change from round to round: x_{t+1} = A_t x_t + B_t u_t + w_t.

    The synthetic plant of the paper's experiments: A_t = A + changes_A[t] and B_t = B + changes_B[t]. A
    controller knows only A and B. To it, the changes look like a part of the disturbance; that part depends on what the
    controller did, so regret is not defined here: compare costs.

    Parameters
    ----------
    A, B : array
        The nominal pair, as in `LinearSystem`.
    spread_A, spread_B : float, default 0.01
        Standard deviation of the entries of the changes, which are independent and Gaussian with mean zero. Not used
        when changes are given.
    changes_A : array of shape (rounds, states, states), optional
        Changes of A, used instead of random ones; runs can have at most that many rounds. When only changes of B
        are given, A does not change.
    changes_B : array of shape (rounds, states, inputs), optional
        Changes of B, likewise.
    seed : int, optional
        Seed of the changes. When left out they come from the seed of the run, so that two runs with different seeds see
        different plants. A longer run has the changes of a shorter one and more.
    input_limit, rate_limit, delay, lag : optional
        The actuator, as in `LinearSystem`.

    References
    ----------
    .. [1] Zhao, Yan, Wang, Zhou, "Non-stationary online learning with memory ...", JMLR 24, 2023, Section 6.

    Examples
    --------
    >>> import numpy as np
    >>> from driftwise.control import TimeVaryingSystem
    >>> system = TimeVaryingSystem([[1.0, 1.0], [0.0, 1.0]], [[0.0], [1.0]], spread_A=0.1, seed=0)
    >>> plant = system.data(1000, np.random.default_rng(5))
    >>> plant.changes_A.shape, round(float(plant.changes_A.std()), 3)
    ((1000, 2, 2), 0.101)
    """

    _kind = VARYING

    def __init__(
        self,
        A: ArrayLike,
        B: ArrayLike,
        *,
        spread_A: float = 0.01,
        spread_B: float = 0.01,
        changes_A: ArrayLike | None = None,
        changes_B: ArrayLike | None = None,
        seed: int | None = None,
        **actuator: Unpack[ActuatorOptions],
    ) -> None:
        super().__init__(A, B, **actuator)
        owner = "TimeVaryingSystem"
        self.spread_A = number(owner, "spread_A", spread_A, low=0.0)
        self.spread_B = number(owner, "spread_B", spread_B, low=0.0)
        self.seed = None if seed is None else whole(owner, "seed", seed, low=0, high=2**128)
        n, m = self.B.shape
        first = None if changes_A is None else array(owner, "changes_A", changes_A, ("rounds", n, n), copy=True)
        second = None if changes_B is None else array(owner, "changes_B", changes_B, ("rounds", n, m), copy=True)
        if first is not None and second is not None and len(first) != len(second):
            raise InputError(
                f"{owner}: changes_A and changes_B must be of the same rounds, got {len(first)} and {len(second)}."
            )
        if first is None and second is not None:
            first = np.zeros((len(second), n, n))
        if second is None and first is not None:
            second = np.zeros((len(first), n, m))
        self.changes_A = None if first is None else read_only(first)
        self.changes_B = None if second is None else read_only(second)

    def _changes(self, rounds: int, rng: np.random.Generator) -> tuple[Array, Array]:
        if self.changes_A is not None and self.changes_B is not None:
            if rounds > len(self.changes_A):
                raise InputError(
                    f"TimeVaryingSystem.data: changes were given for {len(self.changes_A)} rounds and a run of "
                    f"{rounds} rounds was asked for; give changes for at least as many."
                )
            return self.changes_A[:rounds].copy(), self.changes_B[:rounds].copy()
        if self.seed is not None:
            rng = np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(OWN_STREAM,)))
        n, m = self.B.shape
        # One row a round, so that the first rounds do not depend on how many follow.
        draws = rng.standard_normal((rounds, n * (n + m)))
        of_A, of_B = draws[:, : n * n].reshape(rounds, n, n), draws[:, n * n :].reshape(rounds, n, m)
        return self.spread_A * of_A, self.spread_B * of_B

    def __repr__(self) -> str:
        if self.changes_A is None:
            what = f"spread_A={self.spread_A:g}, spread_B={self.spread_B:g}"
        else:
            what = f"changes of {len(self.changes_A)} rounds"
        return f"{super().__repr__()[:-1]}, {what})"
