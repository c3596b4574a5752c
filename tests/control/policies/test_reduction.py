import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import driftwise as dw
from driftwise import control
from driftwise._validate import Array
from driftwise.control.policies.disturbance_action import transfer_matrices
from driftwise.control.policies.reduction import TruncatedLosses
from driftwise.control.stability import certify
from driftwise.errors import ArgumentError, InputError, ParameterError
from driftwise.testing import check_loss
from tests.cases import check_refused
from tests.control.cases import PLANT, UNIT, costs, policies, roll, squares

SIZES = [(1, 1, 1), (2, 1, 3), (3, 2, 4), (2, 3, 2)]
T = 20

KINDS: dict[str, Callable[[int, int], Any]] = {
    "quadratic": lambda dx, du: costs("quadratic", dx, du, T),
    "Huber": lambda dx, du: control.HuberCost(np.arange(1.0, dx + 1.0), np.ones(du), width=0.7),
    "stages": lambda dx, du: costs("stages", dx, du, T),
    "scaled": lambda dx, du: costs("scaled", dx, du, T),
    "custom": lambda dx, du: control.CustomCost(
        lambda x, u: float(np.cosh(0.5 * x).sum() + 0.5 * (u @ u) ** 2),
        lambda x, u: (0.5 * np.sinh(0.5 * x), 2.0 * (u @ u) * u),
    ),
}


def stream(dx: int, du: int, H: int, kind: str = "quadratic") -> tuple[TruncatedLosses, np.random.Generator]:
    rng = np.random.default_rng(dx + 10 * du + 100 * H)
    system = control.random_system(dx, du, radius=1.05, seed=dx)
    return TruncatedLosses(system, KINDS[kind](dx, du), rng.uniform(-1, 1, (T, dx)), memory=H), rng


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("dx", "du", "H"), SIZES)
def test_the_unary_gradient_is_that_of_central_differences(dx: int, du: int, H: int, kind: str) -> None:
    losses, rng = stream(dx, du, H, kind)
    step = 1e-5
    for t in (0, 1, H + 1, T - 1):
        M = policies(rng, 1, H, du, dx)[0].ravel()
        gradient = losses.gradient(t, M)
        differences = np.zeros(losses.dim)
        for k, direction in enumerate(np.eye(losses.dim)):
            ahead, behind = losses.unary_value(t, M + step * direction), losses.unary_value(t, M - step * direction)
            differences[k] = (ahead - behind) / (2.0 * step)
        error = np.linalg.norm(gradient - differences)
        assert error <= 1e-6 * np.linalg.norm(gradient), f"off by {error / np.linalg.norm(gradient):g} in round {t}"
        assert np.linalg.norm(gradient) > 0.0 or t == 0  # nothing has disturbed the plant before round 1


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("dx", "du", "H"), SIZES)
def test_a_policy_that_is_held_has_its_unary_loss(dx: int, du: int, H: int, kind: str) -> None:
    losses, rng = stream(dx, du, H, kind)
    for t in range(T):
        M = policies(rng, 1, H, du, dx)[0]
        held = np.tile(M.ravel(), (H + 2, 1))
        assert losses.value(t, held) == pytest.approx(losses.unary_value(t, M.ravel()), rel=1e-12, abs=1e-12)
        y, v = losses.states(t, np.tile(M, (H + 2, 1, 1, 1)))
        parts = losses._foreseen(t, M.ravel())
        np.testing.assert_allclose(parts["y"], y, rtol=0.0, atol=1e-12)
        np.testing.assert_allclose(parts["v"], v, rtol=0.0, atol=1e-12)


@pytest.mark.parametrize(("dx", "du", "H"), SIZES)
def test_truncated_states_are_the_papers_sums_of_transfer_matrices(dx: int, du: int, H: int) -> None:
    losses, rng = stream(dx, du, H)
    rows, window = losses.disturbances, policies(rng, T, H, du, dx)
    for t in range(H + 1, T):
        matrices = transfer_matrices(losses.system, losses.K, window[t - H - 1 : t])
        y = sum((matrices[i] @ rows[t - 1 - i] for i in range(2 * H + 1) if t - 1 - i >= 0), np.zeros(dx))
        v = -losses.K @ y + sum((window[t][i - 1] @ rows[t - i] for i in range(1, min(H, t) + 1)), np.zeros(du))
        found = losses.states(t, window[t - H - 1 : t + 1])
        np.testing.assert_allclose(found[0], y, rtol=0.0, atol=1e-12)
        np.testing.assert_allclose(found[1], v, rtol=0.0, atol=1e-12)
        cost = losses.costs[t].value(*found)
        assert losses.value(t, window[t - H - 1 : t + 1].reshape(H + 2, -1)) == pytest.approx(cost, rel=1e-12)


