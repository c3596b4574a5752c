"""The same faults where the plant is not known: one controller corrects A and B as it goes, one explores first."""

import functools
import math
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from driftwise import control
from driftwise._validate import Array
from driftwise.control.identification import AdaptiveController, adaptive, explore
from driftwise.control.identification.past import Round
from driftwise.control.identification.probes import WARM_UP
from driftwise.control.identification.tracking import BLOCK, JUMP, Tracker
from driftwise.errors import InputError, StabilityError
from tests.control.faults.cases import (
    BOUND,
    CALM,
    FAULTS,
    PLANTS,
    RATE,
    ROUNDS,
    STABLE,
    Clock,
    Fault,
    Lost,
    Start,
    play,
    suffer,
)

SEEDS = 1
"""Cases of every controller, plant and fault; ten times as many at full size."""

COST = control.QuadraticCost(1.0, 1.0)

PROMPT = tuple(plant for plant in PLANTS if plant != "delay")
"""Plants without a delay, which neither controller is for."""

Ready = tuple[control.Controller, Start | None]
"""A controller, and where it has brought its plant."""


class Weaker(Fault):
    """The plant is not what it was said to be: inputs do half of what they did."""

    def change(self, t: int, plant: Any) -> Any:
        return plant._replace(B=0.5 * plant.B)


def adapting(plant: str) -> AdaptiveController:
    """Return a new controller whose guard has a deadline, with limits and a rate."""
    guard = control.Guard(deadline=1.0, clock=Clock())
    inner = functools.partial(control.SelfTunedController, guard=guard, rate_limit=RATE)
    return AdaptiveController(PLANTS[plant], controller=inner, input_bound=[BOUND])


def grown(mine: control.Controller, plant: str, rounds: int, fault: type[Fault] = Fault) -> Ready:
    """Return a controller after so many rounds, and where they have led."""
    rng = np.random.default_rng(7)
    return mine, play(mine, plant, fault(rng, 0, 0), rounds, rng).end


def handing_over(plant: str) -> Ready:
    """Return a controller that has just adopted a correction, whatever a rehearsal says."""
    mine, rng, start = adapting(plant), np.random.default_rng(7), None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(adaptive, "over", lambda *_: 0.5)
        while mine._leaving is None:
            assert mine.round < 1000
            start = play(mine, plant, Weaker(rng, 0, 0), BLOCK, rng, start).end
    assert mine.status == "adapted"
    return mine, start


class Holding(control.ExploreThenCommit):
    """A controller without a guard, as its user has to treat it: in place of what is refused it gets the last sample.

    It is to be unchanged by what it has refused.
    """

    refused = 0
    last: Array | None = None

    def act(self, x: Any) -> Array:
        if x is not None and (np.abs(x) <= 1e100).all():
            self.__dict__["last"] = x.copy()
            return super().act(x)
        before = pickle.dumps(self)
        with pytest.raises(InputError):
            super().act(x)
        assert pickle.dumps(self) == before
        assert self.last is not None
        self.__dict__["refused"] = self.refused + 1
        return super().act(self.last)


def exploring(plant: str, **settings: Any) -> Holding:
    """Return a new controller that explores for 200 rounds, with limits."""
    system = PLANTS[plant]
    sizes = {"state_dim": system.state_dim, "input_dim": system.input_dim, "K": control.lqr(system)}
    given = {"exploration": 200, "probe": 0.1 if plant == "limits" else 0.3, "input_bound": [BOUND], "seed": 3}
    return Holding(**{**sizes, **given, **settings})


STAGES: dict[str, Callable[[str], Ready]] = {
    "new": lambda plant: (adapting(plant), None),
    "fitted": lambda plant: grown(adapting(plant), plant, 160),
    "handing over": handing_over,
    "exploring": lambda plant: grown(exploring(plant), plant, 80),
    "about to commit": lambda plant: grown(exploring(plant), plant, 160),
    "committed": lambda plant: grown(exploring(plant), plant, 210),
}
"""Controllers of both kinds, as they are when a case begins."""


