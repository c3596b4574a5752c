import logging
import math
from functools import partial
from typing import Any

import numpy as np
import pytest

from driftwise import control
from driftwise.control.identification import explore, rehearsal
from driftwise.errors import ArgumentError, InputError, OrderError, ParameterError
from driftwise.testing import check_controller
from tests.cases import check_refused

PLANT = control.double_integrator()
K = np.array([[0.4, 1.2]])
COST = control.QuadraticCost(1.0, 1.0)
WAVES = control.SinusoidDisturbance(0.3, period=40.0, seed=1)


def make(**options: object) -> control.ExploreThenCommit:
    settings: dict[str, object] = {
        "K": K,
        "state_dim": 2,
        "input_dim": 1,
        "horizon": 3000,
        "seed": 1,
        "exploration": 400,
        "probe": 1.0,
    }
    return control.ExploreThenCommit(**{**settings, **options})  # type: ignore[arg-type]


def committed(**options: object) -> control.ExploreThenCommit:
    controller = make(**options)
    control.simulate(PLANT, controller, COST, WAVES, rounds=500)
    assert controller.status == "committed"
    return controller


def test_it_keeps_the_promises_of_a_controller() -> None:
    check_controller(lambda: make(horizon=200, exploration=50), PLANT)


def test_it_explores_with_signs_around_the_gain() -> None:
    trace = control.simulate(PLANT, make(probe=0.5), COST, WAVES, rounds=300)
    probes = trace.inputs + trace.states @ K.T
    np.testing.assert_allclose(np.abs(probes), 0.5, atol=1e-12)
    assert 100 <= (probes > 0.0).sum() <= 200


def test_it_commits_after_the_budget_and_then_beats_the_gain() -> None:
    controller = make()
    trace = control.simulate(PLANT, controller, COST, WAVES)
    (event,) = controller.log
    assert (event.round, event.status) == (400, "committed")
    assert "SelfTunedController" in event.text
    assert isinstance(controller.committed, control.SelfTunedController)
    assert controller.weights.size == controller.committed.weights.size > 1
    found = controller.identified
    assert found is not None
    assert found.rounds == 400
    assert np.linalg.norm(found.A - PLANT.A, 2) < 3.0 * found.error
    alone = control.simulate(PLANT, control.LinearController(PLANT, K), COST, WAVES, rounds=3000)
    assert trace.costs[1000:].sum() < 0.6 * alone.costs[1000:].sum()


def test_the_budget_is_the_theorems_unless_given() -> None:
    options = {"K": K, "state_dim": 2, "input_dim": 1}
    assert control.ExploreThenCommit(**options, horizon=1000).exploration == 100  # type: ignore[arg-type]
    assert control.ExploreThenCommit(**options, exploration=77).exploration == 77  # type: ignore[arg-type]
    for method, rounds in (("whitened", explore.MOST), ("moments", 10_000)):
        long = control.ExploreThenCommit(**options, horizon=1_000_000, method=method)  # type: ignore[arg-type]
        assert long.exploration == rounds
    check_refused(lambda: control.ExploreThenCommit(**options), "horizon", "exploration=", kind=ParameterError)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", [control.GradientController, control.AderController, control.LazyScreamController])
def test_the_controller_to_commit_to_is_a_choice(kind: type[control.Controller]) -> None:
    assert type(committed(controller=kind).committed) is kind


def test_it_does_not_commit_while_the_estimate_proves_nothing() -> None:
    controller = make(probe=0.01)
    control.simulate(PLANT, controller, COST, control.GaussianDisturbance(1.0), rounds=700)
    assert controller.status == "exploring"
    assert controller.committed is None
    assert [event.round for event in controller.log] == [400, 500, 625]
    assert all("goes on exploring" in event.text for event in controller.log)


def test_a_gain_that_does_not_stabilise_is_named_in_the_log() -> None:
    system = control.LinearSystem([[1.02, 1.0], [0.0, 1.02]], [[0.0], [1.0]])
    controller = make(K=np.zeros((1, 2)), exploration=500)
    control.simulate(system, controller, COST, control.GaussianDisturbance(0.1), rounds=510)
    assert controller.status == "exploring"
    assert "stab" in controller.log[0].text


