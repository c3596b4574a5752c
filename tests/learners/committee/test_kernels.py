"""The compiled round against its statement in NumPy, and where numbers are huge, tiny or equal."""

import math

import numpy as np
import pytest
from hypothesis import given, settings

import driftwise as dw
from driftwise._validate import Array
from driftwise.learners.committee import kernels, layout
from driftwise.learners.committee.layout import Flags, begin_round, charge, keep_rows, new_committee, parts_of
from tests.strategies import seeds

N = 4


class _Weights:
    """A committee's weights alone: nobody moves, and the charge for changing weights is given."""

    def __init__(self, prior: Array) -> None:
        self.vector = new_committee(np.log(prior), np.zeros((2, 1)), adds_up=True)
        self.parts = parts_of(self.vector)

    @property
    def overhead(self) -> float:
        return float(self.vector[layout.OVERHEAD])

    @property
    def rate(self) -> float:
        """The rate of the next round, infinite while there is no evidence."""
        return float(self.vector[layout.RATE]) or math.inf

    @property
    def totals(self) -> Array:
        return self.parts["totals"].copy()

    def of(self, awake: Flags) -> Array:
        begin_round(self.parts, awake, np.zeros((awake.size, 1)))
        kernels.act_by_mixing(self.vector)
        keep_rows(self.parts, awake)
        return self.parts["weights"].copy()

    def learn(self, awake: Flags, losses: Array, price: float) -> None:
        self.vector[layout.CHARGE] = price
        charge(self.parts, awake, losses)
        kernels.observe(self.vector)

    def round(self, awake: Flags, losses: Array, price: float = 0.0) -> None:
        self.of(awake)
        self.learn(awake, losses, price)


def _uniform(n: int = N) -> _Weights:
    return _Weights(np.full(n, 1.0 / n))


def _plain(prior: Array, losses: Array, awake: Flags, prices: Array) -> tuple[Array, float]:
    """Return the weights of every round and the overhead, from the formulas as they stand."""
    totals, overhead, rows = np.zeros(prior.size), 0.0, []
    for charges, here, price in zip(losses, awake, prices, strict=True):
        rate = math.log(prior.size) / overhead if overhead else math.inf
        # While the overhead is 0 all totals are equal.
        p = prior * (np.exp(-rate * (totals - totals.min())) if overhead else 1.0) * here
        p /= p.sum()
        least = charges[here].min()
        mix = -math.log(p[here] @ np.exp(-rate * (charges[here] - least))) / rate + least if overhead else least
        overhead += p[here] @ charges[here] - mix + price
        totals += np.where(here, charges, mix)
        rows.append(p)
    return np.array(rows), overhead


@given(seeds)
def test_rounds_are_the_formulas(seed: int) -> None:
    rng = np.random.default_rng(seed)
    prior = rng.uniform(0.1, 1.0, N)
    prior /= prior.sum()
    losses, prices = rng.uniform(-1.0, 1.0, (30, N)), rng.uniform(0.0, 0.2, 30)
    awake = rng.random((30, N)) < 0.8
    awake[np.arange(30), rng.integers(N, size=30)] = True
    expected, overhead = _plain(prior, losses, awake, prices)
    meta = _Weights(prior)
    for p, charges, here, price in zip(expected, losses, awake, prices, strict=True):
        weights = meta.of(here)
        np.testing.assert_allclose(weights, p, rtol=1e-9, atol=1e-12)
        meta.learn(here, charges, price)
    assert meta.overhead == pytest.approx(overhead, rel=1e-9)


def test_a_sleeper_keeps_its_share() -> None:
    meta, everybody = _uniform(), np.ones(N, bool)
    meta.round(everybody, np.array([0.0, 1.0, 2.0, 3.0]))
    before, rate = meta.of(everybody), meta.rate
    awake = np.array([True, True, False, True])
    meta.round(awake, np.array([5.0, 1.0, 0.0, 0.0]))
    # At the rate of the round itself the share is kept exactly; then the rate falls.
    powers = -rate * meta.totals
    shares = np.exp(powers - powers.max())
    assert shares[2] / shares.sum() == pytest.approx(before[2], rel=1e-12)


def test_equal_losses_leave_the_prior_and_cost_nothing() -> None:
    meta, everybody = _Weights(np.array([0.5, 0.25, 0.25])), np.ones(3, bool)
    for size in (0.0, 1e90, -3.0, 1e-90):
        meta.round(everybody, np.full(3, size))
        assert meta.overhead == 0.0
        np.testing.assert_allclose(meta.of(everybody), [0.5, 0.25, 0.25], rtol=1e-15)


def test_rounding_is_no_difference() -> None:
    meta, everybody = _uniform(2), np.ones(2, bool)
    meta.round(everybody, np.array([0.1 + 0.2, 0.3]))
    assert meta.of(everybody).tolist() == [0.5, 0.5]


