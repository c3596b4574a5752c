"""Impulse responses."""

from typing import Any

import numpy as np
import pytest

from driftwise.control.plants import (
    LinearSystem,
    double_integrator,
)
from driftwise.control.stability import (
    certify,
    impulse_response,
    response,
)
from driftwise.errors import ParameterError, StabilityError
from tests.cases import check_refused
from tests.control.stability.cases import STABLE, alone, jordan, spectral_norm


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
