"""Any order of act, observe, skip, save, clone and garbage: what is refused never happened, what is saved goes on.

Two of each controller are driven: one that is given everything, garbage included, and is saved, loaded and copied all
the time; and its *twin*, which is given only what is right and is never touched otherwise. They decide the same, bit
for bit. Those that pass over what is refused are told apart by that: their twin is told in the right words.
"""

from collections.abc import Callable
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import Phase, settings
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

import driftwise as dw
from driftwise import control
from driftwise._validate import Array
from driftwise.control.costs import Cost
from driftwise.errors import CheckpointError, DriftwiseError, OrderError
from tests.control.cases import UNIT, costs, squares
from tests.control.savers import BALLS, HALF, MAKERS, OWN, Mean, began, controller, drive, with_learner
from tests.strategies import seeds

FUZZED: tuple[str, ...] = (
    "linear",
    "policy",
    "Scream",
    "lazy Scream",
    "StronglyAdaptive",
    "SelfTunedLearner",
    "own learner",
    "own",
    "self-tuned",
    "self-tuned, no guard",
    "self-tuned, slow",
    "outputs",
    "outputs, no guard",
    "adaptive",
    "explore",
)

SIZES = (1.0, 1.0, 1e-3, 30.0, 0.0, 1e6, 1e90)
"""Sizes of states, drawn from in turn."""

PHASES = (Phase.explicit, Phase.generate)
"""Making an example smaller would play thousands of rounds, and every step of one is small already."""

NUMBERS = st.sampled_from([np.nan, np.inf, -np.inf, 1e101, -1e300])
OTHERS = st.sampled_from(["state", b"bytes", {}, {"x": 1.0}, object(), [[1.0], [2.0, 3.0]], 1j, None, [], [None], 3.0])


def garbage(size: int) -> st.SearchStrategy[Any]:
    """Return what may stand in place of `size` numbers."""
    poisoned = st.tuples(NUMBERS, st.integers(0, size - 1)).map(lambda drawn: poison(size, *drawn))
    shapes = st.sampled_from([(size + 1,), (size, 1, 1), (0,), (2, size + 2)]).map(np.ones)
    return st.one_of(poisoned, shapes, OTHERS, st.just(np.full(size, 1e200)), st.just(np.array(["x"] * size)))


def poison(size: int, bad: float, place: int) -> Array:
    values = np.ones(size)
    values[place] = bad
    return values


def bad_cost(kind: int) -> Any:
    return ["cost", 1.0, control.QuadraticCost(np.ones(9), 1.0), control.QuadraticCost, costs("scaled", 2, 1)][kind]


