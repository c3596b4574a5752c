"""The best fixed decision in hindsight."""

import numpy as np

from driftwise._validate import Array, checked
from driftwise.domains import Domain
from driftwise.errors import ConvergenceError
from driftwise.losses import CapacityLoss, LossStream
from driftwise.losses.base import DataLoss
from driftwise.optimum import bundle
from driftwise.optimum.capacity import best_capacity
from driftwise.optimum.coordinates import limits
from driftwise.optimum.quadratic import CLOSE, Quadratics, gaps, is_quadratic, minimise, scales, sums
from driftwise.optimum.values import read_problem


@checked
def best_fixed(losses: LossStream, domain: Domain) -> Array:
    """Return the one decision with the least total loss, ``argmin_v sum_t f_t(v, ..., v)``.

    Squared, tracking and linear losses are solved from their sums; capacity losses on a box by a quantile of the
    demands, which is exact; any others, custom ones too, by a bundle method that calls values and gradients only.
    Every search ends with a certificate, and a typed error if there is none. Custom losses are taken to be convex;
    those that are seen not to be, at the points tried, are refused.

    Parameters
    ----------
    losses : LossStream
        The losses.
    domain : Domain
        Where the decision may lie.

    Returns
    -------
    array of shape (d,)

    Examples
    --------
    >>> import driftwise as dw
    >>> dw.regret.best_fixed(dw.TrackingLoss([[1.0], [1.0], [-0.5]]), dw.Ball(1))
    array([0.5])
    """
    read_problem("best_fixed", losses, domain)
    if isinstance(losses, DataLoss) and is_quadratic(losses):
        return surely("best_fixed", sums(losses, np.zeros(1, np.int64)), domain).reshape(-1)
    return minimise_over("best_fixed", losses, domain)


def minimise_over(owner: str, losses: LossStream, domain: Domain, rounds: range | None = None) -> Array:
    """Return the best fixed decision for losses that have no sums, over all rounds or some."""
    if isinstance(losses, CapacityLoss) and (box := limits(domain)) is not None:
        return best_capacity(losses, *box, rounds)
    return bundle.minimise(owner, losses, domain, rounds)


def surely(owner: str, problem: Quadratics, domain: Domain) -> Array:
    """Return the minimisers, or raise if one of them is not certain."""
    points = minimise(problem, domain)
    relative = gaps(problem, domain, points) / scales(problem, domain)
    if relative.max() > 10.0 * CLOSE:
        raise ConvergenceError(
            f"{owner}: the minimum over {domain!r} was found only to a relative gap of {relative.max():.1e}; "
            "rescale the features or the domain so that their sizes are nearer to 1."
        )
    return points