def truncated(losses: TruncatedLosses, window: Array) -> tuple[Array, Array, Array]:
    """Return y_t, v_t and f_t of all rounds, the first policy standing for those before it."""
    H = losses.shape[0]
    padded = np.concatenate([np.tile(window[:1], (H + 1, 1, 1, 1)), window])
    found = [losses.states(t, padded[t : t + H + 2]) for t in range(len(window))]
    values = [losses.costs[t].value(*pair) for t, pair in enumerate(found)]
    return np.array([pair[0] for pair in found]), np.array([pair[1] for pair in found]), np.array(values)


@pytest.mark.parametrize("seed", range(4))
def test_truncation_costs_less_than_the_papers_bound(seed: int) -> None:
    """Theorem on the approximation error and the lemma on boundedness, Appendix C."""
    rng, rounds, W = np.random.default_rng(seed), 80, 1.0
    system = PLANT if seed == 0 else control.random_system(3, 2, radius=1.02, seed=seed)
    dx, du, K = system.state_dim, system.input_dim, control.lqr(system)
    found = certify(system, K)
    kappa, gamma, kappa_B = found.kappa, found.gamma, max(1.0, float(np.linalg.norm(system.B, 2)))
    rows = control.UniformDisturbance(W).sample(rounds, dx, seed=seed)
    for H in (6, 12, 18):
        ratio = kappa**2 * (1.0 - gamma) ** (H + 1)
        if ratio >= 1.0:  # the paper's D is negative then
            continue
        tau = 0.5
        window = policies(rng, rounds, H, du, dx, size=tau) * ((1.0 - gamma) ** np.arange(1, H + 1))[:, None, None]
        D = W * kappa**3 * (1.0 + H * kappa_B * tau) / (gamma * (1.0 - ratio)) + W * tau / gamma
        losses = TruncatedLosses(system, UNIT, rows, memory=H)
        states, inputs = roll(system, K, window, rows, np.zeros(dx))
        y, v, f = truncated(losses, window)
        paid = np.array([UNIT.value(*pair) for pair in zip(states[:-1], inputs, strict=True)])
        assert np.linalg.norm(states, axis=1).max() <= D
        assert np.linalg.norm(inputs, axis=1).max() <= D
        off_x, off_u = np.linalg.norm(states[:-1] - y, axis=1).max(), np.linalg.norm(inputs - v, axis=1).max()
        assert 0.0 < off_x <= ratio * D
        assert off_u <= kappa * ratio * D
        assert abs(paid.sum() - f.sum()) <= 2.0 * rounds * 2.0 * D**2 * kappa * ratio
    assert H == 18
    assert ratio < 1.0  # the loop was not left out altogether


def test_truncation_errors_fall_geometrically_with_memory() -> None:
    rng, rounds, K = np.random.default_rng(5), 80, control.lqr(PLANT)
    rate = control.spectral_radius(PLANT.A - PLANT.B @ K)
    rows, short = rng.uniform(-1, 1, (rounds, 2)), policies(rng, rounds, 2, 1, 2)
    states, inputs = roll(PLANT, K, short, rows, np.zeros(2))
    paid = [UNIT.value(*pair) for pair in zip(states[:-1], inputs, strict=True)]
    errors = {}
    for H in (4, 8, 12, 16, 20, 40):
        window = np.zeros((rounds, H, 1, 2))
        window[:, :2] = short
        y, _, f = truncated(TruncatedLosses(PLANT, UNIT, rows, memory=H), window)
        errors[H] = np.abs(states[:-1] - y).max(), abs(float(np.sum(paid)) - f.sum())
    for part in (0, 1):
        start = errors[4][part]
        assert start > 1e-3
        for H, found in errors.items():
            assert found[part] <= 4.0 * rate ** (H - 4) * start + 1e-11, errors


def test_a_controller_decides_the_policies_that_its_learner_plays_on_the_truncated_losses() -> None:
    rng, rounds, H = np.random.default_rng(6), 60, 4
    for system in (PLANT, control.random_system(3, 2, seed=1)):
        dx, du = system.state_dim, system.input_dim
        rows = 0.3 * np.sin(np.arange(rounds)[:, None] / 3.0 + rng.uniform(0, 6, dx))
        sequence = costs("scaled", dx, du, rounds)
        learner = dw.Scream(dw.SpectralBalls((H, du, dx), 0.7), switching_cost=20.0, gradient_bound=5.0, horizon=rounds)
        trace = control.simulate(
            system,
            control.DisturbanceActionController(system, learner.clone()),
            sequence,
            rows,
            record_policies=True,
            record_weights=True,
        )
        played = dw.play(learner, TruncatedLosses(system, sequence, rows, memory=H), record_weights=True)
        assert trace.policies is not None
        assert trace.weights is not None
        assert played.weights is not None
        np.testing.assert_allclose(trace.policies.reshape(rounds, -1), played.decisions, rtol=0.0, atol=1e-12)
        np.testing.assert_allclose(trace.weights, played.weights, rtol=0.0, atol=1e-12)
        assert np.abs(played.decisions).max() > 0.05


