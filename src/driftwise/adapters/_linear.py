"""A linear model whose coefficients are the decisions of a driftwise learner; river and scikit-learn share it.

A round is a row of features and a target. The learner is shown the loss of the score <row, w> against the target, and
decides on the next w. One stream of a single round is made, and its numbers are written over in every round, so that a
round costs little more than the learner itself takes. Only a loss that may have a word to say about its targets is made
anew in every round: it may refuse some, or take them as something else.

What is refused changes nothing: what can be foreseen (a target that the loss does not take, a horizon that is over, a
price of another kind) is checked before any model learns, and where something else may come in between, copies learn.
"""

import copy
import functools
import math
from collections.abc import Callable, Collection
from typing import Any, Self

import numpy as np

from driftwise._validate import Array, describe, number
from driftwise.domains import Ball, Domain
from driftwise.errors import HorizonError, ParameterError
from driftwise.estimators import SelfTunedScream
from driftwise.estimators import default as default_estimators
from driftwise.learners import Learner
from driftwise.learners.self_tuned.learner import SelfTunedLearner
from driftwise.losses import (
    AbsoluteLoss,
    FilteredLoss,
    HuberLoss,
    LogisticLoss,
    QuantileLoss,
    RoundLoss,
    SquaredLoss,
)
from driftwise.losses.forms import RegressionLoss
from driftwise.play import play

Make = Callable[[Domain], Learner]
Kind = Callable[[Any, Any], RegressionLoss]

LOSSES: dict[str, Kind] = {"squared": SquaredLoss, "absolute": AbsoluteLoss, "huber": HuberLoss}
"""Losses that have a name."""

PLAIN = (SquaredLoss, AbsoluteLoss, HuberLoss, QuantileLoss, FilteredLoss)
"""Losses for which any finite number is a target, and is taken as it is."""

LINEAR = """
loss : {"squared", "absolute", "huber"} or callable, default "squared"
    What an error costs: half its square, its size, or half its square up to 1 and its size beyond. Or what makes
    one of driftwise's losses of features and targets: ``functools.partial(dw.QuantileLoss, quantile=0.9)``.
switching_cost : float, default 0.0
    Price of moving the coefficients, the intercept among them, by one unit of Euclidean distance, in units of the
    loss. With 0, coefficients move as freely as they like.
radius : float, optional
    Largest Euclidean length that the coefficients may have; when left out, 1e9, which is as good as none.
l2 : float, default 0.0
    Weight of the penalty ``l2 |w|^2 / 2`` on the coefficients. The learner then works from gradients only, which is
    slower and less accurate, and needs a `radius`.
intercept : bool, default True
    Whether there is a constant term.
learner : callable, optional
    A function of a `Domain` that makes another learner, such as ``lambda domain: dw.OGD(domain, step=0.1)``. Most
    of them need a `radius` of about the right size.
"""
"""Parameters of the linear models, as all of them say it."""

WIDE = 1e9
"""Radius of the domain where none is given: estimators in units of the features do not care how wide it is."""

LARGEST = 1e30
"""Largest feature or target that is taken. With coefficients of at most `WIDE`, no loss and no gradient of these is too
large for a learner, so that a round is refused before anybody has learnt from it, or not at all."""

FEWEST = 32
"""Rounds from which on a compiled run is worth its setting up."""


