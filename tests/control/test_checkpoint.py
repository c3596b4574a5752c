"""Saving and loading controllers: bit for bit, in any round and phase, and nothing that is not possible."""

import os
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import driftwise as dw
from driftwise import control
from driftwise._container import pack, unpack
from driftwise.errors import CheckpointError
from tests.control.cases import PLANT, UNIT, costs, squares
from tests.control.savers import (
    BALLS,
    DRIFTING,
    GAIN,
    HALF,
    MAKERS,
    OWN,
    Integral,
    Leaky,
    Loop,
    Mean,
    Silent,
    began,
    controller,
    disturbance,
    drive,
    measured,
)

PHASES = [(0, False), (1, True), (45, True), (110, False)]
"""Rounds before saving, and whether it has acted in the next one."""


def assert_goes_on(one: control.Controller, again: control.Controller, loop: Loop, rounds: int = 40) -> None:
    """Check that what was loaded does and knows what the original does and knows, and will."""
    assert type(again) is type(one)
    assert again.round == one.round
    assert again.to_bytes() == one.to_bytes()
    twin = one.clone()
    assert drive(again, loop, rounds)[1] == drive(twin, loop, rounds)[1]
    if not isinstance(one, control.ExploreThenCommit):  # which may write the same costs in another way
        assert again.to_bytes() == twin.to_bytes()
    assert again.weights.tobytes() == twin.weights.tobytes()
    for name in ("log", "health", "status", "guarantee"):
        assert getattr(again, name, None) == getattr(twin, name, None)


@pytest.mark.parametrize("name", MAKERS)
def test_a_controller_goes_on_bit_for_bit(name: str, tmp_path: Path) -> None:
    one = controller(name)
    loop = began(one)
    for rounds, acted in PHASES:
        loop, _ = drive(one, loop, rounds - loop.t)
        twin = one.clone()
        if acted:
            twin.act(measured(twin, loop.x))
        twin.save(tmp_path / "controller")
        assert_goes_on(twin, dw.load(tmp_path / "controller", classes=OWN), loop)


PLAY_ON = """
import sys, driftwise as dw
from tests.control.savers import MAKERS, OWN, Loop, drive
import numpy as np
for i, name in enumerate(MAKERS):
    one = dw.load(f"{sys.argv[1]}/{i}", classes=OWN)
    print(b"".join(drive(one, Loop(np.load(f"{sys.argv[1]}/{i}.npy"), one.round), 25)[1]).hex())
"""


def test_a_new_process_goes_on_bit_for_bit(tmp_path: Path) -> None:
    expected = []
    for i, name in enumerate(MAKERS):
        one = controller(name)
        loop, _ = drive(one, began(one), 63)
        one.act(measured(one, loop.x))
        one.save(tmp_path / str(i))
        np.save(tmp_path / f"{i}.npy", loop.x)
        expected.append(b"".join(drive(one, loop, 25)[1]).hex())
    root = Path(__file__).parents[2]
    ran = subprocess.run(
        [sys.executable, "-c", PLAY_ON, str(tmp_path)], cwd=root, capture_output=True, text=True, check=True
    )
    assert ran.stdout.split() == expected


def test_a_self_tuned_controller_that_goes_by_another_actuator() -> None:
    one = control.SelfTunedController(PLANT, memory=3)
    loop, _ = drive(one, began(one), 60)
    one.try_model(3, UNIT)
    assert one.health.model != "none"
    again = dw.from_bytes(one.to_bytes())
    assert again.health == one.health
    assert_goes_on(one, again, loop)


def test_what_a_guard_has_seen_is_remembered() -> None:
    one = control.SelfTunedController(PLANT, guard=control.Guard(state_bound=[5.0, 4.0]), memory=3)
    loop, _ = drive(one, began(one), 30)
    for bad in ([50.0, 0.0], None, [np.nan, 1.0], [1e101, 0.0], None):
        one.act(bad)
        in_round = dw.from_bytes(one.to_bytes())
        assert in_round.to_bytes() == one.to_bytes()
        one.observe(UNIT)
        again = dw.from_bytes(one.to_bytes())
        assert (again.log, again.health) == (one.log, one.health)
        assert_goes_on(one, again, loop._replace(t=one.round))
    assert len(one.log) >= 4


@pytest.mark.parametrize("name", ["Scream", "self-tuned", "outputs"])
def test_set_points_are_remembered(name: str) -> None:
    one: Any = controller(name)
    loop, _ = drive(one, began(one), 20)
    one.act(measured(one, loop.x), reference=[[1.0, 0.0], [1.2, 0.1]])
    again = dw.from_bytes(one.to_bytes())
    assert_goes_on(one, again, loop)


