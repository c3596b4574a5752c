"""An adversary that watches the state."""

import numpy as np

from driftwise._validate import Array, number
from driftwise.control.plants.disturbances.base import Disturbance, directions


class AdversarialDisturbance(Disturbance):
    """The worst push for the next state: ``w_t = bound * z / |z|``, z = A_t x_t + B_t u_t the next state without it.

    It sees the plant, the state and the input, and drives the next state as far from the origin as it can. `sample`
    gives only what is used where z = 0, random directions times bound; in a simulation, which reads `push`, all other
    rows are replaced.

    Parameters
    ----------
    bound : float, default 1.0
        Norm of every push, in units of the state.
    seed : int, optional
        Own seed.

    Examples
    --------
    >>> from driftwise.control import AdversarialDisturbance
    >>> enemy = AdversarialDisturbance(bound=0.5, seed=0)
    >>> enemy.push
    0.5
    >>> enemy.sample(rounds=2, dim=2).round(4)
    array([[ 0.3447, -0.3622],
           [ 0.4934,  0.0808]])
    """

    def __init__(self, bound: float = 1.0, seed: int | None = None) -> None:
        super().__init__(seed)
        self.bound = self.push = number("AdversarialDisturbance", "bound", bound, low=0.0)

    def _rows(self, rounds: int, dim: int, rng: np.random.Generator) -> Array:
        return self.bound * directions(rng, rounds, dim)
