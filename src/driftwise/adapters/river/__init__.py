"""Models of river: linear ones whose coefficients a driftwise learner decides on, and a mixture of other models.

They learn one round at a time from dictionaries of features, as everything in river does. What they add is a price on
changing one's mind: `switching_cost`, and what the changes have come to in `moved` and `moving_cost`.
"""

from driftwise._extras import optional

try:
    from driftwise.adapters.river.classifier import DriftClassifier
    from driftwise.adapters.river.combiner import DriftCombiner
    from driftwise.adapters.river.regressor import DriftRegressor
except ImportError:
    optional("driftwise.adapters.river", "river.base", "river")
    raise

__all__ = ["DriftClassifier", "DriftCombiner", "DriftRegressor"]
