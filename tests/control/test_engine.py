"""The compiled controller against plain NumPy, step by step."""

import math

import numpy as np
import pytest

from driftwise import control
from driftwise._validate import Array
from driftwise.control.engine import (
    HEAD,
    ROUND,
    SPARE,
    Loop,
    Memory,
    Room,
    act,
    foresee,
    normalise,
    pull_back,
    remember,
    slope,
)
from driftwise.control.reduction import make_loop, make_room
from driftwise.engine.kernels import OK, REFUSED
from tests.control.cases import UNIT, controller, costs, policies

SIZES = [(1, 1, 1), (2, 1, 3), (3, 2, 5), (2, 3, 2)]


def parts(dx: int, du: int, H: int, limit: Array | None = None) -> tuple[Loop, Memory, Room]:
    system = control.random_system(dx, du, radius=1.05, seed=dx)
    columns = 2 * H + 1 + SPARE
    memory = Memory(
        np.array([0, columns - 2 * H - 1]), np.zeros((dx, columns)), np.zeros(dx), np.zeros(du), np.zeros(2)
    )
    return make_loop(system, control.lqr(system), limit), memory, make_room(H, du, dx)


def recent(memory: Memory, H: int) -> Array:
    """Return the remembered disturbances, one row a round, newest first."""
    head = memory.marks[HEAD]
    return memory.past[:, head : head + 2 * H + 1].T


def filled(memory: Memory, H: int, rng: np.random.Generator) -> Array:
    rows = rng.standard_normal((2 * H + 1, memory.past.shape[0]))
    memory.past[:, memory.marks[HEAD] : memory.marks[HEAD] + 2 * H + 1] = rows.T
    return rows


@pytest.mark.parametrize(("dx", "du", "H"), [*SIZES, (2, 1, 40)])
def test_disturbances_are_recovered_and_remembered_for_ever(dx: int, du: int, H: int) -> None:
    """Through several shifts of the memory, also with more lags than spare columns."""
    loop, memory, room = parts(dx, du, H)
    rng, rounds = np.random.default_rng(0), 3 * SPARE + 5
    policy, x, u = 0.05 * rng.standard_normal(H * du * dx), rng.standard_normal(dx), np.zeros(du)
    past: list[Array] = []
    for _ in range(rounds):
        assert act(loop, memory, room, policy, x, u) == OK
        known = np.array([*past[::-1], *np.zeros((2 * H + 1, dx))])[: 2 * H + 1]
        np.testing.assert_allclose(recent(memory, H), known, rtol=0.0, atol=1e-12)
        M = policy.reshape(H, du, dx)
        np.testing.assert_allclose(u, -loop.K @ x + np.einsum("kux,kx->u", M, known[:H]), rtol=0.0, atol=1e-12)
        past.append(rng.uniform(-1.0, 1.0, dx))
        applied = u + rng.uniform(-0.1, 0.1, du)  # somebody else meddles
        remember(memory, applied, 0.0)
        x = loop.A @ x + loop.B @ applied + past[-1]
    assert memory.marks[ROUND] == rounds


def test_the_input_is_bounded_and_the_bounded_one_is_remembered() -> None:
    loop, memory, room = parts(3, 2, 2, limit=np.array([0.1, math.inf]))
    x, u = np.array([5.0, -5.0, 5.0]), np.zeros(2)
    assert act(loop, memory, room, np.zeros(12), x, u) == OK
    free = -loop.K @ x
    np.testing.assert_allclose(u, [math.copysign(0.1, free[0]), free[1]], rtol=1e-14)
    np.testing.assert_array_equal(memory.u, u)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, 1.1e100])
def test_a_state_that_is_refused_leaves_the_memory_alone(bad: float) -> None:
    loop, memory, room = parts(2, 1, 3)
    policy, u = np.zeros(6), np.zeros(1)
    for x in ([1.0, 2.0], [0.5, 0.1]):
        act(loop, memory, room, policy, np.array(x), u)
        remember(memory, u, 0.0)
    before = [part.tobytes() for part in memory]
    assert act(loop, memory, room, policy, np.array([0.0, bad]), u) == REFUSED
    assert [part.tobytes() for part in memory] == before


def test_a_disturbance_that_is_too_large_is_refused_with_its_state() -> None:
    loop, memory, room = parts(2, 1, 3)
    memory.marks[ROUND], memory.x[:] = 1, 1e100
    before = [part.tobytes() for part in memory]
    x = -np.sign(loop.A @ memory.x) * 1e100
    assert act(loop, memory, room, np.zeros(6), x, np.zeros(1)) == REFUSED
    assert [part.tobytes() for part in memory] == before


