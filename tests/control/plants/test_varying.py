"""Linear systems that change from round to round."""

import math

import numpy as np
import pytest

from driftwise.control.plants import (
    TimeVaryingSystem,
)
from driftwise.errors import InputError
from tests.cases import check_refused
from tests.control.cases import advance
from tests.control.plants.cases import A, B, rng


class TestTimeVaryingSystem:
    def test_the_plant_moves_by_the_changed_matrices(self) -> None:
        plant = TimeVaryingSystem(A, B, spread_A=0.3, spread_B=0.2).data(4, rng(5))
        x, u, w, out = rng(1).standard_normal(2), rng(2).standard_normal(3), rng(3).standard_normal(2), np.empty(2)
        for t in range(4):
            advance(plant, t, x, u, w, out)
            expected = (A + plant.changes_A[t]) @ x + (B + plant.changes_B[t]) @ u + w
            np.testing.assert_allclose(out, expected, rtol=1e-13)
            assert np.linalg.norm(out - (A @ x + B @ u + w)) > 1e-3

    def test_changes_have_the_spread_asked_for_and_no_mean(self) -> None:
        plant = TimeVaryingSystem(A, B, spread_A=0.3, spread_B=0.02).data(20_000, rng(5))
        np.testing.assert_allclose(plant.changes_A.std(axis=0), 0.3, rtol=0.03)
        np.testing.assert_allclose(plant.changes_B.std(axis=0), 0.02, rtol=0.03)
        assert np.abs(plant.changes_A.mean(axis=0)).max() < 0.3 * 4.5 / math.sqrt(20_000)
        rows = np.hstack([plant.changes_A.reshape(20_000, -1), plant.changes_B.reshape(20_000, -1)])
        assert np.abs(np.corrcoef(rows.T) - np.eye(10)).max() < 0.035

    def test_no_spread_is_the_nominal_system(self) -> None:
        plant = TimeVaryingSystem(A, B, spread_A=0.0, spread_B=0.0).data(10, rng())
        assert not plant.changes_A.any()
        assert not plant.changes_B.any()

    def test_without_a_seed_the_changes_are_those_of_the_run(self) -> None:
        system = TimeVaryingSystem(A, B)
        first, same, other = (system.data(5, rng(seed)).changes_A for seed in (1, 1, 2))
        np.testing.assert_array_equal(first, same)
        assert (first != other).all()

    def test_with_a_seed_they_are_always_the_same_and_leave_the_run_alone(self) -> None:
        system, run = TimeVaryingSystem(A, B, seed=4), rng(1)
        before = run.bit_generator.state
        first, second = system.data(5, run), system.data(5, rng(2))
        assert run.bit_generator.state == before
        np.testing.assert_array_equal(first.changes_A, second.changes_A)
        other = TimeVaryingSystem(A, B, seed=5).data(5, run)
        assert (first.changes_A != other.changes_A).all()

    def test_a_seed_does_not_repeat_noise_drawn_from_the_same_seed(self) -> None:
        changes = TimeVaryingSystem(A, B, spread_A=1.0, spread_B=1.0, seed=4).data(500, rng()).changes_A
        noise = rng(4).standard_normal(changes.shape)
        assert abs(np.corrcoef(changes.ravel(), noise.ravel())[0, 1]) < 0.1

    @pytest.mark.parametrize("seed", [None, 3])
    def test_a_longer_run_begins_as_a_shorter_one(self, seed: int | None) -> None:
        system = TimeVaryingSystem(A, B, seed=seed)
        short, long = system.data(5, rng()), system.data(50, rng())
        np.testing.assert_array_equal(short.changes_A, long.changes_A[:5])
        np.testing.assert_array_equal(short.changes_B, long.changes_B[:5])

    def test_changes_can_be_given(self) -> None:
        changes_A, changes_B = rng().standard_normal((6, 2, 2)), rng().standard_normal((6, 2, 3))
        plant = TimeVaryingSystem(A, B, changes_A=changes_A, changes_B=changes_B).data(4, rng())
        np.testing.assert_array_equal(plant.changes_A, changes_A[:4])
        np.testing.assert_array_equal(plant.changes_B, changes_B[:4])

    def test_what_is_not_given_does_not_change(self) -> None:
        changes_A, changes_B = rng().standard_normal((6, 2, 2)), rng().standard_normal((6, 2, 3))
        assert not TimeVaryingSystem(A, B, changes_A=changes_A).data(6, rng()).changes_B.any()
        assert not TimeVaryingSystem(A, B, changes_B=changes_B).data(6, rng()).changes_A.any()

    def test_changes_that_do_not_fit_are_refused(self) -> None:
        ones = np.ones((6, 2, 2))
        check_refused(
            lambda: TimeVaryingSystem(A, B, changes_A=ones, changes_B=np.ones((5, 2, 3))),
            "same rounds, got 6 and 5",
            kind=InputError,
        )
        check_refused(lambda: TimeVaryingSystem(A, B, changes_B=ones), "changes_B", "(rounds, 2, 3)", kind=InputError)
        check_refused(lambda: TimeVaryingSystem(A, B, changes_A=ones * math.nan), "changes_A", "nan", kind=InputError)
        short = TimeVaryingSystem(A, B, changes_A=ones)
        check_refused(lambda: short.data(7, rng()), "6 rounds", "7 rounds", kind=InputError)
