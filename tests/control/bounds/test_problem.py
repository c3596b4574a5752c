"""What a bound is computed from."""

import numpy as np
import pytest

from driftwise import control
from driftwise.control.bounds.problem import radii_by_memory, read_memory, read_problem, truncation_share
from driftwise.control.bounds.response import CertifiedResponse
from driftwise.control.policies.scales import theory_radii
from driftwise.errors import ParameterError
from tests.cases import check_refused
from tests.control.bounds.cases import SCALES, drawn_policies, pushes, random_case, some_state
from tests.control.cases import PLANT, roll

K = control.lqr(PLANT)


@pytest.mark.parametrize("scale", SCALES)
def test_no_state_or_input_is_beyond_its_reach(scale: str) -> None:
    for seed in range(60):
        rng = np.random.default_rng(seed)
        case = random_case(rng)
        start = rng.uniform(0.0, 2.0)
        window, x_0 = drawn_policies(rng, case, case.rounds), some_state(rng, case.K.shape[1], start)
        states, inputs = roll(case.system, case.K, window, pushes(rng, case), x_0)
        shared = {"memory": case.memory, "radii": case.radii, "disturbance_bound": case.disturbance_bound}
        problem = read_problem("test", case.system, horizon=9, K=case.K, scale=scale, **shared)  # type: ignore[arg-type]
        assert np.linalg.norm(states[:-1], axis=1).max() <= problem.reach(start)[0] * (1.0 + 1e-12)
        assert np.linalg.norm(inputs, axis=1).max() <= problem.reach(start)[1] * (1.0 + 1e-12)


def test_radii_are_the_usual_ones_a_number_or_given() -> None:
    problem = read_problem("test", PLANT, horizon=9, memory=4)
    np.testing.assert_allclose(problem.domain.radii, theory_radii(control.certify(PLANT, K), 4))
    assert radii_by_memory("test", 0.5, lambda H: np.ones(H))(3) == pytest.approx([0.5] * 3)
    np.testing.assert_array_equal(radii_by_memory("test", [1.0, 2.0], lambda H: np.ones(H))(2), [1.0, 2.0])


def test_a_memory_that_is_given_asks_for_no_sums() -> None:
    def never() -> CertifiedResponse:
        raise AssertionError

    assert read_memory("test", 5, None, never, lambda H: np.ones(H)) == 5
    check_refused(lambda: read_memory("test", "log", None, never, lambda H: np.ones(H)), kind=ParameterError)


def test_the_share_of_truncation_knows_neither_disturbances_nor_costs() -> None:
    response = CertifiedResponse(PLANT, K)
    for W, G_c in ((1.0, 2.0), (0.1, 7.0)):
        problem = read_problem("test", PLANT, horizon=99, memory=5, disturbance_bound=W, cost_gradient=G_c)
        error = control.bounds.truncation_error(PLANT, horizon=99, memory=5, disturbance_bound=W, cost_gradient=G_c)
        share = truncation_share(99, response, 5, problem.total)
        assert share == pytest.approx(error / (G_c * max(problem.reach()) ** 2))
