from typing import Any

import control as python_control
import numpy as np
import pytest

from driftwise import control
from driftwise.control.frozen import FrozenPolicy
from driftwise.control.frozen.response import Loop
from driftwise.errors import ParameterError
from tests.cases import check_refused
from tests.control.frozen.cases import KINDS, drawn, loop_matrix, radius


def plant_of(policy: FrozenPolicy) -> Any:
    """Return the nominal plant with the policy's samples as its outputs."""
    n, (nz, du) = policy.state_dim, policy.B.shape
    seen = np.zeros((policy.law.sides["width"], nz))
    seen[:, :n] = np.eye(n) if policy.C is None else policy.C
    return python_control.StateSpace(policy.A, policy.B, seen, np.zeros((len(seen), du)), True)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(6))
def test_the_system_gives_the_inputs_of_the_policy(kind: str, seed: int) -> None:
    policy, rng = drawn(seed, kind), np.random.default_rng(seed)
    samples = rng.standard_normal((40, policy.law.sides["width"]))
    samples[0] = 0.0  # a linear system takes the first sample for a disturbance
    expected = [policy.act(row) for row in samples]
    response = python_control.forced_response(policy.to_control(), np.arange(40), samples.T)
    np.testing.assert_allclose(response.outputs.reshape(policy.input_dim, -1).T, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(6))
def test_closed_with_the_plant_it_has_the_poles_of_the_loop(kind: str, seed: int) -> None:
    policy = drawn(seed, kind)
    closed = python_control.feedback(plant_of(policy), policy.to_control(), sign=1)
    # Rounding moves the poles at 0, which come in chains as long as the memory, and those alone.
    found, slow = np.abs(closed.poles()), np.abs(Loop(policy.law).poles)
    np.testing.assert_allclose(np.sort(found[found > 0.3]), np.sort(slow[slow > 0.3]), atol=1e-6)
    if slow.max() > 0.3:
        assert found.max() == pytest.approx(Loop(policy.law).radius, abs=1e-6)
    assert radius(loop_matrix(policy)) == pytest.approx(found.max(), abs=1e-6 if slow.max() > 0.3 else 0.3)


def test_the_sign_is_that_of_the_policy_and_time_can_be_given() -> None:
    policy = FrozenPolicy([[0.9]], [[1.0]], [[0.5]])
    system = policy.to_control(dt=0.1)
    assert system.dt == 0.1
    assert policy.to_control().dt is True
    assert policy.to_control(dt=True).dt is True
    assert system.dcgain() == pytest.approx(-0.5)
    check_refused(lambda: policy.to_control(dt=0.0), "dt", "above 0", kind=ParameterError)


def test_a_simulated_loop_is_the_simulated_system() -> None:
    plant = control.double_integrator()
    policy = FrozenPolicy(plant.A, plant.B, control.lqr(plant), [[[-0.2, -0.5]], [[0.1, 0.2]]])
    rows = np.random.default_rng(0).standard_normal((60, 2))
    rows[0] = 0.0
    x, states = np.zeros(2), []
    for w in rows:
        states.append(x)
        x = plant.A @ x + plant.B @ policy.act(x) + w
    pushed = python_control.StateSpace(plant.A, np.hstack([plant.B, np.eye(2)]), np.eye(2), np.zeros((2, 3)), True)
    loop = python_control.interconnect(
        [python_control.ss(pushed, name="plant"), python_control.ss(policy.to_control(), name="policy")],
        connections=[["policy.u[0]", "plant.y[0]"], ["policy.u[1]", "plant.y[1]"], ["plant.u[0]", "policy.y[0]"]],
        inplist=["plant.u[1]", "plant.u[2]"],
        outlist=["plant.y[0]", "plant.y[1]"],
    )
    found = python_control.forced_response(loop, np.arange(60), rows.T).outputs.T
    np.testing.assert_allclose(found, states, rtol=1e-9, atol=1e-9)