def test_a_mode_out_of_reach_is_named_in_the_log() -> None:
    system = control.LinearSystem([[0.5, 0.0], [0.0, 0.6]], [[0.0], [1.0]])
    controller = make(K=np.zeros((1, 2)), exploration=500, method="iv")
    control.simulate(system, controller, COST, control.GaussianDisturbance(0.1), rounds=510)
    assert controller.status == "exploring"
    assert "controllable" in controller.log[0].text


def test_a_mode_out_of_reach_does_not_keep_whitened_data_from_a_commit() -> None:
    system = control.LinearSystem([[0.5, 0.0], [0.0, 0.6]], [[0.0], [1.0]])
    controller = make(K=np.zeros((1, 2)))
    control.simulate(system, controller, COST, control.GaussianDisturbance(0.3), rounds=410)
    assert controller.status == "committed"


def test_the_guard_falls_back_on_the_gain_and_comes_back(caplog: pytest.LogCaptureFixture) -> None:
    controller = committed()
    far = np.array([20.0 * explore.GUARD, 0.0])
    with caplog.at_level(logging.WARNING, logger="driftwise"):
        u = controller.act(far)
    np.testing.assert_allclose(u, -K @ far)
    assert controller.status == "fallback"
    assert "fell back on u = -K x" in controller.log[-1].text
    assert "fell back" in caplog.text
    controller.observe(COST)
    rounds = 0
    while controller.status == "fallback":
        u = controller.act([0.1, 0.0])
        if controller.status == "fallback":
            np.testing.assert_allclose(u, -K @ [0.1, 0.0])
        controller.observe(COST)
        rounds += 1
    assert rounds == explore.HOLD
    # From now on the inputs are those of the controller in charge, which was told all the time what was applied.
    twin = controller.committed
    assert twin is not None
    expected = twin.clone().act([0.1, 0.0])
    np.testing.assert_array_equal(controller.act([0.1, 0.0]), expected)
    assert controller.log[-1].status == "committed"


def test_a_second_fallback_lasts_twice_as_long() -> None:
    controller = committed()
    lengths = []
    for _ in range(2):
        controller.act([1e4, 0.0])
        controller.observe(COST)
        count = 0
        while controller.status == "fallback":
            controller.act([0.1, 0.0])
            controller.observe(COST)
            count += 1
        lengths.append(count)
    assert lengths[1] == 2 * lengths[0]


def test_it_has_seen_the_exploration_when_it_takes_over() -> None:
    controller = committed()
    assert controller.committed is not None
    assert controller.committed.round == controller.round
    assert not np.allclose(controller.weights, 1.0 / controller.weights.size)
    # One with a horizon of its own begins with the round of the commit.
    other = committed(controller=control.ScreamController)
    assert other.committed is not None
    assert (other.committed.round, other.committed.horizon) == (other.round - 400, 2600)


def test_policies_are_narrowed_where_usual_ones_fail_their_rehearsal(monkeypatch: pytest.MonkeyPatch) -> None:
    outcomes = iter([False, True])

    class Outcome:
        passed = property(lambda self: next(outcomes))

    monkeypatch.setattr(explore, "rehearse", lambda *_: Outcome())
    controller = committed()
    assert "25% of the usual size" in controller.log[0].text
    assert controller.committed is not None
    usual = control.SelfTunedController(controller.committed.system, K).domain.radii  # type: ignore[attr-defined]
    np.testing.assert_allclose(controller.committed.domain.radii[0], 0.25 * usual[0])  # type: ignore[attr-defined]


