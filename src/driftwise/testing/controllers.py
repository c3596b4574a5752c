"""What every controller promises, as one check that you can run on your own controller."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from driftwise._docs import documented
from driftwise._validate import Array, checked, instance, whole
from driftwise.checkpoint import from_bytes
from driftwise.control.controllers import Controller
from driftwise.control.controllers.loop import PolicyLoop
from driftwise.control.costs import Cost, QuadraticCost
from driftwise.control.plants import System
from driftwise.control.simulate import simulate
from driftwise.errors import CheckpointError, DriftwiseError, HorizonError, InputError, OrderError
from driftwise.testing import promises
from driftwise.testing.promises import RAISES, promise, same
from driftwise.testing.worlds import FEWEST, Make, Record, World, controller_at, end_round, go_on, new_world

LONGEST_HORIZON = 10_000
"""Longest horizon that is played to its end."""

LOST = ("NaN", "infinity", "minus infinity", "1e101", "None")
"""States that a controller with a guard takes for samples that were lost."""

RECOVERED = 1e-12
"""Largest error of a recovered disturbance, relative to the larger of 1 and the numbers it is computed from."""


@documented(raises=RAISES)
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
        A controller that has not played yet; it is cloned, and not modified itself. Or a function without arguments
        that makes such a controller, the same one every time, so that `clone` is not relied on before it is checked.
    system : System, optional
        The plant to run; when left out, the one the controller was made for if it has one, else a random stable one.
    cost : Cost, optional
        Cost observed in every round; x'x + u'u when left out.
    seed : int, default 0
        Chooses the disturbances, and the rounds at which things go wrong on purpose.

    {raises}

    Notes
    -----
    What is checked, in this order:

    - *inputs*: of shape (du,), float64, read-only, finite, within `input_bound`, and not changed afterwards; weights
      are at least 0 and sum to 1 to 1e-12; `round` counts the rounds observed;
    - *order*: a second `act` with the same state gives the same input; with another state it is an `OrderError`, as is
      `observe` before `act` or twice in a row, and changes nothing;
    - *same again*: two controllers from the function act alike, bit for bit, and the global random state is not
      touched;
    - *simulate*: `simulate` gives the states, inputs and costs of the two verbs called by hand, bit for bit, and leaves
      a controller that goes on by hand as if it had never done anything else;
    - *copies*: `clone`, `copy.deepcopy` and `pickle` (where the controller can be pickled at all) go on bit for bit
      like the original, before and after `act`, and are independent of it;
    - *bad input*: NaN, infinity, numbers beyond 1e100, wrong shapes, complex numbers, text and None as a state or as
      the applied input are an `InputError`; anything but a cost for this number of states and inputs is one of the
      errors of this package; and the controller goes on bit for bit like one that never saw it;
    - *lost samples*: a controller whose attribute `guard` is not None takes NaN, infinity, numbers beyond 1e100 and
      None as a state for a sample that was lost: it gives an input as it should be, says so in `log`, and goes on;
    - *good input*: an array, a list, float32, a strided or a read-only array all have the same effect, and are neither
      modified nor kept;
    - *applied*: controllers that recover disturbances do so with the input that was applied, to 1e-12;
    - *saving*: what ``to_bytes`` gives, where the controller can be saved at all, comes back by `driftwise.from_bytes`
      and goes on bit for bit, before and after `act`; a controller that is refused something gives the same bytes;
    - *missing costs*: a round that ends by `skip` is counted in `round` and `skipped`, and the next input is as it
      should be;
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
    world = new_world(owner, controller, system, cost, whole(owner, "seed", seed, low=0))
    rng = np.random.default_rng(seed)
    before = promises.global_random_state()
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
    _check_saving(clone, world, record, rng)
    _check_missing_cost(clone, world, record, rng)
    _check_extremes(clone, world, rng)
    _check_horizon(clone, world, record)
    promises.check_random_state(controller, before)


def _check_input(controller: Controller, u: Array, when: str) -> None:
    """Check one input and the weights behind it."""
    promises.check_vector(controller, u, controller.input_dim, when, ("act with", "an input", "gave the input"))
    bound = controller.input_bound
    low, high = (-bound, bound) if bound.ndim == 1 else bound.T
    within = bool(((low <= u) & (u <= high)).all())
    promise(within, controller, "gave the input {} {}, beyond its input_bound of {}", u, when, bound)


def _check_rest(controller: Controller, world: World, record: Record, mid_round: bool, what: str) -> None:
    """Check that a controller goes on from where it is as in the record."""
    t = controller.round
    x = record.states[t]
    if mid_round:
        _, x = end_round(controller, world, t, x, record.inputs[t])
    expected = record.inputs[controller.round :]
    promises.check_alike(controller, expected, go_on(controller, world, x, len(record.inputs)), what)


def _check_inputs(controller: Controller, world: World) -> Record:
    """Run the plant by hand, checking everything that one run can show, and return what happened."""
    given, inputs, all_applied, costs, x = [], [], [], [], world.start
    states = [x]
    promise(controller.round == 0, controller, f"is not new: it is in round {controller.round}")
    for t in range(len(world.rows)):
        u = promises.acted(controller, functools.partial(controller.act, x), f"in round {t}")
        _check_input(controller, u, f"in round {t}")
        given.append(u)
        inputs.append(u.copy())
        applied, following = end_round(controller, world, t, x, u)
        all_applied.append(applied)
        costs.append(world.cost.value(x, applied))
        x = following
        states.append(x)
        promise(controller.round == t + 1, controller, f"counts {controller.round} rounds after {t + 1} were observed")
    promises.check_unchanged(controller, given, inputs, "input")
    return Record(np.array(states), np.array(inputs), np.array(all_applied), np.array(costs))


def _check_order(controller: Controller, world: World, record: Record) -> None:
    inputs, x = [], world.start
    for t in range(len(world.rows)):
        again = "when observe was called " + ("twice in a row" if t else "before act")
        promises.check_error(OrderError, controller, functools.partial(controller.observe, world.cost), again)
        u = controller.act(x)
        inputs.append(u.copy())
        promise(same(controller.act(x), u), controller, f"gave two different inputs for the state of round {t}")
        other = "when act was called again with another state"
        promises.check_error(OrderError, controller, functools.partial(controller.act, 2.0 * x + 1.0), other)
        _, x = end_round(controller, world, t, x, u)
    promises.check_alike(controller, record.inputs, np.array(inputs), "is changed by calls out of order")


def _check_same_again(controller: Controller, world: World, record: Record) -> None:
    found = go_on(controller, world, world.start, len(world.rows))
    promises.check_alike(controller, record.inputs, found, "does not act alike when the same run is repeated")


def _check_simulate(make: Make, world: World, record: Record) -> None:
    controller, rounds = make(), len(world.rows)
    settings: dict[str, Any] = {"seed": world.seed, "start": world.start}
    trace = simulate(world.system, controller, world.cost, world.rows, **settings)
    for name, expected, found in (
        ("states", record.states[:-1], trace.states),
        ("inputs", record.applied, trace.inputs),
        ("costs", record.costs, trace.costs),
        ("a last state", record.states[-1], trace.final_state),
    ):
        promises.check_alike(controller, expected, found, f"has other {name} in simulate than by hand")
    promise(controller.round == rounds, controller, f"counts {controller.round} rounds after simulate of {rounds}")
    half = make()
    simulate(world.system, half, world.cost, world.rows[: rounds // 2], **settings)
    _check_rest(half, world, record, False, "goes on by hand after simulate otherwise than after the two verbs")


def _check_copies(make: Make, world: World, record: Record, rng: np.random.Generator) -> None:
    for name, way in promises.copies(make()).items():
        for mid_round in (False, True):
            t = int(rng.integers(1, len(world.rows) - 1))
            controller = controller_at(make, world, record, t, mid_round)
            when = f"taken by {name} in round {t} {'after' if mid_round else 'before'} act"
            twin, astray = way(controller), way(controller)
            promise(twin.round == t, controller, f"has a copy {when} that counts {twin.round} rounds")
            if not mid_round:
                _check_input(twin, way(twin).act(record.states[t]), f"as a copy {when}")
            if mid_round:
                astray.observe(world.cost, applied=-record.inputs[t])
            go_on(astray, world, -record.states[astray.round], len(world.rows))
            _check_rest(controller, world, record, mid_round, f"is changed by its copy {when}")
            _check_rest(twin, world, record, mid_round, f"goes on otherwise than its copy {when}")


def _check_bad_input(make: Make, world: World, record: Record, rng: np.random.Generator) -> None:
    dx, du = world.system.state_dim, world.system.input_dim

    def vectors(size: int) -> list[tuple[str, Any]]:
        good = np.full(size, 0.5)
        large = good.copy()
        large[-1] = 1e101
        return [*promises.bad_rows(good), ("None", None), ("1e101", large), ("a list of text", ["a"] * size)]

    costs: list[tuple[str, Any]] = [
        ("a number", 1.0),
        ("a list of costs", [world.cost]),
        ("a kind of cost", QuadraticCost),
        (f"a cost of {dx + 1} states", QuadraticCost(np.ones(dx + 1), 1.0)),
        (f"a cost of {du + 1} inputs", QuadraticCost(1.0, np.ones(du + 1))),
    ]
    inputs = [(name, bad) for name, bad in vectors(du) if bad is not None]

    def refuses(cases: list[tuple[str, Any]], place: str, kind: type[Exception], verb: Callable[..., object]) -> None:
        for name, bad in cases:
            t, mid_round = int(rng.integers(len(world.rows))), place != "state"
            when = f"when it was given {name} as the {place} in round {t}"
            controller = controller_at(make, world, record, t, mid_round)
            promises.check_error(kind, controller, functools.partial(verb, controller, bad), when)
            _check_rest(controller, world, record, mid_round, f"did not recover from what it refused {when}")

    lost = [case for case in vectors(dx) if case[0] in LOST] if getattr(make(), "guard", None) is not None else []
    known = [name for name, _ in lost]
    states = [case for case in vectors(dx) if case[0] not in known]
    refuses(states, "state", InputError, lambda one, bad: one.act(bad))
    _check_lost(make, world, record, rng, lost)
    refuses(inputs, "applied input", InputError, lambda one, bad: one.observe(world.cost, applied=bad))
    refuses(costs, "cost", DriftwiseError, lambda one, bad: one.observe(bad))


def _check_lost(
    make: Make, world: World, record: Record, rng: np.random.Generator, cases: list[tuple[str, Any]]
) -> None:
    """Check that a guarded controller survives samples that were lost, and says so."""
    for name, bad in cases:
        t = int(rng.integers(len(world.rows)))
        controller: Any = controller_at(make, world, record, t, False)
        before, x, given = controller.log, record.states[t], bad
        for now in range(t, len(world.rows)):
            when = f"in round {now}, with {name} as the state in round {t}"
            u = promises.acted(controller, functools.partial(controller.act, given), when)
            _check_input(controller, u, when)
            promise(controller.log != before, controller, f"did not write to its log that it was given {name}")
            _, x = end_round(controller, world, now, x, u)
            given = x


def _check_good_input(make: Make, world: World, record: Record, rng: np.random.Generator) -> None:
    t = int(rng.integers(1, len(world.rows) - 1))
    state, applied = record.states[t], record.applied[t] + rng.uniform(-0.5, 0.5, world.system.input_dim)
    states, inputs = promises.forms(state), promises.forms(applied)
    expected: tuple[Array, Array] | None = None
    for name in states:
        controller = controller_at(make, world, record, t, False)
        u = controller.act(states[name]).copy()
        what = f"modified the state it was given as {name} in round {t}"
        promises.check_untouched(controller, states[name], state, what)
        controller.observe(world.cost, applied=inputs[name])
        what = f"modified the applied input it was given as {name} in round {t}"
        promises.check_untouched(controller, inputs[name], applied, what)
        found = u, go_on(controller, world, record.states[t + 1], len(world.rows))
        expected = found if expected is None else expected
        for one, other in zip(expected, found, strict=True):
            promises.check_alike(controller, one, other, f"acts on {name} otherwise than on an array")


def _check_applied(make: Make, world: World, record: Record, rng: np.random.Generator) -> None:
    """Check that a disturbance is what the applied input leaves unexplained, and not the input that `act` returned."""
    told, untold = make(), make()
    if not (isinstance(told, PolicyLoop) and isinstance(untold, PolicyLoop)):
        return
    # With what is on its way in an actuator that delays: a part of the state that both remember from the inputs.
    A, B = told.system.augmented
    x, memories = record.states[0], [np.zeros(len(A)), np.zeros(len(A))]
    for t in range(FEWEST - 1):
        u = untold.act(x)
        told.act(x)
        other = u + rng.uniform(0.5, 1.5, u.size)
        told.observe(world.cost, applied=other)
        untold.observe(world.cost)
        last, x = x, record.states[t + 1]
        runs = ((told, other, "told of another"), (untold, u, "not told of another"))
        for (controller, applied, how), z in zip(runs, memories, strict=True):
            ahead = controller.clone()
            ahead.act(x)
            z[: x.size] = last
            size = max(1.0, float((np.abs(A) @ np.abs(z)).sum()), float(np.abs(B @ applied).max()))
            z[:] = A @ z + B @ applied
            error = float(np.abs(ahead.disturbances[0][: x.size] - (x - z[: x.size])).max())
            what = f"recovered a disturbance in round {t + 1} that is off by {error:g}, when it was {how} applied input"
            promise(error <= RECOVERED * size, controller, what)


def _check_saving(make: Make, world: World, record: Record, rng: np.random.Generator) -> None:
    """Check that a controller that was saved goes on as the original does."""
    for mid_round in (False, True):
        t = int(rng.integers(1, len(world.rows) - 1))
        controller = controller_at(make, world, record, t, mid_round)
        try:
            data = controller.to_bytes()
        except CheckpointError:
            return  # functions are code, and code is not saved
        when = f"saved in round {t} {'after' if mid_round else 'before'} act"
        again = from_bytes(data, classes=own_classes(controller))
        promise(again.round == t, controller, f"counts {again.round} rounds when it was {when}")
        wrong = functools.partial(controller.act, np.ones(world.system.state_dim + 1))
        promises.raises(InputError, controller, f"when it is given a state of another shape, {when}", wrong)
        promise(controller.to_bytes() == data, controller, f"is changed by a state that it refuses, {when}")
        _check_rest(again, world, record, mid_round, f"goes on otherwise than what was {when}")


def own_classes(controller: Controller) -> list[type]:
    """Return the classes outside driftwise that a controller, or a learner inside it, is of."""
    parts = [controller, *vars(controller).values()]
    return [kind for kind in {type(one) for one in parts} if kind.__module__.split(".")[0] != "driftwise"]


def _check_missing_cost(make: Make, world: World, record: Record, rng: np.random.Generator) -> None:
    """Check that a controller goes on after a round whose cost nobody knows."""
    t = int(rng.integers(1, len(world.rows) - 1))
    controller = controller_at(make, world, record, t, True)
    controller.skip(applied=record.applied[t])
    counted = controller.round == t + 1 and controller.skipped == 1
    promise(counted, controller, f"does not count a round without a cost: it is in round {controller.round}")
    when = f"in round {t + 1}, after one without a cost"
    act = functools.partial(controller.act, record.states[t + 1])
    _check_input(controller, promises.acted(controller, act, when), when)


def _check_extremes(make: Make, world: World, rng: np.random.Generator) -> None:
    for sizes in promises.EXTREMES:
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


def _check_horizon(make: Make, world: World, record: Record) -> None:
    controller = make()
    if controller.horizon is None or controller.horizon > LONGEST_HORIZON:
        return
    while controller.round < controller.horizon:
        controller.act(record.states[controller.round % len(record.states)])
        controller.observe(world.cost)
    when = f"in round {controller.round}, beyond its horizon"
    promises.check_error(HorizonError, controller, lambda: controller.act(world.start), when)
    run = functools.partial(simulate, world.system, controller, world.cost, world.rows[:1])
    promises.check_error(HorizonError, controller, run, f"in simulate {when}")
