"""What sequences cost, round by round, whoever wrote the losses."""

import numpy as np
import pytest

import driftwise as dw
from driftwise._validate import Array
from driftwise.errors import InputError
from driftwise.optimum import values
from tests.cases import STREAMS, check_refused, custom, stream
from tests.optimum.problems import DIM

ROUNDS = 11


def decisions() -> Array:
    return dw.Ball(DIM).project(np.random.default_rng(0).standard_normal((ROUNDS, DIM)))


@pytest.mark.parametrize("kind", STREAMS)
def test_policy_losses_are_those_of_the_windows(kind: str) -> None:
    losses, w = stream(kind, DIM, ROUNDS), decisions()
    expected = []
    for t in range(ROUNDS):
        window = [w[max(t - age, 0)] for age in range(losses.memory, -1, -1)]
        expected.append(losses.value(t, window))
    np.testing.assert_allclose(losses.policy_losses(w), expected, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("kind", STREAMS)
@pytest.mark.parametrize("rows", [1, ROUNDS])
def test_unary_losses_and_slopes_are_those_of_the_rounds(kind: str, rows: int) -> None:
    losses, w = stream(kind, DIM, ROUNDS), decisions()[:rows]
    points = [w[min(t, rows - 1)] for t in range(ROUNDS)]
    expected = [losses.unary_value(t, point) for t, point in enumerate(points)]
    np.testing.assert_allclose(losses.unary_losses(w), expected, rtol=1e-12, atol=1e-14)
    slopes = [losses.gradient(t, point) for t, point in enumerate(points)]
    np.testing.assert_allclose(losses.unary_gradients(w), slopes, rtol=1e-12, atol=1e-14)


def test_a_compiled_custom_stream_is_read_like_a_plain_one() -> None:
    w = decisions()
    fast, slow = (custom(DIM, ROUNDS, 2, mode).policy_losses(w) for mode in ("always", "never"))
    np.testing.assert_allclose(fast, slow, rtol=1e-13)


@pytest.mark.parametrize(("norm", "expected"), [(1.0, 7.0), (2.0, 5.0), (np.inf, 4.0)])
def test_step_lengths_begin_with_0_and_follow_their_norm(norm: float, expected: float) -> None:
    moves = values.step_lengths(np.array([[1.0, 1.0], [4.0, -3.0], [4.0, -3.0]]), norm)
    np.testing.assert_allclose(moves, [0.0, expected, 0.0], rtol=1e-15)


def test_comparators_outside_are_named_with_their_round() -> None:
    v = np.zeros((ROUNDS, DIM))
    v[[3, 7], 0] = 2.0
    check_refused(
        lambda: values.read_comparators("me", v, ROUNDS, dw.Ball(DIM)),
        "me: comparators",
        "round 3",
        "domain.project(comparators)",
        kind=InputError,
    )


def test_one_comparator_is_held_for_all_rounds() -> None:
    v = values.read_comparators("me", [0.5, 0.0, 0.0, 0.1], ROUNDS, dw.Ball(DIM))
    np.testing.assert_array_equal(v, np.tile([0.5, 0.0, 0.0, 0.1], (ROUNDS, 1)))


def test_comparators_of_one_coordinate_may_be_plain_numbers() -> None:
    line = np.linspace(0.0, 1.0, ROUNDS)
    read = values.read_comparators("owner", line, ROUNDS, dw.Box([0.0], [1.0]))
    np.testing.assert_array_equal(read, line[:, None])


def test_what_has_decisions_stands_for_them() -> None:
    losses, ball = stream("squared", DIM, ROUNDS), dw.Ball(DIM)
    trace = dw.play(dw.OGD(ball, step=0.1), losses)
    best = dw.regret.hindsight_optimum(losses, ball, 0.5)
    for given in (trace, best):
        np.testing.assert_array_equal(values.read_comparators("owner", given, ROUNDS, ball), given.decisions)  # type: ignore[arg-type]


def test_losses_are_no_comparators() -> None:
    losses = stream("squared", DIM, ROUNDS)
    check_refused(
        lambda: values.read_comparators("owner", losses, ROUNDS, dw.Ball(DIM)),  # type: ignore[arg-type]
        "comparators must be decisions",
        kind=InputError,
    )


@pytest.mark.parametrize("kind", STREAMS)
def test_some_rounds_are_a_part_of_all(kind: str) -> None:
    losses, w, part = stream(kind, DIM, ROUNDS), decisions(), range(3, 8)
    np.testing.assert_array_equal(losses.unary_losses(w[3:8], part), losses.unary_losses(w)[3:8])
    np.testing.assert_array_equal(losses.unary_gradients(w[3:8], part), losses.unary_gradients(w)[3:8])
