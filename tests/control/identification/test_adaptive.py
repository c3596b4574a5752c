"""The adaptive controller: silent where the plant is what was said, better where it drifts."""

import math
from typing import Any

import numpy as np
import pytest

from driftwise import control
from driftwise._validate import Array
from driftwise.control.identification import AdaptiveController, adaptive
from driftwise.control.identification.tracking import WINDOW
from driftwise.errors import ArgumentError, InputError, ParameterError
from driftwise.testing import check_controller
from tests.cases import check_refused

PLANT = control.double_integrator()
COST = control.QuadraticCost(1.0, 1.0)
NOISE = control.GaussianDisturbance(0.1, seed=2)

ONE, ROUNDS = control.LinearSystem([[1.2]], [[1.0]]), 2000
RAMP = np.clip(np.arange(ROUNDS) / 1000.0, 0.0, 1.0)[:, None, None]
WORN = control.TimeVaryingSystem(ONE.A, ONE.B, changes_A=0.3 * RAMP, changes_B=-0.5 * RAMP)
WAVES = 0.3 * np.sin(np.pi * np.arange(ROUNDS) / 10.0)[:, None] + 0.1 * np.random.default_rng(0).normal(
    size=(ROUNDS, 1)
)


def drifting(rounds: int, of_A: float = 0.2, of_B: float = -0.4, back: int | None = None) -> control.TimeVaryingSystem:
    """Return a plant whose matrices change over 1000 rounds, and jump back in a round."""
    ramp = np.clip(np.arange(rounds) / 1000.0, 0.0, 1.0)[:, None, None]
    ramp[back or rounds :] = 0.0
    of = {"A": of_A * ramp * PLANT.A, "B": of_B * ramp * PLANT.B}
    return control.TimeVaryingSystem(PLANT.A, PLANT.B, changes_A=of["A"], changes_B=of["B"])


@pytest.fixture(scope="module")
def adapted() -> tuple[AdaptiveController, control.ControlTrace]:
    """Return a controller that adopts a correction, whichever way rounding goes, as K becomes unstable in the end."""
    controller = AdaptiveController(ONE)
    return controller, control.simulate(WORN, controller, COST, WAVES)


@pytest.mark.parametrize(
    "inner",
    [control.SelfTunedController, control.GradientController, control.LinearController],
    ids=lambda k: k.__name__,
)
def test_it_keeps_the_promises_of_a_controller(inner: type[control.Controller]) -> None:
    check_controller(lambda: AdaptiveController(PLANT, controller=inner, input_bound=5.0), PLANT)


@pytest.mark.parametrize("noise", [NOISE, control.AutoregressiveDisturbance(0.97, scale=0.03, seed=1)])
def test_where_the_plant_is_what_was_said_inputs_are_those_of_the_controller_inside(noise: control.Disturbance) -> None:
    mine, inner = AdaptiveController(PLANT), control.SelfTunedController(PLANT)
    traces = [control.simulate(PLANT, each, COST, noise, rounds=700) for each in (mine, inner)]
    np.testing.assert_allclose(traces[0].inputs, traces[1].inputs, atol=1e-9)
    assert mine.status == "nominal"
    assert mine.log == inner.log


def test_a_drift_is_followed_and_that_is_cheaper(adapted: tuple[AdaptiveController, control.ControlTrace]) -> None:
    controller, trace = adapted
    assert controller.status == "adapted"
    assert any("is adopted" in event.text for event in controller.log)
    assert abs(controller.model.B[0, 0] - 0.5) < 0.3
    assert not np.allclose(controller.gain, controller.K)
    plain = control.simulate(WORN, control.SelfTunedController(ONE), COST, WAVES)
    assert trace.total < plain.total


def test_the_gain_is_that_of_the_cost_for_the_model(adapted: tuple[AdaptiveController, control.ControlTrace]) -> None:
    controller, _ = adapted
    np.testing.assert_allclose(controller.gain, control.lqr(controller.model, 1.0, 1.0))
    np.testing.assert_array_equal(controller.K, control.lqr(ONE))
    weighted = AdaptiveController(PLANT, cost=control.QuadraticCost(1.0, 9.0))
    np.testing.assert_array_equal(weighted.K, control.lqr(PLANT, 1.0, 9.0))


