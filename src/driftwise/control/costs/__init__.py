"""What a state and an input cost: single convex costs, and one for every round of a run."""

from driftwise.control.costs.absolute import AbsoluteCost
from driftwise.control.costs.base import Cost, DataCost
from driftwise.control.costs.custom import CustomCost
from driftwise.control.costs.huber import HuberCost
from driftwise.control.costs.jax_cost import from_jax
from driftwise.control.costs.paper import abrupt, gradual, pendulum
from driftwise.control.costs.quadratic import QuadraticCost
from driftwise.control.costs.sequence import CostSequence, as_costs
from driftwise.control.costs.soft import SoftLimits

__all__ = [
    "AbsoluteCost",
    "Cost",
    "CostSequence",
    "CustomCost",
    "DataCost",
    "HuberCost",
    "QuadraticCost",
    "SoftLimits",
    "abrupt",
    "as_costs",
    "from_jax",
    "gradual",
    "pendulum",
]
