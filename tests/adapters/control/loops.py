"""Closed loops in python-control, and the same by `simulate`."""

from typing import Any

import control as python_control
import numpy as np

from driftwise import control
from driftwise._validate import Array
from driftwise.adapters.control import ControllerSystem

COST = control.QuadraticCost([2.0, 1.0], 0.5)
PLANT = control.LinearSystem([[1.0, 0.1], [0.05, 0.9]], [[0.0], [0.4]], [[1.0, 0.0]])
"""Unstable; its position is measured."""
FULL = control.LinearSystem(PLANT.A, PLANT.B)
"""The same where the whole state is measured."""


def pushes(rounds: int, seed: int = 0) -> Array:
    """Return disturbances: a wave, and noise."""
    w = 0.02 * np.random.default_rng(seed).standard_normal((rounds, 2))
    w[:, 1] += 0.1 * np.sin(np.arange(rounds) / 8.0)
    return w


def close(
    plant: control.LinearSystem, block: ControllerSystem, first: bool = True, *, more: tuple[str, ...] = ()
) -> Any:
    """Return the loop from disturbances, and other inputs of the block, to outputs, inputs and the block's state."""
    there = plant.to_control(disturbances=True)
    outputs = [*there.output_labels, *block.output_labels]
    inputs = [label for label in there.input_labels if label.startswith("w")]
    blocks = [there, block] if first else [block, there]
    return python_control.interconnect(blocks, inputs=[*inputs, *more], outputs=outputs)


def respond(loop: Any, rows: Array) -> Any:
    """Return the response of a loop to inputs, one a row."""
    return python_control.input_output_response(loop, np.arange(len(rows)), rows.T)
