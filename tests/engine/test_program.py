"""A configuration packed for the kernels can be read back, and its state has room for exactly what it needs."""

import numpy as np
import pytest

import driftwise as dw
from driftwise.domains.kernels import SIMPLEX
from driftwise.engine import Program, layout
from driftwise.errors import ParameterError
from tests.cases import DOMAINS, check_refused

STEPS = np.array([0.1, 0.2, 0.4])
LOG_PRIOR = np.log([0.5, 0.3, 0.2])


def _program(where: str = "ball", base: dw.mirror.MirrorMap | None = None) -> Program:
    return Program(
        DOMAINS[where],
        base or dw.mirror.Euclidean(),
        STEPS,
        LOG_PRIOR,
        rate=0.7,
        switching_cost=dw.MoveCost(1.5, norm="l2"),
        schedule="doubling",
        clock=9.0,
        growth=0.0,
        epoch=4,
    )


@pytest.mark.parametrize("where", DOMAINS)
def test_constants_can_be_read_from_a_cell(where: str) -> None:
    program, domain = _program(where), DOMAINS[where]
    cell = program.new_cell(np.zeros(domain.dim))
    expected = {
        layout.SCHEDULE: layout.DOUBLING,
        layout.BASE: 0,
        layout.EPOCH: 4,
        layout.SIZES: 3,
        layout.DIM: domain.dim,
        layout.KINDS: 1,
        layout.RATE: 0.7,
        layout.SWITCHING: 1.5,
        layout.PRICE: 1.5,
        layout.CLOCK: 9.0,
        layout.MAP_NUMBER: 2.0,
        layout.DIAMETER: domain.diameter,
        layout.DEAD_ZONE: 0.0,
        layout.ROUND_CALL: 0.0,
    }
    assert {place: cell[place] for place in expected} == expected
    parts = layout.CONSTANTS.views(cell, program.sides)
    np.testing.assert_array_equal(parts["steps"], [*STEPS, 0.0])
    np.testing.assert_array_equal(parts["log_prior"], [*LOG_PRIOR, -np.inf])
    np.testing.assert_array_equal(parts["domain"], domain.plan(link=False))
    simplices = [part for block, part in zip(domain.blocks, domain.slices, strict=True) if block.kind == SIMPLEX]
    assert parts["simplices"].tolist() == [[part.start, part.stop] for part in simplices]


@pytest.mark.parametrize("base", [dw.mirror.Euclidean(), dw.mirror.NegativeEntropy()], ids=repr)
def test_parts_share_out_a_cell_without_gap_or_overlap(base: dw.mirror.MirrorMap) -> None:
    program = _program("simplex", base)
    cell = program.new_cell(np.full(4, 0.5))
    assert layout.state_of(cell)[: layout.STATE.numbers].tolist() == [0, 0, 0, 3, 8, *[0] * 15]
    cell[layout.HEADER :] = 0.0
    layout.state_of(cell)[: layout.STATE.numbers] = 1.0
    room = cell[int(cell[layout.ROOM_AT]) :]
    for section, vector in (
        (layout.CONSTANTS, cell),
        (layout.STATE, layout.state_of(cell)),
        (layout.ROOM, room),
    ):
        for part in section.views(vector, program.sides).values():
            part += 1.0
    assert np.all(cell[layout.HEADER :] == 1.0)
    entropic = isinstance(base, dw.mirror.NegativeEntropy)
    assert program.views(cell)["duals"].shape == (1 if entropic else 0, 4, 4)


def test_a_slot_belongs_to_one_part() -> None:
    slots = [part.slot for section in (layout.CONSTANTS, layout.STATE, layout.ROOM) for part in section.parts]
    assert sorted(slots) == list(range(min(slots), layout.HEADER))


@pytest.mark.parametrize("kinds", [1, 2, 4])
@pytest.mark.parametrize("sizes", [1, 3, 4, 9])
def test_lanes_in_play_are_a_prefix_and_no_lane_serves_two(sizes: int, kinds: int) -> None:
    order, lanes = layout.lane_order(sizes, kinds), layout.lanes_of(sizes, kinds)
    assert np.unique(order).size == sizes * kinds
    for active in range(1, sizes + 1):
        assert order[: active * kinds].max() < layout.lanes_of(active, kinds) <= lanes


def test_a_new_cell_has_every_base_learner_at_the_start_and_the_prior_as_weights() -> None:
    start = np.array([0.1, -0.2, 0.3])
    program = _program()
    parts = program.views(program.new_cell(start))
    np.testing.assert_array_equal(parts["points"], np.repeat(start[:, None], 4, axis=1)[None])
    np.testing.assert_array_equal(parts["decision"], start)
    np.testing.assert_allclose(parts["weights"], [0.5, 0.3, 0.2, 0.0], rtol=1e-15)


@pytest.mark.parametrize(
    ("schedule", "clocks"),
    [
        ("fixed", [9.0] * 9),
        ("time-varying", [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]),
        ("doubling", [1.0, 2.0, 2.0, 4.0, 4.0, 4.0, 4.0, 8.0, 8.0]),
    ],
)
def test_the_clock_of_every_schedule(schedule: str, clocks: list[float]) -> None:
    program = Program(dw.Ball(1), dw.mirror.Euclidean(), STEPS, LOG_PRIOR, schedule=schedule, clock=9.0)
    assert [program.clock_at(update) for update in range(1, 10)] == clocks


@pytest.mark.parametrize(
    ("steps", "rate"),
    [([1e101], 0.0), ([-0.1], 0.0), ([np.nan], 0.0), ([0.1], 1e101), ([0.1], -1.0), ([0.1], np.nan)],
)
def test_constants_out_of_range_are_refused(steps: list[float], rate: float) -> None:
    check_refused(
        lambda: Program(dw.Ball(1), dw.mirror.Euclidean(), np.array(steps), np.zeros(1), rate=rate),
        "step sizes",
        "rescale",
        kind=ParameterError,
    )
