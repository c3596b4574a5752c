"""Ways to a gradient: compiled by JAX, anew in each call, or by differences, and what is said of the last."""

import copy
import pickle
import subprocess
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import driftwise as dw
from driftwise.errors import InputError
from driftwise.losses import DifferencesWarning, from_jax
from driftwise.losses import autodiff as module
from driftwise.losses.autodiff import COMPILED, DIFFERENCES, TRACED, Differentiable, rows_of
from tests.cases import check_refused


def smooth(w: Any) -> Any:
    return jnp.sum(jnp.cosh(w - 1.0))


def numpy_only(w: Any) -> float:
    return float(np.cosh(np.asarray(w) - 1.0).sum())


def _wide() -> bool:
    """Return the user's own setting of JAX."""
    return bool(jax.config.values["jax_enable_x64"])


W = np.array([0.5, 3.0])


@pytest.fixture
def no_jax(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setitem(sys.modules, "jax", None)
    module._jax.cache_clear()
    yield
    module._jax.cache_clear()


def test_a_function_is_traced_once_and_not_called_again() -> None:
    calls = 0

    def counted(given: Any, w: Any) -> Any:
        nonlocal calls
        calls += 1
        return jnp.sum((given * w) ** 2)

    inner = Differentiable("test", counted)
    for k in range(5):
        w = np.array([1.0, k])
        assert inner.value(2.0, w, key=k) == 4.0 * float(w @ w)
        assert inner.gradient(2.0, w, key=k).tolist() == (8.0 * w).tolist()
    assert (calls, inner.how) == (1, COMPILED)


def test_numbers_are_in_double_precision_and_the_users_setting_is_left_alone() -> None:
    before = _wide()
    assert not before
    third = from_jax(lambda w: jnp.sum(w / 3.0))
    assert third.gradient([1.0]).tolist() == [1.0 / 3.0]
    assert third.value([1.0]) == 1.0 / 3.0
    inside: list[Any] = []
    from_jax(lambda w: inside.append(w.dtype) or jnp.sum(w)).value([1.0])  # type: ignore[func-returns-value]
    assert inside == [np.float64]
    assert _wide() == before
    assert jnp.ones(1).dtype == np.float32
    assert jax.jit(lambda x: x * 2.0)(1.0).dtype == np.float32


def test_the_setting_is_left_alone_when_the_function_fails() -> None:
    def fail(w: Any) -> Any:
        raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine"):
        from_jax(fail).gradient(W)
    assert not _wide()


def test_a_function_that_branches_is_differentiated_anew_in_each_call() -> None:
    loss = from_jax(lambda w: jnp.sum(w**2) if w[0] > 0.0 else -jnp.sum(w))
    assert loss.how is None
    assert loss.gradient([1.0, 2.0]).tolist() == [2.0, 4.0]
    assert loss.gradient([-1.0, 2.0]).tolist() == [-1.0, -1.0]
    assert loss.how == TRACED


def _warned(call: Any) -> list[warnings.WarningMessage]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return caught


@pytest.mark.parametrize(
    ("function", "why"),
    [
        (numpy_only, "TracerArrayConversionError"),
        (lambda w: jnp.sum(jnp.cosh(w - 1.0)) + w[0].item() - w[0], "cannot differentiate it"),
        # Without an error, but a part of the gradient is lost on the way.
        (lambda w: jnp.sum(jnp.cosh(jax.lax.stop_gradient(w) - 1.0)) if w[0] > 0.0 else 0.0, "cannot differentiate it"),
    ],
    ids=["numpy", "item", "lost"],
)
def test_what_jax_cannot_differentiate_is_measured_by_differences_with_one_warning(function: Any, why: str) -> None:
    loss = from_jax(function)
    caught = _warned(lambda: [loss.gradient(W), loss.gradient(W), loss.value(W)])
    (warning,) = caught
    assert warning.category is DifferencesWarning
    assert issubclass(DifferencesWarning, UserWarning)
    assert why in str(warning.message)
    assert "losses.from_jax(" in str(warning.message)
    assert warning.filename == __file__  # it points to the user's line
    assert loss.how == DIFFERENCES
    np.testing.assert_allclose(loss.gradient(W), np.sinh(W - 1.0), rtol=1e-8)
    assert loss.value(W) == pytest.approx(float(np.cosh(W - 1.0).sum()), rel=1e-14)


def test_in_a_run_the_warning_points_to_the_call_of_play() -> None:
    losses = from_jax(lambda t, w: numpy_only(w), dim=2, rounds=5)
    (warning,) = _warned(lambda: dw.play(dw.OGD(dw.Ball(2), step=0.1), losses))
    assert warning.filename == __file__


@pytest.mark.usefixtures("no_jax")
def test_without_jax_gradients_are_differences_and_the_extra_is_named() -> None:
    loss = from_jax(numpy_only)
    (warning,) = _warned(lambda: loss.gradient(W))
    assert "JAX is not installed (pip install 'driftwise[jax]')" in str(warning.message)
    np.testing.assert_allclose(loss.gradient(W), np.sinh(W - 1.0), rtol=1e-8)
    losses = from_jax(lambda row, w: (row * w[0] - 1.0) ** 2, dim=1, data=[1.0, 2.0])
    (warning,) = _warned(lambda: losses.value(1, [1.0]))
    assert losses.value(1, [1.0]) == 1.0
    np.testing.assert_allclose(losses.gradient(1, [1.0]), [4.0], rtol=1e-8)


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda w: w, "must return one real number, such as ((w - 1) ** 2).sum(), got shape (2,)"),
        (lambda w: w[:1], "got shape (1,)"),
        (lambda w: None, "got None"),
        (lambda w: "a", "got 'a'"),
        (lambda w: jnp.sum(w) * 1j, "got "),
        (lambda w: jnp.log(-jnp.sum(w)), "nan"),
        (lambda w: jnp.inf * w[0], "inf"),
        (lambda w: jnp.sum(w) * 1e200, "at most 1e+100"),
    ],
)
def test_what_is_no_finite_number_is_a_typed_error_without_a_warning(function: Any, words: str) -> None:
    loss = from_jax(function)
    for call in (loss.gradient, loss.value, loss.gradient):
        check_refused(lambda ask=call: ask(W), words, kind=InputError)  # type: ignore[misc]


