"""Which model foresees states best: the one that was given, the one in use, or one that is fitted all the while.

Every model predicts the next state by A x + B u and an autoregression of what that left unexplained before, which was
fitted earlier; so all of them are judged by rounds that they have not seen. The fitted one is weighted least squares
with forgetting on data that are filtered by its own autoregression, so that a disturbance that is correlated over time
does not bias it as long as that explains it; and it is held to the model in use where the data say nothing.
"""

import math
from dataclasses import dataclass

import numpy as np

from driftwise._validate import Array
from driftwise.control.identification.instrumental import autoregression, whitened
from driftwise.control.identification.past import Past, Round

BLOCK = 25
"""Rounds between two looks at the data."""

WINDOW = 600
"""Rounds that are kept."""

FORGETTING = 0.997
"""What a round counts for in the next, in the fit."""

FADING = 0.9
"""What a block counts for in the next, as evidence: about 250 rounds count."""

FIRST = 150
"""Rounds before the first fit."""

HELD = 0.02
"""Weight of the model in use in the fit, beside that of the data, in each coefficient."""

FLOOR = 1e-4
"""Errors of this share of the mean square disturbance make no difference."""

TAPS = 20
"""Order of the autoregressions: with few, a wrong A that remembers disturbances for longer would foresee better."""

JUMP = 100.0
"""A state that is off by this many times what it ever was is a jump, or a sensor is wrong: nothing is learnt."""

PASSES = 2
"""How many times the fit and its autoregression are made from one another."""


@dataclass
class Model:
    """A model and how well it has predicted."""

    matrix: Array  # [A, B]
    taps: Array
    offset: Array  # mean of what is left unexplained
    spread: Array  # discounted sum of the outer products of its errors

    def left(self, features: Array, targets: Array) -> Array:
        """Return what the model leaves unexplained, less its mean."""
        return np.asarray(targets - features @ self.matrix.T - self.offset)

    def tune(self, features: Array, targets: Array) -> None:
        """Fit offset and autoregression to what is left unexplained."""
        plain = targets - features @ self.matrix.T
        self.offset = plain.mean(axis=0)
        self.taps = autoregression(plain - self.offset, TAPS)

    def like(self) -> "Model":
        """Return an independent copy."""
        return Model(self.matrix.copy(), self.taps.copy(), self.offset.copy(), self.spread.copy())


class Tracker:
    """The three models, and the evidence for each.

    Parameters
    ----------
    A, B : array
        The model that was given, which is the one in use at first.
    """

    def __init__(self, A: Array, B: Array) -> None:
        n, m = B.shape
        self.nominal = Model(np.hstack([A, B]), np.zeros(TAPS), np.zeros(n), np.zeros((n, n)))
        self.current = self.nominal.like()
        self.fitted: Model | None = None
        self.watched, self.largest = 0, np.zeros(n)  # rounds, and what states were off by at most, a jump cut
        self.rounds = 0.0  # discounted number of rounds that count as evidence
        self.energy = np.zeros(n)  # discounted sum of squares of what the model in use leaves unexplained
        self.noise = np.zeros((n, n))  # roots of the covariances of the errors of the fit: between outputs,
        self.doubt = np.zeros((n + m, n + m))  # and between coefficients

    def jumped(self, before: Round, x: Array) -> bool:
        """Tell whether a state is far from what the model in use foresees, beside how far states were off before."""
        left = np.abs(x - self.current.matrix @ np.concatenate([before.state, before.input]))
        most = np.where(self.largest > 0.0, JUMP * self.largest, np.inf)
        far = self.watched >= BLOCK and bool((left > most).any())
        self.watched, self.largest = self.watched + 1, np.maximum(self.largest, np.minimum(left, most))
        return far

    def look(self, past: Past) -> None:
        """Judge the models by the last block of rounds, then let them learn from it."""
        features, targets = np.hstack([past.states[:-1], past.inputs]), past.states[1:]
        if self.fitted is not None:
            self._judge(features[-BLOCK - TAPS :], targets[-BLOCK - TAPS :])
        for model in (self.nominal, self.current):
            model.tune(features, targets)
        if len(features) >= FIRST:
            self._fit(features, targets)

    def _judge(self, features: Array, targets: Array) -> None:
        assert self.fitted is not None
        self.rounds = FADING * self.rounds + BLOCK
        self.energy = FADING * self.energy + (self.current.left(features, targets)[TAPS:] ** 2).sum(axis=0)
        for model in (self.nominal, self.current, self.fitted):
            errors = whitened(model.left(features, targets), model.taps)
            model.spread = FADING * model.spread + errors.T @ errors

    def _fit(self, features: Array, targets: Array) -> None:
        """Fit a correction of the model in use."""
        n = len(self.current.matrix)
        new = (self.fitted or self.current).like()
        if self.fitted is None:
            for model in (self.nominal, self.current, new):
                model.spread = np.zeros((n, n))
        left = targets - features @ self.current.matrix.T
        both = np.hstack([features, left])
        both -= both.mean(axis=0)
        weights = np.sqrt(FORGETTING ** np.arange(len(features) - TAPS - 1, -1, -1.0))[:, None]
        for _ in range(PASSES):
            rows = weights * whitened(both, new.taps)
            phi, rest = rows[:, :-n], rows[:, -n:]
            moments = phi.T @ phi
            sizes = np.diag(moments)
            moments += np.diag(np.where(sizes > 0.0, HELD * sizes, 1.0))
            change = np.linalg.solve(moments, phi.T @ rest).T
            new.matrix = self.current.matrix + change
            new.tune(features, targets)
        errors = rest - phi @ change.T
        values, vectors = np.linalg.eigh(errors.T @ errors / float((weights**2).sum()))
        self.noise = vectors * np.sqrt(np.maximum(values, 0.0))
        self.doubt = np.linalg.cholesky(np.linalg.inv(moments))
        self.fitted = new

    def evidence(self, model: Model, against: Model) -> float:
        """Return the logarithm of the likelihood ratio of two models, by predictions of rounds they had not seen."""
        if self.rounds == 0.0:
            return 0.0
        floor = np.diag(FLOOR * self.energy + 1e-300)
        sizes = [np.linalg.slogdet(each.spread + floor)[1] for each in (against, model)]
        found = 0.5 * self.rounds * (sizes[0] - sizes[1])
        return float(found) if math.isfinite(found) else 0.0

    def draw(self, count: int, rng: np.random.Generator) -> tuple[Array, Array]:
        """Draw plants around the fitted model, with errors as large as its own."""
        assert self.fitted is not None
        n = len(self.fitted.matrix)
        z = rng.standard_normal((count, *self.fitted.matrix.shape))
        both = self.fitted.matrix + self.noise @ z @ self.doubt.T
        return both[:, :, :n], both[:, :, n:]

    def adopt(self) -> None:
        """Go on with the fitted model in place of the one in use."""
        assert self.fitted is not None
        self.current = self.fitted.like()

    def go_back(self) -> None:
        """Go on with the model that was given."""
        self.current = self.nominal.like()
        self.fitted = None
        self.rounds = 0.0
