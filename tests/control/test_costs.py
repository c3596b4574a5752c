"""Costs: the built-in kinds, a user's own functions, sequences, and the paper's changing costs."""

import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike

from driftwise._validate import Array, read_only
from driftwise.control.costs import (
    AbsoluteCost,
    Cost,
    CostSequence,
    CustomCost,
    DataCost,
    HuberCost,
    QuadraticCost,
    abrupt,
    as_costs,
    gradual,
    pendulum,
)
from driftwise.errors import ArgumentError, InputError, ParameterError, RoundIndexError
from tests.cases import check_refused
from tests.control.cases import compiled_cost

Q = np.array([[2.0, 1.0, 0.0], [0.0, 3.0, 0.5], [0.0, 0.5, 1.0]])
R = np.array([[1.0, -0.2], [-0.2, 0.5]])
BUILT_IN: dict[str, DataCost] = {
    "quadratic": QuadraticCost(Q, R),
    "absolute": AbsoluteCost([1.0, 0.0, 2.0], [0.5, 3.0]),
    "huber": HuberCost([1.0, 0.0, 2.0], [0.5, 3.0], width=0.7),
}
X, U = np.array([0.3, -2.0, 1.5]), np.array([-0.4, 4.0])


def huber(z: Array, width: float) -> Array:
    return np.where(np.abs(z) <= width, z**2 / (2.0 * width), np.abs(z) - width / 2.0)


def ones(z: Array) -> Array:
    return np.ones_like(z)


def size(x: Array, u: Array) -> Array:
    return np.sqrt(np.asarray(x @ x + u @ u))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("quadratic", X @ Q @ X + U @ R @ U),
        ("absolute", 0.3 + 2.0 * 1.5 + 0.5 * 0.4 + 3.0 * 4.0),
        ("huber", np.array([1.0, 0.0, 2.0]) @ huber(X, 0.7) + np.array([0.5, 3.0]) @ huber(U, 0.7)),
    ],
)
def test_values_follow_the_formula(name: str, expected: float) -> None:
    assert BUILT_IN[name].value(X, U) == pytest.approx(expected, rel=1e-14)
    assert BUILT_IN[name].value(read_only(X.copy()), U.tolist()) == BUILT_IN[name].value(X, U)


@pytest.mark.parametrize("cost", BUILT_IN.values(), ids=BUILT_IN.keys())
def test_gradients_are_those_of_the_values(cost: DataCost) -> None:
    h = 1e-6
    slope_x, slope_u = cost.gradient(X, U)
    for i, unit in enumerate(np.eye(3)):
        assert (cost.value(X + h * unit, U) - cost.value(X - h * unit, U)) / (2 * h) == pytest.approx(
            slope_x[i], abs=1e-7
        )
    for i, unit in enumerate(np.eye(2)):
        assert (cost.value(X, U + h * unit) - cost.value(X, U - h * unit)) / (2 * h) == pytest.approx(
            slope_u[i], abs=1e-7
        )


@pytest.mark.parametrize("cost", BUILT_IN.values(), ids=BUILT_IN.keys())
def test_built_in_costs_pass_the_probe_of_custom_ones(cost: DataCost) -> None:
    CustomCost(cost.value, cost.gradient).probe(3, 2)

    def uphill(x: Array, u: Array) -> tuple[Array, Array]:
        slope_x, slope_u = cost.gradient(x, u)
        return -slope_x, -slope_u

    with pytest.raises(InputError):
        CustomCost(cost.value, uphill).probe(3, 2)


def test_values_come_from_the_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("driftwise.control.costs.base.one_value", lambda *arguments: 17.0)
    assert BUILT_IN["quadratic"].value(X, U) == 17.0


