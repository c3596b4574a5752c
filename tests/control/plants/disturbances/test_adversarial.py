"""The adversary."""

import numpy as np

from driftwise.control.plants.disturbances.adversarial import (
    AdversarialDisturbance,
)


def test_an_adversary_has_a_direction_for_every_round() -> None:
    rows = AdversarialDisturbance(2.0).sample(500, 3, seed=1)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 2.0)
    assert np.abs(rows.mean(axis=0)).max() < 0.2
