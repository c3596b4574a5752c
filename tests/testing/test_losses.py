"""The public check of losses: every stream of the package passes it, and broken ones do not."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import driftwise as dw
from driftwise import losses as all_losses
from driftwise._validate import Array
from driftwise.errors import ParameterError
from driftwise.losses import LossStream, RoundLoss, SwitchingCosts
from driftwise.streams import drifting_regression
from driftwise.testing import check_loss
from tests.cases import a_third

RNG = np.random.default_rng(0)
X, Y = RNG.standard_normal((30, 3)), RNG.standard_normal(30)

DOMAINS = [
    dw.Ball(3),
    dw.Ball(3, 2.0, [5.0, 0.0, -5.0]),
    dw.Box([-1.0, 0.0, 2.0], [1.0, 3.0, 2.0]),
    dw.Simplex(3, scale=2.0),
    dw.SpectralBalls((1, 1, 3), 0.5),
    dw.Product(dw.Simplex(2), dw.Box([-4.0], [4.0])),
]


def value(t: int, w: Array) -> float:
    return float(np.sqrt(1.0 + np.sum((w - Y[t]) ** 2)))


def gradient(t: int, w: Array) -> Array:
    return np.asarray((w - Y[t]) / np.sqrt(1.0 + np.sum((w - Y[t]) ** 2)))


def window_value(t: int, window: Array) -> float:
    return float(np.sum((window[-1] + window[0]) ** 2))


def window_gradient(t: int, w: Array) -> Array:
    return 8.0 * w


LOSSES: list[LossStream] = [
    dw.SquaredLoss(X, Y),
    dw.SquaredLoss(1e4 * X, Y),
    dw.LinearLoss(X),
    dw.AbsoluteLoss(X, Y),
    dw.HuberLoss(X, Y, delta=0.3),
    dw.QuantileLoss(X, Y, quantile=0.2),
    dw.LogisticLoss(5.0 * X, np.where(Y > 0, 1.0, -1.0)),
    dw.TrackingLoss(X),
    dw.TrackingLoss(X[:1]),
    dw.CapacityLoss(X),
    dw.CapacityLoss(10.0 * X, shortage=[5.0, 0.2, 0.0], price=[0.0, 1.0, 3.0]),
    dw.FilteredLoss([1.5], X, Y),
    dw.FilteredLoss([1.0, 0.5, 0.25], X, Y),
    dw.FilteredLoss([0.5, -1.0, 2.0, 0.0], X, Y),
    dw.FilteredLoss([1.0, -1.0], X, Y),
    dw.CustomLoss(value, gradient, rounds=30, dim=3, compile="always"),
    dw.CustomLoss(value, gradient, rounds=30, dim=3, compile="never"),
    dw.CustomLoss(window_value, window_gradient, rounds=30, dim=3, memory=2, compile="always"),
    drifting_regression(200, 3, 20),
]


@a_third(losses=LOSSES, domain=DOMAINS)
def test_every_loss_passes_on_every_domain(losses: LossStream, domain: dw.Domain) -> None:
    check_loss(losses, domain, seed=1)


def test_every_exported_loss_is_tried() -> None:
    exported = {found for name in all_losses.__all__ if isinstance(found := getattr(all_losses, name), type)}
    exported -= {dw.LogWealthLoss}  # refused on most of these domains; tests/losses/test_log_wealth.py tries it
    kinds = {kind for kind in exported if issubclass(kind, LossStream)}
    assert kinds - {LossStream} == {kind for loss in LOSSES for kind in type(loss).__mro__} & exported - {LossStream}
    assert {type(loss) for loss in LOSSES} >= kinds - {LossStream}


def custom(value: Callable[[int, Array], Any], gradient: Callable[[int, Array], Any]) -> dw.CustomLoss:
    return dw.CustomLoss(value, gradient, rounds=30, dim=3, compile="never")


class Wrong(dw.FilteredLoss):
    """A filtered loss with one thing wrong at a time."""

    def __init__(self, **wrong: Any) -> None:
        super().__init__([1.0, 0.5], X, Y)
        self.wrong = wrong

    def _value(self, t: int, window: Array) -> float:
        return super()._value(t, window) + float(self.wrong.get("held", 0.0))

    def _gradient(self, t: int, w: Array) -> Array:
        if "spoil" in self.wrong:
            w[0] = self.wrong["spoil"]
        dtype = self.wrong.get("dtype", np.float64)
        return np.asarray(super()._gradient(t, w) * self.wrong.get("slope", 1.0), dtype)

    def gradient_bound(self, domain: dw.Domain) -> float:
        return super().gradient_bound(domain) * float(self.wrong.get("bound", 1.0))

    def lipschitz(self, domain: dw.Domain) -> Array:
        return np.asarray(super().lipschitz(domain) * self.wrong.get("lipschitz", 1.0))

    def switching_costs(self, domain: dw.Domain) -> SwitchingCosts:
        costs = super().switching_costs(domain)
        return SwitchingCosts(costs.tight, 2.0 * costs.paper) if "costs" in self.wrong else costs

    def __getitem__(self, t: int) -> RoundLoss:
        return RoundLoss(self, self._index(t) - 1) if "round" in self.wrong and t else super().__getitem__(t)

    def _index(self, t: int) -> int:
        if "index" in self.wrong and isinstance(t, int):
            return t % len(self)
        return super()._index(t)

    def unary_value(self, t: int, w: Any) -> float:
        if "nan" in self.wrong:
            return super().unary_value(t, np.nan_to_num(w) if np.asarray(w).dtype.kind == "f" else w)
        return super().unary_value(t, w)


BROKEN: dict[str, tuple[LossStream, str]] = {
    "gradient too long": (
        Wrong(slope=1.001),
        "should have a subgradient, but in round 0 the value at .* below the tangent",
    ),
    "gradient too short": (Wrong(slope=0.999), "should have a subgradient"),
    "gradient of something else": (custom(value, lambda t, w: w), "should have a subgradient"),
    "gradient of another type": (Wrong(dtype=np.float32), "should have finite float64 gradients of shape"),
    "not convex": (custom(lambda t, w: -float(w @ w), lambda t, w: -2.0 * w), "should be convex, but in round 0"),
    "convex nearly everywhere": (
        custom(lambda t, w: abs(float(w[0]) - 0.1) - 2.0 * abs(float(w[0]) - 0.2), lambda t, w: np.zeros(3)),
        "should be convex",
    ),
    "bound too small": (Wrong(bound=0.9), "has a gradient of length .* more than its gradient_bound"),
    "lipschitz too small": (Wrong(lipschitz=np.array([0.3, 1.0])), "more than its Lipschitz constants .* allow"),
    "lipschitz too small for the past": (Wrong(lipschitz=np.array([1.0, 0.3])), "more than its Lipschitz constants"),
    "lipschitz of another shape": (Wrong(lipschitz=np.ones((2, 1))), "should have 2 finite Lipschitz constants"),
    "costs swapped": (Wrong(costs=True), "should have switching costs with 0 <= tight <= paper"),
    "held differs from unary": (Wrong(held=1e-6), "should value a decision that is held like its unary form"),
    "writes to its input": (Wrong(spoil=0.0), "should have a subgradient"),
    "rounds shifted": (Wrong(round=True), "should agree with the stream, and with itself when asked again"),
    "negative rounds": (Wrong(index=True), "should raise RoundIndexError when .t. is asked for round -1"),
    "cleans NaN": (Wrong(nan=True), "should raise InputError when unary_value is given NaN, but returned"),
}


@pytest.mark.parametrize(("losses", "message"), BROKEN.values(), ids=BROKEN)
def test_broken_losses_are_found(losses: LossStream, message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        check_loss(losses, dw.Ball(3))


def test_a_wrong_dim_is_found() -> None:
    with pytest.raises(AssertionError, match="should have the dim of the domain, 2, got 3"):
        check_loss(dw.LinearLoss(X), dw.Ball(2))


@pytest.mark.parametrize(
    ("losses", "domain"), [(X, dw.Ball(3)), (dw.LinearLoss(X), 3)], ids=["not losses", "not a domain"]
)
def test_bad_arguments(losses: Any, domain: Any) -> None:
    with pytest.raises(ParameterError, match="check_loss: "):
        check_loss(losses, domain)