def test_without_a_passed_rehearsal_it_goes_on_exploring(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(explore, "rehearse", lambda *_: rehearsal.Rehearsal(np.array([0.5, 1.2])))
    controller = make()
    control.simulate(PLANT, controller, COST, WAVES, rounds=450)
    assert controller.committed is None
    assert "0.85 times what u = -K x does" in controller.log[0].text
    assert "1.20 on the worst of them" in controller.log[0].text


def test_inputs_stay_within_their_bound_in_both_phases() -> None:
    controller = make(input_bound=0.8, probe=0.4)
    trace = control.simulate(PLANT, controller, COST, WAVES, rounds=1500)
    assert controller.committed is not None
    assert np.abs(trace.inputs).max() <= 0.8
    assert (
        np.abs(trace.inputs[:400]).max() == 0.8
    )  # the bound was active while exploring, and the estimate is still good
    assert np.linalg.norm(controller.identified.B - PLANT.B, 2) < 0.2  # type: ignore[union-attr]


def test_data_that_are_kept_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(explore, "LONGEST", 100)
    controller = make(probe=1e-3)
    control.simulate(PLANT, controller, COST, control.GaussianDisturbance(1.0), rounds=500)
    assert controller.committed is None
    assert len(controller._past) <= 100


def test_refused_input_leaves_everything_as_it_was() -> None:
    controller, twin = make(), make()
    for t in range(20):
        x = np.array([0.1 * t, 0.0])
        with pytest.raises(InputError):
            controller.act([math.nan, 0.0])
        np.testing.assert_array_equal(controller.act(x), twin.act(x))
        with pytest.raises(OrderError):
            controller.act(x + 1.0)
        with pytest.raises(InputError):
            controller.observe(control.QuadraticCost(np.eye(3), 1.0))
        controller.observe(COST)
        twin.observe(COST)


@pytest.mark.parametrize(
    ("options", "words", "kind"),
    [
        ({"K": [[1.0]]}, ("K", "(1, 2)"), InputError),
        ({"probe": 0.0}, ("probe",), ParameterError),
        ({"probe": "auto"}, ("probe",), ParameterError),
        ({"method": "guess"}, ("method", "'iv'"), ParameterError),
        ({"controller": None}, ("controller", "ScreamController"), ParameterError),
        ({"exploration": 0}, ("exploration",), ParameterError),
        ({"seed": -1}, ("seed",), ParameterError),
        ({"explorations": 5}, ("Did you mean exploration?",), ArgumentError),
    ],
)
def test_bad_arguments(options: dict[str, object], words: tuple[str, ...], kind: type[Exception]) -> None:
    check_refused(lambda: make(**options), *words, kind=kind)


def settled(start: object = None, **options: object) -> control.ExploreThenCommit:
    """Return one that has committed to what the paper's own estimate gives."""
    controller = make(horizon=20_000, exploration=1500, method="moments", **options)
    assert "before the commit" in controller.guarantee
    control.simulate(PLANT, controller, COST, 0.2 * WAVES.sample(1600, 2), start=start)  # type: ignore[arg-type]
    assert controller.status == "committed"
    return controller


def test_nothing_is_proved_by_default() -> None:
    assert make(probe=None).guarantee == (
        "No bound on the regret is proved: Theorem 8 needs a known horizon T, at least T^(2/3) rounds of exploration, "
        "the method 'moments' and a size of the probes, and here they are 3000, 400, 'whitened' and None."
    )
    assert make(method="moments", probe=None).guarantee.endswith("'moments' and None.")
    found = settled(controller=control.ScreamController).guarantee
    assert found.startswith("No bound on the regret is proved for the controller that it committed to")
    assert found.endswith("constants are measured on the way.")
    other = settled().guarantee
    assert other.startswith("No bound on the regret is proved: Theorem 8 is for a ScreamController")


def certified(system: control.System, **settings: Any) -> control.Controller:
    return control.ScreamController(system, scale="certified", disturbance_bound=5.0, **settings)


def test_theorem_8_is_quoted_with_its_conditions_until_one_is_broken() -> None:
    mine = settled(controller=certified)
    assert mine.guarantee.startswith("Theorem 8")
    for condition in ("strongly controllable", "T = 20000", "H grows like log T", "disturbances stay within 5"):
        assert condition in mine.guarantee
    mine.act([1e4, 0.0])
    assert mine.guarantee.startswith("None any more")


def test_theorem_8_with_a_memory_of_the_order_of_log_t() -> None:
    mine = settled(controller=certified, memory="log")
    assert isinstance(mine.committed, control.ScreamController)
    assert mine.committed.memory >= 10
    assert mine.guarantee.startswith("Theorem 8")
    assert mine.guarantee.endswith("in all these rounds, a constant.")


def test_theorem_8_is_for_plants_that_start_at_the_origin() -> None:
    mine = settled(start=[1.0, 0.0], controller=certified)
    assert mine.guarantee.endswith("this one began at 1.")


def test_what_a_partial_has_set_stays() -> None:
    mine = settled(controller=partial(certified, radii=0.4))
    assert isinstance(mine.committed, control.ScreamController)
    assert set(mine.committed.learner.domain.radii) == {0.4}  # type: ignore[attr-defined]
    wide = settled(controller=certified).committed
    assert wide.learner.domain.radii.min() > 0.4  # type: ignore[union-attr]


def test_theorem_8_is_not_for_a_commit_after_a_refusal() -> None:
    mine = settled(controller=certified)
    mine.log.insert(0, control.Event(1500, "exploring", "goes on exploring"))
    assert "commit at the first attempt" in mine.guarantee


def test_probes_of_its_own_begin_late_and_small_and_cost_what_they_may() -> None:
    controller = make(probe=None, exploration=100)
    trace = control.simulate(PLANT, controller, COST, WAVES, rounds=700)
    alone = control.simulate(PLANT, control.LinearController(PLANT, K), COST, WAVES, rounds=700)
    probes = np.abs(trace.inputs + trace.states @ K.T)[:, 0]
    (event,) = controller.log
    assert event.status == "committed"
    assert (probes[:30] < 1e-12).all()
    assert 0.0 < probes[30] < probes[event.round - 1]
    assert 1.05 < trace.costs[: event.round].sum() / alone.costs[: event.round].sum() < 1.5


@pytest.mark.parametrize("unit", [1e-6, 1e6])
def test_units_do_not_matter_to_probes_of_its_own(unit: float) -> None:
    plain = make(probe=None, exploration=100)
    control.simulate(PLANT, plain, COST, WAVES, rounds=250)
    # The input in another unit: B, K and the weight of the input go with it.
    system = control.LinearSystem(PLANT.A, PLANT.B / unit)
    other = make(probe=None, exploration=100, K=unit * K)
    control.simulate(system, other, control.QuadraticCost(1.0, unit**-2), WAVES, rounds=250)
    np.testing.assert_allclose(other._sizes, unit * plain._sizes, rtol=1e-3)


ORDINARY = [(n, m, seed) for n in (2, 3, 4, 5, 6) for m in (1, 2) for seed in (100, 101)]
"""States, inputs and seed of random stable plants."""


def outcome(n: int, m: int, seed: int, kind: control.Disturbance) -> tuple[int, float, float]:
    """Return the round of the commit, and the costs before and after it over those of u = -K x."""
    system = control.random_system(n, m, radius=0.6 + 0.06 * (seed % 2 + n - 2), seed=seed)
    gain = control.lqr(system)
    w = kind.sample(3000, n, seed=seed)
    controller = control.ExploreThenCommit(K=gain, state_dim=n, input_dim=m, horizon=3000, seed=seed)
    mine = control.simulate(system, controller, COST, w).costs
    alone = control.simulate(system, control.LinearController(system, gain), COST, w).costs
    (start,) = (event.round for event in controller.log if event.status == "committed")
    return start, mine[:start].sum() / alone[:start].sum(), mine[start:].sum() / alone[start:].sum()


def test_it_commits_on_an_ordinary_plant_and_that_is_worth_it() -> None:
    start, before, after = outcome(4, 1, 101, control.AutoregressiveDisturbance(0.97, scale=0.1))
    assert start < 2000
    assert before < 1.5
    assert after < 0.95


@pytest.mark.full
@pytest.mark.parametrize(("n", "m", "seed"), ORDINARY)
@pytest.mark.parametrize(
    ("kind", "most"),
    [
        (control.GaussianDisturbance(0.3), 1.02),
        (control.AutoregressiveDisturbance(0.97, scale=0.1), 0.99),
        (control.SinusoidDisturbance(0.5, period=40.0), 0.99),
    ],
)
def test_it_commits_on_ordinary_plants(n: int, m: int, seed: int, kind: control.Disturbance, most: float) -> None:
    start, before, after = outcome(n, m, seed, kind)
    assert start < 3000
    assert before < 1.5
    assert after < most
