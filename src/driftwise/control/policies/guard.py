"""The guard of a controller, compiled: back to u = -K x when what was learnt may be doing harm.

With gamma the share of what is learnt, u = -K x + gamma (what is learnt). The energy of a disturbance is what it costs
under u = -K x. A controller whose model lacks a delay takes its own inputs for disturbances and feeds on them, so that
energies grow and go on growing; a disturbance that jumps grows once. When the mean over ten rounds has more than
doubled at three looks in a row, five rounds apart, and is ten times what was ever usual, gamma fades to 0 within three
rounds and stays there for as long as the loop needs to settle. If the energy has then fallen below a quarter, what was
learnt was the culprit: it begins afresh, with a quarter of the say, which doubles after calm times. Otherwise the world
has changed, and gamma comes back in a few rounds. A state beyond a bound that was given, a sample that is missing or
late, and a disturbance a hundred times as large as usual fade gamma likewise.

The rule was found by measuring on plants with delays, wrong gains and wrong models; nothing is proved.
"""

import math

from driftwise._compile import LARGEST, aside, helper
from driftwise._memory import Pointer, at, part, whole_at
from driftwise.control.policies import layout as slot
from driftwise.domains.kernels import dot

TRIPPED, BOUND, GUILTY, INNOCENT, TRUSTED, MISSING, LATE, OUT_OF_RANGE = map(float, range(8))
NOT_FINITE, ADOPTED, COSTLY, SPIKE, FORGOTTEN, LIMITED = map(float, range(8, 14))
"""Kinds of event; floats, since compiled helpers are compiled again for every whole number that is passed to them."""

WINDOW, FIRST = 10.0, 20.0
"""Rounds over which the energy is averaged; rounds with a disturbance before the guard can step in."""

KICK, CUT = 10.0, 30.0
"""The guard steps in at KICK times the usual energy if it grows; a round counts for at most CUT times the usual."""

LOOK, DOUBLED, GROWING = 5.0, 2.2, 3.0
"""Rounds from one look at the growth to the next, the factor that counts as growth, and how many such looks in a row
it takes. A disturbance that jumps grows at two looks, while the mean over ten rounds fills up."""

GLITCH = 1e4
"""A disturbance with this many times the usual energy is a jump, or a mistake of a sensor: gamma fades, and the first
one is logged."""

CALMED = 0.25
"""What is left of the energy at u = -K x if what was learnt was the culprit; and the share that it then has left."""

FADE, GONE = 0.25, 0.01
"""Factor by which gamma falls in a round, and where it is taken to be 0."""

RETURN = 0.2
"""What gamma regains in a round, unless what was learnt was the culprit: then it takes the time of the loop."""

PATIENCE = 20.0
"""Calm rounds before the share doubles, in times that the loop needs to settle; twice as many after each fall."""


@aside
def note(cell: Pointer, kind: float, number: float) -> None:
    """Write down an event."""
    row = part(at(cell, slot.EVENTS_AT), 3 * (whole_at(cell, slot.EVENTS) % slot.LOGGED))
    row[0], row[1], row[2] = cell[slot.ROUND], kind, number
    cell[slot.EVENTS] += 1.0


@helper
def _fade(cell: Pointer) -> None:
    cell[slot.SHARE] *= FADE
    if cell[slot.SHARE] < GONE:
        cell[slot.SHARE] = 0.0


@helper
def _energy(cell: Pointer) -> float:
    """Return what the last disturbance costs under u = -K x."""
    dx, sight, heard, total = whole_at(cell, slot.DX), at(cell, slot.SIGHT_AT), at(cell, slot.HEARD_AT), 0.0
    for i in range(dx):
        seen = dot(part(sight, i * dx), heard, dx)
        total += seen * seen
    return total


@aside
def temper(cell: Pointer) -> None:
    """Cut the newest disturbance, as policies answer to it, to what a round counts for: it may be a glitch."""
    energy, most = _energy(cell), CUT * cell[slot.USUAL]
    if cell[slot.GUARDED] > 0.0 and cell[slot.WATCHED] > FIRST and energy > most:
        columns, newest = whole_at(cell, slot.COLUMNS), part(at(cell, slot.PAST_AT), whole_at(cell, slot.HEAD))
        for i in range(whole_at(cell, slot.DX)):
            newest[i * columns] *= math.sqrt(most) / math.sqrt(energy)


@helper
def _out_of_bounds(cell: Pointer) -> int:
    """Return 1 plus the first state that is beyond the bound that was given, 0 if none is."""
    x, bound = at(cell, slot.X_AT), at(cell, slot.BOUND_AT)
    for i in range(whole_at(cell, slot.STATES)):
        if not abs(x[i]) <= bound[i]:
            return i + 1
    return 0


