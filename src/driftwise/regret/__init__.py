"""Regret that can be checked: how far a run was from the best, how far the guarantee allows, and the proof of both.

- Measures of a run: `dynamic_regret`, `dynamic_policy_regret`, `static_policy_regret`, `adaptive_regret`,
`decompose`, ...
- Sequences to compare with: `best_fixed`, `best_piecewise`, `generator`, and `hindsight_optimum` with its certificate.
- Theorems as numbers: `bounds`, `certificate`, which puts a run next to its theorem, and `interval_certificate`, which
  does so for every interval.
- Streams that are hard for every learner: `adversaries`.
- Plots: `plots`.
"""

from driftwise.optimum import HindsightOptimum, best_fixed, hindsight_optimum
from driftwise.regret import adversaries, bounds, plots
from driftwise.regret.adaptive import AdaptiveRegret, adaptive_regret
from driftwise.regret.certificates import Certificate, certificate
from driftwise.regret.comparators import best_piecewise, generator
from driftwise.regret.decomposition import Decomposition, decompose
from driftwise.regret.intervals import IntervalCertificate, interval_certificate
from driftwise.regret.measures import (
    dynamic_policy_regret,
    dynamic_regret,
    path_length,
    regret_over_time,
    static_policy_regret,
)
from driftwise.regret.theorems import Assumption

__all__ = [
    "AdaptiveRegret",
    "Assumption",
    "Certificate",
    "Decomposition",
    "HindsightOptimum",
    "IntervalCertificate",
    "adaptive_regret",
    "adversaries",
    "best_fixed",
    "best_piecewise",
    "bounds",
    "certificate",
    "decompose",
    "dynamic_policy_regret",
    "dynamic_regret",
    "generator",
    "hindsight_optimum",
    "interval_certificate",
    "path_length",
    "plots",
    "regret_over_time",
    "static_policy_regret",
]
