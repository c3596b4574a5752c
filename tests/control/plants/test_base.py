"""What every plant promises, and what is refused."""

import math
from collections.abc import Callable

import numpy as np
import pytest

from driftwise.control.plants import (
    InvertedPendulum,
    LinearSystem,
    System,
    TimeVaryingSystem,
    double_integrator,
    random_system,
)
from driftwise.control.plants.kernels import VARYING, PlantData
from driftwise.errors import ArgumentError, InputError, ParameterError
from tests.cases import check_refused
from tests.control.plants.cases import A, B, rng


def check_plant(system: System, rounds: int) -> PlantData:
    """Check what compiled code relies on: shapes, float64, C order, writeable (read-only is a type of its own)."""
    plant = system.data(rounds, rng())
    n, m = system.state_dim, system.input_dim
    length = rounds if plant.kind == VARYING else 0
    shapes = [(n, n), (n, m), (length, n, n), (length, n, m), plant.numbers.shape, (2, m), (m,), (m,)]
    for values, shape in zip(plant[1:-1], shapes, strict=True):
        assert isinstance(values, np.ndarray)
        assert values.shape == shape
        assert values.dtype == np.float64
        assert values.flags.c_contiguous
        assert values.flags.writeable
    np.testing.assert_array_equal(plant.A, system.A)
    np.testing.assert_array_equal(plant.B, system.B)
    return plant


SYSTEMS: dict[str, System] = {
    "linear": LinearSystem(A, B),
    "limited": LinearSystem(A, B, input_limit=[1.0, 2.0, 3.0]),
    "drawn": TimeVaryingSystem(A, B, input_limit=4.0),
    "given": TimeVaryingSystem(A, B, changes_A=np.ones((9, 2, 2)), changes_B=np.ones((9, 2, 3))),
    "pendulum": InvertedPendulum(),
    "scalar": LinearSystem(2, -1),
}


@pytest.mark.parametrize("name", SYSTEMS)
def test_every_plant_is_data_that_compiled_code_takes(name: str) -> None:
    system = SYSTEMS[name]
    plant = check_plant(system, 7)
    limit = np.full(system.input_dim, math.inf) if system.input_limit is None else system.input_limit
    np.testing.assert_array_equal(plant.limits, [-limit, limit])
    assert system.linear == (name in ("linear", "scalar"))
    assert repr(system).startswith(type(system).__name__ + "(")


@pytest.mark.parametrize("name", SYSTEMS)
def test_data_is_a_copy_and_the_matrices_are_read_only(name: str) -> None:
    system = SYSTEMS[name]
    before, plant = system.A.copy(), system.data(5, rng())
    plant.A[:] = plant.limits[:] = 7.0
    plant.changes_A[:] = 7.0
    np.testing.assert_array_equal(system.A, before)
    again = system.data(5, rng())
    assert not (again.limits == 7.0).any()
    assert not (again.changes_A == 7.0).any()
    for values in (system.A, system.B, *(() if system.input_limit is None else (system.input_limit,))):
        with pytest.raises(ValueError, match="read-only"):
            values[0] = 1.0


def test_a_system_does_not_follow_the_arrays_it_was_made_of() -> None:
    first, second, limit = A.copy(), B.copy(), np.ones(3)
    system = LinearSystem(first, second, input_limit=limit)
    first[:], second[:], limit[:] = 0.0, 0.0, 9.0
    np.testing.assert_array_equal(system.A, A)
    np.testing.assert_array_equal(system.B, B)
    assert system.input_limit is not None
    np.testing.assert_array_equal(system.input_limit, np.ones(3))


