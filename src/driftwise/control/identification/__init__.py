"""Plants that are not known, or change: identification from random probes, exploring first, adapting all the while.

`data`, `fit`, `instrumental`, `methods` and `accuracy` are behind `identify` (Algorithm 4 of the paper, and
regressions). `explore` sizes its probes by `probes`, and commits after a `rehearsal`. `adaptive` corrects a model that
is known, by what `tracking` finds.
"""

from driftwise.control.identification.adaptive import AdaptiveController
from driftwise.control.identification.explore import ExploreThenCommit
from driftwise.control.identification.identify import Identified, identify
from driftwise.control.identification.methods import METHODS

__all__ = ["METHODS", "AdaptiveController", "ExploreThenCommit", "Identified", "identify"]
