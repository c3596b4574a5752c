"""One key: its learner, and the requests that come for it twice, too late, or in the wrong order."""

from typing import Any

import numpy as np
import pytest

import driftwise as dw
from driftwise.errors import CheckpointError, InputError, OrderError, ParameterError
from driftwise.serve.entry import Entry
from driftwise.serve.shapes import Asked, Told
from tests.serve.local import Own, machines, tuned

LOSS = {"kind": "capacity", "demand": 17, "shortage": 5}


def told(**given: Any) -> Told:
    return Told.model_validate(given or {"loss": LOSS})


def one_round(entry: Entry, asked: Asked | None = None, **given: Any) -> None:
    entry.act(asked or Asked())
    entry.observe(told(**given))


def test_it_decides_as_its_learner_does() -> None:
    entry, learner = Entry("web", tuned()), tuned()
    for t in range(12):
        entry.act(Asked(proposal=float(t)))
        decision = learner.act(proposal=float(t))
        assert entry.decided().decision == decision.tolist()
        loss = dw.CapacityLoss([10.0 + t % 4], shortage=5.0)[0]
        entry.observe(told(loss={**LOSS, "demand": 10 + t % 4}))
        learner.observe(loss)
    assert entry.learner.to_bytes() == learner.to_bytes()


def test_what_is_paid_is_what_a_trace_says() -> None:
    entry, demand = Entry("web", tuned()), np.array([30.0, 12.0, 18.0, 9.0, 30.0, 14.0, 18.0, 9.0])
    for value in demand.tolist():
        one_round(entry, loss={**LOSS, "demand": value})
    trace = dw.play(tuned(), dw.CapacityLoss(demand, shortage=5.0), dw.MoveCost(up=6.0, down=0.0))
    state = entry.state()
    assert state.paid.running == pytest.approx(trace.total - trace.total_switching)
    assert state.paid.moving == pytest.approx(trace.total_switching)
    assert state.paid.counted == 8
    assert state.moves == int(np.count_nonzero(np.diff(trace.decisions[:, 0])))
    assert state.moves > 0
    assert state.value == entry.learner.act(None).tolist()[0] or not state.open


def test_a_price_of_a_round_is_the_one_that_is_paid() -> None:
    entry = Entry("web", tuned())
    one_round(entry)
    first = entry.decision
    price = Asked.model_validate({"switching_cost": {"up": 2.0, "down": 2.0}})
    entry.act(price)
    assert first is not None
    assert entry.decision is not None
    move = abs(float(entry.decision[0] - first[0]))
    assert move > 0.0
    assert entry.moving == pytest.approx(2.0 * move)


def test_the_same_question_has_the_same_answer_until_observe() -> None:
    entry = Entry("web", tuned())
    asked = Asked(proposal=12.0)
    entry.act(asked)
    before = entry.saved()
    assert entry.is_repeated(asked)
    assert entry.is_repeated(Asked())
    assert entry.is_repeated(Asked(proposal=12.0, round=0))
    with pytest.raises(OrderError, match=r"round 0 has its decision, made with \{'proposal': 12.0\}"):
        entry.is_repeated(Asked(proposal=13.0))
    with pytest.raises(OrderError, match="act is for round 1, and this is round 0"):
        entry.is_repeated(Asked(round=1))
    assert entry.saved() == before


def test_the_same_feedback_for_the_same_round_is_known_again() -> None:
    entry = Entry("web", machines())
    one_round(entry)
    assert entry.has_learnt(told(loss=LOSS, round=0))
    assert not entry.has_learnt(told(loss=LOSS))  # without a round, nobody can know
    assert not entry.has_learnt(told(loss={**LOSS, "demand": 18}, round=0))
    entry.act(Asked())
    assert entry.has_learnt(told(loss=LOSS, round=0))
    entry.observe(told(skip=True))
    assert not entry.has_learnt(told(loss=LOSS, round=0))
    assert entry.has_learnt(told(skip=True, round=1))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"gradient": 1.0}, "round 1 is not open; POST /learners/web/act first, which opens round 1"),
        ({"gradient": 1.0, "round": 1}, "round 1 is not open; POST"),
        ({"gradient": 1.0, "round": 0}, "takes feedback for the round that is open only"),
        ({"gradient": 1.0, "round": 2}, "this is round 1; POST /learners/web/act first"),
        ({"skip": True, "round": 0}, "round 0 is over, and this is round 1; it cannot be skipped any more"),
    ],
)
def test_out_of_order_changes_nothing(given: dict[str, Any], said: str) -> None:
    entry = Entry("web", machines())
    one_round(entry, gradient=-3.0)
    before = entry.saved()
    with pytest.raises(OrderError, match=said):
        entry.observe(told(**given))
    assert entry.saved() == before


