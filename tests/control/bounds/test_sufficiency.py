"""How well policies imitate linear controllers: against costs on random plants."""

import numpy as np
import pytest

from driftwise import control
from driftwise.control.bounds import sufficiency
from driftwise.errors import ParameterError, StabilityError
from tests.cases import check_refused
from tests.control.bounds.cases import SCALES, pushes, random_case
from tests.control.cases import PLANT, roll

COST = control.QuadraticCost(1.0, 1.0)


@pytest.mark.parametrize("scale", SCALES)
def test_no_imitation_costs_more_than_its_bound(scale: str) -> None:
    ratios = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        case = random_case(rng)
        target = control.lqr(case.system, 1.0, float(10.0 ** rng.uniform(-2, 2)))
        closed = case.system.A - case.system.B @ target
        rows = pushes(rng, case, np.linalg.svd(closed)[2][0])
        imitation = control.DisturbanceAction.matching(case.system, case.K, target, case.memory)
        mine = control.policy_costs((case.system, COST, rows), imitation).sum()
        nothing = np.zeros((case.rounds, 1, *target.shape))
        states, inputs = roll(case.system, target, nothing, rows, np.zeros(len(closed)))
        other = sum(COST.value(x, u) for x, u in zip(states[:-1], inputs, strict=True))
        bound = sufficiency(
            case.system,
            target,
            horizon=case.rounds,
            memory=case.memory,
            K=case.K,
            scale=scale,
            disturbance_bound=case.disturbance_bound,
        )
        assert mine - other <= bound * (1.0 + 1e-12) + 1e-9
        ratios.append((mine - other) / bound if bound else 0.0)
    if scale == "certified":
        assert max(ratios) > 0.02


@pytest.mark.parametrize("seed", range(10))
def test_the_imitation_is_within_the_radii_of_both_certificates(seed: int) -> None:
    rng = np.random.default_rng(seed)
    case = random_case(rng)
    target = control.lqr(case.system, 1.0, 0.1)
    found = control.certify(case.system, case.K), control.certify(case.system, target)
    kappa = max(each.kappa for each in found)
    imitation = control.DisturbanceAction.matching(case.system, case.K, target, 12)
    radii = 2.0 * kappa**3 * (1.0 - found[1].gamma) ** np.arange(12)
    assert (np.linalg.norm(imitation.M, 2, axis=(1, 2)) <= radii * (1.0 + 1e-9)).all()


def test_a_gain_imitates_itself_for_nothing() -> None:
    assert sufficiency(PLANT, control.lqr(PLANT), horizon=100, memory=1) == 0.0


def test_nothing_is_missed_before_the_memory_is_full() -> None:
    target = [[0.2, 0.8]]
    assert sufficiency(PLANT, target, horizon=6, memory=5) == 0.0
    assert sufficiency(PLANT, target, horizon=7, memory=5) > 0.0


def test_bad_arguments_are_refused() -> None:
    check_refused(lambda: sufficiency(PLANT, [[0.0, 0.0]], horizon=9, memory=3), kind=StabilityError)
    check_refused(lambda: sufficiency(PLANT, [[0.2, 0.8]], horizon=9, memory=0), "memory", kind=ParameterError)
    check_refused(lambda: sufficiency(PLANT, [[0.2, 0.8]], horizon=9, memory=3, scale="measured"), "scale")
