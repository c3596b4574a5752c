"""Second derivatives, segment by segment, against the whole problem written out."""

import numpy as np
import pytest

from driftwise import control
from driftwise._validate import Array
from driftwise.control.hindsight import curvature
from driftwise.control.hindsight.curvature import Curvature, diagonal_roots, inverse, roots
from driftwise.control.hindsight.rollout import Problem
from tests.control.cases import ROUNDS, squares
from tests.control.hindsight.problems import QUADRATICS, SYSTEMS, of_policies, problem

H = 2
STARTS = [[0], [0, 1, 17], [0, 10, 20, ROUNDS - 1]]


def written_out(given: Problem, starts: list[int]) -> Array:
    """Return half the second derivatives of the total, all segments together."""
    _, dx, du = given.size
    F, _ = of_policies(given, control.lqr(given.system), H, starts)
    total = np.zeros((F.shape[-1], F.shape[-1]))
    for cost, rows in zip(given.costs, F, strict=True):
        assert isinstance(cost, control.QuadraticCost)
        Q, R = cost.Q, cost.R
        Q, R = (W if len(W) == side else W * np.eye(side) for W, side in ((Q, dx), (R, du)))
        total += rows[:dx].T @ Q @ rows[:dx] + rows[dx:].T @ R @ rows[dx:]
    return total


def of(given: Problem, starts: list[int]) -> Curvature:
    return Curvature(given, roots(given), control.lqr(given.system), H, np.array(starts))


@pytest.mark.parametrize("starts", STARTS)
@pytest.mark.parametrize("kind", QUADRATICS)
@pytest.mark.parametrize("name", SYSTEMS)
def test_products_are_those_of_the_matrix_written_out(name: str, kind: str, starts: list[int]) -> None:
    given = problem(name, kind)
    matrix = written_out(given, starts)
    change = np.random.default_rng(0).standard_normal((len(starts), matrix.shape[0] // len(starts)))
    found = of(given, starts).times(change)
    scale = np.abs(matrix).max()
    np.testing.assert_allclose(found.ravel(), 2.0 * matrix @ change.ravel(), rtol=0, atol=1e-11 * scale)


@pytest.mark.parametrize("starts", STARTS)
@pytest.mark.parametrize("name", SYSTEMS)
def test_newtons_step_undoes_a_product(name: str, starts: list[int]) -> None:
    measured = of(problem(name, "stages"), starts)
    rng = np.random.default_rng(1)
    change = rng.standard_normal((len(starts), measured.sums.shape[1] - measured.ends.shape[1]))
    slopes = measured.times(change)
    again = measured.times(measured.newton(slopes))
    np.testing.assert_allclose(again, -slopes, rtol=0, atol=1e-8 * np.abs(slopes).max())


def test_blocks_of_rounds_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    given = problem("wide", "scaled")
    at_once = of(given, [0, 13])
    monkeypatch.setattr(curvature, "BLOCK", 1)
    one_by_one = of(given, [0, 13])
    np.testing.assert_allclose(one_by_one.sums, at_once.sums, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(one_by_one.ends, at_once.ends)


def test_weights_of_single_states_and_inputs_are_those_of_a_diagonal() -> None:
    given = problem("wide", "scalar")
    rng = np.random.default_rng(2)
    q, r = rng.uniform(0.0, 2.0, (ROUNDS, 3)), rng.uniform(0.0, 2.0, (ROUNDS, 2))
    changing = given._replace(
        costs=control.CostSequence([control.QuadraticCost(a, b) for a, b in zip(q, r, strict=True)])
    )
    K, starts = control.lqr(given.system), np.zeros(1, np.int64)
    found = Curvature(given, diagonal_roots(q, r), K, H, starts)
    np.testing.assert_allclose(found.sums, Curvature(changing, roots(changing), K, H, starts).sums, atol=1e-12)


def test_costs_that_are_not_data_weigh_one() -> None:
    given = problem("wide", "scalar")
    own = given._replace(costs=control.CostSequence.constant(squares(3.0), ROUNDS))
    np.testing.assert_allclose(of(own, [0]).sums, of(given, [0]).sums, rtol=1e-14)


def test_an_inverse_leaves_flat_directions_alone() -> None:
    axes = np.linalg.qr(np.random.default_rng(3).standard_normal((4, 4))).Q
    found = inverse(axes @ np.diag([4.0, 1.0, 1e-20, 0.0]) @ axes.T)
    np.testing.assert_allclose(found, axes @ np.diag([0.25, 1.0, 0.0, 0.0]) @ axes.T, atol=1e-12)
    np.testing.assert_array_equal(inverse(np.zeros((2, 2))), np.zeros((2, 2)))
