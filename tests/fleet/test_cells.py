"""Members of the ensemble family are equal to separate learners, bit for bit, whatever is done with the fleet."""

from typing import Any

import numpy as np
import pytest

import driftwise as dw
from driftwise._memory import Array
from driftwise.engine import layout
from driftwise.engine.layout import STATE
from driftwise.fleet.laying import capacity_for, laid_out, sides_for, sizes_after, starts_of, updates_within
from tests.cases import DOMAINS, EUCLIDEAN, PRICES, SCHEDULES, a_third, every_pair
from tests.fleet.cases import wander


def shared(fleet: dw.Fleet) -> bool:
    return "objects" not in repr(fleet)


@every_pair(name=[name for name in EUCLIDEAN if name != "Ader original"], domain=DOMAINS, schedule=SCHEDULES)
def test_the_papers_learners(name: str, domain: str, schedule: str) -> None:
    kind, settings = EUCLIDEAN[name]
    if name == "OGD constant step" or (name.startswith("LazyScream") and schedule != "fixed"):
        schedule = "fixed"
    horizon = {} if name == "OGD constant step" else {"horizon": 200}
    both = wander(lambda: kind(DOMAINS[domain], **settings, **{**horizon, **SCHEDULES[schedule]}))
    assert shared(both.fleet)


@a_third(domain=DOMAINS, price=PRICES)
def test_self_tuned_scream(domain: str, price: str) -> None:
    where = DOMAINS[domain]
    both = wander(lambda: dw.SelfTunedScream(where, switching_cost=PRICES[price](where.dim)), rounds=80)
    assert shared(both.fleet)


OTHERS: dict[str, Any] = {
    "strongly adaptive": lambda: dw.StronglyAdaptive(dw.Ball(2), switching_cost=1.0, gradient_bound=3.0),
    "strongly adaptive, horizon": lambda: dw.StronglyAdaptive(
        dw.Simplex(3), switching_cost=0.5, gradient_bound=3.0, horizon=200
    ),
    "hedge": lambda: dw.Hedge(4, loss_bound=2.0),
    "hedge with a share": lambda: dw.Hedge(3, rate=0.1, share=0.1),
    "entropy": lambda: dw.MirrorDescent(dw.Simplex(3), mirror=dw.mirror.NegativeEntropy(), gradient_bound=1.0),
    "p-norm": lambda: dw.MirrorDescent(dw.Simplex(3), mirror=dw.mirror.PNorm(1.5), gradient_bound=1.0),
    "entropy, many": lambda: dw.Ensemble(
        dw.Simplex(3),
        pool=dw.learners.Pool(0.1, growth=1.0),
        meta=dw.learners.Meta(0.5),
        base=dw.mirror.NegativeEntropy(),
    ),
    "entropy, doubling": lambda: dw.Ensemble(
        dw.Simplex(3),
        pool=dw.learners.Pool(0.1, growth=1.0),
        meta=dw.learners.Meta(0.5),
        base=dw.mirror.NegativeEntropy(),
        horizon_free="doubling",
    ),
    "start": lambda: dw.SelfTunedScream(dw.Ball(2), switching_cost=1.0, start=[0.5, 0.1]),
}


@pytest.mark.parametrize("name", OTHERS)
def test_relatives(name: str) -> None:
    assert shared(wander(OTHERS[name], rounds=60).fleet)


