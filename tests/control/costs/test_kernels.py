"""Compiled costs against plain NumPy."""

import numpy as np
import pytest

from driftwise._validate import Array
from driftwise.control.costs.kernels import ABSOLUTE, HUBER, QUADRATIC, CostData
from tests.control.cases import compiled_cost
from tests.control.plants.cases import rng as generator


def huber(z: Array, width: float) -> Array:
    return np.where(np.abs(z) <= width, 0.5 * z**2 / width, np.abs(z) - 0.5 * width)


@pytest.mark.parametrize("kind", [QUADRATIC, ABSOLUTE, HUBER])
@pytest.mark.parametrize("scalar", [False, True])
def test_costs_follow_their_formulas_in_every_round(kind: int, scalar: bool) -> None:
    rng, dx, du, width = generator(4), 3, 2, 0.6
    side = (lambda d: (2, 1, 1)) if scalar else (lambda d: (2, d if kind == QUADRATIC else 1, d))
    state, input = (np.abs(rng.standard_normal(side(d))) for d in (dx, du))
    state, input = (part + part.swapaxes(1, 2) if kind == QUADRATIC else part for part in (state, input))
    stage, scales = np.array([0, 1, 1, 0]), rng.uniform(0.0, 2.0, (4, 2))
    data = CostData(kind, state, input, stage, scales, width)

    def part(weights: Array, z: Array) -> tuple[float, Array]:
        if kind == QUADRATIC:
            Q = weights[0, 0] * np.eye(z.size) if scalar else weights
            return float(z @ Q @ z), 2.0 * Q @ z
        q = np.broadcast_to(weights[0], z.shape)
        if kind == ABSOLUTE:
            return float(q @ np.abs(z)), q * np.sign(z)
        return float(q @ huber(z, width)), q * np.clip(z / width, -1.0, 1.0)

    for t in (0, 1, 2, 3):
        x, u = rng.standard_normal(dx), rng.standard_normal(du)
        x[0], u[0] = 0.0, 0.1  # a kink, and the inner part of Huber's function
        (c_x, g_x), (c_u, g_u) = part(state[stage[t]], x), part(input[stage[t]], u)
        value, slope_x, slope_u = compiled_cost(data, t, x, u)
        assert value == pytest.approx(scales[t] @ [c_x, c_u], rel=1e-14)
        np.testing.assert_allclose(slope_x, scales[t, 0] * g_x, rtol=1e-13, atol=1e-14)
        np.testing.assert_allclose(slope_u, scales[t, 1] * g_u, rtol=1e-13, atol=1e-14)


def test_one_stage_and_one_row_of_factors_hold_in_all_rounds() -> None:
    data = CostData(
        QUADRATIC, np.ones((1, 1, 1)), np.ones((1, 1, 1)), np.zeros(1, np.int64), np.array([[2.0, 3.0]]), 1.0
    )
    assert compiled_cost(data, 999, np.array([1.0, 1.0]), np.array([2.0]))[0] == 16.0
