"""The guarantees of control as numbers: Theorems 7 and 8 and what they rest on, with explicit constants.

T is the number of rounds, H the memory of the policies, P the path length of the comparators M_1, ..., M_T in Frobenius
norm, W the bound on disturbances, and G_c that on the cost's gradients, in units of the larger of state and input. All
norms of matrices are spectral unless it is said otherwise.

- Plants that are known: `scream_controller` (Theorem 7), `lazy_scream_controller`, `gradient_controller`.
- What the reduction costs: `truncation_error`, and `log_memory`, which keeps it small.
- Policies in place of linear controllers: `sufficiency` (Lemma 5.2 in the source that the paper restates).
- Plants that are not known: `unknown_system` (Theorem 8), `moment_recovery` and `exploration_rounds`.

``driftwise.control.certificate`` puts a run next to the bound of its controller.
"""

from driftwise.control.bounds.known import gradient_controller, lazy_scream_controller, scream_controller
from driftwise.control.bounds.recovery import Recovery, exploration_rounds, moment_recovery
from driftwise.control.bounds.sufficiency import sufficiency
from driftwise.control.bounds.truncation import log_memory, truncation_error
from driftwise.control.bounds.unknown import UnknownSystem, unknown_system

__all__ = [
    "Recovery",
    "UnknownSystem",
    "exploration_rounds",
    "gradient_controller",
    "lazy_scream_controller",
    "log_memory",
    "moment_recovery",
    "scream_controller",
    "sufficiency",
    "truncation_error",
    "unknown_system",
]
