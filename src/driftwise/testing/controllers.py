"""What every controller promises, as one check that anybody can run on a controller of their own."""

import copy
import functools
import pickle
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from driftwise._validate import Array, checked, instance, whole
from driftwise.control.controllers import Controller, DisturbanceActionController
from driftwise.control.costs import Cost, QuadraticCost
from driftwise.control.plants.kernels import PlantData, advance, saturate
from driftwise.control.plants.systems import System, random_system
from driftwise.control.simulate import simulate
from driftwise.errors import DriftwiseError, HorizonError, InputError, OrderError, ParameterError
from driftwise.testing.domains import bad_rows
from driftwise.testing.learners import NORMALISED, _global_random_state

ROUNDS = 24
"""Rounds of every run, or the controller's horizon if that is shorter."""

FEWEST = 4
"""Shortest horizon with which there is enough to see."""

LONGEST_HORIZON = 10_000
"""Controllers with a longer horizon are not played to its end."""

RECOVERED = 1e-12
"""Largest error of a recovered disturbance, relative to the larger of 1 and the numbers it is computed from."""

Make = Callable[[], Controller]


class _World(NamedTuple):
    """Where a controller is tried."""

    system: System
    plant: PlantData
    cost: Cost
    rows: Array
    """(T, dx): the disturbances."""
    start: Array
    seed: int

    def follow(self, t: int, x: Array, u: Array) -> tuple[Array, Array]:
        """Return the input as the actuator delivers it, and the state after it."""
        applied, following = np.array(u), np.empty_like(x)
        saturate(self.plant.limit, applied)
        advance(self.plant, t, x, applied, self.rows[t], following)
        return applied, following


class _Record(NamedTuple):
    """What happened in a run by hand."""

    states: Array
    """(T + 1, dx)."""
    inputs: Array
    """(T, du), as `act` returned them."""
    applied: Array
    """(T, du), as the plant got them."""
    costs: Array
    """(T,)."""


@checked
def check_controller(
    controller: Controller | Callable[[], Controller],
    system: System | None = None,
    cost: Cost | None = None,
    seed: int = 0,
) -> None:
    """Check that a controller keeps the promises of this package, and raise with the first one it breaks.

    Run it on every controller you write. It runs the plant some fifty times, for 24 rounds each or the controller's
    horizon if that is shorter.

    Parameters
    ----------
    controller : Controller or callable
        A controller that has played nothing yet; it is cloned, and itself left alone. Or a function without arguments
        that makes such a controller, the same one every time, so that `clone` is not relied on before it is checked.
    system : System, optional
        The plant to run; when left out, the one the controller was made for if it has one, else a random one that is
        stable by itself.
    cost : Cost, optional
        What is observed in every round; x'x + u'u when left out.
    seed : int, default 0
        Chooses the disturbances, and the rounds at which things go wrong on purpose.

    Raises
    ------
    AssertionError
        If a promise is broken; the message says which one, and by how much.

    Notes
    -----
    What is checked, in this order:

    - *inputs*: of shape (du,), float64, read-only, finite, within `input_bound`, and not changed afterwards; weights
      are at least 0 and sum to 1 to 1e-12; `round` counts the rounds observed;
    - *order*: `observe` before `act`, or twice in a row, and `act` twice in a row are an `OrderError` that changes
      nothing;
    - *same again*: two controllers from the function act alike, bit for bit, and the global random state is not
      touched;
    - *simulate*: `simulate` gives the states, inputs and costs of the two verbs called by hand, bit for bit, and leaves
      a controller that goes on by hand as if it had never done anything else;
    - *copies*: `clone`, `copy.deepcopy` and `pickle` (where the controller can be pickled at all) go on bit for bit
      like the original, before and after `act`, and are independent of it;
    - *bad input*: NaN, infinity, numbers beyond 1e100, wrong shapes, complex numbers, text and None as a state or as
      the applied input are an `InputError`; what is no cost, or one for another number of states or inputs, is one of
      the errors of this package; and the controller goes on bit for bit like one that never saw it;
    - *good input*: an array, a list, float32, a strided or a read-only array all do the same, are not modified, and not
      kept;
    - *applied*: controllers that recover disturbances do so with the input that was applied, to 1e-12;
    - *extremes*: states of size 1e90 and 1e-90 lead to finite inputs or an `InputError`, never to NaN;
    - *horizon*: one round more than the horizon is a `HorizonError` that changes nothing (horizons up to 10 000).

    Examples
    --------
    >>> import driftwise as dw
    >>> from driftwise.testing import check_controller
    >>> plant = dw.control.double_integrator()
    >>> check_controller(dw.control.ScreamController(plant, horizon=20, memory=3, input_bound=2.0))
    >>> check_controller(lambda: dw.control.LinearController(plant), cost=dw.control.AbsoluteCost(1.0, 0.5))
    """
    owner = "check_controller"
    make = controller.clone if isinstance(controller, Controller) else controller
    made = make() if callable(make) else make
    controller = instance(owner, "controller, or what it makes,", made, Controller, "LinearController(system)")
    world = _world(owner, controller, system, cost, whole(owner, "seed", seed, low=0))
    rng = np.random.default_rng(seed)
    before = _global_random_state()
    record = _check_inputs(make(), world)
    _check_order(make(), world, record)
    _check_same_again(make(), world, record)
    _check_simulate(make, world, record)
    _check_copies(make, world, record, rng)
    # Copies are known to be faithful from here on, and most controllers are quicker to clone than to make.
    clone = make().clone
    _check_bad_input(clone, world, record, rng)
    _check_good_input(clone, world, record, rng)
    _check_applied(clone, world, record, rng)
    _check_extremes(clone, world, rng)
    _check_horizon(clone, world, record)
    _promise(
        _global_random_state() == before, controller, "changed the global random state; use a generator of its own"
    )


