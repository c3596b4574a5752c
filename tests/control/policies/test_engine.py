"""The compiled controller against plain NumPy, step by step."""

import math
import pickle

import numpy as np
import pytest

import driftwise as dw
from driftwise import control
from driftwise._compile import brief
from driftwise._memory import part
from driftwise._validate import Array
from driftwise.control.controllers.loop import PolicyLoop
from driftwise.control.costs.kernels import cost_vector
from driftwise.control.policies.engine import (
    act,
    add_scaled,
    admits_state,
    data_slope,
    look_ahead,
    look_back,
    normalise,
    remember,
)
from driftwise.control.policies.layout import COUNT, FARTHEST, HEAD, MEASURED, ROUND, SPARE, SQUARES, views
from driftwise.control.policies.reduction import loop_cell
from driftwise.engine.rounds import OK, REFUSED
from driftwise.errors import InputError
from tests.control.cases import REFUSING, UNIT, WIDE, controller, costs, policies

SIZES = [(1, 1, 1), (2, 1, 3), (3, 2, 5), (2, 3, 2)]


@brief
def normalised(cell: Array, square: float) -> float:
    return normalise(part(cell, 0), square)


@brief
def remembered(cell: Array, square: float) -> None:
    remember(part(cell, 0), square)


@brief
def added(out: Array, factor: float, row: Array) -> None:
    add_scaled(part(out, 0), factor, part(row, 0), out.size)


class Counting(dw.OGD):
    """Counts how often it is asked for a decision."""

    asked = 0

    def _decide(self) -> Array:
        self.asked += 1
        return super()._decide()


def make(dx: int, du: int, H: int, limit: Array | None = None) -> tuple[Array, dict[str, Array]]:
    """Return a new cell and its parts."""
    system = control.random_system(dx, du, radius=1.05, seed=dx)
    cell = loop_cell(system, control.lqr(system), H, 2 * H + 1 + SPARE, limit)
    return cell, views(cell)


def decided(cell: Array, policy: Array, x: Array, known: int = 1) -> int:
    """Act with a policy that no learner has made; the state is known, or came late (2), or is not known (0)."""
    return act(0, cell, np.concatenate([[1.0], policy]), 0, x, known)


def filled(cell: Array, H: int, rng: np.random.Generator) -> Array:
    past, head = views(cell)["past"], int(cell[HEAD])
    rows = rng.standard_normal((2 * H + 1, past.shape[0]))
    past[:, head : head + 2 * H + 1] = rows.T
    return rows


@pytest.mark.parametrize(("dx", "du", "H"), [*SIZES, (2, 1, 40)])
def test_disturbances_are_recovered_and_remembered_for_ever(dx: int, du: int, H: int) -> None:
    """Through several shifts of the memory, also with more lags than spare columns."""
    cell, parts = make(dx, du, H)
    rng, rounds = np.random.default_rng(0), 3 * SPARE + 5
    policy, x = 0.05 * rng.standard_normal(H * du * dx), rng.standard_normal(dx)
    past: list[Array] = []
    for _ in range(rounds):
        assert decided(cell, policy, x) == OK
        known = np.array([*past[::-1], *np.zeros((2 * H + 1, dx))])[: 2 * H + 1]
        head = int(cell[HEAD])
        np.testing.assert_allclose(parts["past"][:, head : head + 2 * H + 1].T, known, rtol=0.0, atol=1e-12)
        expected = -parts["K"] @ x + np.einsum("kux,kx->u", policy.reshape(H, du, dx), known[:H])
        np.testing.assert_allclose(parts["u"], expected, rtol=0.0, atol=1e-12)
        past.append(rng.uniform(-1.0, 1.0, dx))
        parts["u"][:] += rng.uniform(-0.1, 0.1, du)  # somebody else meddles
        remembered(cell, 0.0)
        x = parts["A"] @ x + parts["B"] @ parts["u"] + past[-1]
    assert cell[ROUND] == rounds
    assert cell[FARTHEST] == pytest.approx(max(np.linalg.norm(row) for row in past[:-1]))


