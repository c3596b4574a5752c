"""How large probes should be: such that exploring costs a set share of what u = -K x costs by itself.

What a probe costs is found with an estimate of the plant: it says which part of states and inputs is due to the probes,
and the costs that were observed say what that part is worth. Neither the unit of states nor that of inputs or costs
matters.
"""

import math
from collections.abc import Sequence

import numpy as np

from driftwise._validate import Array
from driftwise.control.costs import Cost
from driftwise.control.identification.identify import identify
from driftwise.control.identification.past import Past
from driftwise.control.stability import spectral_radius
from driftwise.errors import DriftwiseError

SHARE = 0.25
"""What all probes together may add to the cost of u = -K x."""

WARM_UP = 30
"""Rounds without probes, which show how large inputs and costs usually are."""

FIRST = 0.002
"""What the first probe of an input may cost by itself, leaving aside what it does to later states."""

BESIDE = 0.3
"""Largest first probe, beside the usual input."""

STEP = 2.0
"""Largest factor between one size and the next."""

SETTLED = 1.5
"""Largest factor between two sizes of probes that are about right."""

DRAWN, QUANTILE = 5, 0.6
"""Plants that the data do not rule out, and of which the one with the most expensive probes counts."""

STABLE = 0.99
"""Largest spectral radius of a loop: K is known to stabilise the plant, whatever the estimate says."""

RECENT = 200
"""Rounds over which costs are compared."""


def first_sizes(past: Past) -> Array:
    """Return small probes to begin with, from rounds without probes; 1 where nothing tells the unit of an input."""
    usual = np.sqrt(np.mean(past.inputs**2, axis=0))
    states, inputs = past.states[:-1], past.inputs
    base = _mean(past.costs, states, inputs)
    sizes = np.ones(usual.size)
    for j, size in enumerate(usual):
        trial = np.zeros(usual.size)
        trial[j] = size or 1.0
        price = _added(past.costs, states, inputs, np.zeros(states.shape[1]), trial) - base
        limits = [BESIDE * size] if size > 0.0 else []
        if price > 0.0 and base > 0.0:
            limits.append(trial[j] * math.sqrt(FIRST * base / price))
        sizes[j] = min(limits, default=1.0)
    return sizes


def resized(sizes: Array, past: Past, K: Array, order: int) -> Array:
    """Return probes that add SHARE to the cost of u = -K x, or the same as before if the data do not tell yet."""
    try:
        found = identify(past.states, past.inputs, past.probes, K, order, method="whitened")
    except DriftwiseError:
        return sizes
    recent = past.latest(RECENT)
    ratios = []
    for A, B in zip(*found.draw(DRAWN, len(past.inputs)), strict=True):
        loop = A - B @ K
        loop *= STABLE / max(spectral_radius(loop), STABLE)
        ratios.append(_shares(loop, B, K, sizes, recent))
    with np.errstate(divide="ignore", invalid="ignore"):
        factors = np.sqrt(SHARE / sizes.size / np.quantile(ratios, QUANTILE, axis=0))
    return np.asarray(sizes * np.clip(np.nan_to_num(factors, nan=1.0), 1.0 / STEP, STEP))


def settled(before: Array, after: Array) -> bool:
    """Tell whether probes hardly change any more."""
    return bool(np.abs(np.log(after / before)).max() <= math.log(SETTLED))


def _shares(loop: Array, B: Array, K: Array, sizes: Array, past: Past) -> Array:
    """Return what the probes of each input add to the cost of u = -K x on one plant, as a share of it."""
    states = _response(loop, B, past.probes)
    x, u = past.states[:-1] - states, past.inputs - past.probes + states @ K.T
    base = _mean(past.costs, x, u)
    shares = np.full(sizes.size, math.nan)
    for j in range(sizes.size * (base > 0.0)):
        alone = np.zeros_like(past.probes)
        alone[:, j] = sizes[j] * np.sign(past.probes[:, j])
        moved = _response(loop, B, alone)
        shares[j] = _added(past.costs, x, u, moved, alone - moved @ K.T) / base - 1.0
    return shares


def _response(loop: Array, B: Array, probes: Array) -> Array:
    """Return what the probes of the rounds before have made of the states."""
    states = np.zeros((len(probes), len(loop)))
    for t in range(len(probes) - 1):
        states[t + 1] = loop @ states[t] + B @ probes[t]
    return states


def _mean(costs: Sequence[Cost], x: Array, u: Array) -> float:
    """Return the mean cost of states and inputs, round by round."""
    return float(np.mean([cost.value(*each) for cost, *each in zip(costs, x, u, strict=True)]))


def _added(costs: Sequence[Cost], x: Array, u: Array, dx: Array, du: Array) -> float:
    """Return the mean cost when all is moved by (dx, du), or the other way, as likely as not."""
    return 0.5 * (_mean(costs, x + dx, u + du) + _mean(costs, x - dx, u - du))
