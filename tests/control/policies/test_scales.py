import math
from typing import Any

import numpy as np
import pytest

import driftwise as dw
from driftwise import control
from driftwise._validate import Array
from driftwise.control.policies.disturbance_action import read_loop
from driftwise.control.policies.scales import (
    Constants,
    certified_constants,
    gain_size,
    given_constants,
    lipschitz,
    loop_memory,
    measured_constants,
    reach,
    theory_constants,
    theory_radii,
)
from driftwise.control.stability import certify
from tests.control.cases import PLANT, UNIT, policies

SYSTEMS = [PLANT, control.random_system(3, 2, radius=1.05, seed=1), control.LinearSystem(0.95, 1.0)]


def both(system: control.System, H: int, W: float, G_c: float) -> tuple[Constants, Constants, dw.SpectralBalls]:
    """Return the constants of theory and the certified ones, on the domain of theory."""
    K, closed = read_loop("test", system, control.lqr(system))
    certificate = certify(system, K)
    domain = dw.SpectralBalls((H, system.input_dim, system.state_dim), theory_radii(certificate, H))
    certified = certified_constants(domain, closed, system.B, K, W, G_c)
    return theory_constants(domain, system.B, W, G_c, certificate), certified, domain


@pytest.mark.parametrize("seed", [*range(5), *(pytest.param(seed, marks=pytest.mark.full) for seed in range(5, 50))])
@pytest.mark.parametrize("scale", ["certified", "theory"])
def test_gradients_in_runs_stay_within_the_bound(scale: str, seed: int) -> None:
    """Runs with |w| <= W, worst signs included: every gradient, and what moving past policies changes."""
    rng, rounds, W, H = np.random.default_rng(seed), 40, 0.7, 3
    system = SYSTEMS[seed % len(SYSTEMS)]
    dx, du = system.state_dim, system.input_dim
    cost = control.QuadraticCost(np.diag(rng.uniform(0.2, 1.5, dx)), 0.8 * np.eye(du))
    G_c = cost.gradient_constant
    assert G_c is not None
    settings: dict[str, Any] = {
        "memory": H,
        "disturbance_bound": W,
        "cost_gradient": G_c,
        "horizon": rounds,
        "scale": scale,
    }
    largest, bound = 0.0, math.inf
    for kind in ("sphere", "constant", "adversary"):
        controller = control.ScreamController(system, start="random", seed=seed, **settings)
        bound = controller.constants.gradient_bound
        disturbances: Any = control.AdversarialDisturbance(W)
        if kind == "sphere":
            disturbances = disturbances.sample(rounds, dx, seed)
        elif kind == "constant":
            disturbances = np.full((rounds, dx), W / math.sqrt(dx))
        trace = control.simulate(system, controller, cost, disturbances, record_policies=True)
        assert trace.policies is not None
        losses = control.TruncatedLosses(system, cost, trace.disturbances, memory=H)
        assert np.linalg.norm(trace.disturbances, axis=1).max() <= W * (1.0 + 1e-12)
        domain = controller.learner.domain
        for t in range(rounds):
            for M in (trace.policies[t], *(domain.project(10.0 * rng.standard_normal((2, domain.dim))))):
                largest = max(largest, float(np.linalg.norm(losses.gradient(t, M.ravel()))))
        # What the switching cost is for: memory losses differ from unary ones by at most lambda times all moves.
        moving = domain.project(10.0 * rng.standard_normal((rounds, domain.dim)))
        padded = np.concatenate([np.tile(moving[:1], (H + 1, 1)), moving])
        gaps = [abs(losses.value(t, padded[t : t + H + 2]) - losses.unary_value(t, moving[t])) for t in range(rounds)]
        moves = np.linalg.norm(np.diff(moving, axis=0), axis=1)
        assert 0.0 < sum(gaps) <= controller.constants.switching_cost * moves.sum()
    assert 0.0 < largest <= bound
    if scale == "certified" and seed % len(SYSTEMS) == 2:
        assert largest > 0.05 * bound  # one state: hardly anything is given away


@pytest.mark.parametrize("seed", range(8))
def test_theory_is_never_tighter_than_what_is_certified(seed: int) -> None:
    rng = np.random.default_rng(seed)
    dx, du, H = int(rng.integers(1, 5)), int(rng.integers(1, 4)), int(rng.integers(1, 9))
    system = control.random_system(dx, du, radius=float(rng.uniform(0.5, 1.1)), seed=seed)
    theory, certified, domain = both(system, H, float(rng.uniform(0.1, 3.0)), float(rng.uniform(0.5, 4.0)))
    assert theory.gradient_bound >= certified.gradient_bound
    assert theory.switching_cost >= certified.switching_cost
    assert theory.diameter == certified.diameter == domain.diameter


