"""Compiled loops over the rounds of a stream, against plain NumPy."""

import numpy as np
import pytest

from driftwise._validate import Array
from driftwise.losses import kernels
from tests.optimum.problems import DIM, GENERAL, QUADRATIC, built_in, held, round_losses

ROUNDS = 17
KINDS = (*QUADRATIC, *GENERAL, "capacity")


def decisions() -> Array:
    return np.random.default_rng(0).standard_normal((ROUNDS, DIM))


@pytest.mark.parametrize("kind", KINDS)
def test_policy_values_are_the_losses_of_the_windows(kind: str) -> None:
    losses, w, found = built_in(kind, ROUNDS), decisions(), np.empty(ROUNDS)
    kernels.policy_values(*losses._parts, 0, w, found)
    np.testing.assert_allclose(found, round_losses(losses, w), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("kind", KINDS)
def test_unary_values_are_those_of_decisions_that_are_held(kind: str) -> None:
    losses, w, found = built_in(kind, ROUNDS), decisions(), np.empty(ROUNDS)
    expected = [held(losses, w[t])[t] for t in range(ROUNDS)]
    kernels.unary_values(*losses._parts, 0, w, found)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14)
    kernels.unary_values(*losses._parts, 0, w[3:4].copy(), found)
    np.testing.assert_allclose(found, held(losses, w[3]), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rows", [1, ROUNDS])
def test_unary_gradients_are_differences_of_values(kind: str, rows: int) -> None:
    losses, w, found = built_in(kind, ROUNDS), decisions()[:rows], np.empty((ROUNDS, DIM))
    kernels.unary_gradients(*losses._parts, 0, w, found)
    for t in range(ROUNDS):
        at = w[min(t, rows - 1)]
        for k, step in enumerate(1e-6 * np.eye(DIM)):
            slope = (held(losses, at + step)[t] - held(losses, at - step)[t]) / 2e-6
            assert found[t, k] == pytest.approx(slope, abs=1e-7)
