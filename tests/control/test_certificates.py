"""A run of a controller next to its theorem: the right regret, the right bound, and every assumption that can fail."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from driftwise import control
from driftwise._validate import Array
from driftwise.control import bounds, certificate
from driftwise.errors import InputError, ParameterError
from driftwise.regret import Certificate
from tests.cases import check_refused
from tests.control.cases import LEARNING, PLANT, PLANTS, UNIT, squares

T, RADIUS, W = 60, 0.5, 0.5
ROWS = 0.3 * np.sin(np.arange(T)[:, None] / 5.0 + np.array([0.0, 1.0]))
SETTINGS: dict[str, Any] = {
    "horizon": T,
    "scale": "certified",
    "memory": "log",
    "radii": RADIUS,
    "disturbance_bound": W,
}
BOUNDS: dict[str, Callable[..., float]] = {
    "gradient": bounds.gradient_controller,
    "Scream": bounds.scream_controller,
    "lazy Scream": bounds.lazy_scream_controller,
}


def run(
    name: str = "Scream",
    costs: Any = UNIT,
    rows: Any = ROWS,
    system: control.System = PLANT,
    played_on: control.System | None = None,
    options: dict[str, Any] | None = None,
    **settings: Any,
) -> control.ControlTrace:
    """Simulate a controller at the certified scale."""
    controller = LEARNING[name](system, **{**SETTINGS, **settings})
    return control.simulate(played_on or system, controller, costs, rows, **(options or {}))


def fixed(trace: control.ControlTrace) -> Array:
    """Return a policy that is held."""
    controller = trace.controller
    assert isinstance(controller, control.LearningController)
    M = np.zeros((controller.memory, *controller.K.shape))
    M[0] = -0.2
    return M


def failing(found: Certificate) -> list[str]:
    """Return the names of the assumptions that do not hold."""
    return [assumption.name for assumption in found.assumptions if assumption.holds is False]


@pytest.mark.parametrize("scale", ["certified", "theory"])
@pytest.mark.parametrize("name", BOUNDS)
def test_regret_and_bound_side_by_side(name: str, scale: str) -> None:
    trace = run(name, scale=scale)
    moving = np.repeat(fixed(trace)[None], T, axis=0)
    moving[T // 2 :, 1] += 0.1
    found = certificate(trace, moving)
    assert found.measured == pytest.approx(control.dynamic_policy_regret(trace, moving), rel=1e-12)
    shared = {"horizon": T, "radii": RADIUS, "disturbance_bound": W, "scale": scale}
    P = control.path_length(moving)
    assert found.path_length == pytest.approx(P)
    assert found.bound == pytest.approx(BOUNDS[name](PLANT, path_length=P, **shared), rel=1e-12)
    assert found.guaranteed
    assert found.within
    assert "the theorem applies" in str(found)
    assert found.learner == LEARNING[name].__name__
    assert found.theorem.startswith("Theorem 7")


def test_comparators_of_every_form() -> None:
    trace = run()
    M = fixed(trace)
    first = certificate(trace, M)
    K = trace.controller.K  # type: ignore[attr-defined]
    domain = trace.controller.learner.domain  # type: ignore[attr-defined]
    for other in (np.repeat(M[None], T, axis=0), M[:2], control.DisturbanceAction(K, M), M.tolist()):
        assert certificate(trace, other).measured == pytest.approx(first.measured)
    best = certificate(trace, control.best_policy(PLANT, UNIT, trace.disturbances, domain=domain))
    assert best.guaranteed
    assert best.measured > first.measured


def test_fewer_rounds_than_planned() -> None:
    trace = run(rows=ROWS[:40], horizon=100)
    found = certificate(trace, fixed(trace))
    assert found.guaranteed
    assert "100 rounds planned, 40 played" in str(found)
    shared = {"radii": RADIUS, "disturbance_bound": W, "memory": trace.controller.memory}  # type: ignore[attr-defined]
    assert found.bound == pytest.approx(
        bounds.scream_controller(PLANT, horizon=40, tuned_for=100, path_length=0.0, **shared)
    )


def test_a_memory_that_is_too_short_is_in_the_bound_and_said() -> None:
    trace = run(memory=3)
    found = certificate(trace, fixed(trace))
    assert found.guaranteed  # the error of truncation is part of the bound, whatever H is
    enough = bounds.log_memory(PLANT, horizon=T, radii=RADIUS)
    assert f"linear in T; about H = {enough}, as memory='log' has it" in str(found)
    share = bounds.truncation_error(PLANT, horizon=T, memory=3, radii=RADIUS, disturbance_bound=W)
    assert f"truncation is {share:.3g} of the bound" in str(found)
    assert found.bound > share


def overruled() -> control.ControlTrace:
    return run(rows=ROWS, options={"noise": 0.01 * np.ones((T, 2))})


def played_before() -> control.ControlTrace:
    controller = LEARNING["Scream"](PLANT, **{**SETTINGS, "horizon": 2 * T})
    control.simulate(PLANT, controller, UNIT, np.zeros((T, 2)))
    return control.simulate(PLANT, controller, UNIT, ROWS)


STEEP = control.QuadraticCost(3.0, 1.0)
OTHER = control.LinearSystem(PLANT.A + 0.01, PLANT.B)
BROKEN: dict[str, tuple[Callable[[], control.ControlTrace], str, str]] = {
    "steeper costs": (lambda: run(costs=STEEP), "cost gradients", "6 times state and input, the bound 2"),
    "steeper custom costs": (lambda: run(costs=squares(3.0)), "cost gradients", "up to 6 times the larger"),
    "a target": (
        lambda: run(costs=control.QuadraticCost(1.0, 1.0, target=[1.0, 0.0])),
        "cost gradients",
        "inf times the larger",
    ),
    "absolute costs": (lambda: run(costs=control.AbsoluteCost(1.0, 1.0)), "cost gradients", "times the larger"),
    "large disturbances": (lambda: run(rows=3.0 * ROWS), "disturbances", "the bound 0.5"),
    "a first state": (lambda: run(options={"start": [3.0, 4.0]}), "first state", "of norm 5, not 0"),
    "an input bound": (lambda: run(input_bound=0.1), "inputs", "clipped"),
    "a rate limit": (lambda: run(rate_limit=0.05), "inputs", "clipped"),
    "a guard": (lambda: run(guard=True), "inputs", "guard"),
    "no horizon": (lambda: run(horizon=None, memory=5), "horizon", "none was given"),
    "another plant": (lambda: run(played_on=OTHER), "plant", "not the one"),
    "noise": (overruled, "plant", "played again, inputs differ"),
    "rounds before": (played_before, "start", f"{T} rounds had been played before"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_every_assumption_that_is_broken_is_named(case: str) -> None:
    make, name, words = BROKEN[case]
    trace = make()
    found = certificate(trace, fixed(trace))
    assert failing(found) == [name]
    assert not found.guaranteed
    assert words in str(found)
    assert "an assumption is not met: the bound is no guarantee here" in str(found)


def test_costs_that_are_not_convex() -> None:
    with pytest.warns(UserWarning, match="No guarantee"):
        cost = control.QuadraticCost(1.0, -0.1, if_not_convex="warn")
    trace = run(costs=cost)
    assert failing(certificate(trace, fixed(trace))) == ["convexity"]


@pytest.mark.parametrize("size", [0.6, 5.0])
def test_comparators_beyond_the_radii(size: float) -> None:
    trace = run()
    M = fixed(trace)
    M[0] = [[0.0, size]]
    found = certificate(trace, M)
    assert failing(found) == ["comparators"]
    assert f"{size / RADIUS:.6g} of its radius" in str(found)
    longer = np.concatenate([fixed(trace), np.full((1, 1, 2), 0.1)])
    assert failing(certificate(trace, longer)) == ["comparators"]
    longer[-1] = 0.0
    assert certificate(trace, longer).guaranteed


def test_limits_that_are_never_reached_do_no_harm() -> None:
    trace = run(input_bound=100.0, rate_limit=100.0)
    found = certificate(trace, fixed(trace))
    assert found.guaranteed
    assert "never at their limits" in str(found)


def test_custom_costs_are_not_known_for_sure() -> None:
    trace = run(costs=squares(1.0))
    found = certificate(trace, fixed(trace))
    assert failing(found) == []
    assert not found.guaranteed
    assert "the theorem applies if what was not checked holds" in str(found)


def test_an_adversary_is_covered() -> None:
    trace = run(rows=control.AdversarialDisturbance(W))
    found = certificate(trace, fixed(trace))
    assert found.guaranteed
    assert found.within


@pytest.mark.parametrize("scale", ["measured", "given"])
def test_without_proved_constants_there_is_no_bound(scale: str) -> None:
    trace = run(scale="measured") if scale == "measured" else run(gradient_bound=5.0)
    check_refused(
        lambda: certificate(trace, fixed(trace)), f"at the scale '{scale}'", "scale='certified'", kind=InputError
    )


class Own(control.ScreamController):
    """A controller that may do anything."""


@pytest.mark.parametrize("kind", [control.AderController, Own])
def test_controllers_without_a_theorem_are_refused(kind: type[control.LearningController]) -> None:
    trace = control.simulate(PLANT, kind(PLANT, **SETTINGS), UNIT, ROWS)
    check_refused(lambda: certificate(trace, fixed(trace)), "no theorem is known", kind=InputError)
    alone = control.simulate(PLANT, control.LinearController(PLANT), UNIT, ROWS)
    check_refused(lambda: certificate(alone, fixed(trace)), "no theorem is known", kind=InputError)


@pytest.mark.parametrize("name", ["varying", "pendulum", "limited"])
def test_on_plants_that_are_not_linear_there_is_no_regret(name: str) -> None:
    plant = PLANTS[name]
    trace = run(system=plant, rows=np.zeros((T, plant.state_dim)))
    check_refused(lambda: certificate(trace, fixed(trace)), "depends on the policy", kind=InputError)


def test_bad_comparators_are_refused() -> None:
    trace = run()
    ask = functools.partial(certificate, trace)
    check_refused(lambda: ask(np.zeros((T - 1, 2, 1, 2))), "comparators", f"({T}, H, 1, 2)", kind=InputError)
    check_refused(lambda: ask(np.zeros((1, 2))), "best_policies", kind=InputError)
    check_refused(lambda: ask("best"), "best_policies", kind=InputError)
    other = control.DisturbanceAction([[0.3, 1.0]], np.zeros((1, 1, 2)))
    check_refused(lambda: ask(other), "another gain", "K=trace.controller.K", kind=InputError)
    check_refused(lambda: certificate(3, other), "ControlTrace", kind=ParameterError)  # type: ignore[arg-type]


def test_the_cheapest_sequence_of_policies_is_a_comparator() -> None:
    trace = run()
    plant, controller = trace.system, trace.controller
    best = control.best_policies(
        plant,
        trace.cost_sequence,
        trace.disturbances,
        switching_cost=0.5,
        K=controller.K,  # type: ignore[attr-defined]
        domain=controller.learner.domain,  # type: ignore[attr-defined]
        memory=controller.learner.domain.shape[0],  # type: ignore[attr-defined]
    )
    found = certificate(trace, best)
    assert found.path_length == pytest.approx(best.path_length)
    assert found.measured == pytest.approx(control.dynamic_policy_regret(trace, best))
    assert found.within