def test_forms_of_quadratic_weights() -> None:
    cost = QuadraticCost(Q, [1.0, 2.0])
    np.testing.assert_array_equal(cost.Q, 0.5 * (Q + Q.T))
    np.testing.assert_array_equal(cost.R, np.diag([1.0, 2.0]))
    single = QuadraticCost(2.0, 3)
    assert (single.state_dim, single.input_dim) == (None, None)
    assert single.value([2.0], [1.0]) == 11.0
    assert single.value([1.0, -2.0], [1.0]) == 13.0
    assert [part.tolist() for part in single.gradient([1.0, -2.0], [1.0])] == [[4.0, -8.0], [6.0]]
    given = np.eye(2)
    kept = QuadraticCost(given, given[0])
    given[:] = 7.0
    np.testing.assert_array_equal(kept.Q, np.eye(2))


def test_weights_and_names_can_be_read_back() -> None:
    cost = HuberCost([1.0, 2.0], [3.0], width=0.5)
    np.testing.assert_array_equal(cost.state_weights, [1.0, 2.0])
    np.testing.assert_array_equal(cost.input_weights, [3.0])
    assert cost.width == 0.5
    assert repr(cost) == "HuberCost(state_dim=2, input_dim=1)"
    assert repr(gradual(5)) == "CostSequence(rounds=5, state_dim=2, input_dim=1)"
    assert repr(CustomCost(size, size)) == "CustomCost(size)"


@pytest.mark.parametrize(
    ("call", "words", "kind"),
    [
        (lambda: QuadraticCost([[1.0, 2.0]], 1.0), ("Q", "(1, 1)"), InputError),
        (lambda: QuadraticCost([1.0, math.nan], 1.0), ("Q", "nan"), InputError),
        (lambda: QuadraticCost(1.0, 1e101), ("R", "1e+100"), InputError),
        (lambda: QuadraticCost("x", 1.0), ("Q",), InputError),
        (lambda: QuadraticCost([[1.0, 3.0], [3.0, 1.0]], 1.0), ("Q", "eigenvalue -2"), ParameterError),
        (lambda: QuadraticCost(1.0, -0.25), ("R", "eigenvalue -0.25", 'if_not_convex="warn"'), ParameterError),
        (lambda: QuadraticCost(1.0, 1.0, if_not_convex="ignore"), ("if_not_convex", "'warn'"), ParameterError),
        (lambda: QuadraticCost(1.0, 1.0, rule="warn"), ("rule", "if_not_convex"), ArgumentError),  # type: ignore[call-arg]
        (lambda: AbsoluteCost([1.0, -1.0], 1.0), ("state_weights", "-1 at [1]"), ParameterError),
        (lambda: AbsoluteCost(1.0, [[1.0]]), ("input_weights",), InputError),
        (lambda: HuberCost(1.0, -1e-9), ("input_weights", "-1e-09 at [0]"), ParameterError),
        (lambda: HuberCost(1.0, 1.0, width=0.0), ("width",), ParameterError),
        (lambda: BUILT_IN["huber"].value(X, X), ("HuberCost.value", "u", "(2,)"), InputError),
        (lambda: BUILT_IN["absolute"].gradient([1.0, math.inf, 0.0], U), ("AbsoluteCost.gradient", "x"), InputError),
        (lambda: CustomCost(1.0, huber), ("value", "function"), ParameterError),  # type: ignore[arg-type]
        (lambda: QuadraticCost([1.0], 1.0).probe(2, 1), ("state_dim 2", "state_dim 1"), InputError),
    ],
)
def test_bad_costs_are_refused(call: Callable[[], object], words: tuple[str, ...], kind: type[Exception]) -> None:
    check_refused(call, *words, kind=kind)


def test_convexity_of_quadratic_costs_up_to_rounding() -> None:
    vector = np.array([1.0, 3.0, 7.0]) / 3.0
    QuadraticCost(np.outer(vector, vector), 0.0)
    QuadraticCost([1.0, -0.9e-12], 1.0)
    check_refused(lambda: QuadraticCost([1.0, -1.1e-12], 1.0), "-1.1e-12", kind=ParameterError)
    with pytest.warns(UserWarning, match=r"eigenvalue -1\b.*No guarantee"):
        cost = QuadraticCost([1.0, -1.0], 1.0, if_not_convex="warn")
    assert cost.value([0.0, 2.0], [0.0]) == -4.0