@functools.cache
def _ready(stage: str, plant: str) -> Ready:
    return STAGES[stage](plant)


def ready(stage: str, plant: str) -> Ready:
    """Return a copy of a controller of some stage, and where its plant is."""
    mine, start = _ready(stage, plant)
    return mine.clone(), start


def case(stage: str, plant: str, fault: str, seed: int) -> None:
    """Play one case; a hand-over takes 20 rounds, and the fault comes before its end."""
    rng = np.random.default_rng([seed, len(stage), len(plant), len(fault)])
    mine, start = ready(stage, plant)
    suffer(mine, plant, fault, rng, calm=2 if stage == "handing over" else CALM, start=start)
    if isinstance(mine, Holding):
        lasts = FAULTS[fault][1]
        assert mine.refused == (lasts if FAULTS[fault][0].logged and fault != "late" else 0)


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("stage", ["new", "fitted", "handing over"])
def test_every_fault_while_adapting(stage: str, fault: str) -> None:
    for plant in ("stable", "unstable") if stage == "handing over" else ("limits", "varying", "pendulum"):
        for seed in range(SEEDS):
            case(stage, plant, fault, seed)


@pytest.mark.full
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("stage", ["new", "fitted", "handing over"])
def test_every_fault_while_adapting_at_full_size(stage: str, fault: str) -> None:
    for plant in ("stable", "unstable") if stage == "handing over" else PROMPT:
        for seed in range(SEEDS, 10 * SEEDS):
            case(stage, plant, fault, seed)


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("stage", ["exploring", "committed"])
def test_every_fault_while_exploring_and_after(stage: str, fault: str) -> None:
    for plant in ("stable", "limits"):
        for seed in range(SEEDS):
            case(stage, plant, fault, seed)


@pytest.mark.parametrize("fault", ["three lost", "huge sample", "saturation, told"])
def test_faults_just_before_the_commit(fault: str) -> None:
    case("about to commit", "stable", fault, 0)


@pytest.mark.full
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("stage", ["exploring", "about to commit", "committed"])
def test_every_fault_while_exploring_and_after_at_full_size(stage: str, fault: str) -> None:
    for plant in PROMPT:
        for seed in range(SEEDS, (2 if stage == "about to commit" else 10) * SEEDS):
            case(stage, plant, fault, seed)


BACK, WITHIN, WINDOW = 40, 40, 100
"""When a fault begins, rounds after which the cost is what it would have been, and over which that is measured."""


def ratio(stage: str, plant: str, make: type[Fault], lasts: int, within: int = WITHIN) -> float:
    """Return what a fault makes of the cost, some rounds later."""
    costs = []
    for one in (make, Fault):
        (mine, start), rng = ready(stage, plant), np.random.default_rng(5)
        fault = one(rng, BACK, BACK + lasts - 1)
        story = play(mine, plant, fault, BACK + lasts + within + WINDOW, rng, start)
        costs.append(story.costs[-WINDOW:].sum())
    return float(costs[0] / costs[1])


@pytest.mark.parametrize("fault", ["three lost", "saturation, told", "somebody else", "frozen sensor"])
@pytest.mark.parametrize("stage", ["fitted", "committed"])
def test_after_a_fault_the_cost_comes_back(stage: str, fault: str) -> None:
    for plant in ("stable", "unstable"):
        assert ratio(stage, plant, *FAULTS[fault]) <= 1.15, plant


@pytest.mark.parametrize("fault", ["twenty lost", "huge sample", "jump", "late"])
def test_after_a_fault_the_cost_comes_back_while_adapting(fault: str) -> None:
    for plant in ("stable", "unstable"):
        assert ratio("fitted", plant, *FAULTS[fault]) <= 1.15, plant


