"""A loss stream from a user's own functions, compiled when numba can do it."""

import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from driftwise._validate import Array, array, choice, loose, number, whole
from driftwise.domains import Domain
from driftwise.errors import InputError, ParameterError
from driftwise.losses.base import LossStream
from driftwise.losses.differences import central_differences

WORTH_COMPILING = 30_000
"""Rounds from which a run saves more time than the two or three seconds that compiling takes."""

_AGREE = 1e-9
"""Relative difference between compiled and plain results above which the compiled form is not trusted."""

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
"""The colours that numba puts into its error messages."""


class CustomLoss(LossStream):
    """Any convex losses, given as Python functions of the round and the decision: their value, and their gradient.

    The functions must be pure: the same arguments give the same result. Arrays that they use from outside must
    not change. They are compiled with numba when that saves time, succeeds and agrees with plain Python, and run as
    they are otherwise; `compiled` tells which, and `compile_note` why.

    Parameters
    ----------
    value : callable
        ``value(t, w) -> float``. With memory it gets ``value(t, window)``, the window of shape (memory + 1, dim) with
        the oldest decision first.
    gradient : callable, optional
        ``gradient(t, w) -> array of shape (dim,)``: a (sub)gradient of the unary loss f_t(w, ..., w) at w. Without it
        gradients are central differences of the values: 2 dim + 1 of them a round, and off by about 1e-9 of their size
        where the loss is smooth. `losses.from_jax` finds exact ones.
    rounds : int, default None
        T, which must be given; the functions are called with t from 0 to T - 1.
    dim : int, default None
        Number of coordinates of a decision, which must be given.
    memory : int, default 0
        Number of past decisions that a loss depends on.
    compile : {"auto", "always", "never"}, default "auto"
        "auto" compiles streams of 30 000 rounds or more, where it saves time; "always" raises when the functions cannot
        be compiled.
    lipschitz : float or array of shape (memory + 1,), optional
        Lipschitz constants L_0, ..., L_m: the most that a loss changes per unit of distance of the decision of 0, ...,
        m rounds ago, all others held; a single number is for every one of them. Learners need them to price memory
        (`switching_costs`), and certificates to count it.
    gradient_bound : float, optional
        G, the largest norm of a gradient of the unary loss. A certificate looks for both constants in the run, and
        names the round that exceeds one of them.

    See Also
    --------
    driftwise.losses.from_jax : Losses written with `jax.numpy`, whose gradients follow.

    Examples
    --------
    >>> import driftwise as dw
    >>> losses = dw.CustomLoss(lambda t, w: ((w - t) ** 2).sum(), lambda t, w: 2 * (w - t), rounds=5, dim=2)
    >>> losses.unary_value(3, [2.0, 3.0]), losses.gradient(3, [2.0, 3.0])
    (1.0, array([-2.,  0.]))

    A loss with memory, ``|w_t + w_{t-1} - 1|`` in one coordinate, and what it makes of movement:

    >>> import numpy as np
    >>> losses = dw.CustomLoss(
    ...     lambda t, window: abs(window.sum() - 1.0), lambda t, w: 2.0 * np.sign(2.0 * w - 1.0),
    ...     rounds=100, dim=1, memory=1, lipschitz=1.0, gradient_bound=2.0,
    ... )
    >>> losses.switching_costs(dw.Box([0.0], [1.0])).tight
    1.0
    """

    def __init__(
        self,
        value: Callable[[int, Array], float],
        gradient: Callable[[int, Array], Array] | None = None,
        rounds: int | None = None,
        dim: int | None = None,
        memory: int = 0,
        compile: str = "auto",
        *,
        lipschitz: ArrayLike | None = None,
        gradient_bound: float | None = None,
    ) -> None:
        for name, function in (("value", value), ("gradient", gradient)):
            if not (callable(function) or (function is None and name == "gradient")):
                raise ParameterError(f"CustomLoss: {name} must be a function of (t, w), got {function!r}.")
        self._rounds = whole("CustomLoss", "rounds", rounds)
        self.dim = whole("CustomLoss", "dim", dim)
        self.memory = whole("CustomLoss", "memory", memory, low=0)
        self._plain_value, self._plain_gradient = value, gradient
        self._slopes = None if lipschitz is None else self._read_slopes(lipschitz)
        self._steepest = None
        if gradient_bound is not None:
            self._steepest = number("CustomLoss", "gradient_bound", gradient_bound, low=0.0)
        self.kernels: tuple[Callable[..., Any], Callable[..., Any]] | None = None
        self.compile_note = "plain Python, as asked"
        wish = choice("CustomLoss", "compile", compile, ("auto", "always", "never"))
        if gradient is None:
            self.compile_note = "plain Python, because gradients are differences of the values"
            if wish == "always":
                raise ParameterError(
                    "CustomLoss: without a gradient nothing is compiled; give one, or another compile=."
                )
        elif wish == "auto" and self._rounds < WORTH_COMPILING:
            self.compile_note = f"plain Python, because compiling pays from {WORTH_COMPILING} rounds on"
        elif wish != "never":
            self.kernels, self.compile_note = self._try_to_compile()
            if wish == "always" and self.kernels is None:
                raise ParameterError(f"CustomLoss: the functions could not be compiled: {self.compile_note}")

    @property
    def compiled(self) -> bool:
        """Whether the functions run as machine code."""
        return self.kernels is not None

    def lipschitz(self, domain: Domain) -> Array:
        """Return L_0, ..., L_m as they were given; raise if they were not, as nothing is known about the functions."""
        self._domain(domain)
        if self._slopes is None:
            raise ParameterError(
                "CustomLoss: its Lipschitz constants are not known; give switching_cost= yourself, or lipschitz= to "
                "CustomLoss."
            )
        return self._slopes.copy()

    def gradient_bound(self, domain: Domain) -> float:
        """Return G as it was given; raise if it was not, as nothing is known about the functions."""
        self._domain(domain)
        if self._steepest is None:
            raise ParameterError(
                "CustomLoss: its gradient bound is not known; give gradient_bound= yourself, here or to CustomLoss."
            )
        return self._steepest

    def _read_slopes(self, given: ArrayLike) -> Array:
        constants = loose("CustomLoss", "lipschitz", given)
        if constants.ndim == 0:
            constants = np.full(self.memory + 1, constants)
        constants = array("CustomLoss", "lipschitz", constants, (self.memory + 1,), copy=True)
        if constants.min() < 0.0:
            raise ParameterError(f"CustomLoss: lipschitz must be at least 0 everywhere, got {constants.min():g}.")
        return constants

    def _value(self, t: int, window: Array) -> float:
        rows = window.copy()  # compiled functions do not accept read-only arrays, such as decisions
        if self.kernels is not None:
            given = self.kernels[0](t, rows)
        else:
            given = self._plain_value(t, rows if self.memory else rows[0])
        return float(self._finite("value", t, given, ()))

    def _gradient(self, t: int, w: Array) -> Array:
        gradient = self._plain_gradient if self.kernels is None else self.kernels[1]
        if gradient is None:
            return central_differences(f"CustomLoss, round {t}", lambda at: self._held(t, at), w)
        return self._finite("gradient", t, gradient(t, w.copy()), (self.dim,))

    def _held(self, t: int, w: Array) -> float:
        """Return what the function gives for a decision that is held, finite or not."""
        return self._plain_value(t, np.tile(w, (self.memory + 1, 1)) if self.memory else w)

    def _finite(self, name: str, t: int, given: Any, shape: tuple[int, ...]) -> Array:
        try:
            return array("CustomLoss", f"{name}(t={t}, ...)", given, shape)
        except InputError as error:
            raise InputError(f"{error} The function given as {name} returned it.") from None

    def _try_to_compile(self) -> tuple[tuple[Callable[..., Any], Callable[..., Any]] | None, str]:
        import numba  # here, so that a stream of Python objects does not pay for it
        from numba import float64, int64

        from driftwise._compile import compile_user_function

        assert self._plain_gradient is not None
        rows = np.full((self.memory + 1, self.dim), 0.25) if self.memory else np.full(self.dim, 0.25)
        point = np.full(self.dim, 0.25)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", numba.errors.NumbaWarning)
                value = compile_user_function(
                    self._plain_value, float64(int64, float64[:, ::1] if self.memory else float64[::1])
                )
                gradient = compile_user_function(self._plain_gradient, float64[::1](int64, float64[::1]))
            fast = float(value(0, rows.copy())), np.asarray(gradient(0, point.copy()))
        except Exception as error:  # numba raises many kinds, and a user's function may raise any
            lines = _COLOUR.sub("", str(error)).strip().splitlines() or [type(error).__name__]
            reason = next((line for line in lines if line and not line.startswith("Failed in")), lines[0])
            return None, f"plain Python, because numba said: {reason}"
        try:
            with np.errstate(all="ignore"):
                slow = float(self._plain_value(0, rows.copy())), np.asarray(self._plain_gradient(0, point.copy()))
        except Exception as error:  # the point tried may be outside the user's domain
            return None, f"plain Python, because it could not be compared at w = 0.25: {error}"
        if not fast[1].shape == slow[1].shape == (self.dim,) or not (
            np.allclose(fast[0], slow[0], rtol=_AGREE, atol=_AGREE, equal_nan=True)
            and np.allclose(fast[1], slow[1], rtol=_AGREE, atol=_AGREE, equal_nan=True)
        ):
            return None, "plain Python, because the compiled functions gave other numbers"
        if self.memory:
            return (value, gradient), "compiled"

        def of_window(t: int, window: Array) -> float:
            return value(t, window[0])  # type: ignore[no-any-return]

        return (numba.njit(float64(int64, float64[:, ::1]))(of_window), gradient), "compiled"
