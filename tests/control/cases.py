"""What many tests of control run: plants, costs, disturbances, controllers, and the two verbs by hand."""

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import driftwise as dw
from driftwise import control
from driftwise._compile import brief
from driftwise._memory import part
from driftwise._validate import Array
from driftwise.control.controllers.loop import PolicyLoop
from driftwise.control.costs.kernels import CostData, cost_vector, slopes_of, value_of
from driftwise.control.plants.disturbances.base import as_disturbances
from driftwise.control.plants.kernels import PlantData, changes_in, one_move, plant_vector
from driftwise.control.policies.disturbance_action import nominal_loop

DATA = Path(__file__).parents[1] / "data" / "control_cases.npz"

ROUNDS = 30
UNIT = control.QuadraticCost(1.0, 1.0)
PLANT = control.double_integrator()
WIDE = control.random_system(3, 2, radius=1.05, seed=4)

PLANTS: dict[str, control.System] = {
    "linear": PLANT,
    "wide": WIDE,
    "varying": control.TimeVaryingSystem(PLANT.A, PLANT.B, spread_A=0.05, spread_B=0.05),
    "pendulum": control.InvertedPendulum(),
    "limited": control.LinearSystem(WIDE.A, WIDE.B, input_limit=[0.2, 0.4]),
    "actuated": control.LinearSystem(
        WIDE.A, WIDE.B, input_limit=[[-0.1, 0.3], [-0.4, 0.2]], rate_limit=0.25, delay=2, lag=[0.3, 0.0]
    ),
}

DISTURBANCES: dict[str, Callable[[int], Any]] = {
    "array": lambda dx: 0.3 * np.sin(0.4 * np.arange(ROUNDS)[:, None] + np.arange(dx)),
    "gaussian": lambda dx: control.GaussianDisturbance(0.1),
    "adversarial": lambda dx: control.AdversarialDisturbance(0.1),
}

COSTS: tuple[str, ...] = ("quadratic", "scalar", "absolute", "Huber", "stages", "scaled", "targets", "soft")


@functools.cache
def costs(kind: str, dx: int, du: int, rounds: int = ROUNDS) -> control.CostSequence:
    """Return costs of `COSTS`."""
    rng = np.random.default_rng(5)
    root_x, root_u = rng.standard_normal((dx, dx)), rng.standard_normal((du, du))
    full = control.QuadraticCost(root_x @ root_x.T, root_u @ root_u.T)
    other = control.QuadraticCost(np.eye(dx), 0.3 * np.eye(du))
    q, r = rng.uniform(0.5, 2.0, dx), rng.uniform(0.1, 1.0, du)
    aimed = control.QuadraticCost(
        full.Q, full.R, target=np.linspace(0.3, -0.1, dx), input_target=np.linspace(-0.2, 0.1, du)
    )
    nearby = control.QuadraticCost(other.Q, other.R, target=np.full(dx, 0.1))
    bands = (-0.2, 0.4, 3.0), (np.linspace(-0.5, 0.1, dx), None, 2.0)
    makers: dict[str, Callable[[], control.CostSequence]] = {
        "quadratic": lambda: control.CostSequence.constant(full, rounds),
        "scalar": lambda: control.CostSequence.constant(UNIT, rounds),
        "absolute": lambda: control.CostSequence.constant(control.AbsoluteCost(q, r), rounds),
        "Huber": lambda: control.CostSequence.constant(control.HuberCost(q, r, width=0.2), rounds),
        "stages": lambda: control.CostSequence.stages([full, other, full], rounds),
        "targets": lambda: control.CostSequence.stages([aimed, full, nearby], rounds),
        "soft": lambda: control.CostSequence.stages([control.SoftLimits(full, *band) for band in bands], rounds),
        "scaled": lambda: control.CostSequence.scaled(other, rng.uniform(0, 2, rounds), rng.uniform(0, 2, rounds)),
    }
    return makers[kind]()


