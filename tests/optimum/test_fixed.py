"""The best fixed decision: against cvxpy, certain or refused."""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import driftwise as dw
from driftwise.errors import ArgumentError, ConvergenceError, InputError, ParameterError
from driftwise.optimum import best_fixed, fixed
from tests.cases import check_refused, custom
from tests.optimum.problems import CONES, DIM, DOMAINS, GENERAL, QUADRATIC, built_in, cheapest_held, held

SQUARED, BALL = built_in("squared", 10), dw.Ball(DIM)
FIXED: Any = best_fixed


@pytest.mark.parametrize(
    ("kind", "name"),
    [*itertools.product(QUADRATIC + GENERAL, CONES), *((kind, "spectral") for kind in (*QUADRATIC, "filtered"))],
)
def test_the_best_fixed_decision_agrees_with_cvxpy(kind: str, name: str) -> None:
    losses, domain = built_in(kind, 30), DOMAINS[name]
    found = best_fixed(losses, domain)
    assert found.shape == (DIM,)
    assert domain.contains(found)
    assert held(losses, found).sum() == pytest.approx(cheapest_held(losses, domain), rel=1e-7, abs=1e-7)


def test_a_users_own_losses_have_the_best_fixed_decision_of_the_same_losses_built_in() -> None:
    own = custom(3, 20, memory=2, compile="never")
    centers = np.array([-own.gradient(t, np.zeros(3)) for t in range(20)])
    expected = best_fixed(dw.TrackingLoss(centers), dw.Ball(3, radius=0.1))
    np.testing.assert_allclose(best_fixed(own, dw.Ball(3, radius=0.1)), expected, rtol=0.0, atol=1e-4)


def test_a_minimum_that_is_not_certain_is_not_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fixed, "minimise", lambda problem, domain: np.zeros((len(problem.b), DIM)))
    check_refused(lambda: best_fixed(built_in("squared", 9), BALL), "best_fixed", "gap", kind=ConvergenceError)


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (lambda: FIXED(SQUARED, dw.Ball(3)), InputError, ("best_fixed", "dim 4", "Ball(3")),
        (lambda: FIXED(SQUARED, "ball"), ParameterError, ("best_fixed", "domain", "got 'ball'")),
        (lambda: FIXED([1.0], BALL), ParameterError, ("best_fixed", "losses", "got [1.0]")),
        (lambda: FIXED(SQUARED, BALL, 3), ArgumentError, ("best_fixed",)),
    ],
)
def test_wrong_calls_are_refused_by_name(
    call: Callable[[], object], kind: type[Exception], words: tuple[str, ...]
) -> None:
    check_refused(call, *words, kind=kind)
