"""A plant and its controller, round after round: act, pay, observe, move on."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from driftwise._compile import LARGEST
from driftwise._frames.given import labels_of
from driftwise._pieces import in_pieces
from driftwise._validate import Array, array, checked, instance, seeded, whole
from driftwise.control.controllers import Controller
from driftwise.control.controllers.loop import PolicyLoop
from driftwise.control.controllers.run import Books, World
from driftwise.control.controllers.run import simulate as run
from driftwise.control.costs import Cost, CostSequence, QuadraticCost, as_costs
from driftwise.control.plants import PLANT_HINT, System
from driftwise.control.plants.disturbances.base import Disturbance, as_disturbances
from driftwise.control.plants.kernels import PlantData, changes_in, one_actuation, one_move, plant_vector
from driftwise.control.trace import ControlTrace
from driftwise.errors import HorizonError, InputError


class _World(NamedTuple):
    """All of a run but the controller."""

    plant: PlantData
    costs: CostSequence
    disturbances: Array
    push: float


@checked
def simulate(
    system: System,
    controller: Controller,
    costs: "Cost | CostSequence | Sequence[Cost]",
    disturbances: "Disturbance | ArrayLike",
    seed: int | np.random.Generator = 0,
    *,
    rounds: int | None = None,
    start: ArrayLike | None = None,
    noise: ArrayLike | None = None,
    references: ArrayLike | None = None,
    preview: int = 1,
    record_weights: bool = False,
    record_policies: bool = False,
) -> ControlTrace:
    """Let a controller run a plant.

    Built-in controllers with built-in costs run in compiled code from the first round to the last; anything else runs
    through the two verbs. Both give the same numbers, bit for bit. The controller goes on from where it is, and is
    left as it was if anything goes wrong.

    Parameters
    ----------
    system : System
        The plant: `LinearSystem`, `TimeVaryingSystem`, `InvertedPendulum`.
    controller : Controller
        Anything with `act` and `observe`.
    costs : Cost, CostSequence or list of Cost
        One cost for all rounds, or one a round.
    disturbances : Disturbance or array of shape (T, dx)
        What is added to the state after each round. A series or frame will do; what its rows are called, such as dates,
        is the `index` of the trace.
    seed : int or numpy.random.Generator, default 0
        For everything random that has no seed of its own: disturbances, and the changes of a time-varying plant.
    rounds : int, optional
        T; when left out, as many as there are costs or disturbances, or as the controller's horizon has left.
    start : array of shape (dx,), optional
        x_0; the origin when left out. To go on with a controller that has played, give the ``final_state`` of its
        last run: a jump of the state would look like a disturbance.
    noise : array of shape (T, dy) or (T, dx), optional
        What is added to what the controller measures: outputs y = C x for a controller of outputs (`OutputFeedback`),
        states for all others. States and costs in the trace are the true ones.
    references : array of shape (T, dx), optional
        Where the state is to be in every round, for ``act(x, reference=...)``; costs count from there.
    preview : int, default 1
        Number of references that the controller is told in every round: that of the round itself, and those to come.
    record_weights, record_policies : bool, default False
        Keep the weights of the base-learners, and the policies, of every round.

    Returns
    -------
    ControlTrace
        States, inputs as they were applied, costs, total.

    Examples
    --------
    >>> import driftwise as dw
    >>> plant = dw.control.double_integrator()
    >>> controller = dw.control.ScreamController(plant, horizon=1000)
    >>> noise = dw.control.AutoregressiveDisturbance(0.95, scale=0.1)
    >>> trace = dw.control.simulate(plant, controller, dw.control.QuadraticCost(1.0, 1.0), noise, seed=1)
    >>> trace.states.shape, round(trace.total, 3)
    ((1000, 2), 507.84)
    """
    instance("simulate", "system", system, System, PLANT_HINT)
    instance("simulate", "controller", controller, Controller, "ScreamController(system, horizon=1000)")
    if (controller.state_dim, controller.input_dim) != (system.state_dim, system.input_dim):
        raise InputError(f"simulate: {controller!r} was not made for a plant such as {system!r}.")
    controller.expect_act()
    for name, flag in (("record_weights", record_weights), ("record_policies", record_policies)):
        instance("simulate", name, flag, bool, "True")
    if record_policies and not isinstance(controller, PolicyLoop):
        raise InputError(f"simulate: {controller!r} has no policies to record.")
    left = None if controller.horizon is None else controller.horizon - controller.round
    if rounds is not None:
        T: int | None = whole("simulate", "rounds", rounds)
    elif not isinstance(costs, Cost) and isinstance(costs, CostSequence | Sequence):
        T = len(costs)
    else:
        T = left if isinstance(disturbances, Disturbance) else None
    rng = seeded("simulate", seed)
    labels = labels_of("simulate", disturbances=disturbances)
    rows, push = as_disturbances("simulate", disturbances, T, system.state_dim, rng)
    T = len(rows)
    if left is not None and left < T:
        raise HorizonError(
            f"simulate: {T} rounds are more than the {left} that the horizon of {controller!r} has left; build it with "
            f"a horizon of {controller.round + T}, or with horizon=None."
        )
    sequence = as_costs("simulate", costs, T, system.state_dim, system.input_dim)
    dx = system.state_dim
    x = np.zeros(dx) if start is None else array("simulate", "start", start, (dx,), copy=True)
    told = _told(system, controller, T, noise, references, whole("simulate", "preview", preview))
    world, before = _World(system.data(T, rng), sequence, rows, push), controller.clone()
    try:
        model = sequence.model
        compiled = (
            isinstance(controller, PolicyLoop)
            and model is not None
            and told is None
            and (controller.records_policies or not record_policies)
            and controller.runs_compiled(with_weights=record_weights)
        )
        if compiled and isinstance(controller, PolicyLoop) and model is not None:
            books = _by_kernel(controller, world, model.vector, x, record_weights, record_policies)
        else:
            books = _by_hand(controller, world, x, record_weights, record_policies, told)
    except BaseException:
        controller.restore(before)
        raise
    weights, policies = books.weights if record_weights else None, books.policies if record_policies else None
    trace = ControlTrace(*books[:3], world.disturbances, x, weights, policies, system, before, world.costs)
    trace.__dict__["_index"] = labels
    return trace


def _by_kernel(
    controller: PolicyLoop, world: _World, costs: Array, x: Array, record_weights: bool, record_policies: bool
) -> Books:
    (T, dx), du = world.disturbances.shape, controller.input_dim
    calls = controller.plugins(with_weights=record_weights)
    # A controller that does not learn writes no weights; its only weight is 1.
    weights = np.full((T * record_weights, controller.most_weights), 0.0 if calls.weigh else 1.0)
    policies = np.zeros((T * record_policies, controller.memory, *controller.K.shape))
    books = Books(np.zeros((T, dx)), np.zeros((T, du)), np.zeros(T), weights, policies)
    changes = world.plant.changes_A.ravel(), world.plant.changes_B.ravel()
    about = World(plant_vector(world.plant), *changes, costs, world.disturbances.ravel(), world.push)
    flat = Books(*(part.ravel() for part in books))

    def play(first: int, stop: int) -> int:
        mine, learners = (cell.copy() for cell in controller.cells)
        calls = controller.plugins(with_weights=record_weights)
        played = run(mine, learners, calls, about, x, flat, (first, stop))
        if played < 0:
            raise _diverged(controller, -1 - played, books.states[-1 - played])
        controller.adopt((mine, learners))
        controller.attend(world.costs[played - 1])
        return played

    in_pieces(play, T)
    return books._replace(weights=books.weights[:, : controller.weights.size])


class _Told(NamedTuple):
    """What a controller is told, if it is not the state alone."""

    C: Array
    """(dy, dx): what is measured."""
    noise: Array
    """(T, dy)."""
    references: Array | None
    """(T, dx)."""
    preview: int

    def measured(self, t: int, x: Array) -> Array:
        """Return what is measured of a state."""
        return np.asarray(self.C @ x + self.noise[t])

    def reference(self, t: int) -> Array | None:
        """Return the references that are known in a round."""
        return None if self.references is None else self.references[t : t + self.preview]


def _told(
    system: System, controller: Controller, T: int, noise: ArrayLike | None, references: ArrayLike | None, preview: int
) -> _Told | None:
    """Return what a controller is told, None if it is the state and nothing else."""
    outputs: int | None = getattr(controller, "output_dim", None)
    if outputs is None and noise is None and references is None:
        return None
    C = np.eye(system.state_dim)
    if outputs is not None:
        known = getattr(system, "C", None)
        if known is None or len(known) != outputs:
            raise InputError(f"simulate: {controller!r} measures {outputs} outputs, and {system!r} has no such C.")
        C = np.asarray(known)
    rows = np.zeros((T, len(C))) if noise is None else array("simulate", "noise", noise, (T, len(C)))
    goals = None if references is None else array("simulate", "references", references, (T, system.state_dim))
    if goals is not None and not hasattr(controller, "_refer") and outputs is None:
        raise InputError(f"simulate: {controller!r} takes no references.")
    return _Told(C, rows, goals, preview)


def _by_hand(
    controller: Controller, world: _World, x: Array, record_weights: bool, record_policies: bool, told: _Told | None
) -> Books:
    (T, dx), du = world.disturbances.shape, controller.input_dim
    states, inputs, costs = np.zeros((T, dx)), np.zeros((T, du)), np.zeros(T)
    weights: list[Array] = []
    policies: list[Array] = []
    following, plant = np.empty_like(x), plant_vector(world.plant)
    for t, w in enumerate(world.disturbances):
        states[t] = x
        if not np.all(np.abs(x) <= LARGEST):
            raise _diverged(controller, t, x)
        if record_weights:
            weights.append(controller.weights)
        if record_policies:
            assert isinstance(controller, PolicyLoop)
            policies.append(controller.policy.M)
        seen, goal = (x, None) if told is None else (told.measured(t, x), told.reference(t))
        act: Any = controller.act
        u = np.array(act(seen) if goal is None else act(seen, reference=goal))
        one_actuation(plant, u)
        inputs[t] = u
        cost = world.costs[t]
        if goal is not None and isinstance(cost, QuadraticCost) and cost.compiled and cost.target is None:
            cost = cost.with_data(cost.data._replace(state_target=goal[:1].copy()))
        costs[t] = cost.value(x, u)
        if not abs(costs[t]) <= LARGEST:
            raise _diverged(controller, t, x)
        controller.observe(cost, applied=u)
        one_move(plant, *changes_in(world.plant, t), world.push, x, u, w, following)
        x[:] = following
    table = np.zeros((len(weights), max(row.size for row in [*weights, controller.weights])))
    for t, row in enumerate(weights):
        table[t, : row.size] = row
    return Books(states, inputs, costs, table, np.array(policies))


def _diverged(controller: Controller, t: int, x: Array) -> InputError:
    return InputError(
        f"simulate: in round {t} the state {np.array2string(x, precision=3, threshold=6)}, its cost or the gradient of "
        f"that cost is no longer a number of at most 1e+100: the plant diverges under {type(controller).__name__}. The "
        "controller is as it was before the run."
    )
