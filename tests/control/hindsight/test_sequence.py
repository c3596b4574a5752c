"""The cheapest sequence of policies, moves priced: brute force, both ends of the price, and what is refused."""

import itertools
import time
from typing import Any

import numpy as np
import pytest

import driftwise as dw
from driftwise import control
from driftwise._validate import Array
from driftwise.control.hindsight import best_policies, best_policy, clairvoyant, rounds
from driftwise.control.hindsight.rollout import Problem
from driftwise.errors import ArgumentError, InputError, ParameterError, StabilityError
from tests.cases import a_third, check_refused
from tests.control.cases import PLANT, UNIT, roll, squares
from tests.control.hindsight.problems import CENTRED, SYSTEMS, cp, given, least, of_policies, problem, waves

H, ROUNDS = 2, 12
PRICES = (0.0, 0.02, 0.5)


def by_cvxpy(asked: Problem, price: float, radius: float | None = None) -> float:
    """Return the least overall cost of any sequence of policies, from states and inputs written out."""
    T, dx, du = asked.size
    F, r = of_policies(asked, control.lqr(asked.system), H, list(range(T)))

    def moves(v: Any) -> Any:
        M = cp.reshape(v, (T, H * du * dx), order="C")
        return price * cp.sum(cp.norm(M[1:] - M[:-1], axis=1))

    def short(v: Any) -> list[Any]:
        stack = cp.reshape(v, (T * H * du, dx), order="C")
        return [cp.sigma_max(stack[k * du : (k + 1) * du]) <= radius for k in range(T * H)]

    return least(asked, F, r, None if radius is None else short, moves)


@pytest.mark.filterwarnings("ignore:Solution may be inaccurate")  # of the reference
@a_third(kind=CENTRED, name=SYSTEMS, price=PRICES)
def test_no_sequence_is_cheaper(kind: str, name: str, price: float) -> None:
    asked = problem(name, kind, ROUNDS)
    found = best_policies(*given(asked), switching_cost=price, memory=H, start=asked.start)
    expected = by_cvxpy(asked, price)
    assert found.overall == pytest.approx(expected, rel=1e-6)
    assert found.lower_bound <= expected * (1.0 + 1e-7)
    assert found.optimal
    assert found.gap <= 1e-6 * found.overall


@pytest.mark.filterwarnings("ignore:Solution may be inaccurate")  # of the reference
@a_third(kind=CENTRED, name=SYSTEMS, price=PRICES)
def test_no_sequence_in_the_domain_is_cheaper(kind: str, name: str, price: float) -> None:
    asked, radius = problem(name, kind, ROUNDS), 0.15
    du, dx = asked.system.input_dim, asked.system.state_dim
    domain = dw.SpectralBalls((H, du, dx), radius)
    found = best_policies(*given(asked), switching_cost=price, domain=domain, start=asked.start)
    expected = by_cvxpy(asked, price, radius)
    assert all(domain.contains(M) for M in found.policies)
    assert found.overall == pytest.approx(expected, rel=1e-6)
    assert found.overall > by_cvxpy(asked, price) * (1.0 + 1e-6)  # the limit matters
    assert found.lower_bound <= expected * (1.0 + 1e-7)
    assert found.optimal
    assert "in the domain" in found.status


@pytest.mark.parametrize("domain", [dw.Ball(4, 0.3), dw.Box([-0.1] * 4, [0.2] * 4)])
def test_other_domains_will_do(domain: dw.Domain) -> None:
    asked = problem("double integrator", "quadratic")
    found = best_policies(*given(asked), switching_cost=0.1, domain=domain, start=asked.start)
    held = best_policy(*given(asked), domain=domain, start=asked.start)
    assert found.optimal
    assert domain.contains(found.policies.reshape(30, 4))
    assert found.lower_bound <= found.overall <= held.total


@pytest.mark.parametrize("kind", CENTRED)
@pytest.mark.parametrize("radius", [None, 0.2])
def test_at_a_high_price_one_policy_is_held_the_best_one(kind: str, radius: float | None) -> None:
    asked = problem("double integrator", kind)
    same: dict[str, Any] = {"start": asked.start, "memory": 3}
    if radius is not None:
        same["domain"] = dw.SpectralBalls((3, 1, 2), radius)
    held = best_policy(*given(asked), **same)
    for price in (1e4, 1e9):
        found = best_policies(*given(asked), switching_cost=price, **same)
        assert found.path_length == 0.0
        assert found.overall == pytest.approx(held.total, rel=2e-6)
        assert found.optimal
        assert held.gap is not None
        assert found.lower_bound <= held.total
        assert found.total >= held.total - held.gap - 1e-9 * held.total


