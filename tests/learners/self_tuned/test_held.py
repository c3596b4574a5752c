"""Holdings that drift by themselves: everybody's next move is paid for from where they have drifted to."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import driftwise as dw
from driftwise._validate import Array
from driftwise.drift import Held
from driftwise.errors import InputError, ParameterError
from driftwise.movers import Follow, Mover, Step
from tests.cases import check_refused
from tests.pairs.accounts import Account, excess, parts_of, points_of, stated

D = 4
SIMPLEX = dw.Simplex(D)
START = np.full(D, 1.0 / D)


def relatives(rounds: int, seed: int = 0) -> Array:
    """Return price relatives with a leader that changes once."""
    rng = np.random.default_rng(seed)
    x = np.exp(rng.normal(0.0, 0.05, (rounds, D)))
    x[: rounds // 2, 0] *= 1.05
    x[rounds // 2 :, 1] *= 1.05
    return x


def log_wealth(price: float = 0.002, **settings: Any) -> dw.SelfTunedLearner:
    return dw.SelfTunedLearner(SIMPLEX, switching_cost=dw.MoveCost(price), start=START, **settings)


def play_held(
    learner: dw.SelfTunedLearner,
    losses: dw.LossStream,
    held: Callable[[int, Array], Held],
    drift: Callable[[int, Array], Array],
    given: Callable[[int], Any] = lambda t: None,
) -> Account:
    """Play with drifting holdings, and count what decisions and pairs have cost from their points alone."""
    cost, own = learner._cost, 0.0
    totals, here, stood = np.zeros(1), np.empty(0), np.empty((0, 0))
    for t in range(len(losses)):
        w, feedback = learner.act(proposal=given(t)), losses[t]
        points = points_of(learner)
        if t:
            own += float(np.asarray(cost(w - here)))
            totals = np.broadcast_to(totals, len(points)) + np.asarray(cost(points - stood))
        learner.observe(feedback, held=held(t, w))
        points = np.tile(w, (len(learner.members), 1)) if t == 0 else points
        own += losses.unary_value(t, w)
        totals = totals + np.array([losses.unary_value(t, point) for point in points])
        here, stood = drift(t, w[None])[0], drift(t, points)
        np.testing.assert_allclose(points_of(learner), stood, atol=1e-12)
        np.testing.assert_allclose(parts_of(learner)["decision"], here, atol=1e-12)
    return Account(own, totals)


def check_account(learner: dw.SelfTunedLearner, counted: Account) -> None:
    """Check that the pool's own accounts are those, and that its inequality holds for every pair."""
    said = stated(learner)
    np.testing.assert_allclose(said.own, counted.own, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(said.pairs, counted.pairs, rtol=1e-9, atol=1e-9)
    assert excess(learner) <= 1e-12
    assert all(learner.certificate(pair).within for pair in learner.members)


@pytest.mark.parametrize("price", [0.0, 0.002, 0.05])
@pytest.mark.parametrize("way", ["function", "point"])
def test_accounts_of_a_portfolio_are_counted_from_where_it_has_drifted_to(price: float, way: str) -> None:
    x = relatives(80)

    def grown(t: int, rows: Array) -> Array:
        return np.asarray(rows * x[t] / (rows @ x[t])[:, None])

    def held(t: int, w: Array) -> Held:
        return dw.Growth(x[t]) if way == "function" else grown(t, w[None])[0]

    learner = log_wealth(price)
    counted = play_held(learner, dw.LogWealthLoss(x), held, grown)
    check_account(learner, counted)
    # The pair that stays is buy and hold.
    bought = np.log(np.exp(np.log(x).sum(axis=0)).mean())
    assert counted.pairs[0] == pytest.approx(-bought, rel=1e-9)
    assert -learner.certificate("stay").pair_cost == pytest.approx(bought, rel=1e-9)


def test_without_prices_the_pool_is_a_fund_of_its_pairs() -> None:
    x = relatives(100, seed=2)
    learner = log_wealth(0.0)
    counted = play_held(
        learner,
        dw.LogWealthLoss(x),
        lambda t, w: dw.Growth(x[t]),
        lambda t, rows: np.asarray(rows * x[t] / (rows @ x[t])[:, None]),
    )
    prior = np.exp(parts_of(learner)["log_prior"][learner.lanes])
    assert prior.sum() == pytest.approx(1.0)
    assert prior[0] == pytest.approx(0.9)
    # Its wealth is the mean of theirs: at rate 1 weights are shares of wealth, which need no trade to become so.
    assert -counted.own == pytest.approx(np.log(prior @ np.exp(-counted.pairs)), rel=1e-9)
    assert learner.overhead == pytest.approx(0.5 * np.log(len(learner.members)))
    # So the certificate says what such a fund is known for: it ends at least with its pairs' shares of wealth.
    for pair, share, cost in zip(learner.members, prior, counted.pairs, strict=True):
        found = learner.certificate(pair)
        assert found.bound - found.clipping == pytest.approx(cost - np.log(share), rel=1e-9)
        assert found.within
    assert "1.74825, what that began with" in str(learner.certificate("stay"))


DOMAINS: dict[str, tuple[dw.Domain, dw.LossStream]] = {
    "squared": (dw.Box([0.0, 0.0], [1.0, 2.0]), dw.SquaredLoss([[1.0, 0.5], [0.2, -0.6]] * 20, [0.9, 0.1] * 20)),
    "tracking": (dw.Box([0.0, 0.0], [1.0, 2.0]), dw.TrackingLoss([[0.7, 1.5], [0.2, 0.6]] * 20)),
    "linear": (dw.Simplex(2), dw.LinearLoss([[1.0, -0.5], [0.2, 0.4]] * 20)),
}


@pytest.mark.parametrize("kind", DOMAINS)
def test_accounts_hold_for_any_loss_and_any_drift(kind: str) -> None:
    domain, losses = DOMAINS[kind]
    middle = domain.project(np.array([0.5, 0.5]))

    def sink(t: int, rows: Array) -> Array:
        """Leak a tenth of the way to the middle."""
        return np.asarray(rows + 0.1 * (middle - rows))

    learner = dw.SelfTunedLearner(domain, switching_cost=0.05, start=middle)
    counted = play_held(learner, losses, lambda t, w: lambda rows: sink(t, rows), sink)
    said = stated(learner)
    if kind != "linear":  # gradients count linearised losses
        assert said.own == pytest.approx(counted.own)
        np.testing.assert_allclose(said.pairs, counted.pairs, rtol=1e-9)
    assert excess(learner) <= 1e-12


class Half(Mover):
    """Goes half of the way."""

    name = "half"

    def share(self, step: Step) -> float:
        return 0.5


def test_proposals_and_movers_of_ones_own_drift_as_well() -> None:
    x = relatives(30)
    learner = log_wealth(0.01, movers=[Follow(), Half()])
    counted = play_held(
        learner,
        dw.LogWealthLoss(x),
        lambda t, w: dw.Growth(x[t]),
        lambda t, rows: np.asarray(rows * x[t] / (rows @ x[t])[:, None]),
        given=lambda t: {"uniform": START},
    )
    check_account(learner, counted)
    assert "uniform, half" in learner.members


def rounds(learner: dw.SelfTunedLearner, x: Array, some: range) -> Array:
    """Play some rounds, and return the decisions."""
    found, losses = [], dw.LogWealthLoss(x)
    for t in some:
        found.append(learner.act())
        learner.observe(losses[t], held=dw.Growth(x[t]))
    return np.array(found)


@pytest.mark.parametrize("stop", [1, 17])
def test_it_goes_on_from_a_checkpoint_bit_for_bit(stop: int) -> None:
    x = relatives(40)
    learner = log_wealth()
    rounds(learner, x, range(stop))
    again, copy = dw.from_bytes(learner.to_bytes()), learner.clone()
    expected = rounds(learner, x, range(stop, 40))
    for other in (again, copy):
        np.testing.assert_array_equal(rounds(other, x, range(stop, 40)), expected)
        assert other.to_bytes() == learner.to_bytes()


def test_a_round_without_feedback_may_drift_too() -> None:
    x = relatives(30)
    losses, learner = dw.LogWealthLoss(x), log_wealth(0.01)
    rounds(learner, x, range(10))
    cost = stated(learner).own
    held = parts_of(learner)["decision"].copy()
    w = learner.act()
    moved = float(np.asarray(learner._cost(w - held)))
    there = dw.Growth(x[10])(w)
    learner.observe(None, held=dw.Growth(x[10]))
    again = dw.from_bytes(learner.to_bytes())
    for one in (learner, again):  # nothing was learnt: it stays where it has drifted to
        np.testing.assert_allclose(one.act(), there, atol=1e-15)
        one.observe(losses[11], held=dw.Growth(x[11]))
    assert again.to_bytes() == learner.to_bytes()
    # The move into the round without feedback is counted with the next loss.
    assert moved > 0.0
    assert stated(learner).own == pytest.approx(cost + moved - np.log(x[11] @ there), abs=1e-12)
    assert learner.certificate().within


def test_a_first_round_without_feedback_may_drift_too() -> None:
    x, learner = relatives(5), log_wealth()
    learner.act()
    learner.observe(None, held=dw.Growth(x[0]))
    expected = dw.Growth(x[0])(START)
    np.testing.assert_allclose(learner.act(), expected)
    again = dw.from_bytes(learner.to_bytes())
    np.testing.assert_array_equal(rounds(again, x, range(1, 5)), rounds(learner, x, range(1, 5)))
    stay = -np.log(x[1:] @ np.eye(D)).sum(axis=0)
    assert learner.certificate("stay").pair_cost == pytest.approx(-np.log(expected @ np.exp(-stay)), rel=1e-9)


BAD: dict[str, Any] = {
    "nan": np.full(D, np.nan),
    "outside": np.full(D, 2.0 / D),
    "shape": np.ones(D - 1),
    "function": lambda rows: -rows,
    "text": "held",
}


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("after", [0, 3])
def test_what_cannot_be_held_is_refused_and_nothing_has_changed(name: str, after: int) -> None:
    x, learner = relatives(10), log_wealth()
    losses = dw.LogWealthLoss(x)
    rounds(learner, x, range(after))
    w = learner.act()
    before = learner.to_bytes()
    check_refused(lambda: learner.observe(losses[after], held=BAD[name]), "SelfTunedLearner", kind=InputError)
    assert learner.to_bytes() == before
    assert learner.act() is w
    check_refused(lambda: learner.observe(np.full(D, np.nan), held=dw.Growth(x[0])), kind=InputError)
    assert learner.to_bytes() == before


def test_refused_holdings_may_be_passed_over() -> None:
    x, learner = relatives(10), log_wealth(on_bad_input="skip")
    losses = dw.LogWealthLoss(x)
    rounds(learner, x, range(3))
    w = learner.act()
    learner.observe(losses[3], held=BAD["nan"])
    assert (learner.refused, learner.skipped, learner.round) == (1, 1, 4)
    np.testing.assert_array_equal(learner.act(), w)
    learner.observe(np.full(D, np.nan), held=dw.Growth(x[4]))  # the drift is known, the feedback is not
    np.testing.assert_allclose(learner.act(), dw.Growth(x[4])(w), atol=1e-15)


def test_holdings_are_those_of_the_present_round() -> None:
    x, learner = relatives(10), log_wealth(late=3)
    losses = dw.LogWealthLoss(x)
    rounds(learner, x, range(3))
    learner.act()
    learner.skip()
    w = learner.act()
    check_refused(lambda: learner.observe(losses[3], round=3, held=w), "held is for the present round, 4")
    learner.observe(losses[4], round=4, held=dw.Growth(x[4]))
    learner.observe(losses[3], round=3)
    assert learner.skipped == 0
    assert learner.certificate().within


@pytest.mark.parametrize(
    "learner",
    [
        dw.OGD(SIMPLEX, step=0.1),
        dw.SelfTunedScream(SIMPLEX, switching_cost=0.1),
        dw.rounded(dw.SelfTunedScream(dw.Box([0.0], [9.0]), switching_cost=0.1), seed=0),
    ],
)
def test_other_learners_say_which_one_takes_holdings(learner: dw.Learner) -> None:
    w = learner.act()
    with pytest.raises(ParameterError, match="leave out held; SelfTunedLearner takes it"):
        learner.observe(np.zeros(w.size), held=w)
    assert learner.round == 0
