"""Disturbances are those of their names, the same for everybody, and enter where they are said to."""

import numpy as np
import pytest

from driftwise.experiments.studies.control.engineer.disturbances import ENTRIES, KINDS, disturbances, seed_of
from driftwise.experiments.studies.control.engineer.plants import MAKERS

PLANT = MAKERS["cart-pole"]()


@pytest.mark.parametrize("kind", KINDS)
def test_a_setting_is_always_the_same_and_no_other_is(kind: str) -> None:
    rows = disturbances(PLANT, "cart-pole", kind, "load", 300)
    np.testing.assert_array_equal(rows, disturbances(PLANT, "cart-pole", kind, "load", 300))
    assert not np.allclose(rows, disturbances(PLANT, "crane", kind, "load", 300))
    assert rows.shape == (300, 4)
    assert np.isfinite(rows).all()
    assert np.linalg.matrix_rank(rows, tol=1e-9) == 1  # one load, one direction
    everywhere = disturbances(PLANT, "cart-pole", kind, "states", 300)
    shapes = {"constant": 1, "sine": 2, "steps": len(np.unique(everywhere[:, 0]))}
    assert np.linalg.matrix_rank(everywhere, tol=1e-9) == min(4, shapes.get(kind, 4))


def test_a_load_moves_the_states_as_the_plant_says() -> None:
    rows = disturbances(PLANT, "cart-pole", "white", "load", 50)
    np.testing.assert_allclose(rows / rows[:, :1], np.tile(PLANT.load.T / PLANT.load[0], (50, 1)))


def _signal(kind: str, rounds: int = 20_000) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return KINDS[kind](seed_of("test", kind), rounds, 1)[:, 0]


def test_each_kind_is_what_it_is_called() -> None:
    assert np.ptp(_signal("constant")) == 0.0
    assert len(np.unique(_signal("steps"))) in range(20_000 // 241, 20_000 // 60 + 2)
    for kind, power in (("sine", 1.0), ("white", 1.0), ("AR(1)", 1.0)):
        assert np.mean(_signal(kind) ** 2) == pytest.approx(power, rel=0.15)

    def memory(kind: str) -> float:
        z = _signal(kind)
        return float(z[1:] @ z[:-1] / (z @ z))

    assert abs(memory("white")) < 0.03
    assert memory("AR(1)") == pytest.approx(0.97, abs=0.01)
    assert np.diff(_signal("random walk")).std() == pytest.approx(0.1, rel=0.05)
    spectrum = np.abs(np.fft.rfft(_signal("two sines + bias")))
    assert spectrum[0] > 0.3 * 20_000
    assert sorted(np.argsort(spectrum[1:])[-2:] + 1)[0] >= 20_000 // 151  # the two highest lines are the two sines
    day = _signal("daily cycle", 96 * 200).reshape(200, 96).mean(axis=0)
    assert day.std() > 1.0  # what is left after averaging over days is the cycle


@pytest.mark.parametrize("entry", ENTRIES)
def test_a_longer_run_has_the_same_kind_of_numbers(entry: str) -> None:
    assert disturbances(PLANT, "cart-pole", "steps", entry, 1501).shape == (1501, 4)