def test_gradient_constants() -> None:
    assert QuadraticCost(np.array([[2.0, 1.0], [1.0, 2.0]]), 2.5).gradient_constant == pytest.approx(6.0)
    assert QuadraticCost([1.0, 1.0], 4.0).gradient_constant == 8.0
    assert AbsoluteCost(1.0, 1.0).gradient_constant is None
    assert HuberCost(1.0, 1.0).gradient_constant is None
    assert CustomCost(size, size).gradient_constant is None
    weak, strong = QuadraticCost(1.0, 1.0), QuadraticCost(1.0, 3.0)
    assert CostSequence([weak, strong, weak]).gradient_constant == 6.0
    assert CostSequence([weak, AbsoluteCost(1.0, 1.0)]).gradient_constant is None
    assert CostSequence.scaled(strong, [1.0, 8.0], [1.0, 0.5]).gradient_constant == 16.0
    rng = np.random.default_rng(3)
    cost = BUILT_IN["quadratic"]
    assert cost.gradient_constant is not None
    for _ in range(100):
        x, u = rng.standard_normal(3), rng.standard_normal(2)
        slope_x, slope_u = cost.gradient(x, u)
        assert np.linalg.norm(slope_x) <= cost.gradient_constant * np.linalg.norm(x) * (1 + 1e-12)
        assert np.linalg.norm(slope_u) <= cost.gradient_constant * np.linalg.norm(u) * (1 + 1e-12)


CONVEX: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "squares": (lambda x, u: x @ x + u @ u, lambda x, u: (2 * x, 2 * u)),
    "lists": (lambda x, u: float(x @ x), lambda x, u: ((2 * x).tolist(), [0.0] * u.size)),
    "constant": (lambda x, u: 3, lambda x, u: (0 * x, 0 * u)),
    "linear": (lambda x, u: x.sum() - u.sum(), lambda x, u: (ones(x), -ones(u))),
    "absolute": (lambda x, u: abs(x).sum() + abs(u).sum(), lambda x, u: (np.sign(x), np.sign(u))),
    "absolute, other side": (
        lambda x, u: abs(x).sum() + abs(u).sum(),
        lambda x, u: (np.where(x >= 0, 1.0, -1.0), np.where(u > 0, 1.0, -1.0)),
    ),
    "norm": (size, lambda x, u: (x / max(size(x, u), 1e-300), u / max(size(x, u), 1e-300))),
    "dead zone, kink at a point tried": (
        lambda x, u: np.maximum(abs(u) - 1.0, 0.0).sum(),
        lambda x, u: (0 * x, np.sign(u) * (abs(u) >= 1.0)),
    ),
    "largest": (lambda x, u: abs(x).max(), lambda x, u: (np.sign(x) * (np.arange(x.size) == abs(x).argmax()), 0 * u)),
    "steep": (lambda x, u: np.exp(x @ x) + u @ u, lambda x, u: (2 * x * np.exp(x @ x), 2 * u)),
    "unlike parts": (lambda x, u: 1e8 * x @ x + 1e-4 * u @ u, lambda x, u: (2e8 * x, 2e-4 * u)),
    "high above zero": (lambda x, u: 1e6 + x @ x + u @ u, lambda x, u: (2 * x, 2 * u)),
    "coupled": (
        lambda x, u: (x.sum() - u.sum()) ** 2,
        lambda x, u: (2 * (x.sum() - u.sum()) * ones(x), -2 * (x.sum() - u.sum()) * ones(u)),
    ),
    "single precision": (
        lambda x, u: float(np.float32(abs(x).sum() + 100 * u @ u)),
        lambda x, u: (np.sign(x).astype(np.float32), np.float32(200 * u)),
    ),
}


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


