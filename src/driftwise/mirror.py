"""Mirror maps: the geometry in which a base-learner takes its step (Appendix B.3 of the paper).

Online mirror descent moves to ``argmin_w eta <g, w> + D_R(w, w_t)`` where D_R is the Bregman divergence of a
map R that is 1-strongly convex in some norm. Half the squared Euclidean norm gives gradient descent, negative
entropy on the simplex gives Hedge.
"""

import math
from abc import abstractmethod
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from driftwise._compile import helper
from driftwise._memory import Pointer
from driftwise._settings import Fixed
from driftwise._validate import Array, array, number
from driftwise.domains import Box, Domain, Simplex
from driftwise.errors import ParameterError

EUCLIDEAN, ENTROPY, PNORM_BOX, PNORM_SIMPLEX = 0, 1, 2, 3


FARTHEST = 1e300
"""Longest move, in units of the domain's size: longer ones are cut to it, as it is beyond any edge."""

BISECTIONS = 200
"""Halvings of an interval: exact to the last bit for anything above 1e-44 of it, and below that it does not matter."""

STEEPEST = 1e14
"""Largest base of a power: larger ones are cut to it, so that they do not overflow with exponents of up to 21.

A coordinate that is this much larger than the norm is beyond its limit in any case.
"""


def _moves(gradient: Array, step: float, unit: float) -> Array:
    """Return the step in units of the domain's size."""
    with np.errstate(over="ignore"):
        return np.clip(min(step / unit, FARTHEST) * gradient, -FARTHEST, FARTHEST)


def entropy_point(log_start: Array, dual: Array, step: float, scale: float) -> Array:
    """Return the point of the scaled simplex that is proportional to start * exp(-step * dual / scale)."""
    exponents = log_start - _moves(dual, step, scale)
    weights = np.exp(exponents - exponents.max())
    return np.asarray(scale * (weights / weights.sum()))


def _pnorm(w: Array, p: float) -> float:
    """Return the p-norm of numbers of any size: powers neither overflow nor vanish."""
    largest = float(np.abs(w).max())
    return largest * float(((np.abs(w) / largest) ** p).sum() ** (1.0 / p)) if largest > 0.0 else 0.0


def _pnorm_gradient(w: Array, p: float) -> Array:
    norm = _pnorm(w, p)
    shares = np.abs(w) / norm if norm > 0.0 else np.zeros_like(w)
    return np.asarray(np.copysign(shares ** (p - 1.0) * (norm / (p - 1.0)), w))


def _root(is_below: Callable[[float], bool], above: float) -> float:
    """Return the least number between 0 and `above` that is not below a root, by bisection to the last bit."""
    below = 0.0
    for _ in range(BISECTIONS):
        middle = 0.5 * (below + above)
        if not below < middle < above:
            break
        below, above = (middle, above) if is_below(middle) else (below, middle)
    return above


def pnorm_point(kind: int, p: float, numbers: Array, gradient: Array, step: float, point: Array) -> Array:
    """Return the result of one mirror step with the p-norm map on a box or a simplex, as `pnorm_step` computes it.

    The map is homogeneous, so the step is taken on the domain in units of its size. The optimality conditions leave one
    unknown (the norm of the answer on a box, the multiplier of the sum on a simplex), in which they are monotone.
    """
    unit = float(np.abs(numbers).max())
    if unit == 0.0:
        return np.zeros_like(point)
    dual = _pnorm_gradient(point / unit, p) - _moves(gradient, step, unit)
    if kind == PNORM_BOX:
        low, high = numbers.reshape(2, -1) / unit

        def with_norm(norm: float) -> Array:
            bases = np.minimum((p - 1.0) * (np.abs(dual) / norm), STEEPEST)
            return np.clip(np.copysign(norm * bases ** (1.0 / (p - 1.0)), dual), low, high)

        corner = _pnorm(np.maximum(np.abs(low), np.abs(high)), p)
        norm = _root(lambda norm: _pnorm(with_norm(norm), p) > norm, corner)
        return np.clip(unit * with_norm(norm), *numbers.reshape(2, -1))
    q, dual = p / (p - 1.0), (p - 1.0) * (dual - dual.max())

    def with_shift(shift: float) -> Array:
        positive = np.maximum(dual + shift, 0.0)
        norm = _pnorm(positive, q)
        return np.asarray(norm * (positive / norm) ** (q - 1.0))

    shares = with_shift(_root(lambda shift: float(with_shift(shift).sum()) < 1.0, 1.0))
    return np.asarray(unit * (shares / shares.sum()))


