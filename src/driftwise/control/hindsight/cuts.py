"""Total costs with kinks of an unknown kind, by the bundle method of ``driftwise.regret``, which ends with a bound."""

import numpy as np

from driftwise._validate import Array
from driftwise.control.hindsight.totals import Found, Region, Totals
from driftwise.domains import Ball, Domain, Product, SpectralBalls
from driftwise.errors import ConvergenceError
from driftwise.losses import CustomLoss
from driftwise.optimum import bundle
from driftwise.optimum.cones import has_cones

MOST = 100
"""Largest number of unknowns for which the bundle method finishes in reasonable time."""


def by_cuts(owner: str, totals: Totals, region: Region, found: Found) -> Found:
    """Return policies that are certainly close to the cheapest, or those that were found before."""
    radius = float(np.linalg.norm(found.policies)) + region.size
    domain = _cones(region, Ball(totals.dim, radius, found.policies))
    if domain is None or totals.dim > MOST:
        return found
    steepest = 0.0

    def slope(_: int, policies: Array) -> Array:
        nonlocal steepest
        found = totals.at(policies)[1]
        steepest = max(steepest, float(np.abs(found).max()))
        return found

    # The total cost as a stream of one loss, whose decisions are policies.
    stream = CustomLoss(lambda _, policies: totals.roll(policies).total, slope, 1, totals.dim, compile="never")
    try:
        policies = bundle.minimise(owner, stream, domain)
    except ConvergenceError:
        return found
    total = totals.roll(policies).total
    # The bundle method ends at this gap or below.
    gap = bundle.ENOUGH * max(abs(total), 1e-3 * steepest * domain.diameter)
    if region.domain is not None:
        return Found.told("By cutting planes.", region, policies, total, gap)
    left = max(0.0, radius - float(np.linalg.norm(policies - found.policies)))
    near = f"No policy within a distance of {left:.3g} of it is cheaper by more than {gap:.3g}."
    return Found(policies, gap, f"By cutting planes. {near}")


def _cones(region: Region, near: Ball) -> Domain | None:
    """Return the region as a domain that the bundle method accepts, or None."""
    domain = region.domain
    if domain is None:
        return near
    if isinstance(domain, SpectralBalls) and 1 in domain.shape[1:]:  # the norm of a row is its length
        size = domain.dim // len(domain.radii)
        domain = Product(*(Ball(size, float(radius)) for radius in domain.radii))
    return Product(*[domain] * region.segments) if has_cones(domain) else None