class Driven(RuleBasedStateMachine):
    """A controller that everything happens to, beside its twin."""

    name: str

    @initialize(rounds=st.integers(0, 120))
    def begin(self, rounds: int) -> None:
        self.one = controller(self.name)
        drive(self.one, began(self.one), rounds)
        self.twin = self.one.clone()
        self.acted: Array | None = None
        self.size = 1 if self.name.startswith("outputs") else self.one.state_dim
        low, high = self.one._bounds
        self.low, self.high = low, high

    def refuses(self, call: Callable[[], object]) -> bool:
        """Make a call; if it is refused, no byte may have changed."""
        before = self.one.to_bytes()
        try:
            call()
        except DriftwiseError:
            assert self.one.to_bytes() == before
            return True
        return False

    @precondition(lambda self: self.acted is None)
    @rule(seed=seeds, size=st.sampled_from(SIZES))
    def act(self, seed: int, size: float) -> None:
        x = size * np.random.default_rng(seed).standard_normal(self.size)
        if self.refuses(lambda: self.one.act(x)):
            return
        u, expected = self.one.act(x), self.twin.act(x)
        assert u.tobytes() == expected.tobytes()
        assert u.shape == (self.one.input_dim,)
        assert u.dtype == np.float64
        assert not u.flags.writeable
        assert np.isfinite(u).all()
        assert ((self.low <= u) & (u <= self.high)).all()
        self.acted = x

    @precondition(lambda self: self.acted is None)
    @rule(data=st.data())
    def act_on_garbage(self, data: st.DataObject) -> None:
        given = data.draw(garbage(self.size))
        if not self.refuses(lambda: self.one.act(given)):  # guarded: a sample that is lost, or a number
            self.twin.act(given)
            self.acted = given
            assert np.isfinite(self.one.act(given)).all()

    @precondition(lambda self: self.acted is not None)
    @rule(kind=st.sampled_from(["scaled", "targets", "soft", "absolute", "Huber", "own"]), seed=seeds)
    def observe(self, kind: str, seed: int) -> None:
        n, du = self.one.state_dim, self.one.input_dim
        cost: Cost = squares() if kind == "own" and self.name not in ("explore", "adaptive") else UNIT
        if kind != "own":
            cost = costs(kind, n, du)[seed % 30]
        applied = np.random.default_rng(seed).standard_normal(du) if seed % 3 == 0 else None
        if self.refuses(lambda: self.one.observe(cost, applied=applied)):
            self.end_without(seed)
            return
        self.twin.observe(cost, applied=applied)
        self.acted = None

    @precondition(lambda self: self.acted is not None)
    @rule(seed=seeds)
    def end_without(self, seed: int) -> None:
        applied = np.random.default_rng(seed).standard_normal(self.one.input_dim) if seed % 2 else None
        if seed % 4 < 2:
            self.one.skip(applied=applied)
        else:
            self.one.observe(None, applied=applied)
        self.twin.skip(applied=applied)
        self.acted = None

    @precondition(lambda self: self.acted is not None)
    @rule(data=st.data())
    def observe_garbage(self, data: st.DataObject) -> None:
        kind = data.draw(st.integers(0, 4))
        assert self.refuses(lambda: self.one.observe(bad_cost(kind)))
        given = data.draw(garbage(self.one.input_dim))
        if given is not None:
            assert self.refuses(lambda: self.one.observe(UNIT, applied=given))
            assert self.refuses(lambda: self.one.skip(applied=given))

    @rule()
    def out_of_order(self) -> None:
        before = self.one.to_bytes()
        calls: list[Callable[[], object]] = [lambda: self.one.observe(UNIT), self.one.skip]
        if self.acted is not None:
            calls = [lambda: self.one.act(np.full(self.size, 0.123456))]
        for call in calls:
            with pytest.raises(OrderError):
                call()
        assert self.one.to_bytes() == before

    @rule(through=st.sampled_from(["bytes", "file", "clone"]))
    def come_back(self, through: str) -> None:
        if through == "clone":
            self.one = self.one.clone()
        else:
            again = dw.from_bytes(self.one.to_bytes(), classes=OWN)
            assert (again.round, again.skipped, again.refused) == (self.one.round, self.one.skipped, self.one.refused)
            self.one = again

    @invariant()
    def counts(self) -> None:
        assert self.one.round == self.twin.round
        assert self.one.skipped == self.twin.skipped
        assert abs(self.one.weights.sum() - 1.0) <= 1e-12


def run(name: str, examples: int, steps: int) -> None:
    machine = type("Machine", (Driven,), {"name": name})
    chosen = settings(max_examples=examples, stateful_step_count=steps, phases=PHASES)
    run_state_machine_as_test(machine, settings=chosen)


@pytest.mark.parametrize("name", FUZZED)
def test_any_order_of_anything(name: str) -> None:
    run(name, examples=3, steps=25)


@pytest.mark.full
@pytest.mark.parametrize("name", [name for name in MAKERS if name not in ("explore, sized", "explore, moments")])
def test_any_order_of_anything_often(name: str) -> None:
    run(name, examples=80, steps=60)


