"""What the controllers of the paper share: arguments, scales, the first policy."""

import math
from typing import Any

import numpy as np
import pytest

import driftwise as dw
from driftwise import control
from driftwise.control.policies.scales import theory_radii
from driftwise.errors import ArgumentError, DriftwiseError, InputError, ParameterError, StabilityError
from tests.cases import check_refused
from tests.control.cases import LEARNING, PLANT, PLANTS, UNIT, WIDE, squares

ROWS = 0.3 * np.sin(np.arange(60)[:, None] / 5.0 + np.array([0.0, 1.0]))
SCREAM = control.ScreamController


def radii(mine: control.LearningController) -> Any:
    assert isinstance(mine.learner.domain, dw.SpectralBalls)
    return mine.learner.domain.radii


@pytest.mark.parametrize("name", LEARNING)
def test_a_plant_is_all_that_is_needed(name: str) -> None:
    mine = LEARNING[name](WIDE)
    assert mine.memory == 10  # this loop forgets fast
    assert mine.horizon is None
    assert mine.scale == mine.constants.scale == "measured"
    assert mine.normalised
    np.testing.assert_array_equal(mine.K, control.lqr(WIDE))
    assert not mine.policy.M.any()
    assert mine.learner.domain.shape == (10, 2, 3)
    assert "No bound on the regret is proved" in mine.guarantee
    assert radii(mine).min() == radii(mine).max() >= 2.0 * np.linalg.norm(mine.K, 2)


@pytest.mark.parametrize("name", LEARNING)
@pytest.mark.parametrize("scale", ["certified", "theory"])
def test_the_scales_with_a_guarantee(name: str, scale: str) -> None:
    mine = LEARNING[name](PLANT, horizon=60, memory=4, scale=scale, disturbance_bound=0.5, cost_gradient=2.0)
    assert mine.constants.scale == scale
    assert not mine.normalised
    np.testing.assert_allclose(radii(mine), theory_radii(mine.stability, 4))
    assert mine.constants.diameter == mine.learner.domain.diameter
    proved = {"Scream": "Theorem 7", "gradient": "Static policy regret", "lazy Scream": "Theorem 7 with lazy updates"}
    if name in proved:
        assert proved[name] in mine.guarantee
        assert "disturbances stay within 0.5" in mine.guarantee
        assert "truncation" in mine.guarantee
        without = LEARNING[name](PLANT, scale=scale)
        clipped = LEARNING[name](PLANT, horizon=60, scale=scale, input_bound=1.0)
        for other in (without, clipped):
            assert other.guarantee.startswith("No bound on the regret is proved")
    else:
        assert mine.guarantee.startswith("No bound on the policy regret")
    wider = LEARNING[name](PLANT, horizon=60, memory=4, scale=scale, disturbance_bound=1.0)
    assert wider.constants.gradient_bound == pytest.approx(4.0 * mine.constants.gradient_bound)  # it goes with W^2
    trace = control.simulate(PLANT, mine, UNIT, ROWS, record_policies=True)
    assert trace.policies is not None
    assert np.abs(trace.policies).max() > 0.0


def test_constants_of_ones_own() -> None:
    mine = SCREAM(PLANT, horizon=60, gradient_bound=5.0, alpha=3.0, radii=0.5)
    assert mine.constants.scale == "given"
    assert (mine.constants.gradient_bound, mine.constants.switching_cost) == (5.0, 15.0)
    assert mine.constants.diameter == dw.SpectralBalls((10, 1, 2), 0.5).diameter
    assert not mine.normalised
    learner = dw.Scream(dw.SpectralBalls((10, 1, 2), 0.5), switching_cost=15.0, gradient_bound=5.0, horizon=60)
    other = control.DisturbanceActionController(PLANT, learner)
    expected = control.simulate(PLANT, other, UNIT, ROWS)
    np.testing.assert_array_equal(control.simulate(PLANT, mine, UNIT, ROWS).inputs, expected.inputs)


def test_radii_of_ones_own() -> None:
    np.testing.assert_array_equal(radii(SCREAM(PLANT, memory=3, radii=[0.3, 0.2, 0.1])), [0.3, 0.2, 0.1])
    mine = SCREAM(PLANT, memory=3, radii=[0.3, 0.2, 0.1])
    trace = control.simulate(PLANT, mine, UNIT, 10.0 * ROWS, record_policies=True)
    assert trace.policies is not None
    assert (np.linalg.norm(trace.policies, axis=(2, 3)) <= np.array([0.3, 0.2, 0.1]) + 1e-12).all()
    assert np.abs(trace.policies).max() > 0.15


