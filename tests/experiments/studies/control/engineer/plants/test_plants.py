"""The plants are what they are said to be: sampled exactly, controllable, of 2 to 12 states, some of them unstable."""

import numpy as np
import pytest

from driftwise import control
from driftwise.experiments.studies.control.engineer.plants import DESIGN, HELD_OUT, MAKERS, sampled

RADII = {name: np.abs(np.linalg.eigvals(make().A)).max() for name, make in MAKERS.items()}


def test_there_are_enough_and_some_are_held_out() -> None:
    assert len(DESIGN) == 12
    assert len(HELD_OUT) == 7
    assert {*DESIGN, *HELD_OUT} == {*MAKERS}
    for names, most in ((DESIGN, 12), (HELD_OUT, 10)):
        sizes = [len(MAKERS[name]().A) for name in names]
        assert (min(sizes), max(sizes)) == (2, most)
    unstable = [name for name, radius in RADII.items() if radius > 1.05]
    assert unstable == ["cart-pole", "levitation", "reactor", "wheel pendulum", "balancing robot"]


@pytest.mark.parametrize("name", MAKERS)
def test_lqr_stabilises_and_integral_action_is_possible(name: str) -> None:
    plant = MAKERS[name]()
    n, m = plant.B.shape
    assert plant.load.shape[0] == plant.regulated.shape[1] == plant.measured.shape[1] == n
    assert len(plant.regulated) <= m
    K = control.lqr(control.LinearSystem(plant.A, plant.B))
    radius = control.spectral_radius(plant.A - plant.B @ K)
    assert 0.8 < radius < 0.97  # neither slow beyond a run nor dead-beat
    # An input that holds the regulated outputs at any level exists.
    still = np.block([[plant.A - np.eye(n), plant.B], [plant.regulated, np.zeros((len(plant.regulated), m))]])
    assert np.linalg.svd(still, compute_uv=False)[n + len(plant.regulated) - 1] > 1e-3


def test_sampling_is_exact_for_inputs_that_are_held() -> None:
    """One state with rate -a: e^-ah, and the integral of it for input and load; scaling changes units only."""
    plant = sampled([[-2.0]], [[3.0]], [[5.0]], 0.5, states=[10.0], inputs=[4.0], regulated=[0], measured=[0])
    decay = np.exp(-1.0)
    np.testing.assert_allclose(plant.A, [[decay]])
    np.testing.assert_allclose(plant.B, [[(1.0 - decay) / 2.0 * 3.0 * 4.0 / 10.0]])
    np.testing.assert_allclose(plant.load, [[(1.0 - decay) / 2.0 * 5.0 / 10.0]])


def test_units_do_not_change_what_a_plant_does() -> None:
    A, B, load = np.array([[0.0, 1.0], [-4.0, -0.3]]), [[0.0], [2.0]], [[0.0], [1.0]]
    plain, scaled = (
        sampled(A, B, load, 0.1, states=states, inputs=[size], regulated=[0], measured=[1])
        for states, size in (([1.0, 1.0], 1.0), ([0.5, 3.0], 7.0))
    )
    units = np.array([0.5, 3.0])
    np.testing.assert_allclose(units[:, None] * scaled.A / units, plain.A)
    np.testing.assert_allclose(units[:, None] * scaled.B / 7.0, plain.B)
    np.testing.assert_allclose(units[:, None] * scaled.load, plain.load)
