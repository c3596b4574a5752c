"""What truncation costs, against costs on plants and truncated losses; and a memory that keeps it small."""

import math

import numpy as np
import pytest

from driftwise import control
from driftwise.control.bounds import log_memory, truncation_error
from driftwise.control.bounds.problem import read_problem
from driftwise.control.bounds.truncation import truncation
from driftwise.errors import ParameterError, StabilityError
from tests.cases import check_refused
from tests.control.bounds.cases import SCALES, pushes, random_case, some_state
from tests.control.cases import PLANT, policies, roll

COST = control.QuadraticCost(1.0, 1.0)


def gaps(seed: int, scale: str, start: float = 0.0) -> tuple[float, float]:
    """Return the error of changing policies on a random plant, and its bound, for one of the two sides."""
    rng = np.random.default_rng(seed)
    case = random_case(rng)
    H, T, (du, dx) = case.memory, case.rounds, case.K.shape
    held = policies(rng, 1 if seed % 2 else T, H, du, dx, case.radii)
    window = np.repeat(held, T, axis=0) if seed % 2 else held
    rows = pushes(rng, case)
    states, inputs = roll(case.system, case.K, window, rows, some_state(rng, dx, start))
    losses = control.TruncatedLosses(case.system, COST, rows, memory=H, K=case.K)
    padded = np.concatenate([np.repeat(window[:1], H + 1, axis=0), window])
    truncated = [losses._value(t, padded[t : t + H + 2].reshape(H + 2, -1)) for t in range(T)]
    true = [COST.value(x, u) for x, u in zip(states[:-1], inputs, strict=True)]
    sizes = {"disturbance_bound": case.disturbance_bound, "cost_gradient": 2.0, "start": start}
    bound = truncation_error(case.system, horizon=T, memory=H, K=case.K, radii=case.radii, scale=scale, **sizes)
    return abs(sum(true) - sum(truncated)), 0.5 * bound


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("start", [0.0, 3.0])
def test_no_truncation_costs_more_than_its_bound(scale: str, start: float) -> None:
    ratios = []
    for seed in range(40):
        gap, bound = gaps(seed, scale, start)
        assert gap <= bound * (1.0 + 1e-12) + 1e-12
        ratios.append(gap / bound if bound else 0.0)
    if scale == "certified":
        assert max(ratios) > 0.05  # it is not idle


def test_the_bound_can_be_reached_up_to_a_factor() -> None:
    """One state, a loop that does not change sign, a constant push: everything adds up."""
    plant = control.LinearSystem(0.8, 1.0)
    T, H = 4000, 3
    bound = truncation_error(plant, horizon=T, memory=H, K=0.0, radii=1e-6, cost_gradient=2.0)
    x = 1.0 / (1.0 - 0.8)
    y = (1.0 - 0.8 ** (H + 1)) * x
    assert 0.4 * bound / 2.0 < T * (x * x - y * y) <= bound / 2.0


def test_there_is_no_error_before_anything_is_forgotten() -> None:
    for T in (1, 5, 6):
        assert truncation_error(PLANT, horizon=T, memory=4) == 0.0
    assert truncation_error(PLANT, horizon=7, memory=4) > 0.0


def test_by_hand() -> None:
    plant = control.LinearSystem(0.5, 2.0)
    error = truncation_error(
        plant, horizon=12, memory=2, K=0.0, radii=0.25, disturbance_bound=3.0, cost_gradient=4.0, start=1.0
    )
    # sum_j |A^j| = 2, sum_j |A^j B| = 4, their tails beyond 2 an eighth; R = 0.5, so |x| <= 3 (2 + 2) + 1, |u| <= 1.5.
    assert error == pytest.approx(2.0 * 4.0 * 13.0 * (8.0 * 3.0 * (0.25 + 0.25) + 2.0))


@pytest.mark.parametrize("scale", SCALES)
def test_the_memory_that_goes_with_a_horizon_is_the_least(scale: str) -> None:
    for T in (2, 10, 1000, 10**6):
        H = log_memory(PLANT, horizon=T, scale=scale)
        for memory in (H - 1, H):
            if memory:
                problem = read_problem("test", PLANT, horizon=T, memory=memory, scale=scale)
                limit = problem.cost_gradient * max(problem.reach()) ** 2
                assert (truncation(problem, T) <= limit) == (memory == H)


def test_it_grows_like_the_logarithm() -> None:
    found = [log_memory(PLANT, horizon=10**k) for k in range(2, 9)]
    steps = np.diff(found)
    assert (steps >= 1).all()
    assert steps.max() <= 4
    problem = read_problem("test", PLANT, horizon=10**8)
    assert problem.memory == found[-1]
    assert truncation(problem, 10**8) <= 2.0 * max(problem.reach()) ** 2


def test_a_loop_that_hardly_forgets_is_refused() -> None:
    plant = control.LinearSystem(1.0 - 1e-5, 1.0)
    assert log_memory(plant, horizon=100, K=0.0) == 98
    check_refused(lambda: log_memory(plant, horizon=10**6, K=0.0), "forgets so slowly", kind=ParameterError)


def test_bad_arguments_are_refused() -> None:
    check_refused(lambda: truncation_error(PLANT, horizon=0), "horizon", kind=ParameterError)
    check_refused(lambda: truncation_error(PLANT, horizon=9, memory=0), "memory", kind=ParameterError)
    check_refused(lambda: truncation_error(PLANT, horizon=9, scale="measured"), "'certified', 'theory'")
    check_refused(lambda: truncation_error(PLANT, horizon=9, start=-1.0), "start", kind=ParameterError)
    check_refused(lambda: truncation_error(PLANT, horizon=9, K=[[0.0, 0.0]]), kind=StabilityError)
    check_refused(lambda: log_memory(PLANT, horizon=9, radii=math.nan), "radii", kind=ParameterError)
