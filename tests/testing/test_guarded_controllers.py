"""The public check on controllers with a guard: samples that were lost are survived, and the check can fail."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike

from driftwise import control
from driftwise._validate import Array
from driftwise.errors import InputError
from driftwise.testing import check_controller
from tests.control.cases import PLANTS


@pytest.mark.parametrize("plant", ["linear", "limited", "actuated"])
@pytest.mark.parametrize("kind", [control.LinearController, control.ScreamController, control.SelfTunedController])
def test_guarded_controllers_with_limits_of_their_own_pass(kind: Any, plant: str) -> None:
    system = PLANTS[plant]
    low = np.linspace(-0.3, -0.1, system.input_dim)
    limits = {"input_bound": np.stack([low, 2.0 - low], axis=1), "rate_limit": 0.4}
    check_controller(kind(system, guard=True, **limits), seed=2)


class Holding(control.Controller):
    """u = -x_0, with the last sample in place of one that is lost: somebody else could have written it."""

    guard = True

    def __init__(self) -> None:
        super().__init__(2, 1, input_bound=1.0)
        self.log: tuple[str, ...] = ()
        self.before = np.zeros(2)

    def act(self, x: ArrayLike | None) -> Array:
        numbers = isinstance(x, np.ndarray) and x.dtype == np.float64 and x.shape == (2,)
        if x is None or (numbers and not np.all(np.abs(np.asarray(x)) <= 1e100)):
            self.lose()
            return super().act(self.before)
        u = super().act(x)
        self.before = self._x
        return u

    def lose(self) -> None:
        self.log = (*self.log, f"{self.round}: lost")

    def _decide(self, x: Array) -> Array:
        return -x[:1]

    def _learn(self, x: Array, applied: Array, cost: control.Cost) -> None:
        pass


def test_a_guarded_controller_of_somebody_else_passes() -> None:
    check_controller(Holding)


class Silent(Holding):
    """Says nothing."""

    def lose(self) -> None:
        pass


class Brittle(Holding):
    """Gives up after all."""

    def lose(self) -> None:
        raise InputError("this is too much")


class Poisoned(Holding):
    """Is never the same again."""

    def act(self, x: ArrayLike | None) -> Array:
        before, u = len(self.log), super().act(x)
        if before == 0:
            return u
        bad = np.full(1, math.nan)
        bad.setflags(write=False)
        return bad


class Naming(Holding):
    """Has a guard by name only."""

    def act(self, x: ArrayLike | None) -> Array:
        return control.Controller.act(self, x)  # type: ignore[arg-type]


BROKEN: list[tuple[Callable[[], control.Controller], str]] = [
    (Silent, "did not write to its log that it was given NaN"),
    (Brittle, r"could not act in round \d+, with NaN as the state in round \d+: this is too much"),
    (Poisoned, r"gave the input \[nan\] in round \d+, with NaN as the state in round \d+, which is not finite"),
    (Naming, r"could not act in round \d+, with NaN as the state"),
]


@pytest.mark.parametrize(("make", "message"), BROKEN, ids=[make.__name__ for make, _ in BROKEN])
def test_a_broken_promise_is_found_and_named(make: Callable[[], control.Controller], message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        check_controller(make)
