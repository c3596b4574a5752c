"""How compiled plants move, against plain NumPy: plants, and the adversary."""

import math

import numpy as np
import pytest

from driftwise import control
from driftwise._validate import Array
from driftwise.control.plants.kernels import PlantData
from tests.control.cases import PLANTS, WIDE, advance
from tests.control.plants.cases import rng as generator


def following(plant: PlantData, t: int, x: Array, u: Array, w: Array) -> Array:
    out = np.empty_like(x)
    advance(plant, t, x, u, w, out)
    return out


@pytest.mark.parametrize("name", ["linear", "wide", "varying", "limited"])
def test_linear_plants_move_by_their_matrices(name: str) -> None:
    system, rng = PLANTS[name], generator()
    plant = system.data(5, generator(1))
    for t in range(5):
        x, u, w = (rng.standard_normal(size) for size in (system.state_dim, system.input_dim, system.state_dim))
        A, B = system.A.copy(), system.B.copy()
        if len(plant.changes_A):
            A, B = A + plant.changes_A[t], B + plant.changes_B[t]
        np.testing.assert_allclose(following(plant, t, x, u, w), A @ x + B @ u + w, rtol=0.0, atol=1e-14)


def test_the_pendulum_moves_by_the_papers_equations_and_wraps_its_angle() -> None:
    plant, rng = control.InvertedPendulum().data(1, generator()), generator(2)
    wrapped = 0
    for _ in range(200):
        x, u, w = rng.uniform(-3.1, 3.1, 2), rng.uniform(-2.0, 2.0, 1), rng.uniform(-2.0, 2.0, 2)
        theta = x[0] + 0.05 * x[1] + w[0]
        omega = x[1] - 0.75 * math.sin(x[0] + math.pi) + 0.15 * u[0] + w[1]
        found = following(plant, 0, x, u, w)
        wrapped += abs(theta) > math.pi
        assert abs(found[0]) <= math.pi
        np.testing.assert_allclose(np.exp(1j * found[0]), np.exp(1j * theta), rtol=0.0, atol=1e-13)
        assert found[1] == pytest.approx(omega, abs=1e-13)
    assert wrapped > 5


@pytest.mark.parametrize("name", PLANTS)
def test_the_adversary_pushes_along_the_next_state(name: str) -> None:
    system, rng = PLANTS[name], generator(3)
    plant, dx, du = system.data(4, generator()), system.state_dim, system.input_dim
    for t in range(4):
        x, u, w = 0.5 * rng.standard_normal(dx), 0.5 * rng.standard_normal(du), 0.1 * rng.standard_normal(dx)
        z = following(plant, t, x, u, np.zeros(dx))
        advance(plant, t, x, u, w, np.empty(dx), push=0.3)
        np.testing.assert_allclose(w, 0.3 * z / np.linalg.norm(z), rtol=1e-12, atol=1e-14)
        pushed = np.linalg.norm(following(plant, t, x, u, w))
        others = rng.standard_normal((50, dx))
        for other in 0.3 * others / np.linalg.norm(others, axis=1)[:, None]:
            assert np.linalg.norm(following(plant, t, x, u, other)) <= pushed + 1e-12


def test_the_adversary_leaves_the_disturbance_alone_at_the_origin() -> None:
    plant, w = WIDE.data(1, generator()), np.array([0.1, -0.2, 0.2])
    advance(plant, 0, np.zeros(3), np.zeros(2), w, np.empty(3), push=0.3)
    np.testing.assert_array_equal(w, [0.1, -0.2, 0.2])


def test_the_adversary_pushes_along_the_next_state_where_the_angle_wraps() -> None:
    plant, w = control.InvertedPendulum().data(1, generator()), np.array([0.2, 0.0])
    x, u = np.array([3.1, 0.0]), np.zeros(1)
    z = following(plant, 0, x, u, np.zeros(2))
    advance(plant, 0, x, u, w, np.empty(2), push=0.2)
    np.testing.assert_allclose(w, 0.2 * z / np.linalg.norm(z), rtol=1e-12)


def test_the_push_has_its_norm_even_if_the_next_state_is_tiny() -> None:
    plant, w = control.LinearSystem(1.0, 1.0).data(1, generator()), np.zeros(1)
    advance(plant, 0, np.array([2e-162]), np.zeros(1), w, np.empty(1), push=1.0)
    assert w[0] == pytest.approx(1.0)
