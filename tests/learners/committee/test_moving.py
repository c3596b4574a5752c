"""The compiled movers against those of `driftwise.movers`, and what pairs learn from losses."""

import math

import numpy as np
import pytest
from hypothesis import given

from driftwise import movers
from driftwise._validate import Array
from driftwise.learners.committee.layout import ROUNDS, begin_round, new_committee, parts_of
from driftwise.learners.committee.moving import learn_pairs, move_pairs
from driftwise.movecost import MoveCost
from driftwise.movers import Step
from tests.strategies import seeds

MOVERS = [*movers.default(), movers.SkiRental(3.0), movers.Prox(0.5)]
TAU = np.array([mover.tau for mover in MOVERS])
M, N, D = len(MOVERS), 2, 3


def _pool(seed: int) -> tuple[Array, Array, Array, Array]:
    """Return the vector of a committee in which every pair has a point, proposals, what is known, and staying."""
    rng = np.random.default_rng(seed)
    vector = new_committee(np.full(N * M, -math.log(N * M)), MoveCost(2.0, 0.5).prices(D), adds_up=True)
    parts = parts_of(vector)
    parts["kept"][:], parts["seen"][:], vector[ROUNDS] = rng.normal(size=(N * M, D)), 1.0, 7.0
    proposals = rng.normal(size=(N, D))
    begin_round(parts, np.ones(N * M, bool), np.repeat(proposals, M, axis=0))
    return vector, proposals, np.array([[3.0, 2.0], [rng.choice([-1.0, 1.0]), 4.0]]), rng.exponential(size=N * M)


@given(seeds)
def test_pairs_go_the_part_that_their_mover_says(seed: int) -> None:
    vector, proposals, known, staying = _pool(seed)
    parts, before, cost = parts_of(vector), staying.copy(), MoveCost(2.0, 0.5)
    move_pairs(vector, TAU, known, staying, np.full(N * M, -1.0))
    for j in range(N * M):
        here, way = parts["kept"][j], proposals[j // M] - parts["kept"][j]
        bend = 2.0 * max(known[j // M, 0], 0.0) / known[j // M, 1]
        price = float(cost(way))
        share = MOVERS[j % M].share(Step(way, price, bend * float(way @ way), float(before[j]), 7, 9.0))
        np.testing.assert_allclose(parts["rows"][j], here + share * way, rtol=1e-9, atol=1e-12)
        assert staying[j] == (0.0 if share > 0.0 else before[j])


def test_who_sleeps_is_there_already_or_is_new_does_not_go() -> None:
    vector, proposals, known, staying = _pool(0)
    parts = parts_of(vector)
    parts["prior"][0], parts["seen"][1], parts["kept"][2] = -math.inf, 0.0, proposals[0]
    before = staying.copy()
    move_pairs(vector, TAU, known, staying, np.full(N * M, -1.0))
    assert np.array_equal(staying[:3], before[:3])
    assert np.array_equal(parts["rows"][:3], np.tile(proposals[0], (3, 1)))


def test_shares_that_are_given_are_taken() -> None:
    vector, proposals, known, staying = _pool(1)
    parts, shares = parts_of(vector), np.linspace(0.0, 1.0, N * M)
    move_pairs(vector, np.full(M, math.nan), known, staying, shares)
    expected = parts["kept"] + shares[:, None] * (np.repeat(proposals, M, axis=0) - parts["kept"])
    np.testing.assert_allclose(parts["rows"], expected, rtol=1e-12)
    assert staying[0] > 0.0
    assert not staying[1:].any()


def test_pairs_learn_what_being_away_costs() -> None:
    vector, proposals, known, staying = _pool(2)
    parts, old, before = parts_of(vector), known.copy(), staying.copy()
    parts["prior"][1] = -math.inf
    rng = np.random.default_rng(0)
    proposed, paid = rng.normal(size=N), rng.normal(size=N * M)
    learn_pairs(vector, proposals, proposed, known, staying, paid)
    beyond = (paid - np.repeat(proposed, M)) * (np.arange(N * M) != 1)
    assert staying == pytest.approx(np.maximum(before + beyond, 0.0))
    far = ((parts["kept"] - np.repeat(proposals, M, axis=0)) ** 2).sum(axis=1) * (np.arange(N * M) != 1)
    assert known[:, 0] - old[:, 0] == pytest.approx(beyond.reshape(N, M).sum(axis=1))
    assert known[:, 1] - old[:, 1] == pytest.approx(far.reshape(N, M).sum(axis=1))
