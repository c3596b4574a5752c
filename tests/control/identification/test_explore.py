import dataclasses
import logging
import math
from typing import Any

import numpy as np
import pytest

from driftwise import control
from driftwise._validate import Array
from driftwise.control.identification import Identified, explore
from driftwise.control.identification.explore import safe_radii
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
    assert "ScreamController" in event.text
    assert isinstance(controller.committed, control.ScreamController)
    assert controller.weights.size == controller.committed.weights.size > 1
    found = controller.identified
    assert found is not None
    assert found.rounds == 400
    assert np.linalg.norm(found.A - PLANT.A, 2) < 3.0 * found.error
    alone = control.simulate(PLANT, control.LinearController(PLANT, K), COST, WAVES, rounds=3000)
    assert trace.costs[1000:].sum() < 0.8 * alone.costs[1000:].sum()


def test_the_budget_is_the_theorems_unless_given() -> None:
    options = {"K": K, "state_dim": 2, "input_dim": 1}
    assert control.ExploreThenCommit(**options, horizon=1000).exploration == 100  # type: ignore[arg-type]
    assert control.ExploreThenCommit(**options, exploration=77).exploration == 77  # type: ignore[arg-type]
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
    controller = make(K=np.zeros((1, 2)), exploration=500)
    control.simulate(system, controller, COST, control.GaussianDisturbance(0.1), rounds=510)
    assert controller.status == "exploring"
    assert "controllable" in controller.log[0].text


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
        ({"method": "guess"}, ("method", "'iv'"), ParameterError),
        ({"controller": None}, ("controller", "ScreamController"), ParameterError),
        ({"exploration": 0}, ("exploration",), ParameterError),
        ({"seed": -1}, ("seed",), ParameterError),
        ({"explorations": 5}, ("Did you mean exploration?",), ArgumentError),
    ],
)
def test_bad_arguments(options: dict[str, object], words: tuple[str, ...], kind: type[Exception]) -> None:
    check_refused(lambda: make(**options), *words, kind=kind)


class TestSafeRadii:
    """Policies within the radii keep every plant near the estimate stable."""

    @staticmethod
    def estimate(A: Array, B: Array, error: float) -> Identified:
        return Identified(A, B, error, error, error, error, "iv", 2, 1000)

    @pytest.mark.parametrize("seed", range(6))
    def test_no_plant_within_three_errors_diverges_under_any_policy(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        system = control.random_system(3, 1, radius=1.1, seed=seed)
        gain = control.lqr(system)
        found = self.estimate(system.A, system.B, 2e-3)
        radii = safe_radii(found, gain, 4)
        assert radii is not None
        for _ in range(5):
            delta_B, delta_loop = (rng.standard_normal(shape) for shape in ((3, 1), (3, 3)))
            delta_B *= explore.MARGIN * 2e-3 / np.linalg.norm(delta_B, 2)
            delta_loop *= explore.MARGIN * 2e-3 / np.linalg.norm(delta_loop, 2)
            B = system.B + delta_B
            real = control.LinearSystem(system.A - system.B @ gain + delta_loop + B @ gain, B)
            M = rng.standard_normal((4, 1, 3))
            M *= (radii / np.linalg.norm(M, 2, axis=(1, 2)))[:, None, None]
            policy = control.PolicyController(system, control.DisturbanceAction(gain, M))
            trace = control.simulate(real, policy, COST, control.GaussianDisturbance(0.1), rounds=4000, seed=seed)
            early, late = (np.linalg.norm(part, axis=1).max() for part in (trace.states[:1000], trace.states[-1000:]))
            assert late < 3.0 * early

    def test_radii_shrink_as_the_error_grows_until_nothing_is_safe(self) -> None:
        sizes = []
        for error in (1e-6, 1e-3, 1e-2, 3e-2):
            radii = safe_radii(self.estimate(PLANT.A, PLANT.B, error), K, 10)
            assert radii is not None
            sizes.append(radii[0])
        assert sizes == sorted(sizes, reverse=True)
        assert sizes[0] > 3.0 * sizes[-1]
        assert safe_radii(self.estimate(PLANT.A, PLANT.B, 1.0), K, 10) is None

    def test_the_peak_between_two_close_modes_is_found(self) -> None:
        """The gain peaks between the angles of the eigenvalues, and between those of a grid."""
        middle = 80.5 * np.pi / 256.0
        blocks = [
            0.996 * np.array([[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]])
            for a in (middle - 0.0028, middle + 0.0028)
        ]
        closed = np.block([[blocks[0], np.eye(2)], [np.zeros((2, 2)), blocks[1]]])
        angles = np.linspace(middle - 0.02, middle + 0.02, 20_001)
        dense = np.linalg.norm(
            np.linalg.inv(np.exp(1j * angles)[:, None, None] * np.eye(4) - closed), 2, axis=(1, 2)
        ).max()
        assert explore._peak_gains(closed, np.eye(4)[:, 3:])[0] == pytest.approx(dense, rel=1e-6)

    def test_an_estimate_that_the_gain_does_not_stabilise_is_not_safe(self) -> None:
        found = dataclasses.replace(self.estimate(PLANT.A, PLANT.B, 1e-9), A=1.5 * PLANT.A)
        assert safe_radii(found, K, 10) is None


def settled(**options: object) -> control.ExploreThenCommit:
    """Return one that has committed to what the paper's own estimate gives."""
    controller = make(horizon=20_000, exploration=1500, method="moments", **options)
    assert "before the commit" in controller.guarantee
    control.simulate(PLANT, controller, COST, 0.2 * WAVES.sample(1600, 2))
    assert controller.status == "committed"
    return controller


def test_nothing_is_proved_by_default() -> None:
    assert make().guarantee == (
        "No bound on the regret is proved: Theorem 8 needs a known horizon T, at least T^(2/3) rounds of exploration "
        "and the method 'moments', and here they are 3000, 400 and 'iv'."
    )
    found = settled().guarantee
    assert found.startswith("No bound on the regret is proved for the controller that it committed to")
    assert found.endswith("constants are measured on the way.")
    other = settled(controller=control.AderController).guarantee
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
