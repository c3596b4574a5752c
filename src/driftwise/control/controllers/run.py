"""A whole simulation, compiled: one loop for every built-in controller, plant and cost.

How a controller learns is a plugin that is called by address, the same as in the two verbs: so a simulation is the two
verbs bit for bit, and plants, costs and books are written once.
"""

from typing import NamedTuple

from driftwise._compile import LARGEST, Plugin, entry, helper
from driftwise._memory import Pointer, at, call, part, whole_at
from driftwise._validate import Array
from driftwise.control.costs.kernels import value_of
from driftwise.control.plants.kernels import PLANT_KIND, STATES, VARYING, actuate, move
from driftwise.control.policies.engine import PAUSED, copy_to, decide, moved_on, remember
from driftwise.control.policies.layout import DU, U_AT, Z_AT
from driftwise.engine.rounds import OK, REFUSED


class Calls(NamedTuple):
    """How a controller learns, for compiled code: addresses of plugins, 0 where there is none."""

    decision: int
    enter: int
    learn: int
    weigh: int


class Learning(NamedTuple):
    """How a controller learns."""

    decision: int
    """Slot in the header of the decider's vector that says where the policy is."""
    enter: Plugin | None = None
    """Lets the learner see a new disturbance: of the controller's cell and the learner's."""
    learn: Plugin | None = None
    """Ends a round: of both cells, the costs and the round."""
    weigh: Plugin | None = None
    """Writes the weights of the base-learners: of the learner's cell and a row."""

    def calls(self, record_weights: bool) -> Calls:
        """Return the addresses; what is not on disk is compiled."""
        weigh = self.weigh if record_weights else None
        return Calls(self.decision, *(address_of(plugin) for plugin in (self.enter, self.learn, weigh)))


def address_of(plugin: Plugin | None) -> int:
    """Return where a plugin is, 0 if there is none."""
    return 0 if plugin is None else plugin.address


class World(NamedTuple):
    """All of a run but the controller, as flat vectors."""

    plant: Array
    changes_A: Array
    changes_B: Array
    costs: Array
    disturbances: Array
    """Those to come; where the adversary reacts, they are overwritten by what it does."""
    push: float
    """Above 0, the norm of what an adversary does."""


class Books(NamedTuple):
    """What is written down in a run, as flat vectors; what is not asked for is empty."""

    states: Array
    inputs: Array
    costs: Array
    weights: Array
    policies: Array


@helper
def _record(books: Books, t: int, calls: Calls, learner: Pointer) -> None:
    """Write down the weights and the policy of a round."""
    rounds = books.costs.size
    if calls.weigh != 0:
        call(calls.weigh, learner, part(books.weights, t * (books.weights.size // rounds)))
    if books.policies.size > 0:
        size = books.policies.size // rounds
        copy_to(part(books.policies, t * size), at(learner, calls.decision), size)


@entry
def simulate(
    cell: Array, learner: Array, calls: Calls, world: World, x: Array, books: Books, span: tuple[int, int]
) -> int:
    """Run a plant and its controller for the rounds of `span`, and return the round that comes next.

    It stops early after a round that asks for something that only Python can do, and before one that does not go well:
    then -1 less the round is returned. `x` is the state to start from, and at the end the last one reached. Books are
    those of the whole run, whatever part of it is played.
    """
    me, mine, state = part(cell, 0), part(learner, 0), part(x, 0)
    plant, costs = part(world.plant, 0), part(world.costs, 0)
    dx, du, varying = whole_at(plant, STATES), whole_at(me, DU), 1 if plant[PLANT_KIND] == VARYING else 0
    u, following = at(me, U_AT), at(me, Z_AT)
    for t in range(span[0], span[1]):
        copy_to(part(books.states, t * dx), state, dx)
        _record(books, t, calls, mine)
        if decide(me, mine, calls.decision, calls.enter, state, 1) != OK:
            return -1 - t
        actuate(plant, u, du)
        copy_to(part(books.inputs, t * du), u, du)
        value = value_of(costs, t, state, u, dx, du)
        books.costs[t] = value
        if not abs(value) <= LARGEST:
            return -1 - t
        status = OK
        if calls.learn == 0:
            remember(me, 0.0)
        else:
            status = call(calls.learn, me, mine, costs, t)
        if status == REFUSED:
            return -1 - t
        change_A, change_B = part(world.changes_A, varying * t * dx * dx), part(world.changes_B, varying * t * dx * du)
        move(plant, change_A, change_B, world.push, state, u, part(world.disturbances, t * dx), following)
        copy_to(state, following, dx)
        if moved_on(me, costs, t, status) == PAUSED:
            return t + 1
    return span[1]