@pytest.mark.parametrize("kind", CENTRED)
def test_at_no_price_it_is_a_policy_for_every_round(kind: str) -> None:
    asked = problem("double integrator", kind)
    free = best_policies(*given(asked), switching_cost=0.0, memory=2)
    each = best_policy(*given(asked), memory=2, segments=30)
    assert free.overall == free.total == pytest.approx(each.total, rel=1e-5)
    # With disturbances that are never 0 any input can be had, but in the first round, whose state is the origin.
    rows = asked.disturbances
    later = control.CostSequence(list(asked.costs)[1:])
    known = clairvoyant(asked.system, later, rows[1:], start=rows[0])
    first = asked.costs[0].value(np.zeros(2), np.zeros(1))
    assert free.total == pytest.approx(first + known.total, rel=1e-5)


def test_a_higher_price_never_moves_more_and_never_costs_less() -> None:
    asked = problem("wide", "stages")
    found = [best_policies(*given(asked), switching_cost=price, memory=2) for price in (0.0, 0.01, 0.1, 1.0, 10.0)]
    for low, high in itertools.pairwise(found):
        assert low.overall <= high.overall * (1.0 + 1e-7)
        assert low.path_length >= high.path_length - 1e-5
        assert low.total <= high.total * (1.0 + 1e-6)


def test_results_describe_the_run() -> None:
    asked = problem("wide", "scaled")
    found = best_policies(*given(asked), switching_cost=0.3, memory=2, start=asked.start)
    assert found.policies.shape == found.decisions.shape == (30, 2, 2, 3)
    states, inputs = roll(asked.system, found.K, found.policies, asked.disturbances, asked.start)
    np.testing.assert_allclose(found.states, states[:-1], atol=1e-12)
    np.testing.assert_allclose(found.inputs, inputs, atol=1e-12)
    moves = np.sqrt(((found.policies[1:] - found.policies[:-1]) ** 2).sum(axis=(1, 2, 3)))
    assert found.path_length == pytest.approx(moves.sum())
    assert found.path_length == control.path_length(found) == pytest.approx(control.path_length(found.policies))
    assert found.total == found.costs.sum()
    assert found.total_switching == pytest.approx(0.3 * moves.sum())
    assert found.overall == found.total + found.total_switching
    assert found.gap == pytest.approx(found.overall - found.lower_bound, abs=1e-12)
    assert not found.policies.flags.writeable
    assert found.label == "best policies, moves at 0.3"
    assert "rounds=30" in repr(found)
    assert found.status.startswith("Optimal, relative gap")


def test_policies_are_held_between_changes() -> None:
    rows = np.concatenate([waves(2, 60), -3.0 * waves(2, 60)[::-1]])
    found = best_policies(PLANT, UNIT, rows, switching_cost=2.0, memory=2)
    moved = np.count_nonzero(np.abs(np.diff(found.policies, axis=0)).max(axis=(1, 2, 3)))
    assert 0 < moved < 60
    assert found.optimal


def test_a_result_is_a_comparator_of_regret() -> None:
    rows = waves(2, 60)
    trace = control.simulate(PLANT, control.LinearController(PLANT), UNIT, rows)
    found = best_policies(PLANT, UNIT, rows, switching_cost=0.5, memory=3)
    assert control.dynamic_policy_regret(trace, found) == pytest.approx(trace.total - found.total)
    assert control.dynamic_policy_regret(trace, found.policies, K=found.K) == pytest.approx(trace.total - found.total)


@pytest.mark.parametrize("rounds", [1, 2])
def test_the_shortest_runs(rounds: int) -> None:
    found = best_policies(PLANT, UNIT, waves(2, rounds), switching_cost=1.0, memory=2, start=[1.0, 0.0])
    alone = control.simulate(PLANT, control.LinearController(PLANT), UNIT, waves(2, rounds), start=[1.0, 0.0])
    assert found.policies.shape == (rounds, 2, 1, 2)
    assert found.total <= alone.total
    assert found.optimal


def test_where_there_is_nothing_to_answer_to() -> None:
    for start in ([0.0, 0.0], [1.0, 0.0]):
        found = best_policies(PLANT, UNIT, np.zeros((10, 2)), switching_cost=1.0, memory=2, start=start)
        assert found.path_length == 0.0
        assert found.optimal


@pytest.mark.parametrize("unit", [1e-6, 1e6])
def test_units_do_not_matter(unit: float) -> None:
    asked = problem("double integrator", "scalar")
    plain = best_policies(*given(asked), switching_cost=0.3, memory=2)
    other = best_policies(asked.system, UNIT, unit * asked.disturbances, switching_cost=0.3 * unit**2, memory=2)
    assert other.optimal
    assert other.overall == pytest.approx(unit**2 * plain.overall, rel=1e-6)


