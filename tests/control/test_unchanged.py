"""A call that is refused leaves a controller's bytes as they were, whatever it was given and whoever refuses."""

from typing import Any

import numpy as np
import pytest

from driftwise import control
from driftwise.control.controllers.loop import PolicyLoop
from driftwise.errors import DriftwiseError, InputError
from tests.control.cases import PLANT, UNIT
from tests.control.savers import GAIN, MAKERS, began, controller, disturbance, drive, measured


def bad_rows(good: Any) -> dict[str, Any]:
    """Return what stands for a state, an output or an input, and may be refused."""
    n = len(good)
    return {
        "too long": np.ones(n + 1),
        "a number": 1.0,
        "text": "left",
        "texts": ["a"] * n,
        "nothing": [],
        "ragged": [[0.0], [0.0, 0.0]],
        "complex": np.ones(n) * 1j,
        "NaN": np.full(n, np.nan),
        "infinity": np.full(n, np.inf),
        "1e101": np.full(n, 1e101),
        "1e100": np.full(n, 1e100),
        "-1e100": np.full(n, -1e100),
        "1e80": np.full(n, 1e80),
        "None": None,
        "an object": object(),
    }


ALWAYS = ("too long", "a number", "text", "texts", "nothing", "ragged", "complex", "an object")
"""What is never a state of two or three numbers, an output, or an input."""


def huge() -> control.Cost:
    """Return a cost whose gradient is out of range."""
    return control.QuadraticCost(1e99, 1e99)


def failing(x: Any, u: Any) -> Any:
    raise InputError("a cost of somebody else refuses this")


def only_near(x: Any, u: Any) -> float:
    """Return x'x + u'u for as long as it is asked about small numbers; anything but a number elsewhere."""
    return float(x @ x + u @ u) if np.abs(x).max(initial=np.abs(u).max()) <= 25.0 else np.nan


def near() -> control.Cost:
    return control.CustomCost(only_near, lambda x, u: (2.0 * x, 2.0 * u))


def bad_costs() -> dict[str, Any]:
    return {
        "a number": 1.0,
        "a kind": control.QuadraticCost,
        "other sizes": control.QuadraticCost(np.ones(7), np.ones(5)),
        "huge": huge(),
        "failing": control.CustomCost(failing, failing),
        "not convex": control.CustomCost(lambda x, u: -float(x @ x), lambda x, u: (-2.0 * x, 0.0 * u)),
        "wrong gradient": control.CustomCost(lambda x, u: float(x @ x), lambda x, u: (-2.0 * x, 0.0 * u)),
    }


def refused(one: control.Controller, verb: str, *given: Any, **named: Any) -> bool:
    """Call a verb of a copy; tell whether it was refused, and check that then no byte has changed."""
    twin = one.clone()
    before = twin.to_bytes()
    try:
        getattr(twin, verb)(*given, **named)
    except DriftwiseError:
        assert twin.to_bytes() == before
        return True
    return False


def assert_refuses(name: str, rounds: tuple[int, ...]) -> None:
    """Give everything that is bad to a controller before these rounds, and in them."""
    one = controller(name)
    loop = began(one)
    for k in rounds:
        loop, _ = drive(one, loop, k - loop.t)
        x = measured(one, loop.x)
        assert refused(one, "observe", UNIT)
        for what, bad in bad_rows(x).items():
            if len(x) == 1 and what in ("ragged", "a number"):  # which is an output of one coordinate
                continue
            assert refused(one, "act", bad) or what not in ALWAYS
            if isinstance(one, PolicyLoop | control.OutputFeedback):
                refused(one, "act", bad, reference=np.ones(one.state_dim))
                refused(one, "act", x, reference=bad)
        one.act(x)
        assert refused(one, "act", 2.0 * x + 1.0)
        if k and not isinstance(one, control.OutputFeedback):
            assert refused(one, "act", np.nan * x)
        for what, bad in bad_rows(np.ones(one.input_dim)).items():
            if what == "None" or (what == "ragged" and one.input_dim == 1):
                continue
            assert refused(one, "observe", UNIT, applied=bad) or what in ("1e100", "-1e100", "1e80", "a number")
        for what, bad in bad_costs().items():
            assert refused(one, "observe", bad) or what == "huge"


