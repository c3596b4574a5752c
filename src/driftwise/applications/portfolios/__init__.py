"""Portfolios: how to spread wealth over assets when every trade costs something, and nobody knows what will rise."""

from driftwise.applications.portfolios.conclusion import conclude, overall
from driftwise.applications.portfolios.contest import COSTS, Universe, hold_universe

__all__ = ["COSTS", "Universe", "conclude", "hold_universe", "overall"]
