"""Margins against eigenvalues of the whole loop, python-control, simulation and textbooks."""

import math
from collections.abc import Iterator

import control as python_control
import numpy as np
import pytest

from driftwise import control
from driftwise.control.frozen import FrozenPolicy, Margins
from driftwise.control.frozen.loci import follow, winds
from driftwise.control.frozen.response import Loop
from tests.control.frozen.cases import KINDS, drawn, loop_matrix, radius

INSIDE, OUTSIDE = 1.0 - 1e-5, 1.0 + 1e-5


def each(policy: FrozenPolicy) -> Iterator[tuple[int | None, Margins]]:
    """Give the margins for all inputs at once, and for each."""
    found = policy.margins()
    assert found.stable
    assert len(found.per_input) == policy.input_dim
    yield None, found
    if policy.input_dim > 1:
        yield from enumerate(found.per_input)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(12))
def test_margins_are_where_the_loop_becomes_unstable(kind: str, seed: int) -> None:
    policy = drawn(seed, kind)
    for channel, found in each(policy):

        def size(factor: complex, channel: int | None = channel) -> float:
            return radius(loop_matrix(policy, factor, 0, channel))

        up = found.gain_up if math.isfinite(found.gain_up) else 1e3
        stable = [*np.geomspace(1.0, up * INSIDE, 8), *np.linspace(max(found.gain_down * OUTSIDE, 1e-4), 1.0, 8)]
        turn = math.radians(min(found.phase, 180.0))
        stable += list(np.exp(-1j * np.linspace(0.0, turn * INSIDE, 8)))
        assert max(size(factor) for factor in stable) < 1.0 + 1e-9, found
        if math.isfinite(found.gain_up):
            assert size(found.gain_up * OUTSIDE) > 1.0, found
        if found.gain_down > 0.0:
            assert size(found.gain_down * INSIDE) > 1.0, found
        if math.isfinite(found.phase) and found.phase < 179.0:
            assert size(np.exp(-1j * turn * OUTSIDE)) > 1.0 or size(np.exp(1j * turn * OUTSIDE)) > 1.0, found
        for d in range(1, int(min(found.delay, 15.0)) + 1):
            assert radius(loop_matrix(policy, 1.0, d, channel)) < 1.0, found
        if math.isfinite(found.delay):
            assert radius(loop_matrix(policy, 1.0, int(found.delay) + 1, channel)) > 1.0, found


@pytest.mark.parametrize("seed", range(6))
def test_margins_are_those_of_python_control(seed: int) -> None:
    rng = np.random.default_rng(seed)
    plant = control.random_system(2, 1, radius=rng.uniform(0.7, 1.1), seed=seed)
    policy = FrozenPolicy(plant.A, plant.B, control.lqr(plant, R=0.3), 0.2 * rng.standard_normal((2, 1, 2)))
    loop = -(policy.to_control() * plant.to_control())
    gains, phases, *_ = python_control.stability_margins(loop, returnall=True)
    ends = [-1.0 / loop(z).real.item() for z in (1.0, -1.0)]  # python-control may leave out where z is real
    gains = np.concatenate([gains, ends])
    found = policy.margins()
    assert found.gain_up == pytest.approx(min(gains[gains > 1.0], default=math.inf), rel=1e-4)
    assert found.gain_down == pytest.approx(max(gains[(gains < 1.0) & (gains > 1e-6)], default=0.0), rel=1e-4)
    # python-control gives phases from -180 to 180, and this one is the least rotation in either direction.
    assert found.phase == pytest.approx(np.abs(phases).min(initial=math.inf), rel=1e-4)


def test_an_integrator_under_proportional_control() -> None:
    """x' = x + u, u = -k x: unstable from k = 2 on, and with a delay of d from k = 2 sin(pi / (4 d + 2)) on."""
    for k in (0.1, 0.3, 0.7, 1.2):
        found = FrozenPolicy([[1.0]], [[1.0]], [[k]]).margins()
        assert found.gain_up == pytest.approx(2.0 / k, rel=1e-9)
        assert found.gain_down == 0.0
        crossover = 2.0 * math.asin(k / 2.0)
        assert found.phase == pytest.approx(math.degrees(math.pi / 2.0 - crossover / 2.0), rel=1e-9)
        stable = [d for d in range(1, 30) if k < 2.0 * math.sin(math.pi / (4 * d + 2))]
        assert found.delay == max(stable, default=0)


