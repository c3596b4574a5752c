"""Losses written with jax.numpy, against those that are built in."""

import copy
import pickle
from typing import Any

import jax.numpy as jnp
import numpy as np
import pandas as pd
import polars as pl
import pytest

import driftwise as dw
from driftwise.errors import ArgumentError, InputError, ParameterError
from driftwise.losses import from_jax
from driftwise.testing import check_loss
from tests.cases import check_refused

ROUNDS = 30
RNG = np.random.default_rng(3)
X, Y = RNG.standard_normal((ROUNDS, 2)), RNG.standard_normal(ROUNDS)
DAYS = pd.date_range("2024-03-01", periods=ROUNDS, name="day")


def half_square(row: Any, w: Any) -> Any:
    return 0.5 * (row["x"] @ w - row["y"]) ** 2


def by_number(t: Any, w: Any) -> Any:
    return 0.5 * (jnp.asarray(X)[t] @ w - jnp.asarray(Y)[t]) ** 2


def of_columns(row: Any, w: Any) -> Any:
    return 0.5 * (row["a"] * w[0] + row["b"] * w[1] - row["y"]) ** 2


SAME = dw.SquaredLoss(X, Y)
FRAME = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": Y}, index=DAYS)
STREAMS: dict[str, dw.LossStream] = {
    "dict": from_jax(half_square, data={"x": X, "y": Y}, dim=2),
    "tuple": from_jax(lambda row, w: 0.5 * (row[0] @ w - row[1]) ** 2, data=(X, Y), dim=2),
    "matrix": from_jax(lambda row, w: 0.5 * (row[:2] @ w - row[2]) ** 2, data=np.column_stack([X, Y]), dim=2),
    "rounds": from_jax(by_number, rounds=ROUNDS, dim=2),
    "numpy by number": from_jax(lambda t, w: 0.5 * (X[t] @ w - Y[t]) ** 2, rounds=ROUNDS, dim=2),
    "pandas": from_jax(of_columns, data=FRAME, dim=2),
    "polars": from_jax(of_columns, data=pl.from_pandas(FRAME), dim=2),
}


@pytest.mark.parametrize("name", STREAMS)
def test_values_and_gradients_are_those_of_the_built_in_loss(name: str) -> None:
    losses = STREAMS[name]
    assert (len(losses), losses.dim, losses.memory) == (ROUNDS, 2, 0)
    for t in (0, 7, ROUNDS - 1):
        w = RNG.standard_normal(2)
        assert losses.value(t, w) == pytest.approx(SAME.value(t, w), rel=1e-12)
        np.testing.assert_allclose(losses.gradient(t, w), SAME.gradient(t, w), rtol=1e-12)
        assert losses.gradient(t, w).dtype == np.float64


@pytest.mark.parametrize(
    "make",
    [
        lambda: dw.OGD(dw.Ball(2), step=0.3),
        lambda: dw.Ader(dw.Ball(2), gradient_bound=4.0, variant="original"),
        lambda: dw.SelfTunedScream(dw.Ball(2), switching_cost=1.0),
    ],
    ids=["OGD", "own gradients", "SelfTunedScream"],
)
def test_learners_play_them_as_the_built_in_loss(make: Any) -> None:
    trace, same = (dw.play(make(), each, 1.0) for each in (STREAMS["dict"], SAME))
    np.testing.assert_allclose(trace.decisions, same.decisions, atol=1e-12)
    assert trace.total == pytest.approx(same.total, rel=1e-10)


def test_the_self_tuned_learner_learns_from_their_gradients() -> None:
    losses, again = STREAMS["dict"], STREAMS["rounds"]
    runs = [dw.play(dw.SelfTunedLearner(dw.Ball(2), switching_cost=0.1), each, 0.1) for each in (losses, again)]
    np.testing.assert_allclose(runs[0].decisions, runs[1].decisions, atol=1e-9)
    assert runs[0].total_loss < SAME.unary_losses(np.array([[2.0, 2.0]])).sum()
    learner, other = (dw.SelfTunedLearner(dw.Ball(2), switching_cost=0.1) for _ in range(2))
    for t in range(ROUNDS):
        learner.act()
        learner.observe(losses[t])
    dw.play(other, losses, 0.1)
    assert learner.act().tobytes() == other.act().tobytes()
    assert dw.from_bytes(learner.to_bytes()).act().tobytes() == learner.act().tobytes()


@pytest.mark.parametrize("name", ["pandas", "polars"])
def test_a_frame_gives_what_its_rounds_are_called(name: str) -> None:
    trace = dw.play(dw.OGD(dw.Ball(2), step=0.3), STREAMS[name])
    assert (trace.index is not None) == (name == "pandas")  # a polars frame has no index
    check_refused(
        lambda: from_jax(half_square, data={"x": FRAME[["a", "b"]], "y": FRAME["y"].shift(freq="D")}, dim=2),
        "data['x'] and data['y'] have different indexes",
    )
    check_refused(
        lambda: from_jax(half_square, data={"x": FRAME[["a"]].where(FRAME > 0.0), "y": Y}, dim=1),
        "data['x'] has",
        "missing",
    )


