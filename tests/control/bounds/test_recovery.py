"""Moment recovery: how often estimates are off by more than promised, by simulation."""

import math

import numpy as np
import pytest

from driftwise import control
from driftwise._validate import Array
from driftwise.control.bounds import exploration_rounds, moment_recovery
from driftwise.control.bounds.recovery import Recovery
from driftwise.errors import InputError, ParameterError
from tests.cases import check_refused
from tests.control.cases import PLANT

SCALAR = control.LinearSystem(0.6, 1.0)
PAIR = control.LinearSystem([[0.5, 0.2], [-0.1, 0.4]], [[1.0, 0.3], [0.0, 1.0]])


def explored(system: control.System, K: Array, probes: Array, rows: Array) -> tuple[Array, Array]:
    """Return the states and inputs of an exploration."""
    states, inputs = np.zeros((len(rows) + 1, system.state_dim)), np.zeros(probes.shape)
    for t, w in enumerate(rows):
        inputs[t] = probes[t] - K @ states[t]
        states[t + 1] = system.A @ states[t] + system.B @ inputs[t] + w
    return states, inputs


def moments(states: Array, probes: Array, p: float, order: int) -> list[Array]:
    """Return N_0, ..., N_k of Algorithm 4."""
    n = len(probes) - order
    return [states[j + 1 : j + 1 + n].T @ probes[:n] / (n * p * p) for j in range(order + 1)]


def disturbances(kind: str, rounds: int, dim: int, W: float) -> Array:
    """Return disturbances of norm W that know nothing of the probes, which have other seeds."""
    rng = np.random.default_rng(10**6)
    rows = {
        "constant": np.ones((rounds, dim)),
        "signs": rng.choice([-1.0, 1.0], (rounds, dim)),
        "resonant": np.sign(np.sin(np.arange(rounds)[:, None] / 3.0)) * np.ones(dim),
    }[kind]
    return W * rows / math.sqrt(dim)


@pytest.mark.parametrize("kind", ["constant", "signs", "resonant"])
@pytest.mark.parametrize(("system", "p", "W"), [(SCALAR, 1.0, 1.0), (SCALAR, 0.5, 2.0), (PAIR, 1.0, 0.5)])
def test_estimates_are_off_by_more_than_promised_no_more_often_than_promised(
    system: control.LinearSystem, p: float, W: float, kind: str
) -> None:
    K, T_0, runs, failure = np.zeros((system.input_dim, system.state_dim)), 400, 150, 0.1
    promised = moment_recovery(system, exploration=T_0, K=K, probe=p, disturbance_bound=W, failure=failure)
    rows, k, misses, largest = disturbances(kind, T_0, system.state_dim, W), system.state_dim, 0, 0.0
    truth = [np.linalg.matrix_power(system.A, j) @ system.B for j in range(k + 1)]
    for seed in range(runs):
        probes = p * np.random.default_rng(seed).choice([-1.0, 1.0], (T_0, system.input_dim))
        states, _ = explored(system, K, probes, rows)
        errors = [float(np.linalg.norm(N - true)) for N, true in zip(moments(states, probes, p, k), truth, strict=True)]
        misses += int(max(errors) > promised.moments)
        largest = max(largest, max(errors) / promised.moments)
    assert misses <= failure * runs
    assert largest > 0.2  # the promise is not idle


def test_the_plant_that_comes_out_is_within_the_promise() -> None:
    K, T_0, W = np.array([[0.1]]), 20_000, 0.5
    promised = moment_recovery(SCALAR, exploration=T_0, K=K, disturbance_bound=W, failure=0.01)
    assert promised.A < 1.0
    for seed in range(5):
        probes = np.random.default_rng(seed).choice([-1.0, 1.0], (T_0, 1))
        states, inputs = explored(SCALAR, K, probes, disturbances("resonant", T_0, 1, W))
        found = control.identify(states, inputs, probes, K, method="moments")
        assert abs(found.A - SCALAR.A).max() <= promised.A
        assert abs(found.B - SCALAR.B).max() <= promised.B


def test_any_errors_of_the_moments_this_large_give_a_plant_within_the_promise() -> None:
    """The step from moments to A and B, for the worst of random errors of the largest size."""
    rng, k, e, K = np.random.default_rng(0), 2, 0.02, np.array([[0.1, 0.0], [0.2, -0.1]])
    closed = PAIR.A - PAIR.B @ K
    truth = [np.linalg.matrix_power(closed, j) @ PAIR.B for j in range(k + 1)]
    clear = np.linalg.svd(np.hstack(truth[:-1]), compute_uv=False)[-1]
    loop = math.sqrt(k) * e * (1.0 + np.linalg.norm(closed, 2)) / (clear - math.sqrt(k) * e)
    worst = 0.0
    for _ in range(2000):
        noise = rng.standard_normal((k + 1, 2, 2))
        N = [true + e * each / np.linalg.norm(each) for true, each in zip(truth, noise, strict=True)]
        estimate = np.hstack(N[1:]) @ np.linalg.pinv(np.hstack(N[:-1]))
        worst = max(worst, float(np.linalg.norm(estimate - closed, 2)) / loop)
    assert 0.3 < worst <= 1.0


def test_by_hand() -> None:
    found = moment_recovery(SCALAR, exploration=1001, K=0.0, order=1, probe=2.0, disturbance_bound=3.0, failure=0.04)
    c = 3.0 * 2.5 / 2.0 + 2.5
    e = c * math.sqrt(2.0 * 1001.0 * math.log(100.0)) / 1000.0
    assert found.moments == found.B == pytest.approx(e)
    assert found.loop == pytest.approx(e * 1.6 / (1.0 - e))
    assert found.error == max(found[1], found[3])
    assert found[3] == pytest.approx(found.loop)  # A is its loop, for K = 0


def test_with_too_few_rounds_nothing_is_promised_of_a() -> None:
    found = moment_recovery(PLANT, exploration=50)
    assert found.A == found.loop == found.error == math.inf
    assert isinstance(found, Recovery)


def test_the_rounds_for_an_error_are_the_least() -> None:
    for error in (0.5, 0.1):
        T_0 = exploration_rounds(SCALAR, error=error, K=0.0)
        assert moment_recovery(SCALAR, exploration=T_0, K=0.0).error <= error
        assert moment_recovery(SCALAR, exploration=T_0 - 1, K=0.0).error > error
    assert exploration_rounds(SCALAR, error=0.01, K=0.0) == pytest.approx(100 * T_0, rel=0.25)


def test_bad_arguments_are_refused() -> None:
    check_refused(lambda: moment_recovery(PLANT, exploration=2), "exploration", "at least 3", kind=ParameterError)
    check_refused(lambda: moment_recovery(PLANT, exploration=99, failure=0.0), "failure", kind=ParameterError)
    check_refused(lambda: exploration_rounds(PLANT, error=0.0), "error", kind=ParameterError)
    check_refused(lambda: exploration_rounds(3, error=0.1), "system", kind=ParameterError)  # type: ignore[arg-type]
    check_refused(lambda: exploration_rounds(PLANT, error=0.1, order=1), "larger order", kind=InputError)
