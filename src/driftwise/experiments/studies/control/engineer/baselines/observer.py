"""DOB: a linear-quadratic gain with an observer of a constant disturbance, whose best answer is added."""

import numpy as np

from driftwise.experiments.studies.control.engineer.baselines.design import design
from driftwise.experiments.studies.control.engineer.baselines.law import Law
from driftwise.experiments.studies.control.engineer.plants import Plant


def observer(plant: Plant, rate: float = 1.0) -> Law:
    """Return u = -K x - G d, where d follows x' - A x - B u and G is the best answer to a disturbance that stays.

    Its own state is d and the state that was expected without a disturbance.

    Parameters
    ----------
    plant : Plant
        The plant.
    rate : float, default 1.0
        Share of the way that d goes to the recovered disturbance in a round; 1 is a dead-beat observer, the cheapest of
        1, 0.5 and 0.2 in the geometric mean over all plants under every kind of disturbance but white noise.
    """
    (n, _), optimum = plant.B.shape, design(plant.A, plant.B)
    G = optimum.constant()
    stay, follow = (1.0 - rate) * np.eye(n), rate * np.eye(n)
    C, D = G @ np.hstack([-stay, follow]), -optimum.K - G @ follow
    F = np.vstack([np.hstack([stay, -follow]), plant.B @ C])
    return Law(F, np.vstack([follow, plant.A + plant.B @ D]), C, D)
