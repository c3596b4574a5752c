import pickle
from typing import Any

import numpy as np
import pytest

import driftwise as dw
from driftwise import control
from driftwise._validate import Array
from driftwise.control.controllers import DisturbanceActionController
from driftwise.control.controllers.loop import PolicyLoop
from driftwise.errors import ArgumentError, DriftwiseError, InputError, ParameterError, StabilityError
from tests.cases import check_refused
from tests.control.cases import CONTROLLERS, PLANT, PLANTS, UNIT, WIDE, controller, policies, roll

ROWS = control.UniformDisturbance(0.5).sample(40, 3, seed=8)


def run(mine: PolicyLoop, actuator: Any, told: bool, rows: Array = ROWS) -> tuple[Array, Array, Array]:
    """Run WIDE with an actuator of its own; return the recovered disturbances, the applied inputs and the states."""
    x = np.array([1.0, -0.5, 0.5])
    recovered, applied, states = [], [], [x]
    for w in rows:
        u = mine.act(x)
        recovered.append(mine.disturbances[0])
        applied.append(actuator(u))
        if told:
            mine.observe(UNIT, applied=applied[-1])
        else:
            mine.observe(UNIT)
        x = WIDE.A @ x + WIDE.B @ applied[-1] + w
        states.append(x)
    return np.array(recovered[1:]), np.array(applied), np.array(states)


def saturated(u: Array) -> Array:
    return np.clip(u, -0.3, 0.3)


def test_disturbances_are_recovered_when_the_actuator_saturates_and_the_controller_is_told() -> None:
    recovered, applied, _ = run(controller("Scream", WIDE, 40), saturated, told=True)
    assert (np.abs(applied) == 0.3).mean() > 0.3  # it did saturate
    np.testing.assert_allclose(recovered, ROWS[:-1], rtol=0.0, atol=1e-12)


def test_without_being_told_the_recovered_disturbances_are_far_off() -> None:
    """Shows that the test above can fail."""
    recovered, _, _ = run(controller("Scream", WIDE, 40), saturated, told=False)
    assert np.linalg.norm(recovered - ROWS[:-1], axis=1).max() > 0.5


def test_with_the_input_of_the_wrong_round_the_recovered_disturbances_are_far_off() -> None:
    """x_{t+1} - A x_t - B u_{t+1}: a mistake that has been made elsewhere."""
    _, applied, states = run(controller("Scream", WIDE, 40), saturated, told=True)
    wrong = states[1:-1] - states[:-2] @ WIDE.A.T - applied[1:] @ WIDE.B.T
    right = states[1:-1] - states[:-2] @ WIDE.A.T - applied[:-1] @ WIDE.B.T
    np.testing.assert_allclose(right, ROWS[:-1], rtol=0.0, atol=1e-12)
    assert np.linalg.norm(wrong - ROWS[:-1]) > 0.3 * np.linalg.norm(ROWS[:-1])


def test_disturbances_are_recovered_within_the_controllers_own_bound() -> None:
    mine = control.ScreamController(WIDE, horizon=40, memory=3, input_bound=[0.3, 0.2])
    recovered, applied, _ = run(mine, lambda u: u, told=False)
    np.testing.assert_array_equal(np.abs(applied).max(axis=0), [0.3, 0.2])
    np.testing.assert_allclose(recovered, ROWS[:-1], rtol=0.0, atol=1e-12)


@pytest.mark.parametrize("name", CONTROLLERS)
def test_disturbances_are_recovered_in_a_simulation_with_a_limit(name: str) -> None:
    system = PLANTS["limited"]
    mine = controller(name, system)
    trace = control.simulate(system, mine, UNIT, ROWS[:20], start=[1.0, 1.0, -1.0])
    mine.act(trace.final_state)
    known = mine.disturbances[:20]
    np.testing.assert_allclose(known, trace.disturbances[::-1][: len(known)], rtol=0.0, atol=1e-12)


def test_after_saturation_the_policy_is_what_it_would_have_been() -> None:
    """Long saturation and then release: what was learnt came from the true disturbances, as on the truncated losses."""
    learner = dw.OGD(dw.SpectralBalls((3, 2, 3), 1.0), step=0.02)
    mine = DisturbanceActionController(WIDE, learner.clone())
    run(mine, saturated, told=True)
    losses = control.TruncatedLosses(WIDE, UNIT, ROWS, memory=3)
    dw.play(learner, losses)
    np.testing.assert_allclose(mine.policy.M.ravel(), learner.act(), rtol=0.0, atol=1e-12)
    astray = DisturbanceActionController(WIDE, dw.OGD(dw.SpectralBalls((3, 2, 3), 1.0), step=0.02))
    run(astray, saturated, told=False)
    assert np.abs(astray.policy.M.ravel() - learner.act()).max() > 1e-3