def _world(owner: str, controller: Controller, system: System | None, cost: Cost | None, seed: int) -> _World:
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
    return _World(system, plant, cost, rows, rng.uniform(-0.2, 0.2, dx), seed)


def _promise(kept: bool, controller: Controller, broken: str) -> None:
    """Raise with a full sentence about the controller if a promise was not kept."""
    if not kept:
        raise AssertionError(f"{type(controller).__name__} {broken}.")


def _same(a: Array, b: Array) -> bool:
    return a.shape == b.shape and a.tobytes() == b.tobytes()


def _check_alike(controller: Controller, expected: Array, found: Array, what: str) -> None:
    """Check that two runs are the same, bit for bit."""
    if not _same(expected, found):
        gap = np.abs(expected - found) if expected.shape == found.shape else np.array([np.inf])
        gap = gap.reshape(len(gap), -1).max(axis=1)
        first = int(np.argmax(gap != 0.0))
        raise AssertionError(
            f"{type(controller).__name__} {what}: they differ by up to {gap.max():g}, first at index {first}."
        )


def _check_error(kind: type[Exception], controller: Controller, verb: Callable[[], object], when: str) -> None:
    """Check that a call raises `kind` and is not counted as a round."""
    rounds = controller.round
    try:
        verb()
    except kind:
        pass
    except Exception as error:
        raise AssertionError(
            f"{type(controller).__name__} raised {type(error).__name__} instead of {kind.__name__} {when}: {error}"
        ) from error
    else:
        raise AssertionError(f"{type(controller).__name__} did not raise {kind.__name__} {when}.")
    _promise(
        controller.round == rounds,
        controller,
        f"went from round {rounds} to {controller.round} {when}, though it refused",
    )


def _check_input(controller: Controller, u: Array, when: str) -> None:
    """Check one input and the weights behind it."""
    du, bound = controller.input_dim, controller.input_bound
    shaped = isinstance(u, np.ndarray) and u.shape == (du,) and u.dtype == np.float64
    _promise(shaped, controller, f"did not act with a float64 array of shape ({du},) {when} but with {u!r}")
    _promise(not u.flags.writeable, controller, f"gave an input {when} that can be written to")
    _promise(bool(np.isfinite(u).all()), controller, f"gave the input {u} {when}, which is not finite")
    _promise(
        bool((np.abs(u) <= bound).all()), controller, f"gave the input {u} {when}, beyond its input_bound of {bound}"
    )
    weights = controller.weights
    _promise(bool(np.all(weights >= 0.0)), controller, f"has a weight below 0 {when}: {weights}")
    error = abs(float(weights.sum()) - 1.0)
    _promise(error <= NORMALISED, controller, f"has weights {when} whose sum is off 1 by {error:g}: {weights}")


