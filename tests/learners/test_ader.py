"""Ader: its constants, and what its two variants take."""

import math

import numpy as np
import pytest

import driftwise as dw
from driftwise.errors import InputError
from tests.cases import check_refused, knowledge, paper_pool, squared

G, RADIUS = 2.5, 0.7
D = 2.0 * RADIUS


@pytest.mark.parametrize("variant", ["improved", "original"])
@pytest.mark.parametrize("T", [1, 7, 100, 4096])
def test_pool_prior_and_rate_are_those_of_the_paper(T: int, variant: str) -> None:
    learner = dw.Ader(dw.Ball(3, radius=RADIUS), gradient_bound=G, horizon=T, variant=variant)
    i = np.arange(1, paper_pool(T, 4.0 / 7.0) + 1)
    np.testing.assert_allclose(learner.step_sizes, 2.0 ** (i - 1) * (D / G) * math.sqrt(7.0 / (2.0 * T)), rtol=1e-14)
    np.testing.assert_allclose(learner.weights, (i.size + 1) / i.size / (i * (i + 1)), rtol=1e-14)
    rate = learner.program.rate / math.sqrt(learner.program.clock)
    assert rate == pytest.approx(math.sqrt(2.0 / (T * G**2 * D**2)), rel=1e-14)
    assert learner.program.switching_cost == 0.0


def test_the_original_variant_judges_every_base_learner_at_its_own_point() -> None:
    losses = squared(3, 40)
    learner = dw.Ader(dw.Ball(3), gradient_bound=2.0, horizon=40, variant="original")
    rate = math.sqrt(2.0 / (40 * 4.0 * 4.0))
    totals, prior = np.zeros(learner.weights.size), learner.weights
    for t in range(40):
        learner.act()
        totals += [losses.unary_value(t, point) for point in learner.base_decisions]
        learner.observe(losses[t])
        expected = prior * np.exp(-rate * totals)
        np.testing.assert_allclose(learner.weights, expected / expected.sum(), rtol=1e-12)


def test_the_original_variant_needs_a_loss() -> None:
    learner = dw.Ader(dw.Ball(2), gradient_bound=1.0, horizon=5, variant="original")
    learner.act()
    before = knowledge(learner)
    check_refused(lambda: learner.observe([1.0, 0.0]), "Ader.observe", "value(w)", "got list", kind=InputError)

    class OnlyGradient:
        def gradient(self, w: object) -> list[float]:
            return [1.0, 0.0]

    check_refused(lambda: learner.observe(OnlyGradient()), "OnlyGradient", kind=InputError)  # type: ignore[arg-type]
    assert knowledge(learner) == before


@pytest.mark.parametrize("value", [math.nan, math.inf, 1e200, "a", None, [1.0]])
def test_the_original_variant_refuses_bad_values(value: object) -> None:
    class BadValue:
        def value(self, w: object) -> object:
            return value

        def gradient(self, w: object) -> list[float]:
            return [1.0, 0.0]

    learner = dw.Ader(dw.Ball(2), gradient_bound=1.0, horizon=5, variant="original")
    learner.act()
    before = knowledge(learner)
    check_refused(lambda: learner.observe(BadValue()), "Ader.observe: value", kind=InputError)  # type: ignore[arg-type]
    assert knowledge(learner) == before
