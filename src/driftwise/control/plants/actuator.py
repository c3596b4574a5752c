"""What an actuator does to the inputs that it is given: limits, rate limits, delay and a first-order lag.

In this order: an input is limited to [low, high] and to a change of at most the rate from the input before; then it
waits for d rounds; then it passes the lag a, f_t = a f_{t-1} + (1 - a) u_{t-d}, and the plant gets f_t.
"""

import math
from typing import TypedDict

import numpy as np
from numpy.typing import ArrayLike

from driftwise._validate import Array, array, loose, read_only
from driftwise.errors import ParameterError


class ActuatorOptions(TypedDict, total=False):
    """What every plant takes about its actuator."""

    input_limit: ArrayLike | None
    rate_limit: ArrayLike | None
    delay: int
    lag: ArrayLike | None


PARAMETERS = """
input_limit : float or array of shape (inputs,) or (inputs, 2), optional
    What the actuator delivers: the largest size of each input, above zero, or rows [low, high], of which either side
    may be infinite; [low, high] of shape (2,) will do for a single input. No limit when left out.
rate_limit : float or array of shape (inputs,), optional
    Largest change of each input from one round to the next, above zero; the input before the first round is 0, or the
    limit that is nearest to 0. No limit when left out.
delay : int, default 0
    Number of rounds after which an input arrives; until the first one arrives the plant gets 0.
lag : float or array of shape (inputs,), optional
    Coefficient a of a first-order lag of each input, from 0 up to below 1: the plant gets
    f_t = a f_{t-1} + (1 - a) u_{t-delay}, from f = 0 on. No lag when left out.
"""
"""The options of an actuator, for docstrings."""


def each(owner: str, name: str, value: ArrayLike, input_dim: int) -> Array:
    """Return one number for every input, from one for all or one for each."""
    given = loose(owner, name, value)
    if given.ndim == 0 and given.dtype.kind in "fiu":
        value = np.full(input_dim, given[()])
    return array(owner, name, value, (input_dim,), copy=True)


def _above_zero(owner: str, name: str, sizes: Array) -> Array:
    if not (sizes > 0.0).all():
        raise ParameterError(
            f"{owner}: {name} must be above 0 for every input, got {sizes.min():g}; leave it out if there is no limit."
        )
    return sizes


def _pairs(owner: str, name: str, given: Array, input_dim: int) -> Array:
    """Return lows and highs from rows [low, high], either of which may be infinite."""
    infinite = np.isinf(given)
    read = array(owner, name, np.where(infinite, 0.0, given), (input_dim, 2))
    limits = np.where(infinite, given, read).T.copy()
    for k in np.flatnonzero(~(limits[0] < limits[1]))[:1]:
        raise ParameterError(
            f"{owner}: {name} must be [low, high] with low below high, got [{limits[0, k]:g}, {limits[1, k]:g}] for "
            f"input {k}."
        )
    return limits


def read_limits(owner: str, name: str, value: ArrayLike | None, input_dim: int) -> Array:
    """Return the limits of inputs, shape (2, inputs): the lows and the highs, infinite where there are none.

    Parameters
    ----------
    owner, name : str
        Who asks, and for which argument, for error messages.
    value : float, array of shape (inputs,) or (inputs, 2), or None
        Largest size of every input, or rows [low, high]; for one input [low, high] will do.
    input_dim : int
        Number of inputs.
    """
    if value is None:
        return read_only(np.outer([-math.inf, math.inf], np.ones(input_dim)))
    given = loose(owner, name, value)
    single = given.shape == (2,) and input_dim == 1
    if given.dtype.kind in "fiu" and (given.ndim == 2 or single):
        return read_only(_pairs(owner, name, given.reshape(1, 2) if single else given, input_dim))
    sizes = _above_zero(owner, name, each(owner, name, value, input_dim))
    return read_only(np.stack([-sizes, sizes]))


def shown_limits(limits: Array) -> Array:
    """Return limits as a user reads them: sizes, shape (inputs,), if they are symmetric, else rows [low, high]."""
    symmetric = bool((limits[0] == -limits[1]).all())
    return read_only(limits[1].copy() if symmetric else limits.T.copy())


def read_rate(owner: str, value: ArrayLike | None, input_dim: int) -> Array | None:
    """Return the largest change of every input; None if there is no limit."""
    if value is None:
        return None
    return read_only(_above_zero(owner, "rate_limit", each(owner, "rate_limit", value, input_dim)))


def read_lag(owner: str, value: ArrayLike | None, input_dim: int) -> Array | None:
    """Return the coefficient of the lag of every input; None if there is no lag."""
    if value is None:
        return None
    lag = each(owner, "lag", value, input_dim)
    for k in np.flatnonzero((lag < 0.0) | (lag >= 1.0))[:1]:
        raise ParameterError(
            f"{owner}: lag must be from 0 up to below 1 for every input, got {lag[k]:g} for input {k}; a time constant "
            "tau at a sampling time dt is a lag of exp(-dt / tau)."
        )
    return read_only(lag)


def augment(A: Array, B: Array, delay: int, lag: Array | None) -> tuple[Array, Array]:
    """Return the pair of a plant together with its actuator, of the state [x, f_{t-1}, u_{t-1}, ..., u_{t-d}].

    f is left out without a lag, the inputs without a delay; without both, the pair is that of the plant.
    """
    (n, m), lagged = B.shape, lag is not None and bool(lag.any())
    a = np.diag(np.zeros(m) if lag is None else lag)
    size = n + m * lagged + m * delay
    wide, entry = np.zeros((size, size)), np.zeros((size, m))
    wide[:n, :n] = A
    # f_t = a f_{t-1} + (1 - a) u_{t-d}: what the plant gets, of the state and of the new input.
    force, direct = np.zeros((m, size)), np.zeros((m, m))
    if lagged:
        force[:, n : n + m] = a
    if delay:
        force[:, size - m :] = np.eye(m) - a
    else:
        direct = np.eye(m) - a
    wide[:n] += B @ force
    entry[:n] = B @ direct
    if lagged:
        wide[n : n + m], entry[n : n + m] = force, direct
    first = n + m * lagged
    if delay:
        entry[first : first + m] = np.eye(m)
        wide[first + m :, first : size - m] = np.eye(m * (delay - 1))
    return read_only(wide), read_only(entry)
