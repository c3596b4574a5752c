"""Certificates on intervals, against measures taken by hand."""

from typing import Any

import numpy as np
import pytest

import driftwise as dw
from driftwise.errors import InputError
from driftwise.regret import best_fixed, bounds, certificate, interval_certificate
from tests.cases import check_refused, stream

ROUNDS = 50


def run(losses: dw.LossStream, built: float = 0.4, price: float = 0.4, before: int = 0, **settings: Any) -> dw.Trace:
    learner = dw.StronglyAdaptive(dw.Ball(losses.dim), switching_cost=built, gradient_bound=4.0, **settings)
    for _ in range(before):
        learner.act()
        learner.observe(np.ones(losses.dim))
    return dw.play(learner, losses, price)


def part(losses: Any, start: int, stop: int) -> dw.LossStream:
    return dw.SquaredLoss(losses.data.features[start:stop], losses.data.targets[start:stop])


def test_given_intervals_are_measured_with_the_move_into_their_first_round() -> None:
    losses = stream("squared", 3, ROUNDS)
    trace = run(losses)
    found = interval_certificate(trace, [(0, ROUNDS), (7, 20), (49, 50)])
    for start, stop, measured in zip(found.starts, found.stops, found.measured, strict=True):
        inside = part(losses, start, stop)
        best = inside.unary_losses(best_fixed(inside, dw.Ball(3))[None]).sum()
        moves = 0.4 * sum(
            np.linalg.norm(trace.decisions[t] - trace.decisions[t - 1]) for t in range(start, stop) if t > 0
        )
        assert measured == pytest.approx(inside.unary_losses(trace.decisions[start:stop]).sum() + moves - best)
    expected = bounds.strongly_adaptive(start=7, stop=20, gradient_bound=4.0, diameter=2.0, switching_cost=0.4)
    assert found.bounds[1] == expected
    assert found.within
    assert found.guaranteed
    assert found.ratio == found.ratios.max() == found.worst.ratio


@pytest.mark.parametrize("kind", ["squared", "linear", "tracking", "capacity"])
def test_left_out_intervals_are_the_worst_of_each_length_and_the_whole_run(kind: str) -> None:
    trace = run(stream(kind, 3, ROUNDS))
    found = interval_certificate(trace)
    assert (found.stops - found.starts).tolist() == [1, 2, 4, 8, 16, 32, ROUNDS]
    for length, worst in zip((1, 8, 32), found.measured[[0, 3, 5]], strict=True):
        every = [(start, start + length) for start in range(ROUNDS - length + 1)]
        assert interval_certificate(trace, every).measured.max() == pytest.approx(worst, abs=1e-6)


def test_a_run_that_goes_on_has_its_own_rounds_in_the_bound() -> None:
    losses = stream("squared", 3, ROUNDS)
    found = interval_certificate(run(losses, before=30, horizon=100), [(5, 25)])
    expected = bounds.strongly_adaptive(
        start=35, stop=55, gradient_bound=4.0, diameter=2.0, switching_cost=0.4, horizon=100
    )
    assert found.bounds.tolist() == [expected]
    assert [one.name for one in found.assumptions if one.holds is None] == ["start"]
    assert "30 rounds had been played before" in str(found)


@pytest.mark.parametrize(
    ("settings", "name"), [({"price": 0.5}, "switching cost"), ({"gradient_bound": 0.01}, "gradient bound")]
)
def test_what_is_not_met_is_named(settings: dict[str, Any], name: str) -> None:
    losses = stream("squared", 3, ROUNDS)
    price, G = settings.get("price", 0.4), settings.get("gradient_bound", 4.0)
    learner = dw.StronglyAdaptive(dw.Ball(3), switching_cost=0.4, gradient_bound=G)
    found = interval_certificate(dw.play(learner, losses, price), [(0, 9)])
    assert not found.guaranteed
    assert [each.name for each in found.assumptions if each.holds is False] == [name]
    assert "an assumption is not met" in str(found)


def test_the_whole_run_has_a_certificate_for_moving_comparators() -> None:
    losses = dw.streams.drifting_regression(rounds=500, dim=2, segment=100, seed=0)
    found = certificate(run(losses), losses.generator)
    assert found.guaranteed
    assert 0.0 < found.ratio < 1.0
    expected = bounds.strongly_adaptive(
        start=0,
        stop=500,
        gradient_bound=4.0,
        diameter=2.0,
        switching_cost=0.4,
        path_length=dw.regret.path_length(losses.generator),
    )
    assert found.bound == pytest.approx(expected)


def test_it_is_shown_as_a_table() -> None:
    lines = str(interval_certificate(run(stream("squared", 3, ROUNDS)), [(0, 9), (4, 50)])).splitlines()
    assert lines[0] == "StronglyAdaptive: regret with switching cost 0.4 on intervals"
    assert lines[2].endswith("0 to 8")
    assert lines[3].split()[0] == "46"
    assert "the theorem applies" in lines[4]


UNTYPED: Any = interval_certificate


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda t: UNTYPED(t, [(3, 3)]), ("start < stop", "(3, 3)")),
        (lambda t: UNTYPED(t, [(0, 51)]), ("50", "(0, 51)")),
        (lambda t: UNTYPED(t, [7]), ("pairs", "7")),
        (lambda t: UNTYPED(t, []), ("at least one",)),
        (lambda t: UNTYPED(dw.play(dw.OGD(dw.Ball(3), step=0.1), t.stream)), ("StronglyAdaptive", "OGD")),
        (lambda t: UNTYPED(run(stream("filtered", 3, ROUNDS))), ("memory",)),
    ],
)
def test_wrong_calls_are_refused_by_name(call: Any, words: tuple[str, ...]) -> None:
    trace = run(stream("squared", 3, ROUNDS))
    check_refused(lambda: call(trace), "interval_certificate", *words, kind=InputError)
