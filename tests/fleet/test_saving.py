"""Fleets that are saved go on bit for bit, in another process too, and crafted ones are refused."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import driftwise as dw
from driftwise._container import pack, unpack
from driftwise.engine import layout
from driftwise.errors import CheckpointError

BALL = dw.Ball(2)


def mixed() -> dw.Fleet:
    fleet = dw.Fleet(dw.SelfTunedScream(BALL, switching_cost=1.0), 3, switching_cost=[1.0, 2.0, 1.0])
    fleet.add([dw.OGD(BALL, step=0.1), dw.SelfTunedLearner(BALL, switching_cost=1.0)])
    fleet.add(dw.OGD(BALL, step=0.1, late=2))
    rng = np.random.default_rng(0)
    for _ in range(12):
        fleet.act()
        fleet.observe(rng.normal(size=(len(fleet), 2)))
    fleet.remove([1])
    fleet.act(ids=[0, 4])
    return fleet


ELSEWHERE = """
import sys
import numpy as np
import driftwise as dw
fleet, rng = dw.load(sys.argv[1]), np.random.default_rng(1)
for _ in range(30):
    w = fleet.act()
    fleet.observe(rng.normal(size=w.shape))
fleet.save(sys.argv[2])
"""


def test_a_fleet_goes_on_in_another_process(tmp_path: Path) -> None:
    fleet, rng = mixed(), np.random.default_rng(1)
    fleet.save(tmp_path / "one")
    subprocess.run([sys.executable, "-c", ELSEWHERE, str(tmp_path / "one"), str(tmp_path / "two")], check=True)
    for _ in range(30):
        fleet.act()
        fleet.observe(rng.normal(size=(len(fleet), 2)))
    again = dw.load(tmp_path / "two")
    assert again.ids.tolist() == fleet.ids.tolist() == [0, 2, 3, 4, 5]
    assert again.rounds.tolist() == fleet.rounds.tolist()
    assert again.act().tobytes() == fleet.act().tobytes()
    for i in fleet.ids.tolist():
        assert again.member(i).clone().to_bytes() == fleet.member(i).clone().to_bytes()


def test_members_are_saved_and_loaded_singly(tmp_path: Path) -> None:
    fleet = mixed()
    for i in fleet.ids.tolist():
        fleet.member(i).save(tmp_path / "one")
        new = int(fleet.add(dw.load(tmp_path / "one"))[0])
        assert fleet.decisions([i]).tobytes() == fleet.decisions([new]).tobytes()


def crafted(fleet: dw.Fleet, change: Callable[[dict[str, Any]], None]) -> bytes:
    header, arrays = unpack("test", fleet.to_bytes())
    change(arrays)
    return b"".join(pack(header, arrays))


def put(part: str, value: Any, *where: Any) -> Callable[[dict[str, Any]], None]:
    def change(arrays: dict[str, Any]) -> None:
        arrays[part][where] = value

    return change


CRAFTED: dict[str, Callable[[dict[str, Any]], None]] = {
    "number": put("blocks.0.2", np.nan, 0, -1),
    "infinity": put("blocks.0.2", np.inf, 1, layout.SEEN),
    "count": put("blocks.0.2", 1e300, 0, layout.ACTIVE),
    "too many": put("blocks.0.2", 7.0, 0, layout.ACTIVE),
    "none": put("blocks.0.2", 0.0, 0, layout.ACTIVE),
    "power": put("blocks.0.2", 1.0, 0, layout.POWER),
    "rounds": put("blocks.0.2", 1e12, 0, layout.ROUND),
    "part of a round": put("blocks.0.2", 0.5, 0, layout.UPDATES),
    "hint": put("blocks.0.2", 1.0, 0, layout.HINTED),
    "configuration": put("blocks.0.1", 9, 0),
    "less than none": put("blocks.0.1", -1, 0),
    "base": put("blocks.0.6.1", 5, 0),
    "price": put("blocks.0.6.2", -5.0, 0),
    "id": put("members.0", 9, 0),
    "row": put("members.2", 1, 0),
    "block": put("members.1", 7, 0),
    "pool": put("blocks.2.5", np.nan, 0, 40),
    "begun": put("blocks.2.3", False, 0),
}


@pytest.mark.parametrize("name", CRAFTED)
def test_crafted_states_are_refused_or_harmless(name: str) -> None:
    data = crafted(mixed(), CRAFTED[name])
    try:
        fleet = dw.from_bytes(data)
    except CheckpointError:
        return
    assert name == "begun"  # a member that is as if it had not begun: no harm is done
    fleet.act()


def test_damage_is_found() -> None:
    data = mixed().to_bytes()
    for place in range(0, len(data), max(len(data) // 50, 1)):
        with pytest.raises(CheckpointError):
            dw.from_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
        with pytest.raises(CheckpointError):
            dw.from_bytes(data[:place])


def test_configurations_are_saved_once_and_not_per_member() -> None:
    learner = dw.SelfTunedScream(BALL, switching_cost=1.0)
    sizes = [len(dw.Fleet(learner, size).to_bytes()) for size in (1000, 2000)]
    assert sizes[1] - sizes[0] < 1000 * 1000


GROWING: dict[str, Callable[[], dw.Learner]] = {
    "self-tuned": lambda: dw.SelfTunedScream(BALL, switching_cost=1.0),
    "Scream": lambda: dw.Scream(BALL, gradient_bound=2.0, switching_cost=1.0),
    "doubling": lambda: dw.Scream(BALL, gradient_bound=2.0, switching_cost=1.0, horizon_free="doubling"),
}


@pytest.mark.parametrize("name", GROWING)
def test_a_fleet_is_loaded_in_whichever_round_it_was_saved(name: str) -> None:
    fleet = dw.Fleet(GROWING[name](), 2)
    for t in range(140):  # pools grow, and states are laid out anew, several times
        fleet.act()
        fleet.observe(np.ones((2, 2)))
        assert dw.from_bytes(fleet.to_bytes()).rounds.tolist() == [t + 1] * 2


KILLED = """
import os, random, signal, sys, time
import numpy as np
import driftwise as dw

path, times, rng = sys.argv[1], int(sys.argv[2]), random.Random(0)
fleet = dw.Fleet(dw.SelfTunedScream(dw.Box([0.0], [9.0]), switching_cost=1.0), 2000)
fleet.act()
fleet.observe(np.ones((2000, 1)))
fleet.save(path)
seen = set()
for _ in range(times):
    begun, say = os.pipe()
    child = os.fork()
    if child == 0:
        while True:
            fleet.act()
            fleet.observe(np.ones((2000, 1)))
            fleet.save(path)
            os.write(say, b"x")
    os.read(begun, 1)  # one save is over, and the next ones are on their way
    os.close(begun), os.close(say)
    time.sleep(rng.uniform(0.0, 0.03))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    fleet = dw.load(path)
    (rounds,) = set(fleet.rounds.tolist())  # everybody is of the same save
    seen.add(rounds)
print(len(seen))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("times", [20, pytest.param(200, marks=pytest.mark.full)])
def test_a_save_that_is_killed_loses_nobody(times: int, tmp_path: Path) -> None:
    command = [sys.executable, "-W", "ignore", "-c", KILLED, str(tmp_path / "fleet"), str(times)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert int(ran.stdout) == times
