"""Systems to try things on."""

import numpy as np
import pytest

from driftwise.control.plants import (
    LinearSystem,
    TimeVaryingSystem,
    random_system,
)
from driftwise.control.stability import controllability, spectral_radius
from tests.control.plants.cases import A, B, rng


class TestRandomSystem:
    @pytest.mark.parametrize("shape", [(1, 1), (2, 1), (3, 5), (10, 3), (30, 1)])
    @pytest.mark.parametrize("radius", [1e-3, 0.9, 1.2])
    def test_it_has_the_radius_asked_for_and_is_controllable(self, shape: tuple[int, int], radius: float) -> None:
        system = random_system(*shape, radius=radius, seed=2)
        assert (system.state_dim, system.input_dim) == shape
        assert spectral_radius(system.A) == pytest.approx(radius, rel=1e-10)
        if shape[0] <= 10:
            A = system.A / radius
            assert np.linalg.matrix_rank(controllability(LinearSystem(A, system.B))) == shape[0]

    def test_the_entries_of_B_have_the_documented_variance(self) -> None:
        assert random_system(25, 400, seed=0).B.std() == pytest.approx(0.2, rel=0.03)

    def test_the_seed_decides(self) -> None:
        first, same, other = (random_system(3, 2, seed=seed).A for seed in (1, 1, 2))
        np.testing.assert_array_equal(first, same)
        assert (first != other).all()
        run = rng(1)
        np.testing.assert_array_equal(random_system(3, 2, seed=run).A, first)
        assert (first != random_system(3, 2, seed=run).A).all()

    def test_the_global_random_state_is_left_alone(self) -> None:
        before = np.random.get_state(legacy=False)  # noqa: NPY002
        random_system(3, 2)
        TimeVaryingSystem(A, B, seed=1).data(5, rng())
        after = np.random.get_state(legacy=False)  # noqa: NPY002
        np.testing.assert_equal(after, before)
