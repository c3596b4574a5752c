"""What every disturbance promises: rows, bounds, seeds, and what is refused."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from driftwise._validate import Array
from driftwise.control import (
    AdversarialDisturbance,
    AutoregressiveDisturbance,
    ConstantDisturbance,
    Disturbance,
    GaussianDisturbance,
    RandomWalkDisturbance,
    SinusoidDisturbance,
    SquareWaveDisturbance,
    UniformDisturbance,
)
from driftwise.control.plants.disturbances.base import as_disturbances
from driftwise.errors import ArgumentError, InputError, ParameterError
from tests.cases import check_refused

KINDS: dict[str, Callable[..., Disturbance]] = {
    "gaussian": lambda **more: GaussianDisturbance(0.5, **more),
    "uniform": lambda **more: UniformDisturbance(0.5, **more),
    "constant": lambda **more: ConstantDisturbance(-0.5, **more),
    "sinusoid": lambda **more: SinusoidDisturbance(0.5, 7.5, **more),
    "switching sinusoid": lambda **more: SinusoidDisturbance(0.5, 7.5, switch_every=10, **more),
    "walk": lambda **more: RandomWalkDisturbance(0.3, 0.5, **more),
    "autoregressive": lambda **more: AutoregressiveDisturbance(0.7, 0.5, **more),
    "square": lambda **more: SquareWaveDisturbance(0.5, 7, **more),
    "adversarial": lambda **more: AdversarialDisturbance(0.5, **more),
}


PER_COORDINATE = ("constant", "sinusoid", "switching sinusoid", "square")


@pytest.mark.parametrize("name", KINDS)
def test_rows_have_their_shape_and_keep_their_bound(name: str) -> None:
    disturbance = KINDS[name]()
    for rounds, dim in ((1, 1), (1, 3), (400, 1), (400, 2), (400, 5)):
        rows = disturbance.sample(rounds, dim, seed=rounds + dim)
        assert (rows.shape, rows.dtype.name) == ((rounds, dim), "float64")
        assert rows.flags.c_contiguous
        assert rows.flags.writeable
        largest = np.linalg.norm(rows, axis=1).max()
        assert largest <= disturbance.bound_for(dim) * (1.0 + 1e-14)
        # A bound that no row comes near would be no use.
        if rounds == 400 and disturbance.bound < math.inf:
            assert largest >= 0.6 * disturbance.bound_for(dim)


@pytest.mark.parametrize("name", KINDS)
def test_bounds(name: str) -> None:
    disturbance = KINDS[name]()
    unbounded = name in ("gaussian", "autoregressive")
    assert disturbance.bound == disturbance.bound_for(1) == (math.inf if unbounded else 0.5)
    assert disturbance.bound_for(4) == disturbance.bound * (2.0 if name in PER_COORDINATE else 1.0)
    assert disturbance.push == (0.5 if name == "adversarial" else 0.0)


@pytest.mark.parametrize("name", KINDS)
def test_seeds(name: str) -> None:
    drawn, own = KINDS[name](), KINDS[name](seed=3)
    assert (drawn.seed, own.seed) == (None, 3)
    rows = drawn.sample(30, 2, seed=3)
    np.testing.assert_array_equal(rows, drawn.sample(30, 2, seed=3))
    np.testing.assert_array_equal(rows, drawn.sample(30, 2, seed=np.random.default_rng(3)))
    np.testing.assert_array_equal(rows, own.sample(30, 2, seed=4))
    np.testing.assert_array_equal(rows, own.sample(30, 2))
    np.testing.assert_array_equal(drawn.sample(30, 2), drawn.sample(30, 2, seed=0))
    if name != "constant":
        assert (rows != drawn.sample(30, 2, seed=4)).any()
        assert (rows[:, 0] != rows[:, 1]).any()


def test_the_own_seed_leaves_the_generator_of_the_run_alone() -> None:
    rng = np.random.default_rng(1)
    GaussianDisturbance(seed=5).sample(10, 2, rng)
    assert rng.random() == np.random.default_rng(1).random()


def test_no_global_random_state() -> None:
    before = np.random.get_state()[1].copy()  # type: ignore[index]  # noqa: NPY002
    for make in KINDS.values():
        make().sample(5, 2)
    np.testing.assert_array_equal(before, np.random.get_state()[1])  # type: ignore[index]  # noqa: NPY002


@pytest.mark.parametrize("name", KINDS)
def test_the_text_of_a_disturbance_makes_it_again(name: str) -> None:
    disturbance = KINDS[name](seed=3)
    again = eval(repr(disturbance))
    assert repr(again) == repr(disturbance)
    np.testing.assert_array_equal(again.sample(5, 2), disturbance.sample(5, 2))
    assert "seed" not in repr(KINDS[name]())


@pytest.mark.parametrize(
    ("call", "words", "kind"),
    [
        (lambda: GaussianDisturbance(-1.0), ("GaussianDisturbance", "scale"), ParameterError),
        (lambda: GaussianDisturbance(math.nan), ("scale",), ParameterError),
        (lambda: GaussianDisturbance(sigma=1.0), ("sigma", "scale"), ArgumentError),  # type: ignore[call-arg]
        (lambda: GaussianDisturbance(seed=-1), ("GaussianDisturbance", "seed"), ParameterError),
        (lambda: GaussianDisturbance(seed=0.5), ("seed",), ParameterError),  # type: ignore[arg-type]
        (lambda: UniformDisturbance(bound=math.inf), ("bound",), ParameterError),
        (lambda: ConstantDisturbance([[1.0]]), ("value",), InputError),
        (lambda: ConstantDisturbance([1.0, math.nan]), ("value", "nan"), InputError),
        (lambda: ConstantDisturbance("a"), ("value",), InputError),
        (lambda: SinusoidDisturbance(period=1.9), ("period", "2"), ParameterError),
        (lambda: SinusoidDisturbance(amplitude=-1.0), ("amplitude",), ParameterError),
        (lambda: SinusoidDisturbance(switch_every=0), ("switch_every",), ParameterError),
        (lambda: RandomWalkDisturbance(bound=0.0), ("bound",), ParameterError),
        (lambda: RandomWalkDisturbance(step=1e101), ("step",), ParameterError),
        (lambda: AutoregressiveDisturbance(1.0), ("coefficient", "RandomWalkDisturbance"), ParameterError),
        (lambda: AutoregressiveDisturbance(-1.5), ("coefficient", "-1.5"), ParameterError),
        (lambda: SquareWaveDisturbance(period=1), ("period",), ParameterError),
        (lambda: SquareWaveDisturbance(period=2.5), ("period",), ParameterError),  # type: ignore[arg-type]
        (lambda: AdversarialDisturbance(-0.1), ("bound",), ParameterError),
        (lambda: GaussianDisturbance().sample(0, 2), ("GaussianDisturbance.sample", "rounds"), ParameterError),
        (lambda: GaussianDisturbance().sample(5, 0), ("dim",), ParameterError),
        (lambda: GaussianDisturbance(seed=1).sample(5, 1, seed="x"), ("seed",), ParameterError),  # type: ignore[arg-type]
        (lambda: UniformDisturbance().bound_for(0), ("dim",), ParameterError),
        (lambda: SinusoidDisturbance().bound_for(1.5), ("dim",), ParameterError),  # type: ignore[arg-type]
    ],
)
def test_bad_arguments_are_refused(call: Callable[[], object], words: tuple[str, ...], kind: type[Exception]) -> None:
    check_refused(call, *words, kind=kind)


def test_a_kind_of_ones_own() -> None:
    class Ramp(Disturbance):
        bound = math.inf

        def _rows(self, rounds: int, dim: int, rng: np.random.Generator) -> Array:
            return np.tile(np.arange(float(rounds))[:, None], (1, dim))

    rows, push = as_disturbances("simulate", Ramp(), 3, 2, np.random.default_rng(0))
    np.testing.assert_array_equal(rows, [[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]])
    assert push == 0.0


def test_as_disturbances_samples() -> None:
    rows, push = as_disturbances("simulate", AdversarialDisturbance(0.5), 4, 2, np.random.default_rng(9))
    np.testing.assert_array_equal(rows, AdversarialDisturbance(0.5).sample(4, 2, seed=9))
    assert push == 0.5


@pytest.mark.parametrize("rounds", [3, None])
def test_as_disturbances_takes_arrays(rounds: int | None) -> None:
    given = np.arange(6.0).reshape(3, 2)
    rows, push = as_disturbances("simulate", given, rounds, 2, np.random.default_rng(0))
    np.testing.assert_array_equal(rows, given)
    assert push == 0.0
    rows[:] = 9.0
    assert given[0, 0] == 0.0
    listed, _ = as_disturbances("simulate", [1, 2, 3], rounds, 1, np.random.default_rng(0))
    np.testing.assert_array_equal(listed, [[1.0], [2.0], [3.0]])


@pytest.mark.parametrize(
    ("given", "rounds", "words"),
    [
        (GaussianDisturbance(), None, ("GaussianDisturbance(scale=1.0)", "rounds=")),
        (np.zeros((3, 2)), 4, ("(4, 2)", "(3, 2)")),
        (np.zeros((5, 2)), 4, ("(4, 2)", "(5, 2)")),
        (np.zeros((4, 3)), 4, ("(4, 2)", "(4, 3)")),
        (np.zeros((4, 3)), None, ("(T, 2)", "(4, 3)")),
        (np.zeros((0, 2)), None, ("(T, 2)",)),
        (np.zeros(4), 4, ("(4, 2)",)),
        ([[0.0, math.nan]], 1, ("nan at [0, 1]",)),
        ([[0.0, 1e101]], None, ("1e+100",)),
        ([[0.0, 1.0], [0.0]], None, ("disturbances",)),
        (None, 4, ("GaussianDisturbance()", "(T, 2)")),
        (0.5, 4, ("GaussianDisturbance()", "0.5")),
        ("noise", 4, ("'noise'",)),
    ],
)
def test_as_disturbances_refuses(given: Any, rounds: int | None, words: tuple[str, ...]) -> None:
    def call() -> object:
        return as_disturbances("simulate", given, rounds, 2, np.random.default_rng(0))

    check_refused(call, "simulate", *words, kind=InputError)