@helper
def _write_dual(point: Pointer, d: int, p: float, gradient: Pointer, step: float, unit: float, dual: Pointer) -> None:
    """Write the gradient of the map at the point less the step, in units of the domain's size."""
    largest, total = 0.0, 0.0
    for k in range(d):
        largest = max(largest, abs(point[k]))
    if largest > 0.0:
        for k in range(d):
            total += (abs(point[k]) / largest) ** p
    norm, pace = largest * total ** (1.0 / p), min(step / unit, FARTHEST)
    for k in range(d):
        move = min(max(pace * gradient[k], -FARTHEST), FARTHEST)
        slope = (abs(point[k]) / norm) ** (p - 1.0) * (norm / unit / (p - 1.0)) if norm > 0.0 else 0.0
        dual[k] = math.copysign(slope, point[k]) - move


@helper
def _with_norm(dual: Pointer, norm: float, p: float, limits: Pointer, d: int, unit: float, point: Pointer) -> float:
    """Write the point of the box over its unit whose p-norm would be `norm`, and return its actual p-norm."""
    total = 0.0
    for k in range(d):
        base = min((p - 1.0) * (abs(dual[k]) / norm), STEEPEST)
        size = math.copysign(norm * base ** (1.0 / (p - 1.0)), dual[k])
        point[k] = min(max(size, limits[k] / unit), limits[d + k] / unit)
        total += abs(point[k]) ** p
    return float(total ** (1.0 / p))


@helper
def _with_shift(dual: Pointer, shift: float, p: float, d: int, point: Pointer) -> float:
    """Write the non-negative point with multiplier `shift`, and return the sum of its coordinates."""
    q = p / (p - 1.0)
    total, mass = 0.0, 0.0
    for k in range(d):
        point[k] = max(dual[k] + shift, 0.0)
        total += point[k] ** q
    norm = total ** (1.0 / q)
    for k in range(d):
        point[k] = norm * (point[k] / norm) ** (q - 1.0)
        mass += point[k]
    return mass


@helper
def pnorm_step(
    kind: int, p: float, numbers: Pointer, gradient: Pointer, step: float, point: Pointer, d: int, room: Pointer
) -> None:
    """Take one mirror step with the p-norm map on a box or a simplex, in place; `room` is scratch space of d doubles.

    `pnorm_point` is the same in NumPy.
    """
    unit, above = 0.0, 1.0
    for k in range(2 * d if kind == PNORM_BOX else 1):
        unit = max(unit, abs(numbers[k]))
    if unit == 0.0:
        return
    _write_dual(point, d, p, gradient, step, unit, room)
    if kind == PNORM_BOX:
        total = 0.0
        for k in range(d):
            total += (max(abs(numbers[k]), abs(numbers[d + k])) / unit) ** p
        above = total ** (1.0 / p)
    else:
        top = room[0]
        for k in range(d):
            top = max(top, room[k])
        for k in range(d):
            room[k] = (p - 1.0) * (room[k] - top)
    below, excess, found = 0.0, 0.0, False
    for halving in range(BISECTIONS + 1):
        middle = 0.5 * (below + above)
        if halving == BISECTIONS or not below < middle < above:
            middle, found = above, True
        if kind == PNORM_BOX:
            excess = _with_norm(room, middle, p, numbers, d, unit, point) - middle
        else:
            excess = 1.0 - _with_shift(room, middle, p, d, point)
        if found:
            break
        if excess > 0.0:
            below = middle
        else:
            above = middle
    for k in range(d):
        if kind == PNORM_BOX:
            point[k] = min(max(unit * point[k], numbers[k]), numbers[d + k])
        else:
            point[k] = unit * (point[k] / (1.0 - excess))


