"""Real problems on real data: right-sizing capacity, combining forecasts, a set-point with a ramp, which policy."""

from driftwise.applications.catalogue import APPLICATIONS, NAMES, listing
from driftwise.applications.chapters import MOVE_COSTS, Applications, apply

__all__ = ["APPLICATIONS", "MOVE_COSTS", "NAMES", "Applications", "apply", "listing"]
