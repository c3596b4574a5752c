"""Identification of a plant from random probes."""

import dataclasses
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import driftwise as dw
from driftwise._validate import Array
from driftwise.control.identification import METHODS, identify
from driftwise.errors import ArgumentError, InputError, ParameterError, StabilityError
from driftwise.experiments.studies.control.identification import CORRELATED, INDEPENDENT, draw_system, explore
from tests.cases import check_refused

A = np.array([[0.9, 0.5, 0.0], [0.0, 0.7, 0.4], [-0.3, 0.0, 0.8]])
B = np.array([[0.3, 1.0], [1.0, 0.0], [0.0, -0.6]])
K = np.array([[0.2, 0.3, 0.1], [0.1, 0.0, -0.2]])
"""Three states and two inputs, stable without and with the gain."""

ALL = pytest.mark.parametrize("method", list(METHODS))
PROBED = pytest.mark.parametrize("method", ["iv", "moments"])

Run = tuple[Array, Array, Array]


def signs(rounds: int, inputs: int, scale: float = 1.0, seed: int = 0) -> Array:
    return scale * np.random.default_rng([seed, 5]).choice([-1.0, 1.0], (rounds, inputs))


def play(
    rounds: int = 400, noise: float = 0.3, *, seed: int = 0, plant: tuple[Array, Array, Array] = (A, B, K), **how: Any
) -> Run:
    """Play -K x + probe, up to a limit, under Gaussian noise or the disturbances given."""
    A, B, K = plant
    states, inputs = B.shape
    w = how.get("disturbances", noise * np.random.default_rng([seed, 6]).normal(size=(rounds, states)))
    probes, limit = how.get("probes", signs(rounds, inputs, seed=seed)), how.get("limit", np.inf)
    x, u = np.zeros((rounds + 1, states)), np.zeros((rounds, inputs))
    for t in range(rounds):
        u[t] = np.clip(probes[t] - K @ x[t], -limit, limit)
        x[t + 1] = A @ x[t] + B @ u[t] + w[t]
    return x, u, probes


def miss(found: dw.control.Identified, A: Array = A, B: Array = B) -> float:
    return float(max(np.linalg.norm(found.A - A, 2), np.linalg.norm(found.B - B, 2)))


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


class TestResult:
    def test_it_is_a_frozen_record_with_a_system(self) -> None:
        x, u, probes = play()
        found = identify(x, u, probes, K, order=2)
        assert (found.method, found.order, found.rounds) == ("iv", 2, 400)
        assert isinstance(found.system, dw.control.LinearSystem)
        np.testing.assert_array_equal(found.system.A, found.A)
        np.testing.assert_array_equal(found.system.B, found.B)
        with pytest.raises(dataclasses.FrozenInstanceError):
            found.error = 0.0  # type: ignore[misc]
        with pytest.raises(ValueError, match="read-only"):
            found.A[0, 0] = 1.0

    def test_the_order_is_the_number_of_states_unless_given(self) -> None:
        assert identify(*play(), K).order == 3

    def test_summary_says_how_and_how_well(self) -> None:
        text = identify(*play(), K, method="moments").summary()
        assert text.startswith("Identified by moments from 400 rounds: 3 states, 2 inputs, order 3\n")
        assert text.count("error about") == 2

    @ALL
    def test_a_scalar_plant(self, method: str) -> None:
        plant = np.array([[1.1]]), np.array([[0.5]]), np.array([[0.8]])
        found = identify(*play(2000, plant=plant), plant[2], method=method)
        assert miss(found, *plant[:2]) < 0.1
        assert "1 state, 1 input" in found.summary()

    @ALL
    def test_data_are_left_alone_and_may_be_lists(self, method: str) -> None:
        run = play()
        before = [part.copy() for part in run]
        found = identify(*run, K, method=method)
        for part, copy in zip(run, before, strict=True):
            np.testing.assert_array_equal(part, copy)
        x, u, probes = (part.tolist() for part in run)
        again = identify(x, u, probes, K.tolist(), method=method)
        np.testing.assert_array_equal(found.A, again.A)


