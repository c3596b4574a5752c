"""Linear systems, and their way to and from python-control."""

import math
import pickle
import sys
from collections.abc import Callable
from typing import Any

import control
import numpy as np
import pytest

from driftwise.control.plants import (
    LinearSystem,
    double_integrator,
    random_system,
)
from driftwise.control.plants.kernels import LINEAR
from driftwise.errors import ArgumentError, InputError, MissingExtraError, ParameterError
from tests.cases import check_refused
from tests.control.cases import advance
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


def test_a_system_in_continuous_time_is_sampled_with_its_input_held() -> None:
    system = LinearSystem.from_continuous([[0.0, 1.0], [0.0, 0.0]], [[0.0], [1.0]], 0.5, [[1.0, 0.0]], [[3.0]], lag=0.5)
    np.testing.assert_allclose(system.A, [[1.0, 0.5], [0.0, 1.0]], rtol=1e-14)
    np.testing.assert_allclose(system.B, [[0.125], [0.5]], rtol=1e-14)
    assert system.dt == 0.5
    np.testing.assert_array_equal(system.C, [[1.0, 0.0]])
    np.testing.assert_array_equal(system.D, [[3.0]])
    np.testing.assert_array_equal(system.lag, [0.5])
    fine = LinearSystem.from_continuous(A, B, 1e-6)
    np.testing.assert_allclose((fine.A - np.eye(2)) / 1e-6, A, atol=1e-5)
    assert fine.output_dim is None