class MirrorMap(Fixed):
    """A map R, 1-strongly convex in its norm over the domains it accepts.

    Learners need a compiled step, which `Euclidean`, `NegativeEntropy` and `PNorm` have.

    Attributes
    ----------
    exponent : float
        p of the norm in which the map is 1-strongly convex, where that is a p-norm; 2 for the Euclidean map.

    Examples
    --------
    Gradients of a map are the dual points between which a mirror step moves:

    >>> import driftwise as dw
    >>> simplex = dw.Simplex(2)
    >>> for mirror in (dw.mirror.Euclidean(), dw.mirror.NegativeEntropy(), dw.mirror.PNorm(1.5)):
    ...     print(mirror, mirror.gradient([0.5, 0.5], simplex).round(3))
    Euclidean() [0.5 0.5]
    NegativeEntropy() [0.307 0.307]
    PNorm(1.5) [1.26 1.26]
    """

    exponent: float = 2.0

    @abstractmethod
    def kind(self, domain: Domain) -> int:
        """Return the number of the compiled step for `domain`, or raise if there is none.

        Parameters
        ----------
        domain : Domain
            Where decisions live.
        """

    @abstractmethod
    def value(self, w: ArrayLike, domain: Domain) -> float:
        """Return R(w).

        Parameters
        ----------
        w : array of shape (dim,)
            A decision.
        domain : Domain
            Where decisions live.
        """

    @abstractmethod
    def gradient(self, w: ArrayLike, domain: Domain) -> Array:
        """Return the gradient of R at w.

        Parameters
        ----------
        w : array of shape (dim,)
            A decision.
        domain : Domain
            Where decisions live.
        """

    @abstractmethod
    def radius_squared(self, domain: Domain, start: Array | None = None) -> float:
        """Return an upper bound on the divergence of any decision from `start` (R squared in Appendix B.3).

        Without a start, of any decision from any other.

        Parameters
        ----------
        domain : Domain
            Where decisions live.
        start : array of shape (dim,), optional
            The first decision.
        """

    def lipschitz(self, domain: Domain) -> float:
        """Return a Lipschitz constant of the divergence in its first argument, in the map's norm (gamma in B.3).

        ``D_R(x, z) - D_R(y, z) <= <grad R(x) - grad R(z), x - y>``, so the farthest that two gradients of the map are
        apart in the dual norm is one. It is infinite where the map is steep at the edge, or nothing is known.

        Parameters
        ----------
        domain : Domain
            Where decisions live.
        """
        return math.inf

    def divergence(self, x: ArrayLike, y: ArrayLike, domain: Domain) -> float:
        """Return the Bregman divergence D_R(x, y) = R(x) - R(y) - <grad R(y), x - y>.

        Parameters
        ----------
        x, y : array of shape (dim,)
            Two decisions.
        domain : Domain
            Where decisions live.
        """
        gap = self._point(x, domain) - self._point(y, domain)
        return self.value(x, domain) - self.value(y, domain) - float(self.gradient(y, domain) @ gap)

    def _point(self, w: ArrayLike, domain: Domain) -> Array:
        return array(type(self).__name__, "w", w, (domain.dim,))

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class Euclidean(MirrorMap):
    """``R(w) = |w|^2 / 2``: projected gradient descent, on any domain.

    Examples
    --------
    >>> import driftwise as dw
    >>> dw.mirror.Euclidean().divergence([1.0, 0.0], [0.0, 0.0], dw.Ball(2))
    0.5
    """

    def kind(self, domain: Domain) -> int:
        """Return the projected gradient step, which every domain has."""
        return EUCLIDEAN

    def value(self, w: ArrayLike, domain: Domain) -> float:
        """Return half the squared norm of w."""
        x = self._point(w, domain)
        return float(0.5 * x @ x)

    def gradient(self, w: ArrayLike, domain: Domain) -> Array:
        """Return w itself."""
        return self._point(w, domain).copy()

    def radius_squared(self, domain: Domain, start: Array | None = None) -> float:
        """Return D^2 / 2."""
        return 0.5 * domain.diameter**2

    def lipschitz(self, domain: Domain) -> float:
        """Return D."""
        return domain.diameter


