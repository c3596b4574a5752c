"""What to compare a controller with, in hindsight: the best policy or policies, the best gain, the cheapest inputs."""

from driftwise.control.hindsight.base import Comparator
from driftwise.control.hindsight.clairvoyant import Clairvoyant, clairvoyant
from driftwise.control.hindsight.linear import BestLinear, best_linear
from driftwise.control.hindsight.policy import BestPolicy, best_policy
from driftwise.control.hindsight.sequence import BestPolicies, best_policies

__all__ = [
    "BestLinear",
    "BestPolicies",
    "BestPolicy",
    "Clairvoyant",
    "Comparator",
    "best_linear",
    "best_policies",
    "best_policy",
    "clairvoyant",
]