def test_an_unstable_plant_needs_its_gain() -> None:
    """x' = 1.5 x + u, u = -x: stable for a gain from 0.5 to 2.5."""
    found = FrozenPolicy([[1.5]], [[1.0]], [[1.0]]).margins()
    assert (found.gain_down, found.gain_up) == pytest.approx((0.5, 2.5), rel=1e-9)


def test_a_loop_without_feedback_stands_everything() -> None:
    found = FrozenPolicy([[0.5]], [[1.0]], [[0.0]]).margins()
    assert (found.gain_up, found.gain_down, found.phase, found.delay) == (math.inf, 0.0, math.inf, math.inf)
    assert repr(found) == "Margins(gain x 0 to x inf, any phase, any delay)"


@pytest.mark.parametrize(
    "policy",
    [
        FrozenPolicy([[1.5]], [[1.0]], [[0.1]]),
        FrozenPolicy([[0.5]], [[1.0]], [[0.1]], C=[[1.0]], L=[[-1.0]]),
        FrozenPolicy([[0.5, 1.0], [0.0, 1.1]], [[0.0], [1.0]], [[0.0, 1.0]], states=1),
        FrozenPolicy([[0.5, 0.0], [0.0, 1.1]], [[1.0], [0.0]], [[0.1, 0.0]]),
    ],
    ids=["gain", "observer", "memory", "out of reach"],
)
def test_an_unstable_loop_has_no_margins(policy: FrozenPolicy) -> None:
    found = policy.margins()
    assert not found.stable
    assert (found.gain_up, found.gain_down, found.phase, found.delay) == (1.0, 1.0, 0.0, 0.0)
    assert "unstable" in str(found)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("turning", [False, True], ids=["constant", "sine"])
def test_a_model_of_disturbances_is_no_part_of_the_loop(seed: int, turning: bool) -> None:
    """An offset-free observer: [x, d] with d' = d, or a sine, entering beside the input, and u = -K x - d."""
    rng = np.random.default_rng(seed)
    plant = control.random_system(int(rng.integers(2, 5)), 1, radius=rng.uniform(0.6, 1.1), seed=seed)
    n, size = plant.state_dim, 2 if turning else 1
    A = np.eye(n + size)
    A[:n, :n], A[:n, n : n + 1] = plant.A, plant.B
    if turning:
        A[n:, n:] = [[math.cos(0.3), -math.sin(0.3)], [math.sin(0.3), math.cos(0.3)]]
    wide = np.concatenate([plant.B, np.zeros((size, 1))])
    K = np.concatenate([control.lqr(plant, R=3.0), np.eye(1, size)], axis=1)
    C = np.concatenate([rng.standard_normal((1, n)), np.zeros((1, size))], axis=1)
    L = control.lqr(control.LinearSystem(A.T, C.T), R=10.0).T
    policy = FrozenPolicy(A, wide, K, 0.05 * rng.standard_normal((3, 1, n + size)), C=C, L=L)
    found = policy.margins()
    assert found.stable
    for factor in (
        *np.geomspace(1.0, min(found.gain_up, 1e3) * INSIDE, 6),
        np.exp(1j * math.radians(found.phase * INSIDE)),
    ):
        assert radius(loop_matrix(policy, factor, plant=plant)) < 1.0
    assert radius(loop_matrix(policy, found.gain_up * OUTSIDE, plant=plant)) > 1.0
    if found.gain_down > 0.0:
        assert radius(loop_matrix(policy, found.gain_down * OUTSIDE, plant=plant)) < 1.0
        assert radius(loop_matrix(policy, found.gain_down * INSIDE, plant=plant)) > 1.0
    assert radius(loop_matrix(policy, np.exp(1j * math.radians(found.phase * OUTSIDE)), plant=plant)) > 1.0
    late = int(min(found.delay, 100.0))
    assert radius(loop_matrix(policy, 1.0, late, plant=plant)) < 1.0
    assert late == 100 or radius(loop_matrix(policy, 1.0, late + 1, plant=plant)) > 1.0


