import numpy as np
import pytest

import driftwise as dw
from driftwise import control
from driftwise.control.policies.disturbance_action import DisturbanceAction, transfer_matrices, unrolled_state
from driftwise.control.policies.scales import theory_radii
from driftwise.control.stability import StrongStability, certify
from driftwise.errors import ArgumentError, InputError, ParameterError
from tests.cases import check_refused
from tests.control.cases import PLANT, UNIT, policies, roll

SIZES = [(1, 1, 1), (2, 1, 3), (3, 2, 4), (4, 3, 2)]
TARGET = np.array([[0.3, 1.0]])
"""A gain that stabilises the double integrator, other than that of LQR."""


@pytest.mark.parametrize(("dx", "du", "H"), SIZES)
@pytest.mark.parametrize("radius", [0.7, 1.1])
def test_the_unrolled_state_is_the_simulated_one(dx: int, du: int, H: int, radius: float) -> None:
    for seed in range(4):
        rng = np.random.default_rng(seed)
        system = control.random_system(dx, du, radius=radius, seed=seed)
        K, t = control.lqr(system), int(rng.integers(1, 25))
        window, rows, start = policies(rng, t, H, du, dx), rng.uniform(-1, 1, (t, dx)), rng.standard_normal(dx)
        states, _ = roll(system, K, window, rows, start)
        found = unrolled_state(system, K, window, rows, start)
        np.testing.assert_allclose(found, states[-1], rtol=0.0, atol=1e-10)
        from_origin, _ = roll(system, K, window, rows, np.zeros(dx))
        np.testing.assert_allclose(unrolled_state(system, K, window, rows), from_origin[-1], rtol=0.0, atol=1e-10)
        assert np.abs(found - unrolled_state(system, K, window[::-1].copy(), rows, start)).max() > 1e-6 or t == 1


@pytest.mark.parametrize(("dx", "du", "H"), SIZES)
def test_transfer_matrices_follow_their_definition(dx: int, du: int, H: int) -> None:
    rng, h = np.random.default_rng(1), 3
    system = control.random_system(dx, du, seed=2)
    K = control.lqr(system)
    A_K, window = system.A - system.B @ K, policies(rng, h + 1, H, du, dx)
    found = transfer_matrices(system, K, window)
    assert found.shape == (H + h + 1, dx, dx)
    for i in range(H + h + 1):
        expected = np.linalg.matrix_power(A_K, i) * (i <= h)
        for j in range(h + 1):
            if 1 <= i - j <= H:
                expected = expected + np.linalg.matrix_power(A_K, j) @ system.B @ window[h - j][i - j - 1]
        np.testing.assert_allclose(found[i], expected, rtol=0.0, atol=1e-13)


def test_a_state_follows_from_an_earlier_one_and_the_policies_since() -> None:
    """The strengthened proposition of Appendix C, for every h."""
    rng, T, H = np.random.default_rng(3), 12, 3
    K = control.lqr(PLANT)
    A_K, window, rows = PLANT.A - PLANT.B @ K, policies(rng, T, H, 1, 2), rng.uniform(-1, 1, (T, 2))
    states, _ = roll(PLANT, K, window, rows, rng.standard_normal(2))
    t = T - 1
    for h in range(t + 1):
        matrices = transfer_matrices(PLANT, K, window[t - h :])
        x = np.linalg.matrix_power(A_K, h + 1) @ states[t - h]
        for i in range(min(len(matrices), t + 1)):
            x = x + matrices[i] @ rows[t - i]
        np.testing.assert_allclose(x, states[t + 1], rtol=0.0, atol=1e-10)


def test_a_policy_answers_to_the_newest_disturbances() -> None:
    rng = np.random.default_rng(4)
    K, M = rng.standard_normal((2, 3)), rng.standard_normal((3, 2, 3))
    policy, x, rows = DisturbanceAction(K, M), rng.standard_normal(3), rng.standard_normal((5, 3))
    expected = -K @ x + M[0] @ rows[4] + M[1] @ rows[3] + M[2] @ rows[2]
    np.testing.assert_allclose(policy.act(x, rows), expected, rtol=1e-13)
    np.testing.assert_allclose(policy.act(x, rows[:1]), -K @ x + M[0] @ rows[0], rtol=1e-13)
    np.testing.assert_allclose(policy.act(x, []), -K @ x, rtol=1e-13)
    assert policy.memory == 3
    assert repr(policy) == "DisturbanceAction(memory=3, state_dim=3, input_dim=2)"


def test_a_policy_does_not_follow_the_arrays_it_was_made_of() -> None:
    K, M = np.ones((1, 2)), np.ones((2, 1, 2))
    policy = DisturbanceAction(K, M)
    K[:], M[:] = 9.0, 9.0
    assert policy.K.max() == policy.M.max() == 1.0
    assert not policy.K.flags.writeable
    assert not policy.M.flags.writeable


def gap_of_costs(H: int, shift: int = 0) -> float:
    """Return by how much the total cost of the matching policy differs from that of its target."""
    K = control.lqr(PLANT)
    rows = control.UniformDisturbance(1.0).sample(150, 2, seed=1)
    policy = DisturbanceAction.matching(PLANT, K, TARGET, H + shift)
    policy = DisturbanceAction(K, policy.M[shift:])
    imitated = control.simulate(PLANT, control.PolicyController(PLANT, policy), UNIT, rows).total
    return abs(imitated - control.simulate(PLANT, control.LinearController(PLANT, TARGET), UNIT, rows).total)


