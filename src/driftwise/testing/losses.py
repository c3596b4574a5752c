"""What every loss stream promises, as one check that you can run on your own losses."""

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from driftwise._docs import documented
from driftwise._validate import Array, checked, instance, whole
from driftwise.domains import Ball, Domain
from driftwise.errors import ParameterError, RoundIndexError
from driftwise.losses import LossStream
from driftwise.testing.domains import extreme, sample_members
from driftwise.testing.promises import RAISES, bad_rows, promise, raises, refused

TOLERANCE = 1e-9
"""Allowance for rounding, relative to the larger of 1 and the numbers in play."""

NEAR = 1e-4
"""Part of the way to another member at which a gradient is compared with a difference of values."""

NEAR_TOLERANCE = 1e-11
"""Allowance for rounding in that difference; it has to be far below `NEAR`."""

ROUNDS = 8
"""Number of rounds of a stream that are checked closely."""

BOUND_ROUNDS = 100
"""Number of further rounds searched for a gradient longer than the bound, which need not be in every round."""


@documented(raises=RAISES)
@checked
def check_loss(losses: LossStream, domain: Domain | None = None, seed: int = 0) -> None:
    """Check that a loss stream keeps the promises of this package, and raise with the first one it breaks.

    Run it on every loss you write, and on a `CustomLoss` before you trust its gradient.

    Parameters
    ----------
    losses : LossStream
        The stream to check: its first and last round, and some in between.
    domain : Domain, optional
        Domain of the decisions, the unit ball when left out; the losses are never evaluated outside it.
    seed : int, default 0
        Chooses the rounds and the decisions that are tried.

    {raises}

    Notes
    -----
    What is checked, in this order, up to 1e-9 relative to the numbers in play:

    - *size*: the length is positive, `dim` is that of the domain, `memory` is an int of at least 0;
    - *values*: they are finite, the same when asked for again, and a window of one decision held for ``memory + 1``
      rounds has the unary value; ``losses[t]`` agrees with the stream, bit for bit;
    - *convex*: no unary value is above the chord between two decisions;
    - *gradient*: finite, of shape (dim,), and a subgradient: no unary value is below the tangent, neither far away nor
      so close that differences of values determine the tangent from both sides;
    - *constants*: if `gradient_bound` is known, no gradient is longer; if `lipschitz` is, no change of a window
      changes its value by more, and of the two `switching_costs` the tight one is the smaller, and both are 0 without
      memory. A stream that does not know them raises `ParameterError`;
    - *bad input*: a round that does not exist is a `RoundIndexError`; NaN, infinity, wrong shapes, complex numbers and
      text are an `InputError`; no input, good or bad, is modified.

    Examples
    --------
    >>> import driftwise as dw
    >>> from driftwise.testing import check_loss
    >>> check_loss(dw.LogisticLoss([[1.0, 2.0], [0.5, -1.0]], [1.0, -1.0]), dw.Ball(2))

    >>> check_loss(dw.CustomLoss(lambda t, w: (w**2).sum(), lambda t, w: 3.0 * w, rounds=2, dim=2), dw.Ball(2))
    ... # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    AssertionError: CustomLoss(rounds=2, dim=2, memory=0) should have a subgradient, but in round 0 the value at ...
    """
    instance("check_loss", "losses", losses, LossStream, "SquaredLoss(features, targets)")
    domain = Ball(losses.dim) if domain is None else instance("check_loss", "domain", domain, Domain, "Ball(2)")
    rng = np.random.default_rng(whole("check_loss", "seed", seed, low=0))
    _check_size(losses, domain)
    between = rng.integers(0, len(losses), ROUNDS - 2)
    rounds = sorted({0, len(losses) - 1, *(int(t) for t in between)})
    members = rng.permutation(sample_members(domain, rng))
    for t in rounds:
        _check_values(losses, t, members)
        _check_convex(losses, t, members, rng)
        _check_gradient(losses, t, members)
    more = sorted({*rounds, *(int(t) for t in rng.integers(0, len(losses), BOUND_ROUNDS))})
    _check_gradient_bound(losses, domain, more, members[:8])
    _check_lipschitz(losses, domain, rounds, members, rng)
    _check_bad_input(losses, members[0])


