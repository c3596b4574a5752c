"""Fleets beside separate learners, through any order of rounds, garbage, joins, leaves, saves and copies."""

from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import settings
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

import driftwise as dw
from driftwise._validate import Array
from driftwise.errors import DriftwiseError, InputError
from tests.fleet.cases import Beside
from tests.fleet.test_fleet import KINDS, Mean
from tests.strategies import seeds

BAD = (np.nan, np.inf, -np.inf, 1e101)
NO_ROWS: tuple[Any, ...] = (
    "rows",
    b"rows",
    1j,
    {},
    object(),
    np.empty((0, 2)),
    np.ones(7),
    np.ones((2, 3, 4)),
    [[1.0]],
)
NO_IDS: tuple[Any, ...] = ([-1], [10**9], [0, 0], ["0"], [0.5], object(), np.ones((2, 2), int))


class Machine(RuleBasedStateMachine):
    """A fleet, the learners that its members are to be equal to, and everything that may happen to them."""

    kind = ""

    @initialize(seed=seeds, workers=st.sampled_from([1, 2]))
    def begin(self, seed: int, workers: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.both = Beside([KINDS[self.kind]() for _ in range(3)], workers=workers)
        self.acted = False

    def rows(self, count: int) -> Array:
        size = float(self.rng.choice([1.0, 1e-6, 1e6]))
        return np.asarray(size * self.rng.normal(size=(count, 2)))

    def some(self) -> list[int]:
        ids = self.both.fleet.ids
        return self.rng.permutation(ids)[: self.rng.integers(1, ids.size + 1)].tolist()  # type: ignore[no-any-return]

    def refused(self, call: Any) -> None:
        fleet = self.both.fleet
        before = fleet.to_bytes()
        with pytest.raises((DriftwiseError, TypeError)):
            call()
        assert fleet.to_bytes() == before

    @rule()
    def act(self) -> None:
        self.both.act()
        self.acted = True

    @precondition(lambda self: self.acted)
    @rule()
    def observe(self) -> None:
        self.both.observe(self.rows(len(self.both.fleet)))
        self.acted = False

    @rule()
    def step(self) -> None:
        some = self.some()
        self.both.step(some, self.rows(len(some)))
        self.acted = False  # those who took a step have acted, the others perhaps not

    @precondition(lambda self: self.acted)
    @rule(place=st.integers(0, 9), bad=st.sampled_from(BAD))
    def one_bad_row(self, place: int, bad: float) -> None:
        rows = self.rows(len(self.both.fleet))
        rows[place % len(rows), place % 2] = bad
        with pytest.raises(InputError, match=f"{int(self.both.fleet.ids[place % len(rows)])}"):
            self.both.fleet.observe(rows)
        self.refused(lambda: self.both.fleet.observe(rows))

    @precondition(lambda self: self.acted)
    @rule(rows=st.sampled_from(NO_ROWS))
    def no_rows(self, rows: Any) -> None:
        self.refused(lambda: self.both.fleet.observe(rows))

    @rule(ids=st.sampled_from(NO_IDS))
    def nobody(self, ids: Any) -> None:
        fleet = self.both.fleet
        for verb in (fleet.remove, fleet.skip, fleet.decisions, lambda ids: fleet.step(ids, np.zeros((1, 2)))):
            self.refused(lambda verb=verb: verb(ids))
        self.refused(lambda: fleet.member(ids))
        self.refused(lambda: fleet.replace(ids, KINDS[self.kind]()))

    @rule()
    def strangers(self) -> None:
        fleet = self.both.fleet
        for other in (dw.OGD(dw.Ball(3), step=0.1), dw.Committee(2), "learner", None, 7):
            self.refused(lambda other=other: fleet.add(other))
            self.refused(lambda other=other: fleet.replace(int(fleet.ids[0]), other))

    @precondition(lambda self: self.acted)
    @rule()
    def skip(self) -> None:
        some = self.some()
        self.both.fleet.skip(some)
        for i in some:
            self.both.learners[i].act()
            self.both.learners[i].skip()
        self.acted = False
        rest = [i for i in self.both.fleet.ids.tolist() if i not in some]
        if rest:
            rows = self.rows(len(rest))
            self.both.fleet.observe(rows, ids=rest)
            for i, row in zip(rest, rows, strict=True):
                self.both.learners[i].observe(row)

    @precondition(lambda self: len(self.both.fleet) < 6)
    @rule(kind=st.sampled_from(sorted(KINDS)))
    def join(self, kind: str) -> None:
        self.both.join(KINDS[kind]())
        self.acted = False

    @precondition(lambda self: len(self.both.fleet) > 1)
    @rule()
    def leave(self) -> None:
        self.both.leave(self.some()[:1])

    @rule()
    def save_and_load(self) -> None:
        data = self.both.fleet.to_bytes()
        self.both.fleet = dw.from_bytes(data, classes=[Mean])
        assert self.both.fleet.to_bytes() == data

    @rule()
    def clone(self) -> None:
        old, self.both.fleet = self.both.fleet, self.both.fleet.clone()
        old.act()
        old.observe(np.ones((len(old), 2)))  # whatever the original does, the copy is its own

    @invariant()
    def members_are_what_they_would_be_alone(self) -> None:
        self.both.check()


@pytest.mark.parametrize("kind", KINDS)
def test_any_order_of_anything(kind: str) -> None:
    run(kind, examples=5, steps=20)


@pytest.mark.full
@pytest.mark.parametrize("kind", KINDS)
def test_any_order_of_anything_for_long(kind: str) -> None:
    run(kind, examples=100, steps=50)


def run(kind: str, examples: int, steps: int) -> None:
    chosen = settings(max_examples=examples, stateful_step_count=steps, deadline=None, derandomize=True, database=None)
    run_state_machine_as_test(type("OneFleet", (Machine,), {"kind": kind}), settings=chosen)