@pytest.mark.parametrize("kind", ["quadratic", "Huber", "scaled"])
def test_the_losses_keep_the_promises_of_a_loss_stream(kind: str) -> None:
    losses, _ = stream(2, 1, 3, kind)
    check_loss(losses, dw.SpectralBalls((3, 1, 2), [0.9, 0.5, 0.2]))


@pytest.mark.parametrize("kind", ["quadratic", "Huber", "stages"])
@pytest.mark.parametrize(("dx", "du", "H"), SIZES)
def test_gradients_and_changes_stay_within_their_bounds(dx: int, du: int, H: int, kind: str) -> None:
    losses, rng = stream(dx, du, H, kind)
    domain = dw.SpectralBalls((H, du, dx), 0.8)
    constants, most = losses.lipschitz(domain), losses.gradient_bound(domain)
    assert constants.shape == (H + 2,)
    assert most == pytest.approx(constants.sum())
    for t in range(T):
        window = policies(rng, H + 2, H, du, dx, size=0.8)
        assert np.linalg.norm(losses.gradient(t, window[0].ravel())) <= most
        for k in range(H + 2):
            other = window.copy()
            other[H + 1 - k] = policies(rng, 1, H, du, dx, size=0.8)[0]
            moved = np.linalg.norm(other - window)
            values = [losses.value(t, group.reshape(H + 2, -1)) for group in (window, other)]
            assert abs(values[1] - values[0]) <= constants[k] * moved + 1e-12


def test_a_gain_and_a_memory_of_ones_own() -> None:
    rows = np.ones((6, 2))
    losses = TruncatedLosses(PLANT, [UNIT] * 6, rows, memory=2, K=[[0.3, 1.0]])
    rows[:] = math.nan
    assert (len(losses), losses.dim, losses.memory, losses.shape) == (6, 4, 3, (2, 1, 2))
    np.testing.assert_array_equal(losses.K, [[0.3, 1.0]])
    assert np.isfinite(losses.unary_value(5, np.zeros(4)))
    np.testing.assert_allclose(TruncatedLosses(PLANT, UNIT, np.ones((6, 2))).K, control.lqr(PLANT))


@pytest.mark.parametrize(
    ("changes", "words", "kind"),
    [
        ({"disturbances": np.ones((4, 3))}, ("disturbances", "(rounds, 2)"), InputError),
        ({"costs": [UNIT] * 3}, ("costs", "4"), InputError),
        ({"costs": control.QuadraticCost([1.0] * 3, 1.0)}, ("state_dim",), InputError),
        ({"memory": 0}, ("memory",), ParameterError),
        ({"K": [[1.0]]}, ("K", "(1, 2)"), InputError),
        ({"H": 3}, ("H", "TruncatedLosses(system"), ArgumentError),
        ({"system": 3}, ("system", "LinearSystem"), ParameterError),
    ],
)
def test_bad_arguments_are_refused(changes: dict[str, Any], words: tuple[str, ...], kind: type[Exception]) -> None:
    given: dict[str, Any] = {"system": PLANT, "costs": UNIT, "disturbances": np.ones((4, 2)), **changes}
    check_refused(lambda: TruncatedLosses(**given), *words, kind=kind)


def test_questions_that_make_no_sense_are_refused() -> None:
    losses, _ = stream(2, 1, 3)
    for domain in (dw.Ball(6), dw.SpectralBalls((3, 2, 1), 1.0)):
        check_refused(lambda domain=domain: losses.lipschitz(domain), "SpectralBalls", "(3, 1, 2)", kind=InputError)  # type: ignore[misc]
    check_refused(lambda: losses.states(0, np.ones((4, 3, 1, 2))), "window", "(5, 3, 1, 2)", kind=InputError)
    check_refused(lambda: losses.states(T, np.ones((5, 3, 1, 2))), "round", kind=InputError)
    unknown = TruncatedLosses(PLANT, squares(), np.ones((4, 2)), memory=3)
    check_refused(lambda: unknown.gradient_bound(dw.SpectralBalls((3, 1, 2), 1.0)), "built-in", kind=InputError)
