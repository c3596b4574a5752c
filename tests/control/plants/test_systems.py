import math
import sys
from collections.abc import Callable
from typing import Any

import control
import numpy as np
import pytest

from driftwise._validate import Array
from driftwise.control.plants.kernels import LINEAR, PENDULUM, VARYING, PlantData, advance, saturate
from driftwise.control.plants.systems import (
    InvertedPendulum,
    LinearSystem,
    System,
    TimeVaryingSystem,
    double_integrator,
    random_system,
)
from driftwise.control.stability import controllability, lqr, spectral_radius
from driftwise.errors import ArgumentError, InputError, MissingExtraError, ParameterError
from tests.cases import check_refused

A, B = np.array([[0.9, 0.3], [-0.2, 0.7]]), np.array([[0.0, 1.0, 2.0], [1.0, -1.0, 0.5]])


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def follow(plant: PlantData, gain: Array, start: list[float], noise: Array) -> Array:
    """Return the states under u = -K x as the actuator delivers it, one row a round."""
    states = np.empty((len(noise) + 1, len(start)))
    states[0] = start
    for t, w in enumerate(noise):
        u = -gain @ states[t]
        saturate(plant.limit, u)
        advance(plant, t, states[t], u, w, states[t + 1])
    return states


def stays_up(limit: float, start: list[float], noise: Array) -> bool:
    system = InvertedPendulum(torque_limit=limit)
    states = follow(system.data(len(noise), rng()), lqr(system), start, noise)
    return bool(np.abs(states[:, 0]).max() < math.pi / 2)


def check_plant(system: System, rounds: int) -> PlantData:
    """Check what compiled code relies on: shapes, float64, C order, writeable (read-only is a type of its own)."""
    plant = system.data(rounds, rng())
    n, m = system.state_dim, system.input_dim
    length = rounds if plant.kind == VARYING else 0
    shapes = [(n, n), (n, m), (length, n, n), (length, n, m), plant.numbers.shape, (m,)]
    for values, shape in zip(plant[1:], shapes, strict=True):
        assert isinstance(values, np.ndarray)
        assert values.shape == shape
        assert values.dtype == np.float64
        assert values.flags.c_contiguous
        assert values.flags.writeable
    np.testing.assert_array_equal(plant.A, system.A)
    np.testing.assert_array_equal(plant.B, system.B)
    return plant


SYSTEMS: dict[str, System] = {
    "linear": LinearSystem(A, B),
    "limited": LinearSystem(A, B, input_limit=[1.0, 2.0, 3.0]),
    "drawn": TimeVaryingSystem(A, B, input_limit=4.0),
    "given": TimeVaryingSystem(A, B, changes_A=np.ones((9, 2, 2)), changes_B=np.ones((9, 2, 3))),
    "pendulum": InvertedPendulum(),
    "scalar": LinearSystem(2, -1),
}


@pytest.mark.parametrize("name", SYSTEMS)
def test_every_plant_is_data_that_compiled_code_takes(name: str) -> None:
    system = SYSTEMS[name]
    plant = check_plant(system, 7)
    limit = np.full(system.input_dim, math.inf) if system.input_limit is None else system.input_limit
    np.testing.assert_array_equal(plant.limit, limit)
    assert system.linear == (name in ("linear", "scalar"))
    assert repr(system).startswith(type(system).__name__ + "(")


@pytest.mark.parametrize("name", SYSTEMS)
def test_data_is_a_copy_and_the_matrices_are_read_only(name: str) -> None:
    system = SYSTEMS[name]
    before, plant = system.A.copy(), system.data(5, rng())
    plant.A[:] = plant.limit[:] = 7.0
    plant.changes_A[:] = 7.0
    np.testing.assert_array_equal(system.A, before)
    again = system.data(5, rng())
    assert not (again.limit == 7.0).any()
    assert not (again.changes_A == 7.0).any()
    for values in (system.A, system.B, *(() if system.input_limit is None else (system.input_limit,))):
        with pytest.raises(ValueError, match="read-only"):
            values[0] = 1.0


