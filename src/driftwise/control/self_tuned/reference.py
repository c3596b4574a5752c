"""Self-tuned control as a readable NumPy statement: what the kernels beside this file compute, and tests compare with.

It follows the formulas, with sums over the whole past in place of recursions, on a linear plant whose disturbances are
known, without guard and bank. Round t begins when w_0, ..., w_{t-1} are known. The model is z' = A z + B u + [w, 0] and
its best gain K; lead and best are what a set-point adds to the gain in use and to K. Member i plays in its own copy ::

    u^0 = lead - (gain in use) z^0                    *zero*
    u^i = best - K z^i + s^i                          all others
    s^i = -(sum_k G_k) y^                             *hold*: y^ is the smoothed y = L'w
        = -sum_k G_k y^_{t+k}                         autoregressions: y^ is their forecast
        = sum_k M^i[k] w_{t-k}                        learners over policies

and what is added to the input is sum_i p_i (u^i - lead + (gain in use) z^i). The weights p are those of AdaHedge on ::

    l_t^i = trust_{t-1} (c_{t-1}^i - V_{t-1}^i) + trust_t V_t^i        V_{t-1} times 0.998, all less those of *zero*

where V is what z^i costs from here on, z'Pz + 2 z'(p + sum_{k>=1} (A_K')^k P w^_{t+k-1}), by the forecast of the first
autoregression after some rounds; l_t^i = trust_t c_t^i where costs are not those that the model was made for. Learners
over policies move by gradients at z_t(M^i) = z_t(0) + Z_t M^i, which is where they would be had M^i been in use all
along. A round counts for trust_t = min(1, 9 (mean size so far) / size), with size |z^0|^2 + |u^0|^2 + D^2 |Z_t|^2.
"""

import math

import numpy as np

from driftwise._validate import Array
from driftwise.control.costs import Cost
from driftwise.control.policies.engine import OUTLIER, SETTLED
from driftwise.control.policies.model import Model, set_point, targets_of
from driftwise.control.self_tuned import bank
from driftwise.control.self_tuned.forecasts import EXPERIENCED, KEPT, REACH, RIDGE
from driftwise.control.self_tuned.pool import AUTOREGRESSIONS, FADING, HOLDS, PACES, STEPS, STILL, Autoregression
from driftwise.domains import SpectralBalls
from driftwise.engine.hedge import TIE

FIRST = 1 + len(HOLDS) + len(AUTOREGRESSIONS)
"""Number of the first learner over policies."""


