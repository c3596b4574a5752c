from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from driftwise import control
from driftwise.errors import ArgumentError, InputError, ParameterError
from tests.cases import check_refused
from tests.control.cases import DISTURBANCES, PLANT, PLANTS, ROUNDS, UNIT, controller, costs


@pytest.fixture
def trace() -> control.ControlTrace:
    return control.simulate(
        PLANT, controller("Scream"), costs("scaled", 2, 1), DISTURBANCES["array"](2), start=[1.0, 0.0]
    )


def test_a_trace_has_what_is_needed_to_compute_everything_again(trace: control.ControlTrace) -> None:
    assert (trace.states.shape, trace.inputs.shape, trace.costs.shape) == ((ROUNDS, 2), (ROUNDS, 1), (ROUNDS,))
    assert trace.disturbances.shape == (ROUNDS, 2)
    assert trace.final_state.shape == (2,)
    assert trace.total == pytest.approx(trace.costs.sum(), rel=1e-15)
    again = [
        trace.cost_sequence[t].value(x, u) for t, (x, u) in enumerate(zip(trace.states, trace.inputs, strict=True))
    ]
    np.testing.assert_array_equal(trace.costs, again)
    following = np.vstack([trace.states[1:], trace.final_state])
    moved = trace.states @ trace.system.A.T + trace.inputs @ trace.system.B.T + trace.disturbances
    np.testing.assert_allclose(following, moved, rtol=0.0, atol=1e-13)
    assert trace.controller.round == 0
    repeated = control.simulate(
        trace.system, trace.controller.clone(), trace.cost_sequence, trace.disturbances, start=trace.states[0]
    )
    assert repeated.states.tobytes() == trace.states.tobytes()


def test_the_controller_of_a_trace_is_as_it_was_before_the_run() -> None:
    mine = controller("Scream")
    first = control.simulate(PLANT, mine, UNIT, np.ones((10, 2)))
    second = control.simulate(PLANT, mine, UNIT, np.ones((10, 2)), start=first.final_state)
    assert (first.controller.round, second.controller.round, mine.round) == (0, 10, 20)
    assert first.controller is not mine


@pytest.mark.parametrize("name", [name for name, plant in PLANTS.items() if plant.prompt])
def test_effective_disturbances_are_what_a_controller_recovers(name: str) -> None:
    system = PLANTS[name]
    mine = controller("Scream", system)
    trace = control.simulate(system, mine, UNIT, DISTURBANCES["gaussian"](2), rounds=ROUNDS - 1, seed=2)
    mine.act(trace.final_state)  # recovers the last one
    recovered = mine.disturbances
    np.testing.assert_allclose(
        trace.effective_disturbances[: -len(recovered) - 1 : -1], recovered, rtol=0.0, atol=1e-12
    )
    off = np.abs(trace.effective_disturbances - trace.disturbances).max()
    assert off < 1e-12 if name in ("linear", "wide", "limited") else off > 1e-6


def test_a_trace_in_words(trace: control.ControlTrace) -> None:
    assert repr(trace) == f"ControlTrace(ScreamController, rounds={ROUNDS}, total={trace.total:.6g})"
    text = trace.summary()
    assert text.startswith(f"ScreamController, {ROUNDS} rounds, 2 states, 1 inputs\n")
    assert f"{trace.total:.4g}" in text
    assert f"{np.linalg.norm(trace.states, axis=1).max():.4g}" in text
    assert f"{np.abs(trace.inputs).max():.4g}" in text
    assert text.endswith("No bound on the regret is proved: constants are measured on the way.")
    plain = control.simulate(PLANT, controller("linear"), UNIT, np.ones((3, 2))).summary()
    assert "regret" not in plain


def test_a_trace_can_be_drawn(trace: control.ControlTrace) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    figure = trace.plot()
    assert figure.axes
    pyplot.close(figure)


def _by_pandas(trace: control.ControlTrace, folder: Path, **given: Any) -> control.ControlTrace:
    return control.ControlTrace.from_pandas(trace.to_pandas(), **given)


def _by_polars(trace: control.ControlTrace, folder: Path, **given: Any) -> control.ControlTrace:
    return control.ControlTrace.from_polars(trace.to_polars(), **given)


def _by_parquet(trace: control.ControlTrace, folder: Path, **given: Any) -> control.ControlTrace:
    trace.to_parquet(folder / "run.parquet")
    return control.ControlTrace.from_parquet(folder / "run.parquet", **given)


