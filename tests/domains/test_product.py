"""Products of domains, against their factors."""

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given

import driftwise as dw
from driftwise._validate import Array
from driftwise.errors import ParameterError
from tests.strategies import vectors

FACTORS = (dw.Ball(2, 2.0, [1.0, 0.0]), dw.Simplex(3), dw.Box([-1.0], [4.0]), dw.SpectralBalls((1, 2, 2), 1.0))
PRODUCT = dw.Product(*FACTORS)
NESTED = dw.Product(FACTORS[0], dw.Product(*FACTORS[1:]))


def parts(x: Array) -> list[Array]:
    return np.split(x, np.cumsum([factor.dim for factor in FACTORS])[:-1], axis=-1)


@pytest.mark.parametrize("domain", [PRODUCT, NESTED], ids=["flat", "nested"])
@given(x=vectors(10, 10.0))
def test_every_part_is_projected_on_its_own(domain: dw.Product, x: Array) -> None:
    expected = np.concatenate([factor.project(part) for factor, part in zip(FACTORS, parts(x), strict=True)])
    assert domain.project(x).tobytes() == expected.tobytes()


@given(x=vectors((3, 10), 10.0))
def test_support_adds_up_and_distances_add_in_squares(x: Array) -> None:
    pairs = list(zip(FACTORS, parts(x), strict=True))
    supports = sum(factor.support(np.ascontiguousarray(part)) for factor, part in pairs)
    squares = sum(factor.farthest(np.ascontiguousarray(part)) ** 2 for factor, part in pairs)
    np.testing.assert_allclose(PRODUCT.support(x), supports, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(PRODUCT.farthest(x) ** 2, squares, rtol=1e-12)


@pytest.mark.parametrize("domain", [PRODUCT, NESTED], ids=["flat", "nested"])
def test_diameters_add_in_squares(domain: dw.Product) -> None:
    assert domain.dim == 10
    assert domain.diameter**2 == pytest.approx(sum(factor.diameter**2 for factor in FACTORS), rel=1e-14)


def test_repr() -> None:
    assert repr(dw.Product(dw.Ball(2), dw.Simplex(3))) == "Product(Ball(2, radius=1), Simplex(3, scale=1))"


@pytest.mark.parametrize(
    ("factors", "message"),
    [
        ((), "give at least one domain"),
        ((dw.Ball(2), 3), "Product: factor 1 must be a Domain, such as Ball.2., got 3."),
    ],
)
def test_bad_arguments(factors: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        dw.Product(*factors)


@pytest.mark.parametrize("kind", [list, tuple])
def test_a_list_of_domains_is_their_product(kind: Any) -> None:
    parts = [dw.Ball(2), dw.Box(0, 9), dw.Simplex(3)]
    given = kind(parts)
    domain, same = dw.Product(given), dw.Product(*parts)
    parts.append(dw.Ball(1))
    assert domain.factors == same.factors
    assert (repr(domain), domain.dim, domain.diameter) == (repr(same), 6, same.diameter)
    x = np.arange(6.0)
    np.testing.assert_array_equal(domain.project(x), same.project(x))
    assert dw.Product([dw.Ball(2)]).dim == 2
    learner = dw.OGD(domain, step=1.0)
    learner.act()
    learner.observe(x)
    assert dw.from_bytes(learner.to_bytes()).act().tolist() == learner.act().tolist()
    assert pickle.loads(pickle.dumps(domain)).dim == 6