def test_a_first_policy_of_ones_own() -> None:
    start = np.full((3, 1, 2), 0.1)
    np.testing.assert_allclose(SCREAM(PLANT, memory=3, start=start).policy.M, start, rtol=1e-14)


def test_a_random_first_policy_is_seeded_and_within_the_radii() -> None:
    first = [
        SCREAM(WIDE, memory=4, radii=[1.0, 0.5, 0.2, 0.1], start="random", seed=seed).policy.M for seed in (1, 1, 2)
    ]
    np.testing.assert_array_equal(first[0], first[1])
    assert np.abs(first[0] - first[2]).max() > 1e-3
    norms = np.linalg.norm(first[0], 2, axis=(1, 2))
    assert (norms <= np.array([1.0, 0.5, 0.2, 0.1]) + 1e-12).all()
    assert (norms > 0.0).all()
    drawn = SCREAM(WIDE, memory=4, start="random", seed=np.random.default_rng(3)).policy.M
    np.testing.assert_allclose(drawn, SCREAM(WIDE, memory=4, start="random", seed=3).policy.M, rtol=1e-14)


def test_a_higher_price_of_moving_moves_less() -> None:
    def path(alpha: float) -> float:
        trace = control.simulate(PLANT, SCREAM(PLANT, horizon=60, alpha=alpha), UNIT, ROWS, record_policies=True)
        assert trace.policies is not None
        return float(np.linalg.norm(np.diff(trace.policies, axis=0).reshape(59, -1), axis=1).sum())

    assert path(1.0) > 1.5 * path(10.0) > 1.5 * 1.5 * path(100.0) > 0.0


def test_the_shared_class_is_not_used_by_itself() -> None:
    with pytest.raises(TypeError, match="abstract"):
        control.LearningController(PLANT)  # type: ignore[abstract]


UNREACHED = control.LinearSystem([[1.2, 0.0], [0.0, 0.5]], [[0.0], [1.0]])


@pytest.mark.parametrize("name", LEARNING)
@pytest.mark.parametrize(
    ("settings", "words", "kind"),
    [
        ({"horizon": 0}, ("horizon", "at least 1"), ParameterError),
        ({"horizon": 2.5}, ("horizon",), ParameterError),
        ({"K": [[0.0, 0.0]]}, ("eigenvalue 1",), StabilityError),
        ({"K": [[0.3, 1.0, 0.0]]}, ("K", "(1, 2)"), InputError),
        ({"memory": 0}, ("memory", "at least 1"), ParameterError),
        ({"scale": "guessed"}, ("scale", "'measured', 'certified', 'theory'", "'guessed'"), ParameterError),
        ({"alpha": -1.0}, ("alpha", "at least 0"), ParameterError),
        ({"disturbance_bound": 0.0}, ("disturbance_bound", "above 0"), ParameterError),
        ({"cost_gradient": math.nan}, ("cost_gradient", "above 0"), ParameterError),
        ({"gradient_bound": 0.0}, ("gradient_bound", "at least 1e-100"), ParameterError),
        ({"gradient_bound": "2"}, ("gradient_bound",), ParameterError),
        ({"radii": -1.0}, ("radii", "above 0"), ParameterError),
        ({"radii": [1.0, 2.0]}, ("radii", "(10,)"), InputError),
        ({"start": np.ones((3, 1, 2))}, ("start", "(10, 1, 2)"), InputError),
        (
            {"start": np.full((10, 1, 2), 9.0)},
            ("start must lie within the radii", "give larger radii="),
            ParameterError,
        ),
        ({"start": np.full((10, 1, 2), 1.0), "radii": 0.5}, ("start must lie within the radii",), ParameterError),
        ({"start": "zero"}, ("start", "'random'", "'zero'"), ParameterError),
        ({"start": "random", "seed": -1}, ("seed",), ParameterError),
        ({"seed": math.nan}, ("seed",), ParameterError),  # also where nothing is drawn
        ({"input_bound": 0.0}, ("input_bound", "above 0"), ParameterError),
        ({"step": 0.1}, ("step", "Controller(system"), ArgumentError),
        ({"horizn": 10}, ("Did you mean horizon?",), ArgumentError),
    ],
    ids=lambda value: ", ".join(value) if isinstance(value, dict) else "",
)
def test_bad_arguments_are_refused(
    name: str, settings: dict[str, Any], words: tuple[str, ...], kind: type[DriftwiseError]
) -> None:
    check_refused(lambda: LEARNING[name](PLANT, **settings), *words, kind=kind)


