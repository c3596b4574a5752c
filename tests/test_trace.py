"""What a trace says about its run."""

import sys

import matplotlib as mpl
import numpy as np
import pytest

import driftwise as dw
from driftwise.errors import MissingExtraError
from tests.cases import check_refused, maker, squared, stream

ROUNDS = 18


def _trace(switching_cost: float | dw.MoveCost = 2.0) -> dw.Trace:
    return dw.play(maker("Scream appendix", dw.Ball(3), ROUNDS)(), squared(3, ROUNDS), switching_cost)


def test_totals_are_sums() -> None:
    trace = _trace()
    distance = np.linalg.norm(np.diff(trace.decisions, axis=0), axis=1)
    assert trace.moves[0] == 0.0
    np.testing.assert_allclose(trace.moves[1:], distance, rtol=1e-12)
    assert trace.total_loss == pytest.approx(sum(trace.losses), rel=1e-12)
    assert trace.total_switching == pytest.approx(2.0 * distance.sum(), rel=1e-12)
    assert trace.total == trace.total_loss + trace.total_switching
    assert trace.total_switching > 0.0


PRICES = dw.MoveCost(up=[3.0, 1.0, 0.0], down=2.0)


def test_moves_can_have_prices_of_their_own() -> None:
    plain, trace = _trace(), _trace(PRICES)
    np.testing.assert_array_equal(trace.decisions, plain.decisions)
    np.testing.assert_array_equal(trace.moves, plain.moves)  # distance, whatever it costs
    changes = np.diff(trace.decisions, axis=0)
    expected = np.where(changes > 0.0, changes * [3.0, 1.0, 0.0], -2.0 * changes).sum(axis=1)
    np.testing.assert_allclose(trace.move_costs, [0.0, *expected], rtol=1e-12, atol=1e-15)
    assert trace.total_switching == pytest.approx(expected.sum(), rel=1e-12)
    assert trace.total == trace.total_loss + trace.total_switching
    assert "(MoveCost(up=[3. 1. 0.], down=2., norm='l1') per unit" in trace.summary()


def test_prices_that_are_a_number_become_one() -> None:
    trace = _trace(dw.MoveCost(up=2.0, norm="l2"))
    assert trace.switching_cost == 2.0
    assert trace.total_switching == _trace().total_switching
    np.testing.assert_array_equal(trace.move_costs, 2.0 * trace.moves)


@pytest.mark.parametrize("kind", ["filtered", "custom with memory"])
def test_before_the_first_round_the_first_decision_is_taken_to_have_stood(kind: str) -> None:
    losses = stream(kind, 3, ROUNDS)
    learner = dw.OGD(dw.Ball(3), step=0.3, start=[0.5, 0.0, 0.0])
    trace = dw.play(learner, losses)
    assert losses.memory == 2
    for t in range(ROUNDS):
        window = [trace.decisions[max(s, 0)] for s in (t - 2, t - 1, t)]
        assert trace.losses[t] == losses.value(t, window)
    assert trace.losses[0] == pytest.approx(losses.unary_value(0, [0.5, 0.0, 0.0]), rel=1e-12)
    assert trace.losses[5] != losses.unary_value(5, trace.decisions[5])


def test_a_trace_can_be_replayed() -> None:
    learner = maker("LazyScream theorem", dw.Ball(3), 2 * ROUNDS)()
    dw.play(learner, squared(3, ROUNDS))
    trace = dw.play(learner, squared(3, ROUNDS), 2.0)
    assert trace.learner.round == ROUNDS
    for _ in range(2):
        again = dw.play(trace.learner.clone(), trace.stream, trace.switching_cost)
        for part in ("decisions", "losses", "moves"):
            np.testing.assert_array_equal(getattr(again, part), getattr(trace, part))
    assert trace.learner.round == ROUNDS


def test_summary_and_repr_say_the_totals() -> None:
    trace = _trace()
    lines = trace.summary().splitlines()
    assert lines[0] == "Scream, 18 rounds, 3 coordinates"
    assert [line.split()[0] for line in lines[1:]] == ["loss", "switching", "overall"]
    assert [line.split()[1] for line in lines[1:]] == [
        f"{number:.4g}" for number in (trace.total_loss, trace.total_switching, trace.total)
    ]
    assert "2 per unit" in lines[2]
    assert f"{np.count_nonzero(trace.moves)} moves" in lines[2]
    assert repr(trace).startswith("Trace(Scream, rounds=18, total=")
    assert f"switching={trace.total_switching:.6g})" in repr(trace)


@pytest.mark.parametrize(("switching_cost", "areas", "lines"), [(2.0, 2, 1), (0.0, 1, 0), (PRICES, 2, 1)])
def test_plot_draws_what_was_paid(switching_cost: float | dw.MoveCost, areas: int, lines: int) -> None:
    mpl.use("Agg")
    from matplotlib import pyplot

    trace = _trace(switching_cost)
    ax = trace.plot()
    try:
        assert (len(ax.collections), len(ax.lines)) == (areas, lines)
        assert ax.get_title() == "Scream"
        assert ax.get_xlabel() == "round"
        legend = ax.get_legend()
        assert legend is not None
        assert len(legend.get_texts()) == areas + lines
        if lines:
            assert np.asarray(ax.lines[0].get_ydata())[-1] == pytest.approx(trace.total)
        assert trace.plot(ax) is ax
        assert len(ax.collections) == 2 * areas
    finally:
        pyplot.close(ax.figure)  # type: ignore[arg-type]


def test_without_matplotlib_plot_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    check_refused(_trace().plot, "Trace.plot needs matplotlib", "pip install 'driftwise[plot]'", kind=MissingExtraError)


def test_a_trace_cannot_be_reassigned() -> None:
    with pytest.raises(AttributeError):
        _trace().switching_cost = 1.0  # type: ignore[misc]


@pytest.mark.parametrize("price", [6.0, dw.MoveCost(up=6.0, down=0.0)])
def test_moves_that_are_free_though_the_learner_was_built_for_a_price_are_said(price: float | dw.MoveCost) -> None:
    losses = dw.TrackingLoss([[1.0], [-1.0]])
    learner = dw.SelfTunedScream(dw.Ball(1), switching_cost=price)
    words = f"moves are not priced; the learner was built for a switching cost of {price}"
    unpriced, priced = dw.play(learner.clone(), losses), dw.play(learner, losses, switching_cost=price)
    assert words in unpriced.summary()
    assert words in repr(unpriced)
    assert "not priced" not in priced.summary() + repr(priced)
    assert "not priced" not in repr(dw.play(dw.OGD(dw.Ball(1), step=0.5), losses))
