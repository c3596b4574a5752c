"""Mirror maps: the geometry in which a base-learner takes its step (Appendix B.3 of the paper).

Online mirror descent moves to ``argmin_w eta <g, w> + D_R(w, w_t)`` where D_R is the Bregman divergence of a
map R that is 1-strongly convex in some norm. Half the squared Euclidean norm gives gradient descent, negative
entropy on the simplex gives Hedge.
"""

import math
from abc import abstractmethod

import numpy as np
from numpy.typing import ArrayLike

from driftwise._compile import compiled, hot
from driftwise._validate import Array, Checked, array, number
from driftwise.domains import Box, Domain, Simplex
from driftwise.errors import ParameterError

EUCLIDEAN, ENTROPY, PNORM_BOX, PNORM_SIMPLEX = 0, 1, 2, 3


@hot
def entropy_point(log_start: Array, dual: Array, step: float, scale: float, out: Array) -> None:
    """Write the point of the scaled simplex that is proportional to start * exp(-step * dual / scale)."""
    top = -math.inf
    for k in range(out.size):
        out[k] = log_start[k] - step * dual[k] / scale
        top = max(top, out[k])
    total = 0.0
    for k in range(out.size):
        out[k] = math.exp(out[k] - top)
        total += out[k]
    for k in range(out.size):
        out[k] *= scale / total


@hot
def _pnorm_gradient(w: Array, p: float, out: Array) -> None:
    total = 0.0
    for k in range(w.size):
        total += abs(w[k]) ** p
    factor = total ** (2.0 / p - 1.0) / (p - 1.0) if total > 0.0 else 0.0
    for k in range(w.size):
        out[k] = factor * math.copysign(abs(w[k]) ** (p - 1.0), w[k])


@hot
def _pnorm_box_at(theta: Array, norm: float, p: float, low: Array, high: Array, out: Array) -> float:
    """Write the box point whose p-norm would be `norm`, and return the p-norm it really has."""
    total = 0.0
    for k in range(theta.size):
        size = ((p - 1.0) * abs(theta[k]) * norm ** (p - 2.0)) ** (1.0 / (p - 1.0)) if theta[k] != 0.0 else 0.0
        out[k] = min(max(math.copysign(size, theta[k]), low[k]), high[k])
        total += abs(out[k]) ** p
    return float(total ** (1.0 / p))


@hot
def _pnorm_simplex_at(theta: Array, shift: float, p: float, out: Array) -> float:
    """Write the non-negative point with multiplier `shift`, and return the sum of its coordinates."""
    q = p / (p - 1.0)
    total = 0.0
    for k in range(theta.size):
        out[k] = max(theta[k] + shift, 0.0)
        total += out[k] ** q
    factor = total ** (2.0 / q - 1.0) if total > 0.0 else 0.0
    mass = 0.0
    for k in range(theta.size):
        out[k] = factor * out[k] ** (q - 1.0)
        mass += out[k]
    return mass


@compiled
def pnorm_step(kind: int, p: float, numbers: Array, gradient: Array, step: float, point: Array) -> None:
    """Take one mirror step with the p-norm map on a box or a simplex, in place.

    The optimality conditions leave one unknown (the norm of the answer on a box, the multiplier of the sum on a
    simplex), in which they are monotone; bisection finds it to the last bit.
    """
    theta = np.empty(point.size)
    _pnorm_gradient(point, p, theta)
    for k in range(point.size):
        theta[k] -= step * gradient[k]
    if kind == PNORM_BOX:
        low, high = numbers[: point.size], numbers[point.size :]
        below, above = 0.0, 0.0
        for k in range(point.size):
            above += max(abs(low[k]), abs(high[k])) ** p
        above = above ** (1.0 / p)
        for _ in range(200):
            middle = 0.5 * (below + above)
            if middle <= below or middle >= above:
                break
            if _pnorm_box_at(theta, middle, p, low, high, point) > middle:
                below = middle
            else:
                above = middle
        _pnorm_box_at(theta, above, p, low, high, point)
    else:
        scale = numbers[0]
        top = theta.max()
        for k in range(point.size):
            theta[k] = (theta[k] - top) * (p - 1.0) / scale
        below, above = 0.0, 1.0
        for _ in range(200):
            middle = 0.5 * (below + above)
            if middle <= below or middle >= above:
                break
            if _pnorm_simplex_at(theta, middle, p, point) < 1.0:
                below = middle
            else:
                above = middle
        mass = _pnorm_simplex_at(theta, above, p, point)
        for k in range(point.size):
            point[k] *= scale / mass


