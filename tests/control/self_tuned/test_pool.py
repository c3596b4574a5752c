"""The vector of a pool: parts that do not overlap, its start, and copies without room and addresses."""

import math

import numpy as np
import pytest

import driftwise as dw
from driftwise.control.self_tuned.pool import (
    COUNT,
    FINISH_CALL,
    FITS,
    FORGETTING,
    HEADER,
    LANES,
    LARGEST_FIT,
    PACES,
    POOL,
    STEPS,
    STILL,
    kept,
    members,
    new_pool,
    sides_of,
)

SHAPES: list[tuple[int, int, int]] = [(1, 1, 1), (4, 1, 2), (3, 2, 3), (LARGEST_FIT // 2 + 1, 1, 2)]


@pytest.mark.parametrize("shape", SHAPES)
def test_every_number_of_a_pool_belongs_to_one_part(shape: tuple[int, int, int]) -> None:
    domain = dw.SpectralBalls(shape, 2.0)
    pool = new_pool(domain, 0.5)
    pool[HEADER:] = 0.0
    header = pool[:HEADER].copy()
    for number, view in enumerate(POOL.views(pool, sides_of(domain)).values(), start=1):
        assert not view.any(), "parts overlap"
        view[...] = number
    np.testing.assert_array_equal(pool[:HEADER], header)
    assert pool[HEADER:].all(), "something belongs to no part"


@pytest.mark.parametrize("shape", SHAPES)
def test_all_begin_at_zero_with_the_prior(shape: tuple[int, int, int]) -> None:
    domain = dw.SpectralBalls(shape, 2.0)
    pool = new_pool(domain, 0.5)
    parts, count = POOL.views(pool, sides_of(domain)), int(pool[COUNT])
    fits = len(FORGETTING) if math.prod(shape) <= LARGEST_FIT else 0
    assert pool[FITS] == fits
    assert count == 1 + len(STEPS) + len(PACES) + fits == len(members(count))
    assert pool[LANES] % 4 == 0
    assert 0 <= pool[LANES] - count < 4
    assert parts["weights"].sum() == pytest.approx(1.0)
    assert parts["weights"][0] == pytest.approx(STILL)
    assert not parts["weights"][count:].any()
    assert (parts["prior"][count:] == -math.inf).all()
    assert not parts["policies"].any()


def test_copies_have_neither_room_nor_addresses() -> None:
    domain = dw.SpectralBalls((2, 1, 2), 2.0)
    pool = new_pool(domain, 0.5)
    fresh = pool.copy()
    POOL.views(pool, sides_of(domain))["plan"][:] = domain.plan()
    POOL.views(pool, sides_of(domain))["gradients"][:] = 3.0
    pool[FINISH_CALL] = 12345.0
    assert pool.tobytes() != fresh.tobytes()
    assert POOL.with_room(kept(pool, domain), sides_of(domain)).tobytes() == fresh.tobytes()
