"""A learner as a function: what it knows, and what it does, after every history that somebody asks about.

Block diagrams are evaluated as functions are: several times a round, with inputs that are still being iterated, and
again from the start. A learner changes with every round. So each history of rounds that was asked about gets a number,
and answers are kept by it; the same question has the same answer, in whatever order it comes.
"""

from collections import OrderedDict
from collections.abc import Callable
from typing import NamedTuple

from driftwise._validate import Array
from driftwise.control.controllers import Controller
from driftwise.control.costs import Cost

RECENT = 8
"""Histories whose controllers are at hand, those that were asked about last."""

SPACING = 64
"""Of the others, one in so many rounds keeps its controller; what is between is played again if it is asked about."""


class Told(NamedTuple):
    """What a controller is told before it acts."""

    seen: Array
    """The state, or the output."""
    reference: Array | None

    @property
    def key(self) -> bytes:
        """The same for the same numbers, and different for others."""
        return self.seen.tobytes() + (b"" if self.reference is None else self.reference.tobytes())


class _Round(NamedTuple):
    """The last round of a history."""

    before: int
    """The history without it."""
    told: Told
    applied: Array


class Histories:
    """What a controller does after each history of rounds; history 0 has none.

    Parameters
    ----------
    controller : Controller
        The controller as it begins; it is left as it is.
    cost_of : callable
        ``cost_of(t)`` returns the cost of a round, counted from 0.
    """

    def __init__(self, controller: Controller, cost_of: Callable[[int], Cost]) -> None:
        self._cost_of = cost_of
        self._kept: dict[int, Controller] = {0: controller.clone()}
        self._recent: OrderedDict[int, Controller] = OrderedDict()
        self._acted: OrderedDict[tuple[int, bytes], Controller] = OrderedDict()
        self._rounds: list[_Round | None] = [None]
        self._lengths = [0]
        self._inputs: dict[tuple[int, bytes], Array] = {}
        self._following: dict[tuple[int, bytes, bytes], int] = {}

    def __len__(self) -> int:
        return len(self._rounds)

    def length(self, history: int) -> int:
        """Return the number of rounds of a history."""
        return self._lengths[history]

    def input(self, history: int, told: Told) -> Array:
        """Return what the controller does in the round after a history."""
        key = history, told.key
        if key not in self._inputs:
            self._inputs[key] = self._act(history, told)
        return self._inputs[key]

    def follow(self, history: int, told: Told, applied: Array | None) -> int:
        """Return the history with one more round, in which this input was applied; None for the controller's own."""
        u = self.input(history, told) if applied is None else applied
        key = history, told.key, u.tobytes()
        if key not in self._following:
            round_ = _Round(history, told, u)
            learnt = self._observed(round_)
            self._following[key] = len(self)
            self._rounds.append(round_)
            self._lengths.append(self._lengths[history] + 1)
            self._keep(len(self) - 1, learnt)
        return self._following[key]

    def controller(self, history: int) -> Controller:
        """Return a controller that has been through a history."""
        return self._at(history).clone()

    def _act(self, history: int, told: Told) -> Array:
        """Let a controller act, and hold it ready for the rest of the round."""
        acting = self.controller(history)
        # Not every controller takes references.
        u: Array = acting.act(told.seen) if told.reference is None else acting.act(told.seen, reference=told.reference)  # type: ignore[call-arg]
        self._acted[history, told.key] = acting
        while len(self._acted) > RECENT:
            self._acted.popitem(last=False)
        return u

    def _observed(self, round_: _Round) -> Controller:
        """Return a controller after a round."""
        key = round_.before, round_.told.key
        if key not in self._acted:
            self._act(round_.before, round_.told)
        acted = self._acted.pop(key)
        acted.observe(self._cost_of(self._lengths[round_.before]), applied=round_.applied)
        return acted

    def _at(self, history: int) -> Controller:
        """Return the controller that is kept for a history, after playing what is missing."""
        missing = []
        while history not in self._kept and history not in self._recent:
            missing.append(history)
            last = self._rounds[history]
            assert last is not None  # the first of all is always kept
            history = last.before
        for following in reversed(missing):
            last = self._rounds[following]
            assert last is not None
            self._keep(following, self._observed(last))
            history = following
        if history in self._recent:
            self._recent.move_to_end(history)
            return self._recent[history]
        return self._kept[history]

    def _keep(self, history: int, learnt: Controller) -> None:
        if self._lengths[history] % SPACING == 0:
            self._kept[history] = learnt
            return
        self._recent[history] = learnt
        while len(self._recent) > RECENT:
            self._recent.popitem(last=False)