class Reference:
    """The members of a `SelfTunedController`, and their mixture.

    Parameters
    ----------
    model : Model
        The plant with its actuator, and the gains.
    domain : SpectralBalls
        Where policies live, of shape (H, du, n).
    size : float
        D, the size of a good gain.
    start : array of shape (n,)
        x_0.
    cost : Cost
        The first cost, whose set-point holds from the beginning.
    looking : bool, default True
        Whether members are judged by where they stand, too: the model was made for the cost.

    Attributes
    ----------
    policies : array of shape (learners, H du n)
        M^i, flat.
    weights : array of shape (N,)
        p.
    """

    def __init__(
        self, model: Model, domain: SpectralBalls, size: float, start: Array, cost: Cost, looking: bool = True
    ) -> None:
        self.model, self.domain, self.D, self.looking = model, domain, size, looking
        self.H, self.du, self.n = domain.shape
        self.start = np.concatenate([start, np.zeros(len(model.A) - self.n)])
        learners = len(STEPS) + len(PACES)
        share = (1.0 - STILL) / FIRST
        self.prior = np.array([STILL] + [share] * (FIRST - 1) + [share / learners] * learners)
        self.weights, self.gap, self.losses = self.prior.copy(), 0.0, np.zeros((0, FIRST + learners))
        self.policies = np.zeros((learners, domain.dim))
        self.gradients = np.zeros((0, learners, domain.dim))
        self.before = np.zeros(FIRST + learners)
        self.fits = {one: np.zeros((one.size, self.n)) for one in AUTOREGRESSIONS}
        self.added: list[Array] = []
        self.leads: list[tuple[Array, Array]] = []
        self.sizes: list[float] = []
        self._aim(cost)

    def _aim(self, cost: Cost) -> None:
        self.lead, self.best, self.tilt = set_point(self.model, *targets_of(cost, self.n, self.du))

    def act(self, disturbances: Array) -> Array:
        """Begin round t, after w_0, ..., w_{t-1}, and return what is added to the gain in use."""
        t, (nz, du) = len(disturbances), self.model.B.shape
        disturbances = self._cut(disturbances)
        y = disturbances @ self.model.scale.T
        holds = [-self.model.whole @ smoothed(y, share) for share in HOLDS]
        foreseen = [self._foreseen(one, y) for one in AUTOREGRESSIONS]
        fits = [-np.einsum("kuy,ky->u", self.model.preview, rows) for rows in foreseen]
        self.slope = self._slope_ahead(foreseen[0] if t >= EXPERIENCED else 0.0 * foreseen[0])
        recent = disturbances[: -self.H - 1 : -1]
        learnt = [np.einsum("kux,kx->u", M.reshape(self.domain.shape)[: len(recent)], recent) for M in self.policies]
        self.added.append(np.array([np.zeros(du), *holds, *fits, *learnt]))
        self.leads.append((self.lead, self.best))
        answers = np.array(self.added)
        self.copies = np.array([self._reached(answers[:, i], disturbances, i == 0) for i in range(len(self.weights))])
        states, inputs = self.copies[:, :nz], self.copies[:, nz:]
        assert len(self.added) == t + 1
        return np.asarray(self.weights @ (inputs - self.lead + states @ self.model.own.T))

    def observe(self, disturbances: Array, cost: Cost) -> None:
        """End round t with its cost."""
        nz, disturbances = len(self.model.A), self._cut(disturbances)

        def paid(z: Array) -> float:
            return cost.value(z[: self.n], z[nz:])

        def slope(z: Array) -> Array:
            in_x, in_u = cost.gradient(z[: self.n], z[nz:])
            return np.concatenate([in_x, np.zeros(nz - self.n), in_u])

        free, Z = self._features(disturbances)
        trust = self._trust(float(self.copies[0] @ self.copies[0] + self.D**2 * np.sum(Z**2)))
        values = np.array([paid(z) for z in self.copies])
        losses, size = trust * (values - values[0]), trust * float(np.abs(values).max())
        if self.looking:
            states = self.copies[:, :nz]
            ahead = np.einsum("ir,rs,is->i", states, self.model.P, states) + 2.0 * states @ (self.tilt + self.slope)
            size += trust * float(np.abs(ahead).max())
            ahead = trust * (ahead - ahead[0])
            losses, self.before = self.before + ahead, losses - FADING * ahead
        self._weigh(losses, size)
        self._descend(np.array([trust * Z.T @ slope(free + Z @ M) for M in self.policies]))
        self._aim(cost)

    def _cut(self, disturbances: Array) -> Array:
        """Return the disturbances as members see them: those that are far larger than usual cut."""
        return np.asarray(counted(disturbances @ self.model.scale.T)[:, None] * disturbances)

    def _reached(self, answers: Array, disturbances: Array, still: bool) -> Array:
        """Return the state and the input of a copy in round t, under the answers s_0, ..., s_t; *zero* stands still."""
        model, z = self.model, self.start
        for t, (s, (lead, best)) in enumerate(zip(answers, self.leads, strict=True)):
            u = lead - model.own @ z if still else best - model.K @ z + s
            if t < len(disturbances):
                z = model.A @ z + model.B @ u
                z[: self.n] += disturbances[t]
        return np.concatenate([z, u])

    def _features(self, disturbances: Array) -> tuple[Array, Array]:
        """Return z_t(0), and Z_t column by column: what M = 0, and every unit of M, would have led to."""
        units = np.eye(self.domain.dim + 1, self.domain.dim, -1).reshape(-1, *self.domain.shape)
        model, z = self.model, np.tile(self.start, (len(units), 1))
        for t, (_, best) in enumerate(self.leads):
            recent = disturbances[:t][: -self.H - 1 : -1]
            s = np.einsum("mkux,kx->mu", units[:, : len(recent)], recent)
            u = best - z @ model.K.T + s
            if t < len(disturbances):
                z = z @ model.A.T + u @ model.B.T
                z[:, : self.n] += disturbances[t]
        points = np.hstack([z, u])
        return points[0], (points[1:] - points[0]).T

    def _foreseen(self, one: Autoregression, y: Array) -> Array:
        """Return the forecast of an autoregression, fitted anew if it is time to, for as long as the preview is."""
        t, ahead = len(y), len(self.model.preview)
        if t > one.order and (t % one.every == 0 or t == one.silent(self.n)):
            self.fits[one] = fitted(one, y)
        if t < one.silent(self.n):
            return np.zeros((ahead, self.n))
        cut, rows = cuts(y), list(y)
        for _ in range(ahead):
            row = np.einsum("jn,jn->n", self.fits[one][: one.order], np.array(rows[: -one.order - 1 : -1]))
            rows.append(np.clip(row + (self.fits[one][-1] * cut if one.each else 0.0), -cut, cut))
        return np.array(rows[t:])

    def _slope_ahead(self, foreseen: Array) -> Array:
        """Return sum_{k>=1} (A_K')^k P w^_{t+k-1}."""
        closed = self.model.A - self.model.B @ self.model.K
        slope, power = np.zeros(len(closed)), self.model.P[:, : self.n] @ np.linalg.inv(self.model.scale)
        for row in foreseen:
            power = closed.T @ power
            slope += power @ row
        return slope

    def _trust(self, size: float) -> float:
        """Return what the round counts for, less than 1 if it is over three times as large as usual."""
        seen = [one for one in self.sizes if one > 0.0]
        usual = OUTLIER**2 * float(np.mean(seen)) if len(seen) >= SETTLED else math.inf
        self.sizes.append(min(size, usual))
        return min(1.0, usual / size) if size > 0.0 else 1.0

    def _weigh(self, values: Array, size: float) -> None:
        """Mix by AdaHedge: the rate is 1 over the sum of the mixability gaps, in which older rounds count for less.

        Differences that are rounding of numbers of a size are none.
        """
        gap = 0.0
        if np.ptp(values) > TIE * size:
            low, rate = values.min(), 1.0 / self.gap if self.gap else math.inf
            mix = 0.0 if self.gap == 0.0 else -np.log(self.weights @ np.exp(-rate * (values - low))) / rate
            gap = max(0.0, float(self.weights @ (values - low) - mix))
        self.gap = FADING * self.gap + gap
        self.losses = np.concatenate([self.losses, values[None]])
        totals = FADING ** np.arange(len(self.losses))[::-1] @ self.losses
        self.weights = self.prior * np.exp(-(totals - totals.min()) / self.gap) if self.gap else self.prior.copy()
        self.weights /= self.weights.sum()

    def _descend(self, gradients: Array) -> None:
        """Move the learners over policies, those in STEPS by one step size and those in PACES by one a coordinate."""
        self.gradients = np.concatenate([self.gradients, gradients[None]])
        D = self.D / math.sqrt(1.0 + self.H / max(sum(size > 0.0 for size in self.sizes), 1))
        squares = np.sum(self.gradients**2, axis=0)
        for i, (g, square) in enumerate(zip(gradients, squares, strict=True)):
            if not g.any():
                continue
            if i < len(STEPS):
                step = np.full(g.size, STEPS[i] * D / math.sqrt(square.sum()))
            else:
                step = PACES[i - len(STEPS)] * D / np.sqrt(g.size * np.where(square > 0.0, square, math.inf))
            self.policies[i] = self.domain.project(self.policies[i] - step * g)