def test_a_system_does_not_follow_the_arrays_it_was_made_of() -> None:
    first, second, limit = A.copy(), B.copy(), np.ones(3)
    system = LinearSystem(first, second, input_limit=limit)
    first[:], second[:], limit[:] = 0.0, 0.0, 9.0
    np.testing.assert_array_equal(system.A, A)
    np.testing.assert_array_equal(system.B, B)
    assert system.input_limit is not None
    np.testing.assert_array_equal(system.input_limit, np.ones(3))


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


class TestTimeVaryingSystem:
    def test_the_plant_moves_by_the_changed_matrices(self) -> None:
        plant = TimeVaryingSystem(A, B, spread_A=0.3, spread_B=0.2).data(4, rng(5))
        x, u, w, out = rng(1).standard_normal(2), rng(2).standard_normal(3), rng(3).standard_normal(2), np.empty(2)
        for t in range(4):
            advance(plant, t, x, u, w, out)
            expected = (A + plant.changes_A[t]) @ x + (B + plant.changes_B[t]) @ u + w
            np.testing.assert_allclose(out, expected, rtol=1e-13)
            assert np.linalg.norm(out - (A @ x + B @ u + w)) > 1e-3

    def test_changes_have_the_spread_asked_for_and_no_mean(self) -> None:
        plant = TimeVaryingSystem(A, B, spread_A=0.3, spread_B=0.02).data(20_000, rng(5))
        np.testing.assert_allclose(plant.changes_A.std(axis=0), 0.3, rtol=0.03)
        np.testing.assert_allclose(plant.changes_B.std(axis=0), 0.02, rtol=0.03)
        assert np.abs(plant.changes_A.mean(axis=0)).max() < 0.3 * 4.5 / math.sqrt(20_000)
        rows = np.hstack([plant.changes_A.reshape(20_000, -1), plant.changes_B.reshape(20_000, -1)])
        assert np.abs(np.corrcoef(rows.T) - np.eye(10)).max() < 0.035

    def test_no_spread_is_the_nominal_system(self) -> None:
        plant = TimeVaryingSystem(A, B, spread_A=0.0, spread_B=0.0).data(10, rng())
        assert not plant.changes_A.any()
        assert not plant.changes_B.any()

    def test_without_a_seed_the_changes_are_those_of_the_run(self) -> None:
        system = TimeVaryingSystem(A, B)
        first, same, other = (system.data(5, rng(seed)).changes_A for seed in (1, 1, 2))
        np.testing.assert_array_equal(first, same)
        assert (first != other).all()

    def test_with_a_seed_they_are_always_the_same_and_leave_the_run_alone(self) -> None:
        system, run = TimeVaryingSystem(A, B, seed=4), rng(1)
        before = run.bit_generator.state
        first, second = system.data(5, run), system.data(5, rng(2))
        assert run.bit_generator.state == before
        np.testing.assert_array_equal(first.changes_A, second.changes_A)
        other = TimeVaryingSystem(A, B, seed=5).data(5, run)
        assert (first.changes_A != other.changes_A).all()

    def test_a_seed_does_not_repeat_noise_drawn_from_the_same_seed(self) -> None:
        changes = TimeVaryingSystem(A, B, spread_A=1.0, spread_B=1.0, seed=4).data(500, rng()).changes_A
        noise = rng(4).standard_normal(changes.shape)
        assert abs(np.corrcoef(changes.ravel(), noise.ravel())[0, 1]) < 0.1

    @pytest.mark.parametrize("seed", [None, 3])
    def test_a_longer_run_begins_as_a_shorter_one(self, seed: int | None) -> None:
        system = TimeVaryingSystem(A, B, seed=seed)
        short, long = system.data(5, rng()), system.data(50, rng())
        np.testing.assert_array_equal(short.changes_A, long.changes_A[:5])
        np.testing.assert_array_equal(short.changes_B, long.changes_B[:5])

    def test_changes_can_be_given(self) -> None:
        changes_A, changes_B = rng().standard_normal((6, 2, 2)), rng().standard_normal((6, 2, 3))
        plant = TimeVaryingSystem(A, B, changes_A=changes_A, changes_B=changes_B).data(4, rng())
        np.testing.assert_array_equal(plant.changes_A, changes_A[:4])
        np.testing.assert_array_equal(plant.changes_B, changes_B[:4])

    def test_what_is_not_given_does_not_change(self) -> None:
        changes_A, changes_B = rng().standard_normal((6, 2, 2)), rng().standard_normal((6, 2, 3))
        assert not TimeVaryingSystem(A, B, changes_A=changes_A).data(6, rng()).changes_B.any()
        assert not TimeVaryingSystem(A, B, changes_B=changes_B).data(6, rng()).changes_A.any()

    def test_changes_that_do_not_fit_are_refused(self) -> None:
        ones = np.ones((6, 2, 2))
        check_refused(
            lambda: TimeVaryingSystem(A, B, changes_A=ones, changes_B=np.ones((5, 2, 3))),
            "same rounds, got 6 and 5",
            kind=InputError,
        )
        check_refused(lambda: TimeVaryingSystem(A, B, changes_B=ones), "changes_B", "(rounds, 2, 3)", kind=InputError)
        check_refused(lambda: TimeVaryingSystem(A, B, changes_A=ones * math.nan), "changes_A", "nan", kind=InputError)
        short = TimeVaryingSystem(A, B, changes_A=ones)
        check_refused(lambda: short.data(7, rng()), "6 rounds", "7 rounds", kind=InputError)


