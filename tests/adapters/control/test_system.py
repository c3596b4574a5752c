"""A controller as a block of python-control does what it does by itself."""

import sys
from collections.abc import Callable
from typing import Any

import control as python_control
import numpy as np
import pytest

from driftwise import control
from driftwise._validate import Array
from driftwise.adapters.control import ControllerSystem
from driftwise.errors import (
    ArgumentError,
    DriftwiseError,
    HorizonError,
    InputError,
    MissingExtraError,
    OrderError,
    ParameterError,
)
from tests.adapters.control.loops import COST, FULL, PLANT, close, pushes, respond

ROUNDS = 200
LOOSE: Any = ControllerSystem
"""For calls that a type checker would refuse."""

MAKERS: dict[str, Callable[[], control.Controller]] = {
    "LinearController": lambda: control.LinearController(FULL),
    "GradientController": lambda: control.GradientController(FULL, horizon=ROUNDS),
    "ScreamController": lambda: control.ScreamController(FULL, horizon=ROUNDS),
    "SelfTunedController": lambda: control.SelfTunedController(FULL),
    "OutputFeedback": lambda: control.OutputFeedback(PLANT, measurement_noise=0.01),
    "AdaptiveController": lambda: control.AdaptiveController(FULL),
}


def plant_of(controller: control.Controller) -> control.LinearSystem:
    return PLANT if isinstance(controller, control.OutputFeedback) else FULL


