import dataclasses
import math
import sys
from collections.abc import Callable
from typing import Any

import control
import numpy as np
import pytest
import scipy.linalg
from hypothesis import example, given
from hypothesis import strategies as st

from driftwise._validate import Array
from driftwise.control.plants.systems import (
    InvertedPendulum,
    LinearSystem,
    System,
    TimeVaryingSystem,
    double_integrator,
    random_system,
)
from driftwise.control.stability import (
    StrongStability,
    certificate,
    certify,
    controllability,
    gains,
    impulse_response,
    lqr,
    response,
    spectral_radius,
)
from driftwise.errors import ArgumentError, InputError, MissingExtraError, ParameterError, StabilityError
from tests.cases import check_refused


def alone(A: Any) -> tuple[LinearSystem, Array]:
    """Return a system with this A_K: A itself, one input that acts on all states, and no gain."""
    n = np.atleast_2d(A).shape[0]
    return LinearSystem(A, np.ones((n, 1))), np.zeros((1, n))


def jordan(value: float, size: int, link: float = 1.0) -> Array:
    return np.asarray(value * np.eye(size) + link * np.eye(size, k=1))


def spectral_norm(values: Any) -> float:
    return float(np.linalg.norm(values, 2))


STABLE: dict[str, tuple[System, Array]] = {
    "double integrator": (double_integrator(), lqr(double_integrator())),
    "pendulum": (InvertedPendulum(), lqr(InvertedPendulum())),
    "varying": (TimeVaryingSystem([[1.1]], [[1.0]]), np.array([[0.5]])),
    "scalar": (LinearSystem(0.9, 0.5), np.array([[0.3]])),
    "deadbeat": (LinearSystem(2.0 * np.eye(2), np.eye(2)), 2.0 * np.eye(2)),
    "normal": alone([[0.5, -0.8], [0.8, 0.5]]),
    "multiple of the identity": alone(0.5 * np.eye(3)),
    "Jordan block": alone(jordan(0.5, 2)),
    "long Jordan block": alone(jordan(0.7, 5)),
    "nilpotent": alone(jordan(0.0, 3)),
    "nilpotent, bad units": alone(jordan(0.0, 2, 1e12)),
    "nearly unstable": alone(np.diag([0.9999, 0.1])),
    "far from normal": alone([[0.5, 1000.0], [0.0, -0.6]]),
    **{
        f"random {n} x {m}, radius {radius}": (system, lqr(system, Q=weight))
        for n, m, radius, weight in [(2, 1, 1.2, 1.0), (4, 2, 1.0, 0.01), (6, 6, 0.9, 5.0), (10, 3, 1.1, 1.0)]
        for system in [random_system(n, m, radius=radius, seed=n)]
    },
}


def check_certificate(system: System, K: Array, found: StrongStability) -> None:
    """Check the definition of strong stability, and that powers shrink as it says."""
    A_K, H = system.A - system.B @ K, found.transform
    L = np.linalg.solve(H, A_K @ H)
    np.testing.assert_allclose(H @ L @ np.linalg.inv(H), A_K, atol=1e-9 * spectral_norm(A_K))
    assert 0.0 < found.gamma <= 1.0
    assert spectral_norm(L) <= (1.0 - found.gamma) * (1.0 + 1e-12)
    assert found.norm == 1.0 - found.gamma
    for part in (K, H, np.linalg.inv(H)):
        assert spectral_norm(part) <= found.kappa * (1.0 + 1e-9)
    assert found.kappa == max(1.0, spectral_norm(K), math.sqrt(found.condition))
    assert np.linalg.cond(H) == pytest.approx(found.condition, rel=1e-6)
    assert spectral_norm(H) == pytest.approx(spectral_norm(np.linalg.inv(H)), rel=1e-6)
    assert found.norm >= spectral_radius(A_K) * (1.0 - 1e-6)
    power = np.eye(system.state_dim)
    for j in range(60):
        assert spectral_norm(power) <= found.decay(j) * (1.0 + 1e-9)
        assert found.decay(j) == found.condition * (1.0 - found.gamma) ** j
        power = power @ A_K


