"""Gains: LQR and controllability."""

import math

import control
import numpy as np
import pytest
import scipy.linalg

from driftwise._validate import Array
from driftwise.control.plants import (
    LinearSystem,
    double_integrator,
    random_system,
)
from driftwise.control.stability import (
    controllability,
    gains,
    lqr,
    spectral_radius,
)
from driftwise.errors import ParameterError, StabilityError
from tests.cases import check_refused


class TestLqr:
    @pytest.mark.parametrize("seed", range(6))
    def test_it_agrees_with_python_control(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        n, m = int(rng.integers(1, 6)), int(rng.integers(1, 4))
        system = random_system(n, m, radius=0.5 + 0.2 * seed, seed=seed)
        root_Q, root_R = rng.standard_normal((n, n)), rng.standard_normal((m, m))
        Q, R = root_Q @ root_Q.T, root_R @ root_R.T + 0.1 * np.eye(m)
        expected, _, values = control.dlqr(system.A, system.B, Q, R)
        K = lqr(system, Q, R)
        np.testing.assert_allclose(K, expected, rtol=1e-8, atol=1e-10)
        assert spectral_radius(system.A - system.B @ K) == pytest.approx(np.abs(values).max(), rel=1e-8)
        expected, *_ = control.dlqr(system.to_control(), np.eye(n), np.eye(m))
        np.testing.assert_allclose(lqr(system), expected, rtol=1e-8, atol=1e-10)

    def test_one_state_in_closed_form(self) -> None:
        # p = q + a^2 p r / (r + b^2 p), with a = b = q = r = 1: the golden ratio.
        golden = (1.0 + math.sqrt(5.0)) / 2.0
        assert lqr(LinearSystem(1.0, 1.0)).item() == pytest.approx(golden / (1.0 + golden), rel=1e-12)
        assert lqr(LinearSystem(2.0, 1.0), Q=0.0).item() == pytest.approx(1.5, rel=1e-9)
        assert lqr(LinearSystem(0.5, 1.0), Q=0.0).item() == pytest.approx(0.0, abs=1e-12)

    def test_no_other_gain_costs_less(self) -> None:
        system = random_system(3, 2, radius=1.1, seed=1)
        Q, R = np.diag([1.0, 2.0, 0.5]), np.diag([0.3, 1.0])

        def cost(K: Array) -> float:
            A_K = system.A - system.B @ K
            return float(np.trace(scipy.linalg.solve_discrete_lyapunov(A_K.T, Q + K.T @ R @ K)))

        best, rng = lqr(system, [1.0, 2.0, 0.5], [0.3, 1.0]), np.random.default_rng(0)
        for _ in range(20):
            assert cost(best) < cost(best + 0.01 * rng.standard_normal(best.shape))

    def test_weights_are_numbers_diagonals_or_matrices(self) -> None:
        system = random_system(3, 2, seed=4)
        np.testing.assert_array_equal(lqr(system, 2.0, 3.0), lqr(system, 2.0 * np.eye(3), [3.0, 3.0]))
        np.testing.assert_array_equal(lqr(system), lqr(system, 1, 1))
        upper = np.array([[2.0, 1.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 1.0]])
        np.testing.assert_array_equal(lqr(system, upper), lqr(system, 0.5 * (upper + upper.T)))

    def test_modes_out_of_reach_are_named(self) -> None:
        rng = np.random.default_rng(3)
        turn = rng.standard_normal((3, 3))
        back = np.linalg.inv(turn)

        def turned(values: list[float], reached: list[float]) -> LinearSystem:
            return LinearSystem(turn @ np.diag(values) @ back, turn @ np.array(reached)[:, None])

        check_refused(lambda: lqr(turned([1.3, 0.9, 0.5], [0.0, 1.0, 1.0])), "do not reach", "1.3", kind=StabilityError)
        check_refused(lambda: lqr(turned([1.0, 0.9, 1.2], [0.0, 1.0, 1.0])), "eigenvalue 1,", kind=StabilityError)
        # A mode out of reach does no harm when it dies out by itself.
        stable = turned([1.3, 0.9, 0.5], [1.0, 0.0, 1.0])
        assert spectral_radius(stable.A - stable.B @ lqr(stable)) == pytest.approx(0.9, rel=1e-9)
        spinning = LinearSystem([[0.0, -1.2], [1.2, 0.0]], [[0.0], [0.0]])
        check_refused(lambda: lqr(spinning), "1.2j", kind=StabilityError)

    def test_small_inputs_are_not_out_of_reach(self) -> None:
        system = random_system(3, 1, radius=1.2, seed=1)
        small = LinearSystem(system.A, 1e-4 * system.B)
        np.testing.assert_allclose(lqr(small, 1.0, 1e-8), 1e4 * lqr(system), rtol=1e-6)

    @pytest.mark.parametrize("scale", [1e-90, 1e90])
    def test_reach_does_not_depend_on_units(self, scale: float) -> None:
        system = random_system(4, 2, radius=1.5, seed=3)
        _, plain = gains.modes(system.A, system.B)
        assert plain.size
        np.testing.assert_allclose(gains.modes(system.A, scale * system.B)[1], plain, rtol=1e-9)

    def test_what_has_no_solution_is_said(self) -> None:
        # Without a weight, a mode of size 1 has no reason to move.
        check_refused(
            lambda: lqr(LinearSystem(np.eye(2), np.eye(2)), Q=[1.0, 0.0]), "Riccati", "Q", kind=StabilityError
        )
        check_refused(lambda: lqr(LinearSystem(1e100, 1.0)), "units", kind=StabilityError)
        # A plant without a mode that has to be reached.
        tame = LinearSystem([[0.5, 1e8], [0.0, 0.5]], [[1e50], [1e50]])
        check_refused(lambda: lqr(tame), "Riccati", "units", kind=StabilityError)

    def test_weights_of_the_wrong_sign_are_refused(self) -> None:
        system = double_integrator()
        check_refused(lambda: lqr(system, R=0.0), "R must be positive definite", kind=ParameterError)
        check_refused(lambda: lqr(system, R=-1.0), "R must be positive definite", "-1", kind=ParameterError)
        check_refused(lambda: lqr(system, Q=[1.0, -0.5]), "positive semidefinite", "-0.5", kind=ParameterError)
        tall = np.array([[1.0, 3.0]])
        assert lqr(system, Q=tall.T @ tall).shape == (1, 2)


class TestControllability:
    def test_its_blocks_are_the_powers(self) -> None:
        system = random_system(4, 2, seed=5)
        K = lqr(system)
        A_K = system.A - system.B @ K
        found = controllability(system, K, order=3)
        np.testing.assert_allclose(found, np.hstack([system.B, A_K @ system.B, A_K @ A_K @ system.B]), atol=1e-13)
        assert controllability(system, order=1).shape == (4, 2)

    def test_it_agrees_with_python_control(self) -> None:
        system = random_system(4, 2, radius=1.1, seed=6)
        np.testing.assert_allclose(controllability(system), control.ctrb(system.A, system.B), atol=1e-12)

    def test_the_rank_does_not_depend_on_the_gain(self) -> None:
        unreached = LinearSystem(np.diag([0.5, 0.6, 0.7]), [[1.0], [0.0], [1.0]])
        for K in (None, [[0.3, 0.2, -0.1]]):
            assert np.linalg.matrix_rank(controllability(unreached, K)) == 2
            assert np.linalg.matrix_rank(controllability(double_integrator(), K and [[0.3, 0.2]])) == 2

    def test_powers_that_overflow_are_refused(self) -> None:
        system = LinearSystem(1e100, 1.0)
        check_refused(lambda: controllability(system, order=6), "too large", "smaller order", kind=ParameterError)
        assert controllability(system, order=3)[0, 2] == 1e200