def test_a_start_away_from_the_origin_is_no_disturbance() -> None:
    mine = controller("Scream", WIDE, 40)
    mine.act([100.0, -50.0, 3.0])
    assert not mine.disturbances.any()
    recovered, _, _ = run(controller("Scream", WIDE, 40), lambda u: u, told=False)
    np.testing.assert_allclose(recovered[0], ROWS[0], rtol=0.0, atol=1e-12)


def test_the_controller_of_a_plant_that_varies_knows_the_nominal_pair_only() -> None:
    system = PLANTS["varying"]
    mine = controller("Scream", system)
    np.testing.assert_array_equal(mine._parts["A"], system.A)
    plant, rng = system.data(20, np.random.default_rng(3)), np.random.default_rng(4)
    x = np.array([1.0, 0.5])
    for t in range(20):
        w = 0.1 * rng.standard_normal(2)
        u = mine.act(x)
        mine.observe(UNIT)
        following = (system.A + plant.changes_A[t]) @ x + (system.B + plant.changes_B[t]) @ u + w
        effective = w + plant.changes_A[t] @ x + plant.changes_B[t] @ u
        ahead = mine.clone()
        ahead.act(following)
        np.testing.assert_allclose(ahead.disturbances[0], effective, rtol=0.0, atol=1e-12)
        assert np.abs(effective - w).max() > 1e-6
        x = following