class Settings:
    """What a model is made of, checked: the loss, the price of a move, the domain and who learns.

    Parameters
    ----------
    owner : str
        Who complains.
    loss : str or callable
        A name in `LOSSES`, or what makes a stream of features and targets, such as a class of losses.
    switching_cost, radius, l2, intercept, learner
        As the estimators have them.

    Attributes
    ----------
    plain, labels : bool
        Whether any finite number is a target of the loss; whether -1 and 1 are, and nothing else. Of a loss that is
        neither only its own constructor can tell.
    """

    def __init__(
        self,
        owner: str,
        loss: str | Kind,
        switching_cost: Any = 0.0,
        radius: Any = None,
        l2: Any = 0.0,
        intercept: bool = False,
        learner: Make | None = None,
    ) -> None:
        self.owner, self.learner, self.first = owner, learner, int(bool(intercept))
        if not callable(loss) and loss not in LOSSES:
            raise ParameterError(
                f"{owner}: loss must be one of {', '.join(map(repr, LOSSES))}, or a loss of features and targets such "
                f"as functools.partial(dw.QuantileLoss, quantile=0.9), got {describe(loss)}."
            )
        self.loss: Kind = loss if callable(loss) else LOSSES[loss]
        made = self.loss.func if isinstance(self.loss, functools.partial) else self.loss
        self.plain, self.labels = any(made is one for one in PLAIN), made is LogisticLoss
        self.price = number(owner, "switching_cost", switching_cost, low=0.0)
        self.l2 = number(owner, "l2", l2, low=0.0)
        self.radius = None if radius is None else number(owner, "radius", radius, low=0.0, exclusive=True)
        if self.radius is not None and self.radius > WIDE:
            raise ParameterError(
                f"{owner}: radius must be at most {WIDE:g}, got {describe(radius)}; leave it out if there is none."
            )
        if self.l2 > 0.0 and self.radius is None and learner is None:
            raise ParameterError(
                f"{owner}: with l2 above 0 the learner works from gradients, and must know how far coefficients may "
                "go: give a radius, such as 10.0; or leave l2 at 0, as coefficients need no penalty to stay tame."
            )
        if learner is not None and not callable(learner):
            raise ParameterError(
                f"{owner}: learner must be a function of a domain that makes a learner, such as "
                f"lambda domain: dw.OGD(domain, step=0.1), got {describe(learner)}."
            )

    def reprice(self, price: Any) -> None:
        """Set what a move costs from the next decision on."""
        self.price = number(self.owner, "switching_cost", price, low=0.0)

    def one_round(self, dim: int) -> RegressionLoss:
        """Return a stream of a single round, whose numbers are written over in every round."""
        return self.stream(np.zeros((1, dim)), np.ones(1))

    def stream(self, rows: Array, targets: Array) -> RegressionLoss:
        """Return the losses of rows, which refuse targets that they do not take."""
        stream = self.loss(rows, targets)
        if not isinstance(stream, RegressionLoss):
            raise ParameterError(
                f"{self.owner}: loss must make a loss of a score against a target, such as dw.SquaredLoss, got "
                f"{describe(stream)}."
            )
        if stream.data.features.shape != rows.shape:
            raise ParameterError(
                f"{self.owner}: loss must make one round of each row, in as many coordinates, of {len(rows)} rows in "
                f"{rows.shape[1]}; got {stream!r}."
            )
        return stream

    def new_learner(self, domain: Domain, start: Array | None) -> Learner:
        """Return a learner in a domain: of the user's, or a self-tuned one for losses of a score.

        `SelfTunedScream` is left out of the latter: it alone suffers from a domain that is far too wide.
        """
        if self.learner is not None:
            made = self.learner(domain)
            if not isinstance(made, Learner) or made.domain.dim != domain.dim:
                raise ParameterError(
                    f"{self.owner}: learner must make a learner that decides in the domain it is given, {domain!r}, "
                    f"got {describe(made)}."
                )
            return made
        by_score = [one for one in default_estimators() if not isinstance(one, SelfTunedScream)]
        return SelfTunedLearner(
            domain, switching_cost=self.price, start=start, estimators=by_score if self.l2 == 0.0 else None
        )

    def new(self, dim: int, start: Array | None = None) -> "Scorer":
        """Return a model in `dim` coordinates."""
        ball = Ball(dim, WIDE if self.radius is None else self.radius)
        return Scorer(self, ball, None if start is None else ball.project(start))


