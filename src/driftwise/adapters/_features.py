"""Linear models over features that have names, and come and go; one model, or one for each label.

Every name has a place, given when it is first learnt from; what is absent in a round counts as 0. When there are more
names than places, there are made to be twice as many: a wider learner begins where the old one is, and is taught the
last rounds again.
"""

from collections import deque
from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np

from driftwise._validate import Array, describe
from driftwise.adapters._linear import LARGEST, Scorer, Settings, risky
from driftwise.errors import InputError

RECENT = 128
"""Rounds that are kept, to teach a learner that takes over, or one for a label that is new."""

ONLY = "score"
"""Name of the model where there is one."""

NOBODY: Mapping[Hashable, Hashable] = {}

Features = Mapping[Hashable, Any]


class Named:
    """Scores of named features.

    Parameters
    ----------
    settings : Settings
        What each model is made of.
    labelled : bool
        Whether there is a model for each label, taught 1 where it is the target and -1 elsewhere.

    Attributes
    ----------
    places : dict
        The place of every name.
    models : dict
        The models, by label.
    """

    def __init__(self, settings: Settings, labelled: bool) -> None:
        self.settings, self.labelled = settings, labelled
        self.places: dict[Hashable, int] = {}
        self.models: dict[Hashable, Scorer] = {}
        self.dim = 1
        self._recent: deque[tuple[Array, Any]] = deque(maxlen=RECENT)

    def scores(self, x: Features) -> list[float]:
        """Return the score of every model."""
        row = self._row(self._checked(x))
        return [model.score(row) for model in self.models.values()]

    def learn(self, x: Features, y: Any, joining: Mapping[Hashable, Hashable] = NOBODY) -> None:
        """Let every model take in a round; one that is refused changes nothing.

        All models look at the round before the first of them learns. Where learners are of a class of the user's own,
        copies learn. After Ctrl-C in the middle, all go on, but some models may have learnt a round that others have
        not.

        New models join first: they are taught the last rounds, and begin with the coefficients of another model with
        their signs reversed, or at 0 if no other is named.
        """
        new = [] if self._checked(x).keys() <= self.places.keys() else [name for name in x if name not in self.places]
        # Places do not hang on the order in which features are given.
        for name in sorted(new, key=lambda name: (str(type(name)), repr(name))):
            self.places[name] = self.settings.first + len(self.places)
        try:
            dim, models = self.dim, self.models
            needed = self.settings.first + len(self.places)
            if needed > dim:
                dim = max(needed, 2 * dim)
            row = _padded(self._row(x), dim)
            if dim > self.dim:
                models = {label: self._wider(label, dim) for label in models}
            for label, other in joining.items():
                start = None if other is None else -_padded(models[other].weights, dim)
                models = {**models, label: self._taught(label, dim, start)}
            if self.settings.learner is not None and risky(models.values()):
                models = {label: model.copy() for label, model in models.items()}
            ready = [(model, model.ready(row, self._target(label, y))) for label, model in models.items()]
            for model, loss in ready:
                model.take(loss)
        except BaseException:
            for name in new:
                self.places.pop(name, None)
            raise
        self.dim, self.models = dim, models
        self._recent.append((row, y))

    def coefficients(self, label: Hashable) -> dict[Hashable, float]:
        """Return the coefficient of every name in a model."""
        weights = self.models[label].weights.tolist()
        return {name: weights[place] for name, place in self.places.items()}

    def constant(self, label: Hashable) -> float:
        """Return the intercept of a model."""
        return float(self.models[label].weights[0]) if self.settings.first else 0.0

    def _checked(self, x: Any) -> Features:
        """Return features, if they have names."""
        if isinstance(x, dict) or isinstance(x, Mapping):  # noqa: SIM101  (the first is ten times as fast)
            return x
        raise InputError(f"{self.settings.owner}: x must be a dict of features by name, got {describe(x)}.")

    def _row(self, x: Features) -> Array:
        """Return features in their places; those without one are left out."""
        places, first = self.places, self.settings.first
        row = [0.0] * max(self.dim, first + len(places))
        row[:first] = [1.0] * first
        name = value = None
        try:
            for name, value in x.items():
                if not -LARGEST <= value <= LARGEST:  # NaN is not between anything
                    raise ValueError
                if name in places:
                    row[places[name]] = float(value)
        except (TypeError, ValueError):
            raise InputError(
                f"{self.settings.owner}: feature {name!r} must be a finite number of at most {LARGEST:g} in size, got "
                f"{describe(value)}; encode text, and leave out what is missing. Nothing was learnt."
            ) from None
        return np.array(row)

    def _target(self, label: Hashable, y: Any) -> float:
        """Return what a model is taught."""
        if not self.labelled:
            return float(y)
        return 1.0 if y == label else -1.0

    def _taught(self, label: Hashable, dim: int, start: Array | None) -> Scorer:
        """Return a model in `dim` coordinates that begins at `start`, taught the last rounds, of no moves yet."""
        model = self.settings.new(dim, start)
        for row, y in self._recent:
            model.learn(_padded(row, dim), self._target(label, y))
        model.moved = model.paid = 0.0
        return model

    def _wider(self, label: Hashable, dim: int) -> Scorer:
        """Return what takes over from a model, with more coordinates."""
        old = self.models[label]
        start = _padded(old.weights, dim)
        new = self._taught(label, dim, start)
        new.succeed(old, start)
        return new


def _padded(row: Array, dim: int) -> Array:
    """Return a row with zeros behind it."""
    return row if row.size == dim else np.concatenate([row, np.zeros(dim - row.size)])
