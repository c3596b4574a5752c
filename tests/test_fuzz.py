"""Any order of act, observe, save, load, clone and garbage: what was refused never happened, what was saved goes on.

Two of each learner are driven: one that is given everything, garbage included, and is saved, loaded and copied all the
time; and its *twin*, which is given only what is right and is never touched otherwise. They decide the same, bit for
bit.
"""

from collections.abc import Callable
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
from driftwise._saving import build
from driftwise._validate import Array
from driftwise.errors import DriftwiseError, InputError, OrderError
from driftwise.learners.rounded import Rounded
from tests.strategies import seeds, vectors
from tests.test_checkpoint import LEARNERS, OWN

SIZES = (1.0, 1e-6, 1e6, 0.0)
"""Sizes of gradients, drawn from in turn."""


class Explodes:
    """A loss whose gradient cannot be had."""

    def gradient(self, w: Array) -> Array:
        raise ZeroDivisionError("no gradient here")


class Nonsense:
    """A loss whose gradient is no gradient."""

    def __init__(self, gradient: Any) -> None:
        self.given = gradient

    def gradient(self, w: Array) -> Any:
        return self.given

    def value(self, w: Array) -> float:
        return 0.0


def garbage(size: int) -> st.SearchStrategy[Any]:
    """Return what no verb accepts in place of `size` numbers."""
    bad = st.sampled_from([np.nan, np.inf, -np.inf, 1e101, -1e300])
    poisoned = st.tuples(vectors(size), st.integers(0, size - 1), bad).map(lambda drawn: poison(*drawn))
    shapes = st.sampled_from([(size + 1,), (size, 1, 1), (0,), (2, size + 2)]).map(np.ones)
    other = st.sampled_from(
        [
            "gradient",
            b"bytes",
            {},
            {"gradient": 1.0},
            object(),
            [[1.0], [2.0, 3.0]],
            1j,
            np.array(["x"] * size),
            [None] * size,
        ]
    )
    return st.one_of(poisoned, shapes, other, poisoned.map(Nonsense), other.map(Nonsense))


def poison(values: Array, place: int, bad: float) -> Array:
    values = values.copy()
    values[place] = bad
    return values


def rebuilt(learner: Any, lenient: bool) -> Any:
    """Return a learner of the same configuration, which passes over bad input if it is to be lenient."""
    given = dict(learner._configuration())
    if isinstance(learner, Rounded):  # the rules are those of the learner inside
        given["learner"] = rebuilt(given["learner"], lenient)
    elif lenient:
        given["on_bad_input"] = "skip"
    return build(type(learner), given)


class Pair(RuleBasedStateMachine):
    """One that is given everything, and its twin."""

    one: Any
    twin: Any
    rng: np.random.Generator
    acted: bool

    def refused(self, call: Callable[[], object], kinds: type[Exception] | tuple[type[Exception], ...]) -> None:
        before = self.one.to_bytes()
        with pytest.raises(kinds):
            call()
        assert self.one.to_bytes() == before

    @invariant()
    def weights_are_weights(self) -> None:
        weights = self.one.weights
        assert np.all(weights >= 0.0)
        assert abs(weights.sum() - 1.0) <= 1e-12
        assert self.one.round == self.twin.round + self.one.skipped


class Machine(Pair):
    """A learner, and everything that may happen to it."""

    name = ""

    @initialize(seed=seeds, lenient=st.booleans())
    def begin(self, seed: int, lenient: bool) -> None:
        self.one, self.twin = (rebuilt(LEARNERS[self.name](), lenient and mine) for mine in (True, False))
        self.lenient = lenient
        self.rng, self.acted = np.random.default_rng(seed), False

    @rule()
    def act(self) -> None:
        expected, decision = self.twin.act(), self.one.act()
        assert decision.tobytes() == expected.tobytes()
        assert self.one.domain.contains(decision)
        self.acted = True

    @precondition(lambda self: self.acted)
    @rule(size=st.sampled_from(SIZES))
    def observe(self, size: float) -> None:
        gradient = size * self.rng.standard_normal(self.one.domain.dim)
        self.one.observe(gradient)
        self.twin.observe(gradient)
        self.acted = False

    @precondition(lambda self: self.acted)
    @rule(data=st.data())
    def observe_garbage(self, data: st.DataObject) -> None:
        given = data.draw(garbage(self.one.domain.dim))
        if not self.lenient:
            self.refused(lambda: self.one.observe(given), InputError)
            return
        refused, skipped = self.one.refused, self.one.skipped
        self.one.observe(given)
        assert (self.one.refused, self.one.skipped) == (refused + 1, skipped + 1)
        self.acted = False

    @precondition(lambda self: self.acted)
    @rule(by_none=st.booleans())
    def skip(self, by_none: bool) -> None:
        """End a round without feedback; the twin knows nothing of it, and its decision still stands."""
        if by_none:
            self.one.observe(None)
        else:
            self.one.skip()
        self.acted = False

    @precondition(lambda self: not self.acted)
    @rule()
    def skip_too_early(self) -> None:
        self.refused(self.one.skip, OrderError)

    @precondition(lambda self: self.acted)
    @rule()
    def observe_what_raises(self) -> None:
        self.refused(lambda: self.one.observe(Explodes()), ZeroDivisionError)

    @precondition(lambda self: not self.acted)
    @rule(data=st.data())
    def hint_garbage(self, data: st.DataObject) -> None:
        given = data.draw(garbage(self.one.domain.dim).filter(lambda given: not isinstance(given, Nonsense)))
        if not self.lenient:
            self.refused(lambda: self.one.act(hint=given), DriftwiseError)

    @precondition(lambda self: not self.acted)
    @rule()
    def observe_too_early(self) -> None:
        self.refused(lambda: self.one.observe(np.zeros(self.one.domain.dim)), OrderError)

    @precondition(lambda self: self.acted)
    @rule()
    def hint_too_late(self) -> None:
        self.refused(lambda: self.one.act(hint=np.zeros(self.one.domain.dim)), OrderError)

    @rule()
    def misspell(self) -> None:
        self.refused(lambda: self.one.observe(gradients=np.zeros(self.one.domain.dim)), TypeError)
        self.refused(lambda: self.one.act(hints=None), TypeError)

    @rule()
    def save_and_load(self) -> None:
        again = dw.from_bytes(self.one.to_bytes(), classes=OWN)
        assert again.to_bytes() == self.one.to_bytes()
        self.one = again

    @rule()
    def clone(self) -> None:
        old, self.one = self.one, self.one.clone()
        old.act()
        old.observe(np.ones(old.domain.dim))  # whatever the original does, the copy is its own

    @rule()
    def restore(self) -> None:
        saved = self.one.clone()
        self.one.act()
        self.one.observe(np.ones(self.one.domain.dim))
        self.one.restore(saved)


