"""After a fault: how soon the cost is what it would have been, and what a plant that diverges leads to."""

import numpy as np
import pytest

from driftwise import control
from driftwise.control.controllers.guard import FALLBACK
from tests.control.faults.cases import (
    FAULTS,
    KINDS,
    PLANTS,
    Fault,
    Lost,
    Reversed,
    guarded,
    play,
)

WITHIN = 40
"""Rounds after which the cost is what it would have been."""

WINDOW = 120
"""Rounds over which that is measured."""


@pytest.mark.parametrize("burst", [1, 3, 20])
@pytest.mark.parametrize("kind", KINDS)
def test_after_lost_samples_the_cost_comes_back(kind: str, burst: int) -> None:
    first = 120
    for plant in PLANTS:
        if plant == "pendulum" and burst == 20:
            continue  # a second without a sample, and it lies on the ground, whoever controls it
        ratios = []
        for seed in range(2):
            costs = []
            for fault in (Lost, Fault):
                rng = np.random.default_rng(seed)
                last = first + burst - 1
                story = play(guarded(kind, plant), plant, fault(rng, first, last), last + WITHIN + WINDOW, rng)
                costs.append(story.costs[last + WITHIN :].sum())
            ratios.append(costs[0] / costs[1])
        # A pendulum that falls for three samples is far from where its linear model holds.
        assert np.mean(ratios) <= (1.2 if plant == "pendulum" else 1.1), (plant, ratios)


@pytest.mark.parametrize("fault", ["saturation, told", "somebody else", "frozen sensor", "late", "huge sample", "jump"])
@pytest.mark.parametrize("kind", KINDS)
def test_after_other_faults_the_cost_comes_back(kind: str, fault: str) -> None:
    first, (make, rounds) = 120, FAULTS[fault]
    for plant in ("stable", "unstable", "delay"):
        costs = []
        for one in (make, Fault):
            rng = np.random.default_rng(5)
            last = first + rounds - 1
            story = play(guarded(kind, plant), plant, one(rng, first, last), last + WITHIN + WINDOW, rng)
            costs.append(story.costs[last + WITHIN :].sum())
        assert costs[0] <= 1.15 * costs[1], (plant, costs)


@pytest.mark.parametrize("kind", KINDS)
def test_a_plant_that_diverges_is_reported_when_it_leaves_its_bounds(kind: str) -> None:
    """The input has the wrong sign from round 30 on, for thousands of rounds: until states are beyond all numbers."""
    for plant in ("unstable", "limits"):
        mine = guarded(kind, plant, state_bound=2.0)
        seen: list[int] = []

        class Watched(Reversed):
            def sample(self, t: int, x: np.ndarray, seen: list[int] = seen) -> np.ndarray:
                if np.abs(x).max() > 2.0:
                    seen.append(t)
                return x

        rng = np.random.default_rng(0)
        story = play(mine, plant, Watched(rng, 30, 30), 4000, rng)
        assert seen, plant
        assert story.logged[seen[0]] == story.logged[seen[0] - 1] + 1  # in the very round
        assert mine.health.status == FALLBACK
        assert mine.health.share == 0.0
        assert story.shares[seen[0] + 4] == 0.0
        assert story.costs[-1] > 1e100


@pytest.mark.parametrize("kind", ["linear", "Scream", "self-tuned"])
def test_a_plant_that_comes_back_from_far_away_is_controlled_again(kind: str) -> None:
    """As above for a while; then somebody puts the plant back, and the wiring is mended."""

    class Mended(Reversed):
        def change(self, t: int, plant):  # type: ignore[no-untyped-def]
            return super().change(t, plant) if t < 400 else plant

        def state(self, t: int, x: np.ndarray) -> np.ndarray:
            return 0.1 * np.ones_like(x) if t == 400 else x

    rng = np.random.default_rng(0)
    mine = guarded(kind, "unstable")
    story = play(mine, "unstable", Mended(rng, 30, 30), 1200, rng)
    rng = np.random.default_rng(0)
    calm = play(guarded("linear", "unstable"), "unstable", Fault(rng, 0, 0), 1200, rng)
    assert story.costs[300:400].max() > 1e6
    assert story.costs[600:].sum() <= 1.3 * calm.costs[600:].sum()


def test_events_are_told_in_order_and_the_last_ones_are_kept() -> None:
    rng = np.random.default_rng(0)
    mine = guarded("Scream", "stable")
    play(mine, "stable", Lost(rng, 30, 129), 140, rng)
    assert len(mine.log) == 64
    assert [event.round for event in mine.log] == list(range(66, 130))
    assert mine.health.events == 100
    assert isinstance(mine.log[0], control.Event)


@pytest.mark.parametrize(("count", "size"), [(2, 1e10), (3, 1e4), (6, 100.0)])
@pytest.mark.parametrize("plant", ["stable", "unstable"])
def test_wrong_samples_in_a_row_are_forgotten(plant: str, count: int, size: float) -> None:
    """They are far larger than all before, and then as before: members and bank begin again, and the log says so."""

    class Wrong(Fault):
        def sample(self, t: int, x: np.ndarray) -> np.ndarray:
            return x + size if self.on(t) else x

    first, stories = 200, []
    for fault in (Wrong, Fault):
        rng, mine = np.random.default_rng(3), guarded("self-tuned", plant)
        stories.append(play(mine, plant, fault(rng, first, first + count - 1), 600, rng))
        if fault is Wrong:
            assert any("times as energetic as usual" in event.text for event in mine.log)
            assert any("is forgotten" in event.text for event in mine.log)
            assert mine.health.good
    assert (
        stories[0].costs[first + count + 2 * WITHIN :].sum()
        <= 1.15 * stories[1].costs[first + count + 2 * WITHIN :].sum()
    )
