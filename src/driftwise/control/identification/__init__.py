"""System identification from random probes (Algorithm 4 of the paper)."""

from driftwise.control.identification.identify import Identified, identify
from driftwise.control.identification.methods import METHODS

__all__ = ["METHODS", "Identified", "identify"]
