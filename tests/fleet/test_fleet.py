"""The verbs of a fleet: order, refusals, who is asked, who comes and goes; members that are objects have them too."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import driftwise as dw
from driftwise._validate import Array
from driftwise.errors import DriftwiseError, HorizonError, InputError, OrderError, ParameterError
from tests.fleet.cases import Beside, wander

BALL = dw.Ball(2)


class Mean(dw.Learner):
    """A learner of somebody else."""

    state_names = ("total", "count")

    def __init__(self, domain: dw.Domain) -> None:
        super().__init__(domain)
        self.total, self.count = np.zeros(domain.dim), 0

    def _decide(self) -> Array:
        return self.domain.project(-self.total / max(self.count, 1))

    def _learn(self, gradient: Array) -> None:
        self.total, self.count = self.total + gradient, self.count + 1


KINDS: dict[str, Callable[[], dw.Learner]] = {
    "states": lambda: dw.SelfTunedScream(BALL, switching_cost=1.0),
    "pools": lambda: dw.SelfTunedLearner(BALL, switching_cost=1.0),
    "objects": lambda: Mean(BALL),
    "rounded": lambda: dw.rounded(dw.OGD(dw.Box([0.0, 0.0], [9.0, 9.0]), step=1.0), seed=3),
    "late": lambda: dw.OGD(BALL, step=0.1, late=2),
}


def known(fleet: dw.Fleet) -> list[bytes]:
    return [fleet.member(i).to_bytes() for i in fleet.ids.tolist()]


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_the_verbs(kind: str) -> None:
    wander(KINDS[kind], rounds=20)


@pytest.mark.parametrize("kind", KINDS)
def test_a_refused_call_changes_nothing_for_anybody(kind: str) -> None:
    fleet = dw.Fleet(KINDS[kind](), 4)
    fleet.act()
    before = known(fleet)
    for bad in ([[1.0, 0.0], [np.nan, 1.0], [0.0, 0.0], [np.inf, 0.0]], [[1e101, 0.0]] * 4):
        with pytest.raises(InputError, match=r"members .* nobody has learnt"):
            fleet.observe(bad)
    for misshapen in (np.zeros((3, 2)), np.zeros((4, 3)), "words", [[1.0, 2.0]] * 3, np.zeros((4, 2), complex)):
        with pytest.raises(InputError):
            fleet.observe(misshapen)
    assert known(fleet) == before
    with pytest.raises(InputError, match="members 1, 3 "):
        fleet.observe([[1.0, 0.0], [np.nan, 1.0], [0.0, 0.0], [np.inf, 0.0]])


@pytest.mark.parametrize("kind", KINDS)
def test_bad_rows_are_skipped_and_counted_where_that_was_asked_for(kind: str) -> None:
    make = KINDS[kind]
    fleet, alone = dw.Fleet(make(), 3, on_bad_input="skip"), [make() for _ in range(3)]
    for t in range(6):
        rows = np.full((3, 2), 0.1 * t)
        if t % 2:
            rows[1] = np.nan
        assert fleet.act().tobytes() == np.array([learner.act() for learner in alone]).tobytes()
        fleet.observe(rows)
        for learner, row in zip(alone, rows, strict=True):
            learner.observe(row) if np.isfinite(row).all() else learner.skip()
    assert fleet.skipped.tolist() == fleet.refused.tolist() == [0, 3, 0]
    assert fleet.rounds.tolist() == [6, 6, 6]
    assert [fleet.member(i).skipped for i in range(3)] == [0, 3, 0]
    assert fleet.member(1).refused == 3
    assert fleet.act().tobytes() == np.array([learner.act() for learner in alone]).tobytes()


@pytest.mark.parametrize("kind", KINDS)
def test_rounds_without_feedback(kind: str) -> None:
    make = KINDS[kind]
    fleet, alone = dw.Fleet(make(), 3), [make() for _ in range(3)]
    for t in range(5):
        fleet.act()
        for i, learner in enumerate(alone):
            learner.act()
            learner.skip() if i == t % 3 else learner.observe([0.3, -0.1])
        if t % 2:
            fleet.skip([t % 3])
            fleet.observe([[0.3, -0.1]] * 2, ids=[i for i in range(3) if i != t % 3])
        else:
            fleet.observe([None if i == t % 3 else [0.3, -0.1] for i in range(3)])
        assert [fleet.member(i).clone().to_bytes() for i in range(3)] == [
            one.clone().clone().to_bytes() for one in alone
        ]
    assert fleet.skipped.sum() == 5


def test_losses_of_every_form_are_gradients_at_the_decisions() -> None:
    x = np.random.default_rng(0).normal(size=(3, 2))
    stream = dw.TrackingLoss(x)

    class Batch:
        def gradient(self, decisions: Array) -> Array:
            return decisions - x

    forms: list[Any] = [stream, [stream[i] for i in range(3)], Batch()]
    for kind in ("states", "objects"):
        fleets = [dw.Fleet(KINDS[kind](), 3) for _ in forms]
        for fleet, form in zip(fleets, forms, strict=True):
            fleet.act()
            fleet.observe(form)
        decided = [fleet.act() for fleet in fleets]
        assert np.allclose(decided[0], decided[1])
        common = dw.Fleet(KINDS[kind](), 3)
        common.act()
        common.observe(stream[1])
        assert np.allclose(common.act(), decided[0][1])
    fleet = dw.Fleet(KINDS["states"](), 3)
    fleet.act()
    for wrong in (dw.TrackingLoss(x[:2]), dw.TrackingLoss(np.ones((3, 3))), [stream[0], stream[1]]):
        with pytest.raises(InputError):
            fleet.observe(wrong)


def test_the_order_of_the_verbs_is_enforced() -> None:
    fleet = dw.Fleet(KINDS["states"](), 3)
    with pytest.raises(OrderError, match="members 0, 1, 2 have not acted"):
        fleet.observe(np.zeros((3, 2)))
    fleet.act(ids=[1])
    with pytest.raises(OrderError, match="members 0, 2 have not acted"):
        fleet.observe(np.zeros((3, 2)))
    fleet.observe(np.zeros((1, 2)), ids=1)
    assert fleet.rounds.tolist() == [0, 1, 0]
    for ids in ([3], [0, 0], [0.5], "a", [[0]], [-1]):
        with pytest.raises(InputError, match=r"Fleet\.act"):
            fleet.act(ids=ids)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="proposals go with fleets of committees"):
        fleet.act([[1.0]])


def test_decisions_are_read_only_and_stay_what_they_were() -> None:
    fleet = dw.Fleet(dw.OGD(BALL, step=0.1), 3)
    w = fleet.act()
    before = w.copy()
    fleet.observe(np.ones((3, 2)))
    fleet.step([1], [[1.0, 0.0]])
    assert np.array_equal(w, before)
    assert not np.array_equal(fleet.decisions(), before)
    with pytest.raises(ValueError, match="read-only"):
        w[0, 0] = 1.0


def test_a_horizon_ends() -> None:
    fleet = dw.Fleet(dw.OGD(BALL, step=0.1, horizon=2), 2)
    fleet.act()
    fleet.observe(np.ones((2, 2)))
    assert fleet.step([0, 1], np.ones((2, 2))).shape == (2, 2)
    with pytest.raises(HorizonError, match=r"members 0, 1 have played all 2 rounds"):
        fleet.act()
    fleet.replace(0, dw.OGD(BALL, step=0.1, horizon=5))
    fleet.act(ids=0)


def test_members_come_go_and_are_replaced() -> None:
    both = Beside([KINDS["states"](), KINDS["objects"](), KINDS["pools"]()])
    other = dw.Fleet(dw.OGD(BALL, step=0.2), 2)
    other.act()
    other.observe(np.ones((2, 2)))
    ids = both.fleet.add(other)
    for new, i in zip(ids.tolist(), other.ids.tolist(), strict=True):
        both.learners[new] = other.member(i)
    both.check()
    both.leave([1, 4])
    both.act()
    both.observe(np.ones((3, 2)))
    both.fleet.replace(2, dw.OGD(BALL, step=0.2))
    both.learners[2] = dw.OGD(BALL, step=0.2)
    both.act()
    both.check()
    with pytest.raises(ParameterError, match="coordinates"):
        both.fleet.add(dw.OGD(dw.Ball(3), step=0.1))
    with pytest.raises(ParameterError):
        both.fleet.add([3])  # type: ignore[list-item]
    both.fleet.remove(both.fleet.ids)
    assert len(both.fleet) == 0
    assert both.fleet.act().shape == (0, 2)
    assert both.fleet.add(KINDS["states"]()).tolist() == [5]


def test_a_clone_goes_its_own_way() -> None:
    fleet = dw.Fleet(KINDS["states"](), 3)
    fleet.act()
    other = fleet.clone()
    other.observe(np.ones((3, 2)))
    assert fleet.rounds.tolist() == [0, 0, 0]
    assert known(fleet) != known(other)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: dw.Fleet(3, 2),  # type: ignore[arg-type]
        lambda: dw.Fleet(KINDS["states"](), -1),
        lambda: dw.Fleet(KINDS["states"](), 2, workers=0),
        lambda: dw.Fleet(KINDS["states"](), 2, on_bad_input="shrug"),
        lambda: dw.Fleet(KINDS["states"](), 2, switching_cost=[1.0]),
        lambda: dw.Fleet(KINDS["states"](), 2, switching_cost=[1.0, -1.0]),
        lambda: dw.Fleet(KINDS["states"](), 2, radius=[1.0, 0.0]),
        lambda: dw.Fleet(KINDS["states"](), 2, start=[[0.0, 0.0], [2.0, 0.0]]),
        lambda: dw.Fleet(dw.OGD(dw.Simplex(2), step=0.1), 2, radius=[1.0, 2.0]),
        lambda: dw.Fleet.of([]),
        lambda: dw.Fleet.of([dw.Committee(2), KINDS["states"]()]),
    ],
)
def test_a_fleet_that_cannot_be_is_refused(wrong: Callable[[], Any]) -> None:
    with pytest.raises(DriftwiseError):
        wrong()


def test_memory_is_counted() -> None:
    fleet = dw.Fleet(dw.SelfTunedScream(dw.Box([0.0], [1.0]), switching_cost=1.0), 20_000)
    fleet.act()
    assert 500 < fleet.bytes_per_member < 900
    assert fleet.nbytes == round(fleet.bytes_per_member * 20_000)
    assert repr(fleet) == "Fleet(20000 members: 20000 as states; dim=1, rounds=0)"


@pytest.mark.parametrize("kind", ["states", "objects"])
def test_what_to_do_with_bad_input_is_the_learners_rule(kind: str) -> None:
    lenient: dw.Learner = dw.OGD(BALL, step=0.1, on_bad_input="skip") if kind == "states" else Mean(BALL)
    for fleet in (dw.Fleet(lenient, 2), dw.Fleet.of([lenient, lenient])):
        assert fleet.on_bad_input == lenient.on_bad_input
    strict = dw.Fleet(dw.OGD(BALL, step=0.1, on_bad_input="skip"), 2, on_bad_input="raise")
    strict.act()
    with pytest.raises(InputError, match=r"on_bad_input='skip'"):
        strict.observe([[1.0, 0.0], [np.nan, 0.0]])


def test_none_is_no_feedback_for_anybody() -> None:
    fleet = dw.Fleet(dw.OGD(BALL, step=0.1), 3)
    with pytest.raises(OrderError):
        fleet.observe(None)
    w = fleet.act()
    fleet.observe(None)
    assert fleet.skipped.tolist() == [1, 1, 1]
    assert fleet.act().tobytes() == w.tobytes()


def test_a_proposal_with_a_nan_sleeps_where_bad_input_is_skipped() -> None:
    rng, bad = np.random.default_rng(0), (4, 2)
    fleet = dw.Fleet(dw.Committee(3, 1.0), 5, on_bad_input="skip")
    alone = [dw.Committee(3, 1.0, on_bad_input="skip") for _ in range(5)]
    for t in range(8):
        proposals, losses = rng.normal(size=(5, 3)), rng.normal(size=(5, 3))
        if t % 3 == 1:
            proposals[bad] = np.nan
        decided = fleet.act(proposals)
        assert decided.tobytes() == fleet.act(proposals).tobytes()
        assert decided.tolist() == [one.act(list(row)) for one, row in zip(alone, proposals, strict=True)]
        fleet.observe(losses)
        for one, row in zip(alone, losses, strict=True):
            one.observe(list(row))
    assert fleet.refused.tolist() == [one.refused for one in alone] == [0, 0, 0, 0, 3]
    strict = dw.Fleet(dw.Committee(3, 1.0), 5)
    with pytest.raises(InputError):
        strict.act(np.full((5, 3), np.nan))
