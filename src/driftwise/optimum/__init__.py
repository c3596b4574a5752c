"""The cheapest decisions in hindsight: solvers, and a certificate for each answer."""

from driftwise.optimum.fixed import best_fixed
from driftwise.optimum.solve import HindsightOptimum, hindsight_optimum

__all__ = ["HindsightOptimum", "best_fixed", "hindsight_optimum"]
