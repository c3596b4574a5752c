"""Self-tuned control as a readable NumPy statement: what the kernels beside this file compute, and tests compare with.

It follows the formulas, with sums over the whole past in place of recursions, for quadratic costs z'Wz, z = (x, u), on
a linear plant. With the learners i = 1, ..., N, the first of which stays at M = 0, in round t: ::

    z_t(M)     = z_t(0) + Z_t M                       had M been in use all along; Z_t are the features
    z_t^i                                             the state and input of learner i, in a plant of its own
    trust_t    = min(1, 9 (mean size so far) / size)  with size = |z_t(0)|^2 + D^2 |Z_t|^2
    l_t^i      = trust_t (c_t(z_t^i) - c_t(z_t^1))
    p_t^i      ~ p_1^i exp(-L_{t-1}^i / Delta_{t-1})  where Delta is the sum of the mixability gaps (AdaHedge)
    M_t        = sum_i p_t^i M_t^i                    the policy in use

A learner that descends moves by its own gradient g = 2 trust Z'W z_t(M^i), with step D_t times its factor over
sqrt(sum |g|^2), or over sqrt(n sum g_c^2) in coordinate c, where D_t = D / sqrt(1 + H / t). One that fits takes half of
a sweep of Gauss-Seidel on (P + ridge) M = -q with P = sum_s share^(t-s) trust Z'WZ and q likewise of Z'W z(0), no
further than D / sqrt(H + age).
"""

import math

import numpy as np

from driftwise._validate import Array
from driftwise.control.plants import System
from driftwise.control.policies.engine import OUTLIER, SETTLED
from driftwise.control.policies.scales import WIDTH, gain_size
from driftwise.control.self_tuned.least_squares import RIDGE, SHARE
from driftwise.control.self_tuned.pool import FORGETTING, PACES, STEPS, STILL
from driftwise.domains import SpectralBalls

FIRST_FIT = 1 + len(STEPS) + len(PACES)
"""Number of the first learner that fits squares; before it come M = 0, STEPS and PACES."""