def test_different_ones_share_a_fleet() -> None:
    makers = [
        OTHERS["strongly adaptive"],
        lambda: dw.OGD(dw.Box([0.0, 0.0], [1.0, 1.0]), step=0.1),
        lambda: dw.SelfTunedScream(dw.Ball(2), switching_cost=2.0),
        lambda: dw.Ader(dw.Ball(2), gradient_bound=1.0, variant="original"),
    ]
    turn = iter(range(10**6))
    learners = makers[:3]
    assert shared(wander(lambda: learners[next(turn) % 3](), rounds=60).fleet)
    mixed = dw.Fleet.of([make() for make in makers])
    assert "1 as objects" in repr(mixed)
    loss = dw.TrackingLoss([[0.3, 0.4]])[0]
    alone = [make() for make in makers]
    for _ in range(5):
        assert np.array_equal(mixed.act(), [learner.act() for learner in alone])
        mixed.observe(loss)
        for learner in alone:
            learner.observe(loss)


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_results_do_not_depend_on_the_number_of_threads(workers: int) -> None:
    learner = dw.SelfTunedScream(dw.Ball(3), switching_cost=1.0)
    rng, alone = np.random.default_rng(5), learner.clone()
    fleet = dw.Fleet(learner, 5000, workers=workers)
    for _ in range(9):
        fleet.act()
        alone.act()
        gradients = rng.normal(size=(5000, 3))
        fleet.observe(gradients)
        alone.observe(gradients[4321])
    assert fleet.member(4321).to_bytes() == alone.to_bytes()
    assert np.isclose(fleet.act().sum(), 10.4, atol=1e3)


def test_pools_are_laid_out_anew_as_they_grow() -> None:
    learner = dw.SelfTunedScream(dw.Box([0.0], [9.0]), switching_cost=1.0, start=[2.0])
    fleet, alone, sizes = dw.Fleet(learner, 3), learner.clone(), set()
    late = dw.SelfTunedScream(dw.Box([0.0], [9.0]), switching_cost=1.0)
    for t in range(600):
        gradient = np.sin(t) * (1.0 + t % 7)
        fleet.act()
        fleet.observe(np.full((len(fleet), 1), gradient))
        alone.act()
        alone.observe([gradient])
        sizes.add(fleet._crew.blocks[0].capacity)  # type: ignore[attr-defined]
        if t == 300:
            fleet.add(late)
    assert sizes == {4, 8, 12}
    assert fleet.member(1).to_bytes() == alone.to_bytes()
    assert fleet.member(3).round == 299


@pytest.mark.parametrize("domain", ["ball", "simplex"])
def test_hints_and_twins_survive_in_a_fleet(domain: str) -> None:
    where = DOMAINS[domain]
    hinted = dw.SelfTunedScream(where, switching_cost=1.0)
    for _ in range(4):
        hinted.act(hint=np.ones(where.dim))
        hinted.observe(np.linspace(0.0, 1.0, where.dim))
    wander(hinted.clone)
    hinted.act(hint=np.ones(where.dim))  # in the middle of a round it becomes an object
    fleet, alone = dw.Fleet(hinted, 2), hinted.clone()
    assert np.array_equal(fleet.act()[1], alone.act())
    fleet.observe(np.ones((2, where.dim)))
    alone.observe(np.ones(where.dim))
    assert fleet.member(1).to_bytes() == alone.to_bytes()


@pytest.mark.parametrize(
    "make", [lambda: dw.SelfTunedScream(dw.Ball(2), switching_cost=1.0), lambda: OTHERS["entropy, many"]()]
)
def test_states_are_laid_out_for_more_and_fewer_lanes(make: Any) -> None:
    learner = make()
    for t in range(20):
        learner.act()
        learner.observe(np.cos(np.arange(learner.domain.dim) + t))
    program, full = learner.program, learner.program.sides
    known = learner._state[None]
    small = sides_for(program, capacity_for(program, 20.0))
    short = laid_out(known, full, small, starts_of(known, full))
    assert short.shape[1] < known.shape[1]
    assert laid_out(short, small, full, starts_of(known, full)).tobytes() == known.tobytes()
    in_play = STATE.views(short[0], small)["weights"]
    assert np.isclose(in_play.sum(), 1.0)