def test_certified_constants_are_sums_of_lipschitz_constants() -> None:
    for system in SYSTEMS:
        _, certified, domain = both(system, 3, 0.7, 2.0)
        K, closed = read_loop("test", system, control.lqr(system))
        slope = 2.0 * max(reach(closed, system.B, K, 3, 0.7, domain.radii))
        parts = lipschitz(closed, system.B, K, 3, 0.7, (slope, slope))
        assert certified.gradient_bound == pytest.approx(parts.sum(), rel=1e-12)
        assert certified.switching_cost == pytest.approx(np.arange(5) @ parts, rel=1e-12)
        rows = control.AdversarialDisturbance(0.7).sample(5, system.state_dim)
        separate = control.TruncatedLosses(system, UNIT, rows, memory=3).lipschitz(domain)
        assert np.all(separate <= parts * (1.0 + 1e-12))  # known to be separable, so that each slope has its own bound


def test_certified_constants_are_smaller_by_orders_of_magnitude() -> None:
    theory, certified, _ = both(PLANT, 10, 1.0, 2.0)
    assert theory.gradient_bound > 100.0 * certified.gradient_bound
    assert theory.switching_cost > 10.0 * certified.switching_cost


def test_the_papers_bound_on_gradients_without_its_diameter_is_broken() -> None:
    """The slip that theory_constants mends: A = 0.95, K = 0, H = 20."""
    system, H = control.LinearSystem(0.95, 1.0), 20
    K, W, G_c = np.zeros((1, 1)), 1.0, 2.0
    certificate = certify(system, K)
    domain = dw.SpectralBalls((H, 1, 1), theory_radii(certificate, H))
    losses = control.TruncatedLosses(system, UNIT, np.ones((60, 1)), memory=H, K=K)
    gradient = float(np.linalg.norm(losses.gradient(59, domain.radii)))
    paper = 3.0 * H * G_c * W * certificate.kappa**3 / certificate.gamma
    assert gradient > 2.0 * paper
    assert gradient <= theory_constants(domain, system.B, W, G_c, certificate).gradient_bound


def test_states_and_inputs_stay_within_reach() -> None:
    for system in SYSTEMS:
        rng, W, H = np.random.default_rng(2), 0.5, 4
        dx, du = system.state_dim, system.input_dim
        K, closed = read_loop("test", system, control.lqr(system))
        radii = np.array([0.9, 0.4, 0.4, 0.1])
        state, input = reach(closed, system.B, K, H, W, radii)
        losses = control.TruncatedLosses(system, UNIT, control.AdversarialDisturbance(W).sample(30, dx), memory=H, K=K)
        for t in range(30):
            y, v = losses.states(t, policies(rng, H + 2, H, du, dx, size=1.0) * radii[:, None, None])
            assert np.linalg.norm(y) <= state
            assert np.linalg.norm(v) <= input


def test_reach_and_lipschitz_in_one_dimension_by_hand() -> None:
    """A_K = 0.5, B = 2, K = 0.25, H = 2, W = 3, radii 0.1 and 0.3, gradients of at most 5 and 7."""
    closed, B, K = np.array([[0.5]]), np.array([[2.0]]), np.array([[0.25]])
    state, input = reach(closed, B, K, 2, 3.0, np.array([0.1, 0.3]))
    assert state == pytest.approx(3.0 * (1.0 + 0.5 + 0.25) * (1.0 + 2.0 * 0.4))
    assert input == pytest.approx(3.0 * (0.4 + 0.25 * (1.0 + 0.5 + 0.25) * (1.0 + 2.0 * 0.4)))
    found = lipschitz(closed, B, K, 2, 3.0, (5.0, 7.0))
    past = 5.0 * 2.0 + 7.0 * 0.25 * 2.0
    np.testing.assert_allclose(found, math.sqrt(2.0) * 3.0 * np.array([7.0, past, 0.5 * past, 0.25 * past]))


def test_the_certified_bound_is_reached() -> None:
    """One state, no gain, the same push in all rounds and the largest policy: nothing is given away."""
    system, H, K = control.LinearSystem(0.95, 1.0), 20, np.zeros((1, 1))
    domain = dw.SpectralBalls((H, 1, 1), 0.1)
    losses = control.TruncatedLosses(system, UNIT, np.ones((60, 1)), memory=H, K=K)
    bound = losses.gradient_bound(domain)
    assert np.linalg.norm(losses.gradient(59, domain.radii)) == pytest.approx(bound, rel=1e-12)
    assert bound <= certified_constants(domain, system.A, system.B, K, 1.0, 2.0).gradient_bound <= 1.1 * bound