def test_inputs_are_those_of_the_policy_in_use() -> None:
    rng = np.random.default_rng(0)
    M = policies(rng, 1, 3, 2, 3)[0]
    learner = dw.OGD(dw.SpectralBalls((3, 2, 3), 1.0), step=1e-12, start=M.ravel())
    mine = DisturbanceActionController(WIDE, learner)
    trace = control.simulate(WIDE, mine, UNIT, ROWS, start=[1.0, 0.0, 0.0])
    states, inputs = roll(WIDE, mine.K, np.tile(M, (len(ROWS), 1, 1, 1)), ROWS, np.array([1.0, 0.0, 0.0]))
    np.testing.assert_allclose(trace.inputs, inputs, rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(trace.states, states[:-1], rtol=0.0, atol=1e-9)


def test_the_policy_in_use_can_be_read_before_and_after_acting() -> None:
    mine = controller("Scream", WIDE)
    control.simulate(WIDE, mine, UNIT, ROWS[:20])
    before = mine.policy
    mine.act(np.ones(3))
    assert mine.policy.M.tobytes() == before.M.tobytes()
    assert before.memory == mine.memory == 3
    np.testing.assert_array_equal(before.K, mine.K)
    assert np.abs(before.M).max() > 0.0
    mine.observe(UNIT)
    assert mine.policy.M.tobytes() != before.M.tobytes()


def test_gradients_are_normalised_when_asked_to() -> None:
    def first_step(normalised: bool, factor: float) -> float:
        learner = dw.OGD(dw.SpectralBalls((2, 2, 3), 9.0), step=0.01)
        mine = DisturbanceActionController(WIDE, learner, normalised=normalised)
        for x in ([0.0, 0.0, 0.0], [1.0, 1.0, 0.0]):
            mine.act(x)
            mine.observe(control.QuadraticCost(factor, factor))
        return float(np.linalg.norm(mine.policy.M))

    assert first_step(True, 1.0) == pytest.approx(0.01, rel=1e-12)
    assert first_step(True, 1e6) == pytest.approx(0.01, rel=1e-12)
    assert first_step(False, 2.0) == pytest.approx(2.0 * first_step(False, 1.0), rel=1e-12)


def test_weights_are_those_of_the_learner() -> None:
    mine = controller("Scream", WIDE)
    assert isinstance(mine, DisturbanceActionController)
    control.simulate(WIDE, mine, UNIT, ROWS[:20])
    np.testing.assert_array_equal(mine.weights, mine.learner.weights)
    assert mine.weights.size > 1


def test_a_domain_of_another_kind_with_the_memory_given() -> None:
    learner = dw.OGD(dw.Ball(12, radius=0.5), step=0.05)
    mine = DisturbanceActionController(WIDE, learner, memory=2)
    trace = control.simulate(WIDE, mine, UNIT, ROWS, record_policies=True)
    assert trace.policies is not None
    norms = np.linalg.norm(trace.policies.reshape(len(ROWS), -1), axis=1)
    assert 0.1 < norms.max() <= 0.5 + 1e-12


def test_the_gain_is_that_of_lqr_unless_another_is_given() -> None:
    learner = dw.OGD(dw.SpectralBalls((2, 1, 2), 1.0), step=0.1)
    mine = DisturbanceActionController(PLANT, learner)
    np.testing.assert_array_equal(mine.K, control.lqr(PLANT))
    assert mine.stability.gamma == control.certify(PLANT, mine.K).gamma
    other = DisturbanceActionController(PLANT, learner, K=[[0.3, 1.0]])
    np.testing.assert_array_equal(other.K, [[0.3, 1.0]])
    assert not other.K.flags.writeable


def stack(*shape: int) -> dw.Learner:
    return dw.OGD(dw.SpectralBalls(shape, 1.0), step=0.1)  # type: ignore[arg-type]


UNREACHED = control.LinearSystem([[1.2, 0.0], [0.0, 0.5]], [[0.0], [1.0]])


@pytest.mark.parametrize(
    ("arguments", "words", "kind"),
    [
        ((PLANT, stack(2, 2, 1)), ("2 matrices of shape (1, 2)", "SpectralBalls((2, 1, 2), radii)"), ParameterError),
        ((PLANT, stack(1, 1, 1)), ("H matrices of shape (1, 2)",), ParameterError),
        ((PLANT, stack(2, 1, 3)), ("3 matrices of shape (1, 2)",), ParameterError),
        ((PLANT, dw.OGD(dw.Ball(5), step=0.1)), ("matrices of shape (1, 2)",), ParameterError),
        ((PLANT, stack(2, 1, 2), {"memory": 3}), ("3 matrices",), ParameterError),
        ((PLANT, stack(2, 1, 2), {"memory": 0}), ("memory",), ParameterError),
        ((PLANT, stack(2, 1, 2), {"K": [[0.0, 0.0]]}), ("eigenvalue 1",), StabilityError),
        ((PLANT, stack(2, 1, 2), {"K": [[0.3], [1.0]]}), ("K", "(1, 2)"), InputError),
        ((PLANT, stack(2, 1, 2), {"K": [[np.nan, 1.0]]}), ("K", "nan"), InputError),
        ((PLANT, stack(2, 1, 2), {"normalised": 1}), ("normalised",), ParameterError),
        ((PLANT, stack(2, 1, 2), {"input_bound": -1.0}), ("input_bound",), ParameterError),
        ((PLANT, stack(2, 1, 2), {"memry": 2}), ("memry", "Did you mean memory?"), ArgumentError),
        ((UNREACHED, stack(2, 1, 2)), ("1.2",), StabilityError),
        ((PLANT, PLANT), ("learner", "OGD"), ParameterError),
        (("plant", stack(2, 1, 2)), ("system", "LinearSystem"), ParameterError),
    ],
)
def test_parts_that_do_not_fit_are_refused(
    arguments: tuple[Any, ...], words: tuple[str, ...], kind: type[DriftwiseError]
) -> None:
    settings = arguments[2] if len(arguments) == 3 else {}
    check_refused(lambda: DisturbanceActionController(*arguments[:2], **settings), *words, kind=kind)


def test_matrices_that_do_not_fit_are_refused_by_the_plant() -> None:
    check_refused(lambda: control.LinearSystem(np.eye(2), np.ones((3, 1))), "B", "as many rows as A", kind=InputError)


def test_a_state_far_from_what_the_plant_could_do_is_refused_and_forgotten() -> None:
    mine, other = controller("Scream"), controller("Scream")
    for one in (mine, other):
        one.act([1e99, 0.0])
        one.observe(control.AbsoluteCost(1.0, 1.0), applied=[-9e99])
    check_refused(lambda: mine.act([0.0, 9.9e99]), "the disturbance that explains it", "unchanged", kind=InputError)
    assert mine.act([1e99, 0.0]).tobytes() == other.act([1e99, 0.0]).tobytes()


def test_a_gradient_out_of_range_is_refused_and_forgotten() -> None:
    mine, other = controller("Scream"), controller("Scream")
    for one in (mine, other):
        one.act([0.0, 0.0])
        one.observe(UNIT)
        one.act([1e90, 0.0])
    check_refused(lambda: mine.observe(UNIT), "leaves the range of numbers", "unchanged", kind=InputError)
    for one in (mine, other):
        one.observe(control.AbsoluteCost(1.0, 1.0))
    assert mine.act([1.0, 0.0]).tobytes() == other.act([1.0, 0.0]).tobytes()


def weight_of(mine: PolicyLoop) -> int:
    """Return the bytes of everything that a controller keeps."""
    return len(pickle.dumps(mine))


@pytest.mark.parametrize("name", ["linear", "policy", "own learner", "no horizon"])
def test_a_controller_does_not_grow(name: str) -> None:
    mine = controller(name, PLANT)
    noise, x, sizes = control.GaussianDisturbance(0.1), np.zeros(2), []
    for seed in range(10):
        x = control.simulate(PLANT, mine, UNIT, noise, seed, rounds=10_000, start=x).final_state
        sizes.append(weight_of(mine))
    assert mine.round == 100_000
    assert max(sizes) - min(sizes) <= 64  # the number of rounds is written in more digits


def test_a_controller_does_not_grow_by_hand() -> None:
    mine = controller("no horizon", PLANT)
    rows, x, sizes = control.GaussianDisturbance(0.1).sample(3000, 2), np.zeros(2), []
    for t, w in enumerate(rows):
        u = mine.act(x)
        mine.observe(UNIT)
        x = PLANT.A @ x + PLANT.B @ u + w
        if t % 500 == 499:
            sizes.append(weight_of(mine))
    assert max(sizes) - min(sizes) <= 64