def _observe(controller: Controller, world: _World, t: int, x: Array, u: Array) -> tuple[Array, Array]:
    """End a round, saying what was applied only if it differs from the input; return it and the next state."""
    applied, following = world.follow(t, x, u)
    if _same(applied, np.asarray(u)):
        controller.observe(world.cost)
    else:
        controller.observe(world.cost, applied=applied)
    return applied, following


def _go_on(controller: Controller, world: _World, x: Array, stop: int) -> Array:
    """Run the plant by hand from the state x until so many rounds are over, and return the inputs."""
    inputs = []
    for t in range(controller.round, stop):
        u = controller.act(x)
        inputs.append(u.copy())
        _, x = _observe(controller, world, t, x, u)
    return np.array(inputs).reshape(-1, controller.input_dim)


def _at(make: Make, world: _World, record: _Record, t: int, acted: bool) -> Controller:
    """Return a controller that has played t rounds and, if wanted, has acted in the next one."""
    controller = make()
    _go_on(controller, world, record.states[0], t)
    if acted:
        controller.act(record.states[t])
    return controller


def _check_rest(controller: Controller, world: _World, record: _Record, acted: bool, what: str) -> None:
    """Check that a controller goes on from where it is as in the record."""
    t = controller.round
    x = record.states[t]
    if acted:
        _, x = _observe(controller, world, t, x, record.inputs[t])
    expected = record.inputs[controller.round :]
    _check_alike(controller, expected, _go_on(controller, world, x, len(record.inputs)), what)


def _check_inputs(controller: Controller, world: _World) -> _Record:
    """Run the plant by hand, checking everything that one run can show, and return what happened."""
    given, inputs, all_applied, costs, x = [], [], [], [], world.start
    states = [x]
    _promise(controller.round == 0, controller, f"is not new: it is in round {controller.round}")
    for t in range(len(world.rows)):
        u = _act(controller, x, f"in round {t}")
        _check_input(controller, u, f"in round {t}")
        given.append(u)
        inputs.append(u.copy())
        applied, following = _observe(controller, world, t, x, u)
        all_applied.append(applied)
        costs.append(world.cost.value(x, applied))
        x = following
        states.append(x)
        _promise(controller.round == t + 1, controller, f"counts {controller.round} rounds after {t + 1} were observed")
    for t, (now, then) in enumerate(zip(given, inputs, strict=True)):
        _promise(
            _same(now, then), controller, f"changed the input of round {t} after giving it: it was {then}, is {now}"
        )
    return _Record(np.array(states), np.array(inputs), np.array(all_applied), np.array(costs))


def _act(controller: Controller, x: Array, when: str) -> Array:
    """Return the input, or say which promise the refusal of `act` shows to be broken."""
    try:
        return controller.act(x)
    except InputError as error:
        raise AssertionError(f"{type(controller).__name__} could not act {when}: {error}") from error


def _check_order(controller: Controller, world: _World, record: _Record) -> None:
    inputs, x = [], world.start
    for t in range(len(world.rows)):
        again = "when observe was called " + ("twice in a row" if t else "before act")
        _check_error(OrderError, controller, functools.partial(controller.observe, world.cost), again)
        u = controller.act(x)
        inputs.append(u.copy())
        twice = "when act was called twice in a row"
        _check_error(OrderError, controller, functools.partial(controller.act, 2.0 * x), twice)
        _, x = _observe(controller, world, t, x, u)
    _check_alike(controller, record.inputs, np.array(inputs), "is changed by calls out of order")


def _check_same_again(controller: Controller, world: _World, record: _Record) -> None:
    found = _go_on(controller, world, world.start, len(world.rows))
    _check_alike(controller, record.inputs, found, "does not act alike when the same run is repeated")


