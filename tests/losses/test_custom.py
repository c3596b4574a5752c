"""A user's own losses: compiled and plain."""

import json
import math
from typing import Any

import numpy as np
import pytest

import driftwise as dw
from driftwise._validate import Array, read_only
from driftwise.errors import InputError, ParameterError
from driftwise.losses.custom import WORTH_COMPILING, CustomLoss

TARGETS = np.linspace(-1.0, 1.0, 20)


def value(t: int, w: Array) -> float:
    return float(np.exp(0.1 * w[0]) + 0.5 * np.sum((w - TARGETS[t]) ** 2))


def gradient(t: int, w: Array) -> Array:
    out: Array = w - TARGETS[t]
    out[0] += 0.1 * np.exp(0.1 * w[0])
    return out


def window_value(t: int, window: Array) -> float:
    return float(np.sum((window[-1] - 0.5 * window[0]) ** 2) + t)


def window_gradient(t: int, w: Array) -> Array:
    return 0.5 * w


def with_text(t: int, w: Array) -> float:
    return float(json.loads(json.dumps({"sum": float(w.sum())}))["sum"])


def half(t: int, w: Array) -> Array:
    return 0.5 * w


@pytest.mark.parametrize(
    ("functions", "memory"), [((value, gradient), 0), ((window_value, window_gradient), 2)], ids=["unary", "memory"]
)
def test_compiled_and_plain_give_the_same_numbers(functions: tuple[Any, Any], memory: int) -> None:
    fast = CustomLoss(*functions, rounds=20, dim=3, memory=memory, compile="always")
    slow = CustomLoss(*functions, rounds=20, dim=3, memory=memory, compile="never")
    assert (fast.compiled, fast.compile_note) == (True, "compiled")
    assert (slow.compiled, slow.compile_note) == (False, "plain Python, as asked")
    rng = np.random.default_rng(0)
    for t in (0, 7, 19):
        window = rng.standard_normal((memory + 1, 3))
        assert fast.value(t, window) == pytest.approx(slow.value(t, window), rel=1e-12)
        assert fast.unary_value(t, window[0]) == pytest.approx(slow.unary_value(t, window[0]), rel=1e-12)
        np.testing.assert_allclose(fast.gradient(t, window[0]), slow.gradient(t, window[0]), rtol=1e-12)


@pytest.mark.parametrize("compile", ["always", "never"])
def test_read_only_decisions_are_accepted(compile: str) -> None:
    losses = CustomLoss(value, gradient, rounds=20, dim=2, compile=compile)
    w = read_only(np.array([0.5, 0.25]))
    assert losses.value(0, w) == losses.unary_value(0, w)
    assert losses.gradient(0, w).shape == (2,)


def test_short_streams_are_compiled_only_when_asked() -> None:
    short, long = (CustomLoss(value, gradient, rounds, dim=2) for rounds in (WORTH_COMPILING - 1, WORTH_COMPILING))
    assert not short.compiled
    assert long.compiled
    assert str(WORTH_COMPILING) in short.compile_note
    assert short.unary_value(1, [0.5, 0.25]) == pytest.approx(long.unary_value(1, [0.5, 0.25]), rel=1e-15)


def test_what_numba_cannot_do_runs_as_it_is() -> None:
    losses = CustomLoss(with_text, half, rounds=WORTH_COMPILING, dim=2)
    assert not losses.compiled
    assert losses.compile_note.startswith("plain Python, because numba said: ")
    assert "Failed in nopython" not in losses.compile_note
    assert losses.unary_value(2, [1.0, 2.0]) == 3.0
    np.testing.assert_array_equal(losses.gradient(2, [1.0, 2.0]), [0.5, 1.0])


def test_always_says_why_not() -> None:
    with pytest.raises(ParameterError, match=r"CustomLoss: the functions could not be compiled: .* numba said"):
        CustomLoss(with_text, half, rounds=3, dim=2, compile="always")


class Changing:
    """A function of a Python object, whose numbers numba freezes at compile time."""

    def __init__(self) -> None:
        self.offset = 1.0

    def __call__(self, t: int, w: Array) -> float:
        return float(w.sum() + self.offset)


def test_callable_objects_run_as_they_are() -> None:
    losses = CustomLoss(Changing(), half, rounds=WORTH_COMPILING, dim=2)
    assert not losses.compiled
    assert losses.unary_value(0, [1.0, 2.0]) == 4.0


def random_value(t: int, w: Array) -> float:
    return float(np.random.random())  # noqa: NPY002


def test_compiled_functions_that_give_other_numbers_are_not_trusted() -> None:
    state = np.random.get_state()  # noqa: NPY002
    losses = CustomLoss(random_value, half, rounds=WORTH_COMPILING, dim=2)
    np.random.set_state(state)  # noqa: NPY002
    assert not losses.compiled
    assert losses.compile_note == "plain Python, because the compiled functions gave other numbers"


def logarithm(t: int, w: Array) -> float:
    return -math.log(w[0] - 0.5)


def test_the_point_tried_may_be_outside_the_users_domain() -> None:
    losses = CustomLoss(logarithm, half, rounds=WORTH_COMPILING, dim=1)
    assert losses.unary_value(0, [1.5]) == 0.0


