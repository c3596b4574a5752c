"""What estimators see: slopes and gradients of the clipped loss, in the units of the features."""

import numpy as np
import pytest

import driftwise as dw
from driftwise.errors import InputError, ParameterError
from driftwise.estimators import EACH, SCORE, Kalman, Newton, Seen, SelfTunedScream, Smoothing
from tests.cases import check_refused
from tests.estimators.agreement import LEVELS, SCORES, problem, rounds_of


@pytest.mark.parametrize("kind", SCORES)
def test_slopes_are_those_of_the_loss_in_units_of_its_curvature(kind: str) -> None:
    domain, losses = problem(kind, 3)
    for t, (seen, _) in enumerate(rounds_of(Smoothing(), domain, losses)):
        w = np.array([0.3, -0.2, 0.1])
        root, clipped = (
            np.sqrt(seen.curve),
            t in (0, 60) or not np.allclose(seen.features, np.sqrt(seen.curve) * losses.data.features[t]),
        )
        if not clipped and (kind == "logistic" or seen.targets[0] == losses.data.targets[t]):
            np.testing.assert_allclose(seen.gradient(w), losses.gradient(t, w), rtol=1e-9, atol=1e-12)
            score = float(seen.features @ w)
            assert root * seen.slope(score) * losses.data.features[t] == pytest.approx(losses.gradient(t, w))
        assert seen.error(0.4) == -seen.slope(0.4)
    assert not clipped


@pytest.mark.parametrize("kind", LEVELS)
def test_a_loss_of_each_coordinate_has_a_slope_in_each(kind: str) -> None:
    domain, losses = problem(kind, 3)
    rounds = list(rounds_of(Smoothing(), domain, losses))
    same = [np.array_equal(seen.targets, losses.data.features[t]) for t, (seen, _) in enumerate(rounds)]
    assert 100 < sum(same) < 150
    assert same[-1]
    for point in (np.array([1.0, 4.0, 9.0]), np.array([7.0, 0.0, 5.0])):
        np.testing.assert_allclose(rounds[-1][0].slope(point), losses.gradient(149, point))
        np.testing.assert_allclose(rounds[-1][0].gradient(point), losses.gradient(149, point))


def test_a_glitch_is_not_seen() -> None:
    domain, losses = problem("squared", 3)
    targets = [seen.targets[0] for seen, _ in rounds_of(Kalman(), domain, losses)]
    assert abs(losses.data.targets[60]) > 30.0
    assert abs(targets[60]) < 0.5 * abs(losses.data.targets[60])
    assert (np.array(targets) == losses.data.targets).mean() > 0.9


def test_where_there_is_only_a_gradient_its_direction_is_the_feature() -> None:
    domain, losses = problem("linear", 3)
    *_, (seen, _) = rounds_of(Newton(), domain, losses)
    g = losses.data.features[-1]
    np.testing.assert_allclose(seen.targets, g)
    np.testing.assert_allclose(seen.features, g / np.linalg.norm(g))
    np.testing.assert_allclose(seen.gradient(np.zeros(3)), g)
    assert seen.scales.sum() == pytest.approx(1.0)
    check_refused(lambda: seen.slope(0.0), "Seen.slope", "nothing is known", kind=ParameterError)


def test_on_a_simplex_the_tangent_sums_to_nothing() -> None:
    *_, (seen, _) = rounds_of(SelfTunedScream(), dw.Simplex(4), problem("squared", 4)[1])
    assert seen.tangent.sum() == pytest.approx(0.0, abs=1e-12)
    assert np.ptp(seen.features - seen.tangent) == pytest.approx(0.0, abs=1e-12)
    assert np.ptp(seen.scales) == 0.0


def test_slopes_are_asked_for_at_numbers() -> None:
    *_, (seen, _) = rounds_of(Smoothing(), *problem("tracking", 3))
    check_refused(lambda: seen.slope(np.zeros(2)), "Seen.slope: z must be", "(3,)", kind=InputError)


def test_rounds_made_by_hand() -> None:
    seen = Seen.of_levels(4, [1.0, 2.0])
    assert (seen.kind.form, seen.kind.dim, seen.rounds, seen.curve) == (EACH, 2, 4, 1.0)
    np.testing.assert_array_equal(seen.gradient(np.array([3.0, 3.0])), [2.0, 1.0])
    seen = Seen.of_score(0, [1.0, 2.0], 3.0, scales=[1.0, 4.0])
    assert (seen.kind.form, seen.error(1.0), seen.sizes.tolist(), seen.median) == (SCORE, 2.0, [2.5, 2.5], 2.5)
    np.testing.assert_array_equal(seen.gradient(np.array([1.0, 0.0])), [-2.0, -4.0])
    check_refused(lambda: Seen.of_levels(0, [[1.0]]), "Seen.of_levels: targets", kind=InputError)
    check_refused(lambda: Seen.of_levels(-1, [1.0]), "Seen: rounds", kind=ParameterError)
    check_refused(lambda: Seen.of_score(0, [1.0], 1.0, scales=[1.0, 2.0]), "Seen.of_score: scales", kind=InputError)
