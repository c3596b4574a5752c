"""Linear systems, and their way to and from python-control."""

import math
import sys
from typing import Any

import control
import numpy as np
import pytest

from driftwise.control.plants import (
    LinearSystem,
    double_integrator,
    random_system,
)
from driftwise.control.plants.kernels import LINEAR, advance
from driftwise.errors import InputError, MissingExtraError, ParameterError
from tests.cases import check_refused
from tests.control.plants.cases import A, B, rng


def test_a_linear_plant_moves_as_its_matrices_say() -> None:
    plant = LinearSystem(A, B).data(1, rng())
    x, u, w, out = rng(1).standard_normal(2), rng(2).standard_normal(3), rng(3).standard_normal(2), np.empty(2)
    advance(plant, 0, x, u, w, out)
    np.testing.assert_allclose(out, A @ x + B @ u + w, rtol=1e-14)
    assert plant.kind == LINEAR


def test_numbers_make_a_system_of_one_state() -> None:
    system = LinearSystem(0.5, 2, input_limit=3)
    assert (system.A.item(), system.B.item()) == (0.5, 2.0)
    assert LinearSystem(0.5, [[1.0, 2.0]]).input_dim == 2
    assert repr(system) == "LinearSystem(state_dim=1, input_dim=1, input_limit=...)"


class TestPythonControl:
    def test_there_and_back(self) -> None:
        system = random_system(4, 2, seed=1)
        for dt in (True, 0.1):
            there = system.to_control(dt)
            assert isinstance(there, control.StateSpace)
            assert there.dt == dt
            np.testing.assert_array_equal(there.C, np.eye(4))
            back = LinearSystem.from_control(there)
            np.testing.assert_array_equal(back.A, system.A)
            np.testing.assert_array_equal(back.B, system.B)

    def test_both_sides_simulate_the_same_states(self) -> None:
        system, inputs = random_system(3, 2, seed=1), rng().standard_normal((2, 20))
        answer = control.forced_response(system.to_control(), inputs=inputs)
        plant, x = system.data(20, rng()), np.zeros(3)
        for t in range(20):
            np.testing.assert_allclose(answer.outputs[:, t], x, atol=1e-12)
            advance(plant, t, x.copy(), inputs[:, t].copy(), np.zeros(3), x)

    def test_an_unsaid_step_is_taken_as_discrete(self) -> None:
        assert LinearSystem.from_control(control.StateSpace(A, B, np.eye(2), np.zeros((2, 3)), None)).linear

    def test_continuous_time_is_refused_with_the_remedy(self) -> None:
        continuous = control.ss(A, B, np.eye(2), np.zeros((2, 3)))
        words = ("continuous time", "control.c2d(system, dt)", 'system.sample(dt, method="zoh")')
        check_refused(lambda: LinearSystem.from_control(continuous), *words, kind=InputError)
        sampled = LinearSystem.from_control(control.c2d(continuous, 0.1))
        by_method = LinearSystem.from_control(continuous.sample(0.1, method="zoh"))
        np.testing.assert_array_equal(sampled.A, by_method.A)
        np.testing.assert_allclose(sampled.A, np.eye(2) + 0.1 * A, atol=0.01)

    def test_what_is_no_state_space_is_refused(self) -> None:
        check_refused(lambda: LinearSystem.from_control(3), "control.ss", "a int", kind=InputError)
        transfer = control.tf([1.0], [1.0, 0.5], True)
        check_refused(lambda: LinearSystem.from_control(transfer), "control.ss(system)", kind=InputError)

    @pytest.mark.parametrize("dt", [0, -1.0, False, None, "fast", math.nan])
    def test_a_step_that_is_none_is_refused(self, dt: Any) -> None:
        check_refused(lambda: double_integrator().to_control(dt), "dt", "above 0", kind=ParameterError)

    def test_without_python_control_the_extra_is_named(self, monkeypatch: pytest.MonkeyPatch) -> None:
        there = double_integrator().to_control()
        monkeypatch.setitem(sys.modules, "control", None)
        check_refused(lambda: double_integrator().to_control(), "driftwise[control]", kind=MissingExtraError)
        check_refused(lambda: LinearSystem.from_control(there), "driftwise[control]", kind=MissingExtraError)
