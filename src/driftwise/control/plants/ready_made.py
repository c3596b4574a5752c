"""Linear systems to try things on: the double integrator, and random ones."""

import math

import numpy as np

from driftwise._validate import checked, number, seeded, whole
from driftwise.control.plants.linear import LinearSystem


@checked
def double_integrator() -> LinearSystem:
    """Return the double integrator: a position and a velocity, the velocity moved by one input.

    The smallest system that is not stable by itself; A = [[1, 1], [0, 1]] and B = [[0], [1]].

    Returns
    -------
    LinearSystem
        Two states, one input, no limits.

    Examples
    --------
    >>> from driftwise.control import double_integrator
    >>> double_integrator()
    LinearSystem(state_dim=2, input_dim=1)
    """
    return LinearSystem([[1.0, 1.0], [0.0, 1.0]], [[0.0], [1.0]])


@checked
def random_system(
    state_dim: int, input_dim: int, *, radius: float = 0.9, seed: int | np.random.Generator = 0
) -> LinearSystem:
    """Return a random controllable linear system.

    Parameters
    ----------
    state_dim, input_dim : int
        Number of states and inputs.
    radius : float, default 0.9
        Spectral radius of A, above zero; from 1 on the system is not stable by itself.
    seed : int or Generator, default 0
        Where the entries come from: those of A are independent and Gaussian before A is scaled to its spectral radius,
        those of B have a variance of 1 / state_dim.

    Examples
    --------
    >>> import numpy as np
    >>> from driftwise.control import random_system
    >>> system = random_system(4, 2, radius=1.1, seed=3)
    >>> round(float(np.abs(np.linalg.eigvals(system.A)).max()), 12)
    1.1
    """
    n, m = whole("random_system", "state_dim", state_dim), whole("random_system", "input_dim", input_dim)
    size = number("random_system", "radius", radius, low=0.0, exclusive=True)
    rng = seeded("random_system", seed)
    while True:
        A, B = rng.standard_normal((n, n)), rng.standard_normal((n, m)) / math.sqrt(n)
        values, vectors = np.linalg.eig(A.T)
        drawn, reach = float(np.abs(values).max()), float(np.linalg.norm(vectors.T @ B, axis=1).min())
        # The inputs reach every mode, since its left eigenvector is not orthogonal to all columns of B.
        if drawn > 1e-6 and reach > 1e-9:
            return LinearSystem(A * (size / drawn), B)