def smoothed(y: Array, share: float) -> Array:
    """Return what *hold* says: the mean of all y at first, and a share of the newest later."""
    held = np.zeros(y.shape[1])
    for t, row in enumerate(y, start=1):
        held += max(share, 1.0 / t) * (row - held)
    return held


def cuts(y: Array) -> Array:
    """Return where forecasts are cut: at a multiple of the largest y, in which older ones count for less."""
    ages = np.arange(len(y))[::-1, None]
    return np.asarray(REACH * np.max(KEPT**ages * np.abs(y), axis=0))


def counted(y: Array) -> Array:
    """Return what every y counts for: less than 1 if it is far larger than usual, and few are in a row."""
    usual, wild, counts = 0.0, 0, np.ones(len(y))
    for t, energy in enumerate(np.sum(y**2, axis=1)):
        most = bank.OUTLIER * usual
        wild = wild + 1 if t >= bank.WINDOW / 5.0 and energy > most else 0
        if wild >= bank.STREAK:
            usual = energy
        elif wild:
            counts[t] = math.sqrt(most / energy)
        usual += (counts[t] ** 2 * energy - usual) / min(t + 1.0, bank.WINDOW)
    return counts


def fitted(one: Autoregression, y: Array) -> Array:
    """Return the coefficients of an autoregression by least squares over all of the past, shape (entries, n)."""
    t, n = y.shape
    # Regressors (rounds, entries, n): lags, the newest first, and the unit of the constant.
    rows = [[*y[s - one.order : s][::-1], *[cuts(y[:s])] * one.each] for s in range(one.order, t)]
    X, wanted = np.array(rows), y[one.order :]
    counts = one.forgetting ** np.arange(t - one.order)[::-1]
    moments, sides = np.einsum("s,sin,sjn->nij", counts, X, X), np.einsum("s,sin,sn->ni", counts, X, wanted)
    if not one.each:
        moments, sides = np.tile(moments.sum(axis=0), (n, 1, 1)), np.tile(sides.sum(axis=0), (n, 1))
    found = np.zeros((n, one.size))
    for k in range(n):
        trace = float(np.trace(moments[k]))
        if trace > 0.0:
            ridge = RIDGE / one.size * trace * np.eye(one.size)
            found[k] = np.linalg.solve(moments[k] + ridge, sides[k])
    return found.T