class MirrorMap(metaclass=Checked):
    """A map R, 1-strongly convex in its norm over the domains it accepts."""

    exponent: float = 2.0

    @abstractmethod
    def kind(self, domain: Domain) -> int:
        """Return the number of the compiled step for `domain`, or raise if there is none."""

    @abstractmethod
    def value(self, w: ArrayLike, domain: Domain) -> float:
        """Return R(w)."""

    @abstractmethod
    def gradient(self, w: ArrayLike, domain: Domain) -> Array:
        """Return the gradient of R at w."""

    @abstractmethod
    def radius_squared(self, domain: Domain, start: Array) -> float:
        """Return an upper bound on the divergence from `start` to any decision (R squared in Appendix B.3)."""

    def divergence(self, x: ArrayLike, y: ArrayLike, domain: Domain) -> float:
        """Return the Bregman divergence D_R(x, y) = R(x) - R(y) - <grad R(y), x - y>."""
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

    def radius_squared(self, domain: Domain, start: Array) -> float:
        """Return D^2 / 2."""
        return 0.5 * domain.diameter**2


class NegativeEntropy(MirrorMap):
    """``R(w) = s sum_k w_k log(w_k / s)`` on the simplex of scale s: exponentiated gradient, Hedge.

    It is 1-strongly convex in the l1 norm, so the gradient bound that goes with it is on the largest entry. The
    dependence on the dimension is logarithmic: prefer it on a simplex of many coordinates. The step is taken in
    cumulative log space (dual averaging), which is the same as mirror descent for a constant step and keeps its
    guarantee when the step shrinks.

    Examples
    --------
    >>> import driftwise as dw
    >>> round(dw.mirror.NegativeEntropy().divergence([1.0, 0.0], [0.5, 0.5], dw.Simplex(2)), 6)
    0.693147
    """

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

    def radius_squared(self, domain: Domain, start: Array) -> float:
        """Return s^2 times the largest log(1 / share) of the start."""
        scale = self._scale(domain)
        return float(scale**2 * np.log(scale / start.min()))

    def _scale(self, domain: Domain) -> float:
        self.kind(domain)
        return float(domain.numbers[0])


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
        self.exponent = number("PNorm", "p", p, low=1.05)
        if self.exponent > 2.0:
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
        norm = float(np.linalg.norm(self._point(w, domain), self.exponent))
        return norm**2 / (2.0 * (self.exponent - 1.0))

    def gradient(self, w: ArrayLike, domain: Domain) -> Array:
        """Return ``|w|_p^(2-p) sign(w) |w|^(p-1) / (p - 1)``."""
        x = self._point(w, domain)
        out = np.empty_like(x)
        _pnorm_gradient(x, self.exponent, out)
        return out

    def radius_squared(self, domain: Domain, start: Array) -> float:
        """Return max R + R(start) + the support of -grad R(start): exact up to where the maxima are attained."""
        if isinstance(domain, Box):
            corner = np.maximum(np.abs(domain.low), np.abs(domain.high))
        else:
            self.kind(domain)
            corner = np.zeros(domain.dim)
            corner[0] = domain.numbers[0]
        slope = self.gradient(start, domain)
        return self.value(corner, domain) + self.value(start, domain) + float(domain.support(-slope))

    def __repr__(self) -> str:
        return f"PNorm({self.exponent:g})"
