"""What a trace says about its run."""

import copy
import json
import pickle
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest

import driftwise as dw
from driftwise.errors import ArgumentError, InputError, MissingExtraError, ParameterError
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


def _by_pandas(trace: dw.Trace, folder: Path, **given: Any) -> dw.Trace:
    return dw.Trace.from_pandas(trace.to_pandas(), **given)


def _by_polars(trace: dw.Trace, folder: Path, **given: Any) -> dw.Trace:
    return dw.Trace.from_polars(trace.to_polars(), **given)


def _by_parquet(trace: dw.Trace, folder: Path, **given: Any) -> dw.Trace:
    trace.to_parquet(folder / "run.parquet")
    return dw.Trace.from_parquet(folder / "run.parquet", **given)


WAYS = {"pandas": _by_pandas, "polars": _by_polars, "parquet": _by_parquet}


def _same(first: dw.Trace, second: dw.Trace) -> None:
    for part in ("decisions", "losses", "moves", "weights"):
        mine, other = getattr(first, part), getattr(second, part)
        assert (mine is None) == (other is None)
        assert mine is None or (mine.shape, mine.tobytes()) == (other.shape, other.tobytes())


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("price", [2.0, 0.0, PRICES, dw.MoveCost(up=0.1, down=0.7, norm="l2")])
@pytest.mark.parametrize("record", [False, True])
def test_a_trace_goes_to_a_table_and_back(way: str, price: Any, record: bool, tmp_path: Path) -> None:
    learner, losses = maker("Scream appendix", dw.Ball(3), ROUNDS)(), squared(3, ROUNDS)
    trace = dw.play(learner, losses, price, record_weights=record)
    back = WAYS[way](trace, tmp_path, switching_cost=price, learner=trace.learner, stream=losses)
    _same(back, trace)
    assert (back.total, back.summary(), repr(back)) == (trace.total, trace.summary(), repr(trace))
    assert (back.switching_cost, back.stream, back.domain) == (trace.switching_cost, losses, trace.domain)
    again = dw.play(back.learner.clone(), back.stream, back.switching_cost, record_weights=record)
    _same(again, trace)
    _same(WAYS[way](back, tmp_path), trace)


@pytest.mark.parametrize("way", ["pandas", "parquet"])
@pytest.mark.parametrize("price", [0.1, PRICES])
def test_prices_and_the_name_of_the_learner_travel(way: str, price: Any, tmp_path: Path) -> None:
    trace = _trace(price)
    back = WAYS[way](trace, tmp_path)
    assert back.switching_cost == trace.switching_cost
    assert back.label == "Scream"
    assert repr(back) == repr(trace)
    assert back.summary() == trace.summary()
    np.testing.assert_array_equal(back.move_costs, trace.move_costs)


def test_what_a_trace_was_read_without_is_named_when_it_is_needed(tmp_path: Path) -> None:
    mpl.use("Agg")
    from matplotlib import pyplot

    trace = dw.play(maker("Scream appendix", dw.Ball(3), ROUNDS)(), squared(3, ROUNDS), 2.0, record_weights=True)
    bare = _by_polars(trace, tmp_path)
    for name in ("learner", "stream", "switching_cost"):
        words = f"Trace.{name}: ", f"Trace.from_parquet(path, {name}=...)"
        check_refused(lambda name=name: getattr(bare, name), *words, kind=ArgumentError)  # type: ignore[misc]
    for total in ("total", "total_switching", "move_costs", "price"):
        check_refused(lambda total=total: getattr(bare, total), "switching_cost=...", kind=ArgumentError)  # type: ignore[misc]
    heard = _by_polars(trace, tmp_path, stream=trace.stream)
    check_refused(lambda: dw.regret.certificate(heard, trace.decisions), "learner=...", kind=ArgumentError)
    check_refused(bare.summary, "switching_cost=...", kind=ArgumentError)
    with pytest.raises(AttributeError, match="'Trace' object has no attribute 'nonsense'"):
        _ = bare.nonsense  # type: ignore[attr-defined]
    # What needs none of it works.
    assert repr(bare) == f"Trace(unknown learner, rounds={ROUNDS}, loss={trace.total_loss:.6g})"
    assert bare.total_loss == trace.total_loss
    assert "move_cost" not in bare.to_pandas()
    assert bare.proposals is None
    for copied in (copy.deepcopy(bare), pickle.loads(pickle.dumps(bare))):
        _same(copied, bare)
        check_refused(lambda copied=copied: copied.learner, "learner=...", kind=ArgumentError)  # type: ignore[misc]
    priced = _by_parquet(trace, tmp_path)
    v = np.zeros((ROUNDS, 3))
    assert dw.regret.dynamic_regret(priced, trace.stream, v) == dw.regret.dynamic_regret(trace, trace.stream, v)
    why = "the trace was read without its learner, so give domain="
    check_refused(lambda: dw.regret.static_policy_regret(priced, trace.stream), why)
    for ax in (priced.plot(), dw.regret.plots.weights(priced), dw.regret.plots.costs(priced)):
        assert "Scream" in ax.get_title()
        pyplot.close(ax.figure)  # type: ignore[arg-type]


