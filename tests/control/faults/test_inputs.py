"""Whatever goes wrong, inputs are finite and within limits and rates, nothing is raised, and the log says so."""

import numpy as np
import pytest

from tests.control.faults.cases import (
    FAULTS,
    KINDS,
    PLANTS,
    Lost,
    Story,
    check_way_back,
    guarded,
    play,
    suffer,
)

SEEDS = 2
"""Cases of every controller, plant and fault; ten times as many at full size."""


def case(kind: str, plant: str, fault: str, seed: int) -> Story:
    """Play one case."""
    rng = np.random.default_rng([seed, len(kind), len(plant), len(fault)])
    return suffer(guarded(kind, plant), plant, fault, rng)


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
