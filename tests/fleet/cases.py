"""Fleets beside lists of separate learners, which is what they promise to be."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import driftwise as dw
from driftwise._validate import Array


class Beside:
    """A fleet and, by id, the separate learners that its members are to be equal to."""

    def __init__(self, learners: Sequence[Any], **settings: Any) -> None:
        self.fleet = dw.Fleet.of(learners, **settings)
        self.learners = {i: learner.clone() for i, learner in enumerate(learners)}

    @property
    def width(self) -> int:
        """Number of coordinates."""
        return int(next(iter(self.learners.values())).domain.dim)

    def act(self) -> None:
        """Compare all decisions."""
        expected = [self.learners[i].act() for i in self.fleet.ids.tolist()]
        assert self.fleet.act().tobytes() == np.array(expected).tobytes()

    def observe(self, feedback: Array) -> None:
        """Give everybody a row."""
        self.fleet.observe(feedback)
        for i, row in zip(self.fleet.ids.tolist(), feedback, strict=True):
            self.learners[i].observe(row)

    def step(self, ids: Sequence[int], feedback: Array) -> None:
        """Take a step with some."""
        decisions = self.fleet.step(ids, feedback)
        for i, row, decision in zip(ids, feedback, decisions, strict=True):
            learner = self.learners[i]
            learner.act()
            learner.observe(row)
            assert decision.tobytes() == learner.act().tobytes()

    def join(self, learner: Any) -> None:
        """Let a copy join both."""
        (new,) = self.fleet.add(learner).tolist()
        self.learners[new] = learner.clone()

    def leave(self, ids: Sequence[int]) -> None:
        """Let some go from both."""
        self.fleet.remove(ids)
        for i in ids:
            del self.learners[i]

    def check(self) -> None:
        """Compare everything that is known of everybody."""
        assert self.fleet.ids.tolist() == sorted(self.learners)
        assert self.fleet.rounds.tolist() == [self.learners[i].round for i in self.fleet.ids.tolist()]
        for i, learner in self.learners.items():
            # Copies of copies: copying makes some arrays read-only, and that is saved too.
            assert self.fleet.member(i).clone().to_bytes() == learner.clone().clone().to_bytes()


def wander(make: Callable[[], Any], seed: int = 0, rounds: int = 40, **settings: Any) -> Beside:
    """Drive a fleet and separate learners through rounds of all or some, in any order, joining and leaving."""
    rng = np.random.default_rng(seed)
    both = Beside([make() for _ in range(5)], **settings)
    for _ in range(rounds):
        what = rng.integers(6)
        ids = both.fleet.ids
        if what < 3 or ids.size < 3:
            both.act()
            both.observe(rng.normal(size=(ids.size, both.width)))
        elif what == 3:
            some = rng.permutation(ids)[: rng.integers(1, ids.size + 1)]
            both.step(some.tolist(), rng.normal(size=(some.size, both.width)))
        elif what == 4:
            both.join(make())
        else:
            both.leave(rng.permutation(ids)[:1].tolist())
    both.act()
    both.check()
    return both