def squares(width: float = 1.0) -> control.CustomCost:
    """Return width (x'x + u'u) as two functions."""
    return control.CustomCost(
        lambda x, u: width * float(x @ x + u @ u), lambda x, u: (2.0 * width * x, 2.0 * width * u)
    )


LEARNING: dict[str, type[control.LearningController]] = {
    "gradient": control.GradientController,
    "Ader": control.AderController,
    "Scream": control.ScreamController,
    "lazy Scream": control.LazyScreamController,
}

CONTROLLERS: tuple[str, ...] = (
    "linear",
    "policy",
    "own learner",
    *LEARNING,
    "certified",
    "bounded",
    "no horizon",
    "guarded",
    "self-tuned",
)

REFUSING: tuple[str, ...] = (*CONTROLLERS[:-2], "self-tuned, no guard")
"""Controllers without a guard: a state that is not a number is refused."""

GUARDED: tuple[str, ...] = CONTROLLERS[-2:]
"""Controllers with one."""


@functools.cache
def _made(name: str, system: control.System, rounds: int) -> PolicyLoop:
    loop = nominal_loop(system)
    dx, du = loop.state_dim, loop.input_dim
    if name in LEARNING:
        return LEARNING[name](system, horizon=rounds, memory=3)
    if name == "linear":
        return control.LinearController(system)
    if name == "policy":
        M = 0.3 * np.random.default_rng(2).standard_normal((4, du, dx))
        return control.PolicyController(system, control.DisturbanceAction(control.lqr(loop), M))
    if name == "own learner":
        return control.DisturbanceActionController(system, dw.OGD(dw.SpectralBalls((3, du, dx), 0.8), step=0.02))
    if name == "certified":
        return control.ScreamController(system, horizon=rounds, memory=2, scale="certified", start="random", radii=0.3)
    if name == "bounded":
        return control.ScreamController(system, horizon=rounds, memory=3, input_bound=np.full(du, 0.1))
    if name == "guarded":
        return control.ScreamController(system, memory=3, guard=True)
    if name.startswith("self-tuned"):
        return control.SelfTunedController(system, memory=3, guard=name == "self-tuned")
    assert name == "no horizon"
    return control.ScreamController(system, memory=3)


def controller(name: str, system: control.System = PLANT, rounds: int = ROUNDS) -> PolicyLoop:
    """Return a new controller of `CONTROLLERS`; making one takes long, cloning does not."""
    return _made(name, system, rounds).clone()


@brief
def _value_in(costs: Array, t: int, x: Array, u: Array) -> float:
    return value_of(part(costs, 0), t, part(x, 0), part(u, 0), x.size, u.size)


@brief
def _slopes_in(costs: Array, t: int, x: Array, u: Array, slope_x: Array, slope_u: Array) -> None:
    slopes_of(part(costs, 0), t, part(x, 0), part(u, 0), x.size, u.size, part(slope_x, 0), part(slope_u, 0))


def compiled_cost(data: CostData, t: int, x: Array, u: Array) -> tuple[float, Array, Array]:
    """Return c_t(x, u) and its gradients in x and u as compiled code has them."""
    slopes = np.empty_like(x), np.empty_like(u)
    _slopes_in(cost_vector(data), t, x, u, *slopes)
    return _value_in(cost_vector(data), t, x, u), *slopes


class Run(NamedTuple):
    """What happened in a run by hand, as in `ControlTrace`."""

    states: Array
    inputs: Array
    costs: Array
    disturbances: Array
    final_state: Array


def advance(plant: PlantData, t: int, x: Array, u: Array, w: Array, out: Array, push: float = 0.0) -> None:
    """Write the state after (x, u, w) in round t, of a plant whose actuator is at rest."""
    one_move(plant_vector(plant), *changes_in(plant, t), push, x, u, w, out)


