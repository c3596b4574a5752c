"""Costs from a user's own functions, and how they are tried."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike

from driftwise._validate import Array
from driftwise.control.costs import (
    CustomCost,
)
from driftwise.errors import InputError, ParameterError
from tests.cases import check_refused
from tests.control.costs.cases import CONVEX, NOT_CONVEX, ones, size


@pytest.mark.parametrize("dims", [(1, 1), (2, 1), (10, 3), (40, 10)])
@pytest.mark.parametrize("name", CONVEX)
def test_convex_functions_pass_the_probe(name: str, dims: tuple[int, int]) -> None:
    cost = CustomCost(*CONVEX[name])
    cost.probe(*dims)
    x, u = np.full(dims[0], 0.5), np.full(dims[1], -0.25)
    assert cost.value(x, u) == CONVEX[name][0](x, u)
    for given, expected in zip(cost.gradient(x, u), CONVEX[name][1](x, u), strict=True):
        np.testing.assert_array_equal(given, expected)


WRONG: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "half": (lambda x, u: x @ x + u @ u, lambda x, u: (x, 2 * u)),
    "sign": (lambda x, u: x @ x + u @ u, lambda x, u: (2 * x, -2 * u)),
    "one coordinate": (lambda x, u: x @ x + u @ u, lambda x, u: (2 * x * (1 + (np.arange(x.size) == 0)), 2 * u)),
    "small part": (lambda x, u: 1e8 * x @ x + 1e-4 * u @ u, lambda x, u: (2e8 * x, 1e-4 * u)),
    "high above zero": (lambda x, u: 1e6 + x @ x + u @ u, lambda x, u: (2 * x, u)),
    "at the kink only": (
        lambda x, u: abs(x).sum() + u @ u,
        lambda x, u: (np.where(x == 0, 1.5, np.sign(x)), 2 * u),
    ),
    "coupling left out": (lambda x, u: (x.sum() - u.sum()) ** 2, lambda x, u: (2 * x.sum() * ones(x), 2 * u)),
    "not convex either": (lambda x, u: u @ u - x @ x, lambda x, u: (2 * x, 2 * u)),
}


@pytest.mark.parametrize("rule", ["refuse", "warn"])
@pytest.mark.parametrize("dims", [(1, 1), (2, 1), (10, 3), (40, 10)])
@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_gradient_is_an_error(name: str, dims: tuple[int, int], rule: str) -> None:
    cost = CustomCost(*WRONG[name], if_not_convex=rule)
    words = ("CustomCost(<lambda>)", "the gradient is not that of the value", "off by")
    check_refused(lambda: cost.probe(*dims), *words, kind=InputError)
    check_refused(lambda: cost.probe(*dims), *words, kind=InputError)


def test_a_wrong_subgradient_that_looks_right_along_the_first_directions_is_not_called_a_lack_of_convexity() -> None:
    at_kink = np.array([0.4, -0.7, 1.2])
    cost = CustomCost(
        lambda x, u: abs(x).sum() + u @ u,
        lambda x, u: (np.sign(x) if x.any() else at_kink, 2 * u),
        if_not_convex="warn",
    )
    check_refused(lambda: cost.probe(3, 1), "the gradient is not that of the value", kind=InputError)


@pytest.mark.parametrize("part", [0, 1])
def test_a_gradient_that_is_turned_a_little_is_found(part: int) -> None:
    turn = 0.05 * (np.eye(4)[[1, 0, 3, 2]] * [1.0, -1.0, 1.0, -1.0])

    def gradient(x: Array, u: Array) -> Any:
        return 2 * x + (turn @ x if part == 0 else 0.0), 2 * u + (turn @ u if part == 1 else 0.0)

    cost = CustomCost(lambda x, u: x @ x + u @ u, gradient)
    check_refused(lambda: cost.probe(4, 4), "the gradient is not that of the value", kind=InputError)


@pytest.mark.parametrize("dims", [(1, 1), (2, 1), (10, 3)])
@pytest.mark.parametrize("name", NOT_CONVEX)
def test_lack_of_convexity_is_refused_or_warned_of_once(name: str, dims: tuple[int, int]) -> None:
    words = ("CustomCost(<lambda>)", "not convex", "c(q) >= c(p) + <g(p), q - p> fails by")
    check_refused(lambda: CustomCost(*NOT_CONVEX[name]).probe(*dims), *words, kind=ParameterError)
    cost = CustomCost(*NOT_CONVEX[name], if_not_convex="warn")
    with pytest.warns(UserWarning, match="not convex") as caught:
        cost.probe(*dims)
    cost.probe(*dims)
    assert len(caught) == 1
    assert caught[0].filename == __file__


def test_the_message_gives_the_failure_exactly() -> None:
    cost = CustomCost(*NOT_CONVEX["saddle"])
    check_refused(lambda: cost.probe(1, 1), "fails by 0.01 at p = (x, u) = ([0], [0]) and q = ([0.1], [0])")


def test_probing_happens_once_for_every_pair_of_dimensions() -> None:
    calls: list[tuple[int, int]] = []

    def value(x: Array, u: Array) -> Any:
        calls.append((x.size, u.size))
        return x @ x + u @ u

    cost = CustomCost(value, lambda x, u: (2 * x, 2 * u))
    assert not calls
    cost.probe(2, 1)
    first = len(calls)
    assert 0 < first <= 100
    cost.probe(2, 1)
    assert len(calls) == first
    cost.probe(3, 1)
    assert len(calls) == 2 * first
    assert set(calls) == {(2, 1), (3, 1)}


def test_probing_leaves_the_global_random_state_alone() -> None:
    before = np.random.get_state()[1].copy()  # type: ignore[index]  # noqa: NPY002
    CustomCost(*CONVEX["squares"]).probe(2, 1)
    np.testing.assert_array_equal(before, np.random.get_state()[1])  # type: ignore[index]  # noqa: NPY002


@pytest.mark.parametrize(
    ("value", "gradient", "words"),
    [
        (lambda x, u: x, lambda x, u: (x, u), ("value", "shape ()")),
        (lambda x, u: math.nan, lambda x, u: (x, u), ("value", "nan")),
        (lambda x, u: None, lambda x, u: (x, u), ("value",)),
        (lambda x, u: "1", lambda x, u: (x, u), ("value",)),
        (lambda x, u: 0.0, lambda x, u: 0.0, ("gradient", "(g_x, g_u)")),
        (lambda x, u: 0.0, lambda x, u: (x, u, u), ("gradient", "(g_x, g_u)")),
        (lambda x, u: 0.0, lambda x, u: (u, x), ("g_x", "(2,)")),
        (lambda x, u: 0.0, lambda x, u: (0.0, u), ("g_x", "(2,)")),
        (lambda x, u: size(x, u), lambda x, u: (x / size(x, u), u / size(x, u)), ("g_x", "nan", "([0, 0], [0])")),
    ],
)
def test_what_functions_return_is_checked(value: Any, gradient: Any, words: tuple[str, ...]) -> None:
    cost = CustomCost(value, gradient)
    origin = np.zeros(2), np.zeros(1)

    def use() -> None:
        cost.value(*origin)
        cost.gradient(*origin)

    check_refused(use, "CustomCost(<lambda>)", *words, kind=InputError)
    check_refused(lambda: cost.probe(2, 1), "CustomCost(<lambda>)", *words, kind=InputError)


def test_functions_get_copies_and_results_are_copied() -> None:
    kept = np.ones(2)

    def value(x: Array, u: Array) -> float:
        x[:] = 9.0
        return 1.0

    cost = CustomCost(value, lambda x, u: (kept, u))
    x = np.zeros(2)
    cost.value(x, [1.0])
    assert not x.any()
    cost.gradient(x, [1.0])[0][:] = 5.0
    np.testing.assert_array_equal(kept, 1.0)


@pytest.mark.parametrize("x", [[], [math.nan], 1.0, [[1.0]]])
def test_custom_costs_check_the_point(x: ArrayLike) -> None:
    check_refused(lambda: CustomCost(*CONVEX["squares"]).value(x, [1.0]), "CustomCost", "x", kind=InputError)
