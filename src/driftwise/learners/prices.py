"""Prices that hold for one round: put into a learner's cell, and what was made at another price, made again.

A learner decides at the end of a round, when it does not know yet what the next move will cost. If that turns out to be
something else than it was, three things follow from it at once: the price of the base-learners' last moves, how far the
decision may stay from the mixture, and the constants that the round itself will read.
"""

import math

import numpy as np

from driftwise._validate import Array
from driftwise.engine import Program, layout
from driftwise.engine.layout import CONSTANTS
from driftwise.movecost import MoveCost


def put(program: Program, cell: Array, cost: MoveCost) -> None:
    """Write a price into the constants of a cell."""
    dim, usual = program.domain.dim, program.price
    cell[layout.SWITCHING] = 1.0 if cost.plain is None or program.priced else cost.plain
    price = cell[layout.PRICE] = cost.largest(dim)
    if program.priced:
        CONSTANTS.views(cell, program.sides)["prices"][:] = cost.prices(dim)
    if program.schedule == "adaptive":  # what a shift of weight is charged is in proportion to the price
        cell[layout.CHARGE] = program.charge * (price / usual) if usual > 0.0 else price * program.domain.diameter


def follow(program: Program, cell: Array) -> None:
    """Put the decision where it is nearest to the last one within the dead zone around the mixture.

    This is ``engine.tuned.follow``, at the price that stands in the cell.
    """
    known, parts, price = layout.state_of(cell), program.views(cell), float(cell[layout.PRICE])
    rounds, way = max(float(known[layout.UPDATES]), 1.0), parts["centre"] - parts["played"]
    distance, radius = math.sqrt(float(np.sum(way * way))), 0.0
    if price > 0.0:
        usual = math.sqrt(float(known[layout.SQUARES]) / rounds)
        width = program.dead_zone * float(cell[layout.DIAMETER])
        radius = width / math.sqrt(rounds) * (price / (price + usual))
    share = (distance - radius) / distance if distance > radius else 0.0
    parts["decision"][:] = parts["played"] + share * way


def judge_again(program: Program, cell: Array, origins: Array | None, cost: MoveCost) -> None:
    """Count the last moves of the base-learners at other prices, if it is known from where they came."""
    parts = program.views(cell)
    if origins is None or not parts["moves"].any():
        return
    changes = (parts["points"] - origins).transpose(0, 2, 1).reshape(-1, program.domain.dim)
    here = np.isfinite(parts["prior"])
    parts["moves"][here] = _prices(cost, changes[here])


def _prices(cost: MoveCost, changes: Array) -> Array:
    """Return the price of every row of changes."""
    found = cost(changes)
    assert isinstance(found, np.ndarray)
    return found