@pytest.mark.parametrize("way", ["pandas", "parquet"])
def test_proposals_are_given_back(way: str, tmp_path: Path) -> None:
    losses = dw.TrackingLoss([[1.0], [1.0], [-1.0]])
    proposals = [[1.0, 0.0], [1.0, 0.0], [-1.0, 0.0]]
    trace = dw.play(dw.Committee(2), losses, 1.0, proposals=proposals)
    back = WAYS[way](trace, tmp_path, learner=trace.learner, stream=losses, proposals=proposals)
    again: Any = back.learner
    _same(dw.play(again.clone(), back.stream, proposals=back.proposals), trace)
    bare = WAYS[way](trace, tmp_path)
    check_refused(lambda: bare.proposals, "proposals=...", kind=ArgumentError)
    check_refused(lambda: WAYS[way](bare, tmp_path).proposals, "proposals=...", kind=ArgumentError)


def _shift(name: str, row: int, by: float) -> Callable[[Any], Any]:
    def change(frame: Any) -> Any:
        frame.loc[row, name] += by
        return frame

    return change


WRONG: dict[str, tuple[Callable[[Any], Any], tuple[str, ...]]] = {
    "move": (_shift("move", 3, 1e-6), ("move is ", "in round 3", "the distance from the decision before")),
    "first move": (_shift("move", 0, 1.0), ("move is 1 in round 0", "is 0")),
    "decision": (_shift("w_1", 5, 0.25), ("move is ", "in round 5")),
    "cost": (_shift("move_cost", 4, 0.1), ("move_cost is ", "in round 4", "what that move costs at 2")),
    "loss": (_shift("loss", 2, 0.01), ("the loss of round 2 is", "give the losses that were played")),
    "sorted": (lambda frame: frame.sort_values("loss"), ("sort the rows by round",)),
    "cut": (lambda frame: frame.iloc[5:], ("row 0 is round 5",)),
    "swapped": (lambda frame: frame.rename(columns={"loss": "move", "move": "loss"}), ("move is ",)),
    "other record": (lambda frame: _attributes(frame, record="ControlTrace"), ("table of a 'ControlTrace'",)),
    "later version": (lambda frame: _attributes(frame, version=2), ("version 2", "reads version 1")),
    "price": (lambda frame: _attributes(frame, switching_cost="much"), ("the switching cost cannot be that",)),
    "negative price": (lambda frame: _attributes(frame, switching_cost=-1.0), ("at least 0",)),
    "prices": (lambda frame: _attributes(frame, switching_cost={"up": [1.0], "down": 1.0}), ("for 1 coordinates",)),
    "no such prices": (lambda frame: _attributes(frame, switching_cost={"sideways": 1.0}), ("switching cost",)),
}


def _attributes(frame: Any, **changed: Any) -> Any:
    frame.attrs["driftwise"] = json.dumps({**json.loads(frame.attrs["driftwise"]), **changed})
    return frame


@pytest.mark.parametrize("case", WRONG)
def test_tables_that_are_not_of_one_run_are_refused(case: str) -> None:
    change, words = WRONG[case]
    frame = change(_trace().to_pandas())
    given = squared(3, ROUNDS)
    check_refused(lambda: dw.Trace.from_pandas(frame, stream=given), "Trace.from_pandas: ", *words, kind=InputError)


def test_what_is_given_must_fit_the_run() -> None:
    trace = _trace()
    frame = trace.to_pandas()
    other: Any = maker("Scream appendix", dw.Ball(2), ROUNDS)()
    ogd = dw.OGD(dw.Ball(3), step=0.5)
    for given, words, kind in (
        ({"learner": other}, "the decisions have 3 coordinates", InputError),
        ({"learner": ogd}, "the run is one of 'Scream'", InputError),
        ({"learner": "Scream"}, "learner must be a Learner", ParameterError),
        ({"stream": squared(3, ROUNDS + 1)}, f"the run has {ROUNDS} rounds of 3 coordinates", InputError),
        ({"stream": squared(2, ROUNDS)}, f"the run has {ROUNDS} rounds of 3 coordinates", InputError),
        ({"stream": stream("linear", 3, ROUNDS)}, "give the losses that were played", InputError),
        ({"stream": [1.0]}, "stream must be a LossStream", ParameterError),
        ({"switching_cost": -1.0}, "the switching cost cannot be that of this run", InputError),
        ({"switching_cost": 3.0}, "move_cost is", InputError),
        ({"lerner": ogd}, "Did you mean learner?", ArgumentError),
    ):
        arguments: Any = given
        check_refused(lambda arguments=arguments: dw.Trace.from_pandas(frame, **arguments), words, kind=kind)  # type: ignore[misc]
    priced = frame.drop(columns="move_cost")  # without that column, the same run at another price
    assert dw.Trace.from_pandas(priced, switching_cost=3.0).total_switching == 3.0 * trace.moves.sum()