def test_a_linear_controller_is_matched_ever_better_as_memory_grows() -> None:
    rate = control.spectral_radius(PLANT.A - PLANT.B @ TARGET)
    gaps = {H: gap_of_costs(H) for H in (5, 10, 15, 20, 25, 30, 40)}
    assert gaps[5] > 1e-2
    assert gaps[40] < 1e-8
    for H, gap in gaps.items():  # the eigenvalues are complex, so that the gap swings on its way down
        assert gap <= 2.0 * rate ** (H - 5) * gaps[5], gaps


def test_the_papers_exponent_would_not_match() -> None:
    """M[i] = (K - K*) (A - B K*)^i, one power too many, as the paper has it."""
    assert gap_of_costs(40, shift=1) > 1.0
    assert gap_of_costs(80, shift=1) > 1.0


@pytest.mark.parametrize("seed", range(6))
def test_the_matching_policy_lies_within_the_radii_of_theory(seed: int) -> None:
    system = control.random_system(3, 2, radius=1.05, seed=seed)
    K, target = control.lqr(system), control.lqr(system, Q=4.0, R=0.3)
    both = [certify(system, gain) for gain in (K, target)]
    shared = StrongStability(
        max(found.kappa for found in both), min(found.gamma for found in both), "both", 1.0, np.eye(3)
    )
    policy = DisturbanceAction.matching(system, K, target, 15)
    norms = np.linalg.norm(policy.M, 2, axis=(1, 2))
    assert (norms <= theory_radii(shared, 15)).all()
    assert dw.SpectralBalls((15, 2, 3), theory_radii(shared, 15)).contains(policy.M)


def test_the_papers_radii_need_not_hold_the_matching_policy() -> None:
    system = control.LinearSystem(0.99, 0.1)
    kappa, gamma = 1.0, 0.01  # of both gains: |K*| = 1, and 0.99 and 0.89 are at most 1 - gamma
    policy = DisturbanceAction.matching(system, [[0.0]], [[1.0]], 3)
    paper = 0.1 * kappa**3 * (1.0 - gamma) ** np.arange(1, 4)
    assert (np.abs(policy.M.ravel()) > paper).all()
    shared = StrongStability(kappa, gamma, "by hand", 1.0, np.eye(1))
    assert (np.abs(policy.M.ravel()) <= theory_radii(shared, 3)).all()


@pytest.mark.parametrize(
    ("call", "words", "kind"),
    [
        (lambda: DisturbanceAction([[1.0, 0.0]], np.ones((2, 2, 1))), ("M", "(H, 1, 2)"), InputError),
        (lambda: DisturbanceAction([[np.nan]], [[[1.0]]]), ("K", "nan"), InputError),
        (lambda: DisturbanceAction([[1.0]], np.ones((0, 1, 1))), ("M", "(H, 1, 1)"), InputError),
        (lambda: DisturbanceAction([[1.0]], [[[1.0]]]).act([1.0, 2.0], []), ("x", "(1,)"), InputError),
        (lambda: DisturbanceAction([[1.0]], [[[1.0]]]).act([1.0], [[1.0, 2.0]]), ("disturbances",), InputError),
        (lambda: DisturbanceAction([[1.0]]), ("missing", "DisturbanceAction(K, M)"), ArgumentError),  # type: ignore[call-arg]
        (lambda: DisturbanceAction.matching(PLANT, [[1.0]], TARGET, 3), ("K", "(1, 2)"), InputError),
        (lambda: DisturbanceAction.matching(PLANT, TARGET, TARGET, 0), ("memory", "at least 1"), ParameterError),
        (lambda: DisturbanceAction.matching("plant", TARGET, TARGET, 1), ("system",), ParameterError),  # type: ignore[arg-type]
        (lambda: transfer_matrices(PLANT, TARGET, np.ones((2, 3, 2, 2))), ("policies", "1, 2"), InputError),
        (lambda: transfer_matrices(PLANT, TARGET, np.ones((1, 3, 1, 2)), h=2), ("unexpected",), ArgumentError),  # type: ignore[call-arg]
        (
            lambda: unrolled_state(PLANT, TARGET, np.ones((2, 3, 1, 2)), np.ones((3, 2))),
            ("as many disturbances as policies", "3 and 2"),
            InputError,
        ),
        (lambda: unrolled_state(PLANT, TARGET, np.ones((1, 3, 1, 2)), [[0.0, 0.0]], [1.0]), ("start",), InputError),
    ],
)
def test_bad_input_is_refused(call: object, words: tuple[str, ...], kind: type[Exception]) -> None:
    assert callable(call)
    check_refused(call, *words, kind=kind)


def test_policies_of_any_shape_of_input_are_read() -> None:
    M = np.arange(4.0, dtype=np.float32).reshape(2, 1, 2)[::-1]
    policy = DisturbanceAction([[0, 1]], M)
    assert policy.M.dtype == policy.K.dtype == np.float64
    np.testing.assert_array_equal(policy.M, [[[2.0, 3.0]], [[0.0, 1.0]]])
