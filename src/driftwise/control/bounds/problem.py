"""What a bound of control is computed from: a plant, a gain, a set of policies, and constants at a scale."""

import functools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from driftwise._validate import Array, choice, describe, loose, number, whole
from driftwise.control.bounds.response import CertifiedResponse, Response, TheoryResponse
from driftwise.control.plants import System
from driftwise.control.policies import scales
from driftwise.control.policies.disturbance_action import nominal_loop, stable_loop
from driftwise.control.policies.scales import Constants
from driftwise.control.stability import certify
from driftwise.domains import SpectralBalls
from driftwise.errors import ParameterError

PROVED = ("certified", "theory")
"""Scales whose constants hold for sure."""

LONGEST = 5000
"""Longest memory that is chosen by itself."""

LOG = "log"
"""The memory that goes with the horizon."""

WITHOUT_LEARNING = """Parameters
----------
system : System
    The plant; its nominal (A, B) is used.
horizon : int
    T, the number of rounds.
memory : int or "log", default "log"
    H; "log" is the one that goes with the horizon (`log_memory`).
K : array of shape (du, dx), optional
    The gain; `lqr` with unit weights when left out.
radii : float or array of shape (H,), optional
    Largest spectral norms of M[1], ..., M[H]; 2 kappa^3 (1 - gamma)^(i-1) when left out.
scale : {"certified", "theory"}, default "certified"
    Norms of the powers of A_K that are computed, or the paper's bounds on them by kappa and gamma.
disturbance_bound, cost_gradient : float, default 1.0 and 2.0
    W and G_c, as the controllers take them.
start : float, default 0.0
    Norm of the first state; the comparators begin there too.
"""
"""What the truncation error takes."""

PARAMETERS = f"""{WITHOUT_LEARNING.rstrip()}
path_length : float
    P, how far the comparators move in all, in Frobenius norm: `control.path_length`.
tuned_for : int, optional
    The horizon that the controller was built for, if it was more than T.
"""
"""What the bounds of the controllers take."""


@dataclass(frozen=True)
class Problem:
    """A set of policies on a plant, with all constants."""

    owner: str
    system: System
    K: Array
    domain: SpectralBalls
    response: Response
    constants: Constants
    disturbance_bound: float
    cost_gradient: float

    @property
    def memory(self) -> int:
        """H."""
        return int(self.domain.radii.size)

    @property
    def total(self) -> float:
        """Sum of the radii: an answer is at most this times the largest disturbance."""
        return float(self.domain.radii.sum())

    def reach(self, start: float = 0.0) -> tuple[float, float]:
        """Return the largest norms of states and inputs under policies of the set, from a first state of some norm."""
        state, fed = self.response.whole.reach(self.total)
        W, (peak, gained) = self.disturbance_bound, self.response.peaks
        return W * state + start * peak, W * (self.total + fed) + start * gained

    def slope(self, start: float = 0.0) -> float:
        """Return the largest norm of a gradient of a cost, in the state and in the input, where they can get to."""
        return self.cost_gradient * max(self.reach(start))


def response_of(scale: str, system: System, K: Array) -> Response:
    """Return the sums at a scale."""
    if scale == "theory":
        return TheoryResponse(certify(system, K), system.B)
    return CertifiedResponse(system, K)


def read_problem(
    owner: str,
    system: System,
    *,
    horizon: int,
    memory: int | str = LOG,
    K: ArrayLike | None = None,
    radii: ArrayLike | None = None,
    scale: str = "certified",
    disturbance_bound: float = 1.0,
    cost_gradient: float = 2.0,
) -> Problem:
    """Validate what was given, and compute the constants that a controller at this scale has."""
    choice(owner, "scale", scale, PROVED)
    W = number(owner, "disturbance_bound", disturbance_bound, low=0.0, exclusive=True)
    G_c = number(owner, "cost_gradient", cost_gradient, low=0.0, exclusive=True)
    gain, closed = stable_loop(owner, system, K)
    loop = nominal_loop(system)
    response = response_of(scale, loop, gain)
    usual = radii_by_memory(owner, radii, imitating_radii(loop, gain))
    H = read_memory(owner, memory, horizon, lambda: response, usual)
    domain = SpectralBalls((H, loop.input_dim, loop.state_dim), usual(H))
    if scale == "theory":
        constants = scales.theory_constants(domain, loop.B, W, G_c, certify(loop, gain))
    else:
        constants = scales.certified_constants(domain, closed, loop.B, gain, W, G_c)
    return Problem(owner, loop, gain, domain, response, constants, W, G_c)


def imitating_radii(system: System, K: Array) -> Callable[[int], Array]:
    """Return the radii 2 kappa^3 (1 - gamma)^(i-1) as a function of H; the gain is certified once, if at all."""
    found = functools.cache(lambda: certify(system, K))
    return lambda H: scales.theory_radii(found(), H)


def radii_by_memory(
    owner: str, radii: ArrayLike | None, usual: Callable[[int], ArrayLike]
) -> Callable[[int], ArrayLike]:
    """Return the radii as a function of H: the usual ones, or what was given."""
    if radii is None:
        return usual
    given = loose(owner, "radii", radii)
    return lambda H: given if given.ndim else np.full(H, given)


def read_memory(
    owner: str,
    memory: int | str,
    horizon: int | None,
    response: Callable[[], Response],
    radii: Callable[[int], ArrayLike],
) -> int:
    """Return H, as it was given or as it goes with the horizon; only then are the sums asked for."""
    if not isinstance(memory, str):
        return whole(owner, "memory", memory)
    choice(owner, "memory, unless it is a number,", memory, (LOG,))
    if horizon is None:
        raise ParameterError(f"{owner}: memory='log' is chosen from the horizon; give horizon=, or memory as a number.")
    return long_enough(owner, whole(owner, "horizon", horizon), response(), radii)


def truncation_share(T: int, response: Response, memory: int, total: float) -> float:
    """Return what forgetting costs in T rounds, both for the learner and its comparators, over what one round may cost.

    That is 2 (T - H - 2) W (tails) G_c D over G_c D^2, with D the largest state or input: neither W nor G_c is in it.
    """
    state, fed = response.whole.reach(total)
    return 2.0 * max(T - memory - 2, 0) * sum(response.tail(memory).reach(total)) / max(state, total + fed)


def long_enough(owner: str, T: int, response: Response, radii: Callable[[int], ArrayLike]) -> int:
    """Return the least H with a truncation share of at most 1; with H = T nothing is forgotten."""
    for H in range(1, min(T, LONGEST) + 1):
        sizes = np.asarray(radii(H), float)
        if sizes.ndim == 1 and sizes.size != H and sizes.size:
            raise ParameterError(
                f"{owner}: with memory='log' the number of radii is not known yet; give a number, or none, "
                f"got {describe(sizes)}."
            )
        if truncation_share(T, response, H, float(sizes.sum())) <= 1.0:
            return H
    raise ParameterError(
        f"{owner}: the loop forgets so slowly that memory='log' would be more than {LONGEST}; give a gain that makes "
        "the eigenvalues of A - B K smaller, or memory as a number."
    )
