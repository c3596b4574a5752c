"""Theorems about Hedge over gradient descents: Ader, Scream and Lazy Scream."""

from functools import cached_property
from typing import Any

from driftwise.learners import LazyScream, MoveConstants, Scream, move_constants
from driftwise.movecost import MoveCost, move_cost_for
from driftwise.regret import bounds
from driftwise.regret.theorems.base import Assumption, Theorem


class OfAder(Theorem):
    """Theorems 3 and 4 of Zhang, Lu and Zhou (2018), in which moves are not counted."""

    name = "Ader, Theorems 3 and 4 of Zhang, Lu, Zhou 2018"
    counts_moves = False

    def of_rounds(self, start: int, stop: int, tuned_for: int) -> float:
        """Return Ader's bound."""
        return bounds.ader(**self.moving(start, stop), tuned_for=tuned_for, anytime=self.shrinks)


class OfScream(Theorem):
    """Theorem 2."""

    name = "Theorem 2"

    learner: Scream

    @property
    def built(self) -> MoveCost:
        """The prices that the learner was built for."""
        return move_cost_for(self.owner, self.learner.switching_cost)

    def constants(self, start: int, stop: int, tuned_for: int) -> dict[str, Any]:
        """Return what the bounds of Scream take."""
        moves = self.moves
        built = {"switching_cost": moves.per_unit, "move_diameter": moves.diameter, "rate": self.learner.rate}
        return self.moving(start, stop) | built | {"tuned_for": tuned_for, "anytime": self.shrinks}

    @cached_property
    def moves(self) -> MoveConstants:
        """What moves within the domain can cost at the prices that the learner was built for."""
        return move_constants(self.learner.domain, self.built)

    def bound(self, t: int) -> float:
        """Return the bound for the first t rounds: where up and down cost differently, what that adds to a run too."""
        return super().bound(t) + self.moves.once

    def of_rounds(self, start: int, stop: int, tuned_for: int) -> float:
        """Return Scream's bound."""
        return bounds.scream(**self.constants(start, stop, tuned_for))

    def further(self) -> list[Assumption]:
        """Compare the prices that the learner was built for with those of the run."""
        return against_prices(self, self.built)


class OfLazyScream(OfScream):
    """Theorem 4."""

    name = "Theorem 4"

    learner: LazyScream  # type: ignore[assignment]

    def of_rounds(self, start: int, stop: int, tuned_for: int) -> float:
        """Return Lazy Scream's bound."""
        return bounds.lazy_scream(**self.constants(start, stop, tuned_for), epoch=self.learner.epoch)


def covers(built: MoveCost, needed: MoveCost, dim: int) -> bool:
    """Tell whether no move is cheaper at the prices a learner was built for than at those that are needed.

    A learner that was built for lower prices, even if only for moves down, does not hold its base-learners back from
    such moves, so nothing is proved about their cost.
    """
    prices = built.prices(dim) * (1.0 + 1e-9)
    if needed.norm == "l1" and built.norm == "l2":
        return bool(needed.largest(dim) <= prices.min())
    return bool((needed.prices(dim) <= prices).all())


def against_prices(theorem: Theorem, built: MoveCost) -> list[Assumption]:
    """Compare the prices that a learner was built for with those of its run, memory included."""
    found = Theorem.further(theorem) if theorem.own_losses else []
    if theorem.of_memory is None:
        return found
    needed, text, dim = [theorem.cost], f"{theorem.cost}", theorem.losses.dim
    if theorem.losses.memory:
        needed = [MoveCost(theorem.needed, norm="l2")]
        if theorem.cost.norm == "l1":  # a distance is no longer in l2 than in l1
            up, down = theorem.cost.prices(dim) + theorem.of_memory
            needed.append(MoveCost(up, down))
        text += f" and {theorem.of_memory:.6g} for memory"
    text = f"the learner was built for {built}, the run is priced at {text}"
    enough = any(covers(built, cost, dim) for cost in needed)
    return [*found, Assumption("switching cost", enough, text)]
