"""Theorems in general norms and for general memory, on random problems."""

import numpy as np
import pytest

import driftwise as dw
from driftwise.experiments.studies.theory.general import certify_general, own_losses, random_prices
from driftwise.regret.theorems.checks import memory_slopes

NAMES = {
    "Mirror descent, p-norm",
    "Mirror descent, shared entropy",
    "Hedge, shared",
    "Scream, prices",
    "Lazy Scream, prices",
    "OGD, own losses",
    "Scream, own losses",
    "Lazy Scream, own losses",
}


@pytest.mark.parametrize("memory", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_every_theorem_applies_and_holds(seed: int, memory: bool) -> None:
    source = dw.streams.drifting_regression(rounds=200, dim=3, segment=40, seed=seed)
    x, y = source.data.features, source.data.targets
    losses: dw.LossStream = dw.FilteredLoss([1.0, 0.5, 0.5], x, y) if memory else source
    domain, rng = dw.Simplex(3), np.random.default_rng(seed)
    comparators = {"the drift": domain.project(source.generator), "fixed": np.full((200, 3), 1.0 / 3.0)}
    rows = certify_general(rng, losses, domain, comparators, price=1.0)
    assert {row[0] for row in rows} == NAMES
    assert len(rows) == 2 * len(NAMES)
    assert all(guaranteed for *_, guaranteed in rows)
    assert max(ratio for _, _, ratio, _ in rows) <= 1.0


def test_prices_are_of_every_kind() -> None:
    rng = np.random.default_rng(0)
    drawn = [random_prices(rng, 4, 2.0) for _ in range(60)]
    assert {cost.norm for cost in drawn} == {"l1", "l2"}
    assert {cost.symmetric for cost in drawn} == {True, False}
    assert {bool(np.ptp(cost.prices(4)[0]) > 0.0) for cost in drawn} == {True, False}
    assert all(0.2 <= cost.prices(4).min() <= cost.prices(4).max() <= 20.0 for cost in drawn)


@pytest.mark.parametrize("seed", range(5))
def test_the_constants_of_ones_own_losses_are_right_and_not_much_too_large(seed: int) -> None:
    rng, domain = np.random.default_rng(seed), dw.Ball(2)
    losses = own_losses(rng, domain, domain.project(rng.normal(size=(500, 2))))
    assert len(losses) == 300
    w, v = (domain.project(rng.normal(size=(300, 2))) for _ in range(2))
    found = memory_slopes(losses, losses.lipschitz(domain), w, v)
    assert not found.breach
    assert found.used > 0.5