@pytest.mark.parametrize("name", LEARNING)
def test_plants_that_cannot_be_controlled_are_refused(name: str) -> None:
    check_refused(lambda: LEARNING[name](UNREACHED), "eigenvalue", "1.2", kind=StabilityError)
    check_refused(lambda: LEARNING[name]([[1.0]]), "system", "LinearSystem(A, B)", kind=ParameterError)  # type: ignore[arg-type]


@pytest.mark.parametrize("settings", [{"gradient_bound": 1e-300}, {"scale": "certified", "disturbance_bound": 1e-90}])
def test_bounds_that_are_too_small_are_refused(settings: dict[str, Any]) -> None:
    check_refused(lambda: SCREAM(PLANT, **settings))


def test_a_plant_that_is_sampled_often_gets_a_long_memory_and_is_controlled_better_than_by_the_gain() -> None:
    """A mass on a spring, sampled every 10 ms, under a constant force."""
    dt = 0.01
    plant = control.LinearSystem([[1.0, dt], [-4.0 * dt, 1.0 - 0.5 * dt]], [[0.0], [dt]])
    Q, R = np.diag([100.0, 1.0]), np.array([[0.01]])
    K, cost, force = control.lqr(plant, Q, R), control.QuadraticCost(Q, R), np.tile([0.0, dt], (2000, 1))
    mine = control.ScreamController(plant, K=K, horizon=2000)
    assert 30 <= mine.memory <= 100
    lqr = control.simulate(plant, control.LinearController(plant, K), cost, force).total
    assert control.simulate(plant, mine, cost, force).total < 0.6 * lqr


@pytest.mark.parametrize("scale", ["certified", "theory"])
def test_a_guarantee_is_withdrawn_when_a_disturbance_breaks_its_bound(scale: str) -> None:
    mine = control.ScreamController(PLANT, horizon=100, scale=scale, disturbance_bound=0.5)
    before = control.simulate(PLANT, mine, UNIT, np.full((20, 2), 0.3))
    assert mine.guarantee.startswith("Theorem 7")
    control.simulate(PLANT, mine, UNIT, np.full((20, 2), 0.6), start=before.final_state)
    assert mine.guarantee.startswith("None any more: a disturbance of norm 0.8485")


def test_wider_radii_make_longer_steps_and_narrower_ones_do_not_make_shorter() -> None:
    usual, wide, narrow = (control.ScreamController(PLANT, horizon=100, radii=radii) for radii in (None, 50.0, 0.1))
    assert wide.constants.diameter == pytest.approx(12.5)
    assert narrow.constants.diameter == usual.constants.diameter < 12.5


def test_a_number_is_a_gain_of_a_plant_with_one_state() -> None:
    plant = control.LinearSystem(0.5, 1.0)
    assert control.ScreamController(plant, K=0.2).K.tolist() == [[0.2]]
    assert control.LinearController(plant, 0.2).K.tolist() == [[0.2]]


@pytest.mark.parametrize("scale", ["certified", "theory"])
def test_theorem_7_is_quoted_with_its_conditions(scale: str) -> None:
    mine = control.ScreamController(PLANT, horizon=50, scale=scale, memory=4)
    for condition in ("x_0 = 0", "T = 50 rounds", "H grows like log T", "With H = 4", "linear in T"):
        assert condition in mine.guarantee
    assert mine.objection() is None


@pytest.mark.parametrize("name", ["gradient", "Scream", "lazy Scream"])
@pytest.mark.parametrize("scale", ["certified", "theory"])
def test_with_a_memory_that_goes_with_the_horizon_the_theorem_holds_as_it_is(name: str, scale: str) -> None:
    mine = LEARNING[name](PLANT, horizon=50, scale=scale, memory="log")
    assert mine.memory == control.bounds.log_memory(PLANT, horizon=50, scale=scale)
    costs = control.bounds.truncation_error(PLANT, horizon=50, memory=mine.memory, scale=scale)
    assert f"H = {mine.memory} is enough for them" in mine.guarantee
    assert mine.guarantee.endswith(f"its truncation costs at most {costs:.3g} in all these rounds, a constant.")
    shorter = LEARNING[name](PLANT, horizon=50, scale=scale, memory=mine.memory - 1)
    assert "linear in T" in shorter.guarantee


