"""The four sums that every bound of control is made of, over all powers of A_K or over those beyond the memory.

``|A_K^j|`` and ``|A_K^j B|`` say what a disturbance and an input do to later states, ``|K A_K^j|`` and ``|K A_K^j B|``
what they do to later inputs. At the scale "certified" the norms are computed one by one; at "theory" they are bounded
by kappa and gamma: ``|A_K^j| <= kappa^2 (1 - gamma)^j``.
"""

import math
from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np

from driftwise._validate import Array
from driftwise.control.plants import System
from driftwise.control.stability import StrongStability, certify
from driftwise.errors import ParameterError

LONGEST = 16_384
"""Powers of A_K whose norms are computed one by one; what comes after is bounded."""

BLOCK = 64
"""Powers that are computed at once."""

VANISHED = 1e-17
"""Norm of a power after which the rest is bounded."""


class Sums(NamedTuple):
    """Upper bounds on sums over powers of A_K."""

    states: float
    """Of the norms of A_K^j."""
    pushed: float
    """Of the norms of A_K^j B."""
    gains: float
    """Of the norms of K A_K^j."""
    answered: float
    """Of the norms of K A_K^j B."""

    def reach(self, total: float) -> tuple[float, float]:
        """Return what disturbances of norm 1 do to states, and to inputs by way of states.

        Policies whose radii have this total answer them.
        """
        return self.states + total * self.pushed, self.gains + total * self.answered


class Response(ABC):
    """The sums, over all powers (`whole`) or over those above H (`tail`)."""

    whole: Sums
    peaks: tuple[float, float]
    """Bounds on the largest norms of A_K^j and of K A_K^j."""

    @abstractmethod
    def tail(self, memory: int) -> Sums:
        """Return the sums over j > H."""


class CertifiedResponse(Response):
    """The sums from the norms themselves.

    From power n on, the norms of A_K^j sum to at most ``|A_K^n|`` times the whole sum s, so s is at most the sum of the
    first n norms over ``1 - |A_K^n|``; the other three sums follow in the same way.
    """

    def __init__(self, system: System, K: Array) -> None:
        norms, power = _norms(system, K)
        left = float(np.linalg.norm(power, 2))
        if left < 0.5:
            states = float(norms[0].sum()) / (1.0 - left)
        else:  # eigenvalues so near 1 that powers hardly shrink
            found = certify(system, K)
            states = float(norms[0].sum()) + found.condition * found.norm ** norms.shape[1] / found.gamma
        pushed = float(np.linalg.norm(power @ system.B, 2))
        gains = float(np.linalg.norm(K, 2)) * states
        self._norms, self._rest = norms, np.array([left * states, pushed * states, left * gains, pushed * gains])
        self.whole = self.tail(-1)
        self.peaks = max(float(norms[0].max()), self._rest[0]), max(float(norms[2].max()), self._rest[2])

    def tail(self, memory: int) -> Sums:
        """Return the sums over j > H."""
        return Sums(*(self._norms[:, memory + 1 :].sum(axis=1) + self._rest).tolist())


class TheoryResponse(Response):
    """The sums from kappa and gamma, as the paper has them."""

    def __init__(self, certificate: StrongStability, B: Array) -> None:
        kappa, self._gamma = certificate.kappa, certificate.gamma
        kappa_B = max(1.0, float(np.linalg.norm(B, 2)))
        self._sizes = kappa**2 * np.array([1.0, kappa_B, kappa, kappa * kappa_B])
        self.whole = self.tail(-1)
        self.peaks = kappa**2, kappa**3

    def tail(self, memory: int) -> Sums:
        """Return the sums over j > H."""
        left = (1.0 - self._gamma) ** (memory + 1) / self._gamma
        return Sums(*(left * self._sizes).tolist())


def _norms(system: System, K: Array) -> tuple[Array, Array]:
    """Return the four norms for j = 0, ..., n - 1, shape (4, n), and A_K^n."""
    closed, power = system.A - system.B @ K, np.eye(system.state_dim)
    block, found, terms = [power], [], 0
    with np.errstate(all="ignore"):
        for _ in range(BLOCK):
            block.append(block[-1] @ closed)
        steps = np.stack(block)
        while terms < LONGEST and not np.linalg.norm(power, 2) <= VANISHED:
            powers = steps[:-1] @ power
            parts = powers, powers @ system.B, K @ powers, K @ powers @ system.B
            if not all(np.isfinite(part).all() for part in parts):
                raise ParameterError(
                    "bounds: the powers of A - B K grow too large for floats before they shrink; bring the states to "
                    "units in which the entries of A are of similar size."
                )
            found.append(np.stack([np.linalg.norm(part, 2, axis=(1, 2)) for part in parts]))
            power, terms = steps[-1] @ power, terms + BLOCK
    return np.concatenate(found, axis=1), power


def shaken(whole: Sums, error: float, loop_error: float) -> Sums:
    """Return the sums of another plant, whose B is off by at most `error` and whose A_K by at most `loop_error`.

    A^j = A'^j + sum_{i<j} A'^(j-1-i) (A - A') A^i for the two loops A and A', so that s <= s' + loop_error s' s, and
    likewise for the others; infinite where loop_error s' is 1 or more.
    """
    margin = 1.0 - loop_error * whole.states
    if not margin > 0.0:
        return Sums(math.inf, math.inf, math.inf, math.inf)
    states = whole.states / margin
    pushed = (whole.pushed + error * whole.states) / margin
    gains = whole.gains * (1.0 + loop_error * states)
    answered = whole.answered + error * whole.gains + loop_error * whole.gains * pushed
    return Sums(states, pushed, gains, answered)
