"""Theorems about the learners without knobs: their bounds are made of the gradients that were seen. Not the paper's."""

import math

import numpy as np
from numpy.typing import ArrayLike

from driftwise._validate import Array
from driftwise.domains.kernels import SIMPLEX
from driftwise.learners import SelfTunedLearner, SelfTunedScream
from driftwise.learners.self_tuned.proposals import read_table
from driftwise.movecost import MoveCost, move_cost_for
from driftwise.regret.bounds.self_tuned import Clipped, clipped, seen_gradients, self_tuned
from driftwise.regret.theorems.base import Assumption, Theorem
from driftwise.regret.theorems.mixed import against_prices
from driftwise.trace import Trace

FOLLOWED = "Scream, follow"
"""The pair of `SelfTunedLearner` that the theorem is about."""


class OfSelfTunedScream(Theorem):
    """The theorem about `SelfTunedScream`, for any number of rounds and gradients of any size."""

    name = "the theorem on self-tuned Scream (page Proofs)"

    learner: SelfTunedScream

    def _lengths(self, gradients: Array) -> Array:
        return np.asarray(np.linalg.norm(self.within_simplices(gradients), axis=1))

    def within_simplices(self, gradients: Array) -> Array:
        """Return gradients without what all points of a simplex share, as the learner uses them."""
        rest, domain = np.array(gradients), self.trace.learner.domain  # type: ignore[union-attr]
        for block, part in zip(domain.blocks, domain.slices, strict=True):
            if block.kind == SIMPLEX:
                rest[:, part] -= rest[:, part].mean(axis=1, keepdims=True)
        return rest

    @property
    def built(self) -> MoveCost:
        """The prices that the learner was built for."""
        return move_cost_for(self.owner, self.learner.switching_cost)

    def of_rounds(self, start: int, stop: int, tuned_for: int) -> float:
        """Return the bound for the gradients of the first rounds."""
        path = float(self.paths[stop - 1])
        return max(self.of_gradients_seen(kept, path) for kept in clipped(self.slopes[:stop]))

    def of_gradients_seen(self, gradients: Clipped, path: float) -> float:
        """Return the bound for what was left of gradients."""
        lambda_ = self.built.largest(self.losses.dim)
        # With other prices in l2, a patient base-learner's move may be longer than its step on the round's gradient.
        steady = self.built.norm == "l1" or self.built.plain is not None
        seen, rounds = seen_gradients(gradients, self.D, lambda_, steady=steady), gradients.kept.size
        return self_tuned(seen, rounds, min(path, self.D * (rounds - 1)), self.D, lambda_)

    @property
    def schedule(self) -> str:
        """The schedule of the rates."""
        return "self-tuned"

    def of_gradients(self) -> Assumption:
        """Say that no bound on gradients is needed, and what was clipped."""
        text = f"none needed; the largest in the run is {self.seen:.6g}"
        cut = max(each.cut for each in clipped(self.slopes))
        return Assumption("gradient bound", True, f"{text}, and clipping took off {cut:.6g} in all" if cut else text)

    def of_shrinking(self) -> tuple[str, bool]:
        """Say that no horizon is needed."""
        return "none needed: the bound is for any number of rounds", True

    def further(self) -> list[Assumption]:
        """Compare the prices that the learner was built for with those of the run."""
        return against_prices(self, self.built)


class OfSelfTunedLearner(OfSelfTunedScream):
    """The theorem about `SelfTunedLearner`: that about self-tuned Scream, which is one of its pairs, and overheads.

    The run is played once more, by hand, to see what self-tuned Scream was given and what mixing and clipping cost.
    """

    name = "the theorem on the self-tuned learner (page Proofs)"

    learner: SelfTunedLearner  # type: ignore[assignment]

    def __init__(self, owner: str, trace: Trace, comparators: ArrayLike) -> None:
        super().__init__(owner, trace, comparators)
        self.sizes, self.mixed, self.hidden = np.zeros((3, self.T))
        self.followed, self.taken_back = True, self.T
        self._replay()

    def _replay(self) -> None:
        """Note each round's gradient for Scream, and what mixing has cost and clipping may have hidden so far."""
        player, losses, hidden, step = self.learner.clone(), self.losses, 0.0, 0.0
        given = self.trace.proposals
        named = {} if given is None else read_table(self.owner, player.domain, given, self.T)
        hints = np.full((self.T, 1), np.nan) if self.trace.hints is None else self.trace.hints
        for t, v in enumerate(self.v):
            here = {name: None if np.isnan(rows[t, 0]) else rows[t] for name, rows in named.items()}
            w = player.act(None if np.isnan(hints[t, 0]) else hints[t], here or None)
            at = w if player.scream is None else np.array(player.scream.act())
            player.observe(losses[t])
            if player.scream is None or FOLLOWED not in player.members:
                self.followed = False
                return
            g = player.scream.program.last_gradient(player.scream.cell)
            if player.linearised:
                at = w
            # What the loss was really worth beyond what Scream was told: nothing, where it was told a subgradient.
            hidden += max(losses[t].value(at) - losses[t].value(v) - float(g @ (at - v)), 0.0)
            proved = player.certificate(FOLLOWED)
            if player.scream.step_sizes[0] > step > 0.0:  # steps only grow where the first gradient was taken back
                self.taken_back = t
            step = float(player.scream.step_sizes[0])
            self.sizes[t], self.mixed[t] = np.linalg.norm(g), proved.multiple * proved.overhead
            self.hidden[t] = hidden + (0.0 if player.linearised else proved.clipping)

    def of_rounds(self, start: int, stop: int, tuned_for: int) -> float:
        """Return the bound of Scream on what it was given, and what mixing and clipping cost."""
        if not self.followed:
            return math.inf
        scream = self.of_gradients_seen(self._left(stop), float(self.paths[stop - 1]))
        return scream + float(self.mixed[stop - 1] + self.hidden[stop - 1])

    def _left(self, stop: int) -> Clipped:
        """Return what clipping has left of Scream's gradients; what it took off them is among what may be hidden."""
        kept = self.sizes[:stop].copy()
        if stop <= self.taken_back:
            return Clipped(kept, 0.0)
        t = int(np.flatnonzero(kept)[0])
        size, kept[t] = float(kept[t]), 0.0
        return Clipped(kept, size, (t, size))

    def of_gradients(self) -> Assumption:
        """Say that no bound on gradients is needed; what was clipped is said elsewhere."""
        return Assumption("gradient bound", True, f"none needed; the largest in the run is {self.seen:.6g}")

    def further(self) -> list[Assumption]:
        """Say whether Scream is one of the pairs, and what mixing and clipping have cost."""
        text = f"mixing cost {self.mixed[-1]:.6g} of the bound, clipping {self.hidden[-1]:.6g}"
        if not self.followed:
            text = "self-tuned Scream, followed, is not one of its pairs"
        return [*super().further(), Assumption("pairs", self.followed, text)]