def test_the_input_is_bounded_and_the_bounded_one_is_remembered() -> None:
    cell, parts = make(3, 2, 2, limit=np.array([[-0.1, -math.inf], [0.1, math.inf]]))
    x = np.array([5.0, -5.0, 5.0])
    assert decided(cell, np.zeros(12), x) == OK
    free = -parts["K"] @ x
    np.testing.assert_allclose(parts["u"], [math.copysign(0.1, free[0]), free[1]], rtol=1e-14)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, 1.1e100])
def test_a_state_that_is_refused_leaves_the_cell_alone(bad: float) -> None:
    cell, _ = make(2, 1, 3)
    for x in ([1.0, 2.0], [0.5, 0.1]):
        assert decided(cell, np.zeros(6), np.array(x)) == OK
        remembered(cell, 0.0)
    before = cell.tobytes()
    assert not admits_state(cell, np.array([0.0, bad]))
    assert decided(cell, np.zeros(6), np.array([0.0, bad])) == REFUSED
    assert cell.tobytes() == before


def test_a_disturbance_that_is_too_large_is_refused_with_its_state() -> None:
    cell, parts = make(2, 1, 3)
    cell[ROUND], parts["x"][:] = 1.0, 1e100
    before = cell.tobytes()
    x = -np.sign(parts["A"] @ parts["x"]) * 1e100
    assert decided(cell, np.zeros(6), x) == REFUSED
    assert cell.tobytes() == before
    assert admits_state(cell, parts["A"] @ parts["x"] / 2.0)


@pytest.mark.parametrize("name", ["own", *REFUSING])
def test_a_refused_state_leaves_every_byte_of_a_controller_as_it_was(name: str) -> None:
    if name == "own":  # a learner that is asked for its decision in Python
        domain = dw.SpectralBalls((3, 2, 3), 0.8)
        mine: PolicyLoop = control.DisturbanceActionController(WIDE, Counting(domain, step=0.02))
    else:
        mine = controller(name, WIDE)
    for x in (np.ones(3), np.array([0.5, -1.0, 0.3]), None):
        before = pickle.dumps(mine)
        for bad in ([math.nan, 0.0, 0.0], [0.0, 1e101, 0.0], np.array([0.0, math.inf, 0.0])):
            with pytest.raises(InputError):
                mine.act(bad)
            assert pickle.dumps(mine) == before
        if x is not None:
            mine.act(x)
            mine.observe(UNIT)


@pytest.mark.parametrize(("dx", "du", "H"), SIZES)
def test_the_foreseen_state_is_the_sum_of_the_paper(dx: int, du: int, H: int) -> None:
    cell, parts = make(dx, du, H)
    rng = np.random.default_rng(1)
    rows, M = filled(cell, H, rng), policies(rng, 1, H, du, dx)[0]
    look_ahead(cell, M.ravel())

    def s(j: int) -> Array:  # of j rounds ago
        return np.asarray(sum(M[k - 1] @ rows[j + k - 1] for k in range(1, H + 1)))

    powers = [np.linalg.matrix_power(parts["closed"], j) for j in range(H + 1)]
    y = sum(powers[j] @ (rows[j] + parts["B"] @ s(j + 1)) for j in range(H + 1))
    np.testing.assert_allclose(parts["y"], y, rtol=0.0, atol=1e-12)
    np.testing.assert_allclose(parts["v"], -parts["K"] @ y + s(0), rtol=0.0, atol=1e-12)


@pytest.mark.parametrize(("dx", "du", "H"), SIZES)
def test_the_gradient_is_the_sum_of_the_paper(dx: int, du: int, H: int) -> None:
    cell, parts = make(dx, du, H)
    rng = np.random.default_rng(2)
    rows = filled(cell, H, rng)
    g_x, g_u = rng.standard_normal(dx), rng.standard_normal(du)
    parts["slope_x"][:], parts["slope_u"][:] = g_x, g_u
    square = look_back(cell)
    q = [g_u]
    for j in range(H + 1):
        q.append(parts["B"].T @ np.linalg.matrix_power(parts["closed"].T, j) @ (g_x - parts["K"].T @ g_u))
    for k in range(1, H + 1):
        expected = sum(np.outer(q[j], rows[j + k - 1]) for j in range(H + 2))
        np.testing.assert_allclose(parts["gradient"][k - 1], expected, rtol=0.0, atol=1e-12)
    assert square == pytest.approx(float(np.sum(parts["gradient"] ** 2)), rel=1e-13)