class Reference:
    """The learners of a `SelfTunedController`, and their mixture.

    Parameters
    ----------
    system : System
        The plant; its nominal (A, B) is used.
    K : array of shape (du, dx)
        The gain.
    memory : int
        H.
    start : array of shape (dx,)
        x_0.

    Attributes
    ----------
    policies : array of shape (N, n)
        M^i, flat.
    weights : array of shape (N,)
        p.
    """

    def __init__(self, system: System, K: Array, memory: int, start: Array) -> None:
        self.system, self.K, self.H, self.start = system, K, memory, start
        self.D, self.n = gain_size(system, K), memory * K.size
        self.domain = SpectralBalls((memory, *K.shape), WIDTH * self.D)
        N = FIRST_FIT + len(FORGETTING)
        self.prior = np.array([STILL] + [(1.0 - STILL) / (N - 1)] * (N - 1))
        self.weights, self.totals, self.gap = self.prior.copy(), np.zeros(N), 0.0
        self.policies, self.played = np.zeros((N, self.n)), np.zeros((N, 0, self.n))
        self.squares, self.spreads = np.zeros(N), np.zeros((len(PACES), self.n))
        self.P = np.zeros((len(FORGETTING), self.n, self.n))
        self.q, self.ages = np.zeros((len(FORGETTING), self.n)), np.zeros(len(FORGETTING))
        self.sizes: list[float] = []

    @property
    def mixture(self) -> Array:
        """The policy in use, flat."""
        return np.asarray(self.weights @ self.policies)

    def observe(self, disturbances: Array, Q: Array, R: Array) -> None:
        """End round t, after the disturbances w_0, ..., w_{t-1}, with the cost x'Qx + u'Ru."""
        t = len(disturbances)
        W = np.block([[Q, np.zeros((len(Q), len(R)))], [np.zeros((len(R), len(Q))), R]])
        held = (np.tile(policy, (t + 1, 1)) for policy in (np.zeros(self.n), *np.eye(self.n)))
        free, *moved = (self._reached(window, disturbances) for window in held)
        Z = np.array([z - free for z in moved]).T
        self.played = np.concatenate([self.played, self.policies[:, None]], axis=1)
        own = [self._reached(window, disturbances) for window in self.played]
        trust = self._trust(float(free @ free + self.D**2 * np.sum(Z**2)))
        values = np.array([z @ W @ z for z in own])
        self._weigh(trust * (values - values[0]))
        self._descend(trust * Z.T @ W, Z, free)
        self._fit(trust * Z.T @ W, Z, free)

    def _reached(self, window: Array, disturbances: Array) -> Array:
        """Return z_t under the policies M_0, ..., M_t."""
        x = self.start
        for t, policy in enumerate(window.reshape(-1, self.H, *self.K.shape)):
            recent = disturbances[:t][: -self.H - 1 : -1]
            u = -self.K @ x + np.einsum("iux,ix->u", policy[: len(recent)], recent)
            if t < len(disturbances):
                x = self.system.A @ x + self.system.B @ u + disturbances[t]
        return np.concatenate([x, u])

    def _trust(self, size: float) -> float:
        """Return what the round counts for, less than 1 if it is over three times as large as usual."""
        usual = OUTLIER**2 * float(np.mean(self.sizes)) if len(self.sizes) >= SETTLED else math.inf
        self.sizes.append(min(size, usual))
        return min(1.0, usual / size) if size > 0.0 else 1.0

    def _weigh(self, values: Array) -> None:
        """Mix by AdaHedge: the rate is 1 over the sum of the mixability gaps so far."""
        if np.ptp(values) > 0.0:
            rate, low = 1.0 / self.gap if self.gap else 1e200, values.min()
            mix = -np.log(self.weights @ np.exp(-rate * (values - low))) / rate
            self.gap += max(0.0, self.weights @ (values - low) - mix)
        self.totals += values
        rate = 1.0 / self.gap if self.gap else 0.0
        self.weights = self.prior * np.exp(-rate * (self.totals - self.totals.min()))
        self.weights /= self.weights.sum()

    def _descend(self, pull: Array, Z: Array, free: Array) -> None:
        """Move the learners that descend, those in STEPS by one step size and those in PACES by one a coordinate."""
        D = self.D / math.sqrt(1.0 + self.H / max(sum(size > 0.0 for size in self.sizes), 1))
        for i in range(1, FIRST_FIT):
            g = 2.0 * pull @ (free + Z @ self.policies[i])
            if not g.any():
                continue
            self.squares[i] += g @ g
            if i <= len(STEPS):
                step = np.full(self.n, STEPS[i - 1] * D / math.sqrt(self.squares[i]))
            else:
                spread = self.spreads[i - 1 - len(STEPS)]
                spread += g**2
                step = PACES[i - 1 - len(STEPS)] * D / np.sqrt(self.n * np.where(spread > 0.0, spread, math.inf))
            self.policies[i] = self.domain.project(self.policies[i] - step * g)

    def _fit(self, pull: Array, Z: Array, free: Array) -> None:
        """Move the learners that fit the cost by least squares, one for each share that a round counts for later."""
        for f, share in enumerate(FORGETTING):
            self.P[f] = share * self.P[f] + pull @ Z
            self.q[f] = share * self.q[f] + pull @ free
            self.ages[f] = share * self.ages[f] + 1.0
            ridge = RIDGE * np.trace(self.P[f]) / (self.n * self.ages[f])
            if ridge == 0.0:
                continue
            before = self.policies[FIRST_FIT + f]
            M = before.copy()
            for c in range(self.n):
                slope = self.q[f, c] + self.P[f, c] @ M + ridge * M[c]
                M[c] -= SHARE * slope / (self.P[f, c, c] + ridge)
            longest, length = self.D / math.sqrt(self.ages[f] + self.H), float(np.linalg.norm(M - before))
            M = before + min(1.0, longest / max(length, 1e-300)) * (M - before)
            self.policies[FIRST_FIT + f] = self.domain.project(M)