class TestCertify:
    @pytest.mark.parametrize("name", STABLE)
    def test_it_certifies_what_it_says(self, name: str) -> None:
        system, K = STABLE[name]
        found = certify(system, K)
        check_certificate(system, K, found)
        assert not found.transform.flags.writeable
        assert found.how in ("diagonalisation", "Lyapunov", "scaled Lyapunov")
        assert "transform" not in repr(found)

    @given(st.integers(1, 5), st.floats(0.0, 0.995), st.floats(-2.0, 2.0), st.integers(0, 2**32))
    @example(4, 0.0, 0.0, 0)
    @example(4, 0.875, 1.0, 2)
    def test_random_matrices_of_any_departure_from_normal(self, n: int, radius: float, skew: float, seed: int) -> None:
        rng = np.random.default_rng(seed)
        turn = np.linalg.qr(rng.standard_normal((n, n)))[0]
        middle = np.diag(radius * rng.choice([-1.0, 1.0], n)) + 10.0**skew * np.triu(rng.standard_normal((n, n)), 1)
        system, K = alone(turn @ middle @ turn.T)
        try:
            found = certify(system, K)
        except StabilityError:
            # Only matrices with a condition number that leaves nothing over the rounding may be refused.
            assert (10.0**skew / (1.0 - radius)) ** (n - 1) > 1e5
        else:
            check_certificate(system, K, found)

    @pytest.mark.parametrize("name", [name for name in STABLE if "bad units" not in name])
    def test_the_programme_is_at_least_as_tight(self, name: str) -> None:
        system, K = STABLE[name]
        found, tighter = certify(system, K), certify(system, K, sdp=True)
        check_certificate(system, K, tighter)
        assert tighter.kappa**2 / tighter.gamma <= found.kappa**2 / found.gamma

    def test_the_programme_gains_where_there_is_something_to_gain(self) -> None:
        for name, least in (("double integrator", 0.1), ("Jordan block", 0.1), ("random 10 x 3, radius 1.1", 0.1)):
            system, K = STABLE[name]
            found, tighter = certify(system, K), certify(system, K, sdp=True)
            assert tighter.how == "semidefinite programme"
            assert tighter.kappa**2 / tighter.gamma < (1.0 - least) * found.kappa**2 / found.gamma

    @pytest.mark.parametrize("n", [1, 2, 5])
    def test_deadbeat_has_gamma_one(self, n: int) -> None:
        found = certify(LinearSystem(3.0 * np.eye(n), np.eye(n)), 3.0 * np.eye(n))
        assert (found.gamma, found.kappa, found.condition) == (1.0, 3.0, 1.0)
        assert (found.decay(0), found.decay(1)) == (1.0, 0.0)

    @pytest.mark.parametrize("a", [-0.99, -0.5, 0.0, 0.3, 0.999])
    def test_one_state_needs_no_transform(self, a: float) -> None:
        found = certify(LinearSystem(a + 2.0, 1.0), 2.0)
        assert found.kappa == 2.0
        assert found.gamma == pytest.approx(1.0 - abs(a), abs=1e-14)
        assert certify(LinearSystem(a, 1.0), 0.0).kappa == 1.0

    def test_a_normal_matrix_has_kappa_one_and_the_spectral_gap(self) -> None:
        system, K = STABLE["normal"]
        found = certify(system, K)
        assert found.kappa == pytest.approx(1.0, abs=1e-12)
        assert found.gamma == pytest.approx(1.0 - math.hypot(0.5, 0.8), abs=1e-12)

    def test_a_nilpotent_block_gets_the_best_possible(self) -> None:
        # Of [[0, 1], [0, 0]], a condition number c of H allows a norm of 1 / c at best, and c / (1 - 1 / c) >= 4.
        found = certify(*alone(jordan(0.0, 2)))
        assert found.kappa**2 / found.gamma == pytest.approx(4.0, rel=1e-4)

    def test_defective_matrices_are_not_diagonalised(self) -> None:
        for size in (2, 3, 6):
            A = jordan(0.5, size)
            assert certificate._diagonalised(A, 0.0) is None
            assert certify(*alone(A)).how == "scaled Lyapunov"

    def test_a_matrix_with_a_norm_below_one_gets_kappa_one(self) -> None:
        # Scales far above 1 lead to the identity, which a scan below 1 would miss.
        found = certify(*alone([[0.5, 0.3], [0.0, 0.5]]))
        assert found.kappa**2 / found.gamma <= 1.0 / (1.0 - spectral_norm([[0.5, 0.3], [0.0, 0.5]])) * (1.0 + 1e-3)

    @pytest.mark.parametrize("name", STABLE)
    def test_it_keeps_the_best_of_its_candidates(self, name: str) -> None:
        system, K = STABLE[name]
        A_K, gain, best = system.A - system.B @ K, spectral_norm(K), certify(system, K)
        score, form = best.kappa**2 / best.gamma, certificate._triangular(A_K)
        others = [certificate._diagonalised(A_K, gain), certificate._lyapunov(A_K, gain, form, 1.0, "Lyapunov")]
        for scale in np.linspace(spectral_radius(A_K), 1.0, 30)[1:]:
            others.append(certificate._lyapunov(A_K, gain, form, float(scale), "scaled Lyapunov"))
        tried = [other for other in others if other is not None]
        assert tried
        assert score <= min(other.kappa**2 / other.gamma for other in tried) * (1.0 + 1e-3)

    @pytest.mark.parametrize("name", ["double integrator", "long Jordan block", "random 4 x 2, radius 1.0"])
    def test_the_lyapunov_matrix_is_that_of_scipy(self, name: str) -> None:
        system, K = STABLE[name]
        A_K = system.A - system.B @ K
        P = scipy.linalg.solve_discrete_lyapunov(A_K.T, np.eye(system.state_dim))
        values, vectors = np.linalg.eigh(P)
        root = vectors * np.sqrt(values) @ vectors.T
        found = certificate._lyapunov(A_K, 0.0, certificate._triangular(A_K), 1.0, "Lyapunov")
        assert found is not None
        assert found.norm == pytest.approx(spectral_norm(root @ A_K @ np.linalg.inv(root)), rel=1e-9)
        assert found.condition == pytest.approx(math.sqrt(values[-1] / values[0]), rel=1e-9)

    def test_a_transform_that_proves_nothing_is_not_believed(self) -> None:
        A = jordan(0.5, 2)
        assert certificate._verified(A, 0.0, np.eye(2), "diagonalisation") is None
        assert certificate._verified(A, 0.0, np.ones((2, 2)), "diagonalisation") is None
        assert certificate._verified(A, 0.0, np.full((2, 2), math.nan), "diagonalisation") is None
        assert certificate._verified(A, 0.0, np.diag([1.0, 0.25]), "diagonalisation") is not None

    def test_a_gain_that_does_not_stabilise_is_refused_with_the_eigenvalue(self) -> None:
        check_refused(lambda: certify(double_integrator(), [[0.0, 0.0]]), "eigenvalue 1,", kind=StabilityError)
        check_refused(lambda: certify(LinearSystem(0.5, 1.0), 2.0), "-1.5", "u = -K x", kind=StabilityError)
        turning, K = alone([[0.6, -1.2], [1.2, 0.6]])
        check_refused(lambda: certify(turning, K), "0.6+1.2j", "of size 1.34164", kind=StabilityError)
        mixed, K = alone(np.diag([0.1, -1.25, 1.1]))
        check_refused(lambda: certify(mixed, K), "-1.25", kind=StabilityError)
        sign = -lqr(double_integrator())
        check_refused(lambda: certify(double_integrator(), sign), "does not stabilise", kind=StabilityError)

    def test_what_rounding_hides_is_not_certified(self) -> None:
        system, K = alone(jordan(1.0 - 1e-15, 2))
        check_refused(lambda: certify(system, K), "rounding", "eigenvalue", kind=StabilityError)
        overflowing, K = alone(jordan(0.0, 5, 1e100))
        check_refused(lambda: certify(overflowing, K), "rounding", "units", kind=StabilityError)

    def test_the_certificate_is_frozen(self) -> None:
        found = certify(*STABLE["scalar"])
        with pytest.raises(dataclasses.FrozenInstanceError):
            found.kappa = 2.0  # type: ignore[misc]

    def test_without_cvxpy_the_extra_is_named(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "cvxpy", None)
        system, K = STABLE["double integrator"]
        check_refused(lambda: certify(system, K, sdp=True), "driftwise[convex]", kind=MissingExtraError)
        assert certify(system, K).gamma > 0.0


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