class NegativeEntropy(MirrorMap):
    """``R(w) = s sum_k w_k log(w_k / s)`` on the simplex of scale s: exponentiated gradient, Hedge.

    It is 1-strongly convex in the l1 norm, so the gradient bound that goes with it is on the largest entry. The
    dependence on the dimension is logarithmic: prefer it on a simplex of many coordinates. The step is taken in
    cumulative log space (dual averaging), which is the same as mirror descent for a constant step and keeps its
    guarantee when the step shrinks.

    Parameters
    ----------
    share : float, default 0.0
        Fixed share, for comparators that move: after each step the point is replaced by ``(1 - share)`` times itself
        plus `share` times the start, so that no coordinate ever falls below that much of where it began. It goes with a
        constant step or a horizon.

    Examples
    --------
    >>> import driftwise as dw
    >>> round(dw.mirror.NegativeEntropy().divergence([1.0, 0.0], [0.5, 0.5], dw.Simplex(2)), 6)
    0.693147
    """

    def __init__(self, share: float = 0.0) -> None:
        self.share = number("NegativeEntropy", "share", share, low=0.0)
        if self.share >= 1.0:
            raise ParameterError(f"NegativeEntropy: share must be at least 0 and below 1, got {share!r}.")

    def kind(self, domain: Domain) -> int:
        """Return the exponentiated gradient step if `domain` is a simplex."""
        if not isinstance(domain, Simplex):
            raise ParameterError(f"NegativeEntropy: the domain must be a Simplex, got {domain!r}.")
        return ENTROPY

    def value(self, w: ArrayLike, domain: Domain) -> float:
        """Return ``s sum_k w_k log(w_k / s)``, with 0 log 0 = 0."""
        x, scale = self._point(w, domain), self._scale(domain)
        positive = x[x > 0.0]
        return float(scale * (positive * np.log(positive / scale)).sum())

    def gradient(self, w: ArrayLike, domain: Domain) -> Array:
        """Return s (1 + log(w / s)): minus infinity where w is 0."""
        x, scale = self._point(w, domain), self._scale(domain)
        with np.errstate(divide="ignore"):
            return np.asarray(scale * (1.0 + np.log(x / scale)), np.float64)

    def divergence(self, x: ArrayLike, y: ArrayLike, domain: Domain) -> float:
        """Return s times the relative entropy of x to y: infinite where y is 0 and x is not."""
        first, second, scale = self._point(x, domain), self._point(y, domain), self._scale(domain)
        held = first > 0.0
        with np.errstate(divide="ignore"):
            entropy = (first[held] * np.log(first[held] / second[held])).sum()
        return float(scale * (entropy - first.sum() + second.sum()))

    def radius_squared(self, domain: Domain, start: Array | None = None) -> float:
        """Return s^2 times the largest log(s / w) of the start; infinity without one."""
        scale = self._scale(domain)
        return math.inf if start is None else float(scale**2 * np.log(scale / start.min()))

    def _scale(self, domain: Domain) -> float:
        self.kind(domain)
        return float(domain.numbers[0])

    def __repr__(self) -> str:
        return f"NegativeEntropy(share={self.share:g})" if self.share else super().__repr__()