class TestRefused:
    @ALL
    def test_too_few_rounds(self, method: str) -> None:
        x, u, probes = play(10)
        check_refused(lambda: identify(x, u, probes, K, method=method), "too few", "at least", kind=InputError)

    @ALL
    def test_the_number_of_rounds_it_asks_for_is_enough(self, method: str) -> None:
        with pytest.raises(InputError, match="at least") as caught:
            identify(*play(10, noise=0.0), K, method=method)
        needed = int(str(caught.value).split("at least ")[1].split()[0])
        assert identify(*play(needed, noise=0.01), K, method=method).rounds == needed
        with pytest.raises(InputError, match="too few"):
            identify(*play(needed - 1, noise=0.01), K, method=method)

    @PROBED
    def test_an_order_that_is_too_small(self, method: str) -> None:
        run = play()
        check_refused(lambda: identify(*run, K, 1, method=method), "order", "at least 2", kind=InputError)

    @pytest.mark.parametrize("order", [0, -1, 1.5, True, "2"])
    def test_an_order_that_is_none(self, order: Any) -> None:
        check_refused(lambda: identify(*play(), K, order), "order", kind=ParameterError)

    @PROBED
    def test_a_state_out_of_reach_of_the_inputs(self, method: str) -> None:
        plant = A * [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0], [0.0, 0.0, 1.0]], B * [[1.0], [1.0], [0.0]], K
        refused = 0
        for seed in range(20):
            try:
                identify(*play(plant=plant, seed=seed), K, method=method)
            except InputError as error:
                refused += "noise" in str(error) and "controllable" in str(error)
        assert refused >= 17

    @PROBED
    def test_a_state_that_never_moves(self, method: str) -> None:
        x, u, probes = play(noise=0.0)
        still = np.hstack([x, np.zeros((len(x), 1))])
        gain = np.hstack([K, np.zeros((2, 1))])
        check_refused(lambda: identify(still, u, probes, gain, method=method), "controllable", kind=InputError)
        check_refused(lambda: identify(still, u, probes, gain, method="ols"), "move together", kind=InputError)

    def test_probes_that_were_not_applied(self) -> None:
        x, u, _ = play()
        check_refused(lambda: identify(x, u, signs(400, 2, seed=77), K), "noise", "applied", kind=InputError)
        other = signs(400, 2, seed=77)
        check_refused(lambda: identify(x, u, other, K, method="moments"), "something else", kind=InputError)

    @ALL
    def test_a_gain_that_does_not_stabilise(self, method: str) -> None:
        plant = 1.2 * np.eye(2), np.eye(2), 0.15 * np.eye(2)
        run = play(300, plant=plant)
        check_refused(lambda: identify(*run, plant[2], method=method), "stabilise", "last tenth", kind=StabilityError)

    def test_growth_is_told_per_round(self) -> None:
        plant = np.array([[1.3]]), np.array([[1.0]]), np.array([[0.2]])
        check_refused(lambda: identify(*play(200, plant=plant), plant[2]), "1.1 a round", kind=StabilityError)

    def test_slow_states_are_not_called_growing(self) -> None:
        plant = np.array([[0.999]]), np.array([[1.0]]), np.zeros((1, 1))
        run = play(500, plant=plant, disturbances=np.ones((500, 1)))
        assert identify(*run, plant[2], method="ols").rounds == 500

    @ALL
    @pytest.mark.parametrize("bad", [np.nan, np.inf, 1e101])
    @pytest.mark.parametrize("which", range(4))
    def test_numbers_that_are_not_finite(self, method: str, bad: float, which: int) -> None:
        x, u, probes, gain = parts = [part.copy() for part in (*play(), K)]
        parts[which][1, 0] = bad
        name = ("states", "inputs", "probes", "K")[which]
        check_refused(lambda: identify(x, u, probes, gain, method=method), name, "finite", kind=InputError)

    def test_shapes_that_do_not_fit(self) -> None:
        x, u, probes = play()
        check_refused(lambda: identify(x[:-1], u, probes, K), "one row more", "401", kind=InputError)
        check_refused(lambda: identify(x[:-2], u, probes, K), "states", "401", kind=InputError)
        check_refused(lambda: identify(x, u, probes[:, :1], K), "probes", kind=InputError)
        check_refused(lambda: identify(x, u, probes[:-1], K), "probes", kind=InputError)
        check_refused(lambda: identify(x, u, probes, K.T), "K", "(2, 3)", kind=InputError)
        check_refused(lambda: identify(x, u[:, 0], probes, K), "inputs", kind=InputError)
        check_refused(lambda: identify(x[:0], u[:0], probes[:0], K), "inputs", kind=InputError)

    def test_a_gain_of_the_other_sign(self) -> None:
        x, u, probes = play()
        check_refused(lambda: identify(x, u, probes, -K), "give -K", kind=InputError)

    @PROBED
    @pytest.mark.parametrize("level", [0.0, 1.0])
    def test_constant_probes(self, method: str, level: float) -> None:
        probes = signs(400, 2)
        probes[:, 1] = level
        check_refused(lambda: identify(*play(probes=probes), K, method=method), "input 1", "constant", kind=InputError)

    @PROBED
    def test_probes_with_a_mean(self, method: str) -> None:
        run = play(probes=0.5 + 0.5 * signs(400, 2))
        check_refused(lambda: identify(*run, K, method=method), "mean", kind=InputError)

    def test_probes_that_repeat(self) -> None:
        probes = np.tile([[1.0, 1.0], [-1.0, 1.0], [1.0, -1.0], [-1.0, -1.0]], (100, 1))
        check_refused(lambda: identify(*play(probes=probes), K), "depend on one another", kind=InputError)
        run = play(probes=probes)
        check_refused(lambda: identify(*run, K, method="moments"), "correlation", "iv", kind=InputError)

    def test_inputs_probed_by_the_same_signs(self) -> None:
        probes = np.repeat(signs(400, 1), 2, axis=1)
        check_refused(lambda: identify(*play(probes=probes), K), "depend on one another", kind=InputError)
        run = play(probes=probes)
        check_refused(lambda: identify(*run, K, method="moments"), "different inputs", kind=InputError)

    def test_least_squares_without_probes(self) -> None:
        x, u, probes = play(probes=np.zeros((400, 2)))
        check_refused(lambda: identify(x, u, probes, K, method="ols"), "move together", kind=InputError)

    def test_numbers_out_of_proportion(self) -> None:
        x, u, probes = play()
        run = x * 1e99, u * 1e-300, probes * 1e-300
        check_refused(lambda: identify(*run, 1e99 * K), "units", kind=InputError)

    def test_words_that_are_not_known(self) -> None:
        run = play()
        check_refused(lambda: identify(*run, K, method="lasso"), "method", "'iv'", kind=ParameterError)
        check_refused(lambda: identify(*run, K, ordre=2), "order", kind=ArgumentError)  # type: ignore[call-arg]
        check_refused(lambda: identify(*run), "K", kind=ArgumentError)  # type: ignore[call-arg]

    @ALL
    def test_whatever_is_given_the_error_is_a_typed_one(self, method: str) -> None:
        rng = np.random.default_rng(4)
        for _ in range(60):
            states, inputs, rounds = rng.integers(1, 4), rng.integers(1, 3), rng.integers(1, 200)
            parts = []
            for shape in ((rounds + 1, states), (rounds, inputs), (rounds, inputs), (inputs, states)):
                part = rng.choice([0.0, 1.0, rng.normal() * 10.0 ** rng.integers(-90, 90)]) * rng.normal(size=shape)
                parts.append(part if rng.random() < 0.8 else np.sign(part))
            x, u, probes, gain = parts
            try:
                found = identify(x, u, probes, gain, method=method)
            except (InputError, StabilityError):
                continue
            assert np.isfinite([found.error, found.error_A, found.error_B, found.error_loop]).all()
            assert np.isfinite(found.A).all()
