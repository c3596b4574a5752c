"""The minimum of any convex sum of losses over a domain, by a level bundle method that ends with a certificate.

Every gradient is a plane below the sum, and the highest of the planes is a model of it. The model's minimum is a lower
bound; the next point is the one nearest to the best so far at which the model promises enough (Lemarechal, Nemirovskii,
Nesterov 1995). Convexity is assumed; losses that contradict one of their own planes are refused.
"""

import numpy as np

from driftwise._validate import Array
from driftwise.domains import Domain
from driftwise.errors import ConvergenceError, InputError
from driftwise.losses import LossStream
from driftwise.optimum.cones import below_level, lowest, need_cones

AIM, ENOUGH = 1e-9, 1e-6
"""Relative gap to aim for, and the one that is accepted when there is no more progress."""

MOST_STEPS, PATIENCE = 500, 30


def minimise(owner: str, losses: LossStream, domain: Domain, rounds: range | None = None) -> Array:
    """Return the fixed decision with the least sum of unary losses over all rounds, or some, or raise."""
    need_cones(owner, domain)
    points_to_try = _probes(domain)
    point = best = points_to_try.pop(0)
    points, values, slopes = np.empty((0, domain.dim)), np.empty(0), np.empty((0, domain.dim))
    lower, upper, least, waited = -np.inf, np.inf, np.inf, 0
    for _ in range(MOST_STEPS):
        points = np.vstack([points, point])
        values = np.append(values, losses.unary_losses(point[None], rounds).sum())
        slopes = np.vstack([slopes, losses.unary_gradients(point[None], rounds).sum(axis=0)])
        heights = values - np.einsum("id,id->i", slopes, points)  # plane i is heights_i + <slopes_i, w>
        unit = float(np.abs(slopes).max()) * domain.diameter
        _refuse_if_not_convex(owner, losses, points, values, heights, slopes, unit)
        if values[-1] < upper:
            best, upper = point, float(values[-1])
        if points_to_try:
            point = points_to_try.pop(0)
            continue
        if unit == 0.0:
            return best
        model = heights / unit, slopes / unit, domain
        bottom, mixture = lowest(*model, best)
        lower = max(lower, float(mixture @ heights - domain.support(-mixture @ slopes)))
        gap = (upper - lower) / max(abs(upper), 1e-3 * unit)
        least, waited = (gap, 0) if gap < 0.9 * least else (least, waited + 1)
        if gap <= AIM or (gap <= ENOUGH and waited >= PATIENCE):
            return best
        nearest = below_level(*model, (lower + 0.3 * (upper - lower)) / unit, best)
        point = domain.project(bottom if nearest is None else nearest)
    raise ConvergenceError(
        f"{owner}: the best fixed decision of {losses!r} was not pinned down in {MOST_STEPS} steps; its loss lies "
        f"between {lower:.10g} and {upper:.10g}."
    )


def _probes(domain: Domain) -> list[Array]:
    """Return the points to begin with, spread out so that losses that are not convex give themselves away."""
    away = np.random.default_rng(0).standard_normal((2, domain.dim))
    far = 1e3 * domain.diameter * np.vstack([np.zeros(domain.dim), np.ones(domain.dim), -np.ones(domain.dim), away])
    first = domain.project(np.zeros(domain.dim))
    corners = domain.project(first + far)
    return [np.array(point) for point in dict.fromkeys(map(tuple, [*corners, *(0.5 * (first + corners))]))]


def _refuse_if_not_convex(
    owner: str, losses: LossStream, points: Array, values: Array, heights: Array, slopes: Array, unit: float
) -> None:
    """Raise if a plane, the new one or an old one, lies above the sum somewhere it was evaluated."""
    slack = 1e-9 * (np.abs(values).max() + unit)
    ahead = heights + slopes @ points[-1] - values[-1]
    behind = heights[-1] + points @ slopes[-1] - values
    if max(ahead.max(), behind.max()) > slack:
        raise InputError(
            f"{owner}: {losses!r} is not convex, or its gradient is not that of its value: a tangent lies "
            f"{max(ahead.max(), behind.max()):.3g} above the sum of the losses."
        )
