"""Plants that are not known: identification from random probes (Algorithm 4 of the paper), and exploring first."""

from driftwise.control.identification.explore import ExploreThenCommit
from driftwise.control.identification.identify import Identified, identify
from driftwise.control.identification.methods import METHODS

__all__ = ["METHODS", "ExploreThenCommit", "Identified", "identify"]
