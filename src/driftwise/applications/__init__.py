"""Real problems on real data: right-sizing capacity, combining forecasts, a set-point with a ramp, which policy."""

from driftwise.applications.chapters import APPLICATIONS, NAMES, Applications, apply

__all__ = ["APPLICATIONS", "NAMES", "Applications", "apply"]