@pytest.mark.parametrize("name", MAKERS)
def test_whatever_is_refused_leaves_the_bytes_as_they_were(name: str) -> None:
    assert_refuses(name, (0, 108))


@pytest.mark.full
@pytest.mark.parametrize("name", MAKERS)
def test_whatever_is_refused_in_more_rounds_leaves_the_bytes_as_they_were(name: str) -> None:
    assert_refuses(name, (0, 1, 43, 108, 160))


def assert_bears_jumps(name: str, jumps: int) -> None:
    """Give a controller states and inputs of any size, and costs of any steepness."""
    rng = np.random.default_rng(0)
    one = controller(name)
    drive(one, began(one), 60)
    for _ in range(jumps):
        size = 10.0 ** rng.uniform(-100.0, 100.0)
        state = np.clip(rng.choice([-1.0, 0.0, 1.0], one.state_dim) * size, -1e100, 1e100)
        if refused(one, "act", measured(one, state)):
            continue
        one.act(measured(one, state))
        for cost in (huge(), control.AbsoluteCost(1e99, 1.0), near(), control.HuberCost(1.0, 1e-90), UNIT):
            applied = np.full(one.input_dim, rng.choice([1e100, -1e60, 1.0]))
            if not refused(one, "observe", cost, applied=applied) and cost.compiled:
                one.observe(cost, applied=applied)
                break
        else:
            one = controller(name)
            drive(one, began(one), 60)


@pytest.mark.parametrize("name", [name for name in MAKERS if "slow" not in name])
def test_states_that_jump_far_are_learnt_from_or_leave_the_bytes_as_they_were(name: str) -> None:
    assert_bears_jumps(name, 10)


@pytest.mark.full
@pytest.mark.parametrize("name", [name for name in MAKERS if "slow" not in name])
def test_states_that_jump_far_and_often_are_learnt_from_or_leave_the_bytes_as_they_were(name: str) -> None:
    assert_bears_jumps(name, 60)


def test_a_commit_whose_controller_refuses_the_state_has_not_happened() -> None:
    class Refusing(control.LinearController):
        def _decide(self, x: Any) -> Any:
            if self.round == 0 or x[0] != 0.125:
                return super()._decide(x)
            raise InputError("no eighths")

    one = control.ExploreThenCommit(
        K=GAIN,
        state_dim=2,
        input_dim=1,
        exploration=100,
        probe=1.0,
        seed=1,
        controller=lambda system, **_: Refusing(system, K=GAIN),
    )
    x = np.zeros(2)
    for t in range(100):  # under one cost without targets, which would lead the controller elsewhere than u = -K x
        u = one.act(x)
        one.observe(UNIT)
        x = PLANT.A @ x + PLANT.B @ u + disturbance(t, 2)
    before = (one.status, list(one.log), one._next, len(one._past), one._rng.bit_generator.state["state"]["state"])
    with pytest.raises(InputError, match="no eighths"):
        one.act([0.125, x[1]])
    assert before == (
        one.status, list(one.log), one._next, len(one._past), one._rng.bit_generator.state["state"]["state"],
    )  # fmt: skip
    one.act(x)
    assert one.status == "committed"


def test_a_reference_that_comes_with_a_state_that_is_refused_is_forgotten() -> None:
    for name in ("Scream", "self-tuned, no guard", "outputs, no guard"):
        one: Any = controller(name)
        drive(one, began(one), 20)
        before = one.to_bytes()
        with pytest.raises(InputError):
            one.act(np.full(2 if "outputs" not in name else 1, np.nan), reference=[3.0, 0.0])
        assert one.to_bytes() == before
        horizon = control.GradientController(PLANT, horizon=1, memory=3)
        horizon.act([0.0, 0.0])
        horizon.observe(UNIT)
        before = horizon.to_bytes()
        with pytest.raises(DriftwiseError):
            horizon.act([0.0, 0.0], reference=[1.0, 0.0])
        assert horizon.to_bytes() == before