def test_a_copy_goes_on_alike_after_an_adoption(adapted: tuple[AdaptiveController, control.ControlTrace]) -> None:
    controller, trace = adapted
    twin = controller.clone()
    other = twin.clone()
    for x in trace.states[-60:]:
        np.testing.assert_array_equal(twin.act(x), other.act(x))
        for each in (twin, other):
            each.observe(COST)
    assert controller.round == ROUNDS


def shown(controller: AdaptiveController, rounds: int) -> None:
    """Let it watch a plant that is not the one that it was told of, under u = -K x and a little noise."""
    rng = np.random.default_rng(1)
    x = np.zeros(2)
    for _ in range(rounds):
        controller.act(x)
        u = -controller.K @ x + 0.05 * rng.normal(size=1)
        controller.observe(COST, applied=u)
        x = 1.0 * (PLANT.A @ x) + 0.5 * (PLANT.B @ u) + 0.05 * rng.normal(size=2)


def cheap(monkeypatch: pytest.MonkeyPatch, ratio: float = 0.5) -> None:
    """Let every rehearsal have the same outcome."""
    monkeypatch.setattr(adaptive, "over", lambda *_: ratio)
    monkeypatch.setattr(adaptive, "HARM", math.inf)


def test_one_controller_hands_over_to_the_next_little_by_little(monkeypatch: pytest.MonkeyPatch) -> None:
    cheap(monkeypatch)
    controller = AdaptiveController(PLANT)
    while controller.status == "nominal" and controller.round < 1000:
        shown(controller, 25)
    assert controller.status == "adapted"
    old, new = controller._leaving, controller.inner
    assert old is not None
    assert new.round == controller.round or new.round == WINDOW + 1
    x = np.array([0.3, -0.1])
    one, other = old.clone().act(x), new.clone().act(x)
    np.testing.assert_allclose(controller.clone().act(x), one)
    for left in range(adaptive.FADE, 0, -1):
        share = left / adaptive.FADE
        twins = old.clone().act(x), new.clone().act(x)
        np.testing.assert_allclose(controller.act(x), share * twins[0] + (1.0 - share) * twins[1], atol=1e-12)
        controller.observe(COST)
    assert controller._leaving is None
    np.testing.assert_array_equal(controller.act(x), new.clone().act(x))
    assert not np.allclose(one, other)


@pytest.mark.parametrize("ratio", [1.0, math.inf])
def test_what_is_not_worth_it_is_refused_ever_more_rarely(monkeypatch: pytest.MonkeyPatch, ratio: float) -> None:
    cheap(monkeypatch, ratio)
    controller = AdaptiveController(PLANT)
    shown(controller, 1100)
    assert controller.status == "nominal"
    refused = [event.round for event in controller.log if "not worth it" in event.text]
    gaps = np.diff(refused)
    assert len(gaps) >= 2
    assert (gaps >= [adaptive.PAUSE * 2 ** (k + 1) for k in range(len(gaps))]).all() or gaps.max() >= adaptive.LONGEST
    assert controller.inner.round == controller.round


def test_harm_if_the_old_model_is_right_is_a_reason_to_refuse(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        adaptive,
        "over",
        lambda one, other, plant, past: 2.0 if plant[0] is PLANT.A or np.array_equal(plant[1], PLANT.B) else 0.5,
    )
    controller = AdaptiveController(PLANT)
    shown(controller, 600)
    assert controller.status == "nominal"
    assert "2.00 if it is not" in controller.log[-1].text


def test_the_model_that_was_given_comes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    cheap(monkeypatch)
    controller = AdaptiveController(PLANT)
    trace = control.simulate(drifting(1500, back=1000), controller, COST, NOISE, rounds=1500)
    statuses = [event.status for event in controller.log]
    assert statuses[-1] == "nominal"
    assert "adapted" in statuses
    assert "back to the model that was given" in controller.log[-1].text
    np.testing.assert_array_equal(controller.gain, controller.K)
    np.testing.assert_array_equal(controller.model.A, PLANT.A)
    assert np.isfinite(trace.total)