class TestImpulseResponse:
    @pytest.mark.parametrize("name", [name for name in STABLE if name != "nearly unstable"])
    def test_sums_are_upper_bounds_within_the_tolerance(self, name: str) -> None:
        system, K = STABLE[name]
        A_K, B, power = system.A - system.B @ K, system.B, np.eye(system.state_dim)
        sums = np.zeros(3)
        for _ in range(800):
            sums += [spectral_norm(power), spectral_norm(power @ B), spectral_norm(K @ power @ B)]
            power = A_K @ power
        found = impulse_response(system, K)
        ours = np.array([found.states_sum, found.inputs_sum, found.gain_sum])
        np.testing.assert_allclose(ours, sums, rtol=1e-10)
        assert (ours >= sums * (1.0 - 1e-13)).all()
        rough = impulse_response(system, K, tolerance=0.5)
        assert rough.states_sum >= found.states_sum * (1.0 - 1e-12)
        assert rough.states_sum <= found.states_sum * 1.5

    def test_the_norms_are_those_of_the_powers(self) -> None:
        system, K = STABLE["random 4 x 2, radius 1.0"]
        found, A_K = impulse_response(system, K), system.A - system.B @ K
        assert len(found.states) == len(found.inputs) == len(found.gains) > 64
        for j in (0, 1, 5, 64, 65):
            power = np.linalg.matrix_power(A_K, j)
            assert found.states[j] == pytest.approx(spectral_norm(power), rel=1e-9)
            assert found.inputs[j] == pytest.approx(spectral_norm(power @ system.B), rel=1e-9)
            assert found.gains[j] == pytest.approx(spectral_norm(K @ power @ system.B), rel=1e-9)
        assert found.states.sum() + found.remainder == pytest.approx(found.states_sum, rel=1e-15)
        with pytest.raises(ValueError, match="read-only"):
            found.states[0] = 0.0

    def test_it_is_tighter_than_the_certificate(self) -> None:
        for name in ("double integrator", "pendulum", "random 10 x 3, radius 1.1"):
            system, K = STABLE[name]
            found, known = certify(system, K), impulse_response(system, K)
            assert known.states_sum < 0.8 * found.condition / found.gamma

    def test_one_state_in_closed_form(self) -> None:
        found = impulse_response(LinearSystem(1.5, 3.0), 1.0 / 3.0)
        assert found.states_sum == pytest.approx(2.0, rel=1e-11)
        assert found.inputs_sum == pytest.approx(6.0, rel=1e-11)
        assert found.gain_sum == pytest.approx(2.0, rel=1e-11)

    def test_deadbeat_ends_at_once(self) -> None:
        found = impulse_response(LinearSystem(3.0, 2.0), 1.5)
        assert (found.states_sum, found.inputs_sum, found.gain_sum, found.remainder) == (1.0, 2.0, 3.0, 0.0)

    def test_an_input_that_does_nothing(self) -> None:
        found = impulse_response(LinearSystem(0.5, 0.0), 3.0)
        assert (found.inputs_sum, found.gain_sum) == (0.0, 0.0)

    @pytest.mark.parametrize(
        ("A", "exact", "slack"),
        [
            (0.9999999, 1e7, 1.0001),
            (np.diag([0.99999, 0.1]), 1e5, 1.0001),
            (jordan(0.99999, 2), 1e10, 5.0),
            (jordan(0.99999, 2, 1e-5), 1.6e5, 3.0),
        ],
    )
    def test_near_one_the_certificate_bounds_the_rest(self, A: Any, exact: float, slack: float) -> None:
        system, K = alone(A)
        found = impulse_response(system, K)
        assert len(found.states) == response.LONGEST
        assert found.remainder > 0.5 * found.states_sum
        assert exact * (1.0 - 1e-3) < found.states_sum < exact * slack

    def test_a_gain_that_does_not_stabilise_is_refused(self) -> None:
        words = ("impulse_response: K does not stabilise", "eigenvalue 1,")
        check_refused(lambda: impulse_response(double_integrator(), [[0.0, 0.0]]), *words, kind=StabilityError)

    def test_powers_that_overflow_are_refused(self) -> None:
        system, K = alone(jordan(0.0, 5, 1e100))
        check_refused(lambda: impulse_response(system, K), "too large", "units", kind=ParameterError)