@pytest.mark.parametrize("name", MAKERS)
def test_a_response_is_that_of_simulate_every_time(name: str) -> None:
    rounds = 50 if name == "AdaptiveController" else ROUNDS  # that one estimates the plant in every round
    controller, w = MAKERS[name](), pushes(rounds)
    plant, before = plant_of(controller), controller.to_bytes()
    block = ControllerSystem(controller, COST)
    loop = close(plant, block)
    found = respond(loop, w)
    expected = control.simulate(plant, MAKERS[name](), COST, w)
    np.testing.assert_allclose(found.states[:2].T, expected.states, rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(found.outputs[-1], expected.inputs[:, 0], rtol=0.0, atol=1e-9)
    assert np.abs(expected.states).max() > 0.1
    np.testing.assert_array_equal(found.states[-1], np.arange(rounds))

    again, other = respond(loop, w), respond(loop, pushes(rounds, seed=1))
    np.testing.assert_array_equal(again.states, found.states)
    np.testing.assert_array_equal(again.outputs, found.outputs)
    assert not np.array_equal(other.outputs, found.outputs)
    np.testing.assert_array_equal(respond(loop, w).outputs, found.outputs)
    np.testing.assert_array_equal(
        respond(close(plant, ControllerSystem(controller, COST), False), w).outputs, found.outputs
    )
    assert controller.to_bytes() == before
    # Rounds of which the last has not been observed, as a response ends with its last time point.
    after = MAKERS[name]()
    control.simulate(plant, after, COST, w[:-1])
    known = block.controller_at(found.states[-1, -1])
    assert known.round == after.round == rounds - 1
    np.testing.assert_allclose(known.weights, after.weights, atol=1e-9)


def test_a_response_goes_on_from_a_controller_that_has_learnt() -> None:
    learnt, w = MAKERS["SelfTunedController"](), pushes(300)
    start = control.simulate(FULL, learnt, COST, w[:150]).final_state
    block = ControllerSystem(learnt, COST)
    found = python_control.input_output_response(close(FULL, block), np.arange(150), w[150:].T, [*start, 0.0])
    expected = control.simulate(FULL, learnt, COST, w[150:], start=start)
    np.testing.assert_allclose(found.states[:2].T, expected.states, rtol=0.0, atol=1e-9)


def test_it_closes_a_loop_by_feedback() -> None:
    pushed = control.LinearSystem(FULL.A, FULL.B)
    loop = python_control.feedback(pushed.to_control(), ControllerSystem(MAKERS["SelfTunedController"](), COST), sign=1)
    load = 0.2 * np.sin(np.arange(ROUNDS) / 9.0)
    found = respond(loop, load[:, None])
    expected = control.simulate(FULL, MAKERS["SelfTunedController"](), COST, np.outer(load, FULL.B))
    np.testing.assert_allclose(found.states[:2].T, expected.states, rtol=0.0, atol=1e-9)


@pytest.mark.parametrize("name", ["SelfTunedController", "OutputFeedback"])
def test_it_follows_a_set_point(name: str) -> None:
    controller, w = MAKERS[name](), pushes(ROUNDS)
    goals = np.zeros((ROUNDS, 2))
    goals[80:, 0] = 1.0
    block = ControllerSystem(controller, COST, reference=True)
    loop = close(plant_of(controller), block, more=("r[0]", "r[1]"))
    found = respond(loop, np.hstack([w, goals]))
    expected = control.simulate(plant_of(controller), MAKERS[name](), COST, w, references=goals)
    np.testing.assert_allclose(found.states[:2].T, expected.states, rtol=0.0, atol=1e-9)
    assert abs(found.states[0, 150:].mean() - 1.0) < 0.1


def saturated(block: ControllerSystem) -> Any:
    """Return the loop with an actuator that delivers 0.1 at most."""
    actuator = python_control.nlsys(
        None, lambda t, x, u, params: np.clip(u, -0.1, 0.1), inputs=["u[0]"], outputs=["v[0]"], dt=True, name="motor"
    )
    plant = FULL.to_control(disturbances=True)
    plant.update_names(inputs=["v[0]", "w[0]", "w[1]"])
    return python_control.interconnect([plant, block, actuator], inputs=["w[0]", "w[1]"], outputs=["y[0]", "y[1]"])


def test_it_is_told_what_an_actuator_really_did() -> None:
    w = 0.5 * pushes(ROUNDS)
    limited = control.LinearSystem(FULL.A, FULL.B, input_limit=0.1)
    told, untold = (ControllerSystem(MAKERS["SelfTunedController"](), COST, applied=flag) for flag in (True, False))
    found = respond(saturated(told), w)
    expected = control.simulate(limited, MAKERS["SelfTunedController"](), COST, w)
    assert (np.abs(expected.inputs) == 0.1).sum() > 10
    np.testing.assert_allclose(found.outputs.T, expected.states, rtol=0.0, atol=1e-9)
    assert np.abs(respond(saturated(untold), w).outputs - found.outputs).max() > 1e-3


def test_it_works_about_an_operating_point() -> None:
    w, here = pushes(ROUNDS), np.array([3.0, -2.0])
    u0 = np.array([0.7])
    # The same plant in coordinates of which (here, u0) is the origin: x' - here = A (x - here) + B (u - u0) + w.
    shift = here - FULL.A @ here - FULL.B @ u0
    block = ControllerSystem(MAKERS["SelfTunedController"](), COST, around=(here, u0))
    loop = close(FULL, block)
    found = python_control.input_output_response(loop, np.arange(ROUNDS), (w + shift).T, [*here, 0.0])
    expected = control.simulate(FULL, MAKERS["SelfTunedController"](), COST, w)
    np.testing.assert_allclose(found.states[:2].T - here, expected.states, rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(found.outputs[2] - u0, expected.inputs[:, 0], rtol=0.0, atol=1e-9)


def test_a_cost_for_each_round() -> None:
    costs = [control.QuadraticCost(1.0 + t % 3, 1.0) for t in range(60)]
    w = pushes(60)
    controller = control.GradientController(FULL, horizon=100)
    loop = close(FULL, ControllerSystem(controller, costs))
    expected = control.simulate(FULL, controller, costs, w)
    np.testing.assert_allclose(respond(loop, w).states[:2].T, expected.states, rtol=0.0, atol=1e-9)
    with pytest.raises(HorizonError, match="60 rounds"):
        respond(loop, pushes(61))
    np.testing.assert_allclose(respond(loop, w).states[:2].T, expected.states, rtol=0.0, atol=1e-9)


def test_a_response_longer_than_the_horizon_is_refused() -> None:
    loop = close(FULL, ControllerSystem(control.ScreamController(FULL, horizon=50), COST))
    respond(loop, pushes(50))
    with pytest.raises(HorizonError, match="50 rounds of its horizon"):
        respond(loop, pushes(51))


@pytest.mark.parametrize("state", [0.5, -1.0, 21.0, np.nan, np.inf])
def test_a_state_that_it_has_not_given_out_is_refused(state: float) -> None:
    block = ControllerSystem(MAKERS["SelfTunedController"](), COST)
    respond(close(FULL, block), pushes(20))
    block.output(0.0, [20.0], [0.0, 0.0])
    for ask in (block.output, block.dynamics):
        with pytest.raises(InputError, match="from 0 to 20") as caught:
            ask(0.0, [state], [0.0, 0.0])
        assert "to_control()" in str(caught.value)
    with pytest.raises(InputError, match="from 0 to 20"):
        block.controller_at(state)


def test_what_learns_has_no_linearisation_and_what_is_frozen_has() -> None:
    controller = MAKERS["SelfTunedController"]()
    block = ControllerSystem(controller, COST)
    with pytest.raises(InputError, match="to_control"):
        block.linearize([0.0], [0.0, 0.0])
    found = respond(close(FULL, block), pushes(ROUNDS))
    learnt: Any = block.controller_at(found.states[-1, -1])
    frozen = learnt.to_control()
    assert isinstance(frozen, python_control.StateSpace)
    loop = python_control.feedback(FULL.to_control(), frozen, sign=1)
    assert np.abs(loop.poles()).max() < 1.0


@pytest.mark.parametrize("name", ["LinearController", "SelfTunedController", "OutputFeedback"])
def test_a_refused_input_leaves_it_as_it_was(name: str) -> None:
    controller = MAKERS[name]() if name != "SelfTunedController" else control.SelfTunedController(FULL, guard=False)
    plant, w = plant_of(controller), pushes(60)
    block = ControllerSystem(controller, COST)
    loop = close(plant, block)
    found = respond(loop, w)
    bad = w.copy()
    bad[30] = np.nan
    # python-control iterates until signals are equal, and NaN never is.
    kind, words = (RuntimeError, "algebraic loop") if name == "OutputFeedback" else (InputError, "act")
    with pytest.raises(kind, match=words):
        respond(loop, bad)
    np.testing.assert_array_equal(respond(loop, w).outputs, found.outputs)


def test_a_guarded_controller_takes_a_missing_sample() -> None:
    block = ControllerSystem(MAKERS["SelfTunedController"](), COST)
    (state,) = block.dynamics(0.0, [0.0], [1.0, 0.5])
    assert np.isfinite(block.output(0.0, [state], [np.nan, np.nan])).all()
    (state,) = block.dynamics(0.0, [state], [np.nan, np.nan])
    assert "missing" in block.controller_at(state).log[-1].text  # type: ignore[attr-defined]


def test_a_continuous_plant_is_refused_by_python_control() -> None:
    block = ControllerSystem(MAKERS["LinearController"](), COST, dt=0.1)
    with pytest.raises(ValueError, match="imebase"):
        python_control.feedback(python_control.ss([[0.0, 1.0], [0.0, 0.0]], [[0.0], [1.0]], np.eye(2), 0.0), block)


def test_the_time_step_is_that_of_the_plant() -> None:
    plant = control.LinearSystem(FULL.A, FULL.B, dt=0.25)
    assert ControllerSystem(control.LinearController(plant), COST).dt == 0.25
    assert ControllerSystem(control.LinearController(plant), COST, dt=True).dt is True
    assert ControllerSystem(control.LinearController(FULL), COST).dt is True
    block = ControllerSystem(control.LinearController(FULL), COST, dt=0.5, name="brain")
    assert (block.dt, block.name) == (0.5, "brain")


class Own(control.Controller):
    """A controller without references."""

    def _decide(self, x: Array) -> Array:
        return -0.5 * x[:1]

    def _learn(self, x: Array, applied: Array, cost: control.Cost) -> None:
        pass


def test_a_controller_of_ones_own_will_do() -> None:
    block, w = ControllerSystem(Own(2, 1), COST), pushes(50)
    expected = control.simulate(FULL, Own(2, 1), COST, w)
    np.testing.assert_allclose(respond(close(FULL, block), w).states[:2].T, expected.states, atol=1e-9)


def test_a_copy_is_a_block_of_its_own() -> None:
    block, w = ControllerSystem(MAKERS["SelfTunedController"](), COST, name="one"), pushes(40)
    found = respond(close(FULL, block), w)
    copied = block.copy("two")
    np.testing.assert_array_equal(respond(close(FULL, copied), w).outputs, found.outputs)
    respond(close(FULL, copied), pushes(40, seed=2))
    with pytest.raises(InputError, match=r"state of one .* from 0 to 40, got \[41\.\]"):
        block.controller_at(41.0)
    assert copied.controller_at(41.0).round == 2  # both begin at the origin, and share a round


def test_around_holds_for_what_was_applied() -> None:
    block = ControllerSystem(MAKERS["SelfTunedController"](), COST, around=([3.0, -2.0], [0.7]), applied=True)
    plain = ControllerSystem(MAKERS["SelfTunedController"](), COST, applied=True)
    for x, v in (([1.0, 0.0], 0.25), ([0.5, 0.5], -0.5)):
        here = np.array([*x, v])
        there = here + np.array([3.0, -2.0, 0.7])
        mine, theirs = block.dynamics(0.0, [0.0], there), plain.dynamics(0.0, [0.0], here)
        np.testing.assert_array_equal(mine, theirs)
        answers = block.output(0.0, mine, there), plain.output(0.0, theirs, here)
        np.testing.assert_allclose(answers[0], answers[1] + 0.7, rtol=0.0, atol=1e-12)


def test_without_python_control_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("driftwise.adapters.control")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "control", None)
    with pytest.raises(MissingExtraError, match=r"driftwise\[control\]"):
        import driftwise.adapters.control  # noqa: F401


def begun() -> control.Controller:
    controller = MAKERS["LinearController"]()
    controller.act([0.0, 0.0])
    return controller


@pytest.mark.parametrize(
    ("make", "kind", "words"),
    [
        (lambda: LOOSE("LQR", COST), ParameterError, "controller must be a Controller"),
        (lambda: LOOSE(Own(2, 1), COST, reference=True), ParameterError, "takes no references"),
        (lambda: LOOSE(Own(2, 1), 3.0), ParameterError, "cost"),
        (lambda: LOOSE(Own(2, 1), control.QuadraticCost([1.0, 1.0, 1.0], 1.0)), InputError, "state_dim 2"),
        (lambda: LOOSE(Own(2, 1), [COST, 3.0]), DriftwiseError, "Cost"),
        (lambda: LOOSE(Own(2, 1), COST, dt=0.0), ParameterError, "dt"),
        (lambda: LOOSE(Own(2, 1), COST, applied=1), ParameterError, "applied"),
        (lambda: LOOSE(Own(2, 1), COST, around=3.0), InputError, "pair"),
        (lambda: LOOSE(Own(2, 1), COST, around=([0.0], [0.0])), InputError, "around"),
        (lambda: LOOSE(Own(2, 1), COST, around=([0.0, np.nan], [0.0])), InputError, "around"),
        (lambda: LOOSE(Own(2, 1), COST, around=(["a", "b"], 0.0)), InputError, "around"),
        (lambda: LOOSE(Own(2, 1), COST, step=1), ArgumentError, "step"),
        (lambda: LOOSE(begun(), COST), OrderError, "observe"),
        (
            lambda: LOOSE(control.SelfTunedController(FULL, guard=control.Guard(deadline=1.0)), COST),
            ParameterError,
            "deadline",
        ),
        (
            lambda: LOOSE(control.OutputFeedback(PLANT, guard=control.Guard(deadline=1.0)), COST),
            ParameterError,
            "deadline",
        ),
    ],
)
def test_what_cannot_be_a_block_is_refused(make: Callable[[], Any], kind: type[Exception], words: str) -> None:
    with pytest.raises(kind, match=words):
        make()
