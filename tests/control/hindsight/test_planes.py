"""The lower bound on every sequence of policies: valid for any planes and multipliers, tight at the optimum."""

import numpy as np
import pytest

import driftwise as dw
from driftwise import control
from driftwise._validate import Array
from driftwise.control.costs.run import Run
from driftwise.control.hindsight import best_policies
from driftwise.control.hindsight.planes import Planes, lower_bound, tangents, with_slopes
from driftwise.control.hindsight.rollout import Problem, cost_values
from driftwise.control.hindsight.totals import Region, Totals
from tests.control.hindsight.problems import CENTRED, SYSTEMS, given, problem

H, ROUNDS = 2, 15
SMOOTH = tuple(kind for kind in CENTRED if kind != "absolute")


def of_rounds(asked: Problem) -> Totals:
    """Return the total cost of one policy a round."""
    T, dx, du = asked.size
    gain = control.lqr(asked.system)
    return Totals(asked, gain[None], np.arange(T), np.arange(T), (T, H, du, dx))


def planes_of(totals: Totals, rng: np.random.Generator, near: Array, noise: float) -> Planes:
    """Return planes that touch the costs near the run of some policies, or below absolute ones, more or less so."""
    run = totals.roll(near)
    states = run.states + noise * rng.standard_normal(run.states.shape)
    inputs = run.inputs + noise * rng.standard_normal(run.inputs.shape)
    costs = totals.problem.costs
    if costs.model is not None and (not costs.model.smooth or (costs.model.separable and rng.random() < 0.5)):
        return with_slopes(totals, *(3.0 * rng.standard_normal(part.shape) for part in (states, inputs)))
    return tangents(totals, Run(states, inputs, cost_values(costs, states, inputs)))


@pytest.mark.parametrize("kind", CENTRED)
@pytest.mark.parametrize("name", SYSTEMS)
@pytest.mark.parametrize("inside", [False, True])
def test_no_sequence_costs_less_whatever_the_planes_and_multipliers(kind: str, name: str, inside: bool) -> None:
    asked = problem(name, kind, ROUNDS)
    totals, rng = of_rounds(asked), np.random.default_rng(1)
    T, _, du, dx = totals.shape
    domain, reach = dw.SpectralBalls((H, du, dx), 0.4) if inside else None, 2.0
    region, above_zero = Region(domain, T, 1.0), 0
    best = {
        price: best_policies(*given(asked), switching_cost=price, memory=H, domain=domain, start=asked.start)
        for price in (0.0, 0.05, 1.0)
    }
    for trial in range(60):
        price = (0.0, 0.05, 1.0)[trial % 3]
        near, noise = best[price].policies, (0.0, 0.01, 0.1, 1.0)[trial % 4]
        planes = planes_of(totals, rng, near, noise)
        dual = None if trial % 2 else rng.choice([0.01, 0.1, 1.0]) * rng.standard_normal((T, H * du * dx))
        bound = lower_bound(totals, region, planes, dual, price, reach)
        above_zero += bound > 0.0
        assert bound <= best[price].overall * (1.0 + 1e-9) or (not inside and np.abs(near).max() > reach)
        for spread in (0.0, 0.1, 1.0):
            rows = near.reshape(T, -1) + spread * rng.standard_normal((T, H * du * dx))
            rows = (
                rows * min(1.0, reach / np.linalg.norm(rows, axis=1).max()) if domain is None else domain.project(rows)
            )
            cost = totals.roll(rows).total + price * np.linalg.norm(np.diff(rows, axis=0), axis=1).sum()
            assert bound <= cost * (1.0 + 1e-12)
    assert above_zero >= (0 if kind == "absolute" else 5)


@pytest.mark.parametrize("kind", SMOOTH)
@pytest.mark.parametrize("price", [0.05, 1.0])
def test_at_the_optimum_it_is_tight_and_falls_with_the_distance_from_it(kind: str, price: float) -> None:
    asked = problem("double integrator", kind, ROUNDS)
    totals = of_rounds(asked)
    best = best_policies(*given(asked), switching_cost=price, memory=H, start=asked.start)
    region = Region(None, ROUNDS, 1.0)
    bounds = [
        lower_bound(totals, region, tangents(totals, totals.roll(best.policies + off)), None, price, 10.0)
        for off in (0.0, 1e-6, 1e-5)
    ]
    assert bounds[0] == pytest.approx(best.overall, rel=1e-3)
    assert bounds[0] > bounds[1] > bounds[2]


def test_slopes_steeper_than_the_weights_are_clipped() -> None:
    totals = of_rounds(problem("double integrator", "absolute", ROUNDS))
    planes = with_slopes(totals, np.full((ROUNDS, 2), 9.0), np.full((ROUNDS, 1), -9.0))
    cost = totals.problem.costs[0]
    assert isinstance(cost, control.AbsoluteCost)
    np.testing.assert_allclose(planes.of_states, np.tile(cost.state_weights, (ROUNDS, 1)))
    np.testing.assert_allclose(planes.of_inputs, -np.tile(cost.input_weights, (ROUNDS, 1)))
    np.testing.assert_array_equal(planes.heights, 0.0)


def test_planes_of_huber_costs_touch_where_the_slopes_are_those() -> None:
    totals = of_rounds(problem("wide", "Huber", ROUNDS))
    run = totals.roll(np.full(totals.dim, 0.1))
    at = tangents(totals, run)
    again = with_slopes(totals, at.of_states, at.of_inputs)
    np.testing.assert_allclose(again.heights, at.heights, rtol=1e-12, atol=1e-12)


def test_tangents_touch() -> None:
    totals = of_rounds(problem("wide", "soft", ROUNDS))
    run = totals.roll(np.full(totals.dim, 0.1))
    planes = tangents(totals, run)
    touched = planes.heights + (planes.of_states * run.states).sum(1) + (planes.of_inputs * run.inputs).sum(1)
    np.testing.assert_allclose(touched, run.costs, rtol=1e-12)