@pytest.mark.parametrize("compile", ["always", "never"])
@pytest.mark.parametrize("w", [[1.0, 2.0], [3.0, 4.0]])
def test_an_index_out_of_range_is_an_error_and_not_garbage(compile: str, w: list[float]) -> None:
    losses = CustomLoss(lambda t, w: w[2 * t], lambda t, w: w[: t + 1].sum() * w, rounds=3, dim=2, compile=compile)
    assert losses.unary_value(0, w) == w[0]
    with pytest.raises(IndexError, match="out of bounds"):
        losses.unary_value(1, w)


@pytest.mark.parametrize("compile", ["auto", "never"])
@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (lambda t, w: np.zeros(3), r"gradient\(t=1, ...\) must be finite real numbers of shape \(2,\)"),
        (lambda t, w: w[:1].copy(), r"gradient\(t=1, ...\) must be finite real numbers of shape \(2,\)"),
        (lambda t, w: w / (t - 1.0), "got inf at|got nan at|division by zero"),
        (lambda t, w: w * 1j, "finite real numbers"),
        (lambda t, w: "up", "finite real numbers"),
    ],
    ids=["long", "short", "infinite", "complex", "text"],
)
def test_bad_gradients(bad: Any, message: str, compile: str) -> None:
    losses = CustomLoss(lambda t, w: w.sum(), bad, rounds=3, dim=2, compile=compile)
    with np.errstate(divide="ignore"), pytest.raises((InputError, ZeroDivisionError), match=message):
        losses.gradient(1, [1.0, 2.0])


@pytest.mark.parametrize("compile", ["auto", "never"])
@pytest.mark.parametrize(
    "bad",
    [lambda t, w: w, lambda t, w: np.nan * w[0], lambda t, w: None, lambda t, w: 1j],
    ids=["array", "nan", "none", "complex"],
)
def test_bad_values(bad: Any, compile: str) -> None:
    losses = CustomLoss(bad, half, rounds=3, dim=2, compile=compile)
    with pytest.raises(InputError, match=r"value\(t=1, ...\) must be .* The function given as value returned it."):
        losses.unary_value(1, [1.0, 2.0])


def spoil(t: int, w: Array) -> float:
    w[:] = 0.0
    return 1.0


@pytest.mark.parametrize("compile", ["always", "never"])
def test_a_function_that_writes_does_not_reach_the_callers_array(compile: str) -> None:
    losses = CustomLoss(spoil, half, rounds=3, dim=2, compile=compile)
    w = np.ones(2)
    losses.value(0, w)
    losses.unary_value(0, w)
    assert w.tolist() == [1.0, 1.0]


def test_constants_are_not_known() -> None:
    losses = CustomLoss(value, gradient, rounds=20, dim=2, compile="never")
    with pytest.raises(ParameterError, match="give gradient_bound= yourself"):
        losses.gradient_bound(dw.Ball(2))
    with pytest.raises(ParameterError, match="give switching_cost= yourself"):
        losses.switching_costs(dw.Ball(2))


def test_constants_that_are_given_are_returned() -> None:
    given = np.array([1.0, 3.0, 0.5])
    losses = CustomLoss(window_value, window_gradient, 20, 2, 2, "never", lipschitz=given, gradient_bound=7.0)
    given[:] = 0.0
    losses.lipschitz(dw.Ball(2))[:] = 0.0
    assert losses.lipschitz(dw.Ball(2)).tolist() == [1.0, 3.0, 0.5]
    assert losses.gradient_bound(dw.Ball(2)) == 7.0
    assert losses.switching_costs(dw.Ball(2)) == (4 * 3.0, 3.0 + 2 * 0.5)
    alone = CustomLoss(value, gradient, 20, 2, compile="never", lipschitz=4.0)
    assert alone.lipschitz(dw.Ball(2)).tolist() == [4.0]
    assert alone.switching_costs(dw.Ball(2)) == (0.0, 0.0)
    with pytest.raises(InputError, match="dim 2"):
        losses.lipschitz(dw.Ball(3))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"lipschitz": -1.0}, "lipschitz must be at least 0 everywhere, got -1"),
        ({"gradient_bound": -1.0}, "gradient_bound must be"),
        ({"value": 3}, "value must be a function of"),
        ({"gradient": 3}, "gradient must be a function of"),
        ({"rounds": 0}, "rounds must be a whole number of at least 1"),
        ({"dim": -1}, "dim must be a whole number of at least 1"),
        ({"memory": -1}, "memory must be a whole number of at least 0"),
        ({"compile": "sometimes"}, "compile must be one of 'auto', 'always', 'never', got 'sometimes'"),
    ],
)
def test_bad_arguments(changes: dict[str, Any], message: str) -> None:
    good: dict[str, Any] = {"value": value, "gradient": gradient, "rounds": 3, "dim": 2}
    with pytest.raises(ParameterError, match=f"CustomLoss: {message}"):
        CustomLoss(**(good | changes))


@pytest.mark.parametrize("bad", [[1.0, 2.0], [[1.0]], "steep", [np.nan]])
def test_bad_lipschitz_constants(bad: Any) -> None:
    with pytest.raises(InputError, match="CustomLoss: lipschitz must be"):
        CustomLoss(value, gradient, rounds=3, dim=2, compile="never", lipschitz=bad)
