"""The guarantees as numbers: regret bounds of the paper with explicit constants, to compare with a run.

T is the number of rounds, P the path length of the comparators, G the gradient bound, D the diameter, lambda the
switching cost. Each function bounds the regret with switching cost, ``sum_t f~_t(w_t) - sum_t f~_t(v_t) + lambda sum_t
|w_t - w_{t-1}|`` (see `dynamic_regret`), for any comparators v_t in the domain. With ``policy=True`` it bounds the
dynamic policy regret of losses with memory, where lambda comes from ``losses.switching_costs(domain)``; lambda P is
then added.

- Here: Theorems 1 (OGD), 2 (Scream) and 4 (Lazy Scream), the theorem on mirror descent and the corollary on Hedge of
  Appendix B.3, the two static bounds of OGD in Appendix B.8 (one of them Theorem 3.1 of Anava, Hazan and Mannor 2015),
  fixed share, and Ader's bound, which is not the paper's own.
- Ours (see the page *Proofs*): bounds for rates that shrink (``anytime=True``), `self_tuned_scream`, and
  `strongly_adaptive`, regret on any interval of a run.
- As instances in `driftwise.regret.adversaries`: the lower bounds of Theorems 3 and 5.
- In `driftwise.control.bounds`: Theorems 7 (Scream.Control) and 8 (unknown systems), with what they rest on.
"""

from driftwise.regret.bounds.descent import anava, ogd, ogd_static
from driftwise.regret.bounds.intervals import strongly_adaptive
from driftwise.regret.bounds.mirror import hedge, mirror_descent
from driftwise.regret.bounds.mixed import ader, lazy_scream, scream
from driftwise.regret.bounds.self_tuned import self_tuned_scream

__all__ = [
    "ader",
    "anava",
    "hedge",
    "lazy_scream",
    "mirror_descent",
    "ogd",
    "ogd_static",
    "scream",
    "self_tuned_scream",
    "strongly_adaptive",
]