def test_outputs() -> None:
    plain, system = LinearSystem(A, B), LinearSystem(A, B, [[1.0, 2.0]], [[0.0, 1.0, 0.0]])
    assert (plain.output_dim, plain.C, plain.D, plain.dt) == (None, None, None, None)
    np.testing.assert_array_equal(plain.output([1.0, 2.0]), [1.0, 2.0])
    assert system.output_dim == 1
    np.testing.assert_array_equal(system.output([1.0, 2.0], [9.0, 3.0, 9.0]), [8.0])
    np.testing.assert_array_equal(system.output(np.ones((4, 2)), np.zeros((4, 3))), np.full((4, 1), 3.0))
    number = LinearSystem(0.5, 1.0, 2.0)
    np.testing.assert_array_equal(number.D, [[0.0]])
    np.testing.assert_array_equal(number.output([3.0]), [6.0])
    for matrix in (system.C, system.D):
        assert matrix is not None
        assert not matrix.flags.writeable
    twin = pickle.loads(pickle.dumps(system))
    np.testing.assert_array_equal(twin.output([1.0, 2.0], [9.0, 3.0, 9.0]), [8.0])
    assert not twin.C.flags.writeable


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (lambda: LinearSystem(A, B, np.eye(3)), InputError, ("C", "(outputs, 2)")),
        (lambda: LinearSystem(A, B, np.eye(2), np.eye(2)), InputError, ("D", "(2, 3)")),
        (lambda: LinearSystem(A, B, D=np.ones((2, 3))), ParameterError, ("D", "give C")),
        (lambda: LinearSystem(A, B, dt=0.0), ParameterError, ("dt", "above 0")),
        (lambda: LinearSystem(A, B, [[1.0, 0.0]], np.ones((1, 3))).output([1.0, 2.0]), InputError, ("give u",)),
        (lambda: LinearSystem(A, B).output([1.0]), InputError, ("output: x", "(2,)")),
        (lambda: LinearSystem(A, B).output([1.0, 2.0], [1.0]), InputError, ("output: u", "(3,)")),
        (lambda: LinearSystem.from_continuous(A, B, -1.0), ParameterError, ("from_continuous: dt",)),
        (lambda: LinearSystem.from_continuous(A, [[1.0]], 0.1), InputError, ("B",)),
        (lambda: LinearSystem.from_continuous(A, B, 0.1, delays=1), ArgumentError, ("Did you mean delay?",)),  # type: ignore[call-arg]
        (lambda: LinearSystem.from_continuous([[1e4]], [[1.0]], 1.0), InputError, ("A", "finite")),
    ],
)
def test_bad_outputs_and_steps_are_refused(
    call: Callable[[], object], kind: type[Exception], words: tuple[str, ...]
) -> None:
    check_refused(call, *words, kind=kind)


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

    @pytest.mark.parametrize("C", [None, [[1.0, 0.0, 2.0]]])
    def test_disturbances_are_inputs_of_their_own(self, C: Any) -> None:
        drawn, given = random_system(3, 2, seed=1), rng().standard_normal((5, 20))
        system = LinearSystem(drawn.A, drawn.B, C)
        there = system.to_control(disturbances=True)
        assert there.input_labels == ["u[0]", "u[1]", "w[0]", "w[1]", "w[2]"]
        answer = control.forced_response(there, inputs=given, squeeze=False)
        plant, x = system.data(20, rng()), np.zeros(3)
        for t in range(20):
            np.testing.assert_allclose(answer.outputs[:, t], system.output(x), atol=1e-12)
            advance(plant, t, x.copy(), given[:2, t].copy(), given[2:, t].copy(), x)
        loose: Any = system
        check_refused(lambda: loose.to_control(disturbances=1), "disturbances", kind=ParameterError)

    def test_an_unsaid_step_is_taken_as_discrete(self) -> None:
        assert LinearSystem.from_control(control.StateSpace(A, B, np.eye(2), np.zeros((2, 3)), None)).linear

    def test_continuous_time_needs_a_step(self) -> None:
        continuous = control.ss(A, B, [[1.0, 2.0]], np.ones((1, 3)))
        words = ("continuous time", "Give dt=")
        check_refused(lambda: LinearSystem.from_control(continuous), *words, kind=InputError)
        mine, theirs = LinearSystem.from_control(continuous, dt=0.1), control.c2d(continuous, 0.1, method="zoh")
        for name in ("A", "B", "C", "D"):
            np.testing.assert_allclose(getattr(mine, name), getattr(theirs, name), rtol=1e-13, atol=1e-15)
        assert mine.dt == 0.1
        assert mine.linear

    def test_outputs_and_step_are_kept(self) -> None:
        there = control.StateSpace(A, B, [[1.0, -1.0]], [[0.0, 2.0, 0.0]], 0.25)
        system = LinearSystem.from_control(there, delay=2, input_limit=[[0.0, 1.0]] * 3)
        assert (system.dt, system.output_dim, system.delay) == (0.25, 1, 2)
        back = system.to_control()
        for name in ("A", "B", "C", "D", "dt"):
            np.testing.assert_array_equal(getattr(back, name), getattr(there, name))
        assert LinearSystem.from_control(there, dt=0.25).dt == 0.25
        for own in (True, None):
            unsaid = control.StateSpace(A, B, np.eye(2), np.zeros((2, 3)), own)
            assert LinearSystem.from_control(unsaid).dt is None
            assert LinearSystem.from_control(unsaid, dt=0.5).dt == 0.5

    def test_another_step_is_refused(self) -> None:
        there = control.StateSpace(A, B, np.eye(2), np.zeros((2, 3)), 0.25)
        words = ("0.25 s", "dt=0.5")
        check_refused(lambda: LinearSystem.from_control(there, dt=0.5), *words, kind=InputError)
        system = LinearSystem.from_control(there)
        check_refused(lambda: system.to_control(0.5), "dt must be 0.25", kind=ParameterError)
        assert system.to_control(True).dt is True
        check_refused(lambda: LinearSystem.from_control(there, dt=0.0), "dt", "above 0", kind=ParameterError)

    def test_what_is_no_state_space_is_refused(self) -> None:
        check_refused(lambda: LinearSystem.from_control(3), "control.ss", "a int", kind=InputError)
        transfer = control.tf([1.0], [1.0, 0.5], True)
        check_refused(lambda: LinearSystem.from_control(transfer), "control.ss(system)", kind=InputError)

    @pytest.mark.parametrize("dt", [0, -1.0, False, "fast", math.nan])
    def test_a_step_that_is_none_is_refused(self, dt: Any) -> None:
        check_refused(lambda: double_integrator().to_control(dt), "dt", "above 0", kind=ParameterError)

    def test_without_python_control_the_extra_is_named(self, monkeypatch: pytest.MonkeyPatch) -> None:
        there = double_integrator().to_control()
        monkeypatch.setitem(sys.modules, "control", None)
        check_refused(lambda: double_integrator().to_control(), "driftwise[control]", kind=MissingExtraError)
        check_refused(lambda: LinearSystem.from_control(there), "driftwise[control]", kind=MissingExtraError)
