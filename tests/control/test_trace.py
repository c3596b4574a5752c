import numpy as np
import pytest

from driftwise import control
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
