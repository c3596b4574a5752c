"""The step over stacks of matrices: the reference round for odd shapes and tight radii, and nobody else is moved."""

import numpy as np
import pytest

import driftwise as dw
from driftwise._validate import Array
from driftwise.engine import layout
from driftwise.engine.matrices import matrices_step
from driftwise.engine.members import planned_step
from driftwise.engine.reference import Reference
from driftwise.learners import Ensemble, Meta, Pool, Surrogate

SHAPES = [(1, 1, 1), (3, 1, 5), (4, 3, 2), (2, 3, 7), (5, 5, 5)]
PRICES: dict[str, float | dw.MoveCost] = {"number": 0.3, "l2": dw.MoveCost(up=0.1, down=0.5, norm="l2")}


def make(shape: tuple[int, int, int], schedule: str = "time-varying", price: str = "number", seed: int = 0) -> Ensemble:
    """Return a learner whose pool grows, over matrices with radii of their own."""
    radii = np.random.default_rng(seed).uniform(0.1, 1.0, shape[0])
    domain = dw.SpectralBalls(shape, radii)
    pool, surrogate = Pool(0.03, growth=1.0), Surrogate(PRICES[price])
    return Ensemble(domain, pool=pool, meta=Meta(1.0), surrogate=surrogate, horizon_free=schedule)


def gradients(dim: int, rounds: int, seed: int = 1) -> Array:
    """Return gradients with a direction of their own, so that base-learners run into the walls."""
    rng = np.random.default_rng(seed)
    return np.asarray(2.0 * rng.standard_normal(dim) + 0.5 * rng.standard_normal((rounds, dim)))


def linked(learner: Ensemble) -> bool:
    return int(learner.cell[layout.STEP_CALL]) == matrices_step.address


@pytest.mark.parametrize("price", PRICES)
@pytest.mark.parametrize("shape", SHAPES)
def test_every_round_is_the_reference_round(shape: tuple[int, int, int], price: str) -> None:
    learner = make(shape, price=price)
    assert linked(learner)
    reference, inside, at_the_wall = Reference(learner.program, learner.act()), 0, 0
    for gradient in gradients(learner.domain.dim, 40):
        learner.act()
        learner.observe(gradient)
        reference.observe(gradient)
        np.testing.assert_allclose(learner.base_decisions, reference.points, rtol=0.0, atol=1e-12)
        np.testing.assert_allclose(learner.act(), reference.decision, rtol=0.0, atol=1e-12)
        stack = learner.base_decisions.reshape(-1, *shape)
        norms = np.linalg.norm(stack, 2, axis=(2, 3)) / learner.domain.radii  # type: ignore[attr-defined]
        at_the_wall += int(np.count_nonzero(np.abs(norms - 1.0) < 1e-13))
        inside += int(np.count_nonzero(norms < 0.99))
    assert min(at_the_wall, inside) >= 10, (at_the_wall, inside)


@pytest.mark.parametrize("schedule", ["time-varying", "doubling"])
def test_who_does_not_play_yet_stays_where_it_is(schedule: str) -> None:
    """One in play, three lanes beside it: a newcomer begins at the mixture, wherever the lane has been."""
    learner = make((2, 2, 3), schedule)
    before = learner._parts["points"].copy()
    learner.act()
    learner.observe(np.ones(learner.domain.dim))
    active = int(learner._number(layout.ACTIVE))
    assert active < 4
    moved = np.any(learner._parts["points"] != before, axis=(0, 1))
    assert moved[0]
    assert not moved[active:].any()


@pytest.mark.parametrize("shape", SHAPES)
def test_the_step_for_any_domain_does_the_same(shape: tuple[int, int, int]) -> None:
    ours, theirs = make(shape), make(shape)
    cell = theirs.cell
    cell[layout.THIN] = 0.0
    cell[[layout.STEP_CALL, layout.MOVE_CALL]] = planned_step.address
    for gradient in gradients(ours.domain.dim, 40):
        for learner in (ours, theirs):
            learner.act()
            learner.observe(gradient)
        np.testing.assert_allclose(ours.act(), theirs.act(), rtol=0.0, atol=1e-13)
        np.testing.assert_allclose(ours._parts["moves"], theirs._parts["moves"], rtol=0.0, atol=1e-14)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("step", [1e-14, 1e-3, 1.0, 15.0, 17.0, 1e4, 1e30])
def test_moves_are_as_long_as_the_way_between_the_points(shape: tuple[int, int, int], step: float) -> None:
    """From a point inside: steps that are lost in rounding, that stay inside, that are clipped, that swallow digits."""
    rng, domain = np.random.default_rng(5), dw.SpectralBalls(shape, 0.7)
    start = domain.project(rng.standard_normal(domain.dim) / 4.0)
    learner = dw.OGD(domain, step=step, start=start)
    gradient = rng.standard_normal(domain.dim)
    learner.act()
    learner.observe(gradient / np.linalg.norm(gradient))
    length = float(np.linalg.norm(learner.act() - start))
    assert float(learner._parts["moves"][0]) == pytest.approx(length, rel=1e-13, abs=2e-15)


@pytest.mark.parametrize("heeds", [False, True])
def test_rounds_with_and_without_hints_in_turn(heeds: bool) -> None:
    learner = make((3, 2, 3)) if heeds else dw.OGD(dw.SpectralBalls((3, 2, 3), 0.4), step=0.1)
    reference = Reference(learner.program, learner.act())
    for t, gradient in enumerate(gradients(18, 30)):
        if t % 3 == 1:
            learner.act(hint=0.5 * gradient + 0.1)
            reference.hint(0.5 * gradient + 0.1)
        np.testing.assert_allclose(learner.act(), reference.decision, rtol=0.0, atol=1e-12)
        learner.observe(gradient)
        reference.observe(gradient)
    np.testing.assert_allclose(learner.base_decisions, reference.points, rtol=0.0, atol=1e-12)


def test_other_domains_and_families_spread_gradients_over_four_lanes() -> None:
    stack = dw.SpectralBalls((2, 2, 2), 1.0)
    others = [
        dw.Scream(dw.Product(dw.Ball(2), stack), switching_cost=1.0, gradient_bound=1.0, horizon=50),
        dw.SelfTunedScream(dw.Ball(3), switching_cost=1.0),
        dw.OGD(dw.Box([0.0], [1.0]), step=0.1),
        Ensemble(stack, pool=Pool(0.4, patience=(0.0, 1.0)), meta=Meta(1.0), surrogate=Surrogate(1.0), horizon=50),
        Ensemble(stack, pool=Pool(0.4, growth=1.0), meta=Meta(1.0), horizon_free="self-tuned"),
    ]
    for learner in others:
        if isinstance(learner, Ensemble):
            assert learner.cell[layout.THIN] == 0.0


def test_steps_that_overflow_and_a_radius_whose_square_vanishes() -> None:
    for radius in (1.0, 1e-160):
        learner = dw.OGD(dw.SpectralBalls((2, 2, 2), [1.0, radius]), step=1e60)
        learner.act()
        learner.observe(1e90 * np.array([0.0, 2.0, -2.0, 0.0, 1.0, 0.0, 0.0, -1.0]))
        expected = np.array([0.0, -1.0, 1.0, 0.0, -radius, 0.0, 0.0, radius])
        np.testing.assert_allclose(learner.act(), expected, rtol=1e-14)
        learner.observe(-1e90 * np.array([0.0, 2.0, -2.0, 0.0, 1.0, 0.0, 0.0, -1.0]))
        np.testing.assert_allclose(learner.act(), -expected, rtol=1e-14)
