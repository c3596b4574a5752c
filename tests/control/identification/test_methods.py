"""The three methods against their formulas."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from driftwise._validate import Array
from driftwise.control.identification import identify
from tests.control.identification.cases import ALL, PROBED, K, miss, play, signs


class TestFormulas:
    @pytest.mark.parametrize("order", [2, 3, 5])
    def test_moments_are_algorithm_4(self, order: int) -> None:
        x, u, probes = play()
        T0, k = len(u), order
        N = []
        for j in range(k + 1):
            total = np.zeros((3, 2))
            for t in range(T0 - k):
                total += np.outer(x[t + j + 1], probes[t])
            N.append(total / (T0 - k))
        C_0, C_1 = np.hstack(N[:k]), np.hstack(N[1:])
        A_K = C_1 @ C_0.T @ np.linalg.inv(C_0 @ C_0.T)
        found = identify(x, u, probes, K, order, method="moments")
        np.testing.assert_allclose(found.B, N[0], rtol=1e-10)
        np.testing.assert_allclose(found.A, A_K + N[0] @ K, rtol=1e-10, atol=1e-12)

    @pytest.mark.parametrize("order", [2, 3])
    def test_iv_is_two_stage_least_squares_on_state_and_probe(self, order: int) -> None:
        x, u, probes = play()
        T0, lags = len(u), 2 * order + 3
        rounds = range(lags - 1, T0)
        Z = np.array([np.concatenate([probes[t - lag] for lag in range(lags)]) for t in rounds])
        W = np.array([np.concatenate([x[t], probes[t]]) for t in rounds])
        Y = np.array([x[t + 1] for t in rounds])
        first_stage = Z @ np.linalg.lstsq(Z, W, rcond=None)[0]
        both = np.linalg.lstsq(first_stage, Y, rcond=None)[0].T
        found = identify(x, u, probes, K, order)
        np.testing.assert_allclose(found.B, both[:, 3:], rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(found.A, both[:, :3] + both[:, 3:] @ K, rtol=1e-9, atol=1e-12)

    def test_ols_is_least_squares(self) -> None:
        x, u, probes = play()
        both = np.linalg.lstsq(np.hstack([x[:-1], u]), x[1:], rcond=None)[0].T
        found = identify(x, u, probes, K, method="ols")
        np.testing.assert_allclose(np.hstack([found.A, found.B]), both, rtol=1e-9)

    def test_errors_are_those_of_leaving_blocks_out(self) -> None:
        x, u, probes = play(500, noise=0.0, disturbances=0.2 + 0.3 * signs(500, 3, seed=9))
        W, Y = np.hstack([x[:-1], u]), x[1:]
        edges = np.linspace(0, 500, 21).astype(int)
        without = []
        for start, stop in pairwise(edges):
            keep = np.r_[0:start, stop:500]
            without.append(np.linalg.lstsq(W[keep], Y[keep], rcond=None)[0].T)
        spread = np.array(without) - np.mean(without, axis=0)
        with_offset = np.linalg.lstsq(np.hstack([W, np.ones((500, 1))]), Y, rcond=None)[0].T
        found = identify(x, u, probes, K, method="ols")
        moved = with_offset[:, :5] - np.hstack([found.A, found.B])
        loop = np.vstack([np.eye(3), -K])  # takes [A, B] to A - B K
        for pick, error in ((np.eye(5, 3), found.error_A), (np.eye(5)[:, 3:], found.error_B), (loop, found.error_loop)):
            jackknife = np.sqrt(19 / 20 * np.sum((spread @ pick) ** 2))
            shift = np.linalg.norm(moved @ pick, 2)
            assert shift > 0.1 * jackknife
            assert error == pytest.approx(np.hypot(jackknife, shift), rel=1e-8)
        assert found.error == max(found.error_A, found.error_B)

    def test_errors_are_raised_where_the_response_is_not_clear(self) -> None:
        x, u, probes = play(500, noise=1.0)
        n, k = 500 - 3, 3

        def solve(rows: NDArray[Any], centred: bool = False) -> tuple[Array, Array]:
            mean = probes[rows].mean(axis=0) if centred else np.zeros(2)
            e = probes[rows] - mean
            N = [x[rows + j + 1].T @ e / np.sum(e**2, axis=0) for j in range(k + 1)]
            C_0 = np.hstack(N[:k])
            return C_0, np.hstack(N[1:]) @ np.linalg.pinv(C_0) + N[0] @ K

        every = np.arange(n)
        edges = np.linspace(0, n, 21).astype(int)
        without = [solve(np.r_[0:start, stop:n]) for start, stop in pairwise(edges)]
        C_0, estimate = solve(every)
        changes = np.array([C for C, _ in without])
        changes = (changes - changes.mean(axis=0)) * np.sqrt(19 / 20)
        noise = np.einsum("bij,bkj->ik", changes, changes)
        clarity = np.sqrt(np.linalg.eigvals(np.linalg.solve(noise, C_0 @ C_0.T)).real.min())
        assert 1.5 < clarity < 10.0
        spread = np.array([A for _, A in without])
        jackknife = np.sqrt(19 / 20 * np.sum((spread - spread.mean(axis=0)) ** 2))
        shift = np.linalg.norm(solve(every, centred=True)[1] - estimate, 2)
        found = identify(x, u, probes, K, method="moments")
        assert found.error_A == pytest.approx((1.0 + 2.0 / clarity) * np.hypot(jackknife, shift), rel=1e-8)

    def test_a_quiet_plant_is_found_exactly_with_instruments(self) -> None:
        x, u, probes = play(200, noise=0.0)
        found = identify(x, u, probes, K)
        assert miss(found) < 1e-12
        assert found.error < 1e-11
        assert found.error_loop < 1e-11

    @ALL
    @pytest.mark.parametrize("size", [1e-60, 1.0, 1e60])
    def test_units_do_not_matter(self, method: str, size: float) -> None:
        x, u, probes = play()
        plain = identify(x, u, probes, K, method=method)
        state_units, input_units = size * np.array([1e-3, 1.0, 1e4]), size * np.array([1e3, 2.0])
        scaled = identify(
            x * state_units,
            u * input_units,
            probes * input_units,
            K * input_units[:, None] / state_units,
            method=method,
        )
        np.testing.assert_allclose(scaled.A, plain.A * state_units[:, None] / state_units, rtol=1e-6)
        np.testing.assert_allclose(scaled.B, plain.B * state_units[:, None] / input_units, rtol=1e-6)

    @PROBED
    def test_larger_probes_are_divided_by_their_size(self, method: str) -> None:
        run = play(2000, probes=signs(2000, 2, scale=3.0))
        assert miss(identify(*run, K, method=method)) < 0.15

    @PROBED
    def test_probes_of_any_distribution_will_do(self, method: str) -> None:
        run = play(3000, probes=np.random.default_rng(3).normal(size=(3000, 2)))
        assert miss(identify(*run, K, method=method)) < 0.15
