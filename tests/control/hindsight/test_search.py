"""The cheapest policies of every kind of cost against cvxpy on the problem written out."""

import functools
from typing import Any

import numpy as np
import pytest

import driftwise as dw
from driftwise import control
from driftwise.control.hindsight import best_policy
from tests.cases import every_pair
from tests.control.cases import ROUNDS, squares
from tests.control.hindsight.problems import CENTRED, QUADRATICS, SYSTEMS, cp, given, least, of_policies, problem

H = 2
SEGMENTS: dict[str, list[int]] = {"one": [0], "three": [0, 7, 20]}


@functools.cache
def expected(name: str, kind: str, segments: str, radius: float | None = None) -> float:
    asked = problem(name, kind)
    _, dx, du = asked.size
    F, r = of_policies(asked, control.lqr(asked.system), H, SEGMENTS[segments])

    def limits(v: Any) -> list[Any]:
        blocks = [v[k * du * dx : (k + 1) * du * dx] for k in range(F.shape[-1] // (du * dx))]
        return [cp.sigma_max(cp.reshape(block, (du, dx), order="C")) <= radius for block in blocks]

    return least(asked, F, r, None if radius is None else limits)


@every_pair(name=SYSTEMS, kind=CENTRED, segments=SEGMENTS)
def test_the_total_is_the_least(name: str, kind: str, segments: str) -> None:
    asked = problem(name, kind)
    found = best_policy(*given(asked), memory=H, segments=SEGMENTS[segments], start=asked.start)
    lowest = expected(name, kind, segments)
    exact = {"absolute": 1e-6, "soft": 1e-6, "Huber": 1e-8}.get(kind, 1e-9)
    assert found.gap is not None
    assert found.gap <= exact * found.total
    assert found.total == pytest.approx(lowest, rel=1e-7 + exact)
    assert found.total - found.gap <= lowest * (1.0 + 1e-7)
    np.testing.assert_array_equal(found.segments, SEGMENTS[segments])


@every_pair(name=["double integrator", "wide"], kind=["scaled", "absolute", "Huber"], segments=SEGMENTS)
def test_the_total_is_the_least_of_a_domain(name: str, kind: str, segments: str) -> None:
    asked, radius = problem(name, kind), 0.15
    _, dx, du = asked.size
    domain = dw.SpectralBalls((H, du, dx), radius)
    found = best_policy(*given(asked), segments=SEGMENTS[segments], domain=domain, start=asked.start)
    lowest = expected(name, kind, segments, radius)
    assert lowest > expected(name, kind, segments) * 1.001, "the domain makes no difference"
    assert domain.contains(found.policies.reshape(len(found.policies), -1))
    assert found.gap is not None
    assert found.gap <= 1e-5 * found.total
    assert found.total == pytest.approx(lowest, rel=2e-6)
    assert "No policy in the domain is cheaper" in found.status


def test_a_domain_that_contains_the_best_policy_makes_no_difference() -> None:
    asked = problem("wide", "quadratic")
    free = best_policy(*given(asked), memory=H, start=asked.start)
    within = best_policy(*given(asked), domain=dw.SpectralBalls((H, 2, 3), 100.0), start=asked.start)
    np.testing.assert_array_equal(within.policies, free.policies)
    assert "in the domain" in within.status


@pytest.mark.parametrize("radius", [None, 0.2])
def test_costs_of_ones_own_have_the_best_policy_of_the_same_costs_built_in(radius: float | None) -> None:
    asked = problem("wide", "scalar")
    domain = None if radius is None else dw.SpectralBalls((H, 2, 3), radius)
    built_in = best_policy(*given(asked), memory=H, domain=domain, start=asked.start)
    own = best_policy(asked.system, squares(), asked.disturbances, memory=H, domain=domain, start=asked.start)
    assert own.total == pytest.approx(built_in.total, rel=2e-6)
    assert own.gap is not None
    assert own.gap <= 1e-5 * own.total


def test_costs_of_several_kinds_are_minimised_too() -> None:
    asked = problem("double integrator", "scalar")
    kinds = [control.QuadraticCost(1.0, 1.0), control.HuberCost(1.0, 1.0, 50.0)]  # the same but for a factor of 100
    mixed = [kinds[t % 2] for t in range(ROUNDS)]
    alike = [
        control.QuadraticCost(1.0, 1.0) if t % 2 == 0 else control.QuadraticCost(0.01, 0.01) for t in range(ROUNDS)
    ]
    found = best_policy(asked.system, mixed, asked.disturbances, memory=H)
    assert found.total == pytest.approx(best_policy(asked.system, alike, asked.disturbances, memory=H).total, rel=1e-8)


@pytest.mark.parametrize("kind", [*QUADRATICS, "absolute", "Huber"])
def test_without_disturbances_there_is_nothing_to_gain(kind: str) -> None:
    asked = problem("wide", kind)
    found = best_policy(asked.system, asked.costs, 0.0 * asked.disturbances, memory=H, start=asked.start)
    linear = control.simulate(
        asked.system,
        control.LinearController(asked.system),
        asked.costs,
        0.0 * asked.disturbances,
        start=asked.start,
    )
    assert found.total == pytest.approx(linear.total, rel=1e-12)
    assert found.gap == pytest.approx(0.0, abs=(1e-6 if kind == "absolute" else 1e-12) * found.total)


@pytest.mark.parametrize("size", [1e-6, 1e6])
@pytest.mark.parametrize("kind", ["quadratic", "absolute"])
def test_units_do_not_matter(kind: str, size: float) -> None:
    asked = problem("wide", kind)
    usual = best_policy(*given(asked), memory=H)
    scaled = best_policy(asked.system, asked.costs, size * asked.disturbances, memory=H)
    power = 2.0 if kind == "quadratic" else 1.0
    assert scaled.total == pytest.approx(size**power * usual.total, rel=2e-6)
    assert scaled.gap is not None
    assert scaled.gap <= 2e-6 * scaled.total