@pytest.mark.parametrize("name", ["self-tuned", "time-varying", "doubling", "adaptive"])
def test_there_is_room_for_all_that_can_come_into_play(name: str) -> None:
    make: dict[str, Any] = {
        "self-tuned": lambda: dw.SelfTunedScream(dw.Ball(1), switching_cost=1.0),
        "time-varying": lambda: dw.Scream(dw.Ball(1), switching_cost=1.0, gradient_bound=1.0),
        "doubling": lambda: dw.Scream(dw.Ball(1), switching_cost=1.0, gradient_bound=1.0, horizon_free="doubling"),
        "adaptive": lambda: dw.StronglyAdaptive(dw.Ball(1), switching_cost=1.0, gradient_bound=1.0),
    }
    learner = make[name]()
    program = learner.program
    for t in range(1, 1200):
        learner.act()
        learner.observe([0.5])
        active = int(learner._number(layout.ACTIVE))
        assert active <= sizes_after(program, t)
    for capacity in range(4, min(program.sizes, 40), 4):
        most = updates_within(program, capacity)
        assert sizes_after(program, most) <= capacity < sizes_after(program, 2.0 * most + 4.0) + 4


def rows_of(array: Array) -> list[bytes]:
    return [row.tobytes() for row in array]


def test_members_may_differ_in_price_start_and_radius() -> None:
    rng = np.random.default_rng(1)
    prices, radii = np.array([0.5, 1.0, 0.5, 2.0]), np.array([1.0, 2.0, 1.0, 1.5])
    starts = rng.uniform(-0.5, 0.5, size=(4, 2))
    pattern = dw.SelfTunedScream(dw.Ball(2), switching_cost=7.0)
    fleet = dw.Fleet(pattern, 4, switching_cost=prices, start=starts, radius=radii)
    alone = [
        dw.SelfTunedScream(dw.Ball(2, radius=r), switching_cost=p, start=w)
        for p, w, r in zip(prices, starts, radii, strict=True)
    ]
    assert shared(fleet)
    for _ in range(40):
        gradients = rng.normal(size=(4, 2))
        assert rows_of(fleet.act()) == rows_of(np.array([learner.act() for learner in alone]))
        fleet.observe(gradients)
        for learner, gradient in zip(alone, gradients, strict=True):
            learner.observe(gradient)
    assert [fleet.member(i).switching_cost for i in range(4)] == prices.tolist()
    again = dw.from_bytes(fleet.to_bytes())
    assert rows_of(again.act()) == rows_of(np.array([learner.act() for learner in alone]))
    costs = [dw.MoveCost(up=1.0, down=2.0), dw.MoveCost(up=3.0, down=1.0), dw.MoveCost(up=1.0, down=2.0)]
    fleet = dw.Fleet(pattern, 3, switching_cost=costs)
    assert [fleet.member(i).switching_cost for i in range(3)] == costs


@pytest.mark.parametrize(("domain", "mirror"), [(dw.Simplex(3), dw.mirror.NegativeEntropy()), (dw.Ball(3), None)])
def test_starts_are_those_of_separate_learners(domain: dw.Domain, mirror: Any) -> None:
    def make(start: Array | None) -> dw.Ensemble:
        return dw.Ensemble(
            domain,
            pool=dw.learners.Pool(0.1, growth=1.0),
            meta=dw.learners.Meta(0.5),
            base=mirror,
            start=start,
        )

    starts = np.random.default_rng(0).dirichlet(np.ones(3), size=5)
    fleet, alone = dw.Fleet(make(None), 5, start=starts), [make(start) for start in starts]
    for _ in range(30):
        assert rows_of(fleet.act()) == rows_of(np.array([learner.act() for learner in alone]))
        gradients = np.outer(np.arange(5.0), [1.0, -1.0, 0.5])
        fleet.observe(gradients)
        for learner, gradient in zip(alone, gradients, strict=True):
            learner.observe(gradient)
    for i, learner in enumerate(alone):
        assert fleet.member(i)._state.tobytes() == learner._state.tobytes()
