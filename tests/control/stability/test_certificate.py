"""Certificates of strong stability."""

import dataclasses
import math
import sys

import numpy as np
import pytest
import scipy.linalg
from hypothesis import example, given
from hypothesis import strategies as st

from driftwise._validate import Array
from driftwise.control.plants import (
    LinearSystem,
    System,
    double_integrator,
)
from driftwise.control.stability import (
    StrongStability,
    certificate,
    certify,
    lqr,
    spectral_radius,
)
from driftwise.errors import MissingExtraError, StabilityError
from tests.cases import check_refused
from tests.control.stability.cases import STABLE, alone, jordan, spectral_norm


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
