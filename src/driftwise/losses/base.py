"""What every loss stream offers: the loss of a window of decisions, its unary form, and that form's gradient."""

from abc import abstractmethod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from driftwise._validate import Array, Checked, array, describe, instance, loose
from driftwise.domains import Domain
from driftwise.errors import InputError, RoundIndexError
from driftwise.losses import kernels


def read_rows(owner: str, name: str, value: ArrayLike) -> Array:
    """Return a matrix with one row a round; a plain sequence of numbers is one coordinate a round."""
    given = loose(owner, name, value)
    return array(owner, name, given[:, None] if given.ndim == 1 else given, ("rounds", "dim"), copy=True)


def window(decisions: Any, t: int, memory: int) -> Any:
    """Return the decisions that the loss of round t looks at; before the first round the first one stood."""
    return decisions[np.maximum(np.arange(t - memory, t + 1), 0)]


class SwitchingCosts(NamedTuple):
    """Two values of lambda that turn memory into a price on movement; `tight` is never the larger one."""

    paper: float
    """m^2 L, the paper's."""
    tight: float
    """sum_k k L_k, where L_k is the Lipschitz constant in the decision of k rounds ago."""


class RoundLoss:
    """The loss of a single round: what a learner may be given in place of a gradient."""

    def __init__(self, stream: "LossStream", t: int) -> None:
        self._stream = stream
        self._t = t

    def value(self, w: ArrayLike) -> float:
        """Return the unary loss at w."""
        return self._stream.unary_value(self._t, w)

    def gradient(self, w: ArrayLike) -> Array:
        """Return the gradient of the unary loss at w."""
        return self._stream.gradient(self._t, w)

    def __repr__(self) -> str:
        return f"round {self._t} of {self._stream!r}"


class LossStream(metaclass=Checked):
    """A sequence of convex losses f_0, ..., f_{T-1} over windows of the last ``memory + 1`` decisions.

    ``len(losses)`` is T, ``losses[t]`` is the loss of one round. A window has shape (memory + 1, dim), the
    oldest decision first. Before the first round the first decision is taken to have been in place.

    Attributes
    ----------
    dim : int
        Number of coordinates of a decision.
    memory : int
        m: how many past decisions, besides the present one, a loss looks at.
    """

    dim: int
    memory: int
    _rounds: int

    @abstractmethod
    def _value(self, t: int, window: Array) -> float: ...

    @abstractmethod
    def _unary(self, t: int, w: Array) -> float: ...

    @abstractmethod
    def _gradient(self, t: int, w: Array) -> Array: ...

    @abstractmethod
    def lipschitz(self, domain: Domain) -> Array:
        """Return L_0, ..., L_m: Lipschitz constants over `domain` in the decision of 0, ..., m rounds ago."""

    @abstractmethod
    def gradient_bound(self, domain: Domain) -> float:
        """Return the largest norm of a unary gradient over `domain` (G in the paper), or a bound on it."""

    def value(self, t: int, window: ArrayLike) -> float:
        """Return f_t of a window of decisions, oldest first; without memory one decision will do."""
        owner = f"{type(self).__name__}.value"
        given = loose(owner, "window", window)
        if self.memory == 0 and given.ndim == 1:
            given = given[None]
        checked = array(owner, "window", given, (self.memory + 1, self.dim))
        return float(self._value(self._index(t), checked))

    def unary_value(self, t: int, w: ArrayLike) -> float:
        """Return f_t(w, ..., w)."""
        checked = array(f"{type(self).__name__}.unary_value", "w", w, (self.dim,), copy=True)
        return float(self._unary(self._index(t), checked))

    def gradient(self, t: int, w: ArrayLike) -> Array:
        """Return the gradient of the unary loss at w."""
        checked = array(f"{type(self).__name__}.gradient", "w", w, (self.dim,), copy=True)
        return self._gradient(self._index(t), checked)

    def switching_costs(self, domain: Domain) -> SwitchingCosts:
        """Return the two values of lambda for this stream on `domain`; both are 0 without memory."""
        constants = self.lipschitz(domain)
        ages = np.arange(constants.size)
        return SwitchingCosts(float(self.memory**2 * constants.max()), float(ages @ constants))

    def __len__(self) -> int:
        return self._rounds

    def __getitem__(self, t: int) -> RoundLoss:
        return RoundLoss(self, self._index(t))

    def _index(self, t: int) -> int:
        if isinstance(t, int | np.integer) and not isinstance(t, bool) and 0 <= t < self._rounds:
            return int(t)
        raise RoundIndexError(
            f"{type(self).__name__}: round must be a whole number from 0 to {self._rounds - 1}, got {describe(t)}."
        )

    def _domain(self, domain: Domain) -> Domain:
        owner = type(self).__name__
        instance(owner, "domain", domain, Domain, f"Ball({self.dim})")
        if domain.dim != self.dim:
            raise InputError(f"{owner}: the domain must have dim {self.dim}, got {domain!r}.")
        return domain

    def __repr__(self) -> str:
        return f"{type(self).__name__}(rounds={self._rounds}, dim={self.dim}, memory={self.memory})"


class DataLoss(LossStream):
    """A stream that is data only, and so runs inside the compiled loop."""

    def __init__(
        self, link: int, features: Array, targets: Array, taps: Array, width: float = 1.0, prices: Array | None = None
    ) -> None:
        self.data = kernels.loss_data(link, features, targets, taps, width, prices)
        self._rounds, self.dim = features.shape
        self.memory = taps.size - 1

    @property
    def _parts(self) -> tuple[Array, Array, Array]:
        """What compiled code reads of the stream."""
        return self.data.terms, self.data.features, self.data.targets

    def _value(self, t: int, window: Array) -> float:
        return kernels.value_of(*self._parts, t, window)

    def _unary(self, t: int, w: Array) -> float:
        return kernels.unary_value_of(*self._parts, t, w)

    def _gradient(self, t: int, w: Array) -> Array:
        out = np.empty(self.dim)
        kernels.write_gradient(*self._parts, t, w, out)
        return out


class ScoreLoss(DataLoss):
    """A stream whose losses see a decision only through its inner product with the features.

    The derivative in the score is monotone, so its largest size over a domain is at an end of the range of the
    score, which the domain's support function gives exactly.
    """

    def _range(self, domain: Domain, up: float, down: float) -> tuple[Array, Array]:
        high = self._domain(domain).support(self.data.features)
        low = -domain.support(-self.data.features)
        return up * low + down * high, up * high + down * low

    def lipschitz(self, domain: Domain) -> Array:
        """Return L_0, ..., L_m over `domain`."""
        taps = self.data.taps
        low, high = self._range(domain, float(taps[taps > 0].sum()), float(taps[taps < 0].sum()))
        return np.asarray(np.abs(taps) * kernels.steepest(self.data, low, high))

    def gradient_bound(self, domain: Domain) -> float:
        """Return the largest norm of a unary gradient over `domain`, exactly."""
        total = kernels.held_tap(self.data.taps)
        low, high = self._range(domain, max(total, 0.0), min(total, 0.0))
        return abs(total) * float(kernels.steepest(self.data, low, high))