class TestInvertedPendulum:
    def test_the_numbers_are_those_of_the_paper(self) -> None:
        system = InvertedPendulum()
        np.testing.assert_allclose(system.A, [[1.0, 0.05], [0.75, 1.0]], rtol=1e-15)
        np.testing.assert_allclose(system.B, [[0.0], [0.15]], rtol=1e-15)
        plant = system.data(3, rng())
        np.testing.assert_allclose(plant.numbers, [-0.75, 0.15, 0.05], rtol=1e-15)
        assert plant.kind == PENDULUM

    def test_other_pendulums_have_their_own_numbers(self) -> None:
        system = InvertedPendulum(step=0.01, gravity=9.81, mass=2.0, length=0.5, torque_limit=1.5)
        np.testing.assert_allclose(system.A, [[1.0, 0.01], [3.0 * 9.81 / (2.0 * 0.5) * 0.01, 1.0]])
        np.testing.assert_allclose(system.B, [[0.0], [3.0 / (2.0 * 0.5**2) * 0.01]])
        assert repr(system) == "InvertedPendulum(torque_limit=1.5, step=0.01, gravity=9.81, mass=2, length=0.5)"

    def test_the_nominal_pair_is_the_linearisation(self) -> None:
        system = InvertedPendulum(step=0.03, length=0.7)
        plant, out, h = system.data(1, rng()), np.empty((2, 2)), 1e-6
        for k, direction in enumerate(np.eye(3)):
            for i, sign in enumerate((-1.0, 1.0)):
                move = sign * h * direction
                advance(plant, 0, move[:2], move[2:], np.zeros(2), out[i])
            np.testing.assert_allclose((out[1] - out[0]) / (2.0 * h), np.hstack([system.A, system.B])[:, k], atol=1e-9)

    def test_upright_is_unstable_and_hanging_is_not(self) -> None:
        plant, still = InvertedPendulum().data(1, rng()), np.zeros((40, 2))
        fallen = follow(plant, np.zeros((1, 2)), [0.01, 0.0], still)
        assert np.abs(fallen[:, 0]).max() > 1.0
        # Euler's method lets an undamped swing grow, but slowly.
        hanging = follow(plant, np.zeros((1, 2)), [math.pi - 0.01, 0.0], still)
        assert (np.abs(np.abs(hanging[:, 0]) - math.pi) < 0.05).all()

    def test_the_angle_stays_within_half_a_turn(self) -> None:
        plant = InvertedPendulum().data(1, rng())
        states = follow(plant, np.zeros((1, 2)), [0.5, 3.0], np.zeros((400, 2)))
        assert np.abs(states[:, 0]).max() <= math.pi
        assert (np.abs(np.diff(states[:, 0])) > math.pi).any()

    def test_it_comes_back_from_as_far_as_documented(self) -> None:
        still = np.zeros((400, 2))
        for sign in (-1.0, 1.0):
            assert stays_up(2.0, [0.411 * sign, 0.0], still)
            assert stays_up(2.0, [0.0, 1.56 * sign], still)
            assert not stays_up(2.0, [0.413 * sign, 0.0], still)
            assert not stays_up(2.0, [0.0, 1.57 * sign], still)
        assert InvertedPendulum().input_limit == 2.0

    def test_a_weaker_motor_loses_what_a_stronger_one_holds(self) -> None:
        still = np.zeros((400, 2))
        assert not stays_up(1.0, [0.3, 0.0], still)
        assert stays_up(2.0, [0.3, 0.0], still)

    @pytest.mark.full
    def test_it_stays_up_in_the_documented_noise(self) -> None:
        for seed in range(5):
            noise = rng(seed).standard_normal((10_000, 2))
            assert stays_up(2.0, [0.0, 0.0], 0.03 * noise)
            assert not stays_up(2.0, [0.0, 0.0], 0.05 * noise)


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