@pytest.mark.parametrize(("dx", "du", "H"), SIZES)
def test_the_foreseen_state_is_the_sum_of_the_paper(dx: int, du: int, H: int) -> None:
    loop, memory, room = parts(dx, du, H)
    rng = np.random.default_rng(1)
    rows, M = filled(memory, H, rng), policies(rng, 1, H, du, dx)[0]
    foresee(loop, memory, room, M.ravel())

    def s(j: int) -> Array:  # of j rounds ago
        return np.asarray(sum(M[k - 1] @ rows[j + k - 1] for k in range(1, H + 1)))

    y = sum(np.linalg.matrix_power(loop.closed, j) @ (rows[j] + loop.B @ s(j + 1)) for j in range(H + 1))
    np.testing.assert_allclose(room.y, y, rtol=0.0, atol=1e-12)
    np.testing.assert_allclose(room.v, -loop.K @ y + s(0), rtol=0.0, atol=1e-12)


@pytest.mark.parametrize(("dx", "du", "H"), SIZES)
def test_the_gradient_is_the_sum_of_the_paper(dx: int, du: int, H: int) -> None:
    loop, memory, room = parts(dx, du, H)
    rng = np.random.default_rng(2)
    rows = filled(memory, H, rng)
    g_x, g_u = rng.standard_normal(dx), rng.standard_normal(du)
    room.slope_x[:], room.slope_u[:] = g_x, g_u
    square = pull_back(loop, memory, room)
    q = [g_u]
    for j in range(H + 1):
        q.append(loop.B.T @ np.linalg.matrix_power(loop.closed.T, j) @ (g_x - loop.K.T @ g_u))
    for k in range(1, H + 1):
        expected = sum(np.outer(q[j], rows[j + k - 1]) for j in range(H + 2))
        found = room.gradient.reshape(H, du, dx)[k - 1]
        np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-12)
    assert square == pytest.approx(float(room.gradient @ room.gradient), rel=1e-13)


def test_gradients_are_divided_by_the_root_mean_square_so_far() -> None:
    _, memory, room = parts(2, 1, 2)
    rng, squares = np.random.default_rng(3), []
    for t in range(5):
        gradient = rng.standard_normal(4) * 10.0 ** rng.integers(-3, 4)
        if t == 2:
            gradient[:] = 0.0  # says nothing of the size of gradients, and is not counted
        square = float(gradient @ gradient)
        room.gradient[:] = gradient
        normalise(memory, room, square)
        squares += [square] if square else []
        np.testing.assert_allclose(room.gradient, gradient / math.sqrt(np.mean(squares)), rtol=1e-13)
        remember(memory, np.zeros(1), square)
    assert memory.norms[0] == 4.0
    assert memory.norms[1] == pytest.approx(sum(squares))
    assert memory.marks[ROUND] == 5


def test_the_slope_is_the_chain_of_the_three() -> None:
    loop, memory, room = parts(3, 2, 2)
    rng, data = np.random.default_rng(4), costs("quadratic", 3, 2).data
    assert data is not None
    filled(memory, 2, rng)
    policy, other = policies(rng, 1, 2, 2, 3)[0].ravel(), make_room(2, 2, 3)
    square = slope(loop, memory, room, policy, data, 0, False)
    foresee(loop, memory, other, policy)
    other.slope_x[:], other.slope_u[:] = costs("quadratic", 3, 2)[0].gradient(other.y, other.v)
    assert pull_back(loop, memory, other) == square
    assert other.gradient.tobytes() == room.gradient.tobytes()
    slope(loop, memory, room, policy, data, 0, True)
    assert np.linalg.norm(room.gradient) == pytest.approx(1.0)


def test_states_of_an_allowed_size_do_not_end_learning() -> None:
    mine = controller("no horizon")
    for t in range(8):
        mine.act([1e76 * (-1.0) ** t, 1e76])
        mine.observe(control.QuadraticCost(1e-60, 1e-60))
    assert np.isfinite(mine._memory.norms).all()


def test_a_glitch_neither_throws_the_policy_away_nor_ends_learning() -> None:
    """A state a thousand times as large as all others stays in the history for 21 rounds; each counts for three."""
    calm, hit = (control.GradientController(control.double_integrator(), horizon=2000) for _ in range(2))
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((200, 2))
    for t, x in enumerate(rows):
        for mine in (calm, hit):
            mine.act(1e3 * x if mine is hit and t == 100 else x)
            mine.observe(UNIT)
    scales = [math.sqrt(mine._memory.norms[1] / mine._memory.norms[0]) for mine in (calm, hit)]
    assert scales[1] < 5.0 * scales[0]
    assert np.linalg.norm(hit.policy.M) < 3.0 * np.linalg.norm(calm.policy.M)