NOT_CONVEX: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "saddle": (lambda x, u: u @ u - x @ x, lambda x, u: (-2 * x, 2 * u)),
    "a little": (lambda x, u: x @ x - 1e-3 * u @ u, lambda x, u: (2 * x, -2e-3 * u)),
    "wave": (lambda x, u: np.cos(x).sum() + u @ u, lambda x, u: (-np.sin(x), 2 * u)),
    "product": (lambda x, u: x.sum() * u.sum(), lambda x, u: (u.sum() * ones(x), x.sum() * ones(u))),
    "roof": (lambda x, u: u @ u - abs(x).sum(), lambda x, u: (-np.sign(x), 2 * u)),
}


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
        (lambda x, u: 0.0, lambda x, u: (x, 0.0), ("g_u", "(1,)")),
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


def agree(costs: CostSequence, expected: Sequence[Cost]) -> None:
    """Check a sequence against one cost a round: by its rounds, and by the data that compiled code reads."""
    assert len(costs) == len(expected)
    assert costs.data is not None
    rng = np.random.default_rng(5)
    for t, (cost, single) in enumerate(zip(costs, expected, strict=True)):
        x, u = rng.standard_normal(costs.state_dim or 3), rng.standard_normal(costs.input_dim or 2)
        value, *out = compiled_cost(costs.data, t, x, u)
        assert cost.value(x, u) == value == pytest.approx(single.value(x, u))
        for mine, compiled, theirs in zip(cost.gradient(x, u), out, single.gradient(x, u), strict=True):
            np.testing.assert_array_equal(mine, compiled)
            np.testing.assert_allclose(mine, theirs, rtol=1e-13)


@pytest.mark.parametrize("cost", BUILT_IN.values(), ids=BUILT_IN.keys())
def test_a_list_is_stored_by_its_distinct_costs(cost: DataCost) -> None:
    listed: list[Cost] = [cost, cost, CostSequence.scaled(cost, [2.0], [3.0])[0], cost]
    costs = CostSequence(listed)
    agree(costs, listed)
    assert costs.data is not None
    assert costs.data.state.shape[0] == 1
    assert costs.data.scales.tolist() == [[1, 1], [1, 1], [2, 3], [1, 1]]
    assert costs[1] is cost


def test_equal_weights_are_stored_once_and_different_ones_in_order() -> None:
    listed: list[Cost] = [QuadraticCost(q, r) for q, r in ((1.0, 1.0), (2.0, 1.0), (1.0, 1.0), (1.0, 2.0))]
    costs = CostSequence(listed)
    agree(costs, listed)
    assert costs.data is not None
    assert costs.data.stage.tolist() == [0, 1, 0, 2]
    assert costs.data.scales.shape == (1, 2)


@pytest.mark.parametrize("cost", BUILT_IN.values(), ids=BUILT_IN.keys())
def test_constant_stages_and_scaled(cost: DataCost) -> None:
    agree(CostSequence.constant(cost, 4), [cost] * 4)
    long = CostSequence.constant(cost, 10**6).data
    assert long is not None
    assert (long.state.shape[0], long.stage.shape, long.scales.shape) == (1, (1,), (1, 2))
    other: DataCost = {
        "QuadraticCost": QuadraticCost([3.0, 1.0, 2.0], R),
        "AbsoluteCost": AbsoluteCost([3.0, 1.0, 2.0], [1.0, 0.0]),
        "HuberCost": HuberCost([3.0, 1.0, 2.0], [1.0, 0.0], width=0.7),
    }[type(cost).__name__]
    agree(CostSequence.stages([cost, other], 5), [cost] * 3 + [other] * 2)
    agree(CostSequence.stages([cost, other], lengths=[1, 3]), [cost] + [other] * 3)
    a, b = np.array([1.0, 0.0, 0.5]), np.array([2.0, 1.0, 0.25])
    scaled = CostSequence.scaled(cost, a, b)
    zero_x, zero_u = np.zeros(3), np.zeros(2)
    for t in range(3):
        assert scaled[t].value(X, U) == pytest.approx(a[t] * cost.value(X, zero_u) + b[t] * cost.value(zero_x, U))
    agree(scaled, list(scaled))
    again = CostSequence.scaled(next(iter(scaled)), [3.0], [0.5])  # type: ignore[arg-type]
    assert again[0].value(X, U) == pytest.approx(3.0 * cost.value(X, zero_u) + cost.value(zero_x, U))