def _check_simulate(make: Make, world: _World, record: _Record) -> None:
    controller, rounds = make(), len(world.rows)
    settings: dict[str, Any] = {"seed": world.seed, "start": world.start}
    trace = simulate(world.system, controller, world.cost, world.rows, **settings)
    for name, expected, found in (
        ("states", record.states[:-1], trace.states),
        ("inputs", record.applied, trace.inputs),
        ("costs", record.costs, trace.costs),
        ("a last state", record.states[-1], trace.final_state),
    ):
        _check_alike(controller, expected, found, f"has other {name} in simulate than by hand")
    _promise(controller.round == rounds, controller, f"counts {controller.round} rounds after simulate of {rounds}")
    half = make()
    simulate(world.system, half, world.cost, world.rows[: rounds // 2], **settings)
    _check_rest(half, world, record, False, "goes on by hand after simulate otherwise than after the two verbs")


def _check_copies(make: Make, world: _World, record: _Record, rng: np.random.Generator) -> None:
    def pickled(controller: Controller) -> Controller:
        try:
            saved = pickle.dumps(controller)
        except (pickle.PicklingError, AttributeError, TypeError):
            return controller.clone()
        twin: Controller = pickle.loads(saved)
        return twin

    ways: dict[str, Callable[[Controller], Controller]] = {
        "clone()": lambda controller: controller.clone(),
        "copy.deepcopy": copy.deepcopy,
        "pickle": pickled,
    }
    for name, way in ways.items():
        for acted in (False, True):
            t = int(rng.integers(1, len(world.rows) - 1))
            controller = _at(make, world, record, t, acted)
            when = f"taken by {name} in round {t} {'after' if acted else 'before'} act"
            twin, astray = way(controller), way(controller)
            _promise(twin.round == t, controller, f"has a copy {when} that counts {twin.round} rounds")
            if not acted:
                _check_input(twin, way(twin).act(record.states[t]), f"as a copy {when}")
            if acted:
                astray.observe(world.cost, applied=-record.inputs[t])
            _go_on(astray, world, -record.states[astray.round], len(world.rows))
            _check_rest(controller, world, record, acted, f"is changed by its copy {when}")
            _check_rest(twin, world, record, acted, f"goes on otherwise than its copy {when}")


def _check_bad_input(make: Make, world: _World, record: _Record, rng: np.random.Generator) -> None:
    dx, du = world.system.state_dim, world.system.input_dim

    def vectors(size: int) -> list[tuple[str, Any]]:
        good = np.full(size, 0.5)
        large = good.copy()
        large[-1] = 1e101
        return [*bad_rows(good), ("1e101", large), ("a list of text", ["a"] * size)]

    costs: list[tuple[str, Any]] = [
        ("None", None),
        ("a number", 1.0),
        ("a list of costs", [world.cost]),
        ("a kind of cost", QuadraticCost),
        (f"a cost of {dx + 1} states", QuadraticCost(np.ones(dx + 1), 1.0)),
        (f"a cost of {du + 1} inputs", QuadraticCost(1.0, np.ones(du + 1))),
    ]
    cases: list[tuple[str, type[DriftwiseError], Any, str]]
    cases = [("as the state", InputError, bad, name) for name, bad in vectors(dx)]
    cases += [("as the applied input", InputError, bad, name) for name, bad in vectors(du) if bad is not None]
    cases += [("as the cost", DriftwiseError, bad, name) for name, bad in costs]
    for place, kind, bad, name in cases:
        t = int(rng.integers(len(world.rows)))
        when = f"when it was given {name} {place} in round {t}"
        acted = place != "as the state"
        controller = _at(make, world, record, t, acted)
        verb: Callable[[], object]
        if not acted:
            verb = functools.partial(controller.act, bad)
        elif kind is InputError:
            verb = functools.partial(controller.observe, world.cost, applied=bad)
        else:
            verb = functools.partial(controller.observe, bad)
        _check_error(kind, controller, verb, when)
        _check_rest(controller, world, record, acted, f"did not recover from what it refused {when}")


def _forms(values: Array) -> dict[str, Any]:
    """Return the same numbers, which single precision holds exactly, in every form that is to be accepted."""
    exact: NDArray[np.float32] = values.astype(np.float32)
    plain = exact.astype(np.float64)
    frozen = plain.copy()
    frozen.setflags(write=False)
    return {
        "an array": plain,
        "a list": plain.tolist(),
        "a float32 array": exact,
        "a strided array": np.repeat(plain, 2)[::2],
        "a read-only array": frozen,
    }


def _check_good_input(make: Make, world: _World, record: _Record, rng: np.random.Generator) -> None:
    t = int(rng.integers(1, len(world.rows) - 1))
    state, applied = record.states[t], record.applied[t] + rng.uniform(-0.5, 0.5, world.system.input_dim)
    states, inputs = _forms(state), _forms(applied)
    expected: tuple[Array, Array] | None = None
    for name in states:
        controller = _at(make, world, record, t, False)
        u = controller.act(states[name]).copy()
        _check_untouched(controller, states[name], state, f"modified the state it was given as {name} in round {t}")
        controller.observe(world.cost, applied=inputs[name])
        what = f"modified the applied input it was given as {name} in round {t}"
        _check_untouched(controller, inputs[name], applied, what)
        found = u, _go_on(controller, world, record.states[t + 1], len(world.rows))
        expected = found if expected is None else expected
        for one, other in zip(expected, found, strict=True):
            _check_alike(controller, one, other, f"acts on {name} otherwise than on an array")


def _check_untouched(controller: Controller, given: Any, values: Array, modified: str) -> None:
    """Check that a form of some values was not modified, and spoil it, which shows later if it was kept."""
    _promise(bool(np.all(np.asarray(given) == values.astype(np.float32))), controller, modified)
    if isinstance(given, np.ndarray) and given.flags.writeable:
        given[...] = 7.0


def _check_applied(make: Make, world: _World, record: _Record, rng: np.random.Generator) -> None:
    """Check that a disturbance is what the applied input leaves unexplained, and not the input that `act` returned."""
    told, untold = make(), make()
    if not (isinstance(told, DisturbanceActionController) and isinstance(untold, DisturbanceActionController)):
        return
    A, B = told.system.A, told.system.B
    x = record.states[0]
    for t in range(FEWEST - 1):
        u = untold.act(x)
        told.act(x)
        other = u + rng.uniform(0.5, 1.5, u.size)
        told.observe(world.cost, applied=other)
        untold.observe(world.cost)
        last, x = x, record.states[t + 1]
        for controller, applied, how in ((told, other, "told of another"), (untold, u, "not told of another")):
            ahead = controller.clone()
            ahead.act(x)
            expected = x - A @ last - B @ applied
            error = float(np.abs(ahead.disturbances[0] - expected).max())
            size = max(1.0, float(np.abs(A) @ np.abs(last) @ np.ones(last.size)), float(np.abs(B @ applied).max()))
            _promise(
                error <= RECOVERED * size,
                controller,
                f"recovered a disturbance in round {t + 1} that is off by {error:g}, when it was {how} applied input",
            )


def _check_extremes(make: Make, world: _World, rng: np.random.Generator) -> None:
    for sizes in ((1e90,), (1e-90,), (1e90, 1e-90, 1.0)):
        controller = make()
        signs = rng.choice([-1.0, 0.0, 1.0], (len(world.rows), controller.state_dim))
        for t, x in enumerate(signs * np.resize(sizes, len(signs))[:, None]):
            when = f"after {t} states of size {' and '.join(map(str, sizes))}"
            try:
                u = controller.act(x)
            except InputError:
                continue
            _check_input(controller, u, when)
            try:
                controller.observe(world.cost)
            except InputError:
                break  # it still waits for the cost of this round, and there is no other


def _check_horizon(make: Make, world: _World, record: _Record) -> None:
    controller = make()
    if controller.horizon is None or controller.horizon > LONGEST_HORIZON:
        return
    while controller.round < controller.horizon:
        controller.act(record.states[controller.round % len(record.states)])
        controller.observe(world.cost)
    when = f"in round {controller.round}, beyond its horizon"
    _check_error(HorizonError, controller, lambda: controller.act(world.start), when)
    run = functools.partial(simulate, world.system, controller, world.cost, world.rows[:1])
    _check_error(HorizonError, controller, run, f"in simulate {when}")
