"""What to compare a controller with, in hindsight: the best policy, the best gain, the cheapest inputs of all."""

from driftwise.control.hindsight.base import Comparator
from driftwise.control.hindsight.clairvoyant import Clairvoyant, clairvoyant
from driftwise.control.hindsight.linear import BestLinear, best_linear
from driftwise.control.hindsight.policy import BestPolicy, best_policy

__all__ = ["BestLinear", "BestPolicy", "Clairvoyant", "Comparator", "best_linear", "best_policy", "clairvoyant"]