def _check_size(losses: LossStream, domain: Domain) -> None:
    promise(len(losses) >= 1, losses, "should have at least one round")
    broken = "should have the dim of the domain, {}, got {!r}"
    promise(isinstance(losses.dim, int) and losses.dim == domain.dim, losses, broken, domain.dim, losses.dim)
    broken = "should have a memory that is an int of at least 0, got {!r}"
    promise(isinstance(losses.memory, int) and losses.memory >= 0, losses, broken, losses.memory)


def _hold(losses: LossStream, w: Array) -> Array:
    return np.tile(w, (losses.memory + 1, 1))


def _check_values(losses: LossStream, t: int, members: Array) -> None:
    for w in members:
        given = w.copy()
        value, window = losses.unary_value(t, given), _hold(losses, w)
        held, gradient = losses.value(t, window), losses.gradient(t, given)
        broken = "should not modify the decisions it is given, but in round {} it changed {} to {}"
        kept = given.tobytes() == w.tobytes() and window.tobytes() == _hold(losses, w).tobytes()
        promise(kept, losses, broken, t, w, given)
        broken = "should have finite values, but in round {} the value at {} is {!r}, or {!r} when it is held"
        kept = isinstance(value, float) and math.isfinite(value) and math.isfinite(held)
        promise(kept, losses, broken, t, w, value, held)
        broken = (
            "should value a decision that is held like its unary form, but in round {} at {} they are {!r} and {!r}"
        )
        promise(abs(value - held) <= TOLERANCE * max(1.0, abs(value)), losses, broken, t, w, held, value)
        broken = "should have finite float64 gradients of shape ({},), but in round {} the gradient at {} is {!r}"
        kept = gradient.shape == (losses.dim,) and gradient.dtype == np.float64 and bool(np.isfinite(gradient).all())
        promise(kept, losses, broken, losses.dim, t, w, gradient)
        again, slope = losses[t].value(w), losses[t].gradient(w)
        broken = (
            "should agree with the stream, and with itself when asked again, but losses[{}] at {} gives {!r} and {}, "
            "not {!r} and {}"
        )
        kept = again == value and slope.tobytes() == gradient.tobytes()
        promise(kept, losses, broken, t, w, again, slope, value, gradient)
        broken = "has no memory and should value {} alone like a window of one, {!r}, in round {}"
        promise(losses.memory > 0 or losses.value(t, w) == held, losses, broken, w, held, t)


def _check_convex(losses: LossStream, t: int, members: Array, rng: np.random.Generator) -> None:
    for w, v in zip(members[0::2], members[1::2], strict=False):
        share = float(rng.uniform(0.1, 0.9))
        first, second = losses.unary_value(t, w), losses.unary_value(t, v)
        chord = (1.0 - share) * first + share * second
        value = losses.unary_value(t, (1.0 - share) * w + share * v)
        broken = "should be convex, but in round {} the value between {} and {} is {:g}, above the chord, {:g}"
        promise(value <= chord + TOLERANCE * max(1.0, abs(first), abs(second)), losses, broken, t, w, v, value, chord)


def _check_gradient(losses: LossStream, t: int, members: Array) -> None:
    for w, v in zip(members[0::2], members[1::2], strict=False):
        middle = 0.5 * (w + v)
        _check_tangent(losses, t, w, v, TOLERANCE)
        _check_tangent(losses, t, v, w, TOLERANCE)
        for end in (w, v):
            _check_tangent(losses, t, middle, middle + NEAR * (end - middle), NEAR_TOLERANCE)