def test_an_adaptive_controller_that_has_changed_its_mind() -> None:
    one = control.AdaptiveController(DRIFTING)
    x = np.zeros(1)
    phases: list[str] = []
    for t in range(900):
        u = one.act(x)
        one.observe(UNIT)
        ramp = min(t / 400.0, 1.0)
        x = (1.2 + 0.3 * ramp) * x + (1.0 - 0.5 * ramp) * u + 0.3 * np.sin(np.pi * t / 10.0) + disturbance(3 * t, 1) / 9
        if t in (150, 400) or (one.status == "adapted" and len(phases) < 4):
            phases.append(one.status)
            assert_goes_on(one, dw.from_bytes(one.to_bytes()), Loop(x, one.round), 60)
        if len(phases) == 4:
            break
    assert phases[-2:] == ["adapted", "adapted"]


def test_exploring_is_saved_in_every_phase() -> None:
    one: Any = controller("explore")
    loop = began(one)
    seen: dict[str, bool] = {}
    for _ in range(12):
        loop, _ = drive(one, loop, 25)
        seen[one.status] = one.identified is not None
        assert_goes_on(one, dw.from_bytes(one.to_bytes()), loop, 30)
    one.act([1e6, 0.0])
    one.observe(UNIT)
    seen[one.status] = True
    assert_goes_on(one, dw.from_bytes(one.to_bytes()), loop, 30)
    assert seen.keys() == {"exploring", "committed", "fallback"}


def test_a_long_exploration_is_one_table_of_costs() -> None:
    one = control.ExploreThenCommit(K=GAIN, state_dim=2, input_dim=1, exploration=100_000, probe=0.1)
    varying = costs("scaled", 2, 1, 500)
    x = np.zeros(2)
    for t in range(500):
        u = one.act(x)
        one.observe(varying[t])
        x = PLANT.A @ x + PLANT.B @ u + disturbance(t, 2)
    data = one.to_bytes()
    assert len(data) < 500 * 8 * 40
    assert len(unpack("test", data)[1]) < 60
    again = dw.from_bytes(data)
    assert again.to_bytes() == data
    assert [r.cost.value([1.0, 2.0], [3.0]) for r in again._past] == [
        varying[t].value([1.0, 2.0], [3.0]) for t in range(500)
    ]


def test_a_controller_of_ones_own() -> None:
    forgets = Leaky(GAIN)
    loop, _ = drive(forgets, began(forgets), 9)
    again = dw.from_bytes(forgets.to_bytes(), classes=OWN)
    assert drive(again, loop, 5)[1] != drive(forgets, loop, 5)[1]
    with pytest.raises(CheckpointError, match=r"Silent: to be saved, .* state_names"):
        Silent(GAIN).to_bytes()
    with pytest.raises(CheckpointError, match=r"tests.control.savers:Integral.*classes="):
        dw.from_bytes(Integral(GAIN).to_bytes())


def test_another_learner_may_go_on_with_what_was_given() -> None:
    learner = Mean(BALLS)
    one = control.DisturbanceActionController(PLANT, learner)
    learner.act()
    learner.observe(np.ones(6))
    assert dw.from_bytes(one.to_bytes(), classes=OWN).learner.round == 0


@pytest.mark.parametrize(
    "make",
    [
        lambda: control.SelfTunedController(PLANT, cost=squares()),
        lambda: control.SelfTunedController(PLANT, guard=control.Guard(clock=lambda: 0.0)),
        lambda: control.ExploreThenCommit(
            K=GAIN,
            state_dim=2,
            input_dim=1,
            horizon=90,
            controller=lambda system, **_: control.LinearController(system),
        ),
        lambda: control.OutputFeedback(HALF, cost=squares()),
    ],
    ids=["cost", "clock", "maker", "outputs"],
)
def test_code_is_not_saved(make: Callable[[], control.Controller]) -> None:
    with pytest.raises(CheckpointError, match="a function is code"):
        make().to_bytes()


def test_costs_of_functions_that_are_remembered_are_not_saved() -> None:
    one = controller("explore")
    one.act([0.0, 0.0])
    one.observe(squares())
    with pytest.raises(CheckpointError, match=r"ExploreThenCommit.to_bytes: .*is a function"):
        one.to_bytes()
    committed = controller("self-tuned")
    committed.act([0.0, 0.0])
    committed.observe(squares())  # where costs are not remembered they may be anything
    assert dw.from_bytes(committed.to_bytes()).round == 1


def test_a_default_clock_is_no_code() -> None:
    one = control.LinearController(PLANT, guard=control.Guard(deadline=1.0))
    one.act([1.0, 0.0])
    again = dw.from_bytes(one.to_bytes())
    assert again.guard.deadline == 1.0
    again.observe(UNIT)
    again.act([1.0, 0.0])  # the first sample after a restart is not late
    assert again.log == ()


