"""Real problems on real data: right-sizing capacity, combining forecasts, a set-point with a ramp, which policy."""

from driftwise.applications.chapters import APPLICATIONS, MOVE_COSTS, NAMES, Applications, apply, listing

__all__ = ["APPLICATIONS", "MOVE_COSTS", "NAMES", "Applications", "apply", "listing"]
