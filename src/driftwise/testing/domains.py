"""What every domain promises, as one check that you can run on your own domain."""

import math

import numpy as np

from driftwise._docs import documented
from driftwise._validate import Array, checked, instance, whole
from driftwise.domains import Domain
from driftwise.testing.promises import RAISES, bad_rows, promise, refused

TOLERANCE = 1e-9
"""Allowance for rounding, relative to the larger of 1 and the numbers in play; as in `Domain.contains`."""

REACH = 1e6
"""Distance, in diameters, of a point whose projection is practically extreme in its direction."""


@documented(raises=RAISES)
@checked
def check_domain(domain: Domain, seed: int = 0) -> None:
    """Check that a domain keeps the promises of this package, and raise with the first one it breaks.

    Run it on every domain you write: the guarantees of the learners rest on exact projections and on a diameter that
    is not too small.

    Parameters
    ----------
    domain : Domain
        The domain to check.
    seed : int, default 0
        Chooses the points that are tried.

    {raises}

    Notes
    -----
    What is checked, in this order, up to 1e-9 relative to the numbers in play:

    - *size*: `dim` is a positive int, `diameter` finite and at least 0, `shape` holds `dim` numbers;
    - *members*: `project` gives points that `contains` accepts, it leaves members and their mixtures where they are
      (so projecting twice is projecting once), and `contains` refuses points that are clearly outside;
    - *nearest*: no member z has ``<x - Px, z - Px> > 0``, which makes Px the nearest point; and no two points are
      farther apart after the projection than before;
    - *rows*: many rows at once, or the domain's own `shape`, give the same bits as one point at a time;
    - *diameter*: no two members are farther apart;
    - *support*: it bounds the inner products of the members, and a member comes close to it;
    - *farthest*: it bounds the distances to the members;
    - *extremes*: points of size 1e90 and 1e-90 have finite members as projections;
    - *bad input*: NaN, infinity, wrong shapes, complex numbers and text are an `InputError`; no input, good or bad, is
      modified.

    Examples
    --------
    >>> import numpy as np
    >>> import driftwise as dw
    >>> from driftwise.testing import check_domain
    >>> check_domain(dw.Product(dw.Ball(2), dw.Simplex(3)))

    >>> class Clipped(dw.Ball):
    ...     def project(self, x):
    ...         return np.clip(x, -self.radius, self.radius)
    >>> check_domain(Clipped(2))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    AssertionError: Ball(2, radius=1) should project to members, but the projection of ...
    """
    instance("check_domain", "domain", domain, Domain, "Ball(2)")
    rng = np.random.default_rng(whole("check_domain", "seed", seed, low=0))
    _check_size(domain)
    points = sample_points(domain, rng)
    _check_members(domain, points)
    members = sample_members(domain, rng)
    _check_stay(domain, members)
    _check_nearest(domain, points, members)
    _check_rows(domain, points)
    _check_bounds(domain, points, members, rng)
    _check_extremes(domain, rng)
    _check_bad_input(domain, points[0])


def sample_points(domain: Domain, rng: np.random.Generator) -> Array:
    """Return points around a domain, from well inside to far away; one row a point."""
    center = domain.project(np.zeros(domain.dim))
    directions = rng.standard_normal((40, domain.dim))
    distances = np.repeat([1e-3, 0.3, 1.0, 3.0, 1e3], 8) * (domain.diameter or 1.0)
    lengths = np.maximum(np.linalg.norm(directions, axis=1), 1e-3)
    return np.asarray(center + directions * (distances / lengths)[:, None])


def sample_members(domain: Domain, rng: np.random.Generator) -> Array:
    """Return members of a domain: projections, extreme ones among them, and mixtures of these; one row a member."""
    projections = domain.project(sample_points(domain, rng))
    extremes = np.stack([extreme(domain, direction) for direction in rng.standard_normal((8, domain.dim))])
    corners = np.concatenate([projections, extremes])
    shares = rng.dirichlet(np.full(len(corners), 0.1), size=16)
    return np.concatenate([corners, shares @ corners])


def extreme(domain: Domain, direction: Array) -> Array:
    """Return a member whose inner product with `direction` is practically the largest."""
    length = float(np.linalg.norm(direction)) or 1.0
    center = domain.project(np.zeros(domain.dim))
    return domain.project(center + (REACH * (domain.diameter or 1.0) / length) * direction)


def _size(*arrays: Array) -> float:
    return max(1.0, *(float(np.linalg.norm(values)) for values in arrays))


def _check_size(domain: Domain) -> None:
    dim, diameter = domain.dim, domain.diameter
    promise(isinstance(dim, int) and dim >= 1, domain, "should have a dim that is an int of at least 1, got {!r}", dim)
    broken = "should have a diameter that is a finite float of at least 0, got {!r}"
    promise(isinstance(diameter, float) and 0.0 <= diameter < math.inf, domain, broken, diameter)
    broken = "should have a shape that holds dim = {} numbers, got {}"
    promise(math.prod(domain.shape) == dim, domain, broken, dim, domain.shape)


