"""Composition: the named learners are a few lines of parts, and so is a new one."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import driftwise as dw
from driftwise._validate import Array
from driftwise.domains import Domain
from driftwise.errors import ParameterError
from driftwise.learners import Ensemble, Meta, Pool, Surrogate
from tests.cases import DOMAINS, by_hand, check_refused, paper_pool, squared

BALL = dw.Ball(2)


def compose_ader(domain: Domain, gradient_bound: float, horizon: int | None) -> Ensemble:
    """Ader (Zhang, Lu, Zhou 2018) from parts; all rates are per root round."""
    D, G = domain.diameter, gradient_bound
    return Ensemble(
        domain,
        # N = ceil(log2(1 + 4T/7) / 2) + 1 step sizes, each twice the one before.
        pool=Pool(steps=(D / G) * math.sqrt(7 / 2), growth=4 / 7),
        # Hedge on top, with the prior 1 / (i (i + 1)).
        meta=Meta(rate=math.sqrt(2) / (G * D)),
        # One gradient a round, shared by all; moving is free.
        surrogate=Surrogate(switching_cost=0.0, gradients="shared"),
        horizon=horizon,
    )


@pytest.mark.parametrize("horizon", [70, None])
@pytest.mark.parametrize("where", DOMAINS)
def test_ader_composed_from_parts_equals_ader(where: str, horizon: int | None) -> None:
    domain, losses = DOMAINS[where], squared(DOMAINS[where].dim, 70)
    composed = dw.play(compose_ader(domain, 2.0, horizon), losses, 1.0)
    ader = dw.play(dw.Ader(domain, gradient_bound=2.0, horizon=horizon), losses, 1.0)
    np.testing.assert_array_equal(composed.decisions, ader.decisions)
    assert composed.total == ader.total


def test_a_pool_given_outright_is_used_per_root_round() -> None:
    parts: dict[str, Any] = {"pool": Pool([0.1, 0.5, 0.7])}
    np.testing.assert_allclose(Ensemble(BALL, **parts, horizon=25).step_sizes, [0.02, 0.1, 0.14], rtol=1e-15)
    np.testing.assert_allclose(Ensemble(BALL, **parts, constant=True).step_sizes, [0.1, 0.5, 0.7], rtol=1e-15)


@pytest.mark.parametrize("horizon", [100, None])
def test_a_growing_pool_with_constant_rates_has_the_size_for_its_horizon(horizon: int | None) -> None:
    learner = Ensemble(BALL, pool=Pool(0.1, growth=1.0), horizon=horizon, constant=True)
    count = paper_pool(horizon or 2**53, 1.0)
    np.testing.assert_allclose(learner.step_sizes, 0.1 * 2.0 ** np.arange(count), rtol=1e-15)


@pytest.mark.parametrize("prior", [[3.0, 1.0], [1e-300, 1e100]])
def test_a_prior_is_normalised(prior: list[float]) -> None:
    learner = Ensemble(BALL, pool=Pool([0.1, 0.5]), meta=Meta(prior=prior), horizon=4)
    np.testing.assert_allclose(learner.weights, np.array(prior) / sum(prior), rtol=1e-12)


def test_without_a_rate_the_weights_stay_and_every_base_learner_is_gradient_descent() -> None:
    losses = dw.LinearLoss(np.random.default_rng(2).uniform(-1.0, 1.0, (30, 2)))
    learner = Ensemble(BALL, pool=Pool([0.1, 0.5]), meta=Meta(prior=[1.0, 3.0]), constant=True)
    alone = [by_hand(dw.OGD(BALL, step=step), losses) for step in (0.1, 0.5)]
    for t in range(30):
        np.testing.assert_allclose(learner.base_decisions, [alone[0][t], alone[1][t]], rtol=0.0, atol=1e-14)
        np.testing.assert_allclose(learner.act(), 0.25 * alone[0][t] + 0.75 * alone[1][t], rtol=0.0, atol=1e-14)
        learner.observe(losses)


def test_what_is_handed_out_is_a_copy() -> None:
    learner = Ensemble(BALL, pool=Pool([0.1, 0.5]), horizon=4)
    before = learner._state.copy()
    for part in (learner.weights, learner.step_sizes, learner.base_decisions):
        part[...] = 9.0
    assert np.array_equal(learner._state, before)
    assert learner.step_sizes.tolist() == [0.05, 0.25]


GOOD: dict[str, Any] = {"pool": Pool([0.1, 0.2]), "horizon": 9}


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        (lambda: {"pool": 0.1}, ("pool must be a Pool", "got 0.1")),
        (lambda: {"pool": Pool("fast")}, ("Pool: steps", "dtype <U4")),
        (lambda: {"pool": Pool([0.1, 0.0])}, ("Pool: steps must be above 0", "0")),
        (lambda: {"pool": Pool([0.2, 0.1])}, ("Pool: steps must not decrease", "0.2")),
        (lambda: {"pool": Pool(0.1, grow=1.0)}, ("Pool: ", "'grow'", "Did you mean growth?")),  # type: ignore[call-arg]
        (lambda: {"pool": Pool([[0.1]])}, ("Pool: steps", "shape (1, 1)")),
        (lambda: {"pool": Pool([math.nan])}, ("Pool: steps", "nan")),
        (lambda: {"pool": Pool([0.1, 0.2], growth=1.0)}, ("Pool: steps", "single", "got [0.1, 0.2]")),
        (lambda: {"pool": Pool(0.1, growth=-1.0)}, ("Pool: growth", "got -1.0")),
        (lambda: {"pool": Pool(0.1, growth=math.nan)}, ("Pool: growth", "got nan")),
        (lambda: {"pool": Pool(True, growth=1.0)}, ("Pool: steps", "got True")),
        (lambda: {"pool": Pool(1e99, growth=1.0), "horizon": 900}, ("step sizes", "1e+100")),
        (lambda: {"meta": 0}, ("meta must be a Meta", "got 0")),
        (lambda: {"meta": Meta(-0.1)}, ("rate", "got -0.1")),
        (lambda: {"meta": Meta(prior=[1.0])}, ("Meta: prior", "shape (1,)")),
        (lambda: {"meta": Meta(prior=[1.0, 0.0])}, ("Meta: prior must be positive", "0")),
        (lambda: {"surrogate": 2.0}, ("surrogate must be a Surrogate", "got 2.0")),
        (lambda: {"surrogate": Surrogate(-2.0)}, ("switching_cost", "got -2.0")),
        (
            lambda: {"surrogate": Surrogate(gradients="mine")},
            ("gradients must be one of 'shared', 'own'", "got 'mine'"),
        ),
        (lambda: {"surrogate": Surrogate(gradients="own"), "epoch": 2}, ("gradients='own'", "epoch=2")),
        (lambda: {"base": "euclidean"}, ("base must be a MirrorMap", "got 'euclidean'")),
        (lambda: {"base": dw.mirror.NegativeEntropy()}, ("must be a Simplex", "Ball(2")),
        (lambda: {"epoch": 0}, ("epoch", "got 0")),
        (lambda: {"constant": "yes"}, ("constant", "got 'yes'")),
    ],
)
def test_bad_parts_are_refused_by_name(changed: Callable[[], dict[str, Any]], words: tuple[str, ...]) -> None:
    check_refused(lambda: Ensemble(BALL, **{**GOOD, **changed()}), *words)


def test_the_parts_themselves_are_frozen() -> None:
    with pytest.raises(AttributeError):
        Pool(0.1).growth = 2.0  # type: ignore[misc]
    check_refused(lambda: Ensemble(dw.Simplex(1), **GOOD), "Simplex(1", "single point", kind=ParameterError)


class Reversed(dw.OGD):
    """Hands the engine an array that its kernels do not read as it is."""

    shown = slice(None, None, -1)

    def _learn(self, gradient: Array) -> None:
        super()._learn(gradient[self.shown])


def test_what_a_subclass_hands_on_is_read_by_its_own_strides() -> None:
    learner = Reversed(dw.Box([-9.0] * 3, [9.0] * 3), step=1.0)
    learner.act()
    learner.observe([1.0, 2.0, 3.0])
    np.testing.assert_array_equal(learner.act(), [-3.0, -2.0, -1.0])


class Short(Reversed):
    shown = slice(0, 1)


def test_a_gradient_that_a_subclass_has_cut_is_refused() -> None:
    learner = Short(dw.Box([-9.0] * 3, [9.0] * 3), step=1.0)
    learner.act()
    before = learner._state.copy()
    check_refused(lambda: learner.observe([1.0, 2.0, 3.0]), "Short._learn: gradient", "(3,)")
    assert np.array_equal(learner._state, before)
