"""The sums of powers of a loop, against long plain sums."""

import math

import numpy as np
import pytest

from driftwise import control
from driftwise.control.bounds.response import CertifiedResponse, Response, Sums, TheoryResponse, shaken
from driftwise.errors import ParameterError
from tests.cases import check_refused

PLANTS = [
    control.random_system(dx, du, radius=1.1, seed=seed) for seed, (dx, du) in enumerate([(1, 1), (3, 2), (4, 1)])
]
SLOW = control.LinearSystem([[0.99, 0.3], [0.0, 0.98]], [[0.0], [1.0]])


def plain(system: control.System, K: np.ndarray, first: int) -> Sums:
    """Sum norms one after the other from a power on."""
    closed = system.A - system.B @ K
    power, totals = np.linalg.matrix_power(closed, first), np.zeros(4)
    for _ in range(3000):
        parts = power, power @ system.B, K @ power, K @ power @ system.B
        totals += [np.linalg.norm(part, 2) for part in parts]
        power = closed @ power
    return Sums(*totals.tolist())


@pytest.mark.parametrize("first", [0, 1, 7, 100])
@pytest.mark.parametrize("system", [*PLANTS, SLOW])
def test_computed_sums_are_the_sums(system: control.System, first: int) -> None:
    K = np.zeros((1, 2)) if system is SLOW else control.lqr(system)
    found = CertifiedResponse(system, K)
    sums = found.whole if first == 0 else found.tail(first - 1)
    np.testing.assert_allclose(sums, plain(system, K, first), rtol=1e-9, atol=1e-13)
    np.testing.assert_allclose(found.peaks, found._norms[[0, 2]].max(axis=1))


@pytest.mark.parametrize("first", [0, 1, 7])
@pytest.mark.parametrize("system", PLANTS)
def test_the_theory_s_sums_are_larger(system: control.System, first: int) -> None:
    K = control.lqr(system)
    found: Response = TheoryResponse(control.certify(system, K), system.B)
    sums = found.whole if first == 0 else found.tail(first - 1)
    assert all(mine >= 0.999 * other for mine, other in zip(sums, plain(system, K, first), strict=True))
    computed = CertifiedResponse(system, K)
    assert all(mine >= other for mine, other in zip(found.peaks, computed.peaks, strict=True))


def test_a_loop_that_hardly_forgets_has_sums_all_the_same() -> None:
    system = control.LinearSystem(1.0 - 1e-6, 1.0)
    assert CertifiedResponse(system, np.zeros((1, 1))).whole.states == pytest.approx(1e6, rel=0.02)


def test_reach_adds_what_is_answered() -> None:
    assert Sums(1.0, 2.0, 3.0, 4.0).reach(0.5) == (2.0, 5.0)


def test_sums_of_another_plant_nearby() -> None:
    rng = np.random.default_rng(0)
    for system in PLANTS:
        K = control.lqr(system)
        whole = CertifiedResponse(system, K).whole
        for _ in range(20):
            size = 0.5 / whole.states / (1.0 + float(np.linalg.norm(K, 2)))
            A, B = (rng.standard_normal(part.shape) for part in (system.A, system.B))
            A, B = size * A / np.linalg.norm(A, 2), size * B / np.linalg.norm(B, 2)
            other = control.LinearSystem(system.A + A, system.B + B)
            found = shaken(whole, size, float(np.linalg.norm(A - B @ K, 2)))
            true = CertifiedResponse(other, K).whole
            assert all(mine >= its * (1.0 - 1e-9) for mine, its in zip(found, true, strict=True))  # one state: equal
    assert shaken(whole, 1.0, 1.01 / whole.states) == (math.inf,) * 4


def test_powers_that_overflow_are_refused() -> None:
    wild = control.LinearSystem(np.diag(np.full(5, 0.5)) + np.diag(np.full(4, 1e99), 1), np.ones((5, 1)))
    check_refused(lambda: CertifiedResponse(wild, np.zeros((1, 5))), "powers of A - B K", kind=ParameterError)