class TestRandomSystem:
    @pytest.mark.parametrize("shape", [(1, 1), (2, 1), (3, 5), (10, 3), (30, 1)])
    @pytest.mark.parametrize("radius", [1e-3, 0.9, 1.2])
    def test_it_has_the_radius_asked_for_and_is_controllable(self, shape: tuple[int, int], radius: float) -> None:
        system = random_system(*shape, radius=radius, seed=2)
        assert (system.state_dim, system.input_dim) == shape
        assert spectral_radius(system.A) == pytest.approx(radius, rel=1e-10)
        if shape[0] <= 10:
            A = system.A / radius
            assert np.linalg.matrix_rank(controllability(LinearSystem(A, system.B))) == shape[0]

    def test_the_entries_of_B_have_the_documented_variance(self) -> None:
        assert random_system(25, 400, seed=0).B.std() == pytest.approx(0.2, rel=0.03)

    def test_the_seed_decides(self) -> None:
        first, same, other = (random_system(3, 2, seed=seed).A for seed in (1, 1, 2))
        np.testing.assert_array_equal(first, same)
        assert (first != other).all()
        run = rng(1)
        np.testing.assert_array_equal(random_system(3, 2, seed=run).A, first)
        assert (first != random_system(3, 2, seed=run).A).all()

    def test_the_global_random_state_is_left_alone(self) -> None:
        before = np.random.get_state(legacy=False)  # noqa: NPY002
        random_system(3, 2)
        TimeVaryingSystem(A, B, seed=1).data(5, rng())
        after = np.random.get_state(legacy=False)  # noqa: NPY002
        np.testing.assert_equal(after, before)


