"""Errors name their owner, the argument, what is expected and what was given."""

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import driftwise as dw
from driftwise._validate import (
    Checked,
    array,
    checked,
    choice,
    describe,
    instance,
    loose,
    number,
    read_only,
    seeded,
    whole,
)
from driftwise.errors import ArgumentError, DriftwiseError, InputError, ParameterError
from tests.cases import check_refused

PUBLIC = sorted(
    (
        cls
        for module in (dw, dw.mirror, dw.streams, dw.losses, dw.domains)
        for cls in vars(module).values()
        if isinstance(cls, Checked)
    ),
    key=lambda cls: cls.__name__,
)
CONCRETE = [cls for cls in dict.fromkeys(PUBLIC) if not inspect.isabstract(cls)]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: number("Owner", "name", "3"),
            ParameterError,
            "Owner: name must be a number that is finite and at most 1e+100 in size, got '3'.",
        ),
        (
            lambda: number("Owner", "name", -1, low=0.0),
            ParameterError,
            "Owner: name must be a number that is at least 0 and at most 1e+100 in size, got -1.",
        ),
        (
            lambda: number("Owner", "name", 0, low=0.0, exclusive=True),
            ParameterError,
            "Owner: name must be a number that is above 0 and at most 1e+100 in size, got 0.",
        ),
        (
            lambda: whole("Owner", "name", 1.5),
            ParameterError,
            "Owner: name must be a whole number of at least 1, got 1.5.",
        ),
        (
            lambda: whole("Owner", "name", 9, high=8),
            ParameterError,
            "Owner: name must be a whole number of at most 8, got 9.",
        ),
        (
            lambda: choice("Owner", "name", "c", ("a", "b")),
            ParameterError,
            "Owner: name must be one of 'a', 'b', got 'c'.",
        ),
        (
            lambda: instance("Owner", "name", 3, dict, "{}"),
            ParameterError,
            "Owner: name must be a dict, such as {}, got 3.",
        ),
        (
            lambda: array("Owner", "name", [1.0], (2,)),
            InputError,
            "Owner: name must be finite real numbers of shape (2,), got an array of shape (1,) and dtype float64.",
        ),
        (
            lambda: array("Owner", "name", [[1.0, np.nan]], ("n", 2)),
            InputError,
            "Owner: name must be finite real numbers of shape (n, 2), at most 1e+100 in size, got nan at [0, 1].",
        ),
        (
            lambda: array("Owner", "name", np.inf, ()),
            InputError,
            "Owner: name must be finite real numbers of shape (), at most 1e+100 in size, got inf.",
        ),
        (
            lambda: array("Owner", "name", [1j], (1,)),
            InputError,
            "Owner: name must be finite real numbers of shape (1,), got an array of shape (1,) and dtype complex128.",
        ),
        (
            lambda: loose("Owner", "name", [[1.0], [1.0, 2.0]]),
            InputError,
            "Owner: name must be real numbers in rows of one length, got [[1.0], [1.0, 2.0]].",
        ),
    ],
)
def test_texts(call: Callable[[], object], error: type[DriftwiseError], message: str) -> None:
    with pytest.raises(error) as caught:
        call()
    assert str(caught.value) == message


@pytest.mark.parametrize("value", [True, np.True_, b"1", None, [1.0], 1j, np.inf, -np.inf, np.nan, 1e101, 10**400])
def test_number_refuses(value: object) -> None:
    with pytest.raises(ParameterError, match="Owner: name must be a number"):
        number("Owner", "name", value)


@pytest.mark.parametrize("value", [2, 2.0, np.float32(2.0), np.int8(2), np.array(2.0)])
def test_number_accepts(value: object) -> None:
    result = number("Owner", "name", value)
    assert type(result) is float
    assert result == 2.0


@pytest.mark.parametrize("value", [True, np.True_, 2.0, "2", None, 0, -3, 2**53 + 1])
def test_whole_refuses(value: object) -> None:
    with pytest.raises(ParameterError, match="Owner: name must be a whole number"):
        whole("Owner", "name", value)


@pytest.mark.parametrize("value", [2, np.int8(2), np.uint64(2)])
def test_whole_accepts(value: object) -> None:
    assert type(whole("Owner", "name", value)) is int


