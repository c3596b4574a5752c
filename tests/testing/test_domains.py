"""The public check of domains: every domain of the package passes it, and broken ones do not."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike

import driftwise as dw
from driftwise import domains
from driftwise._validate import Array
from driftwise.errors import ParameterError
from driftwise.testing import check_domain

DOMAINS = [
    dw.Ball(1),
    dw.Ball(10),
    dw.Ball(3, 0.5, [2.0, -1.0, 10.0]),
    dw.Ball(2, 1e-6),
    dw.Ball(2, 1e8, [1e9, 0.0]),
    dw.Box(0.0, 1.0),
    dw.Box([-1.0, 0.0, 2.0], [1.0, 5.0, 2.0]),
    dw.Box([3.0, 4.0], [3.0, 4.0]),
    dw.Simplex(1),
    dw.Simplex(2),
    dw.Simplex(7, scale=3.5),
    dw.Simplex(40, scale=1e-3),
    *(dw.SpectralBalls(shape, 1.0) for shape in [(1, 1, 1), (3, 1, 4), (2, 2, 5), (2, 3, 3), (1, 4, 7)]),
    dw.SpectralBalls((2, 5, 2), [0.1, 10.0]),
    dw.Product(dw.Ball(2), dw.Simplex(3, 2.0), dw.Box([0.0], [9.0]), dw.SpectralBalls((2, 2, 3), [1.0, 0.5])),
    dw.Product(dw.Ball(2, 1.0, [5.0, 0.0])),
]


@pytest.mark.parametrize("domain", DOMAINS, ids=repr)
def test_every_domain_passes(domain: dw.Domain) -> None:
    for seed in range(3):
        check_domain(domain, seed)


def test_every_exported_domain_is_tried() -> None:
    exported = {getattr(domains, name) for name in domains.__all__}
    kinds = {kind for kind in exported if isinstance(kind, type) and issubclass(kind, dw.Domain)}
    assert kinds - {dw.Domain} == {type(domain) for domain in DOMAINS}


class ClippedToASquare(dw.Ball):
    def project(self, x: ArrayLike) -> Array:
        return np.asarray(np.clip(x, -self.radius, self.radius), np.float64)


class Sphere(dw.Ball):
    """The surface alone, which is not convex: a projection exists, but mixtures of members are not members."""

    def project(self, x: ArrayLike) -> Array:
        rows = np.asarray(x, float)
        lengths = np.linalg.norm(rows, axis=-1, keepdims=True)
        return np.where(lengths > 0.0, rows / np.maximum(lengths, 1e-300), [1.0, 0.0])

    def contains(self, x: ArrayLike, tol: float = 1e-9) -> bool:
        return bool(np.all(np.abs(np.linalg.norm(x, axis=-1) - 1.0) <= tol))


class RadialBox(dw.Box):
    """A member for every point, but not the nearest one."""

    def project(self, x: ArrayLike) -> Array:
        inside = super().project(x)
        x = np.asarray(x, float)
        shrink = np.max(np.abs(x) / np.maximum(np.abs(inside), 1e-300), axis=-1, keepdims=True)
        return np.asarray(x / np.maximum(shrink, 1.0))


class RowsDiffer(dw.Ball):
    def project(self, x: ArrayLike) -> Array:
        return super().project(x) * (1.0 - 1e-15 if np.ndim(x) == 2 else 1.0)


class ContainsAll(dw.Ball):
    def contains(self, x: ArrayLike, tol: float = 1e-9) -> bool:
        super().contains(x, tol)
        return True


class ContainsNone(dw.Ball):
    def contains(self, x: ArrayLike, tol: float = 1e-9) -> bool:
        super().contains(x, tol)
        return False


class Square(dw.Ball):
    @property
    def shape(self) -> tuple[int, ...]:
        return (self.dim, self.dim)


class Overflows(dw.Ball):
    def project(self, x: ArrayLike) -> Array:
        inside = super().project(x)
        return inside * np.nan if np.max(np.abs(x)) > 1e80 else inside


class Scaled(dw.Ball):
    """A ball whose numbers can be made wrong one by one."""

    def __init__(self, support: float = 1.0, farthest: float = 1.0, diameter: float = 2.0, dim: Any = 2) -> None:
        super().__init__(2)
        self.factors = support, farthest
        self.diameter, self.dim = diameter, dim

    def _support(self, rows: Array) -> Array:
        return self.factors[0] * super()._support(rows)

    def _farthest(self, rows: Array) -> Array:
        return self.factors[1] * super()._farthest(rows)


class WritesToItsInput(dw.Ball):
    def project(self, x: ArrayLike) -> Array:
        inside = super().project(x)
        if isinstance(x, np.ndarray):
            x[...] = inside
        return inside


class CleansNaN(dw.Ball):
    def project(self, x: ArrayLike) -> Array:
        given = np.asarray(x)
        return super().project(np.nan_to_num(x) if given.dtype.kind == "f" else x)


class RaisesSomethingElse(dw.Ball):
    def support(self, direction: ArrayLike) -> Array:
        rows = np.asarray(direction, np.float64)
        if not np.isfinite(rows).all():
            raise KeyError("no")
        return super().support(direction)


BROKEN: list[tuple[dw.Domain, str]] = [
    (ClippedToASquare(2), "should project to members, but the projection of .* which contains.. refuses"),
    (ContainsNone(2), "should project to members"),
    (ContainsAll(2), "should not contain .* away from its projection"),
    (Sphere(2), "should leave members and their mixtures where they are, but .* is moved by"),
    (RadialBox([-1.0, -1.0], [1.0, 1.0]), "should project to the nearest member, but .* is above 0"),
    (RowsDiffer(2), "should project rows to the same bits as single points"),
    (Scaled(diameter=1.9), "has members at a distance of .* more than its diameter 1.9"),
    (Scaled(diameter=float("nan")), "should have a diameter that is a finite float of at least 0, got nan"),
    (Scaled(dim=2.0), "should have a dim that is an int of at least 1, got 2.0"),
    (Square(2), r"should have a shape that holds dim = 2 numbers, got \(2, 2\)"),
    (Scaled(support=0.9), "more than support.. says"),
    (Scaled(support=1.1), "near to what support.. says"),
    (Scaled(farthest=0.9), "more than farthest.. says"),
    (Overflows(2), "should have a finite member nearest to"),
    (WritesToItsInput(2), "should not modify what project is given"),
    (CleansNaN(2), "should raise InputError when project is given NaN, but returned"),
    (RaisesSomethingElse(2), "should raise InputError when support is given NaN, but raised KeyError"),
]


@pytest.mark.parametrize(("domain", "message"), BROKEN, ids=lambda value: type(value).__name__)
def test_broken_domains_are_found(domain: dw.Domain, message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        check_domain(domain)


@pytest.mark.parametrize(("domain", "seed"), [("ball", 0), (dw.Ball, 0), (dw.Ball(2), -1)])
def test_bad_arguments(domain: Any, seed: Any) -> None:
    with pytest.raises(ParameterError, match="check_domain: "):
        check_domain(domain, seed)
