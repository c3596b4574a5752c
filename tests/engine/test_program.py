"""A configuration packed for the kernels can be read back, and its state has room for exactly what it needs."""

import numpy as np
import pytest

import driftwise as dw
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
        switching_cost=1.5,
        schedule="doubling",
        clock=9.0,
        growth=0.0,
        epoch=4,
    )


@pytest.mark.parametrize("where", DOMAINS)
def test_constants_can_be_cut_into_their_parts_again(where: str) -> None:
    program = _program(where)
    c = layout.config.py_func(*program.constants())  # type: ignore[attr-defined]
    assert c.choices.tolist() == [layout.DOUBLING, 0, 4, 3, DOMAINS[where].dim, 1, layout.EUCLIDEAN_PRICE, 0, 1]
    assert c.settings.tolist() == [0.7, 1.5, 0.0, 9.0, 2.0, DOMAINS[where].diameter, 0.0, 1.5]
    for part, expected in ((c.steps, STEPS), (c.log_prior, LOG_PRIOR)):
        np.testing.assert_array_equal(part, expected)
    np.testing.assert_array_equal(c.blocks, DOMAINS[where].table)
    np.testing.assert_array_equal(c.numbers, DOMAINS[where].numbers)


@pytest.mark.parametrize("base", [dw.mirror.Euclidean(), dw.mirror.NegativeEntropy()], ids=repr)
def test_views_share_out_the_state_without_gap_or_overlap(base: dw.mirror.MirrorMap) -> None:
    counters, state = _program("simplex", base).new_state(np.full(4, 0.5))
    views = layout.views.py_func(state, 3, 4)  # type: ignore[attr-defined]
    state[:] = 0.0
    for view in views:
        view += 1.0
    assert np.all(state == 1.0)
    assert views.duals.shape == (3 if isinstance(base, dw.mirror.NegativeEntropy) else 0, 4)
    assert counters.tolist() == [0, 0, 0, 3, 0]


def test_a_new_state_has_every_base_learner_at_the_start_and_the_prior_as_weights() -> None:
    start = np.array([0.1, -0.2, 0.3])
    _, state = _program().new_state(start)
    views = layout.views.py_func(state, 3, 3)  # type: ignore[attr-defined]
    np.testing.assert_array_equal(views.points, np.tile(start, (3, 1)))
    np.testing.assert_allclose(views.decision[0], start, rtol=1e-15)
    np.testing.assert_allclose(views.weights, [0.5, 0.3, 0.2], rtol=1e-15)


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
