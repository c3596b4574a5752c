"""Real series from installed packages, and seeded synthetic ones for when those are not there."""

from driftwise.applications.data.catalogue import CATALOGUE, choose, load, missing
from driftwise.applications.data.dataset import Dataset

__all__ = ["CATALOGUE", "Dataset", "choose", "load", "missing"]