REFUSED: dict[str, tuple[Callable[[], object], type[Exception], tuple[str, ...]]] = {
    "A not square": (lambda: LinearSystem([[1.0, 2.0]], 1.0), InputError, ("A", "square", "1 rows and 2 columns")),
    "B too short": (lambda: LinearSystem(np.eye(3), np.ones((2, 1))), InputError, ("B", "3 states", "2 rows")),
    "B transposed": (lambda: LinearSystem(np.eye(2), [[1.0, 2.0]]), InputError, ("transposed",)),
    "B a vector": (lambda: LinearSystem(np.eye(2), [1.0, 2.0]), InputError, ("B", "(states, inputs)", "(2,)")),
    "A NaN": (lambda: LinearSystem(math.nan, 1.0), InputError, ("LinearSystem: A", "nan")),
    "A infinite": (lambda: LinearSystem([[1.0, math.inf], [0.0, 1.0]], [[0.0], [1.0]]), InputError, ("[0, 1]",)),
    "A too large": (lambda: LinearSystem(1e101, 1.0), InputError, ("1e+100",)),
    "A complex": (lambda: LinearSystem(1j, 1.0), InputError, ("A", "real")),
    "A missing": (lambda: LinearSystem(None, 1.0), InputError, ("A", "None")),  # type: ignore[arg-type]
    "A empty": (lambda: LinearSystem(np.empty((0, 0)), np.empty((0, 1))), InputError, ("A", "(0, 0)")),
    "A ragged": (lambda: LinearSystem([[1.0], [1.0, 2.0]], 1.0), InputError, ("A",)),
    "limit zero": (lambda: LinearSystem(1.0, 1.0, input_limit=0.0), ParameterError, ("input_limit", "above 0")),
    "limit negative": (lambda: LinearSystem(A, B, input_limit=[1.0, -1.0, 1.0]), ParameterError, ("-1",)),
    "limit too long": (lambda: LinearSystem(A, B, input_limit=[1.0, 1.0]), InputError, ("input_limit", "(3,)")),
    "limit a word": (lambda: LinearSystem(1.0, 1.0, input_limit="a"), InputError, ("input_limit", "'a'")),
    "limit NaN": (lambda: LinearSystem(1.0, 1.0, input_limit=math.nan), InputError, ("input_limit", "nan")),
    "keyword": (lambda: LinearSystem(1.0, 1.0, input_limits=1.0), ArgumentError, ("Did you mean input_limit?",)),  # type: ignore[call-arg]
    "rounds": (lambda: double_integrator().data(0, rng()), ParameterError, ("rounds", "at least 1")),
    "rng": (lambda: double_integrator().data(1, 3), ParameterError, ("rng", "default_rng")),  # type: ignore[arg-type]
    "spread": (lambda: TimeVaryingSystem(A, B, spread_A=-0.1), ParameterError, ("spread_A", "-0.1")),
    "seed": (lambda: TimeVaryingSystem(A, B, seed=-1), ParameterError, ("seed",)),
    "varying A": (lambda: TimeVaryingSystem([[1.0, 2.0]], B), InputError, ("TimeVaryingSystem: A", "square")),
    "torque": (lambda: InvertedPendulum(torque_limit=0.0), ParameterError, ("torque_limit", "above 0")),
    "step": (lambda: InvertedPendulum(step=math.inf), ParameterError, ("step",)),
    "length": (lambda: InvertedPendulum(length=-1.0), ParameterError, ("length",)),
    "tiny length": (lambda: InvertedPendulum(length=1e-300), InputError, ("InvertedPendulum",)),
    "states": (lambda: random_system(0, 1), ParameterError, ("state_dim",)),
    "inputs": (lambda: random_system(1, 1.5), ParameterError, ("input_dim",)),  # type: ignore[arg-type]
    "radius": (lambda: random_system(1, 1, radius=0.0), ParameterError, ("radius", "above 0")),
    "random keyword": (lambda: random_system(1, 1, radii=1.0), ArgumentError, ("radius",)),  # type: ignore[call-arg]
    "integrator keyword": (lambda: double_integrator(step=1.0), ArgumentError, ("step",)),  # type: ignore[call-arg]
}


@pytest.mark.parametrize("name", REFUSED)
def test_bad_input_is_refused_with_a_sentence(name: str) -> None:
    call, kind, words = REFUSED[name]
    check_refused(call, *words, kind=kind)