def _check_members(domain: Domain, points: Array) -> None:
    for x in points:
        p = domain.project(x)
        broken = "should project to members, but the projection of {} is {}, which contains() refuses"
        promise(np.isfinite(p).all() and domain.contains(p, tol=TOLERANCE), domain, broken, x, p)
        outside = float(np.linalg.norm(x - p))
        broken = "should not contain {}, which is {:g} away from its projection"
        near = outside <= 1e3 * TOLERANCE * _size(x)
        promise(near or not domain.contains(x, tol=TOLERANCE), domain, broken, x, outside)


def _check_stay(domain: Domain, members: Array) -> None:
    for z in members:
        moved = float(np.linalg.norm(domain.project(z) - z))
        broken = "should leave members and their mixtures where they are, but {} is moved by {:g}"
        promise(moved <= TOLERANCE * _size(z) and domain.contains(z, tol=TOLERANCE), domain, broken, z, moved)


def _check_nearest(domain: Domain, points: Array, members: Array) -> None:
    projections = np.stack([domain.project(x) for x in points])
    for x, p in zip(points, projections, strict=True):
        products = (members - p) @ (x - p)
        worst = int(np.argmax(products))
        broken = (
            "should project to the nearest member, but from the projection {} of {} the way to the member {} leads "
            "nearer: <x - Px, z - Px> = {:g} is above 0"
        )
        kept = products[worst] <= TOLERANCE * _size(x) * _size(members[worst] - p)
        promise(kept, domain, broken, p, x, members[worst], products[worst])
        before = np.linalg.norm(points - x, axis=1)
        after = np.linalg.norm(projections - p, axis=1)
        far = int(np.argmax(after - before))
        broken = "should not project two points farther apart, but {} and {} go from a distance of {:g} to {:g}"
        kept = after[far] - before[far] <= TOLERANCE * _size(x, points[far])
        promise(kept, domain, broken, x, points[far], before[far], after[far])


def _check_rows(domain: Domain, points: Array) -> None:
    together = domain.project(points)
    broken = "should project rows to rows, but {} became {}"
    promise(together.shape == points.shape, domain, broken, points.shape, together.shape)
    for x, row in zip(points, together, strict=True):
        alone = domain.project(x)
        shaped = domain.project(x.reshape(domain.shape))
        broken = "should project rows to the same bits as single points, but {} becomes {} and {}"
        promise(alone.shape == x.shape and alone.tobytes() == row.tobytes(), domain, broken, x, row, alone)
        broken = "should project its own shape {} like a flat point, but {} becomes {}"
        kept = shaped.shape == domain.shape and shaped.tobytes() == row.tobytes()
        promise(kept, domain, broken, domain.shape, x, shaped)


def _check_bounds(domain: Domain, points: Array, members: Array, rng: np.random.Generator) -> None:
    for z in members:
        distance = float(np.linalg.norm(members - z, axis=1).max())
        broken = "has members at a distance of {:g}, more than its diameter {:g}"
        promise(distance <= domain.diameter + TOLERANCE * _size(z), domain, broken, distance, domain.diameter)
    for x, bound in zip(points, domain.farthest(points), strict=True):
        distance = float(np.linalg.norm(members - x, axis=1).max())
        broken = "has a member at a distance of {:g} from {}, more than farthest() says: {:g}"
        promise(distance <= bound + TOLERANCE * _size(x), domain, broken, distance, x, bound)
    directions = rng.standard_normal((12, domain.dim)) * np.repeat([1e-3, 1.0, 1e3], 4)[:, None]
    for u, bound in zip(directions, domain.support(directions), strict=True):
        length, size = float(np.linalg.norm(u)), _size(members[0])
        product = float((members @ u).max())
        broken = "has a member whose product with {} is {:g}, more than support() says: {:g}"
        promise(product <= bound + TOLERANCE * length * size, domain, broken, u, product, bound)
        reached = float(extreme(domain, u) @ u)
        broken = (
            "should have a member whose product with {} is near to what support() says, {:g}, but the projection of a "
            "point far out in that direction has {:g}"
        )
        kept = reached >= bound - length * (domain.diameter / REACH + 10.0 * TOLERANCE * size)
        promise(kept, domain, broken, u, bound, reached)


def _check_extremes(domain: Domain, rng: np.random.Generator) -> None:
    for size in (1e90, 1e-90):
        for x in size * rng.standard_normal((8, domain.dim)):
            p = domain.project(x)
            broken = "should have a finite member nearest to {}, but projects it to {}"
            promise(np.isfinite(p).all() and domain.contains(p, tol=TOLERANCE), domain, broken, x, p)


def _check_bad_input(domain: Domain, point: Array) -> None:
    outside = point + 10.0 * (domain.diameter or 1.0)
    for verb in ("project", "contains", "support", "farthest"):
        function, given = getattr(domain, verb), outside.copy()
        function(given)
        broken = "should not modify what {} is given, but changed {} to {}"
        promise(given.tobytes() == outside.tobytes(), domain, broken, verb, outside, given)
        refused(domain, verb, function, bad_rows(point))
        refused(domain, verb, function, bad_rows(np.stack([point, outside])))
