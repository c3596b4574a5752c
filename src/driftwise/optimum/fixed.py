"""The best fixed decision in hindsight: from sums, by the formula of the loss, or by a bundle method."""

import numpy as np

from driftwise._validate import Array, Indices, checked
from driftwise.domains import Domain
from driftwise.errors import ConvergenceError
from driftwise.losses import LossStream
from driftwise.optimum import bundle
from driftwise.optimum.coordinates import limits
from driftwise.optimum.quadratic import CLOSE, Quadratics, gaps, is_quadratic, minimise, scales, sums
from driftwise.optimum.values import read_problem


@checked
def best_fixed(losses: LossStream, domain: Domain) -> Array:
    """Return the one decision with the least total loss, ``argmin_v sum_t f_t(v, ..., v)``.

    Squared, tracking and linear losses are solved from their sums; capacity losses on a box by a quantile of the
    demands, which is exact; any others, custom ones too, by a bundle method that needs values and gradients only.
    Every search ends with a certificate, or with a typed error if there is none. Custom losses are taken to be convex;
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
    return best_of_segments("best_fixed", losses, domain, np.zeros(1, np.int64)).reshape(-1)


def best_of_segments(owner: str, losses: LossStream, domain: Domain, starts: Indices) -> Array:
    """Return the best fixed decision of each segment, which begin at `starts` and end where the next begins."""
    if is_quadratic(losses):
        return surely(owner, sums(losses, starts), domain)
    stops = [*starts[1:].tolist(), len(losses)]
    return np.array([best_on(owner, losses, domain, range(*ends)) for ends in zip(starts.tolist(), stops, strict=True)])


def best_on(owner: str, losses: LossStream, domain: Domain, rounds: range) -> Array:
    """Return the best fixed decision of the rounds of one interval."""
    if is_quadratic(losses):
        ends = [end for end in (rounds.start, rounds.stop) if end < len(losses)]
        both = sums(losses, np.array(ends, np.int64))
        return surely(owner, Quadratics(*(part[:1] for part in both)), domain).reshape(-1)
    box = limits(domain)
    exact = None if box is None else losses.best_between(*box, rounds)
    return bundle.minimise(owner, losses, domain, rounds) if exact is None else exact


def surely(owner: str, problem: Quadratics, domain: Domain) -> Array:
    """Return the minimisers, or raise if one of them is not certified."""
    points = minimise(problem, domain)
    relative = gaps(problem, domain, points) / scales(problem, domain)
    if relative.max() > 10.0 * CLOSE:
        raise ConvergenceError(
            f"{owner}: the minimum over {domain!r} was found only to a relative gap of {relative.max():.1e}; "
            "rescale the features or the domain so that their sizes are nearer to 1."
        )
    return points
