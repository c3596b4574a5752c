"""A million rounds: the state keeps its size, decisions stay in the domain, and weights are still a distribution.

Runs are compiled, a chunk at a time, on the same learner. A round of SelfTunedLearner takes ten times as long as the
others, so it has a tenth of the rounds. What time rounds take, early and late, is printed by ``benchmarks/long.py``.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import driftwise as dw
from driftwise._container import unpack

CHUNK = 50_000
PRICE = 0.5

BOX = dw.Box([-1.0, 0.0], [1.0, 3.0])

LEARNERS: dict[str, tuple[Callable[[], Any], int]] = {
    "OGD": (lambda: dw.OGD(BOX, gradient_bound=3.0), 1_000_000),
    "MirrorDescent": (
        lambda: dw.MirrorDescent(dw.Simplex(2), mirror=dw.mirror.NegativeEntropy(), gradient_bound=3.0),
        1_000_000,
    ),
    "Hedge": (lambda: dw.Hedge(2, loss_bound=3.0), 1_000_000),
    "Ader": (lambda: dw.Ader(BOX, gradient_bound=3.0), 1_000_000),
    "Scream": (lambda: dw.Scream(BOX, switching_cost=PRICE, gradient_bound=3.0), 1_000_000),
    "Scream, doubling": (
        lambda: dw.Scream(BOX, switching_cost=PRICE, gradient_bound=3.0, horizon_free="doubling"),
        1_000_000,
    ),
    "LazyScream": (lambda: dw.LazyScream(BOX, switching_cost=PRICE, gradient_bound=3.0), 1_000_000),
    "StronglyAdaptive": (lambda: dw.StronglyAdaptive(BOX, switching_cost=PRICE, gradient_bound=3.0), 1_000_000),
    "SelfTunedScream": (lambda: dw.SelfTunedScream(BOX, switching_cost=PRICE), 1_000_000),
    "SelfTunedLearner": (lambda: dw.SelfTunedLearner(BOX, switching_cost=PRICE), 100_000),
}
"""Learners, and how many rounds they play."""


def losses_of(first: int, rounds: int = CHUNK) -> dw.LinearLoss:
    """Return a chunk of linear losses: a slow wave, noise, and now and then a gradient that is a thousand times larger.

    Scream and its relatives were given a bound on gradients that these exceed, which must harm nobody's state.
    """
    rng = np.random.default_rng(first)
    t = np.arange(first, first + rounds)
    rows = np.sin(2e-4 * t)[:, None] + rng.uniform(-1.0, 1.0, (rounds, 2))
    rows[rng.random(rounds) < 1e-4] *= 1e3
    return dw.LinearLoss(rows)


def arrays_of(learner: Any) -> dict[str, int]:
    """Return the bytes of every array in the learner's checkpoint."""
    return {name: part.nbytes for name, part in unpack("test", learner.to_bytes())[1].items()}


def check_long(name: str, rounds: int) -> None:
    learner: Any = LEARNERS[name][0]()
    sizes, length = {}, 0
    for first in range(0, rounds, CHUNK):
        trace = dw.play(learner, losses_of(first), PRICE)
        assert learner.domain.contains(trace.decisions)
        assert np.all(np.isfinite(trace.losses))
        assert learner.weights.min() >= 0.0
        total = learner.weights.sum() / (learner.domain.numbers[0] if isinstance(learner, dw.Hedge) else 1.0)
        assert abs(total - 1.0) <= 1e-12
        if first == 0:  # arrays have their size from the first chunk on
            sizes, length = arrays_of(learner), len(learner.to_bytes())
    assert learner.round == rounds
    assert arrays_of(learner) == sizes
    assert abs(len(learner.to_bytes()) - length) <= 256  # the header has numbers of more digits
    again = dw.from_bytes(learner.to_bytes())
    assert again.round == rounds
    assert again.act().tobytes() == learner.act().tobytes()


@pytest.mark.parametrize("name", LEARNERS)
def test_a_million_rounds(name: str) -> None:
    check_long(name, LEARNERS[name][1])


@pytest.mark.full
@pytest.mark.parametrize("name", LEARNERS)
def test_ten_million_rounds(name: str) -> None:
    check_long(name, 10 * LEARNERS[name][1])


@pytest.mark.parametrize("rounds", [5_000, pytest.param(500_000, marks=pytest.mark.full)])
def test_a_committee_of_long_standing(rounds: int) -> None:
    """Its rounds are not compiled, so there are fewer of them."""
    committee = dw.Committee(3, PRICE)
    proposals = np.random.default_rng(0).uniform(-1.0, 1.0, (1_000, 3, 2))
    sizes: dict[str, int] = {}
    for first in range(0, rounds, 1_000):
        trace = dw.play(committee, losses_of(first, 1_000), PRICE, proposals=proposals)
        assert np.all(np.abs(trace.decisions) <= 1.0)
        assert committee.weights.min() >= 0.0
        assert abs(committee.weights.sum() - 1.0) <= 1e-12
        sizes = sizes or arrays_of(committee)
    assert arrays_of(committee) == sizes
