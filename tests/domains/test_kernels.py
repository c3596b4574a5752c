"""Compiled projections, against the same projections in NumPy."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import driftwise as dw
from driftwise._compile import entry
from driftwise._memory import part
from driftwise._validate import Array
from driftwise.domains import kernels
from tests.domains.cases import compiled, domains, outside, points, powers, rounding
from tests.strategies import vectors

ONE_OF_EACH = (
    dw.Ball(3, 0.7, [0.1, 0.2, 0.3]),
    dw.Box([-1.0, 0.0, 0.5], [0.5, 0.0, 2.0]),
    dw.Simplex(4, 2.0),
    dw.SpectralBalls((2, 2, 3), [0.5, 1.0]),
)


@entry
def dot_of(a: Array, b: Array) -> float:
    return kernels.dot(part(a, 0), part(b, 0), a.size)


@entry
def length_of(x: Array) -> float:
    return kernels.length(part(x, 0), x.size)


@pytest.mark.parametrize(
    ("domain", "expected"),
    [
        (dw.Ball(2, 1.0, [0.5, 0.0]), [1.1, -0.8]),
        (dw.Product(dw.Ball(2, 1.0, [0.5, 0.0])), [1.1, -0.8]),
        (dw.Box([0.0, 0.0], [1.0, 2.0]), [1.0, 0.0]),
        (dw.Simplex(2), [1.0, 0.0]),
        (dw.SpectralBalls((1, 1, 2), 1.0), [0.6, -0.8]),
    ],
    ids=repr,
)
@pytest.mark.parametrize("size", [1e200, 1e300])
def test_squares_that_overflow(domain: dw.Domain, expected: list[float], size: float) -> None:
    np.testing.assert_allclose(compiled(domain, size * np.array([3.0, -4.0])), expected, rtol=1e-14)


@pytest.mark.parametrize("width", [1e-100, 1e-170, 1e-300])
@pytest.mark.parametrize("size", [2e-300, 1e-170, 1.0, 1e300])
def test_squares_that_vanish(width: float, size: float) -> None:
    point, share = size * np.array([3.0, -4.0]), min(width / 5.0, size)
    for domain in (dw.Ball(2, width), dw.SpectralBalls((1, 2, 1), width), dw.SpectralBalls((1, 1, 2), width)):
        np.testing.assert_allclose(compiled(domain, point), [3.0 * share, -4.0 * share], rtol=1e-14)


@given(outside())
def test_the_same_as_in_numpy(case: tuple[dw.Domain, Array]) -> None:
    domain, rows = case
    start = 0
    for block in domain.blocks:
        alone = slice(start, start + block.size)
        theirs, ours = domain.project(rows)[:, alone], compiled(domain, rows)[:, alone]
        if block.kind == kernels.BOX:
            np.testing.assert_array_equal(ours, theirs)
        elif block.kind == kernels.SPECTRAL:
            # An SVD is exact for a matrix that differs from the given one by rounding, and so far off at most.
            allowed = 1e-12 * np.maximum(np.abs(rows[:, alone]).max(axis=1), 1e-300)
            assert np.all(np.abs(ours - theirs).max(axis=1) <= allowed)
        else:
            np.testing.assert_allclose(ours, theirs, rtol=0.0, atol=1e-12 * block.numbers[0] + rounding(domain, ours))
        start += block.size


@given(domains(), st.data())
def test_any_point_gets_to_a_member(domain: dw.Domain, data: st.DataObject) -> None:
    projected = compiled(domain, data.draw(points(domain.dim, -320.0, 300.0)))
    assert np.isfinite(projected).all()
    assert domain.contains(projected, tol=1e-14)


@given(domains(), st.data())
def test_members_keep_their_place_and_inner_ones_their_bits(domain: dw.Domain, data: st.DataObject) -> None:
    member = compiled(domain, data.draw(points(domain.dim)))
    again = compiled(domain, member)
    np.testing.assert_allclose(again, member, rtol=0.0, atol=1e-14 * domain.diameter + rounding(domain, member))
    inner = 0.5 * member + 0.5 * domain.project(np.zeros(domain.dim))
    if not any(block.kind == kernels.SIMPLEX for block in domain.blocks) and domain.numbers[1:].max(initial=0.0) == 0.0:
        assert compiled(domain, inner).tobytes() == inner.tobytes()


@given(points(8), points(4, -320.0, 300.0))
def test_boxes_clip_and_leave_what_is_clipped(limits: Array, x: Array) -> None:
    box = dw.Box(*np.sort(limits.reshape(2, 4), axis=0))
    once = compiled(box, x)
    np.testing.assert_array_equal(once, np.clip(x, box.low, box.high))
    assert compiled(box, once).tobytes() == once.tobytes()


@pytest.mark.parametrize("domain", ONE_OF_EACH, ids=repr)
def test_a_block_gives_the_same_bits_alone_and_among_others(domain: dw.Domain) -> None:
    rows = 3.0 * np.random.default_rng(0).standard_normal((50, domain.dim))
    beside = dw.Product(dw.Box([0.0], [1.0]), domain, dw.Simplex(2))
    wide = np.hstack([np.zeros((50, 1)), rows, np.ones((50, 2))])
    assert compiled(domain, rows).tobytes() == compiled(beside, wide)[:, 1 : 1 + domain.dim].tobytes()


@given(vectors(40, 5.0), st.integers(1, 40), powers(-2.0, 3.0))
@example(np.zeros(40), 40, 1.0)
@example(np.arange(40.0), 40, 1e3)
@example(np.tile([1.0, 1.0 - 1e-16, 1.0 + 1e-15, 0.0], 10), 40, 1e-2)
def test_michelot_finds_the_threshold_that_sorting_finds(x: Array, dim: int, scale: float) -> None:
    simplex = dw.Simplex(dim, scale)
    ours = compiled(simplex, x[:dim])
    np.testing.assert_allclose(ours, simplex.project(x[:dim]), rtol=0.0, atol=1e-14 * scale)
    assert ours.min() >= 0.0
    assert ours.sum() == pytest.approx(scale, rel=1e-13)


@pytest.mark.parametrize("scale", [5e-324, 1e-300, 1e100])
def test_simplices_of_any_scale(scale: float) -> None:
    for x in (np.zeros(3), np.array([1e300, -1e300, 1e300]), np.array([0.0, 5e-324, 1e-300])):
        projected = compiled(dw.Simplex(3, scale), x)
        assert np.isfinite(projected).all()
        assert np.abs(projected.sum() - scale) <= 1e-15 * scale + 5e-324


@given(st.integers(0, 40).flatmap(lambda n: st.tuples(vectors(n, 8.0), vectors(n, 8.0))))
def test_dot_adds_up_every_product(pair: tuple[Array, Array]) -> None:
    a, b = (np.round(values) for values in pair)
    assert dot_of(a, b) == float(a @ b)


@given(st.integers(1, 7).flatmap(lambda n: points(n, -320.0, 300.0)))
@example(np.zeros(3))
@example(np.full(4, 5e-324))
def test_length_of_numbers_of_any_size(x: Array) -> None:
    largest = float(np.abs(x).max())
    expected = largest * float(np.linalg.norm(x / largest)) if largest > 0.0 else 0.0
    assert length_of(x) == pytest.approx(expected, rel=1e-14, abs=5e-324)