class Actuator:
    """The actuator of a plant in NumPy: limits, rate limits, delay and lag."""

    def __init__(self, plant: PlantData) -> None:
        self.plant = plant
        self.before: Array = np.clip(np.zeros(plant.lag.size), *plant.limits)
        self.force, self.queue = np.zeros(plant.lag.size), [np.zeros(plant.lag.size)] * plant.delay

    def accept(self, u: Array) -> Array:
        """Return the input within the limits."""
        near = np.clip(u, self.before - self.plant.rate, self.before + self.plant.rate)
        self.before = np.clip(near, *self.plant.limits)
        return self.before.copy()

    def deliver(self, u: Array) -> Array:
        """Return what the plant gets."""
        self.queue.append(u)
        arrived, lag = self.queue.pop(0), self.plant.lag
        self.force = lag * self.force + (1.0 - lag) * arrived if lag.any() else arrived
        return self.force.copy()


def by_hand(
    system: control.System,
    controller: control.Controller,
    sequence: control.CostSequence,
    disturbances: Any,
    seed: int = 0,
    start: Any = None,
) -> Run:
    """Run a plant with the two verbs."""
    T, dx, du = len(sequence), system.state_dim, system.input_dim
    rng = np.random.default_rng(seed)
    rows, push = as_disturbances("by_hand", disturbances, T, dx, rng)
    plant = system.data(T, rng)
    run = Run(np.zeros((T, dx)), np.zeros((T, du)), np.zeros(T), rows, np.zeros(dx))
    x = np.zeros(dx) if start is None else np.array(start, np.float64)
    room, actuator = np.zeros(dx), Actuator(plant)
    bare = plant._replace(delay=0, lag=np.zeros(du))
    for t in range(T):
        run.states[t] = x
        u = actuator.accept(controller.act(x))
        run.inputs[t], run.costs[t] = u, sequence[t].value(x, u)
        controller.observe(sequence[t], applied=u)
        advance(bare, t, x, actuator.deliver(u), rows[t], room, push)
        x = room.copy()
    run.final_state[:] = x
    return run


def assert_same(run: Run, trace: control.ControlTrace, tolerance: float = 0.0) -> None:
    """Check a run by hand against a simulated one, bit for bit or to a tolerance."""
    for name in Run._fields:
        mine, other = getattr(run, name), getattr(trace, name)
        if tolerance:
            np.testing.assert_allclose(mine, other, rtol=tolerance, atol=tolerance, err_msg=name)
        else:
            assert mine.tobytes() == other.tobytes(), f"{name} differ by up to {np.abs(mine - other).max():g}"


def inputs_to_come(controller: control.Controller, rounds: int = 8, seed: int = 3) -> bytes:
    """Return what a controller will do on a fixed sequence of states, without changing it."""
    twin, rng = controller.clone(), np.random.default_rng(seed)
    inputs = []
    for _ in range(rounds):
        inputs.append(twin.act(rng.standard_normal(twin.state_dim)).copy())
        twin.observe(UNIT)
    return np.array(inputs).tobytes()


def policies(rng: np.random.Generator, count: int, H: int, du: int, dx: int, size: float = 0.3) -> Array:
    """Return random policies whose matrices have norms below `size`."""
    drawn = rng.standard_normal((count, H, du, dx))
    norms = np.linalg.norm(drawn, 2, axis=(2, 3))
    return np.asarray(size * drawn * (rng.uniform(0.2, 1.0, norms.shape) / norms)[:, :, None, None])


def roll(system: control.System, K: Array, window: Array, rows: Array, start: Array) -> tuple[Array, Array]:
    """Return the states x_0, ..., x_T and inputs u_0, ..., u_{T-1} under u_t = -K x_t + sum_i M_t[i] w_{t-i}."""
    T, H = len(rows), window.shape[1]
    states, inputs = np.zeros((T + 1, system.state_dim)), np.zeros((T, system.input_dim))
    states[0] = start
    for t in range(T):
        inputs[t] = -K @ states[t]
        for i in range(1, min(H, t) + 1):
            inputs[t] += window[t][i - 1] @ rows[t - i]
        states[t + 1] = system.A @ states[t] + system.B @ inputs[t] + rows[t]
    return states, inputs