def test_a_solver_that_fails_is_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = problem("double integrator", "scalar")
    good = best_policies(*given(asked), switching_cost=0.3, memory=2)
    solve = rounds.solve

    def sloppy(*args: Any) -> Any:
        answer = solve(*args)
        return answer._replace(policies=answer.policies + 0.05, dual=answer.dual + 0.1)

    monkeypatch.setattr(rounds, "solve", sloppy)
    found = best_policies(*given(asked), switching_cost=0.3, memory=2)
    assert not found.optimal
    assert found.status.startswith("Not certified as optimal")
    assert found.lower_bound <= good.overall <= found.overall

    def failed(*args: Any) -> Any:
        answer = solve(*args)
        return answer._replace(policies=np.nan * answer.policies)

    monkeypatch.setattr(rounds, "solve", failed)
    nothing = best_policies(*given(asked), switching_cost=0.3, memory=2)
    assert not nothing.optimal
    assert nothing.lower_bound == 0.0
    assert nothing.total == pytest.approx(
        control.simulate(asked.system, control.LinearController(asked.system), UNIT, asked.disturbances).total
    )


@pytest.mark.parametrize(
    ("settings", "words", "kind"),
    [
        ({"switching_cost": -1.0}, ["switching_cost", "at least 0"], ParameterError),
        ({"switching_cost": np.nan}, ["switching_cost"], ParameterError),
        ({"switching_cost": "free"}, ["switching_cost"], ParameterError),
        ({"memory": 0}, ["memory"], ParameterError),
        ({"domain": dw.Ball(3)}, ["(1, 2)", "SpectralBalls"], ParameterError),
        ({"domain": dw.SpectralBalls((2, 1, 2), 1.0), "memory": 3}, ["3 matrices"], ParameterError),
        ({"domain": 1.0}, ["domain"], ParameterError),
        ({"K": [[np.nan, 0.0]]}, ["K"], InputError),
        ({"start": [1.0]}, ["start"], InputError),
        ({"segments": 3}, ["segments"], ArgumentError),
        ({"memory": 1000}, ["shorter memory"], ParameterError),
    ],
)
def test_bad_arguments_are_refused(settings: dict[str, Any], words: list[str], kind: type[Exception]) -> None:
    arguments: dict[str, Any] = {"switching_cost": 1.0, **settings}
    check_refused(lambda: best_policies(PLANT, UNIT, waves(2), **arguments), "best_policies", *words, kind=kind)


def test_the_price_must_be_given() -> None:
    untyped: Any = best_policies
    check_refused(lambda: untyped(PLANT, UNIT, waves(2)), "switching_cost", kind=ArgumentError)


@pytest.mark.parametrize(
    ("costs", "words"),
    [
        (squares(), ["built in", "best_policy"]),
        ([UNIT] * 29 + [control.AbsoluteCost(1.0, 1.0)], ["of one kind"]),
        (control.QuadraticCost(1.0, 1.0, target=[1.0, 0.0]), ["target"]),
    ],
)
def test_costs_that_the_solver_cannot_take_are_refused(costs: Any, words: list[str]) -> None:
    check_refused(
        lambda: best_policies(PLANT, costs, waves(2), switching_cost=1.0), "best_policies", *words, kind=InputError
    )


@pytest.mark.filterwarnings("ignore:.*not convex")
def test_costs_that_are_not_convex_are_refused() -> None:
    bent = control.QuadraticCost([1.0, -1.0], 1.0, if_not_convex="warn")
    check_refused(lambda: best_policies(PLANT, bent, waves(2), switching_cost=1.0), "not convex", kind=InputError)


def test_a_gain_that_does_not_stabilise_is_refused() -> None:
    check_refused(
        lambda: best_policies(PLANT, UNIT, waves(2), switching_cost=1.0, K=[[0.0, 0.0]]),
        "stabilise",
        kind=StabilityError,
    )


def drifting(rounds: int) -> Array:
    t = np.arange(rounds)[:, None]
    noise = 0.1 * np.random.default_rng(0).standard_normal((rounds, 2))
    return np.asarray(0.5 * np.sin(t / 10.0 + np.array([0.0, 1.0])) * (1 + (t > rounds // 2)) + noise)


@pytest.mark.full
def test_two_thousand_rounds_take_seconds() -> None:
    rows = drifting(2000)
    began = time.perf_counter()
    found = best_policies(PLANT, UNIT, rows, switching_cost=1.0, memory=10)
    assert time.perf_counter() - began < 20.0
    assert found.optimal
