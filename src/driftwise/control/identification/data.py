"""What identification reads: states, inputs and probes, checked and brought to size 1."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from driftwise._validate import Array, Indices, array, describe, loose, whole
from driftwise.errors import InputError, StabilityError

OWNER = "identify"

OUT_OF_PROPORTION = f"{OWNER}: states, inputs and K differ too much in size to be put together; choose other units."

GROWTH = 100.0
"""A state that is so many times as large in the last tenth of the rounds as in the first is called growing."""

UNLIKELY = 5.0
"""Standard deviations by which a mean or a correlation of the probes may be off."""

VANISHING = 1e-9
"""Size of the probes, relative to the input, up to which they count as absent."""


class Data(NamedTuple):
    """What was measured: states scaled to a largest size of 1, inputs and probes such that probes are of size 1."""

    states: Array
    inputs: Array
    probes: Array
    K: Array
    order: int
    follows: Indices | None = None
    """For every round, 1 if the next state follows from it, 0 if a new episode began; None if all do."""


class Units(NamedTuple):
    """What the columns were divided by."""

    states: Array
    inputs: Array


def read_data(
    states: ArrayLike,
    inputs: ArrayLike,
    probes: ArrayLike,
    K: ArrayLike,
    order: int | None,
    starts: ArrayLike | None = None,
) -> tuple[Data, Units]:
    """Validate what was given, and scale it."""
    u = array(OWNER, "inputs", inputs, ("rounds", "inputs"))
    rounds, m = u.shape
    if loose(OWNER, "states", states).shape[:1] == (rounds,):
        raise InputError(
            f"{OWNER}: states must have one row more than inputs, {rounds + 1}, got {rounds}; "
            f"add the state after the last input, or leave the last input and probe out."
        )
    x = array(OWNER, "states", states, (rounds + 1, "states"))
    e = array(OWNER, "probes", probes, (rounds, m))
    gain = array(OWNER, "K", K, (m, x.shape[1]))
    lags = x.shape[1] if order is None else whole(OWNER, "order", order, high=rounds)
    units = Units(_peaks(x), _probe_sizes(u, e))
    with np.errstate(over="ignore"):
        scaled = gain * units.states / units.inputs[:, None]
    if not np.isfinite(scaled).all():
        raise InputError(OUT_OF_PROPORTION)
    data = Data(x / units.states, u / units.inputs, e / units.inputs, scaled, lags, _follows(starts, rounds))
    check_sign(data)
    return data, units


def _follows(starts: ArrayLike | None, rounds: int) -> Indices | None:
    """Return which rounds the next state follows from, of the rounds in which a new episode began."""
    if starts is None:
        return None
    given = loose(OWNER, "starts", starts)
    whole_numbers = given.ndim == 1 and (given.dtype.kind in "iu" or given.size == 0)
    if not whole_numbers or (given < 1).any() or (given > rounds).any():
        raise InputError(
            f"{OWNER}: starts must be rounds from 1 to {rounds}, in which a new episode began, got {describe(starts)}."
        )
    follows = np.ones(rounds, np.int64)
    follows[given.astype(np.int64) - 1] = 0
    return follows


def _peaks(columns: Array) -> Array:
    """Return the largest size in each column; 1 where all is zero."""
    largest = np.abs(columns).max(axis=0)
    return np.where(largest > 0.0, largest, 1.0)


def _probe_sizes(inputs: Array, probes: Array) -> Array:
    """Return the root mean square of each input's probes, or the largest input where they vanish beside it."""
    peaks = _peaks(probes)
    sizes = peaks * np.sqrt(np.mean((probes / peaks) ** 2, axis=0))
    largest = np.abs(inputs).max(axis=0)
    return np.where(sizes > VANISHING * largest, sizes, np.where(largest > 0.0, largest, 1.0))


def check_sign(data: Data) -> None:
    """Raise if the gain has the other sign."""
    feedback = data.states[:-1] @ data.K.T
    random = data.inputs - data.probes
    if np.abs(random - feedback).max() <= 1e-6 * np.abs(data.inputs).max() and np.abs(feedback).max() > 1e-3:
        raise InputError(f"{OWNER}: the inputs are +K x + probe, but here K stands for u = -K x; give -K.")


def check_growth(states: Array) -> None:
    """Raise if the state grew out of proportion during exploration."""
    rounds = len(states) - 1
    tenth = max(rounds // 10, 1)
    first, last = (math.sqrt(float(np.mean(part**2))) for part in (states[1 : tenth + 1], states[-tenth:]))
    if last > GROWTH * first > 0.0:
        pace = (last / first) ** (1.0 / (rounds - tenth))
        raise StabilityError(
            f"{OWNER}: K does not stabilise the plant: in the last tenth of the rounds the state is {last / first:.3g} "
            f"times as large as in the first, a factor of about {pace:.4g} a round; explore with a gain that makes "
            f"every eigenvalue of A - B K smaller than 1 in size."
        )


def check_order(data: Data) -> None:
    """Raise if there cannot be enough independent columns in the response."""
    states, inputs = data.states.shape[1], data.inputs.shape[1]
    if data.order * inputs < states:
        least = -(-states // inputs)
        raise InputError(
            f"{OWNER}: order {data.order} gives {data.order * inputs} columns of response for {states} states, which "
            f"C_0 C_0^T cannot be inverted for; give an order of at least {least}, or leave it out."
        )


def check_probes(data: Data) -> None:
    """Raise unless every probe varies about 0."""
    for i, column in enumerate(data.probes.T):
        size = math.sqrt(float(np.mean(column**2)))
        if float(np.ptp(column)) <= VANISHING * size or size <= VANISHING:
            raise InputError(
                f"{OWNER}: the probes of input {i} are constant or vanish beside the input itself, so they excite "
                f"nothing; draw them at random in every round, for example as signs."
            )
        mean = float(np.mean(column)) / size
        if abs(mean) * math.sqrt(column.size) > UNLIKELY:
            raise InputError(
                f"{OWNER}: the probes of input {i} have a mean of {mean:.3g} times their size, which cannot be told "
                f"from a constant disturbance; draw them with mean 0, or subtract the mean from the probes."
            )


def check_independence(data: Data) -> None:
    """Raise if probes of different rounds or inputs are correlated."""
    e = data.probes / np.sqrt(np.mean(data.probes**2, axis=0))
    rounds = len(e)
    for lag in range(2 * data.order + 3):
        products = e[lag:].T @ e[: rounds - lag] / (rounds - lag)
        if lag == 0:
            np.fill_diagonal(products, 0.0)
        worst = float(np.abs(products).max())
        if worst * math.sqrt(rounds - lag) > UNLIKELY:
            apart = f"{lag} rounds apart" if lag else "of different inputs"
            raise InputError(
                f"{OWNER}: probes {apart} have a correlation of {worst:.2g}, but the moments need independent ones; "
                f"draw them independently, or use method='iv', which allows for it."
            )