def test_spectral_radius() -> None:
    assert spectral_radius(-3) == 3.0
    assert spectral_radius([[0.0, -2.0], [2.0, 0.0]]) == pytest.approx(2.0, rel=1e-15)
    assert spectral_radius(jordan(0.0, 4, 1e50)) == 0.0


SYSTEM = double_integrator()
GAIN = lqr(SYSTEM)
REFUSED: dict[str, tuple[Callable[[], object], type[Exception], tuple[str, ...]]] = {
    "radius of a row": (lambda: spectral_radius([[1.0, 2.0]]), InputError, ("spectral_radius", "(1, 2)")),
    "radius of a vector": (lambda: spectral_radius([1.0, 2.0]), InputError, ("(n, n)",)),
    "radius of NaN": (lambda: spectral_radius([[math.nan]]), InputError, ("nan",)),
    "radius of a word": (lambda: spectral_radius("a"), InputError, ("'a'",)),
    "lqr of matrices": (lambda: lqr(np.eye(2), np.eye(2)), ParameterError, ("lqr: system", "LinearSystem(A, B)")),  # type: ignore[arg-type]
    "Q of the wrong shape": (lambda: lqr(SYSTEM, np.eye(3)), InputError, ("Q", "(2, 2)")),
    "Q a long diagonal": (lambda: lqr(SYSTEM, [1.0, 1.0, 1.0]), InputError, ("Q", "(2,)")),
    "Q NaN": (lambda: lqr(SYSTEM, [1.0, math.nan]), InputError, ("Q", "nan")),
    "Q a word": (lambda: lqr(SYSTEM, "much"), ParameterError, ("Q", "'much'")),
    "R infinite": (lambda: lqr(SYSTEM, R=math.inf), ParameterError, ("R", "inf")),
    "lqr keyword": (lambda: lqr(SYSTEM, r=1.0), ArgumentError, ("r", "lqr(system, Q=None, R=None)")),  # type: ignore[call-arg]
    "certify of a number": (lambda: certify(3, 1.0), ParameterError, ("certify: system",)),  # type: ignore[arg-type]
    "K of the wrong shape": (lambda: certify(SYSTEM, GAIN.T), InputError, ("K", "(1, 2)")),
    "K infinite": (lambda: certify(SYSTEM, [[math.inf, 0.0]]), InputError, ("K", "inf")),
    "K too large": (lambda: certify(SYSTEM, [[1e101, 0.0]]), InputError, ("K", "1e+100")),
    "sdp a number": (lambda: certify(SYSTEM, GAIN, sdp=1), ParameterError, ("sdp",)),  # type: ignore[arg-type]
    "certify keyword": (lambda: certify(SYSTEM, GAIN, sdps=True), ArgumentError, ("Did you mean sdp?",)),  # type: ignore[call-arg]
    "a negative power": (lambda: certify(SYSTEM, GAIN).decay(-1), ParameterError, ("j", "at least 0")),
    "order zero": (lambda: controllability(SYSTEM, order=0), ParameterError, ("order", "at least 1")),
    "controllability K": (lambda: controllability(SYSTEM, [[1.0]]), InputError, ("controllability: K",)),
    "tolerance zero": (lambda: impulse_response(SYSTEM, GAIN, tolerance=0.0), ParameterError, ("tolerance",)),
    "impulse K": (lambda: impulse_response(SYSTEM, 1.0), InputError, ("impulse_response: K", "(1, 2)")),
}


@pytest.mark.parametrize("name", REFUSED)
def test_bad_input_is_refused_with_a_sentence(name: str) -> None:
    call, kind, words = REFUSED[name]
    check_refused(call, *words, kind=kind)
