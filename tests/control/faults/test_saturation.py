"""Long saturation that is told, and then release: nothing wrong is learnt, and the cost is soon what it would be."""

from collections.abc import Callable

import numpy as np
import pytest

from driftwise import control
from driftwise._validate import Array
from tests.control.faults.cases import Fault, Saturated, Story, by_outputs, guarded, in_charge, play

FIRST, LASTS, WITHIN, WINDOW = 80, 60, 40, 100
"""When the actuator gives out, for how long; rounds after which the cost is back, and over which that is measured."""

MOST = 1.15
"""Cost after that, beside a run in which it never gave out."""

MAKERS: dict[str, Callable[[str], control.Controller]] = {
    "self-tuned": lambda plant: guarded("self-tuned", plant),
    "outputs": lambda plant: by_outputs(False, f"{plant}, half"),
    "outputs, offset-free": lambda plant: by_outputs(True, f"{plant}, half"),
}


def run(kind: str, plant: str, fault: type[Fault]) -> tuple[Story, Array]:
    """Play a story, and return it and the disturbances as the controller recovers them."""
    mine, recovered = MAKERS[kind](plant), list[Array]()
    loop = in_charge(mine)

    class Watched(fault):  # type: ignore[valid-type, misc]
        def force(self, t: int, u: Array) -> Array:
            if len(recovered) == t:
                recovered.append(loop.disturbances[0])
            return super().force(t, u)  # type: ignore[no-any-return]

    rng = np.random.default_rng(4)
    name = plant if kind == "self-tuned" else f"{plant}, half"
    story = play(mine, name, Watched(rng, FIRST, FIRST + LASTS - 1), FIRST + LASTS + WITHIN + WINDOW, rng)
    return story, np.array(recovered)


@pytest.mark.parametrize("plant", ["stable", "delay"])
@pytest.mark.parametrize("kind", MAKERS)
def test_saturation_that_is_told_corrupts_nothing(kind: str, plant: str) -> None:
    """In both runs disturbances are the same, and what an observer makes of them does not depend on the inputs."""
    (free, heard), (story, recovered) = run(kind, plant, Fault), run(kind, plant, Saturated)
    held = slice(FIRST, FIRST + LASTS)
    assert (np.abs(story.inputs[held]) > 0.02).mean() > 0.5  # it did saturate
    assert story.costs[held].sum() > 1.1 * free.costs[held].sum()  # and that did matter
    np.testing.assert_allclose(recovered, heard, rtol=0.0, atol=1e-9)
    late = story.costs[-WINDOW:].sum() / free.costs[-WINDOW:].sum()
    assert late <= MOST, late


@pytest.mark.parametrize("kind", MAKERS)
def test_saturation_that_is_not_told_is_taken_for_a_disturbance(kind: str) -> None:
    """So that the test above is one: here disturbances are not recovered."""
    silent = type("Silent", (Saturated,), {"tells": False})
    (_, heard), (_, recovered) = run(kind, "stable", Fault), run(kind, "stable", silent)
    assert np.abs(recovered - heard)[FIRST + 2 : FIRST + LASTS].max() > 1e-3


def test_disturbances_are_recovered_with_the_input_that_was_applied() -> None:
    """For a state that is measured they are what the plant was disturbed by."""
    plant = control.LinearSystem([[0.9, 0.2], [-0.1, 0.8]], [[0.1], [0.5]])
    mine, x, rng = control.SelfTunedController(plant), np.zeros(2), np.random.default_rng(0)
    w = np.zeros(2)
    for t in range(FIRST + LASTS + WITHIN):
        u = mine.act(x)
        if t:
            np.testing.assert_allclose(mine.disturbances[0], w, rtol=0.0, atol=1e-12)
        applied = np.clip(u, -0.02, 0.02) if FIRST <= t < FIRST + LASTS else u
        mine.observe(control.QuadraticCost(1.0, 1.0), applied=applied)
        w = 0.1 * rng.normal(size=2)
        x = plant.A @ x + plant.B @ applied + w