class Passing(RuleBasedStateMachine):
    """A controller that passes over whatever is refused: nothing raises but what is out of order."""

    make: Callable[[], control.Controller]

    @initialize()
    def begin(self) -> None:
        self.one = type(self).make()
        self.size = 1 if isinstance(self.one, control.OutputFeedback) else self.one.state_dim
        self.acts = 0

    @precondition(lambda self: self.one._acted is None)
    @rule(data=st.data(), good=st.booleans())
    def act(self, data: st.DataObject, good: bool) -> None:
        x = data.draw(st.floats(-9.0, 9.0)) * np.ones(self.size) if good else data.draw(garbage(self.size))
        before = self.one.refused
        u = self.one.act(x)
        low, high = self.one._bounds
        assert np.isfinite(u).all()
        assert ((low <= u) & (u <= high)).all()
        assert self.one.refused <= before + (not good)
        self.acts += 1

    @precondition(lambda self: self.one._acted is not None)
    @rule(data=st.data(), good=st.booleans())
    def observe(self, data: st.DataObject, good: bool) -> None:
        cost = UNIT if good else data.draw(st.one_of(st.none(), st.integers(0, 4).map(bad_cost)))
        self.one.observe(cost, applied=None if good else data.draw(garbage(self.one.input_dim)))

    @rule()
    def come_back(self) -> None:
        before = self.one.to_bytes()
        self.one = dw.from_bytes(before, classes=OWN)
        assert self.one.to_bytes() == before

    @invariant()
    def counts(self) -> None:
        assert self.one.round == self.acts - (self.one._acted is not None)
        assert self.one.skipped <= self.one.round


PASSING: dict[str, Callable[[], control.Controller]] = {
    "Scream": lambda: control.ScreamController(HALF, memory=3, input_bound=3.0, on_bad_input="skip"),
    "own learner": lambda: with_learner(Mean(BALLS), on_bad_input="skip"),
    "self-tuned": lambda: control.SelfTunedController(HALF, memory=3, input_bound=3.0, on_bad_input="skip"),
    "outputs": lambda: control.OutputFeedback(HALF, guard=False, input_bound=3.0, on_bad_input="skip"),
    "adaptive": lambda: control.AdaptiveController(HALF, on_bad_input="skip"),
    "explore": lambda: control.ExploreThenCommit(
        K=[[0.4, 1.2]], state_dim=2, input_dim=1, exploration=30, probe=1.0, on_bad_input="skip"
    ),
}


def passing(name: str, examples: int, steps: int) -> None:
    machine = type("Machine", (Passing,), {"make": staticmethod(PASSING[name])})
    chosen = settings(max_examples=examples, stateful_step_count=steps, phases=PHASES)
    run_state_machine_as_test(machine, settings=chosen)


@pytest.mark.parametrize("name", PASSING)
def test_what_is_refused_is_passed_over(name: str) -> None:
    passing(name, examples=3, steps=30)


@pytest.mark.full
@pytest.mark.parametrize("name", PASSING)
def test_what_is_refused_is_passed_over_often(name: str) -> None:
    passing(name, examples=80, steps=80)


def damaged(data: bytes, places: Any, flip: int) -> None:
    """Check that flipped bytes and cut ends are found, at these places."""
    for place in places:
        flipped = bytearray(data)
        flipped[place] ^= flip
        for bad in (bytes(flipped), data[:place]):
            with pytest.raises(CheckpointError):
                dw.from_bytes(bad, classes=OWN)


@pytest.mark.parametrize("name", ["linear", "self-tuned", "outputs", "explore"])
def test_damage_of_a_controller_is_found(name: str) -> None:
    one = controller(name)
    drive(one, began(one), 30)
    data = one.to_bytes()
    damaged(data, [*range(40), *np.linspace(40, len(data) - 1, 150).astype(int).tolist()], 0x10)


@pytest.mark.full
@pytest.mark.parametrize("flip", [0x01, 0x80, 0xFF])
def test_every_flipped_byte_and_every_cut_of_a_controller_is_found(flip: int) -> None:
    for name in ("linear", "Scream", "explore"):
        one = controller(name)
        drive(one, began(one), 12)
        data = one.to_bytes()
        damaged(data, range(len(data)), flip)
