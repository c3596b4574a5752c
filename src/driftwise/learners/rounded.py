"""Whole-number decisions from any learner on a box, by rounding with one threshold per coordinate for the whole run."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from driftwise._html import Bar
from driftwise._validate import Array, array, checked, instance, read_only, seeded
from driftwise.domains import Box
from driftwise.drift import Held
from driftwise.errors import CheckpointError, OrderError, ParameterError
from driftwise.learners.base import Learner
from driftwise.learners.self_tuned import SelfTunedLearner
from driftwise.learners.self_tuned.explanation import Explanation, PoolCertificate
from driftwise.learners.self_tuned.proposals import Proposals
from driftwise.losses import LossStream
from driftwise.losses.jax_loss import OneLoss
from driftwise.movecost import MoveCost


class Rounded(Learner):
    """A learner whose decisions are whole numbers; made by `rounded`.

    Parameters
    ----------
    learner, seed
        As in `rounded`.

    Attributes
    ----------
    fractional : array of shape (dim,)
        The decision of the learner inside.

    Examples
    --------
    >>> import driftwise as dw
    >>> learner = dw.rounded(dw.SelfTunedScream(dw.Box([0.0], [9.0]), switching_cost=1.0, start=[4.5]), seed=0)
    >>> isinstance(learner, dw.learners.Rounded), learner.act(), learner.fractional
    (True, array([4.]), array([4.5]))
    """

    _for_all = ()

    def __init__(self, learner: Learner, seed: int | np.random.Generator) -> None:
        instance("rounded", "learner", learner, Learner, "OGD(Box(0.0, 10.0), step=0.1)")
        super().__init__(learner.domain, learner.horizon)
        if not isinstance(learner.domain, Box):
            raise ParameterError(
                f"rounded: the learner must decide in a Box, where whole numbers are near to every decision, got "
                f"{learner.domain!r}."
            )
        self._low, self._high = np.ceil(learner.domain.low), np.floor(learner.domain.high)
        empty = np.flatnonzero(self._low > self._high)
        if empty.size:
            k = int(empty[0])
            raise ParameterError(
                f"rounded: every side of the box must have a whole number in it, got {learner.domain.low[k]:g} to "
                f"{learner.domain.high[k]:g} at coordinate {k}."
            )
        self._inner = learner.clone()
        self._round = learner.round
        self._set_rules(learner.on_bad_input, learner.late)
        self._thresholds = seeded("rounded", seed).random(learner.domain.dim)
        self._fractional: Array | None = None
        self._given: dict[str, Any] = {}

    def _facts(self) -> list[tuple[str, str]]:
        return [("rounds the decisions of", type(self._inner).__name__), *self._inner._facts()]

    def _in_charge(self) -> tuple[str, list[Bar]]:
        return self._inner._in_charge()

    @property
    def takes_proposals(self) -> bool:
        """Whether the learner inside makes use of proposals."""
        return getattr(self._inner, "takes_proposals", isinstance(self._inner, SelfTunedLearner))

    @property
    def fractional(self) -> Array:
        """Decision of the learner inside, from which the latest whole-number decision was made."""
        if self._fractional is None:
            raise OrderError("Rounded: there is no decision yet to be the fractional one of; call act() first.")
        return self._fractional

    @property
    def weights(self) -> Array:
        """Weights of the learner inside."""
        return self._inner.weights

    @property
    def step_sizes(self) -> Array:
        """Step sizes of the learner inside."""
        return self._inner.step_sizes

    @property
    def skipped(self) -> int:
        """Number of rounds that ended without feedback, and have had none since."""
        return self._inner.skipped

    @property
    def refused(self) -> int:
        """Number of inputs that were refused and passed over, where the learner inside is to pass over them."""
        return self._inner.refused + self._passed

    @property
    def _takes_prices(self) -> bool:  # type: ignore[override]
        return self._inner._takes_prices

    def act(
        self,
        hint: ArrayLike | None = None,
        proposal: Proposals = None,
        *,
        switching_cost: float | MoveCost | None = None,
    ) -> Array:
        """Return the decision for this round: whole numbers, read-only, and the same until `observe`.

        Parameters
        ----------
        hint : array of shape (dim,), optional
            A guess of the gradient that this round will bring, for the learner inside.
        proposal : array of shape (dim,), or dict of arrays by name, optional
            Forecasts or rules of yours, for a `SelfTunedLearner` inside; they need not be whole numbers.
        switching_cost : float or MoveCost, optional
            What a move costs in this round, for the learner inside.
        """
        if proposal is not None:
            if not self.takes_proposals:
                raise ParameterError(
                    f"{self!r} makes no use of proposals; the learner inside must be a SelfTunedLearner."
                )
            if self._acted is not None:
                raise self._acts_again("a proposal, which belongs to the first act of a round")
            self.__dict__["_given"] = {"proposal": proposal}
        if switching_cost is not None:
            if self._acted is not None:
                raise self._acts_again("a switching cost, which belongs to the first act of a round")
            self.__dict__["_given"] = {**self._given, "switching_cost": switching_cost}
        try:
            return super().act(hint)
        finally:
            self.__dict__["_given"] = {}

    def explain(self) -> Explanation:
        """Say who is in charge of a `SelfTunedLearner` inside, and why."""
        return self._self_tuned("explain").explain()

    def certificate(self, pair: str | None = None) -> PoolCertificate:
        """Return the proved inequality of a `SelfTunedLearner` inside, about its fractional decisions.

        Parameters
        ----------
        pair : str, optional
            As in `SelfTunedLearner.certificate`.
        """
        return self._self_tuned("certificate").certificate(pair)

    def _self_tuned(self, verb: str) -> SelfTunedLearner:
        if not isinstance(self._inner, SelfTunedLearner):
            raise ParameterError(f"{self!r} has nothing to {verb}; the learner inside must be a SelfTunedLearner.")
        return self._inner

    def skip(self) -> None:
        """End the round without feedback: nothing is learnt, and the next decision is the same."""
        if self._acted is None:
            raise self._too_early("skip")
        self._inner.skip()
        self._end_round()

    def observe(
        self,
        gradient: "ArrayLike | OneLoss | LossStream | None",
        round: int | None = None,
        *,
        held: Held | None = None,
    ) -> None:
        """Take in what the decision cost, as the learner inside does: a loss is asked at its fractional decision.

        Parameters
        ----------
        gradient : array of shape (dim,), or a loss, or None
            As the learner inside takes it; None if there is no feedback, as with `skip`.
        round : int, optional
            The round that the feedback is for, if that is not the present one, within the window of the learner inside.
        held : None
            Not taken: what is held is a whole number, and the learner inside decides on fractions.
        """
        if held is not None:
            raise self._holds_nothing()
        if round is not None and not self._is_now(round, gradient):
            return self._inner.observe(gradient, round)
        if self._acted is None:
            raise self._too_early()
        self._inner.observe(gradient)
        self._end_round()
        return None

    state_names = ("_thresholds", "_fractional")

    def _configuration(self) -> dict[str, Any]:
        """Return what builds it again: the learner inside as it is now; thresholds are part of the state."""
        return {"learner": self._inner, "seed": 0}

    def _resume(self, saved: dict[str, Any]) -> None:
        """Continue from a state that was saved."""
        thresholds = array("Rounded", "thresholds", saved["_thresholds"], (self.domain.dim,))
        if not (thresholds.min() >= 0.0 and thresholds.max() < 1.0):
            raise CheckpointError(f"Rounded: thresholds are from 0 to 1, got {thresholds}.")
        super()._resume(saved)

    def __setstate__(self, saved: dict[str, object]) -> None:
        """Continue after copying or unpickling, where numpy forgets which arrays are read-only."""
        super().__setstate__(saved)
        if self._fractional is not None:
            self._fractional.setflags(write=False)

    def _decide(self) -> Array:
        given = {} if self._inner._acted is not None else self._given  # a hint has made it act
        fractional = self.__dict__["_fractional"] = self._inner.act(**given)
        inside = np.minimum(np.maximum(fractional, self._low), self._high)
        whole = np.floor(inside)
        # A fraction of 0 is never above the threshold, so the upper limit is never exceeded.
        return read_only(whole + (inside - whole > self._thresholds))

    def _take_hint(self, hint: Array) -> None:
        self._inner.act(hint, **self._given)

    def _learn(self, gradient: Array) -> None:
        self._inner.observe(gradient)

    def __repr__(self) -> str:
        return f"rounded({self._inner!r})"


@checked
def rounded(learner: Learner, seed: int | np.random.Generator = 0) -> Rounded:
    """Make the decisions of a learner whole numbers, without adding moves.

    For machines, seats and staff, which come in units. Rounding to the nearest whole number flaps when the learner
    wavers around a half; drawing anew every round flaps always. Here every coordinate has one threshold for the whole
    run, drawn at the start, and a decision is rounded up when its fraction is above it.

    Parameters
    ----------
    learner : Learner
        Any learner on a `Box`; it is cloned, and itself left alone.
    seed : int or numpy Generator, default 0
        Draws the thresholds, uniform in [0, 1).

    Returns
    -------
    Rounded
        A learner with the same two verbs, weights, step sizes and horizon. `fractional` is the decision of the learner
        inside; a loss given to `observe` is asked for its gradient there. What is given to `act`, a hint or with a
        `SelfTunedLearner` inside a proposal, is for the learner inside.

    Notes
    -----
    Let w_t be the fractional decision, moved to the nearest point between the outermost whole numbers of the box where
    the limits are not whole, and x_t the decision. Over the draw of the thresholds,

    - ``E x_t = w_t`` in every round;
    - ``E |x_t - x_{t-1}|_1 = |w_t - w_{t-1}|_1``: the expected number of unit moves is the l1 path of w, and so is the
      expected price under any prices up and down that add up over the coordinates (`MoveCost` with norm "l1");
    - the expected loss is that at w_t if the loss is linear. If it is convex, it is at least that in expectation;
      for a sum of functions of one coordinate each, it is their linear interpolation between the whole numbers;
    - x_t lies in the box, always.

    What is not kept: the Euclidean length of moves in more than one coordinate, and every statement about a single run.
    A run with few moves may have none or several times their expected number; only means are preserved.

    The learner inside learns from its own fractional decisions, so these do not depend on the seed.

    References
    ----------
    .. [1] Raghavan, Thompson, "Randomized rounding", Combinatorica 1987; with one threshold for the whole run it
       couples the draws of all rounds, so that a coordinate moves only when the fractional decision crosses it.

    Examples
    --------
    >>> import driftwise as dw
    >>> learner = dw.rounded(dw.OGD(dw.Box(0.0, 10.0), step=0.4), seed=0)
    >>> for demand in [3.0, 3.0, 3.0, 3.0]:
    ...     x = learner.act()
    ...     learner.observe([1.0 if learner.fractional[0] > demand else -4.0])
    >>> learner.act(), learner.fractional
    (array([4.]), array([4.4]))
    """
    return Rounded(learner, seed)
