"""How far off estimates are, and what is said about it."""

import numpy as np
import pytest

from driftwise.control.identification import identify
from driftwise.errors import InputError
from driftwise.experiments.studies.control.identification import CORRELATED, INDEPENDENT, draw_system, explore
from tests.cases import check_refused
from tests.control.identification.cases import PROBED, K, miss, play


class TestErrors:
    @PROBED
    @pytest.mark.parametrize("kind", INDEPENDENT + CORRELATED)
    def test_the_true_error_is_below_three_times_the_estimate(self, method: str, kind: str) -> None:
        found = outside = 0
        for seed in range(40):
            system = draw_system(seed)
            run = explore(*system, 500, kind, seed)
            try:
                result = identify(*run, system[2], method=method)
            except InputError:
                continue
            found += 1
            loop = (result.A - result.B @ system[2]) - (system[0] - system[1] @ system[2])
            off = miss(result, *system[:2]) / result.error, float(np.linalg.norm(loop, 2)) / result.error_loop
            outside += max(off) > 3.0
        assert found >= 25
        assert outside <= 1

    def test_the_estimate_is_not_far_above_the_error(self) -> None:
        ratios = []
        for seed in range(20):
            result = identify(*play(1000, seed=seed), K)
            ratios.append(miss(result) / result.error)
        assert 0.4 < np.median(ratios) < 1.2

    def test_ols_sees_a_constant_but_no_sinusoid(self) -> None:
        constant = np.full((2000, 3), 0.5)
        result = identify(*play(2000, disturbances=constant), K, method="ols")
        assert miss(result) > 0.1
        assert miss(result) < 1.5 * result.error
        wave = 0.5 * np.sin(0.1 * np.arange(2000)[:, None] + np.arange(3))
        result = identify(*play(2000, disturbances=wave), K, method="ols")
        assert miss(result) > 0.1
        assert miss(result) > 5.0 * result.error
        assert miss(identify(*play(2000, disturbances=wave), K)) < 0.05

    def test_instruments_are_right_where_the_actuator_saturates(self) -> None:
        run = play(4000, noise=0.5, limit=1.1)
        assert np.mean(np.abs(run[1]) == 1.1) > 0.3
        result = identify(*run, K)
        assert miss(result) < min(0.1, 3.0 * result.error)
        check_refused(lambda: identify(*run, K, method="moments"), "saturated", "iv", kind=InputError)

    def test_a_larger_order_helps_where_states_respond_slowly(self) -> None:
        plant = np.array([[1.0, 0.05], [0.75, 1.0]]), np.array([[0.0], [0.15]]), np.array([[10.0, 3.0]])
        run = play(5000, noise=0.01, plant=plant)
        short, long = (identify(*run, plant[2], order, method="moments") for order in (2, 6))
        assert miss(long, *plant[:2]) < 0.6 * miss(short, *plant[:2])
        assert long.error < short.error
