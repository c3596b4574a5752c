"""Compiled projections as a test calls them, and domains and points from the tiny to the huge."""

import numpy as np
from hypothesis import strategies as st

import driftwise as dw
from driftwise._compile import entry
from driftwise._memory import part
from driftwise._validate import Array
from driftwise.domains.kernels import project


@entry
def project_rows(plan: Array, rows: Array, room: Array) -> None:
    for i in range(rows.shape[0]):
        project(part(plan, 0), part(rows, i * rows.shape[1]), part(room, 0))


def compiled(domain: dw.Domain, x: Array) -> Array:
    """Project one point, or every row, by the machine code that learners use, in no more room than it asks for."""
    rows = np.array(x, np.float64, ndmin=2, order="C")
    project_rows(domain.plan(), rows, np.empty(domain.room))
    return rows.reshape(np.shape(x))


def powers(low: float, high: float) -> st.SearchStrategy[float]:
    """Return positive numbers whose logarithms are spread evenly."""
    return st.floats(low, high).map(lambda exponent: float(10.0**exponent))


def points(size: int, low: float = -200.0, high: float = 100.0) -> st.SearchStrategy[Array]:
    """Return points whose coordinates are zeros or of very different size: 10^low to 10^high, of either sign."""
    coordinate = st.one_of(st.just(0.0), powers(low, high), powers(low, high).map(lambda x: -x))
    return st.lists(coordinate, min_size=size, max_size=size).map(np.array)


@st.composite
def domains(draw: st.DrawFn) -> dw.Domain:
    """Return domains of 1 to 6 coordinates or so, 1e-100 to 1e100 wide, centred on the origin or far from it."""
    width, dim = draw(powers(-100.0, 100.0)), draw(st.integers(1, 6))
    middle = draw(st.one_of(st.just(np.zeros(dim)), points(dim, -100.0, 99.0)))
    ball = dw.Ball(dim, width, middle)
    box = dw.Box(middle, np.minimum(middle + width * np.arange(dim), 1e100))
    simplex = dw.Simplex(dim, width)
    spectral = dw.SpectralBalls((draw(st.integers(1, 2)), draw(st.integers(1, 3)), draw(st.integers(1, 3))), width)
    mixed = dw.Product(dw.Simplex(2, width), dw.Ball(1, width), spectral)
    return draw(st.sampled_from([ball, box, simplex, spectral, mixed]))


@st.composite
def outside(draw: st.DrawFn) -> tuple[dw.Domain, Array]:
    """Return a domain and four points: some far away, some at about the distance of its width."""
    domain = draw(domains())
    far = draw(points(2 * domain.dim)).reshape(2, -1)
    directions = draw(points(2 * domain.dim, -3.0, 0.5)).reshape(2, -1)
    near = domain.project(np.zeros(domain.dim)) + domain.diameter * directions
    return domain, np.clip(np.concatenate([far, near]), -1e100, 1e100)


def rounding(domain: dw.Domain, x: Array) -> float:
    """Return what an operation on a point and the numbers of a domain may lose."""
    largest = max(float(np.abs(x).max()), float(np.abs(domain.numbers).max()))
    return 1e-15 * largest * domain.dim
