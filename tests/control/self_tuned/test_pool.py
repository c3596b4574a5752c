"""The vector of a pool: parts that do not overlap, its start, and copies without room and addresses."""

import math

import numpy as np
import pytest

from driftwise import control
from driftwise.control.self_tuned.pool import (
    AUTOREGRESSIONS,
    COUNT,
    FINISH_CALL,
    HEADER,
    HOLDS,
    LANES,
    LARGEST_POLICY,
    PACES,
    POOL,
    STEPS,
    STILL,
    kept,
)

FORECASTERS = 1 + len(HOLDS) + len(AUTOREGRESSIONS)
SHAPES: list[tuple[int, int, int]] = [(1, 1, 1), (4, 1, 2), (3, 2, 3), (LARGEST_POLICY // 2 + 1, 1, 2)]


def made(shape: tuple[int, int, int]) -> control.SelfTunedController:
    H, du, dx = shape
    return control.SelfTunedController(control.random_system(dx, du, radius=0.9, seed=1), memory=H)


@pytest.mark.parametrize("shape", SHAPES)
def test_every_number_of_a_pool_belongs_to_one_part(shape: tuple[int, int, int]) -> None:
    mine = made(shape)
    pool = mine._pool.copy()
    pool[HEADER:] = 0.0
    header = pool[:HEADER].copy()
    for number, view in enumerate(POOL.views(pool, mine._sides).values(), start=1):
        assert not view.any(), "parts overlap"
        view[...] = number
    np.testing.assert_array_equal(pool[:HEADER], header)
    assert pool[HEADER:].all(), "something belongs to no part"


@pytest.mark.parametrize("shape", SHAPES)
def test_all_begin_with_the_prior(shape: tuple[int, int, int]) -> None:
    mine = made(shape)
    parts, count = mine._pool_parts, int(mine._pool[COUNT])
    learners = len(STEPS) + len(PACES) if math.prod(shape) <= LARGEST_POLICY else 0
    assert count == FORECASTERS + learners == len(mine.members)
    assert mine._pool[LANES] % 4 == 0
    assert 0 <= mine._pool[LANES] - count < 4
    assert parts["weights"].sum() == pytest.approx(1.0)
    assert parts["weights"][0] == pytest.approx(STILL)
    assert not parts["weights"][count:].any()
    assert (parts["prior"][count:] == -math.inf).all()
    assert not parts["policies"].any()
    # All learners over policies together weigh as much as one other member.
    assert parts["weights"][FORECASTERS:].sum() == pytest.approx(parts["weights"][1] if learners else 0.0)


def test_copies_have_neither_room_nor_addresses() -> None:
    mine = made((2, 1, 2))
    fresh = POOL.with_room(kept(mine._pool, mine.domain), mine._sides)
    pool = mine._decider
    mine._pool_parts["gradients"][:] = 3.0
    pool[FINISH_CALL] = 12345.0
    assert pool.tobytes() != fresh.tobytes()
    assert POOL.with_room(kept(pool, mine.domain), mine._sides).tobytes() == fresh.tobytes()