def test_a_scaled_round_knows_its_weights() -> None:
    cost = CostSequence.scaled(QuadraticCost([1.0, 2.0], 4.0), [1.0, 3.0], [1.0, 0.5])[1]
    assert isinstance(cost, QuadraticCost)
    np.testing.assert_array_equal(cost.Q, np.diag([3.0, 6.0]))
    np.testing.assert_array_equal(cost.R, [[2.0]])
    assert cost.gradient_constant == 12.0


def test_what_compiled_code_cannot_run_has_no_data() -> None:
    custom = CustomCost(*CONVEX["squares"])
    for listed in (
        [custom, custom],
        [QuadraticCost(1.0, 1.0), AbsoluteCost(1.0, 1.0)],
        [HuberCost(1.0, 1.0), HuberCost(1.0, 1.0, width=2.0)],
        [QuadraticCost(1.0, 1.0), custom],
    ):
        costs = CostSequence(listed)
        assert costs.data is None
        assert [costs[t] for t in range(2)] == listed
    assert CostSequence([custom]).state_dim is None
    assert CostSequence([custom, QuadraticCost([1.0, 1.0], 1.0)]).state_dim == 2


def test_a_subclass_that_changes_the_arithmetic_does_not_run_as_data() -> None:
    class Twice(QuadraticCost):
        def value(self, x: ArrayLike, u: ArrayLike) -> float:
            return 2.0 * super().value(x, u)

    cost = Twice(1.0, 1.0)
    costs = CostSequence.constant(cost, 2)
    assert (costs.data, costs.gradient_constant) == (None, None)
    assert costs[1].value([1.0], [1.0]) == 4.0
    check_refused(lambda: CostSequence.scaled(cost, [1.0], [1.0]), "Twice", kind=ParameterError)


def test_negative_factors_follow_the_rule_of_the_cost() -> None:
    factors = [1.0, -0.5], [1.0, 1.0]
    words = ("CostSequence.scaled", "round 1", "state factor", "-0.5")
    check_refused(lambda: CostSequence.scaled(QuadraticCost(1.0, 1.0), *factors), *words, kind=ParameterError)
    check_refused(lambda: CostSequence.scaled(AbsoluteCost(1.0, 1.0), *factors), *words, kind=ParameterError)
    with pytest.warns(UserWarning, match="round 1 is not convex") as caught:
        costs = CostSequence.scaled(QuadraticCost(1.0, 1.0, if_not_convex="warn"), *factors)
    assert [warning.filename for warning in caught] == [__file__]
    assert costs[1].value([2.0], [1.0]) == -1.0


QUADRATIC = QuadraticCost([1.0, 1.0], 1.0)