WAYS = {"pandas": _by_pandas, "polars": _by_polars, "parquet": _by_parquet}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("record", [False, True])
def test_a_trace_goes_to_a_table_and_back(way: str, record: bool, tmp_path: Path) -> None:
    plant = PLANTS["wide"]
    trace = control.simulate(
        plant,
        controller("Scream", plant),
        UNIT,
        DISTURBANCES["array"](3),
        start=[1.0, 0.0, -1.0],
        record_weights=record,
        record_policies=record,
    )
    back = WAYS[way](trace, tmp_path, system=plant, controller=trace.controller, cost_sequence=UNIT)
    for part in ("states", "inputs", "costs", "disturbances", "final_state", "weights", "policies"):
        mine, other = getattr(trace, part), getattr(back, part)
        assert (mine is None) == (other is None) == (not record and part in ("weights", "policies"))
        assert mine is None or (mine.shape, mine.tobytes()) == (other.shape, other.tobytes())
    assert (repr(back), back.summary()) == (repr(trace), trace.summary())
    again = control.simulate(
        back.system, back.controller.clone(), back.cost_sequence, back.disturbances, start=back.states[0]
    )
    assert again.states.tobytes() == trace.states.tobytes()
    np.testing.assert_array_equal(back.effective_disturbances, trace.effective_disturbances)


def test_what_a_trace_was_read_without_is_named_when_it_is_needed(trace: control.ControlTrace, tmp_path: Path) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    bare = _by_parquet(trace, tmp_path)
    for name in ("system", "controller", "cost_sequence"):
        words = f"ControlTrace.{name}: ", f"ControlTrace.from_parquet(path, {name}=...)"
        check_refused(lambda name=name: getattr(bare, name), *words, kind=ArgumentError)  # type: ignore[misc]
    check_refused(lambda: bare.effective_disturbances, "system=...", kind=ArgumentError)
    assert repr(bare) == repr(trace)
    assert trace.summary().startswith(bare.summary())
    assert bare.last_steps is None
    pyplot.close(bare.plot())
    assert _by_polars(trace, tmp_path).label == "unknown controller"
    # A comparator with its own gain, or without any, does not ask for the controller.
    half = _by_parquet(trace, tmp_path, system=trace.system, cost_sequence=trace.cost_sequence)
    policies, K = np.zeros((1, 1, 2)), [[0.4, 0.9]]
    expected = control.policy_costs(trace, policies, K)
    np.testing.assert_array_equal(control.policy_costs(half, policies, K), expected)
    check_refused(lambda: control.policy_costs(half, policies), "controller=...", kind=ArgumentError)


def _shift(name: str, row: int, by: float) -> Callable[[Any], Any]:
    def change(frame: Any) -> Any:
        frame.loc[row, name] += by
        return frame

    return change


WRONG: dict[str, tuple[Callable[[Any], Any], tuple[str, ...]]] = {
    "state": (_shift("x_1", 4, 1e-9), ("next_x_1 is", "in round 3", "in round 4", "not those of one run")),
    "next state": (_shift("next_x_0", 4, 1e-9), ("next_x_0 is", "in round 4", "in round 5")),
    "narrow disturbances": (lambda frame: frame.drop(columns="w_1"), ("2 states x", "the columns w are 1")),
    "narrow states": (lambda frame: frame.drop(columns=["x_1"]), ("1 states x", "the columns w are 2")),
    "policies": (lambda frame: frame.assign(M_0_0_0=0.0), ("the columns M are 1 by 1",)),
    "no inputs": (lambda frame: frame.drop(columns="u_0"), ("the column u_0 is missing",)),
    "decisions": (lambda frame: frame.rename(columns={"cost": "loss"}), ("a column 'loss'",)),
}


@pytest.mark.parametrize("case", WRONG)
def test_tables_that_are_not_of_one_run_are_refused(case: str, trace: control.ControlTrace) -> None:
    change, words = WRONG[case]
    frame = change(trace.to_pandas())
    check_refused(
        lambda: control.ControlTrace.from_pandas(frame), "ControlTrace.from_pandas: ", *words, kind=InputError
    )


def test_what_is_given_must_fit_the_run(trace: control.ControlTrace) -> None:
    frame = trace.to_pandas()
    for given, words, kind in (
        ({"system": PLANTS["wide"]}, "the run has 2 states and 1 inputs", InputError),
        ({"system": 3}, "system must be a System", ParameterError),
        ({"controller": controller("Scream", PLANTS["wide"])}, "the run has 2 states and 1 inputs", InputError),
        ({"controller": controller("linear")}, "the run is one of 'ScreamController'", InputError),
        ({"controller": 3}, "controller must be a Controller", ParameterError),
        ({"cost_sequence": costs("scaled", 2, 1, ROUNDS + 1)}, "ControlTrace.from_pandas: ", InputError),
        ({"cost_sequenc": UNIT}, "Did you mean cost_sequence?", ArgumentError),
    ):
        arguments: Any = given
        check_refused(
            lambda arguments=arguments: control.ControlTrace.from_pandas(frame, **arguments),  # type: ignore[misc]
            words,
            kind=kind,
        )
