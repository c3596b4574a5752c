"""Making a pool: pairs are lanes, everybody begins at the start, newcomers with their prior weight, and copies."""

import math

import numpy as np
import pytest

import driftwise as dw
from driftwise.pairs import layout
from driftwise.pairs.pool import FAVOUR, RATE, Plan, Row, arrange
from tests.cases import DOMAINS, PRICES, a_third, by_hand, self_tuned, stream
from tests.pairs.accounts import parts_of, points_of

KINDS = ("squared", "absolute", "tracking", "capacity", "linear")


def _learner(kind: str, where: str = "ball", price: str = "number", rounds: int = 1) -> dw.SelfTunedLearner:
    learner = self_tuned(DOMAINS[where], price)
    by_hand(learner, stream(kind, DOMAINS[where].dim, rounds))
    return learner


def _plan(learner: dw.SelfTunedLearner) -> Plan:
    assert learner._plan is not None
    return learner._plan


@a_third(kind=KINDS, where=DOMAINS, price=PRICES)
def test_pairs_are_lanes_and_padding_is_nobody(kind: str, where: str, price: str) -> None:
    learner = _learner(kind, where, price)
    plan, parts, v = _plan(learner), parts_of(learner), learner._vector
    lanes = plan.sides["lanes"]
    assert lanes % 4 == 0
    assert len(plan.lanes) == len(plan.members) == len(set(plan.lanes.tolist()))
    nobody = np.setdiff1d(np.arange(lanes), plan.lanes)
    assert np.all(parts["log_prior"][nobody] == -np.inf)
    assert np.all(parts["weights"][nobody] == 0.0)
    assert np.all(np.isfinite(parts["log_prior"][plan.lanes]))
    for e, row in enumerate(plan.rows):
        first = plan.first_lane(e)
        assert first in plan.lanes
        assert np.all(parts["owner"][first // 4 : (first + len(row.movers) + 3) // 4] == e)
    assert parts["owner"][0] == -1.0
    assert v[layout.FACTOR] == pytest.approx(RATE * math.log(len(plan.members)))
    up, down = parts["prices"]
    np.testing.assert_array_equal(parts["prices"], learner._cost.prices(learner.domain.dim))
    assert up.shape == down.shape == (learner.domain.dim,)


@pytest.mark.parametrize("kind", KINDS)
def test_everybody_begins_at_the_start_with_the_prior(kind: str) -> None:
    learner = _learner(kind)
    plan, parts = _plan(learner), parts_of(learner)
    np.testing.assert_array_equal(points_of(learner), np.zeros((len(plan.members), 3)))
    prior = np.exp(parts["log_prior"][plan.lanes])
    if kind == "linear":
        assert plan.members[int(np.argmax(prior))] == "Scream, follow"
        assert prior.max() == pytest.approx(FAVOUR)
        assert prior.sum() == pytest.approx(1.0)
    else:
        assert np.all(prior == 1.0)
    np.testing.assert_allclose(learner.weights, prior / prior.sum(), rtol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rounds", [1, 2, 17])
def test_newcomers_leave_the_weights_of_the_others_in_proportion(kind: str, rounds: int) -> None:
    learner = _learner(kind, rounds=rounds)
    before, old = learner.weights, _plan(learner)
    points, vector = points_of(learner), learner._vector.copy()
    learner._join(["new", "newer"])
    plan, parts = _plan(learner), parts_of(learner)
    assert plan.members[: len(old.members)] == old.members
    assert len(plan.members) == len(old.members) + 16
    prior = np.exp(parts["log_prior"][plan.lanes])
    share = float(prior[-16:].sum() / prior.sum())
    np.testing.assert_allclose(learner.weights[:-16], (1.0 - share) * before, rtol=0.0, atol=1e-12)
    np.testing.assert_allclose(learner.weights[-16:], prior[-16:] / prior.sum(), rtol=1e-9)
    np.testing.assert_array_equal(points_of(learner)[:-16], points)
    np.testing.assert_array_equal(points_of(learner)[-16:], np.tile(parts["decision"], (16, 1)))
    for place in (layout.ROUNDS, layout.RATE, layout.OVERHEAD, layout.PAID, layout.LEVEL, layout.SQUARE, layout.FACTOR):
        assert learner._vector[place] == vector[place]


def test_what_is_kept_has_no_addresses_and_makes_the_same_vector() -> None:
    learner = _learner("capacity", "box", rounds=9)
    plan = _plan(learner)
    kept = plan.kept(learner._vector)
    assert np.all(kept[layout.JUDGE_CALL : layout.WEIGH_CALL + 1] == 0.0)
    assert np.all(learner._vector[layout.JUDGE_CALL : layout.ASIDE_CALL] > 0.0)
    again = plan.vector_of(kept)
    assert again.size == learner._vector.size
    np.testing.assert_array_equal(plan.kept(again), kept)
    for name, part in plan.views(again).items():
        if name in ("points", "weights", "totals", "proposals", "record", "moments"):
            np.testing.assert_array_equal(part, parts_of(learner)[name], err_msg=name)


def test_rows_of_a_family_are_neighbours() -> None:
    rows = [Row(name, family, None, ()) for name, family in (("a", 1), ("b", None), ("c", 2), ("d", 1), ("e", None))]
    assert [row.name for row in arrange(rows)] == ["a", "d", "c", "b", "e"]
