"""Mirror descent: the step solves the problem that defines it, in every geometry."""

import math

import numpy as np
import pytest

import driftwise as dw
from driftwise.errors import ParameterError
from driftwise.mirror import Euclidean, MirrorMap, NegativeEntropy, PNorm
from tests.cases import by_hand, check_refused, maker, squared, stream

T = 50
BOX = dw.Box([-1.0, 0.0, 0.5], [1.0, 0.5, 2.0])
SIMPLEX = dw.Simplex(3, scale=2.0)
CASES: list[tuple[MirrorMap, dw.Domain]] = [
    (Euclidean(), BOX),
    (Euclidean(), SIMPLEX),
    (Euclidean(), dw.Ball(3)),
    (NegativeEntropy(), SIMPLEX),
    *[(PNorm(p), domain) for p in (1.2, 1.5, 2.0) for domain in (BOX, SIMPLEX)],
]


@pytest.mark.parametrize(("mirror", "domain"), CASES, ids=repr)
def test_every_step_is_optimal_for_the_problem_that_defines_it(mirror: MirrorMap, domain: dw.Domain) -> None:
    losses, eta = squared(3, T), 0.4
    decisions = by_hand(dw.MirrorDescent(domain, mirror=mirror, step=eta), losses)
    assert np.ptp(decisions, axis=0).max() > 0.05
    for t in range(T - 1):
        w, after = decisions[t], decisions[t + 1]
        slope = eta * losses.gradient(t, w) + mirror.gradient(after, domain) - mirror.gradient(w, domain)
        # First-order optimality: no decision of the domain lies further down the slope.
        assert slope @ after <= -domain.support(-slope) + 1e-9


def test_the_euclidean_map_gives_gradient_descent() -> None:
    losses = squared(3, T)
    ogd = by_hand(dw.OGD(dw.Ball(3), step=0.3), losses)
    np.testing.assert_array_equal(by_hand(dw.MirrorDescent(dw.Ball(3), step=0.3), losses), ogd)


def test_the_p_norm_with_p_2_gives_gradient_descent() -> None:
    losses = squared(3, T)
    ogd = by_hand(dw.OGD(BOX, step=0.3), losses)
    pnorm = by_hand(dw.MirrorDescent(BOX, mirror=PNorm(2.0), step=0.3), losses)
    np.testing.assert_allclose(pnorm, ogd, rtol=0.0, atol=1e-12)


@pytest.mark.parametrize("schedule", ["step", "horizon", "time-varying", "doubling"])
def test_negative_entropy_gives_hedge(schedule: str) -> None:
    losses = stream("linear", 4, T)
    rate = math.sqrt(math.log(4.0))
    settings = {
        "step": ({"step": 0.3}, {"rate": 0.3}),
        "horizon": ({"gradient_bound": 1.0, "horizon": T}, {"loss_bound": 1.0, "horizon": T}),
        "time-varying": ({"gradient_bound": 1.0}, {"loss_bound": 1.0}),
        "doubling": (
            {"gradient_bound": 1.0, "horizon_free": "doubling"},
            {"loss_bound": 1.0, "horizon_free": "doubling"},
        ),
    }
    for_mirror, for_hedge = settings[schedule]
    descent = dw.MirrorDescent(dw.Simplex(4), mirror=NegativeEntropy(), **for_mirror)  # type: ignore[arg-type]
    hedge = dw.Hedge(4, **for_hedge)  # type: ignore[arg-type]
    if schedule != "step":
        assert descent.step_sizes * math.sqrt(T if schedule == "horizon" else 1.0) == pytest.approx([rate])
    np.testing.assert_allclose(by_hand(descent, losses), by_hand(hedge, losses), rtol=0.0, atol=1e-14)


@pytest.mark.parametrize(
    ("mirror", "domain", "radius_squared"),
    [
        (Euclidean(), dw.Ball(3), 2.0),
        (NegativeEntropy(), SIMPLEX, 4.0 * math.log(3.0)),
        (PNorm(2.0), dw.Box([-1.0, -1.0], [1.0, 1.0]), 1.0),
    ],
    ids=repr,
)
def test_the_default_step(mirror: MirrorMap, domain: dw.Domain, radius_squared: float) -> None:
    learner = dw.MirrorDescent(domain, mirror=mirror, gradient_bound=2.0, horizon=T, switching_cost=3.0)
    np.testing.assert_allclose(learner.step_sizes, [math.sqrt(radius_squared / (10.0 * T))], rtol=1e-14)


def test_default_step_is_never_shorter_than_gradient_descent_by_more_than_the_radius_says() -> None:
    ogd, descent = maker("OGD", dw.Ball(3), T)(), maker("MirrorDescent", dw.Ball(3), T)()
    assert descent.step_sizes * math.sqrt(2.0) == pytest.approx(ogd.step_sizes)


@pytest.mark.parametrize(
    ("mirror", "domain", "start", "words"),
    [
        (NegativeEntropy(), dw.Ball(3), None, ("Simplex", "Ball(3")),
        (PNorm(1.5), dw.Ball(3), None, ("Box or a Simplex", "Ball(3")),
        (NegativeEntropy(), dw.Simplex(2), [1.0, 0.0], ("start must be positive", "[1. 0.]")),
        (PNorm(1.5), dw.Box([0.3, 0.1], [0.3, 0.1]), None, ("single point",)),
    ],
    ids=["entropy off the simplex", "p-norm on a ball", "entropy from a corner", "one point"],
)
def test_what_does_not_fit_together_is_refused(
    mirror: MirrorMap, domain: dw.Domain, start: list[float] | None, words: tuple[str, ...]
) -> None:
    check_refused(
        lambda: dw.MirrorDescent(domain, mirror=mirror, gradient_bound=1.0, start=start), *words, kind=ParameterError
    )


def test_a_step_or_a_bound_is_needed() -> None:
    check_refused(
        lambda: dw.MirrorDescent(dw.Ball(2)), "MirrorDescent: give gradient_bound", "step", kind=ParameterError
    )