REFUSED: dict[str, tuple[Callable[[], object], type[Exception], tuple[str, ...]]] = {
    "A not square": (lambda: LinearSystem([[1.0, 2.0]], 1.0), InputError, ("A", "square", "1 rows and 2 columns")),
    "B too short": (lambda: LinearSystem(np.eye(3), np.ones((2, 1))), InputError, ("B", "3 states", "2 rows")),
    "B transposed": (lambda: LinearSystem(np.eye(2), [[1.0, 2.0]]), InputError, ("transposed",)),
    "B a vector": (lambda: LinearSystem(np.eye(2), [1.0, 2.0]), InputError, ("B", "(states, inputs)", "(2,)")),
    "A NaN": (lambda: LinearSystem(math.nan, 1.0), InputError, ("LinearSystem: A", "nan")),
    "A infinite": (lambda: LinearSystem([[1.0, math.inf], [0.0, 1.0]], [[0.0], [1.0]]), InputError, ("[0, 1]",)),
    "A too large": (lambda: LinearSystem(1e101, 1.0), InputError, ("1e+100",)),
    "A complex": (lambda: LinearSystem(1j, 1.0), InputError, ("A", "real")),
    "A missing": (lambda: LinearSystem(None, 1.0), InputError, ("A", "None")),  # type: ignore[arg-type]
    "A empty": (lambda: LinearSystem(np.empty((0, 0)), np.empty((0, 1))), InputError, ("A", "(0, 0)")),
    "A ragged": (lambda: LinearSystem([[1.0], [1.0, 2.0]], 1.0), InputError, ("A",)),
    "limit zero": (lambda: LinearSystem(1.0, 1.0, input_limit=0.0), ParameterError, ("input_limit", "above 0")),
    "limit negative": (lambda: LinearSystem(A, B, input_limit=[1.0, -1.0, 1.0]), ParameterError, ("-1",)),
    "limit too long": (lambda: LinearSystem(1.0, 1.0, input_limit=[1.0, 1.0]), InputError, ("input_limit", "(1,)")),
    "limit a word": (lambda: LinearSystem(1.0, 1.0, input_limit="a"), InputError, ("input_limit", "'a'")),
    "limit NaN": (lambda: LinearSystem(1.0, 1.0, input_limit=math.nan), InputError, ("input_limit", "nan")),
    "keyword": (lambda: LinearSystem(1.0, 1.0, input_limits=1.0), ArgumentError, ("Did you mean input_limit?",)),  # type: ignore[call-arg]
    "rounds": (lambda: double_integrator().data(0, rng()), ParameterError, ("rounds", "at least 1")),
    "rng": (lambda: double_integrator().data(1, 3), ParameterError, ("rng", "default_rng")),  # type: ignore[arg-type]
    "spread": (lambda: TimeVaryingSystem(A, B, spread_A=-0.1), ParameterError, ("spread_A", "-0.1")),
    "seed": (lambda: TimeVaryingSystem(A, B, seed=-1), ParameterError, ("seed",)),
    "varying A": (lambda: TimeVaryingSystem([[1.0, 2.0]], B), InputError, ("TimeVaryingSystem: A", "square")),
    "torque": (lambda: InvertedPendulum(torque_limit=0.0), ParameterError, ("torque_limit", "above 0")),
    "step": (lambda: InvertedPendulum(step=math.inf), ParameterError, ("step",)),
    "length": (lambda: InvertedPendulum(length=-1.0), ParameterError, ("length",)),
    "tiny length": (lambda: InvertedPendulum(length=1e-300), InputError, ("InvertedPendulum",)),
    "states": (lambda: random_system(0, 1), ParameterError, ("state_dim",)),
    "inputs": (lambda: random_system(1, 1.5), ParameterError, ("input_dim",)),  # type: ignore[arg-type]
    "radius": (lambda: random_system(1, 1, radius=0.0), ParameterError, ("radius", "above 0")),
    "random keyword": (lambda: random_system(1, 1, radii=1.0), ArgumentError, ("radius",)),  # type: ignore[call-arg]
    "integrator keyword": (lambda: double_integrator(step=1.0), ArgumentError, ("step",)),  # type: ignore[call-arg]
}


@pytest.mark.parametrize("name", REFUSED)
def test_bad_input_is_refused_with_a_sentence(name: str) -> None:
    call, kind, words = REFUSED[name]
    check_refused(call, *words, kind=kind)