@pytest.mark.parametrize(
    ("call", "words", "kind"),
    [
        (lambda: CostSequence([]), ("one or more",), InputError),
        (lambda: CostSequence(QUADRATIC), ("list",), InputError),  # type: ignore[arg-type]
        (lambda: CostSequence([QUADRATIC, 3.0]), ("costs[1]", "3.0"), InputError),  # type: ignore[list-item]
        (lambda: CostSequence([QUADRATIC, QuadraticCost([1.0], 1.0)]), ("state_dim", "1 and 2"), InputError),
        (lambda: CostSequence.constant(QUADRATIC, 0), ("rounds",), ParameterError),
        (lambda: CostSequence.constant(3.0, 4), ("cost", "QuadraticCost"), ParameterError),  # type: ignore[arg-type]
        (lambda: CostSequence.constant(QUADRATIC, round=3), ("constant", "rounds"), ArgumentError),  # type: ignore[call-arg]
        (lambda: CostSequence.stages([QUADRATIC] * 3, 2), ("rounds", "at least 3"), ParameterError),
        (lambda: CostSequence.stages([QUADRATIC] * 3), ("either rounds or lengths",), ParameterError),
        (lambda: CostSequence.stages([QUADRATIC] * 3, 9, lengths=[3, 3, 3]), ("either rounds",), ParameterError),
        (lambda: CostSequence.stages([QUADRATIC] * 3, lengths=[3, 3]), ("lengths", "3", "2"), InputError),
        (lambda: CostSequence.stages([QUADRATIC] * 2, lengths=[3, 0]), ("lengths", "at least 1"), ParameterError),
        (lambda: CostSequence.scaled(QUADRATIC, [1.0, 1.0], [1.0]), ("input_factors", "(2,)"), InputError),
        (lambda: CostSequence.scaled(QUADRATIC, 1.0, 1.0), ("state_factors",), InputError),
        (lambda: CostSequence.scaled(QUADRATIC, [math.nan], [1.0]), ("state_factors", "nan"), InputError),
        (
            lambda: CostSequence.scaled(CustomCost(*CONVEX["squares"]), [1.0], [1.0]),  # type: ignore[arg-type]
            ("DataCost", "CustomCost"),
            ParameterError,
        ),
        *((lambda t=t: gradual(10)[t], ("from 0 to 9",), RoundIndexError) for t in (-1, 10, 1.0, True, None)),
        (lambda: gradual(0), ("gradual", "rounds"), ParameterError),
        (lambda: gradual(10, state_dim=0), ("state_dim",), ParameterError),
        (lambda: gradual(10, literal=1), ("literal",), ParameterError),  # type: ignore[arg-type]
        (lambda: gradual(10, literall=True), ("literal",), ArgumentError),  # type: ignore[call-arg]
        (lambda: abrupt(4), ("rounds", "at least 5"), ParameterError),
        (lambda: abrupt(10, seed=-1), ("seed",), ParameterError),
        (lambda: pendulum(2.5), ("pendulum", "rounds"), ParameterError),  # type: ignore[arg-type]
    ],
)
def test_bad_sequences_are_refused(call: Callable[[], object], words: tuple[str, ...], kind: type[Exception]) -> None:
    check_refused(call, *words, kind=kind)


def test_gradual_costs_of_the_paper() -> None:
    costs = gradual(500, state_dim=3, input_dim=2)
    for t in (0, 17, 499):
        a, b = 1.0 + math.sin(t / (10.0 * math.pi)), 1.0 + math.sin(t / (20.0 * math.pi))
        assert costs[t].value(X, U) == pytest.approx(a * X @ X + b * U @ U, rel=1e-13)
    assert costs.data is not None
    assert costs.data.state.shape == (1, 3, 3)
    assert costs.data.scales.min() >= 0.0
    assert costs.gradient_constant == pytest.approx(4.0, abs=1e-3)


def test_pendulum_costs_of_the_paper() -> None:
    costs = pendulum(500)
    for t in (0, 17, 499):
        a, b = (1.0 + math.sin(t / (10.0 * math.pi))) / 2.0, (1.0 + math.sin(t / (20.0 * math.pi))) / 2.0
        assert costs[t].value([3.0, -2.0], [5.0]) == pytest.approx(9.0 * a + 4.0 * b + 25.0 * b, rel=1e-13)
    agree(costs, list(costs))


@pytest.mark.parametrize("make", [gradual, pendulum])
def test_literal_costs_warn_once_and_are_plain_sines(make: Callable[..., CostSequence]) -> None:
    with pytest.warns(UserWarning, match=f"{make.__name__}: literal=True.*not convex") as caught:
        costs = make(300, literal=True)
    as_costs("simulate", costs, 300, 2, 1)
    assert [warning.filename for warning in caught] == [__file__]
    t = 150
    a, b = math.sin(t / (10.0 * math.pi)), math.sin(t / (20.0 * math.pi))
    assert a < 0.0
    second = a if make is gradual else b
    assert costs[t].value([1.0, 2.0], [3.0]) == pytest.approx(a + 4.0 * second + 9.0 * b, rel=1e-13)


