"""Costs written with jax.numpy, against those that are built in."""

import pickle
import warnings
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

from driftwise import control
from driftwise.control.costs import from_jax
from driftwise.errors import InputError, ParameterError
from driftwise.losses import DifferencesWarning
from tests.cases import check_refused

PLANT = control.double_integrator()
DX, DU = PLANT.state_dim, PLANT.input_dim
PUSHES = np.random.default_rng(5).uniform(-0.1, 0.1, (40, DX))


def square(x: Any, u: Any) -> Any:
    return x @ x + 0.5 * u @ u


def by_numpy(x: Any, u: Any) -> float:
    return float(np.asarray(x) @ np.asarray(x) + 0.5 * np.asarray(u) @ np.asarray(u))


SAME = control.QuadraticCost(1.0, 0.5)


def test_values_and_gradients_are_those_of_the_built_in_cost() -> None:
    cost = from_jax(square)
    for x, u in (([1.0, -2.0], [3.0]), ([0.0, 0.0, 1.0], [1.0, 2.0])):
        assert cost.value(x, u) == SAME.value(x, u)
        for found, expected in zip(cost.gradient(x, u), SAME.gradient(x, u), strict=True):
            np.testing.assert_array_equal(found, expected)
            assert found.dtype == np.float64


def test_it_is_traced_once_for_a_plant() -> None:
    calls = 0

    def counted(x: Any, u: Any) -> Any:
        nonlocal calls
        calls += 1
        return square(x, u)

    cost = from_jax(counted)
    control.simulate(PLANT, control.ScreamController(PLANT, horizon=40), cost, PUSHES)
    assert calls == 1


@pytest.mark.parametrize(
    "make",
    [lambda: control.ScreamController(PLANT, horizon=40), lambda: control.GradientController(PLANT, horizon=40)],
    ids=["Scream", "gradient"],
)
def test_controllers_learn_from_it_as_from_the_built_in_cost(make: Any) -> None:
    runs = [control.simulate(PLANT, make(), cost, PUSHES) for cost in (from_jax(square), SAME)]
    np.testing.assert_allclose(runs[0].inputs, runs[1].inputs, atol=1e-9)
    assert runs[0].total == pytest.approx(runs[1].total, rel=1e-9)


def test_by_the_two_verbs_with_copies_and_checkpoints() -> None:
    controller, cost = control.ScreamController(PLANT, horizon=9), from_jax(square)
    x = np.array([0.1, 0.0])
    controller.act(x)
    controller.observe(cost)
    other = controller.clone()
    assert controller.act(0.5 * x).tobytes() == other.act(0.5 * x).tobytes()
    assert len(controller.to_bytes()) > 0


def test_it_can_be_pickled() -> None:
    cost = from_jax(square)
    assert cost.value([1.0], [2.0]) == pickle.loads(pickle.dumps(cost)).value([1.0], [2.0]) == 3.0


def test_without_jax_in_it_gradients_are_differences_with_one_warning() -> None:
    cost = from_jax(by_numpy)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        g_x, g_u = cost.gradient([1.0, -2.0], [3.0])
        cost.gradient([1.0, -1.0], [3.0])
    assert [warning.category for warning in caught] == [DifferencesWarning]
    assert caught[0].filename == __file__
    assert "costs.from_jax(by_numpy)" in str(caught[0].message)
    np.testing.assert_allclose(g_x, [2.0, -4.0], rtol=1e-8)
    np.testing.assert_allclose(g_u, [3.0], rtol=1e-8)


@pytest.mark.parametrize(
    ("cost", "kind", "words"),
    [
        (lambda x, u: u @ u - x @ x, ParameterError, "the cost is not convex"),
        (lambda x, u: x, InputError, "must return one real number"),
        (lambda x, u: jnp.log(x[0]), InputError, "costs.from_jax(<lambda>): value must be finite"),
        (lambda x, u: jnp.sqrt(x @ x), InputError, "got nan"),
    ],
)
def test_what_is_no_convex_cost_is_refused_before_it_is_used(cost: Any, kind: type[Exception], words: str) -> None:
    controller = control.ScreamController(PLANT, horizon=40)
    before = controller.to_bytes()
    check_refused(lambda: control.simulate(PLANT, controller, from_jax(cost), PUSHES), words, kind=kind)
    assert controller.to_bytes() == before


def test_a_cost_that_is_not_convex_may_be_used_with_a_warning() -> None:
    cost = from_jax(lambda x, u: u @ u - 0.1 * x @ x, if_not_convex="warn")
    with pytest.warns(UserWarning, match="the cost is not convex"):
        cost.probe(2, 1)


def test_wrong_calls_are_refused_by_name() -> None:
    untyped: Any = from_jax
    check_refused(lambda: untyped(3), "cost must be a function of (x, u), got 3", kind=ParameterError)
    check_refused(lambda: untyped(square, if_not_convex="no"), "if_not_convex must be one of", kind=ParameterError)
