"""Total costs with kinks of an unknown kind, by the bundle method of ``driftwise.regret``, which ends with a bound."""

import numpy as np

from driftwise._validate import Array
from driftwise.control.comparators.totals import Found, Region, Totals
from driftwise.domains import Ball, Domain, Product, SpectralBalls
from driftwise.errors import ConvergenceError
from driftwise.losses import LossStream
from driftwise.regret import bundle
from driftwise.regret.cones import has_cones

MOST = 100
"""Unknowns up to which the bundle method comes to an end in time."""


class _Total(LossStream):
    """The total cost as a stream of one loss, whose decisions are policies."""

    def __init__(self, totals: Totals) -> None:
        self._totals = totals
        self._rounds, self.dim, self.memory = 1, totals.dim, 0
        self.steepest = 0.0

    def _value(self, t: int, window: Array) -> float:
        return self._unary(t, window[0])

    def _unary(self, t: int, w: Array) -> float:
        return self._totals.roll(w).total

    def _gradient(self, t: int, w: Array) -> Array:
        slope = self._totals.at(w)[1]
        self.steepest = max(self.steepest, float(np.abs(slope).max()))
        return slope

    def lipschitz(self, domain: Domain) -> Array:
        """Not known, and not asked for."""
        raise NotImplementedError

    def gradient_bound(self, domain: Domain) -> float:
        """Not known, and not asked for."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return "the total cost as a function of the policies"


def by_cuts(owner: str, totals: Totals, region: Region, found: Found) -> Found:
    """Return policies that are certainly close to the cheapest, or those that were found before."""
    radius = float(np.linalg.norm(found.policies)) + region.size
    domain = _cones(region, Ball(totals.dim, radius, found.policies))
    if domain is None or totals.dim > MOST:
        return found
    stream = _Total(totals)
    try:
        policies = bundle.minimise(owner, stream, domain)
    except ConvergenceError:
        return found
    total = totals.roll(policies).total
    # The bundle method ends at this gap or below.
    gap = bundle.ENOUGH * max(abs(total), 1e-3 * stream.steepest * domain.diameter)
    if region.domain is not None:
        return Found.told("By cutting planes.", region, policies, total, gap)
    left = max(0.0, radius - float(np.linalg.norm(policies - found.policies)))
    near = f"No policy within a distance of {left:.3g} of it is cheaper by more than {gap:.3g}."
    return Found(policies, gap, f"By cutting planes. {near}")


def _cones(region: Region, near: Ball) -> Domain | None:
    """Return the region as a domain that the bundle method takes, if it is one."""
    domain = region.domain
    if domain is None:
        return near
    if isinstance(domain, SpectralBalls) and 1 in domain.shape[1:]:  # the norm of a row is its length
        size = domain.dim // len(domain.radii)
        domain = Product(*(Ball(size, float(radius)) for radius in domain.radii))
    return Product(*[domain] * region.segments) if has_cones(domain) else None