@pytest.mark.parametrize("damping", [1e-3, 1e-5, 1e-7])
def test_a_resonance_that_is_narrower_than_the_grid_is_seen(damping: float) -> None:
    """An oscillator that is hardly damped: what the input needs to stop damping it is its own business."""
    angle = 0.7123
    turn = (1.0 - damping) * np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    policy = FrozenPolicy(turn, [[1.0], [0.0]], [[2.5 * damping, damping]])
    up = policy.margins().gain_up
    assert radius(loop_matrix(policy, min(up, 1e4) * INSIDE)) < 1.0
    assert up > 1e4 or radius(loop_matrix(policy, up * OUTSIDE)) > 1.0
    pushing = FrozenPolicy(turn, [[1.0], [0.0]], [[-0.5 * damping, 0.3 * damping]])
    assert pushing.margins().stable
    up = pushing.margins().gain_up
    assert math.isfinite(up)
    assert radius(loop_matrix(pushing, up * INSIDE)) < 1.0 < radius(loop_matrix(pushing, 1.0 + (up - 1.0) * 1.001))


def test_units_of_the_inputs_do_not_matter() -> None:
    policy = drawn(4)
    assert policy.input_dim == 3
    unit = np.array([1e-6, 1.0, 1e6])[: policy.input_dim]
    other = FrozenPolicy(policy.A, policy.B * unit, policy.K / unit[:, None], policy.M / unit[:, None])
    for mine, its in zip(each(policy), each(other), strict=True):
        for name in ("gain_up", "gain_down", "phase", "delay"):
            assert getattr(mine[1], name) == pytest.approx(getattr(its[1], name), rel=1e-6)


def test_the_delay_margin_is_what_a_simulation_shows() -> None:
    plant = control.double_integrator()
    policy = FrozenPolicy(plant.A, plant.B, control.lqr(plant, R=50.0), [[[-0.01, -0.1]], [[0.0, -0.05]]])
    margin = int(policy.margins().delay)
    assert 0 < margin < 10

    def last(delay: int) -> float:
        policy.reset()
        x, waiting = np.array([1.0, 0.0]), [np.zeros(1)] * delay
        for _ in range(3000):
            waiting.append(policy.act(x))
            x = plant.A @ x + plant.B @ waiting.pop(0)
        return float(np.abs(x).max())

    assert last(margin) < 1e-6
    assert last(margin + 1) > 1.0


@pytest.mark.parametrize("kind", KINDS)
def test_the_answer_of_the_loop_is_the_one_of_its_matrices(kind: str) -> None:
    """T from its formula, and from the state space of the whole loop, with d entering beside u."""
    policy = drawn(4, kind)
    omega = np.array([0.0, 0.01, 0.5, 2.0, math.pi])
    rest, learnt = Loop(policy.law).answer(omega)
    whole = loop_matrix(policy).real
    push = np.zeros((len(whole), policy.input_dim))
    push[: len(policy.B)] = policy.B
    wide = np.zeros((len(policy.B), len(whole)))
    wide[:, : len(policy.B)] = policy.A
    out = np.linalg.lstsq(policy.B, whole[: len(policy.B)] - wide, rcond=None)[0]  # B u = B out s
    for k, z in enumerate(np.exp(1j * omega)):
        expected = out @ np.linalg.solve(z * np.eye(len(whole)) - whole, push)
        np.testing.assert_allclose((rest + learnt)[k], expected, rtol=1e-7, atol=1e-9)


def test_curves_are_followed_through_each_other() -> None:
    t = np.linspace(-1.0, 1.0, 101)
    lines = np.stack([t + 0.3j, -t - 0.3j, 0.5j * t], axis=1)
    mixed = np.take_along_axis(
        lines, np.random.default_rng(0).permuted(np.tile(np.arange(3), (101, 1)), axis=1), axis=1
    )
    found = follow(mixed)
    for column in range(3):
        np.testing.assert_array_equal(found[:, column], lines[:, np.abs(lines[0] - found[0, column]).argmin()])


@pytest.mark.parametrize(("centre", "around"), [(0.5, True), (1.5, False), (0.999, True), (1.001, False), (1.0, True)])
def test_a_circle_winds_around_0_or_not(centre: float, around: bool) -> None:
    omega = np.linspace(0.0, math.pi, 5)
    assert winds(omega, np.exp(1j * omega) - centre, lambda at: np.exp(1j * at) - centre) is around


def test_words() -> None:
    one = Margins(2.0, 0.5, 30.0, 1.0)
    both = Margins(3.0, 0.25, 45.0, math.inf, per_input=(one, Margins(4.0, 0.0, math.inf, 2.0)))
    assert str(both).splitlines() == [
        "gain x 0.25 to x 3, phase 45 degrees, any delay",
        "input 0: gain x 0.5 to x 2, phase 30 degrees, delay 1 sample",
        "input 1: gain x 0 to x 4, any phase, delay 2 samples",
    ]
    assert both.least() == Margins(2.0, 0.5, 30.0, 1.0)
