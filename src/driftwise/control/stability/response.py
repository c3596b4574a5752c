"""The impulse response of a closed loop: the norms of A_K^j, A_K^j B and K A_K^j B, and their sums."""

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from driftwise._validate import Array, checked, number, read_only
from driftwise.control.plants import System
from driftwise.control.stability.base import read_gain, read_system, spectral_norm
from driftwise.control.stability.certificate import certify, stable
from driftwise.errors import ParameterError

LONGEST = 16_384
"""Powers of A_K whose norms are computed one by one; what comes after is bounded."""

_BLOCK = 64


@dataclass(frozen=True, eq=False)
class ImpulseResponse:
    """How much of a push is left, summed over all rounds after it; made by `impulse_response`.

    The sums are over all j >= 0 and upper bounds: what was not computed term by term is bounded and included.

    Attributes
    ----------
    states_sum : float
        Bound on the sum of the norms of A_K^j: what a disturbance of norm 1 does to the states.
    inputs_sum : float
        Bound on the sum of the norms of A_K^j B: what an input of norm 1 does to the states.
    gain_sum : float
        Bound on the sum of the norms of K A_K^j B: what an input of norm 1 does to later inputs.
    states, inputs, gains : array of shape (n,)
        The norms for j = 0, ..., n - 1, read-only.
    remainder : float
        The part of `states_sum` that was bounded, not computed.

    Examples
    --------
    >>> import driftwise as dw
    >>> found = dw.control.impulse_response(dw.control.LinearSystem(0.5, 3.0), 0.0)
    >>> round(found.states_sum, 9), round(found.inputs_sum, 9), found.states[:3]
    (2.0, 6.0, array([1.  , 0.5 , 0.25]))
    """

    states_sum: float
    inputs_sum: float
    gain_sum: float
    states: Array = field(repr=False)
    inputs: Array = field(repr=False)
    gains: Array = field(repr=False)
    remainder: float


def _powers(A_K: Array) -> Array:
    """Return A_K^0, ..., A_K^_BLOCK."""
    powers = np.empty((_BLOCK + 1, *A_K.shape))
    powers[0] = np.eye(A_K.shape[0])
    for k in range(_BLOCK):
        powers[k + 1] = powers[k] @ A_K
    return powers


def _norms(owner: str, parts: Array) -> Array:
    """Return the spectral norm of every matrix of a stack."""
    if not np.isfinite(parts).all():
        raise ParameterError(
            f"{owner}: the powers of A - B K grow too large for floats before they shrink; bring the states to units "
            f"in which the entries of A are of similar size."
        )
    return np.asarray(np.linalg.norm(parts, 2, axis=(1, 2)))


@checked
def impulse_response(system: System, K: ArrayLike, *, tolerance: float = 1e-12) -> ImpulseResponse:
    """Return the sums of the norms of A_K^j, A_K^j B and K A_K^j B over all j, as upper bounds.

    What bounds states, inputs and gradients under the gain K, computed and not estimated by kappa and gamma: tighter
    than the formulas of the paper by orders of magnitude.

    Parameters
    ----------
    system : System
        The plant; its nominal (A, B) is used.
    K : array of shape (inputs, states)
        The gain, u = -K x, which must stabilise the system; a number when there is one state and one input.
    tolerance : float, default 1e-12
        The sums of states and inputs are too large by at most this much, relatively; that of the gains by at most this
        times the norm of K and the sum of the inputs. When the spectral radius of A_K is so near 1 that this takes more
        than 16 384 powers, the sums are still upper bounds, but `remainder` may be a large part of them.

    Returns
    -------
    ImpulseResponse
        The sums and the norms they are made of.

    Raises
    ------
    StabilityError
        As `certify`.

    Notes
    -----
    From power n on, the norms sum to at most ``|A_K^n|`` times the whole sum s, so s is at most the sum
    of the first n norms over ``1 - |A_K^n|``, as soon as that is positive. Powers are added until this is within the
    tolerance. When they run out before, the certificate of `certify` gives a second bound on the rest, condition /
    gamma times the smaller of ``|A_K^n|`` and (1 - gamma)^n, and the smaller bound is used.

    Examples
    --------
    >>> from driftwise.control.stability import impulse_response, lqr
    >>> from driftwise.control import LinearSystem, double_integrator
    >>> round(impulse_response(LinearSystem(0.5, 3.0), 0.0).inputs_sum, 9)
    6.0
    >>> system = double_integrator()
    >>> round(impulse_response(system, lqr(system)).states_sum, 6)
    4.439848
    """
    owner = "impulse_response"
    K = read_gain(owner, read_system(owner, system), K)
    limit = number(owner, "tolerance", tolerance, low=0.0, exclusive=True)
    A_K, _ = stable(owner, system, K)
    norms, power = [np.empty((3, 0))], np.eye(system.state_dim)
    terms, ratio = 0, math.inf
    with np.errstate(all="ignore"):
        block = _powers(A_K)
        while ratio > limit and terms < LONGEST:
            powers = block[:-1] @ power
            pushed = powers @ system.B
            norms.append(np.array([_norms(owner, part) for part in (powers, pushed, K @ pushed)]))
            power = block[-1] @ power
            left, terms = spectral_norm(power), terms + _BLOCK
            ratio = left / (1.0 - left) if left < 1.0 else math.inf
    states, inputs, gains = np.concatenate(norms, axis=1)
    rest_of_states, rest_of_inputs = ratio * states.sum(), ratio * inputs.sum() if inputs.any() else 0.0
    if ratio > limit:
        found = certify(system, K)
        rate, worst = found.norm**terms, found.condition / found.gamma
        rest_of_states = min(rest_of_states, worst * min(left, rate))
        left = min(spectral_norm(power @ system.B), rate * spectral_norm(system.B))
        rest_of_inputs = min(rest_of_inputs, worst * left)
    return ImpulseResponse(
        float(states.sum() + rest_of_states),
        float(inputs.sum() + rest_of_inputs),
        float(gains.sum() + spectral_norm(K) * rest_of_inputs),
        read_only(states),
        read_only(inputs),
        read_only(gains),
        float(rest_of_states),
    )
