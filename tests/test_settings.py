"""What an object was built with can be read, and not assigned."""

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import driftwise as dw
from driftwise import _settings, control
from driftwise._validate import Array
from driftwise.errors import ArgumentError, FrozenError
from tests.cases import check_refused

SETTINGS: dict[str, Any] = {
    "radius": dw.Ball(3),
    "high": dw.Box([0.0], [40.0]),
    "scale": dw.Simplex(3),
    "radii": dw.SpectralBalls((1, 2, 2), radii=1.0),
    "shortage": dw.CapacityLoss([1.0, 2.0], shortage=5.0),
    "p": dw.mirror.PNorm(1.5),
    "A": control.double_integrator(),
    "period": control.SinusoidDisturbance(1.0, period=9.0),
    "width": control.HuberCost(1.0, 1.0),
}
"""An object by the name of one of its settings."""


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize("copied", ["", "copy.deepcopy", "pickle"])
def test_a_setting_cannot_be_assigned(name: str, copied: str) -> None:
    thing = SETTINGS[name]
    if copied:
        thing = copy.deepcopy(thing) if copied == "copy.deepcopy" else pickle.loads(pickle.dumps(thing))
    before, shown = np.array(getattr(thing, name)), repr(thing)
    check_refused(lambda: setattr(thing, name, 7.0), type(thing).__name__, name, "build a new one", kind=FrozenError)
    np.testing.assert_array_equal(getattr(thing, name), before)
    assert repr(thing) == shown


@pytest.mark.parametrize("name", SETTINGS)
def test_a_name_that_does_not_exist_cannot_be_assigned(name: str) -> None:
    thing = SETTINGS[name]
    check_refused(lambda: setattr(thing, f"{name}z", 1.0), "no attribute", f"{name}z", kind=FrozenError)


class Counting(dw.Ball):
    """A domain of somebody else."""

    def __init__(self, dim: int) -> None:
        super().__init__(dim)
        self.calls = 0


def test_a_class_of_ones_own_may_have_what_it_likes() -> None:
    ball = Counting(2)
    ball.calls = 5
    ball.colour = "red"  # type: ignore[attr-defined]
    assert ball.calls == 5
    with pytest.raises(FrozenError, match="radius is fixed"):
        ball.radius = 3.0


class Forgetful(dw.Learner):
    def __init__(self) -> None:
        self.point = np.zeros(1)

    def _decide(self) -> Array:
        return self.point

    def _learn(self, gradient: Array) -> None:
        pass


def test_a_subclass_that_forgets_its_base_is_told_when_it_is_built() -> None:
    with pytest.raises(ArgumentError, match=r"Forgetful: its __init__ does not call super\(\).__init__"):
        Forgetful()


def test_settings_can_be_read() -> None:
    learner = dw.OGD(dw.Ball(3), step=0.1)
    assert (learner.step, learner.switching_cost) == (0.1, 0.0)  # type: ignore[attr-defined]
    assert dw.Hedge(3, loss_bound=1.0).n == 3  # type: ignore[attr-defined]
    assert dw.CapacityLoss([1.0], shortage=5.0).price == 1.0  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "thing", [dw.OGD(dw.Ball(3), step=0.1), *SETTINGS.values()], ids=lambda thing: type(thing).__name__
)
def test_what_is_not_kept_is_missing_and_not_something_else(thing: Any) -> None:
    fixed = [name for name in dir(type(thing)) if isinstance(getattr(type(thing), name, None), _settings._Setting)]
    assert fixed
    for name in fixed:
        assert not isinstance(getattr(thing, name, None), _settings._Setting)


def test_reading_what_is_not_kept_is_an_error() -> None:
    learner: Any = dw.OGD(dw.Ball(3), step=0.1)
    assert not hasattr(learner, "pool")
    with pytest.raises(AttributeError, match="OGD: the pool that it was built with is not kept"):
        _ = learner.pool
    assert not hasattr(control.CostSequence.constant(control.QuadraticCost(1.0, 1.0), 3), "costs")
