"""Fleets: many learners at once, in one call, with the numbers of as many separate learners."""

from driftwise.fleet.fleet import Fleet
from driftwise.fleet.trace import FleetTrace

__all__ = ["Fleet", "FleetTrace"]
