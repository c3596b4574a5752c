"""What to compare a controller with, in hindsight: the best policy, the best gain, the cheapest inputs of all."""

from driftwise.control.comparators.base import Comparator
from driftwise.control.comparators.clairvoyant import Clairvoyant, clairvoyant
from driftwise.control.comparators.linear import BestLinear, best_linear
from driftwise.control.comparators.policy import BestPolicy, best_policy

__all__ = ["BestLinear", "BestPolicy", "Clairvoyant", "Comparator", "best_linear", "best_policy", "clairvoyant"]