def test_a_frozen_policy_is_loaded_as_what_it_is(tmp_path: Path) -> None:
    one = controller("self-tuned")
    loop, _ = drive(one, began(one), 20)
    frozen = one.freeze()  # type: ignore[attr-defined]
    frozen.save(tmp_path / "policy.json")
    again = dw.load(tmp_path / "policy.json")
    assert isinstance(again, control.FrozenPolicy)
    assert again.act(loop.x).tobytes() == frozen.act(loop.x).tobytes()
    (tmp_path / "policy.json").write_text("{}")
    with pytest.raises(CheckpointError, match="no saved policy"):
        dw.load(tmp_path / "policy.json")
    begun = control.SelfTunedController(PLANT, start=frozen)
    assert_goes_on(begun, dw.from_bytes(begun.to_bytes()), Loop(np.zeros(2), 0))


HEAD = 110
"""Numbers that a cell begins with, before its parts."""

HOSTILE = (np.nan, np.inf, -np.inf, -1.0, 0.5, 1e18, 1e300, 1e17)

ATTACKED = ["guarded linear", "Scream", "self-tuned", "outputs", "adaptive", "explore", "explore, sized"]


def attacked(name: str) -> control.Controller:
    """Return a controller in the middle of its work, with everything in use that indices and counts are read from."""
    one = controller("linear" if name == "guarded linear" else name)
    loop, _ = drive(one, began(one), 60 if name == "explore" else 115)
    if name in ("guarded linear", "self-tuned", "outputs"):
        one.act(None)  # type: ignore[arg-type]
        one.observe(UNIT)
    one.act(measured(one, loop.x))
    return one


def hostile_states(name: str, places: int, heads: int) -> list[bytes]:
    """Return checkpoints in which one number of an array is replaced, with digests that fit."""
    data, rng, found = attacked(name).to_bytes(), np.random.default_rng(0), []
    _, known = unpack("test", data)
    for key, part in known.items():
        # Where sizes, offsets, indices and counts are: all of these places, or some of them.
        head = rng.permutation(min(part.size, HEAD if part.size > HEAD else 3))[:heads].tolist()
        for place in {*head, *rng.integers(0, max(part.size, 1), min(part.size, places)).tolist()}:
            header, arrays = unpack("test", data)
            value = HOSTILE[int(rng.integers(len(HOSTILE)))]
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                arrays[key].reshape(-1)[place] = np.array(value).astype(arrays[key].dtype)
            found.append(b"".join(pack(header, arrays)))
    return found


ATTACK = """
import sys, driftwise as dw
from driftwise.errors import CheckpointError, DriftwiseError
from tests.control.savers import OWN, Loop, drive
from tests.control.test_checkpoint import hostile_states
import numpy as np
refused = went_on = 0
for name in sys.argv[3:]:
    for data in hostile_states(name, int(sys.argv[1]), int(sys.argv[2])):
        try:
            one = dw.from_bytes(data, classes=OWN)
        except CheckpointError:
            refused += 1
            continue
        str(getattr(one, "health", "")), str(getattr(one, "log", ""))
        one.to_bytes()
        try:
            for _ in range(4):
                u = one._acted
                if u is not None:
                    one.observe(dw.control.QuadraticCost(1.0, 1.0))
                u = one.act(np.full(one._x.shape, 0.1))
                assert np.isfinite(u).all(), data
        except DriftwiseError:
            pass
        went_on += 1
print(refused, went_on)
"""


def attack(names: list[str], places: int, heads: int, **environment: str) -> tuple[int, int]:
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", ATTACK, str(places), str(heads), *names],
        cwd=Path(__file__).parents[2],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr[-3000:]
    refused, went_on = map(int, ran.stdout.split())
    return refused, went_on


def test_numbers_of_a_crafted_state_lead_no_kernel_astray() -> None:
    refused, went_on = attack(ATTACKED, places=1, heads=16)
    assert refused > 50
    assert went_on > 50


@pytest.mark.full
def test_numbers_of_a_crafted_state_lead_no_kernel_astray_wherever_they_are() -> None:
    refused, went_on = attack(ATTACKED, places=3, heads=HEAD)
    assert refused > 200
    assert went_on > 100


@pytest.mark.full
def test_numbers_of_a_crafted_state_lead_no_kernel_astray_with_every_index_checked() -> None:
    refused, _ = attack(ATTACKED, places=40, heads=HEAD, NUMBA_DISABLE_JIT="1")
    assert refused > 1000
