"""Plants in continuous time between two samples."""

from typing import Any

import control as python_control
import numpy as np
import pytest

from driftwise import control
from driftwise._validate import Array
from driftwise.adapters.control import ControllerSystem, sampled
from driftwise.errors import InputError, ParameterError

A, B = np.array([[0.0, 1.0], [-2.0, -0.3]]), np.array([[0.0], [1.5]])
DT = 0.05


def rod(t: float, x: Array, u: Array, params: dict[str, Any]) -> list[float]:
    """Return how an upright rod moves, by a torque and a load."""
    return [x[1], params.get("gravity", 15.0) * np.sin(x[0]) + 3.0 * (u[0] + u[1])]


PENDULUM = python_control.nlsys(
    rod,
    inputs=["u[0]", "load"],
    states=["angle", "speed"],
    outputs=["y[0]", "y[1]"],
    name="rod",
    params={"gravity": 15.0},
)


def test_a_linear_system_is_sampled_as_its_formula_says() -> None:
    plain = python_control.nlsys(lambda t, x, u, params: A @ x + B @ u, inputs=1, states=2)
    exact = python_control.c2d(python_control.ss(A, B, np.eye(2), 0.0), 0.2)
    errors = []
    for steps in (1, 2, 4):
        there = sampled(plain, 0.2, steps=steps)
        got = there.dynamics(0.0, [1.0, -0.5], [0.7])
        errors.append(np.abs(got - (exact.A @ [1.0, -0.5] + exact.B @ [0.7])).max())
    assert errors[-1] < 1e-7
    assert 12.0 < errors[0] / errors[1] < 20.0  # twice the steps, a sixteenth of the error
    assert 12.0 < errors[1] / errors[2] < 20.0


def test_time_parameters_and_names_are_kept() -> None:
    moving = python_control.nlsys(
        lambda t, x, u, params: params["rate"] * 3.0 * t**2, lambda t, x, u, params: x + u, params={"rate": 1.0},
        inputs=["in"], outputs=["out"], states=["level"], name="tank",
    )  # fmt: skip
    there = sampled(moving, 0.5)
    assert (there.name, there.dt, there.input_labels) == ("tank", 0.5, ["in"])
    assert (there.output_labels, there.state_labels) == (["out"], ["level"])
    np.testing.assert_allclose(there.dynamics(2.0, [0.0], [0.0]), [2.5**3 - 2.0**3])
    np.testing.assert_allclose(there.dynamics(2.0, [0.0], [0.0], params={"rate": 2.0}), [2.0 * (2.5**3 - 2.0**3)])
    np.testing.assert_allclose(there.output(0.0, [1.0], [2.0]), [3.0])


@pytest.mark.parametrize(
    "system",
    [
        3.0,
        python_control.ss(0.5, 1.0, 1.0, 0.0, True),
        python_control.tf([1.0], [1.0, 1.0]),
        control.double_integrator(),
    ],
)
def test_only_systems_in_continuous_time_are_sampled(system: object) -> None:
    with pytest.raises(InputError, match="continuous time"):
        sampled(system, 0.1)


@pytest.mark.parametrize("wrong", [{"dt": 0.0}, {"dt": -1.0}, {"dt": np.nan}, {"dt": 0.1, "steps": 0}])
def test_wrong_steps_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ParameterError):
        sampled(PENDULUM, **wrong)


def model() -> control.LinearSystem:
    """Return the rod, linearised upright and without its load, as `linearize` and `from_control` have it."""
    upright = PENDULUM.linearize([0.0, 0.0], [0.0, 0.0])
    return control.LinearSystem.from_control(upright[:, "u[0]"], dt=DT)


def test_a_linearised_system_is_a_plant() -> None:
    exact = control.LinearSystem.from_continuous([[0.0, 1.0], [15.0, 0.0]], [[0.0], [3.0]], DT)
    np.testing.assert_allclose(model().A, exact.A, atol=1e-6)
    np.testing.assert_allclose(model().B, exact.B, atol=1e-6)
    assert model().dt == DT
    whole = control.LinearSystem.from_control(PENDULUM.linearize([0.0, 0.0], [0.0, 0.0]), dt=DT)
    assert whole.input_dim == 2
    discrete = sampled(PENDULUM, DT).linearize([0.0, 0.0], [0.0, 0.0])
    np.testing.assert_allclose(control.LinearSystem.from_control(discrete).A, exact.A, atol=1e-6)
    with pytest.raises(InputError, match=r"system.linearize\(x0, u0\)"):
        control.LinearSystem.from_control(PENDULUM, dt=DT)


def balance(controller: control.Controller, load: Array, around: Any = None) -> Any:
    block = ControllerSystem(controller, control.QuadraticCost([1.0, 0.1], 0.01), around=around)
    loop = python_control.interconnect(
        [sampled(PENDULUM, DT), block], inputs=["load"], outputs=["y[0]", "y[1]", "u[0]"], add_unused=False
    )
    return python_control.input_output_response(loop, DT * np.arange(load.size), load, [0.2, 0.0, 0.0])


def test_a_nonlinear_pendulum_is_balanced_by_what_was_learnt_on_its_linearisation() -> None:
    load = 0.5 + 0.4 * np.sin(np.arange(600) / 10.0)
    ours, lqr = (
        control.SelfTunedController(model(), input_bound=5.0),
        control.LinearController(model(), input_bound=5.0),
    )
    found, plain = balance(ours, load), balance(lqr, load)
    # The same by hand: the two verbs, and the plant.
    plant, x, cost = sampled(PENDULUM, DT), np.array([0.2, 0.0]), control.QuadraticCost([1.0, 0.1], 0.01)
    for t in range(600):
        np.testing.assert_allclose(found.outputs[:2, t], x, rtol=0.0, atol=1e-9)
        u = ours.act(x)
        ours.observe(cost)
        x = plant.dynamics(t * DT, x, [u[0], load[t]])
    late = slice(300, None)
    assert np.abs(found.outputs[0, late]).mean() < 0.3 * np.abs(plain.outputs[0, late]).mean()


def test_an_operating_point_off_the_origin() -> None:
    """A rod at 0.3 rad, held by a torque: found by python-control, linearised there, and balanced there."""
    point = python_control.find_operating_point(
        PENDULUM, [0.3, 0.0], [0.0, 0.0], [0.3, 0.0], iu=[1], iy=[0], idx=[0, 1]
    )
    np.testing.assert_allclose(point.states, [0.3, 0.0], atol=1e-9)
    np.testing.assert_allclose(point.inputs, [-5.0 * np.sin(0.3), 0.0], atol=1e-9)
    plant = control.LinearSystem.from_control(PENDULUM.linearize(point)[:, "u[0]"], dt=DT)
    found = balance(control.SelfTunedController(plant), np.zeros(300), (point.outputs, point.inputs[:1]))
    np.testing.assert_allclose(found.outputs[:2, -1], [0.3, 0.0], atol=1e-3)