class CommitteeMachine(Pair):
    """The same for committees, whose `act` takes proposals."""

    mode: str = "mix"
    movers: bool = False

    def made(self) -> dw.Committee:
        return dw.Committee(3, dw.MoveCost(up=0.5, down=0.1), mode=self.mode, seed=7, movers=self.movers)

    @initialize(seed=seeds)
    def begin(self, seed: int) -> None:
        self.one, self.twin = self.made(), self.made()
        self.rng, self.acted = np.random.default_rng(seed), False

    @precondition(lambda self: not self.acted)
    @rule(asleep=st.integers(0, 3))
    def act(self, asleep: int) -> None:
        proposals: list[Any] = list(self.rng.standard_normal((3, 2)))
        if asleep < 3:
            proposals[asleep] = None
        self.proposals = proposals
        assert self.one.act(proposals).tobytes() == self.twin.act(proposals).tobytes()
        self.acted = True

    @precondition(lambda self: self.acted)
    @rule()
    def act_again(self) -> None:
        assert self.one.act(self.proposals).tobytes() == self.twin.act(self.proposals).tobytes()
        self.refused(lambda: self.one.act(np.ones((3, 2))), OrderError)

    @precondition(lambda self: self.acted)
    @rule(size=st.sampled_from(SIZES))
    def observe(self, size: float) -> None:
        target = self.rng.standard_normal(2)
        for who in (self.one, self.twin):
            who.observe(lambda w: size * float(np.sum((np.asarray(w) - target) ** 2)))
        self.acted = False

    @precondition(lambda self: self.acted)
    @rule(data=st.data())
    def observe_garbage(self, data: st.DataObject) -> None:
        given = data.draw(garbage(3).filter(lambda given: not isinstance(given, Nonsense)))
        if isinstance(given, np.ndarray | list) and any(proposal is None for proposal in self.proposals):
            return  # numbers of those who slept are ignored, whatever they are
        self.refused(lambda: self.one.observe(given), InputError)

    @precondition(lambda self: self.acted)
    @rule(value=st.sampled_from([np.nan, np.inf, "much", None]))
    def observe_a_loss_that_is_garbage(self, value: Any) -> None:
        self.refused(lambda: self.one.observe(lambda w: value), InputError)

    @precondition(lambda self: not self.acted)
    @rule(data=st.data())
    def act_on_garbage(self, data: st.DataObject) -> None:
        given = data.draw(garbage(2).filter(lambda given: not isinstance(given, Nonsense)))
        self.refused(lambda: self.one.act([given, np.zeros(2), np.zeros(2)]), InputError)

    @precondition(lambda self: not self.acted)
    @rule()
    def observe_too_early(self) -> None:
        self.refused(lambda: self.one.observe([0.0, 0.0, 0.0]), OrderError)

    @rule()
    def save_and_load(self) -> None:
        again = dw.from_bytes(self.one.to_bytes())
        assert again.to_bytes() == self.one.to_bytes()
        self.one = again

    @rule()
    def clone(self) -> None:
        self.one = self.one.clone()


def run(machine: type[RuleBasedStateMachine], examples: int, steps: int) -> None:
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=examples, stateful_step_count=steps, deadline=None, derandomize=True, database=None
        ),
    )


def of_learner(name: str) -> type[Machine]:
    return type("OneLearner", (Machine,), {"name": name})


def of_committee(mode: str, movers: bool) -> type[CommitteeMachine]:
    return type("OneCommittee", (CommitteeMachine,), {"mode": mode, "movers": movers})


@pytest.mark.parametrize("name", LEARNERS)
def test_any_order_of_anything(name: str) -> None:
    run(of_learner(name), examples=3, steps=25)


@pytest.mark.full
@pytest.mark.parametrize("name", LEARNERS)
def test_any_order_of_anything_for_long(name: str) -> None:
    run(of_learner(name), examples=100, steps=60)


@pytest.mark.parametrize("movers", [False, True], ids=["plain", "movers"])
@pytest.mark.parametrize("mode", ["mix", "follow"])
def test_any_order_of_anything_in_a_committee(mode: str, movers: bool) -> None:
    run(of_committee(mode, movers), examples=6, steps=30)


@pytest.mark.full
@pytest.mark.parametrize("movers", [False, True], ids=["plain", "movers"])
@pytest.mark.parametrize("mode", ["mix", "follow"])
def test_any_order_of_anything_in_a_committee_for_long(mode: str, movers: bool) -> None:
    run(of_committee(mode, movers), examples=200, steps=60)