def test_lost_samples_are_survived_and_not_learnt_from() -> None:
    controller = AdaptiveController(PLANT)
    shown(controller, 60)
    for lost in (None, [math.nan, 0.0]):
        u = controller.act(lost)  # type: ignore[arg-type]
        assert np.isfinite(u).all()
        controller.observe(COST)
    assert len(controller._rounds) == 0
    assert controller.log[-1].round in (60, 61)
    assert controller.health.status != "learning"
    with pytest.raises(InputError):
        AdaptiveController(PLANT, controller=control.GradientController).act([math.nan, 0.0])


def test_memory_is_bounded() -> None:
    controller = AdaptiveController(PLANT)
    shown(controller, 900)
    assert len(controller._rounds) == WINDOW + 1


@pytest.mark.parametrize(
    ("options", "words", "kind"),
    [
        ({"system": 3.0}, ("system", "LinearSystem"), ParameterError),
        ({"K": [[1.0]]}, ("K", "(1, 2)"), InputError),
        ({"controller": None}, ("controller", "SelfTunedController"), ParameterError),
        ({"cost": 1.0}, ("cost", "QuadraticCost"), ParameterError),
        ({"system": control.LinearSystem(PLANT.A, PLANT.B, delay=1)}, ("delay", "SelfTunedController"), ParameterError),
        ({"controler": 5}, ("Did you mean controller?",), ArgumentError),
    ],
)
def test_bad_arguments(options: dict[str, Any], words: tuple[str, ...], kind: type[Exception]) -> None:
    check_refused(lambda: AdaptiveController(**{"system": PLANT, **options}), *words, kind=kind)


def total(plant: control.System, controller: control.Controller, w: Array) -> float:
    """Return the cost of a run, infinite if it diverges."""
    try:
        return control.simulate(plant, controller, COST, w).total
    except InputError:
        return math.inf


def ratios(kind: control.Disturbance, size: float, seeds: range) -> Array:
    """Return costs over those of the controller inside, on random plants that drift by some share in every entry.

    Plants around which the controller inside diverges are left out: there is nothing to compare with.
    """
    found = []
    for seed in seeds:
        rng = np.random.default_rng([seed, 8])
        n, m = int(rng.integers(2, 5)), int(rng.integers(1, 3))
        system = control.random_system(n, m, radius=0.9, seed=seed)
        ramp = size * np.clip(np.arange(2500) / 1500.0 - 0.2, 0.0, 1.0)[:, None, None]
        changes = [ramp * part * rng.choice([-1.0, 1.0], part.shape) for part in (system.A, system.B)]
        plant = control.TimeVaryingSystem(system.A, system.B, changes_A=changes[0], changes_B=changes[1])
        w = kind.sample(2500, n, seed=seed)
        mine, inner = (total(plant, make(system), w) for make in (AdaptiveController, control.SelfTunedController))
        if math.isfinite(inner):
            found.append(mine / inner)
    assert len(found) >= 0.9 * len(seeds)
    return np.array(found)


KINDS = [
    control.GaussianDisturbance(0.3),
    control.AutoregressiveDisturbance(0.97, scale=0.1),
    control.SinusoidDisturbance(0.5, period=40.0),
]


@pytest.mark.full
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: type(kind).__name__)
def test_it_does_no_harm_on_plants_that_are_what_was_said(kind: control.Disturbance) -> None:
    assert ratios(kind, 0.0, range(12)).max() <= 1.03


@pytest.mark.full
@pytest.mark.parametrize("kind", KINDS[:2], ids=lambda kind: type(kind).__name__)
def test_it_is_better_on_plants_that_drift(kind: control.Disturbance) -> None:
    found = ratios(kind, 0.4, range(12))
    assert np.exp(np.log(found).mean()) < 1.0
    assert found.max() < 1.1


def test_a_correction_that_does_harm_is_taken_back_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adaptive, "over", lambda *_: 0.5)
    controller = AdaptiveController(PLANT)
    while controller.status == "nominal" and controller.round < 1000:
        shown(controller, 25)
    assert controller.status == "adapted"
    for _ in range(30):
        controller.act([1.0, 1.0])
        controller.observe(COST, applied=[0.0])
        if controller.status == "nominal":
            break
    assert controller.status == "nominal"
    assert "times those before the correction" in controller.log[-1].text
    np.testing.assert_array_equal(controller.gain, controller.K)
    assert controller._leaving is None
