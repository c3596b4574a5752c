"""How states lie side by side: with room for the base-learners in play and a few more, and laid out anew in time.

A pool that grows without a horizon has room for 2^53 rounds, and most of its lanes are never in play. Those in play are
a prefix of all lanes, so a shorter state has the same numbers in its parts, and kernels need only be told where parts
begin: the constants of a member are those of its learner, with the offsets of the shorter state.
"""

import math
from collections.abc import Mapping

import numpy as np

from driftwise._lanes import WIDTH
from driftwise._memory import Array
from driftwise.engine import Program
from driftwise.engine.layout import CONSTANTS, STATE, lanes_of
from driftwise.engine.program import pool_size

FOREVER = math.inf


def sizes_after(program: Program, updates: float) -> int:
    """Return the number of step sizes that can be in play after so many updates."""
    if not program.growth:
        return program.sizes
    clock = max(updates, 0.0) + 1.0
    count = pool_size(clock, program.growth)
    if program.schedule == "self-tuned":  # it grows slowly, see `engine.rounds.grow`
        count = min(count, max(math.floor(math.log2(clock)) + 1, 1))
    return min(count, program.sizes)


def capacity_for(program: Program, updates: float) -> int:
    """Return the number of step sizes to make room for: whole blocks of lanes."""
    return min(-(-sizes_after(program, updates) // WIDTH) * WIDTH, program.sizes)


def updates_within(program: Program, capacity: int) -> float:
    """Return how many updates can be made for sure before more than so many step sizes are in play."""
    if capacity >= program.sizes:
        return FOREVER
    most = (4.0 ** (capacity - 1) - 1.0) / program.growth
    if program.schedule == "self-tuned":
        most = max(most, 2.0**capacity - 1.0)
    return math.floor(most * (1.0 - 1e-12)) - 1.0


def sides_for(program: Program, capacity: int) -> dict[str, int]:
    """Return the sides of a state with room for so many step sizes."""
    lanes = lanes_of(capacity, program.kinds)
    duals = bool(program.sides["duals"])
    return {**program.sides, "lanes": lanes, "blocks": lanes // WIDTH, "duals": (lanes // WIDTH) * duals}


def constants_of(program: Program, sides: Mapping[str, int]) -> Array:
    """Return the constants of a learner, linked, with the offsets of a state of these sides."""
    cell = program._blank.copy()
    program.link(cell)
    STATE.write_offsets(cell, sides)
    return cell[: CONSTANTS.size(program.sides)]


def laid_out(states: Array, old: Mapping[str, int], new: Mapping[str, int], starts: Array) -> Array:
    """Return states with room for fewer or more lanes; newcomers' points are where they would be in a new learner.

    Parameters
    ----------
    states : array of shape (n, size)
        States side by side.
    old, new : sides
        Of the states, and of those to be made.
    starts : array of shape (n, dim) or (dim,)
        First decisions: points that are not in play.
    """
    result = np.zeros((len(states), STATE.size(new)))
    result[:, : STATE.numbers] = states[:, : STATE.numbers]
    places = zip(STATE._places(old)[0], STATE._places(new)[0], strict=True)
    for (name, source, _), (_, target, shape) in places:
        count, room = source.stop - source.start, target.stop - target.start
        kept = min(count, room)
        result[:, target.start : target.start + kept] = states[:, source.start : source.start + kept]
        if kept < room and name == "prior":
            result[:, target.start + kept : target.stop] = -math.inf
        elif kept < room and name == "points":
            block = np.repeat(starts, WIDTH, axis=-1)
            result[:, target.start + kept : target.stop] = np.tile(block, (room - kept) // (shape[1] * WIDTH))
    return result


def starts_of(states: Array, sides: Mapping[str, int]) -> Array:
    """Return the points of the last lane, which in a state with room for all rounds has never been in play."""
    place = next(place for name, place, _ in STATE._places(sides)[0] if name == "points")
    return states[:, place.stop - WIDTH * sides["dim"] : place.stop].reshape(-1, sides["dim"], WIDTH)[:, :, -1].copy()