@helper
def _end_of_rest(cell: Pointer) -> None:
    """Say who was the culprit, by what is left of the energy; nobody is where a state was beyond its bound."""
    if cell[slot.TRIP] == 0.0:
        note(cell, INNOCENT, -1.0)
    elif cell[slot.RAW] < CALMED * cell[slot.TRIP]:
        cell[slot.STRIKES] += 1.0
        cell[slot.CAP] *= CALMED
        cell[slot.CALM] = 0.0
        cell[slot.AFRESH] = 1.0
        note(cell, GUILTY, cell[slot.CAP])
    else:
        cell[slot.USUAL] = max(cell[slot.USUAL], cell[slot.RAW])
        cell[slot.FAST] = min(cell[slot.FAST], cell[slot.USUAL])
        note(cell, INNOCENT, cell[slot.USUAL])


@helper
def _step_in(cell: Pointer, energy: float, kind: float, number: float) -> None:
    """Take what is learnt away until the loop has settled; an energy of 0 says that nobody is to be blamed."""
    cell[slot.TRIP], cell[slot.RESTING] = energy, cell[slot.REST]
    note(cell, kind, number)
    _fade(cell)


@aside
def watch_bounds(cell: Pointer) -> None:
    """Look at the first state after samples were lost: its disturbance is of several rounds, but its bound is known."""
    outside = _out_of_bounds(cell)
    if cell[slot.GUARDED] > 0.0 and cell[slot.RESTING] == 0.0 and outside > 0:
        _step_in(cell, 0.0, BOUND, outside - 1.0)


@aside
def watch(cell: Pointer) -> None:
    """Move gamma, after the state and the disturbance of a round are known and before its input is."""
    if cell[slot.LOST] > 0.0:
        _fade(cell)
        return
    if cell[slot.GUARDED] == 0.0:  # after samples that were lost: as long as none is, this changes nothing
        cell[slot.SHARE] = min(min(cell[slot.CAP], cell[slot.ALLOWED]), cell[slot.SHARE] + RETURN)
        return
    energy, outside = min(_energy(cell), LARGEST * LARGEST), _out_of_bounds(cell)
    if energy > 0.0:
        cell[slot.WATCHED] += 1.0
    settled = cell[slot.WATCHED] > FIRST
    wild = settled and energy > GLITCH * cell[slot.USUAL]
    if wild and cell[slot.RESTING] == 0.0 and cell[slot.SHARE] >= min(cell[slot.CAP], cell[slot.ALLOWED]):
        note(cell, SPIKE, energy / cell[slot.USUAL])
    share = 1.0 / min(max(cell[slot.WATCHED], 1.0), WINDOW)
    cell[slot.RAW] += share * (energy - cell[slot.RAW])
    cell[slot.FAST] += share * ((min(energy, CUT * cell[slot.USUAL]) if settled else energy) - cell[slot.FAST])
    if not settled:
        cell[slot.USUAL] = max(cell[slot.USUAL], cell[slot.FAST])
    if settled and cell[slot.WATCHED] % LOOK == 0.0:
        grown = cell[slot.MARK] > 0.0 and cell[slot.RAW] > DOUBLED * cell[slot.MARK]
        cell[slot.GROWN] = cell[slot.GROWN] + 1.0 if grown else 0.0
        cell[slot.MARK] = cell[slot.RAW]
    if cell[slot.RESTING] > 0.0:
        _fade(cell)
        if outside == 0:
            cell[slot.RESTING] -= 1.0
        if cell[slot.RESTING] == 0.0:
            _end_of_rest(cell)
        return
    cell[slot.CALM] += 1.0
    if outside > 0:
        _step_in(cell, 0.0, BOUND, outside - 1.0)
        return
    if cell[slot.GROWN] >= GROWING and cell[slot.FAST] > KICK * cell[slot.USUAL]:
        _step_in(cell, cell[slot.RAW], TRIPPED, cell[slot.FAST] / cell[slot.USUAL])
        return
    if cell[slot.FAST] > cell[slot.USUAL]:
        cell[slot.USUAL] += (cell[slot.FAST] - cell[slot.USUAL]) / cell[slot.REST]
    if cell[slot.CAP] < 1.0 and cell[slot.CALM] > PATIENCE * cell[slot.REST] * 2.0 ** cell[slot.STRIKES]:
        cell[slot.CAP] = min(1.0, 2.0 * cell[slot.CAP])
        cell[slot.CALM] = 0.0
        note(cell, TRUSTED, cell[slot.CAP])
    if wild:
        _fade(cell)
        return
    step = RETURN if cell[slot.CAP] == 1.0 else 1.0 / cell[slot.REST]
    cell[slot.SHARE] = min(min(cell[slot.CAP], cell[slot.ALLOWED]), cell[slot.SHARE] + step)