def test_a_gradient_that_is_not_finite_is_refused() -> None:
    root = from_jax(lambda w: jnp.sqrt(w[0]))
    assert root.value([0.0]) == 0.0
    check_refused(lambda: root.gradient([0.0]), "the gradient of the function must be finite", "got inf")
    # Where the function itself is not finite, whatever JAX finds is no gradient.
    check_refused(lambda: from_jax(lambda w: jnp.log(w[0])).gradient([-1.0]), "the function is nan at w = [-1.]")


@pytest.mark.filterwarnings("ignore::driftwise.losses.DifferencesWarning")
@pytest.mark.parametrize("function", [smooth, numpy_only])
def test_what_is_pickled_or_copied_gives_the_same(function: Any) -> None:
    loss = from_jax(function)
    expected = loss.gradient(W).tolist()
    for other in (
        pickle.loads(pickle.dumps(loss)),
        copy.deepcopy(loss),
        pickle.loads(pickle.dumps(from_jax(function))),
    ):
        assert other.gradient(W).tolist() == expected
        assert other.how == loss.how


def test_a_copy_shares_what_was_compiled() -> None:
    loss = from_jax(smooth)
    loss.gradient(W)
    assert copy.deepcopy(loss)._function is loss._function


def test_rows_are_of_the_form_of_the_data() -> None:
    data = {"x": np.arange(6.0).reshape(3, 2), "more": (np.arange(3), [True, False, True])}
    row, rounds = rows_of("test", data)
    assert rounds == 3
    assert row(1)["x"].tolist() == [2.0, 3.0]
    assert row(2)["more"] == (2, True)
    data["x"][:] = 0.0  # type: ignore[index]
    assert row(1)["x"].tolist() == [2.0, 3.0]
    assert pickle.loads(pickle.dumps(row))(1)["x"].tolist() == [2.0, 3.0]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({"x": [1.0, 2.0], "y": [1.0]}, "one row a round, got [1, 2] rows"),
        (({"x": [1.0]}, [1.0, 2.0]), "one row a round"),
        ({}, "one row a round"),
        ([], "arrays of numbers with a row for each round"),
        (["a"], "arrays of numbers"),
        (3.0, "arrays of numbers"),
        ([1.0, np.nan], "data must be finite"),
        ([[1.0], [np.inf]], "in row 1"),
    ],
)
def test_data_that_is_no_rows_is_refused(data: Any, words: str) -> None:
    check_refused(lambda: rows_of("test", data), words, kind=InputError)


def test_driftwise_does_not_import_jax_before_it_is_asked_for() -> None:
    program = (
        "import sys, driftwise as dw; import driftwise.adapters.jax; from driftwise.control import costs; "
        "dw.losses.from_jax(abs); costs.from_jax(max); print('jax' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