def test_after_a_huge_sample_the_cost_comes_back_once_the_guard_has_waited() -> None:
    """After the commit, the fallback on u = -K x lasts until 100 states have been of the usual size."""
    assert ratio("committed", "stable", *FAULTS["huge sample"], within=explore.HOLD + WITHIN) <= 1.15


class TestAdaptive:
    """What faults have found in the controller that corrects A and B."""

    @pytest.mark.parametrize("size", [1e3, 1e60, 9.9e99])
    def test_one_wild_sample_does_not_end_its_learning(self, size: float) -> None:
        """A plant that has changed by much is found out, later by the rounds that were forgotten."""
        adopted = []
        for kind in (Weaker, type("Wild", (Lost, Weaker), {"value": size})):
            mine, rng = adapting("unstable"), np.random.default_rng(0)
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(adaptive, "over", lambda *_: 0.5)
                play(mine, "unstable", kind(rng, 100, 100), 400, rng)
            adopted += [event.round for event in mine.log if "is adopted" in event.text][:1]
        assert len(adopted) == 2
        assert adopted[1] - adopted[0] <= 100 + BLOCK

    def test_events_keep_their_round_when_another_controller_takes_over(self) -> None:
        mine, rng, both = adapting("unstable"), np.random.default_rng(0), type("Both", (Lost, Weaker), {})
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(adaptive, "over", lambda *_: 0.5)
            play(mine, "unstable", both(rng, 0, 2), 400, rng)
        assert mine.status == "adapted"
        assert [event.round for event in mine.log][:3] == [0, 1, 2]
        mine.act(None)  # type: ignore[arg-type]
        assert mine.log[-1].round == mine.round == 400

    def test_the_controller_that_leaves_may_refuse_a_cost(self, monkeypatch: pytest.MonkeyPatch) -> None:
        mine, _ = ready("handing over", "stable")
        assert isinstance(mine, AdaptiveController)

        def refuse(*_: Any, **__: Any) -> None:
            raise InputError("no")

        mine.act([0.1, 0.0])
        monkeypatch.setattr(mine._leaving, "observe", refuse)
        mine.observe(COST)
        assert mine._leaving is None
        np.testing.assert_array_equal(mine.act([0.2, 0.0]), mine.inner.clone().act([0.2, 0.0]))

    def test_states_at_the_end_of_the_range_are_survived_without_limits(self) -> None:
        """Inputs are at most 1e100 in size, so that they can be given back as what was applied."""
        mine = AdaptiveController(PLANTS["unstable"])
        for x in (0.1, 9.9e99, 0.1, -9.9e99, 0.2):
            assert np.abs(mine.act([x, x])).max() <= 1e100
            mine.observe(COST)

    def test_a_jump_is_told_from_what_was_usual(self) -> None:
        tracker = Tracker(STABLE.A, STABLE.B)
        rng, rounds = np.random.default_rng(0), []
        x = np.zeros(2)
        for _ in range(2 * BLOCK):
            u, w = rng.normal(size=1), 0.1 * rng.normal(size=2)
            following = STABLE.A @ x + STABLE.B @ u + w
            rounds.append(tracker.jumped(Round(x, u, u, COST), following))
            x = following
        assert not any(rounds)
        far = Round(x, np.zeros(1), np.zeros(1), COST)
        assert not tracker.jumped(far, x + 0.5 * JUMP * tracker.largest)
        assert tracker.jumped(far, x + 1e60)
        # What stays as large is soon usual.
        assert [tracker.jumped(far, x + 1e5) for _ in range(5)][-1] is False


