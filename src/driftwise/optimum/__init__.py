"""The cheapest decisions in hindsight: a small library of solvers with one door and one certificate.

`hindsight_optimum` (in `solve`) is the door. It reads the problem, asks the losses what is known of them, and takes the
first method that fits:

=================== ================================================ ======================================
method              losses, domain, price of moves                   how
=================== ================================================ ======================================
`active_set`        quadratic; balls, boxes, simplices; Euclidean    segments of constant decisions, by Clarabel
`coordinates`       sums over coordinates; box; prices that add up;  each coordinate by itself, exactly
                    or a single coordinate                           (`paths`)
`stages`            parabolas and kinks; balls, boxes, simplices     all rounds as one cone problem, by Clarabel
`general`           any other that states its cvxpy expression       a model in cvxpy (`models`), by Clarabel
=================== ================================================ ======================================

Each gives an `Answer` with multipliers, from which `duality` computes a lower bound on the cost of *every* sequence of
decisions: the certificate, whoever solved the problem, and however badly.

`best_fixed` (in `fixed`) is one decision for all rounds: from sums of quadratics (`quadratic`), by the loss's own
formula, or by a `bundle` method that needs values and gradients only. Below them are `cones`, which states problems
for Clarabel, `values`, which reads arguments, and `kernels`.
"""

from driftwise.optimum.fixed import best_fixed
from driftwise.optimum.solve import HindsightOptimum, hindsight_optimum

__all__ = ["HindsightOptimum", "best_fixed", "hindsight_optimum"]
