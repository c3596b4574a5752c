"""What notebooks show: whole and harmless HTML of bounded size, in every state, and nothing is changed by it."""

import math
import pickle
from collections.abc import Callable
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import driftwise as dw
from driftwise import control
from driftwise._html import LINES, POINTS, WORDS, Bar, Card, Curve, Picture, heaviest, thinned, words
from driftwise._protocol import Actor

MOST = 20_000
"""Characters of a card, at most."""

EVIL = "<script>alert('&\"')</script>"
TAGS = {"div", "table", "tr", "td", "span", "figure", "figcaption", "svg", "polyline", "polygon", "pre"}


class Reader(HTMLParser):
    """Reads HTML in which every tag is closed, and is one of the few that cards have."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.text = ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in TAGS
        assert not {name for name, _ in attrs} & {"src", "href", "id", "xlink:href"}
        assert not any(name.startswith("on") for name, _ in attrs)
        assert all("url(" not in (value or "") for _, value in attrs)
        self.open.append(tag)
        self.tags.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def read(what: Any) -> Reader:
    """Return the card of something, checked."""
    html = what._repr_html_()
    assert len(html) < MOST
    return Reader(html)


DAYS = pd.date_range("2024-03-01", periods=40, name="day")
DEMANDS = pd.Series(5.0 + 3.0 * np.sign(np.sin(np.arange(40) / 6.0)), index=DAYS)
CAPACITY = dw.CapacityLoss(DEMANDS, shortage=5.0)
BOX = dw.Box(0.0, 20.0)
PLANT, COST = control.double_integrator(), control.QuadraticCost(1.0, 1.0)
PUSHES = pd.DataFrame(0.1 * np.random.default_rng(0).standard_normal((40, 2)), index=DAYS)

ACTORS: dict[str, Callable[[], Any]] = {
    "OGD": lambda: dw.OGD(BOX, step=0.5),
    "Scream": lambda: dw.Scream(BOX, switching_cost=4.0, gradient_bound=5.0, horizon=40),
    "StronglyAdaptive": lambda: dw.StronglyAdaptive(BOX, switching_cost=4.0, gradient_bound=5.0),
    "SelfTunedScream": lambda: dw.SelfTunedScream(BOX, switching_cost=dw.MoveCost(up=3.0, down=1.0)),
    "SelfTunedLearner": lambda: dw.SelfTunedLearner(BOX, switching_cost=4.0),
    "rounded": lambda: dw.rounded(dw.SelfTunedLearner(BOX, switching_cost=4.0)),
    "rounded OGD": lambda: dw.rounded(dw.OGD(BOX, step=0.5)),
}


@pytest.mark.parametrize("name", ACTORS)
def test_a_learner_has_a_card_in_every_state_and_is_left_as_it_was(name: str) -> None:
    learner = ACTORS[name]()
    for t in range(3):
        for _ in range(2):
            before = learner.to_bytes()
            shown = read(learner)
            assert learner.to_bytes() == before
            acted = learner._acted is not None
            assert f"{t}, {'waits for feedback' if acted else 'ready to act'}" in shown.text
            learner.act()
        learner.observe(CAPACITY[t])
    assert type(learner).__name__ in shown.text


def test_the_heaviest_are_shown_and_the_others_counted() -> None:
    learner = dw.SelfTunedLearner(BOX, switching_cost=4.0)
    dw.play(learner, CAPACITY, 4.0)
    shown = read(learner)
    first = learner.members[int(learner.weights.argmax())]
    assert f"{first}" in shown.text
    assert f"{learner.weights.max():.1%}" in shown.text
    assert f"and {len(learner.members) - LINES} more" in shown.text
    assert read(learner.explain()).text.count("would have cost") == LINES
    assert "within the bound" in read(learner.certificate()).text


def test_what_was_skipped_and_refused_is_told() -> None:
    learner = dw.OGD(BOX, step=0.5, on_bad_input="skip")
    learner.act()
    learner.observe(math.nan)
    assert "refused" in read(learner).text
    assert "skipped" in read(learner).text


@pytest.mark.parametrize("movers", [False, True])
def test_a_committee_has_a_card(movers: bool) -> None:
    committee = dw.Committee(2, 4.0, movers=movers)
    for t in range(3):
        before = pickle.dumps(committee)
        assert "members by weight" in read(committee).text
        assert pickle.dumps(committee) == before
        committee.act([1.0, 2.0])
        assert "waits for feedback" in read(committee).text
        committee.observe(CAPACITY[t])


CONTROLLERS: dict[str, Callable[[], control.Controller]] = {
    "linear": lambda: control.LinearController(PLANT),
    "Scream": lambda: control.ScreamController(PLANT, horizon=40),
    "self-tuned": lambda: control.SelfTunedController(PLANT),
}


@pytest.mark.parametrize("name", CONTROLLERS)
def test_a_controller_has_a_card_and_so_has_its_trace(name: str) -> None:
    controller = CONTROLLERS[name]()
    for _ in range(2):
        before = controller.to_bytes()
        assert "2 states and 1 input" in read(controller).text
        assert controller.to_bytes() == before
        controller.act([0.1, 0.0])
    trace = control.simulate(PLANT, CONTROLLERS[name](), COST, PUSHES)
    for each in (trace, control.ControlTrace.from_pandas(trace.to_pandas())):
        shown = read(each)
        assert "from 2024-03-01 to 2024-04-09" in shown.text
        assert shown.tags.count("svg") == 3
        assert f"{trace.total:.6g}" in shown.text


def test_a_fleet_has_a_card_and_so_has_its_trace() -> None:
    for size in (0, 1, 12):
        fleet = dw.Fleet(dw.SelfTunedScream(BOX, switching_cost=4.0), size=size)
        before = fleet.to_bytes()
        read(fleet)
        assert fleet.to_bytes() == before
        trace = dw.play(fleet, [CAPACITY] * size, 4.0)
        shown = read(trace)
        assert f"{size}, {40 * size} rounds in all" in shown.text
        assert shown.text.count("\nmember ") == min(size, 5)


@cache
def _trace() -> dw.Trace:
    proposals = pd.DataFrame({"last": DEMANDS.shift(1).bfill(), "mean": 5.0})
    return dw.play(dw.Committee(2, 4.0), CAPACITY, 4.0, proposals=proposals, record_weights=True)


def test_a_trace_has_a_card_whatever_it_was_read_with(tmp_path: Path) -> None:
    trace = _trace()
    trace.to_parquet(tmp_path / "run.parquet")
    polars = trace.to_polars()
    for each, name in (
        (trace, "Committee"),
        (dw.Trace.from_pandas(trace.to_pandas()), "Committee"),
        (dw.Trace.from_parquet(tmp_path / "run.parquet", stream=CAPACITY), "Committee"),
        (dw.Trace.from_polars(polars), "unknown learner"),
        (dw.Trace.from_polars(polars, switching_cost=4.0, learner=trace.learner), "Committee"),
    ):
        shown = read(each)
        assert f"Trace of {name}" in shown.text
        assert f"{trace.total_loss:.6g}" in shown.text
        assert ("overall" in shown.text) == ("switching_cost" in vars(each))
        assert "40 of 1 coordinate, from 2024-03-01 to 2024-04-09" in shown.text


@pytest.mark.parametrize(
    "price", [0.0, dw.MoveCost(up=3.0, down=0.0), np.linspace(0.0, 2.0, 40), [dw.MoveCost(up=1.0, down=2.0)] * 40]
)
def test_a_trace_has_a_card_whatever_moves_cost(price: Any) -> None:
    trace = dw.play(dw.SelfTunedScream(BOX, switching_cost=dw.MoveCost(up=1.0, down=1.0)), CAPACITY, price)
    shown = read(trace)
    assert f"{trace.total:.6g}" in shown.text
    assert ("with switching" in shown.text) == (trace.total_switching > 0.0)


def test_a_million_rounds_of_many_coordinates_make_a_small_card() -> None:
    rng = np.random.default_rng(0)
    decisions = rng.standard_normal((10**6, 4))
    trace = dw.Trace(
        decisions, decisions[:, 0] ** 2, np.abs(decisions[:, 1]), 1.0, None, dw.OGD(dw.Ball(4), step=0.1), CAPACITY
    )
    read(trace)
    wide = dw.OGD(dw.Box(np.arange(2000.0), np.arange(2000.0) + 1.0 / 3.0), step=0.1)
    read(wide)
    read(dw.Trace.from_pandas(dw.play(wide, dw.TrackingLoss(np.ones((2, 2000)))).to_pandas()))


@pytest.mark.parametrize("size", [0.0, 1e-300, 1e100, -1e100])
def test_numbers_of_any_size_and_a_single_round_can_be_drawn(size: float) -> None:
    for rounds in (1, 2, 1000):
        decisions = np.linspace(0.0, size, rounds)[:, None]
        trace = dw.Trace(
            decisions, decisions[:, 0], np.zeros(rounds), 1.0, None, dw.OGD(dw.Ball(1), step=0.1), CAPACITY
        )
        assert "svg" in read(trace).tags


def test_what_is_not_finite_or_empty_is_left_out() -> None:
    values = np.array([1.0, math.nan, math.inf, 3.0])
    shown = Reader(Card("x", pictures=[Picture("curve", [Curve("y", values)])]).render())
    assert "from 1 to 3" in shown.text
    for nothing in ([], [Curve("y", np.array([math.nan]))], [Curve("y", np.empty(0))]):
        assert "svg" not in Reader(Card("x", pictures=[Picture("curve", nothing)]).render()).tags
    assert Reader(Card("x", bars=[Bar("a", math.nan, "nan"), Bar("b", -1.0, "-1"), Bar("c", 7.0, "7")]).render())


def test_certificates_and_optima_have_cards() -> None:
    losses = dw.streams.drifting_regression(rounds=60, dim=2, segment=20, seed=0)
    learner = dw.Scream(losses.domain, switching_cost=1.0, gradient_bound=2.1, horizon=60)
    trace = dw.play(learner, losses, 1.0)
    found = dw.regret.certificate(trace, losses.generator)
    shown = read(found)
    assert "Certificate of Scream" in shown.text
    assert "\N{CHECK MARK} convexity" in shown.text
    assert f"{found.bound:.6g}" in shown.text
    greedy = dw.Scream(losses.domain, switching_cost=1.0, gradient_bound=0.01)
    poor = dw.regret.certificate(dw.play(greedy, losses, 1.0), [0.0, 0.0])
    assert "\N{BALLOT X} gradient bound" in read(poor).text
    assert "an assumption is not met" in read(poor).text
    adaptive = dw.StronglyAdaptive(dw.Ball(2), switching_cost=1.0, gradient_bound=2.1, horizon=60)
    every = dw.regret.interval_certificate(dw.play(adaptive, losses, 1.0))
    assert f"ratio {every.ratio:.2%}" in read(every).text
    best = dw.regret.hindsight_optimum(CAPACITY, BOX, 4.0)
    shown = read(best)
    assert best.status in shown.text
    assert "svg" in shown.tags


def test_whatever_text_there_is_does_no_harm() -> None:
    evil = type(EVIL, (dw.OGD,), {})
    trace = dw.play(evil(BOX, step=0.5), dw.CapacityLoss(DEMANDS.set_axis([EVIL] * 40), shortage=5.0))
    for what in (evil(BOX, step=0.5), trace, dw.Trace.from_pandas(trace.to_pandas())):
        assert EVIL in read(what).text  # as text
    frame = _trace().to_pandas()
    frame.attrs["driftwise"] = frame.attrs["driftwise"].replace("Committee", "<img src=x>")
    assert "Trace of <img src=x>" in read(dw.Trace.from_pandas(frame)).text
    learner = dw.SelfTunedLearner(BOX, switching_cost=4.0)
    dw.play(learner, CAPACITY, 4.0, proposals={EVIL: DEMANDS.to_numpy()})
    for what in (learner, learner.explain(), learner.certificate(f"{EVIL}, follow")):
        assert EVIL in read(what).text


def test_text_is_escaped_and_cut() -> None:
    assert words(EVIL) == "&lt;script&gt;alert(&#x27;&amp;&quot;&#x27;)&lt;/script&gt;"
    assert words("a\n  b") == "a b"
    assert len(words("a" * 10**6)) == WORDS
    assert words(3) == "3"


class Broken(dw.OGD):
    """A learner of one's own that cannot say what it is."""

    @property
    def weights(self) -> np.ndarray:
        raise RuntimeError("no weights")


