"""Fixtures of all tests of these studies."""

from tests.experiments.studies.decisions.stand_ins import nothing, river_only, stand_ins

__all__ = ["nothing", "river_only", "stand_ins"]