class Scorer:
    """Coefficients in a domain of fixed dimension, what they have moved, and what that has cost.

    Attributes
    ----------
    weights : array of shape (dim,)
        The present decision of the learner.
    moved : float
        Sum of the Euclidean lengths of all moves.
    paid : float
        The same, each move times its price.
    """

    def __init__(self, settings: Settings, domain: Domain, start: Array | None = None) -> None:
        self.settings, self._built_for = settings, settings.price
        self.learner = settings.new_learner(domain, start)
        self.moved = self.paid = 0.0
        self._begin()
        self.weights = self._played = self.learner.act()

    def _begin(self) -> None:
        """Make the stream that every round is written into."""
        stream = self.settings.one_round(self.learner.domain.dim)
        self._round, self._row, self._target = stream[0], stream.data.features[0], stream.data.targets

    def score(self, row: Array) -> float:
        """Return the score of a row."""
        return float(row @ self.weights)

    def learn(self, row: Array, target: float) -> None:
        """Take in a round; one that is refused changes nothing."""
        self.take(self.ready(row, target))

    def ready(self, row: Array, target: float) -> RoundLoss:
        """Return the loss of a round, to be taken before another is made ready; refuse what will be refused."""
        self._expect(1)
        if self.settings.plain or (self.settings.labels and (target == 1.0 or target == -1.0)):
            return self._written(row, target)
        return self.settings.stream(row[None], np.array([target]))[0]

    def take(self, loss: RoundLoss) -> None:
        """Take in a round that was made ready."""
        self._observe(loss)
        self._act()

    def learn_all(self, rows: Array, targets: Array) -> None:
        """Take in many rounds, in one compiled run if that is possible: the same as one after another.

        What can be foreseen is refused before the first. A learner that refuses a round by itself, or Ctrl-C, leaves
        those before it learnt: let a `copy` learn, and keep it when it is through.
        """
        self._expect(len(rows))
        fine = self.settings.plain or (self.settings.labels and bool((np.abs(targets) == 1.0).all()))
        losses = None if fine else self.settings.stream(rows, targets)
        if len(rows) < FEWEST or self.settings.l2 > 0.0 or self._repriced:
            for t, (row, target) in enumerate(zip(rows, targets.tolist(), strict=True)):
                self.take(self._written(row, target) if losses is None else losses[t])
            return
        rest = self.settings.stream(rows[1:], targets[1:])
        self._observe(self._written(rows[0], float(targets[0])) if losses is None else losses[0])
        trace = play(self.learner, rest, self.settings.price)
        self._count(trace.decisions[0])
        self._played = trace.decisions[-1]
        self._add(float(trace.moves.sum()))
        self._act()

    def succeed(self, other: "Scorer", played: Array) -> None:
        """Count on what another has moved, as if these, its weights, had been played here."""
        self.moved, self.paid, self._played = other.moved, other.paid, played

    def copy(self) -> Self:
        """Return one that goes on from here by itself, with the same settings."""
        other = copy.copy(self)
        other.learner = self.learner.clone()
        return other

    @property
    def of_their_own(self) -> bool:
        """Whether its learner is of a class of the user's own, which may refuse what cannot be foreseen."""
        return not type(self.learner).__module__.startswith("driftwise.")

    @property
    def _repriced(self) -> bool:
        """Whether a move costs something else than what the learner was built for."""
        return self.settings.price != self._built_for and self.learner._takes_prices

    def _expect(self, count: int) -> None:
        """Raise unless so many rounds can be learnt, and the decision after them be made."""
        learner, owner = self.learner, self.settings.owner
        if learner._round + count >= learner._limit:
            raise HorizonError(
                f"{owner}: its learner has a horizon of {learner.horizon}, and has learnt {learner.round} rounds: "
                f"{count} more and the decision after that do not fit, so nothing was learnt. Build the learner with "
                f"horizon={learner.round + count + 1} or more, or with horizon=None."
            )
        if self._repriced:
            learner._read_price(owner, self.settings.price)
        if learner._acted is None:  # the round before was interrupted once it was learnt
            self._act()

    def _written(self, row: Array, target: float) -> RoundLoss:
        """Return the loss of a round, written over the one before."""
        self._row[:], self._target[0] = row, target
        return self._round

    def _observe(self, loss: RoundLoss) -> None:
        if self.settings.l2 == 0.0:
            self.learner.observe(loss)
            return
        penalty = self.settings.l2 * self.weights
        penalty[: self.settings.first] = 0.0
        self.learner.observe(loss.gradient(self.weights) + penalty)

    def _act(self) -> None:
        """Let the learner decide, and count the move."""
        weights = self.learner.act(switching_cost=self.settings.price) if self._repriced else self.learner.act()
        self._count(weights)
        self.weights = self._played = weights

    def _count(self, weights: Array) -> None:
        """Count the move from what was played last."""
        way = weights - self._played
        self._add(math.sqrt(float(way @ way)))

    def _add(self, distance: float) -> None:
        self.moved += distance
        self.paid += self.settings.price * distance

    def __getstate__(self) -> dict[str, Any]:
        """Return what is to be copied: not the stream, which is made anew."""
        return {name: part for name, part in self.__dict__.items() if name not in ("_round", "_row", "_target")}

    def __setstate__(self, saved: dict[str, Any]) -> None:
        """Continue after copying or unpickling."""
        self.__dict__.update(saved)
        self._begin()


def risky(models: Collection[Scorer]) -> bool:
    """Tell whether one model may refuse, unforeseen, what another has learnt: copies are to learn then."""
    return len(models) > 1 and any(model.of_their_own for model in models)