@pytest.mark.parametrize(
    "given",
    [
        {"gradient": [1.0, 2.0]},
        {"gradient": 1e101},
        {"loss": {"kind": "tracking", "target": [1, 2]}},
        {"loss": {"kind": "huber", "target": 1, "delta": 0}},
        {"loss": {"kind": "logistic", "target": 0}},
        {"loss": {"kind": "capacity", "demand": 1, "shortage": -1}},
        {"loss": {"kind": "capacity", "demand": 1e101}},
    ],
)
@pytest.mark.parametrize("make", [machines, tuned])
def test_feedback_that_is_refused_changes_nothing(given: dict[str, Any], make: Any) -> None:
    entry = Entry("web", make())
    one_round(entry)
    entry.act(Asked())
    before = entry.saved()
    with pytest.raises((InputError, ParameterError)):
        entry.observe(told(**given))
    assert entry.saved() == before
    entry.observe(told())


def test_what_a_learner_makes_no_use_of_is_refused() -> None:
    entry = Entry("web", machines())
    for asked, said in ((Asked(proposal=1.0), "no use of a proposal"), (Asked(switching_cost=1.0), "no use of what")):
        with pytest.raises(ParameterError, match=said):
            entry.act(asked)
    assert entry.asked is None
    assert entry.learner.round == 0


def test_names_of_proposals_cannot_grow_without_end() -> None:
    entry = Entry("web", tuned())
    one_round(entry, Asked(proposal={str(i): 1.0 for i in range(16)}))
    before = entry.saved()
    with pytest.raises(InputError, match="have 16 names at most, and these would be 17"):
        entry.act(Asked(proposal={"another": 1.0}))
    assert entry.saved() == before
    one_round(entry, Asked(proposal={"3": 2.0}))


def test_late_feedback_is_for_learners_that_take_it() -> None:
    entry = Entry("web", machines(late=2))
    one_round(entry, skip=True)
    one_round(entry)
    entry.observe(told(loss=LOSS, round=0))
    assert entry.has_learnt(told(loss=LOSS, round=0))
    with pytest.raises(OrderError, match="round 0 has had its feedback"):
        entry.observe(told(gradient=1.0, round=0))
    assert entry.state().skipped == 0
    assert entry.state().paid.counted == 1


@pytest.mark.parametrize("at", range(4))
def test_what_is_saved_goes_on(at: int) -> None:
    entry = Entry("web", dw.rounded(tuned(), seed=3))
    for _ in range(5):
        one_round(entry)
    if at % 2:
        entry.act(Asked(proposal=12.0))
    again = Entry.loaded(*entry.saved(), classes=())
    assert again.saved() == entry.saved()
    for one in (entry, again):
        if at % 2:
            one.observe(told(gradient=-1.0))
        one_round(one, loss={**LOSS, "demand": 30})
        one.act(Asked())
    assert again.saved() == entry.saved()
    assert again.state() == entry.state()


def test_what_is_no_learner_is_refused() -> None:
    what, data = Entry("web", machines()).saved()
    with pytest.raises(CheckpointError, match="is no learner"):
        Entry.loaded({"key": "web"}, data, ())
    with pytest.raises(CheckpointError, match="is no learner"):
        Entry.loaded(what, dw.Fleet(machines(), 2).to_bytes(), ())


def test_several_coordinates_have_no_single_value() -> None:
    entry = Entry("web", Own(dw.Box([0.5, 0.5], [9.0, 9.0])))
    assert (entry.state().value, entry.state().decision) == (None, None)
    entry.act(Asked())
    assert entry.state().decision == [0.5, 0.5]
    assert entry.state().value is None
    assert entry.state().paid.moving is None  # it knows no price


def test_whole_numbers_have_no_decimal_point() -> None:
    entry = Entry("web", machines())
    entry.act(Asked())
    assert '"value":0}' in entry.decided().model_dump_json()
    entry.observe(told(gradient=-0.5))
    entry.act(Asked())
    assert '"value":0.5}' in entry.decided().model_dump_json()
