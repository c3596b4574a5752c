"""Spectral radius, and what all functions refuse."""

import math
from collections.abc import Callable

import numpy as np
import pytest

from driftwise.control.plants import (
    double_integrator,
)
from driftwise.control.stability import (
    certify,
    controllability,
    impulse_response,
    lqr,
    spectral_radius,
)
from driftwise.errors import ArgumentError, InputError, ParameterError
from tests.cases import check_refused
from tests.control.stability.cases import jordan


def test_spectral_radius() -> None:
    assert spectral_radius(-3) == 3.0
    assert spectral_radius([[0.0, -2.0], [2.0, 0.0]]) == pytest.approx(2.0, rel=1e-15)
    assert spectral_radius(jordan(0.0, 4, 1e50)) == 0.0


SYSTEM = double_integrator()


GAIN = lqr(SYSTEM)


REFUSED: dict[str, tuple[Callable[[], object], type[Exception], tuple[str, ...]]] = {
    "radius of a row": (lambda: spectral_radius([[1.0, 2.0]]), InputError, ("spectral_radius", "(1, 2)")),
    "radius of a vector": (lambda: spectral_radius([1.0, 2.0]), InputError, ("(n, n)",)),
    "radius of NaN": (lambda: spectral_radius([[math.nan]]), InputError, ("nan",)),
    "radius of a word": (lambda: spectral_radius("a"), InputError, ("'a'",)),
    "lqr of matrices": (lambda: lqr(np.eye(2), np.eye(2)), ParameterError, ("lqr: system", "LinearSystem(A, B)")),  # type: ignore[arg-type]
    "Q of the wrong shape": (lambda: lqr(SYSTEM, np.eye(3)), InputError, ("Q", "(2, 2)")),
    "Q a long diagonal": (lambda: lqr(SYSTEM, [1.0, 1.0, 1.0]), InputError, ("Q", "(2,)")),
    "Q NaN": (lambda: lqr(SYSTEM, [1.0, math.nan]), InputError, ("Q", "nan")),
    "Q a word": (lambda: lqr(SYSTEM, "much"), ParameterError, ("Q", "'much'")),
    "R infinite": (lambda: lqr(SYSTEM, R=math.inf), ParameterError, ("R", "inf")),
    "lqr keyword": (lambda: lqr(SYSTEM, r=1.0), ArgumentError, ("r", "lqr(system, Q=None, R=None)")),  # type: ignore[call-arg]
    "certify of a number": (lambda: certify(3, 1.0), ParameterError, ("certify: system",)),  # type: ignore[arg-type]
    "K of the wrong shape": (lambda: certify(SYSTEM, GAIN.T), InputError, ("K", "(1, 2)")),
    "K infinite": (lambda: certify(SYSTEM, [[math.inf, 0.0]]), InputError, ("K", "inf")),
    "K too large": (lambda: certify(SYSTEM, [[1e101, 0.0]]), InputError, ("K", "1e+100")),
    "sdp a number": (lambda: certify(SYSTEM, GAIN, sdp=1), ParameterError, ("sdp",)),  # type: ignore[arg-type]
    "certify keyword": (lambda: certify(SYSTEM, GAIN, sdps=True), ArgumentError, ("Did you mean sdp?",)),  # type: ignore[call-arg]
    "a negative power": (lambda: certify(SYSTEM, GAIN).decay(-1), ParameterError, ("j", "at least 0")),
    "order zero": (lambda: controllability(SYSTEM, order=0), ParameterError, ("order", "at least 1")),
    "controllability K": (lambda: controllability(SYSTEM, [[1.0]]), InputError, ("controllability: K",)),
    "tolerance zero": (lambda: impulse_response(SYSTEM, GAIN, tolerance=0.0), ParameterError, ("tolerance",)),
    "impulse K": (lambda: impulse_response(SYSTEM, 1.0), InputError, ("impulse_response: K", "(1, 2)")),
}


@pytest.mark.parametrize("name", REFUSED)
def test_bad_input_is_refused_with_a_sentence(name: str) -> None:
    call, kind, words = REFUSED[name]
    check_refused(call, *words, kind=kind)