def test_the_certified_bound_holds_for_costs_that_mix_state_and_input() -> None:
    """(x + u)^2 is as steep in a small input as in a large state: both are bounded by the larger of the two."""
    system, K = control.LinearSystem(0.9, 0.01), np.zeros((1, 1))
    domain = dw.SpectralBalls((3, 1, 1), 0.01)
    mixed = control.CustomCost(
        lambda x, u: float((x[0] + u[0]) ** 2), lambda x, u: (2.0 * (x + u[0]), 2.0 * (x[0] + u))
    )
    losses = control.TruncatedLosses(system, mixed, np.ones((40, 1)), memory=3, K=K)
    certified = certified_constants(domain, system.A, system.B, K, 1.0, 4.0)
    assert np.linalg.norm(losses.gradient(39, domain.radii)) <= certified.gradient_bound


def test_radii_of_theory() -> None:
    certificate = certify(PLANT, control.lqr(PLANT))
    radii = theory_radii(certificate, 5)
    np.testing.assert_allclose(radii, 2.0 * certificate.kappa**3 * (1.0 - certificate.gamma) ** np.arange(5))
    sudden = certify(control.LinearSystem(0.5, 1.0), [[0.5]])  # gamma is 1: nothing would be left for later lags
    assert sudden.gamma > 0.99
    np.testing.assert_allclose(theory_radii(sudden, 3), 2.0 * sudden.kappa**3 * np.array([1.0, 0.1, 0.01]))


def test_the_size_of_a_good_gain() -> None:
    K = control.lqr(PLANT)
    assert gain_size(PLANT, K) == pytest.approx(np.linalg.norm(K, 2))
    assert gain_size(PLANT, 5.0 * K) == pytest.approx(5.0 * np.linalg.norm(K, 2))
    assert gain_size(control.LinearSystem(0.5, 0.0), np.zeros((1, 1))) == 1.0
    quick = control.LinearSystem(0.01, 1.0)  # LQR hardly acts, but a disturbance that lasts is worth answering
    assert gain_size(quick, control.lqr(quick)) == pytest.approx(0.5)


def test_what_is_said_about_each_scale() -> None:
    domain = dw.SpectralBalls((2, 1, 2), 0.5)
    theory, certified, _ = both(PLANT, 2, 0.25, 3.0)
    for found, scale, word in (
        (measured_constants(1.5, 10.0), "measured", "None"),
        (certified, "certified", "within 3 times the larger of state and input"),
        (theory, "theory", "disturbances stay within 0.25"),
        (given_constants(domain, 4.0, 2.0), "given", "gradients stay within 4"),
    ):
        assert found.scale == scale
        assert word in str(found.condition)
    assert given_constants(domain, 4.0, 2.0).switching_cost == 8.0
    measured = measured_constants(1.5, 10.0)
    assert (measured.diameter, measured.gradient_bound, measured.switching_cost) == (1.5, 1.0, 10.0)


def inputs(scale: str, factor: float) -> Array:
    """Return the inputs of Scream on costs in another unit."""
    rows = 0.3 * np.sin(np.arange(120)[:, None] / 7.0 + np.array([0.0, 1.0]))
    controller = control.ScreamController(PLANT, horizon=120, memory=4, scale=scale)
    return control.simulate(PLANT, controller, control.QuadraticCost(factor, factor), rows).inputs


@pytest.mark.parametrize("factor", [1e-6, 1e6])
def test_measured_constants_do_not_depend_on_the_unit_of_the_costs(factor: float) -> None:
    expected = inputs("measured", 1.0)
    np.testing.assert_allclose(inputs("measured", factor), expected, rtol=0.0, atol=1e-9)
    assert np.abs(inputs("certified", 1e6) - inputs("certified", 1.0)).max() > 1e-3  # those do


@pytest.mark.parametrize(("rate", "memory"), [(0.1, 10), (0.9, 22), (0.97, 76), (0.999, 200)])
def test_the_memory_covers_the_loop(rate: float, memory: int) -> None:
    closed = rate * np.array([[0.6, 0.8], [-0.8, 0.6]])
    assert loop_memory(closed) == memory
    if 10 < memory < 200:
        assert np.linalg.norm(np.linalg.matrix_power(closed, memory), 2) <= 0.1
        assert np.linalg.norm(np.linalg.matrix_power(closed, memory - 1), 2) > 0.1
