"""One key: its learner, its latest decision, what it has paid, and what it takes to know a request that is repeated."""

import inspect
from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from driftwise._validate import Array, describe
from driftwise.checkpoint import from_bytes
from driftwise.errors import CheckpointError, InputError, OrderError, ParameterError
from driftwise.learners import Learner
from driftwise.movecost import MoveCost
from driftwise.serve.begin import settings_of
from driftwise.serve.shapes import Asked, Decided, Learnt, Paid, Settings, State, Told, Weights

NAMES = 16
"""Most names of proposals that a learner is given; each makes its rounds longer for good."""


class Entry:
    """The learner of a key.

    Parameters
    ----------
    key : str
        The key.
    learner : Learner
        Its learner, which belongs to the entry.
    """

    def __init__(self, key: str, learner: Learner) -> None:
        self.key, self.learner = key, learner
        self.event = 0
        """Number of the last event that it knows."""
        self.decision: Array | None = None
        self.asked: dict[str, Any] | None = None
        """What `act` was given in the round that is open."""
        self.last: dict[str, Any] | None = None
        """The last feedback, and its round."""
        self.names: list[str] = []
        self.moves, self.counted, self.running, self.moving = 0, 0, 0.0, 0.0

    # The verbs.  Whatever they raise, nothing has changed.

    def is_repeated(self, asked: Asked) -> bool:
        """Tell whether there is nothing to do, as the round is open; or raise, if it was opened otherwise."""
        now = self.learner.round
        if asked.round is not None and asked.round != now:
            raise OrderError(
                f"{self.key}: act is for round {asked.round}, and this is round {now}; GET /learners/{self.key} shows "
                "which round it is."
            )
        if self.asked is None:
            return False
        if asked.given() not in ({}, self.asked):
            raise OrderError(
                f"{self.key}: round {now} has its decision, made with {describe(self.asked)}; "
                f"POST /learners/{self.key}/observe ends it."
            )
        return True

    def act(self, asked: Asked) -> None:
        """Open a round."""
        given, takes = {}, inspect.signature(self.learner.act).parameters
        for name in ("proposal", "hint"):
            if (value := getattr(asked, name)) is not None:
                if name not in takes:
                    raise ParameterError(f"{self.key}: {self.learner!r} makes no use of a {name}; leave it out.")
                given[name] = _array(value)
        price = asked.price()
        if price is not None:
            given["switching_cost"] = price
        names = sorted({*self.names, *(asked.proposal if isinstance(asked.proposal, dict) else ())})
        if len(names) > NAMES:
            raise InputError(f"{self.key}: proposals have {NAMES} names at most, and these would be {len(names)}.")
        decision = self.learner.act(**given)
        self.names, self.asked = names, asked.given()
        if self.decision is not None and not np.array_equal(decision, self.decision):
            self.moves += 1
            cost = _prices_of(self.learner) if price is None else price
            if cost is not None:
                self.moving += _price(cost, decision - self.decision)
        self.decision = decision

    def has_learnt(self, told: Told) -> bool:
        """Tell whether there is nothing to do, as the same was the last feedback, for the same round."""
        return told.round is not None and self.last == {"round": told.round, "told": told.given()}

    def observe(self, told: Told) -> None:
        """End a round, or learn what comes late."""
        learner, now = self.learner, self.learner.round
        k = now if told.round is None else told.round
        if told.skip and k < now:
            raise OrderError(f"{self.key}: round {k} is over, and this is round {now}; it cannot be skipped any more.")
        self._expect_open(k)
        feedback: Any = None if told.gradient is None else np.asarray(told.gradient, np.float64)
        paid, dim = 0.0, learner.domain.dim
        if told.loss is not None:
            feedback = told.loss.loss()
            if feedback._stream.dim != dim:
                raise InputError(
                    f"{self.key}: the loss is one of {feedback._stream.dim} numbers, and a decision of this key has "
                    f"{dim}; give as many."
                )
            if self.asked is not None and k == now:
                assert self.decision is not None
                paid = feedback.value(self.decision)
        try:
            learner.observe(feedback, None if told.round is None else k)
        except OrderError:
            if k in (now, *learner._owed):
                raise
            raise OrderError(
                f"{self.key}: round {k} has had its feedback, and each round has it once; "
                '"skip": true leaves a round open for feedback that comes late.'
            ) from None
        if k == now:
            self.asked = None
            if told.loss is not None:
                self.running, self.counted = self.running + paid, self.counted + 1
        self.last = {"round": k, "told": told.given()}

    def _expect_open(self, k: int) -> None:
        """Raise unless feedback for a round can be taken now, and say which request comes first."""
        now, late = self.learner.round, self.learner.late
        if k > now:
            raise OrderError(f"{self.key}: feedback is for round {k}, and this is round {now}; {self._first(now)}.")
        if k == now and self.asked is None:
            raise OrderError(f"{self.key}: round {now} is not open; {self._first(now)}.")
        if k < now - late:
            taken = f"for the last {late} rounds that were skipped" if late else "for the round that is open only"
            raise OrderError(
                f"{self.key}: round {k} is over, and this is round {now}; this key takes feedback {taken} (--late, "
                "when a key begins)."
            )

    def _first(self, now: int) -> str:
        return f"POST /learners/{self.key}/act first, which opens round {now}"

    # What is shown.

    def decided(self) -> Decided:
        """Return the decision of the round that is open."""
        numbers, value = _shown(self.decision)
        assert numbers is not None
        return Decided(key=self.key, round=self.learner.round, decision=numbers, value=value)

    def learnt(self, told: Told, repeated: bool) -> Learnt:
        """Return that something was taken in."""
        rounds = self.learner.round
        k = rounds - 1 if told.round is None else told.round
        return Learnt(key=self.key, round=k, rounds=rounds, repeated=repeated)

    def state(self) -> State:
        """Return all of it at a glance."""
        numbers, value = _shown(self.decision)
        weights, knows = self.learner.weights, _prices_of(self.learner) is not None
        return State(
            key=self.key,
            learner=repr(self.learner),
            settings=Settings(**settings_of(self.learner)),
            round=self.learner.round,
            open=self.asked is not None,
            decision=numbers,
            value=value,
            moves=self.moves,
            paid=Paid(running=self.running, counted=self.counted, moving=self.moving if knows else None),
            skipped=self.learner.skipped,
            refused=self.learner.refused,
            weights=Weights(count=weights.size, largest=float(weights.max(initial=0.0))),
        )

    # What is saved.

    def saved(self) -> tuple[dict[str, Any], bytes]:
        """Return everything as JSON and bytes."""
        kept = {name: getattr(self, name) for name in _KEPT}
        decision = None if self.decision is None else self.decision.tolist()
        return {"key": self.key, "decision": decision, **kept}, self.learner.to_bytes()

    @classmethod
    def loaded(cls, what: dict[str, Any], data: bytes, classes: Sequence[type]) -> Self:
        """Return what was saved."""
        learner = from_bytes(data, classes=classes)
        if not isinstance(learner, Learner) or not what.keys() >= {"key", "decision", *_KEPT}:
            raise CheckpointError(f"serve: what was saved of key {what.get('key')!r} is no learner.")
        entry = cls(what["key"], learner)
        for name in _KEPT:
            setattr(entry, name, what[name])
        if what["decision"] is not None:
            entry.decision = np.array(what["decision"], np.float64)
        return entry


_KEPT = ("event", "asked", "last", "names", "moves", "counted", "running", "moving")


def _array(value: Any) -> Any:
    return {name: _array(one) for name, one in value.items()} if isinstance(value, dict) else value


def _prices_of(learner: Learner) -> float | MoveCost | None:
    """Return what a move costs, for a learner that knows."""
    inner = getattr(learner, "_inner", learner)  # of one whose decisions are rounded
    return getattr(inner, "switching_cost", None)


def _price(cost: float | MoveCost, change: Array) -> float:
    return float(cost(change)) if isinstance(cost, MoveCost) else cost * float(np.linalg.norm(change))


def _shown(decision: Array | None) -> tuple[list[float] | None, int | float | None]:
    """Return a decision as JSON, and as a number if it is one; a whole number has no decimal point."""
    if decision is None:
        return None, None
    numbers: list[float] = decision.tolist()
    if len(numbers) > 1:
        return numbers, None
    whole = numbers[0].is_integer() and abs(numbers[0]) < 2**53
    return numbers, int(numbers[0]) if whole else numbers[0]
