"""The setting in which controllers are checked: a plant, its cost and disturbances, and rounds by hand."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from driftwise._validate import Array, instance
from driftwise.control.controllers import Controller
from driftwise.control.costs import Cost, QuadraticCost
from driftwise.control.plants import System, random_system
from driftwise.control.plants.kernels import PlantData, changes_in, one_actuation, one_move, plant_vector
from driftwise.errors import ParameterError
from driftwise.testing.promises import same

ROUNDS = 24
"""Rounds of every run, or the controller's horizon if that is shorter."""

FEWEST = 4
"""Shortest horizon that is long enough for the checks."""

Make = Callable[[], Controller]


class World(NamedTuple):
    """The setting in which a controller is checked."""

    system: System
    plant: PlantData
    cost: Cost
    vectors: Array
    """(T + 1, n): the plant before every round, as the last run that came there left it; its actuator remembers."""
    rows: Array
    """(T, dx): the disturbances."""
    start: Array
    seed: int


class Record(NamedTuple):
    """The record of a run by hand."""

    states: Array
    """(T + 1, dx)."""
    inputs: Array
    """(T, du), as `act` returned them."""
    applied: Array
    """(T, du), as the plant got them."""
    costs: Array
    """(T,)."""


def new_world(owner: str, controller: Controller, system: System | None, cost: Cost | None, seed: int) -> World:
    """Check the arguments, and draw disturbances that are correlated, so that there is something to learn."""
    dx, du = controller.state_dim, controller.input_dim
    if system is None:
        known = getattr(controller, "system", None)
        system = known if isinstance(known, System) else random_system(dx, du, radius=0.8)
    instance(owner, "system", system, System, "LinearSystem(A, B)")
    cost = instance(owner, "cost", QuadraticCost(1.0, 1.0) if cost is None else cost, Cost, "QuadraticCost(1.0, 1.0)")
    if (system.state_dim, system.input_dim) != (dx, du):
        raise ParameterError(f"{owner}: {controller!r} was not made for a plant such as {system!r}.")
    cost.probe(dx, du)
    if controller.horizon is not None and controller.horizon < FEWEST:
        raise ParameterError(
            f"{owner}: a horizon of at least {FEWEST} rounds is needed to see anything, got {controller!r}."
        )
    rounds = ROUNDS if controller.horizon is None else min(ROUNDS, controller.horizon)
    rng = np.random.default_rng(seed)
    waves = np.sin(0.3 * np.arange(rounds)[:, None] + rng.uniform(0.0, 6.0, dx))
    rows = 0.1 * waves + rng.uniform(-0.02, 0.02, (rounds, dx))
    plant = system.data(rounds, np.random.default_rng(seed))
    vectors = np.tile(plant_vector(plant), (rounds + 1, 1))
    return World(system, plant, cost, vectors, rows, rng.uniform(-0.2, 0.2, dx), seed)


def end_round(controller: Controller, world: World, t: int, x: Array, u: Array) -> tuple[Array, Array]:
    """End a round, saying what was applied only if it differs from the input; return it and the next state."""
    applied, following, vector = np.array(u), np.empty_like(x), world.vectors[t].copy()
    one_actuation(vector, applied)
    one_move(vector, *changes_in(world.plant, t), 0.0, x, applied, world.rows[t], following)
    world.vectors[t + 1] = vector
    controller.observe(world.cost, applied=None if same(applied, np.asarray(u)) else applied)
    return applied, following


def go_on(controller: Controller, world: World, x: Array, stop: int) -> Array:
    """Run the plant by hand from the state x until `stop` rounds are over, and return the inputs."""
    inputs = []
    for t in range(controller.round, stop):
        u = controller.act(x)
        inputs.append(u.copy())
        _, x = end_round(controller, world, t, x, u)
    return np.array(inputs).reshape(-1, controller.input_dim)


def controller_at(make: Make, world: World, record: Record, t: int, mid_round: bool) -> Controller:
    """Return a controller that has played t rounds and, if wanted, has acted in the next one."""
    controller = make()
    go_on(controller, world, record.states[0], t)
    if mid_round:
        controller.act(record.states[t])
    return controller