def test_abrupt_costs_change_between_stages_only() -> None:
    costs = abrupt(1003, state_dim=3, input_dim=2, seed=4)
    values = np.array([cost.value(X, U) for cost in costs])
    assert np.flatnonzero(np.diff(values)).tolist() == [200, 401, 602, 802]
    assert costs.data is not None
    assert costs.data.state.shape[0] == 5
    weights = np.concatenate([costs.data.state[:, 0, 0], costs.data.input[:, 0, 0]])
    assert ((weights >= 0.1) & (weights < 2.0)).all()
    assert len(set(weights)) == 10
    assert abrupt(1003, seed=4)[0].value([1.0, 0.0], [0.0]) == weights[0]
    assert abrupt(1003, seed=5)[0].value([1.0, 0.0], [0.0]) != weights[0]
    assert abrupt(7, stages=7, seed=np.random.default_rng(4))[0].value([1.0, 0.0], [0.0]) == weights[0]


def test_as_costs_takes_a_cost_a_sequence_or_a_list() -> None:
    costs = as_costs("simulate", QUADRATIC, 7, 2, 1)
    assert len(costs) == 7
    assert as_costs("simulate", costs, 7, 2, 1) is costs
    agree(as_costs("simulate", [QUADRATIC] * 3, 3, 2, 1), [QUADRATIC] * 3)
    assert as_costs("simulate", (QUADRATIC,), 1, 2, 1)[0] is QUADRATIC


@pytest.mark.parametrize(
    ("costs", "dims", "words"),
    [
        (QUADRATIC, (3, 1), ("simulate", "state_dim 3", "state_dim 2")),
        (gradual(4), (2, 2), ("simulate", "input_dim 2", "input_dim 1")),
        ([QUADRATIC] * 5, (2, 1), ("simulate", "4", "5")),
        (gradual(3), (2, 1), ("simulate", "4", "3")),
        ([], (2, 1), ("simulate",)),
        ([1.0] * 4, (2, 1), ("simulate", "costs[0]")),
        (1.0, (2, 1), ("simulate", "costs")),
        (None, (2, 1), ("simulate", "costs")),
    ],
)
def test_as_costs_refuses(costs: Any, dims: tuple[int, int], words: tuple[str, ...]) -> None:
    check_refused(lambda: as_costs("simulate", costs, 4, *dims), *words, kind=InputError)


def test_as_costs_probes_costs_of_the_user() -> None:
    good = CustomCost(*CONVEX["squares"])
    bad = CustomCost(*NOT_CONVEX["saddle"])
    as_costs("simulate", good, 10**5, 2, 1)
    check_refused(lambda: as_costs("simulate", bad, 4, 2, 1), "not convex", kind=ParameterError)
    check_refused(lambda: as_costs("simulate", [good] * 3 + [bad], 4, 2, 1), "not convex", kind=ParameterError)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        as_costs("simulate", [CustomCost(*NOT_CONVEX["saddle"], if_not_convex="warn")] * 4, 4, 2, 1)
    assert len(caught) == 1


def test_of_many_different_costs_the_first_and_the_last_are_among_those_probed() -> None:
    calls: set[int] = set()

    def make(n: int) -> CustomCost:
        def value(x: Array, u: Array) -> Any:
            calls.add(n)
            return x @ x

        return CustomCost(value, lambda x, u: (2 * x, 0 * u))

    as_costs("simulate", [make(n) for n in range(1000)], 1000, 2, 1)
    assert len(calls) == 100
    assert {0, 999} <= calls
    assert max(np.diff(sorted(calls))) <= 11