def test_memory_is_a_window_with_the_oldest_first() -> None:
    taps = [1.0, 0.5]
    same = dw.FilteredLoss(taps, features=X, targets=Y)

    def filtered(row: Any, window: Any) -> Any:
        score = taps[0] * row["x"] @ window[1] + taps[1] * row["x"] @ window[0]
        return 0.5 * (score - row["y"]) ** 2

    losses = from_jax(filtered, data={"x": X, "y": Y}, dim=2, memory=1, lipschitz=5.0, gradient_bound=9.0)
    window = RNG.standard_normal((2, 2))
    assert losses.value(4, window) == pytest.approx(same.value(4, window), rel=1e-12)
    assert losses.unary_value(4, window[0]) == pytest.approx(same.unary_value(4, window[0]), rel=1e-12)
    np.testing.assert_allclose(losses.gradient(4, window[0]), same.gradient(4, window[0]), rtol=1e-12)
    assert losses.lipschitz(dw.Ball(2)).tolist() == [5.0, 5.0]
    assert losses.gradient_bound(dw.Ball(2)) == 9.0
    trace, expected = (dw.play(dw.OGD(dw.Ball(2), step=0.1), each) for each in (losses, same))
    assert trace.total_loss == pytest.approx(expected.total_loss, rel=1e-10)


def test_it_keeps_the_contract_of_losses() -> None:
    given = {"x": X, "y": Y}
    check_loss(from_jax(half_square, data=given, dim=2, lipschitz=99.0, gradient_bound=99.0), dw.Ball(2))


def test_the_loss_of_one_round_is_taken_by_learners_and_committees() -> None:
    loss = from_jax(lambda w: 0.5 * jnp.sum((w - 2.0) ** 2))
    learner = dw.OGD(dw.Ball(2, radius=9.0), step=1.0)
    learner.act()
    learner.observe(loss)
    assert learner.act().tolist() == [2.0, 2.0]
    committee = dw.Committee(2)
    committee.act([[2.0, 2.0], [0.0, 0.0]])
    committee.observe(loss)
    assert committee.weights[0] > 0.7
    numbers = dw.Committee(2)
    numbers.act([2.0, 0.0])
    numbers.observe(loss)
    assert numbers.weights[0] > 0.7
    assert repr(loss) == "losses.from_jax(<lambda>)"
    check_refused(lambda: loss.value([[1.0]]), "w must be", kind=InputError)
    check_refused(lambda: loss.gradient([float("nan")]), "w must be", kind=InputError)


def test_a_stream_can_be_pickled_and_copied_and_so_can_its_trace() -> None:
    losses = STREAMS["dict"]
    w = np.array([0.3, -0.2])
    expected = losses.gradient(3, w).tolist()
    for other in (pickle.loads(pickle.dumps(losses)), copy.deepcopy(losses)):
        assert other.gradient(3, w).tolist() == expected
    trace = dw.play(dw.OGD(dw.Ball(2), step=0.3), losses)
    assert pickle.loads(pickle.dumps(trace)).stream.gradient(3, w).tolist() == expected


def test_a_run_that_meets_a_number_that_is_not_finite_leaves_the_learner_as_it_was() -> None:
    losses = from_jax(lambda t, w: jnp.log(2.5 - t) + jnp.sum(w), rounds=5, dim=1)
    learner = dw.OGD(dw.Ball(1), step=0.1)
    before = learner.to_bytes()
    check_refused(lambda: dw.play(learner, losses), "value(t=3, ...)", "got nan", kind=InputError)
    assert learner.to_bytes() == before


UNTYPED: Any = from_jax


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (lambda: UNTYPED(3), ParameterError, "function must be a function of (w), (t, w) or (row, w), got 3"),
        (lambda: UNTYPED(half_square, dim=2), ParameterError, "need dim= and either rounds= or data="),
        (lambda: UNTYPED(half_square, rounds=3), ParameterError, "need dim="),
        (lambda: UNTYPED(half_square, dim=2, rounds=3, data=X), ParameterError, "either rounds= or data="),
        (lambda: UNTYPED(half_square, memory=1), ParameterError, "need dim="),
        (lambda: UNTYPED(half_square, dim=0, rounds=3), ParameterError, "dim must be a whole number"),
        (lambda: UNTYPED(half_square, dim=2, rounds=0), ParameterError, "rounds must be a whole number"),
        (lambda: UNTYPED(half_square, dim=2, rounds=3, memory=-1), ParameterError, "memory must be a whole number"),
        (lambda: UNTYPED(half_square, dim=2, data=pl.DataFrame({"a": ["x"]})), InputError, "must be numbers"),
        (lambda: UNTYPED(half_square, dims=2), ArgumentError, "Did you mean dim?"),
    ],
)
def test_wrong_calls_are_refused_by_name(call: Any, kind: type[Exception], words: str) -> None:
    check_refused(call, words, kind=kind)
