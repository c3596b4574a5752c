"""How far off an estimate is: what leaving blocks of rounds out, and allowing for an offset, does to it."""

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from driftwise._validate import Array
from driftwise.control.identification.data import OUT_OF_PROPORTION, OWNER, Units
from driftwise.control.identification.fit import BLOCKS, Fit
from driftwise.errors import InputError

CLEAR = 1.5
"""How many times its own noise the response to the probes must be, in every direction of the state.

Where some direction is out of reach of the inputs and there is nothing but noise in it, this refuses 95 % of the data
by "iv" and 97 % by "moments". What it lets through comes with a large error.
"""

CAUTION = 2.0
"""Errors are multiplied by 1 + CAUTION / clarity of the response: leaving blocks out shows too little where it is weak.

Chosen so that the true error is below three times the estimate in 99 % of cases for each kind of disturbance that was
tried, with 500 rounds or more.
"""


def estimate_with_errors(fit: Fit, units: Units) -> tuple[Array, Array, list[float], Array]:
    """Return A and B, estimates of the errors of A, B and A - B K, and changes of [A, B] that have these errors."""
    edges = np.linspace(0, fit.rows, min(BLOCKS, fit.rows // fit.span) + 1).astype(int)
    grams = [fit.gram(start, stop) for start, stop in pairwise(edges)]
    total = np.sum(grams, axis=0)
    whole, other = fit.estimate(total), fit.doubt(total)
    without = [fit.estimate(total - gram) for gram in grams]
    of_responses = (_clarity(C, [other.responses[i] for other in without]) for i, C in enumerate(whole.responses))
    clarity = max(of_responses, default=math.inf)
    if clarity < CLEAR:
        raise InputError(
            f"{OWNER}: in some direction of the state the response to the probes is only {clarity:.2g} times its own "
            f"noise, where {CLEAR:g} are asked for, so C_0 C_0^T may as well be singular; explore for longer or with "
            f"larger probes, give a larger order than {fit.data.order} if states respond slowly, and check that the "
            f"inputs reach every state (the plant is controllable) and that these are the probes that were applied."
        )
    caution = 1.0 + CAUTION / clarity
    with np.errstate(over="ignore", invalid="ignore"):
        of_A, of_B = units.states[:, None] / units.states, units.states[:, None] / units.inputs
        every = (whole, other, *without)
        A, B = [each.A * of_A for each in every], [each.B * of_B for each in every]
        loops = [(each.A - each.B @ fit.data.K) * of_A for each in every]
        errors = [caution * _error(*estimates) for estimates in (A, B, loops)]
        both = [np.hstack(pair) for pair in zip(A, B, strict=True)]
        changes = caution * np.concatenate([_spread(both[2:]), [both[1] - both[0]]])
    if not np.isfinite(errors).all():
        raise InputError(OUT_OF_PROPORTION)
    return A[0], B[0], errors, changes


def _spread(without: Sequence[Array]) -> Array:
    """Return what leaving out each block changes, scaled such that the sum of squares is the jackknife's variance."""
    each = np.stack(without)
    return np.asarray((each - each.mean(axis=0)) * math.sqrt(1.0 - 1.0 / len(each)))


def _error(estimate: Array, other: Array, *without: Array) -> float:
    """Return an estimate of the spectral norm of an error, from above: by the Frobenius norm."""
    return math.hypot(float(np.linalg.norm(_spread(without))), float(np.linalg.norm(estimate - other, 2)))


def _clarity(response: Array, without: Sequence[Array]) -> float:
    """Return the smallest ratio, over directions v, of v'C and the standard deviation of its noise.

    With F all the changes of C side by side that is the smallest |v'C| / |v'F|, which is 1 / |C^+ F|. The units of the
    states do not matter to it.
    """
    noise = np.hstack(list(_spread(without)))
    ratio, _, rank, _ = np.linalg.lstsq(response, noise, rcond=None)
    if rank < len(response):
        return 0.0
    largest = float(np.linalg.norm(ratio, 2))
    return math.inf if largest == 0.0 else 1.0 / largest
