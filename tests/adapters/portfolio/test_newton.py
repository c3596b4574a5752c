"""The online Newton step, against the conditions of its projection and the paper's formulas."""

import numpy as np
import pytest

from driftwise.adapters.portfolio import OnlineNewton, backtest
from driftwise.adapters.portfolio.newton import nearest_in_norm
from driftwise.errors import ParameterError
from tests.adapters.portfolio.prices import relatives


@pytest.mark.parametrize("seed", range(40))
def test_the_projection_satisfies_its_conditions(seed: int) -> None:
    rng = np.random.default_rng(seed)
    d = int(rng.integers(2, 30))
    root = rng.normal(size=(d, d)) * 10.0 ** rng.uniform(-1, 2)
    A, b = root @ root.T + np.eye(d), rng.normal(size=d) * 10.0 ** rng.uniform(-2, 3)
    start = rng.dirichlet(np.ones(d)) if seed % 2 else np.eye(d)[0]
    p = nearest_in_norm(A, b, start)
    assert p.min() >= 0.0
    assert p.sum() == pytest.approx(1.0, abs=1e-12)
    slope = A @ p - b  # the same for all that are held, and no less for the others
    level = slope[p > 0.0]
    size = np.abs(b).max() + np.abs(A).max()
    assert np.ptp(level) <= 1e-9 * size
    assert slope.min() >= level.min() - 1e-9 * size


def test_its_decisions_are_those_of_the_paper() -> None:
    x, beta, delta = relatives(40), 2.0, 0.5
    rows = backtest(OnlineNewton(beta, delta), x).weights
    slopes = x / np.einsum("td,td->t", x, rows)[:, None]
    for t in (0, 1, 5, 39):
        A, b = np.eye(4) + slopes[:t].T @ slopes[:t], (1.0 + 1.0 / beta) * slopes[:t].sum(axis=0)
        expected = nearest_in_norm(A, delta * b, np.full(4, 0.25))
        np.testing.assert_allclose(rows[t], expected if t else np.full(4, 0.25), atol=1e-9)


@pytest.mark.parametrize("name", ["beta", "delta"])
def test_settings_are_above_zero(name: str) -> None:
    with pytest.raises(ParameterError, match=name):
        OnlineNewton(**{name: 0.0})