class TestExplore:
    """What faults have found in the controller that explores and commits."""

    @pytest.mark.parametrize("bad", [None, [math.nan, 0.0], [0.0, math.inf], [1e200, 0.0], [0.0]])
    @pytest.mark.parametrize("stage", ["exploring", "committed"])
    def test_what_is_no_sample_is_refused_and_leaves_no_trace(self, stage: str, bad: Any) -> None:
        mine, _ = ready(stage, "stable")
        before = pickle.dumps(mine)
        with pytest.raises(InputError, match=r"ExploreThenCommit\.act|Holding\.act"):
            control.ExploreThenCommit.act(mine, bad)
        assert pickle.dumps(mine) == before

    @pytest.mark.parametrize("stage", ["exploring", "committed"])
    def test_states_at_the_end_of_the_range_are_survived(self, stage: str) -> None:
        """Also where -K x itself is beyond it."""
        mine, _ = ready(stage, "unstable")
        for x in (0.1, 9.9e99, 0.1, -9.9e99, 0.2):
            u = mine.act(np.array([x, x]))
            assert ((BOUND[0] <= u) & (u <= BOUND[1])).all()
            mine.observe(COST)
            assert mine.committed is None or mine.committed.round == mine.round  # type: ignore[attr-defined]

    @pytest.mark.parametrize("lasts", [1, 5])
    def test_wild_samples_while_exploring_are_left_out(self, lasts: int) -> None:
        """They are logged, and neither spoil the estimate nor make the guard after the commit blind."""
        mine, rng = exploring("stable"), np.random.default_rng(0)
        wild = type("Wild", (Lost,), {"value": 1e60})
        play(mine, "stable", wild(rng, 100, 99 + lasts), 210 + lasts, rng)
        assert mine.status == "committed"
        assert [event.round for event in mine.log] == [100, 200 + lasts]
        assert "nothing is learnt from it" in mine.log[0].text
        assert mine._bound < 10.0
        assert mine.identified is not None
        assert np.abs(mine.identified.A - STABLE.A).max() < 0.3

    def test_states_that_stay_large_are_believed(self) -> None:
        mine, rng = exploring("stable", exploration=10_000), np.random.default_rng(0)
        wild = type("Wild", (Lost,), {"value": 1e4})
        play(mine, "stable", wild(rng, 50, 150), 150, rng)
        assert len(mine.log) == 1
        assert len(mine._past) == 150 - WARM_UP
        assert mine._bound == pytest.approx(1e4, rel=0.01)

    def test_the_newest_events_are_kept(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(explore, "LOGGED", 3)
        mine, _ = ready("exploring", "stable")
        for t in range(20):
            mine.act(np.full(2, 1e60 if t % 4 == 0 else 0.1))
            mine.observe(COST)
        assert [event.round for event in mine.log] == [88, 92, 96]  # type: ignore[attr-defined]

    @pytest.mark.parametrize("when", [10, 45])
    def test_probes_stay_as_they_are_where_their_price_is_out_of_range(self, when: int) -> None:
        """The first sizes come after 30 rounds: `act` went on raising from then on."""
        mine, rng = exploring("stable", probe=None, input_bound=None), np.random.default_rng(0)
        x = np.zeros(2)
        for t in range(120):
            u = mine.act(np.full(2, 9.9e99) if t == when else x)
            assert np.isfinite(u).all()
            u = np.clip(u, *BOUND)
            mine.observe(COST, applied=u if t != when else None)
            x = STABLE.A @ x + STABLE.B @ u + 0.1 * rng.normal(size=2)
        assert mine.round == 120

    def test_a_plant_that_cannot_be_modelled_is_a_reason_to_go_on_exploring(self) -> None:
        """The first state is not measured, and the second in a unit in which B is as good as 0."""

        class Blind(Fault):
            def sample(self, t: int, x: Array) -> Array:
                return np.array([0.0, 1e-160]) * x

        mine, rng = exploring("stable"), np.random.default_rng(0)
        play(mine, "stable", Blind(rng, 0, 0), ROUNDS + 200, rng)
        assert mine.round == ROUNDS + 200


def test_a_plant_without_a_model_is_refused_in_words() -> None:
    """Where rounding makes the solution of the Riccati equation indefinite, or leaves none at all."""
    with pytest.raises(StabilityError, match="units"):
        control.SelfTunedController(control.LinearSystem([[0.5, 1e6], [0.0, 0.5]], [[0.0], [1e-160]]))