def test_gradients_are_divided_by_the_root_mean_square_so_far() -> None:
    cell, parts = make(2, 1, 2)
    rng, squares = np.random.default_rng(3), []
    for t in range(5):
        gradient = rng.standard_normal(4) * 10.0 ** rng.integers(-3, 4)
        if t == 2:
            gradient[:] = 0.0  # says nothing of the size of gradients, and is not counted
        square = float(gradient @ gradient)
        parts["gradient"].ravel()[:] = gradient
        normalised(cell, square)
        squares += [square] if square else []
        np.testing.assert_allclose(parts["gradient"].ravel(), gradient / math.sqrt(np.mean(squares)), rtol=1e-13)
        remembered(cell, square)
    assert cell[COUNT] == 4.0
    assert cell[SQUARES] == pytest.approx(sum(squares))
    assert cell[ROUND] == 5.0


@pytest.mark.parametrize("size", [5e-324, 1e-162, 1e-155, 1e99])
def test_gradients_of_any_size_are_normalised_to_numbers(size: float) -> None:
    cell, parts = make(2, 1, 2)
    for _ in range(15):
        parts["gradient"].ravel()[:] = size, 0.0, -size, size
        square = float(np.sum(parts["gradient"] ** 2))
        remembered(cell, normalised(cell, square))
        assert np.abs(parts["gradient"]).max() <= 2.0
    if size > 1e-160:
        assert np.linalg.norm(parts["gradient"]) == pytest.approx(1.0)


def test_the_slope_is_the_chain_of_the_three() -> None:
    cell, parts = make(3, 2, 2)
    rng, data = np.random.default_rng(4), costs("quadratic", 3, 2).data
    assert data is not None
    filled(cell, 2, rng)
    policy, other = policies(rng, 1, 2, 2, 3)[0].ravel(), cell.copy()
    square = data_slope(cell, policy, cost_vector(data))
    look_ahead(other, policy)
    theirs = views(other)
    theirs["slope_x"][:], theirs["slope_u"][:] = costs("quadratic", 3, 2)[0].gradient(theirs["y"], theirs["v"])
    assert look_back(other) == square
    assert theirs["gradient"].tobytes() == parts["gradient"].tobytes()
    cell[MEASURED] = 1.0
    data_slope(cell, policy, cost_vector(data))
    assert np.linalg.norm(parts["gradient"]) == pytest.approx(1.0)


@pytest.mark.parametrize("size", range(1, 14))
def test_a_multiple_of_a_row_is_added_entry_by_entry(size: int) -> None:
    rng = np.random.default_rng(size)
    out, row = rng.standard_normal(size), rng.standard_normal(size)
    expected = out + 0.7 * row
    added(out, 0.7, row)
    assert out.tobytes() == expected.tobytes()


def test_states_of_an_allowed_size_do_not_end_learning() -> None:
    mine = controller("no horizon")
    for t in range(8):
        mine.act([1e76 * (-1.0) ** t, 1e76])
        mine.observe(control.QuadraticCost(1e-60, 1e-60))
    assert np.isfinite(mine._cell[[COUNT, SQUARES, FARTHEST]]).all()


def test_a_glitch_neither_throws_the_policy_away_nor_ends_learning() -> None:
    """A state a thousand times as large as all others stays in the history for 21 rounds; each counts for three."""
    calm, hit = (control.GradientController(control.double_integrator(), horizon=2000) for _ in range(2))
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((200, 2))
    for t, x in enumerate(rows):
        for mine in (calm, hit):
            mine.act(1e3 * x if mine is hit and t == 100 else x)
            mine.observe(UNIT)
    scales = [math.sqrt(mine._cell[SQUARES] / mine._cell[COUNT]) for mine in (calm, hit)]
    assert scales[1] < 5.0 * scales[0]
    assert np.linalg.norm(hit.policy.M) < 3.0 * np.linalg.norm(calm.policy.M)