class Mute(Broken):
    """One that cannot say its name either."""

    def __repr__(self) -> str:
        raise RuntimeError("no name")


def test_a_learner_that_fails_is_shown_by_its_name() -> None:
    assert Broken(BOX, step=0.5)._repr_html_() == "<pre>Broken(Box(low=[0.], high=[20.]), horizon=None, round=0)</pre>"
    assert Mute(BOX, step=0.5)._repr_html_() == "<pre>&lt;Mute&gt;</pre>"


def test_a_curve_keeps_its_ends_and_its_extremes() -> None:
    values = np.random.default_rng(1).standard_normal(12_345)
    few = thinned(values)
    assert few.size == POINTS
    assert (few.min(), few.max()) == (values.min(), values.max())
    short = np.arange(float(POINTS))
    assert thinned(short).tolist() == short.tolist()
    rising = thinned(np.arange(1000.0))
    assert (rising[0], rising[-1]) == (0.0, 999.0)
    assert [bar.name for bar in heaviest(["a", "b", "c"], np.array([0.2, 0.5, 0.3]))] == ["b", "c", "a"]


def test_every_actor_takes_part() -> None:
    def below(kind: type[Actor]) -> list[type[Actor]]:
        return [kind, *(one for each in kind.__subclasses__() for one in below(each))]

    ours = [kind for kind in below(Actor) if kind.__module__.startswith("driftwise.")]
    assert len(ours) > 15
    assert all(kind._repr_html_ is Actor._repr_html_ for kind in ours)