def test_a_memory_goes_with_the_horizon_at_every_scale() -> None:
    assert SCREAM(PLANT, horizon=1000, memory="log", radii=0.5).memory == control.bounds.log_memory(
        PLANT, horizon=1000, radii=0.5
    )
    given = SCREAM(PLANT, horizon=1000, memory="log", gradient_bound=5.0)
    assert "H = " in given.guarantee
    assert given.guarantee.endswith("its truncation costs a constant.")
    check_refused(lambda: SCREAM(PLANT, memory="log"), "memory='log'", "give horizon=", kind=ParameterError)
    check_refused(lambda: SCREAM(PLANT, horizon=9, memory="long"), "memory", "'log'", "'long'", kind=ParameterError)
    check_refused(
        lambda: SCREAM(PLANT, horizon=9, memory="log", radii=[1.0, 2.0]), "number of radii", kind=ParameterError
    )


@pytest.mark.parametrize("by_hand", [False, True])
def test_a_guarantee_is_withdrawn_when_an_input_is_overruled(by_hand: bool) -> None:
    mine = control.ScreamController(PLANT, horizon=50, scale="certified", memory=4)
    first = control.simulate(PLANT, mine, UNIT, 0.1 * ROWS[:10])
    assert mine.guarantee.startswith("Theorem 7")
    if by_hand:
        u = mine.act(first.final_state)
        mine.observe(UNIT, applied=u + 0.25)
        assert mine.guarantee.startswith("None any more: an input that was applied differs by 0.25")
    else:
        plant = control.LinearSystem(PLANT.A, PLANT.B, input_limit=1e-3)
        control.simulate(plant, mine, UNIT, 0.1 * ROWS[:10], start=first.final_state)
        assert mine.guarantee.startswith("None any more: an input that was applied differs")
    assert mine.clone().guarantee == mine.guarantee


def test_no_bound_is_claimed_on_a_plant_that_is_not_linear() -> None:
    for name in ("varying", "pendulum", "limited"):
        mine = SCREAM(PLANTS[name], horizon=50, scale="certified", memory=4)
        assert mine.guarantee.startswith("No bound on the regret is proved for a plant that is not linear")


def test_a_guarantee_with_constants_of_ones_own_is_withdrawn_when_a_gradient_is_larger() -> None:
    mine = SCREAM(PLANT, horizon=60, memory=4, gradient_bound=1e-3)
    assert mine.guarantee.startswith("Theorem 7")
    control.simulate(PLANT, mine, UNIT, ROWS)
    assert mine.guarantee.startswith("None any more: a gradient of norm")
    assert mine.guarantee.endswith("gradients of at most 0.001.")


@pytest.mark.parametrize("scale", ["certified", "theory"])
@pytest.mark.parametrize("by_hand", [False, True])
def test_a_guarantee_is_withdrawn_when_costs_are_steeper_than_was_said(scale: str, by_hand: bool) -> None:
    mine = control.ScreamController(PLANT, horizon=50, scale=scale, memory=4)
    rows = 0.1 * np.ones((8, 2))
    first = control.simulate(PLANT, mine, UNIT, rows)
    assert mine.guarantee.startswith("Theorem 7")
    steep = squares(5.0) if by_hand else control.QuadraticCost(5.0, 5.0)
    with pytest.raises(InputError):
        mine.act(np.full(2, np.inf))
    control.simulate(PLANT, mine, steep, rows, start=first.final_state)
    assert mine.guarantee.startswith("None any more: a cost's gradient was 10 times as large")
    assert "cost_gradient of at most 2" in mine.guarantee
    assert mine.clone().guarantee == mine.guarantee


@pytest.mark.parametrize("name", ["gradient", "Scream", "lazy Scream"])
def test_a_guarantee_is_withdrawn_when_the_plant_does_not_start_at_the_origin(name: str) -> None:
    mine = LEARNING[name](PLANT, horizon=50, scale="certified", memory=4)
    assert mine.objection() is None
    mine.act([3e4, 4e4])
    assert mine.guarantee == (
        "None any more: the plant began in a state of norm 5e+04, and the theorem is for x_0 = 0."
    )
