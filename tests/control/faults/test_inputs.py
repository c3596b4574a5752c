"""Whatever goes wrong, inputs are finite and within limits and rates, nothing is raised, and the log says so."""

import itertools

import numpy as np
import pytest

from driftwise.control.policies.guard import FADE, GONE, RETURN
from tests.control.faults.cases import CALM, FAULTS, KINDS, PLANTS, ROUNDS, Lost, Story, guarded, play

SEEDS = 2
"""Cases of every controller, plant and fault; ten times as many at full size."""


def case(kind: str, plant: str, fault: str, seed: int) -> Story:
    """Play one case, and check what is said and how what is learnt comes back."""
    rng = np.random.default_rng([seed, len(kind), len(plant), len(fault)])
    make, rounds = FAULTS[fault]
    first = int(rng.integers(CALM, CALM + 10))
    wrong = make(rng, first, first + rounds - 1)
    where = f"{kind}, {plant}, {fault}, seed {seed}"
    mine = guarded(kind, plant)
    try:
        story = play(mine, plant, wrong, ROUNDS, rng)
    except Exception as error:
        raise AssertionError(f"{where}: {type(error).__name__}: {error}") from error
    if make.logged:
        told = np.diff(story.logged, prepend=0.0)
        assert (told[first : first + rounds] >= 1.0).all(), f"{where}: not logged: {told}"
        assert any(first <= event.round < first + rounds for event in mine.log), where
    if story.logged[-1] == (rounds if make.logged else 0):  # nothing but the fault itself has happened
        check_way_back(story.shares, where)
        assert story.shares[-1] == 1.0, f"{where}: {story.shares}"
    return story


def check_way_back(shares: np.ndarray, where: str) -> None:
    """Check that what is learnt goes by the stated factor, and comes back by the stated step."""
    for before, now in itertools.pairwise(shares):
        faded = before * FADE if before * FADE >= GONE else 0.0
        assert now == pytest.approx(faded) or -1e-12 <= now - before <= RETURN + 1e-12, f"{where}: {shares}"


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("kind", KINDS)
def test_every_fault_on_every_plant(kind: str, fault: str) -> None:
    for plant in PLANTS:
        for seed in range(SEEDS):
            case(kind, plant, fault, seed)


@pytest.mark.full
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("kind", KINDS)
def test_every_fault_on_every_plant_at_full_size(kind: str, fault: str) -> None:
    for plant in PLANTS:
        for seed in range(SEEDS, 10 * SEEDS):
            case(kind, plant, fault, seed)


@pytest.mark.parametrize("kind", KINDS)
def test_faults_one_after_the_other(kind: str) -> None:
    """Losses of all lengths, every few rounds, for a long time."""

    class Often(Lost):
        def on(self, t: int) -> bool:
            return t > 10 and bool(np.random.default_rng([t // 7, self.first]).uniform() < 0.5)

    for plant in PLANTS:
        mine = guarded(kind, plant)
        story = play(mine, plant, Often(np.random.default_rng(0), 3, 0), 300, np.random.default_rng(1))
        assert story.logged[-1] > 50
        check_way_back(story.shares, f"{kind}, {plant}")