def _check_tangent(losses: LossStream, t: int, w: Array, v: Array, tolerance: float) -> None:
    gradient, here, there = losses.gradient(t, w), losses.unary_value(t, w), losses.unary_value(t, v)
    tangent = here + float(gradient @ (v - w))
    size = max(1.0, abs(here), abs(there), float(np.linalg.norm(gradient)) * float(np.linalg.norm(w)))
    broken = (
        "should have a subgradient, but in round {} the value at {} is {!r}, below the tangent from {}, where the "
        "gradient is {}: {!r}. The gradient is wrong, or the loss is not convex"
    )
    promise(there >= tangent - tolerance * size, losses, broken, t, v, there, w, gradient, tangent)


def _check_gradient_bound(losses: LossStream, domain: Domain, rounds: list[int], members: Array) -> None:
    try:
        bound = losses.gradient_bound(domain)
    except ParameterError:
        return
    for t in rounds:
        steep = losses.gradient(t, members[0])
        for w in (*members, extreme(domain, steep), extreme(domain, -steep)):
            length = float(np.linalg.norm(losses.gradient(t, w)))
            broken = "has a gradient of length {:g} in round {} at {}, more than its gradient_bound on {!r}: {:g}"
            promise(length <= bound + TOLERANCE * max(1.0, bound), losses, broken, length, t, w, domain, bound)


def _check_lipschitz(
    losses: LossStream, domain: Domain, rounds: list[int], members: Array, rng: np.random.Generator
) -> None:
    try:
        constants = losses.lipschitz(domain)
    except ParameterError:
        return
    ages = losses.memory + 1
    broken = "should have {} finite Lipschitz constants of at least 0, got {}"
    kept = constants.shape == (ages,) and bool(np.isfinite(constants).all()) and bool((constants >= 0.0).all())
    promise(kept, losses, broken, ages, constants)
    costs = losses.switching_costs(domain)
    broken = "should have switching costs with 0 <= tight <= paper, and 0 without memory, got {}"
    kept = 0.0 <= costs.tight <= costs.paper * (1.0 + TOLERANCE) and (losses.memory > 0 or costs.paper == 0.0)
    promise(kept, losses, broken, costs)
    for t in rounds:
        steep = losses.gradient(t, members[0])
        ends = np.stack([extreme(domain, steep), extreme(domain, -steep)])
        for trial in range(24):
            window = ends[rng.integers(0, 2, ages)] if trial % 2 else members[rng.integers(0, len(members), ages)]
            other = window.copy()
            changed = np.flatnonzero(rng.random(ages) < 0.5) if trial % 3 else np.array([trial % ages])
            other[changed] = members[rng.integers(0, len(members), changed.size)]
            first, second = losses.value(t, window), losses.value(t, other)
            allowed = float(constants @ np.linalg.norm(window - other, axis=1)[::-1])
            broken = (
                "changes by {:g} in round {} between the windows {} and {}, more than its Lipschitz constants {} on "
                "{!r} allow: {:g}"
            )
            change, size = abs(first - second), max(1.0, abs(first), abs(second))
            words = change, t, window.tolist(), other.tolist(), constants, domain, allowed
            promise(change <= allowed + TOLERANCE * size, losses, broken, *words)


def _check_bad_input(losses: LossStream, w: Array) -> None:
    window, rounds = _hold(losses, w), len(losses)
    verbs: dict[str, Callable[[Any], object]] = {
        "[t]": losses.__getitem__,
        "value": lambda t: losses.value(t, window),
        "unary_value": lambda t: losses.unary_value(t, w),
        "gradient": lambda t: losses.gradient(t, w),
    }
    for verb, call in verbs.items():
        for t in (-1, rounds, rounds + 1, 0.0, "0", None, True, slice(0, 1)):
            raises(RoundIndexError, losses, f"when {verb} is asked for round {t!r}", functools.partial(call, t))
    for verb, good in (("value", window), ("unary_value", w), ("gradient", w)):
        refused(losses, verb, functools.partial(getattr(losses, verb), 0), bad_rows(good))