@pytest.mark.parametrize(
    "value",
    [[], [[]], ["1"], [None], [True], [1e101], [10**400], [1.0, 10**400], [len], np.array(["2020"], "M8[Y]")],
    ids=describe,
)
def test_array_refuses(value: Any) -> None:
    with pytest.raises(InputError, match="Owner: name must be finite real numbers"):
        array("Owner", "name", value, ("n",))


@pytest.mark.parametrize("given", [[1, 2], np.array([1, 2], np.uint8), np.array([1, 9, 2, 9], np.float32)[::2]])
def test_array_reads_any_real_numbers(given: Any) -> None:
    result = array("Owner", "name", given, (2,))
    assert result.dtype == np.float64
    assert result.flags.c_contiguous
    assert result.tolist() == [1.0, 2.0]


@pytest.mark.parametrize("copy", [False, True])
def test_array_copies_only_when_asked(copy: bool) -> None:
    given = np.array([1.0, 2.0])
    assert np.shares_memory(array("Owner", "name", given, (2,), copy=copy), given) is not copy


def test_describe_is_short() -> None:
    assert describe(np.zeros((2, 3))) == "an array of shape (2, 3) and dtype float64"
    assert describe("x" * 100) == "'" + "x" * 56 + "..."


def test_read_only_marks_the_array_itself() -> None:
    values = np.zeros(2)
    assert read_only(values) is values
    with pytest.raises(ValueError, match="read-only"):
        values[0] = 1.0


@checked
def sample(first: int, *, second: float = 2.0) -> float:
    """Add two numbers."""
    return first + second


@pytest.mark.parametrize(
    ("arguments", "keywords", "reason"),
    [
        ((1,), {"third": 3}, "got an unexpected keyword argument 'third'"),
        ((), {}, "missing a required argument: 'first'"),
        ((1, 2.0), {}, "too many positional arguments"),
        ((1,), {"first": 1}, "multiple values for argument 'first'"),
    ],
)
def test_checked_functions_show_their_call(arguments: Any, keywords: Any, reason: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        sample(*arguments, **keywords)
    assert str(caught.value) == f"sample: {reason}; the call is sample(first, *, second=2.0)."
    assert isinstance(caught.value, TypeError)


def test_checked_functions_stay_what_they_are() -> None:
    assert sample(1, second=3.0) == 4.0
    assert (sample.__name__, sample.__doc__) == ("sample", "Add two numbers.")
    assert list(inspect.signature(sample).parameters) == ["first", "second"]


@pytest.mark.parametrize("cls", CONCRETE, ids=lambda cls: cls.__name__)
def test_public_classes_show_their_constructor(cls: type) -> None:
    own = cls.__init__ is not object.__init__  # type: ignore[misc]
    expected = list(inspect.signature(cls.__init__).parameters.values())[1:] if own else []  # type: ignore[misc]
    shown = list(inspect.signature(cls).parameters.values())
    if expected and expected[-1].kind is inspect.Parameter.VAR_KEYWORD:  # shared options, shown by name
        shared = expected.pop().annotation.__args__[0].__annotations__
        assert [parameter.name for parameter in shown[len(expected) :]] == list(shared)
        assert all(parameter.kind is inspect.Parameter.KEYWORD_ONLY for parameter in shown[len(expected) :])
        shown = shown[: len(expected)]
    assert shown == expected
    with pytest.raises(ArgumentError) as caught:
        cls(no_such_argument=1)
    text = str(caught.value)
    assert text.startswith(f"{cls.__name__}: ")
    call = text.split("; the call is ")[1]
    assert call.startswith(f"{cls.__name__}(")
    assert all(parameter.name in call for parameter in expected)
    assert "numpy._typing" not in call


def test_there_are_public_classes_to_look_at() -> None:
    assert {dw.Ball, dw.SquaredLoss, dw.Scream, dw.mirror.PNorm, dw.streams.DriftingRegression} <= set(CONCRETE)


def test_seeded_gives_the_same_generator_for_the_same_seed() -> None:
    assert seeded("owner", 7).random() == seeded("owner", 7).random() != seeded("owner", 8).random()
    rng = np.random.default_rng(0)
    assert seeded("owner", rng) is rng


@pytest.mark.parametrize("seed", [-1, 1.5, None, "x"])
def test_seeded_refuses_what_is_no_seed(seed: object) -> None:
    check_refused(lambda: seeded("owner", seed), "owner: seed", kind=ParameterError)