def test_a_member_without_weight_counts_when_it_was_by_far_the_best() -> None:
    meta, everybody = _uniform(2), np.ones(2, bool)
    for _ in range(3000):
        meta.round(everybody, np.array([0.0, 1e-90]))
    assert meta.of(everybody)[1] == 0.0
    meta.round(everybody, np.array([1e90, 0.0]))
    assert meta.overhead == pytest.approx(1e90, rel=1e-12)
    assert 0.3 < meta.of(everybody)[0] < 0.5


@given(seeds)
def test_huge_and_tiny_losses_leave_a_distribution(seed: int) -> None:
    rng = np.random.default_rng(seed)
    meta, rate = _uniform(), math.inf
    for _ in range(40):
        awake = rng.random(N) < 0.7
        awake[rng.integers(N)] = True
        weights = meta.of(awake)
        assert weights.min() >= 0.0
        assert abs(weights.sum() - 1.0) < 1e-12
        assert not weights[~awake].any()
        assert meta.rate <= rate
        rate = meta.rate
        meta.learn(awake, rng.choice([-1.0, 0.0, 1.0], N) * 10.0 ** rng.choice([-90, 0, 90], N), 0.0)
    assert math.isfinite(meta.overhead)
    assert np.isfinite(meta.totals).all()


def test_a_member_far_behind_counts_when_it_was_by_far_the_best_whatever_the_rate() -> None:
    """The rate is so high that totals times the rate are infinite."""
    meta, everybody = _uniform(2), np.ones(2, bool)
    for _ in range(3000):
        meta.round(everybody, np.array([0.0, 1e-299]))
    meta.round(everybody, np.array([0.0, 1e10]))
    assert meta.overhead < 1e-290
    meta.round(everybody, np.array([1e20, 0.0]))
    assert meta.overhead == pytest.approx(1e20 - 1e10, rel=1e-12)


def _price_of_changing(before: Array, after: Array, kept: Array, rows: Array, cost: dw.MoveCost) -> float:
    """Return the expected price of the coupled change beyond the new member's own move, pair by pair."""
    gains, extra = np.maximum(after - before, 0.0), 0.0
    for i in np.flatnonzero(after < before):
        for j in np.flatnonzero(gains):
            share = (before[i] - after[i]) * gains[j] / gains.sum()
            extra += share * (float(cost(rows[j] - kept[i])) - float(cost(rows[j] - kept[j])))
    return max(extra, 0.0)


@pytest.mark.parametrize("norm", ["l1", "l2"])
@pytest.mark.parametrize("follow", [False, True], ids=["mix", "follow"])
@settings(max_examples=20)
@given(seed=seeds)
def test_the_charge_is_what_the_change_of_weights_adds_to_the_price(follow: bool, norm: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    cost = dw.MoveCost(up=rng.uniform(0.0, 2.0, 3), down=rng.uniform(0.0, 2.0, 3), norm=norm)
    vector = new_committee(np.full(N, -math.log(N)), cost.prices(3), norm == "l1")
    parts, everybody, charged = parts_of(vector), np.ones(N, bool), 0
    kept, before, decision = np.zeros((N, 3)), np.zeros(N), np.zeros(3)
    for t in range(6):
        # Members differ by more than they move, so that it costs something to change from one to another.
        rows = 2.0 * np.arange(N)[:, None] + 0.1 * rng.normal(size=(N, 3))
        begin_round(parts, everybody, rows)
        (kernels.act_by_following if follow else kernels.act_by_mixing)(vector)
        keep_rows(parts, everybody)
        weights, expected = parts["weights"].copy(), 0.0
        if t > 0:
            np.testing.assert_allclose(parts["own"], cost(rows - kept), rtol=1e-12)
            if follow:
                expected = _price_of_changing(before, weights, kept, rows, cost)
            else:
                expected = max(float(cost(weights @ rows - decision)) - float(weights @ parts["own"]), 0.0)
        assert vector[layout.CHARGE] == pytest.approx(expected, rel=1e-9, abs=1e-13)
        charged += expected > 0.0
        kept, before, decision = rows, weights, weights @ rows
        charge(parts, everybody, rng.exponential(size=N))
        kernels.observe(vector)
    assert charged > 0


def test_making_a_committee_runs_no_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object) -> None:
        raise AssertionError("a kernel was called, and so compiled")

    for name in ("act_by_mixing", "act_by_following", "observe", "weigh_everybody"):
        monkeypatch.setattr(kernels, name, refuse)
    committee = dw.Committee(3, 2.0, mode="follow").clone()
    assert (committee.round, committee.overhead, committee.member) == (0, 0.0, None)