class PNorm(MirrorMap):
    """``R(w) = |w|_p^2 / (2 (p - 1))`` with 1 < p <= 2, on a box or a simplex.

    It is 1-strongly convex in the p-norm, so the gradient bound that goes with it is in the norm with
    1/p + 1/q = 1. Between the Euclidean map (p = 2) and one that favours sparse decisions (p near 1).

    Parameters
    ----------
    p : float
        Exponent, from 1.05 to 2; closer to 1 the powers 1/(p-1) leave the range of floating point.

    Examples
    --------
    >>> import driftwise as dw
    >>> dw.mirror.PNorm(1.5).value([1.0, 0.0], dw.Simplex(2))
    1.0
    """

    def __init__(self, p: float) -> None:
        self.exponent = number("PNorm", "p", p)
        if not 1.05 <= self.exponent <= 2.0:
            raise ParameterError(f"PNorm: p must be at least 1.05 and at most 2, got {p!r}.")

    def kind(self, domain: Domain) -> int:
        """Return the p-norm step on a box or a simplex."""
        if isinstance(domain, Box):
            return PNORM_BOX
        if isinstance(domain, Simplex):
            return PNORM_SIMPLEX
        raise ParameterError(
            f"PNorm: the domain must be a Box or a Simplex, got {domain!r}; on other domains use Euclidean()."
        )

    def value(self, w: ArrayLike, domain: Domain) -> float:
        """Return ``|w|_p^2 / (2 (p - 1))``."""
        norm = _pnorm(self._point(w, domain), self.exponent)
        return norm**2 / (2.0 * (self.exponent - 1.0))

    def gradient(self, w: ArrayLike, domain: Domain) -> Array:
        """Return ``|w|_p^(2-p) sign(w) |w|^(p-1) / (p - 1)``."""
        return _pnorm_gradient(self._point(w, domain), self.exponent)

    def radius_squared(self, domain: Domain, start: Array | None = None) -> float:
        """Return max R + R(start) + the support of -grad R(start): exact up to where the maxima are attained.

        As R is homogeneous, D_R(x, z) = R(x) + R(z) - <grad R(z), x>. Without a start it is 2 max R and the most that
        the last term can be, coordinate by coordinate; or gamma times the diameter in the p-norm, if that is less.
        """
        largest = self.value(self._corner(domain), domain)
        if start is not None:
            slope = self.gradient(start, domain)
            return largest + self.value(start, domain) + float(domain.support(-slope))
        if not isinstance(domain, Box):
            return 2.0 * largest  # no coordinate of a decision or a gradient is below 0
        products = -self._slopes(domain)[:, None] * np.stack([domain.low, domain.high])
        wide = self.lipschitz(domain) * _pnorm(domain.high - domain.low, self.exponent)
        return min(2.0 * largest + float(products.max(axis=(0, 1)).sum()), wide)

    def lipschitz(self, domain: Domain) -> float:
        """Return the farthest that two gradients are apart in the q-norm: exact on a simplex, an upper bound on a box.

        On the simplex of scale s that is 2^(1/q) s / (p - 1), between two corners. On a box it is at most the q-norm of
        the widths of the intervals that the coordinates of gradients lie in, which is D for p = 2.
        """
        p = self.exponent
        q = p / (p - 1.0)
        if not isinstance(domain, Box):
            farthest = 2.0 ** (1.0 / q) if domain.dim > 1 else 0.0
            return farthest * _pnorm(self._corner(domain), p) / (p - 1.0)
        least, most = self._slopes(domain)
        return _pnorm(most - least, q)

    def _corner(self, domain: Domain) -> Array:
        """Return a point with the largest p-norm."""
        if isinstance(domain, Box):
            return np.maximum(np.abs(domain.low), np.abs(domain.high))
        self.kind(domain)
        return np.asarray(np.eye(1, domain.dim)[0] * domain.numbers[0])

    def _slopes(self, box: Box) -> Array:
        """Return the least and the most that each coordinate of a gradient can be on a box.

        ``|w|_p^(2-p) |w_k|^(p-1)`` grows with the size of every coordinate, so it is largest where all others are
        farthest from 0, and smallest where they are nearest to it.
        """
        near, far = box.project(np.zeros(box.dim)), self._corner(box)
        found = np.empty((2, box.dim))
        for row, edge in enumerate((box.low, box.high)):
            for k in range(box.dim):
                outward = (edge[k] < 0.0) == (row == 0)
                point = (far if outward else near).copy()
                point[k] = edge[k]
                found[row, k] = _pnorm_gradient(point, self.exponent)[k]
        return found

    def __repr__(self) -> str:
        return f"PNorm({self.exponent:g})"
