"""`simulate`: what it refuses, and that a controller is then as it was before."""

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike

import driftwise as dw
from driftwise import control
from driftwise.errors import ArgumentError, HorizonError, InputError, OrderError, ParameterError
from tests.cases import check_refused
from tests.control.cases import (
    PLANT,
    ROUNDS,
    UNIT,
    WIDE,
    controller,
    costs,
    inputs_to_come,
    squares,
)
from tests.control.simulate.players import Hand, HandLinear

NOISE = control.GaussianDisturbance(0.1)
UNSTABLE = control.LinearSystem([[1.5, 0.0], [0.0, 0.5]], [[1.0], [1.0]], input_limit=0.1)


@pytest.mark.parametrize("kind", [control.ScreamController, Hand, control.LinearController, HandLinear])
@pytest.mark.parametrize(
    "cost", [UNIT, control.AbsoluteCost(1.0, 1.0), squares()], ids=["square", "absolute", "custom"]
)
def test_a_plant_that_diverges_is_reported_and_leaves_the_controller_as_it_was(kind: Any, cost: control.Cost) -> None:
    """A limit on the input, and a start beyond what it can hold."""
    mine = kind(UNSTABLE)
    control.simulate(UNSTABLE, mine, UNIT, np.full((5, 2), 0.01))
    before, weights, played = inputs_to_come(mine), mine.weights, mine.round
    check_refused(
        lambda: control.simulate(UNSTABLE, mine, cost, np.zeros((1000, 2)), start=[9.0, 0.0]), kind=InputError
    )
    assert inputs_to_come(mine) == before
    assert mine.round == played == 5
    np.testing.assert_array_equal(mine.weights, weights)


def test_the_message_about_a_plant_that_diverges_says_when_and_what() -> None:
    check_refused(
        lambda: control.simulate(
            UNSTABLE, control.LinearController(UNSTABLE), UNIT, np.zeros((999, 2)), start=[9.0, 0.0]
        ),
        "simulate: in round 2",
        "diverges under LinearController",
        "The controller is as it was before the run",
    )


class Breaking(control.ScreamController):
    """Gives up in the middle of a run."""

    def observe(self, cost: control.Cost | None, applied: ArrayLike | None = None) -> None:
        super().observe(cost, applied)
        if self.round == 9:
            raise RuntimeError("enough")


def test_any_error_leaves_the_controller_as_it_was() -> None:
    mine = Breaking(PLANT, horizon=20, memory=3)
    before = inputs_to_come(mine)
    with pytest.raises(RuntimeError, match="enough"):
        control.simulate(PLANT, mine, UNIT, np.ones((20, 2)))
    assert mine.round == 0
    assert inputs_to_come(mine) == before


def late() -> control.Controller:
    mine = controller("Scream")
    control.simulate(PLANT, mine, UNIT, np.zeros((ROUNDS - 2, 2)))
    return mine


@pytest.mark.parametrize(
    ("changes", "words", "kind"),
    [
        ({"controller": late}, ("3 rounds", "the 2 that", f"a horizon of {ROUNDS + 1}"), HorizonError),
        ({"controller": "Scream", "disturbances": np.zeros((ROUNDS + 1, 2))}, ("horizon",), HorizonError),
        ({"controller": "Scream", "rounds": ROUNDS + 1, "disturbances": NOISE}, ("horizon",), HorizonError),
        ({"controller": lambda: dw.OGD(dw.Ball(2), step=1.0)}, ("controller", "ScreamController"), ParameterError),
        ({"system": WIDE}, ("was not made for a plant",), InputError),
        ({"system": (PLANT.A, PLANT.B)}, ("system", "LinearSystem"), ParameterError),
        ({"disturbances": np.zeros((3, 3))}, ("disturbances", "(T, 2)"), InputError),
        ({"disturbances": [[math.nan, 0.0]]}, ("disturbances", "nan"), InputError),
        ({"disturbances": 0.5}, ("disturbances", "GaussianDisturbance()"), InputError),
        ({"disturbances": NOISE}, ("rounds=",), InputError),
        ({"costs": [UNIT] * 4}, ("disturbances", "(4, 2)"), InputError),
        ({"costs": costs("scaled", 2, 1), "rounds": 3}, ("costs", "3"), InputError),
        ({"costs": costs("quadratic", 3, 1, 3)}, ("state_dim",), InputError),
        ({"costs": costs("quadratic", 2, 2, 3)}, ("input_dim",), InputError),
        ({"costs": 3.0}, ("costs", "QuadraticCost"), InputError),
        ({"costs": [UNIT, 3.0, UNIT]}, ("costs[1]",), InputError),
        ({"start": [1.0]}, ("start", "(2,)"), InputError),
        ({"start": [1.0, math.inf]}, ("start", "inf"), InputError),
        ({"rounds": 0}, ("rounds",), ParameterError),
        ({"seed": -1}, ("seed",), ParameterError),
        ({"record_weights": 1}, ("record_weights",), ParameterError),
        ({"noise": 1}, ("noise", "(3, 2)"), InputError),
        ({"noise": np.zeros((3, 1))}, ("noise", "(3, 2)"), InputError),
        ({"references": np.zeros((2, 2))}, ("references", "(3, 2)"), InputError),
        ({"references": np.zeros((3, 2)), "preview": 0}, ("preview", "at least 1"), ParameterError),
        ({"loudness": 1}, ("loudness", "simulate("), ArgumentError),
    ],
    ids=lambda value: ", ".join(value) if isinstance(value, dict) else "",
)
def test_bad_input_is_refused(changes: dict[str, Any], words: tuple[str, ...], kind: type[Exception]) -> None:
    given = {"system": PLANT, "controller": "linear", "costs": UNIT, "disturbances": np.zeros((3, 2)), **changes}
    made = given.pop("controller")
    mine = controller(made) if isinstance(made, str) else made()
    check_refused(lambda: control.simulate(controller=mine, **given), *words, kind=kind)


def test_a_refusal_before_the_first_round_leaves_the_controller_alone() -> None:
    mine = controller("Scream")
    before = inputs_to_come(mine)
    for bad in (np.zeros((ROUNDS + 1, 2)), [[math.nan, 0.0]], np.zeros((3, 3))):
        with pytest.raises(dw.errors.DriftwiseError):
            control.simulate(PLANT, mine, UNIT, bad)
    assert inputs_to_come(mine) == before


@pytest.mark.parametrize(
    "kind",
    [
        control.ScreamController,
        Hand,
    ],
)
def test_a_controller_that_waits_for_a_cost_cannot_be_simulated(kind: type[control.ScreamController]) -> None:
    mine = kind(PLANT, horizon=9, memory=3)
    mine.act([1.0, 0.0])
    with pytest.raises(OrderError):
        control.simulate(PLANT, mine, UNIT, np.zeros((3, 2)))


def test_a_learner_is_not_played_beyond_its_horizon() -> None:
    learner = dw.OGD(dw.SpectralBalls((2, 1, 2), 1.0), gradient_bound=1.0, horizon=10)
    for _ in range(8):
        learner.act()
        learner.observe(np.zeros(4))
    with pytest.raises(dw.errors.DriftwiseError):
        control.simulate(PLANT, control.DisturbanceActionController(PLANT, learner), UNIT, np.ones((5, 2)))
