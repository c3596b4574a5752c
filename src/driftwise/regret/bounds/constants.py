"""The constants of a bound, read and checked, and what the bounds have in common."""

import numpy as np

from driftwise._validate import Array, instance, number, whole
from driftwise.errors import ParameterError
from driftwise.learners.parts import SMALLEST


def problem(
    owner: str, horizon: int, path_length: float, gradient_bound: float, diameter: float, switching_cost: float
) -> tuple[int, float, float, float, float]:
    """Return T, P, G, D and lambda, checked."""
    T = whole(owner, "horizon", horizon)
    P = number(owner, "path_length", path_length, low=0.0)
    G = number(owner, "gradient_bound", gradient_bound, low=SMALLEST)
    D = number(owner, "diameter", diameter, low=SMALLEST)
    if D * (T - 1) * (1.0 + 1e-9) < P:
        raise ParameterError(
            f"{owner}: path_length must be at most diameter * (horizon - 1) = {D * (T - 1):g}, as nothing moves "
            f"farther in {T} rounds; got {P:g}."
        )
    return T, P, G, D, number(owner, "switching_cost", switching_cost, low=0.0)


def of_policy(owner: str, wanted: bool, lambda_: float, P: float) -> float:
    """Return what policy regret adds to a bound: the comparators' own movement, priced."""
    return lambda_ * P if instance(owner, "policy", wanted, bool, "True") else 0.0


def given_or(owner: str, name: str, given: float | None, best: float) -> float:
    """Return a positive number that was given, or the one that is best for the bound."""
    return best if given is None else number(owner, name, given, low=0.0, exclusive=True)


def tuned_horizon(owner: str, tuned_for: int | None, T: int) -> int:
    """Return the horizon that the rates were computed for: T, unless another one at least as large is given."""
    return T if tuned_for is None else whole(owner, "tuned_for", tuned_for, low=T)


def least_over_pool(eps: float, moved: float, steps: Array, walked: Array, D: float, P: float) -> float:
    """Return the bound of Hedge over gradient descents: the least over the base-learners, each with its step.

    `eps` is Hedge's rate, `moved` the part of its bound that grows with it; `walked` the part of each descent's bound
    that grows with its step. The prior is the paper's, (N + 1) / N / (i (i + 1)).
    """
    i, N = np.arange(1.0, steps.size + 1.0), float(steps.size)
    hedged = moved - np.log((N + 1.0) / (N * i * (i + 1.0))) / eps
    return float(np.min(hedged + (walked + (D**2 + 2.0 * D * P) / (2.0 * steps))))
