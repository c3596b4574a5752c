"""Attack what driftwise promises, and count what was tried and what was lost.

Run with ``python benchmarks/attacks.py``. Every kind of learner, committee and controller plays beside a twin. It is
given garbage in between, and is saved and loaded every few rounds; the twin sees only what is right. Then every byte of
a checkpoint is flipped, every length is cut, numbers of its state are replaced under a digest that fits, and a process
that saves without a pause is killed. The last column of every table counts how often happened what must not happen.
"""

import argparse
import json
import os
import random
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import driftwise as dw
from driftwise import control
from driftwise._container import pack, unpack
from driftwise.errors import CheckpointError, DriftwiseError

BAD_NUMBERS = (np.nan, np.inf, -np.inf, 1e101, -1e300)
BAD_KINDS: tuple[Any, ...] = ("gradient", b"x", {}, object(), [[1.0], [2.0, 3.0]], 1j, np.ones((2, 7)), np.empty(0))
HOSTILE = (np.nan, np.inf, -np.inf, -1.0, 0.5, 1e18, 1e300)
BOX = dw.Box([0.0, -1.0], [9.0, 4.0])


@dataclass(frozen=True)
class Subject:
    """What is attacked: how it is made, and what it is given to act and to observe."""

    make: Callable[[], Any]
    act_on: Callable[[np.random.Generator], tuple[Any, ...]] = lambda rng: ()
    told: Callable[[np.random.Generator], Any] = lambda rng: rng.standard_normal(2)
    bad_act: bool = False


def proposals(rng: np.random.Generator) -> tuple[Any, ...]:
    return (rng.standard_normal((3, 2)),)


def state(rng: np.random.Generator) -> tuple[Any, ...]:
    return (rng.standard_normal(2),)


def cost(rng: np.random.Generator) -> Any:
    return control.QuadraticCost(1.0, 1.0)


def of_controller(make: Callable[[], Any]) -> Subject:
    return Subject(make, state, cost, bad_act=True)


PLANT = control.double_integrator()
SUBJECTS: dict[str, Subject] = {
    "OGD": Subject(lambda: dw.OGD(BOX, step=0.1)),
    "Ader": Subject(lambda: dw.Ader(BOX, gradient_bound=3.0)),
    "Scream": Subject(lambda: dw.Scream(BOX, gradient_bound=3.0, switching_cost=1.0)),
    "LazyScream": Subject(lambda: dw.LazyScream(BOX, gradient_bound=3.0, switching_cost=9.0, horizon=10**6)),
    "SelfTunedScream": Subject(lambda: dw.SelfTunedScream(BOX, switching_cost=1.0)),
    "StronglyAdaptive": Subject(lambda: dw.StronglyAdaptive(BOX, switching_cost=1.0, gradient_bound=3.0)),
    "Hedge": Subject(lambda: dw.Hedge(2, loss_bound=2.0)),
    "SelfTunedLearner": Subject(lambda: dw.SelfTunedLearner(BOX, switching_cost=1.0)),
    "rounded": Subject(lambda: dw.rounded(dw.OGD(BOX, step=0.3), seed=5)),
    "Committee": Subject(lambda: dw.Committee(3, 0.5), proposals, lambda rng: rng.standard_normal(3), bad_act=True),
    "Committee that follows": Subject(
        lambda: dw.Committee(3, 0.5, mode="follow"), proposals, lambda rng: rng.standard_normal(3), bad_act=True
    ),
    "GradientController": of_controller(lambda: control.GradientController(PLANT)),
    "ScreamController": of_controller(lambda: control.ScreamController(PLANT)),
    "SelfTunedController": of_controller(lambda: control.SelfTunedController(PLANT)),
}


def garbage(rng: np.random.Generator, like: Any) -> Any:
    """Return something in place of good input that must be refused."""
    if rng.random() < 0.5 and isinstance(like, np.ndarray):
        values = np.array(like)
        values.reshape(-1)[rng.integers(values.size)] = BAD_NUMBERS[rng.integers(len(BAD_NUMBERS))]
        return values
    return BAD_KINDS[rng.integers(len(BAD_KINDS))]


@dataclass
class Count:
    """What happened to one subject."""

    rounds: int = 0
    faults: int = 0
    loads: int = 0
    wrong: int = 0


def fault(count: Count, who: Any, verb: str, given: Any) -> None:
    """Make a call that must be refused with an error of driftwise, and leave every byte as it was."""
    before = who.to_bytes()
    count.faults += 1
    try:
        getattr(who, verb)(given)
    except (DriftwiseError, TypeError):
        count.wrong += who.to_bytes() != before
    else:
        count.wrong += 1


def play_among_faults(subject: Subject, rounds: int, seed: int) -> Count:
    """Play rounds with garbage in between, saving and loading, beside a twin that is left in peace."""
    count, rng = Count(), np.random.default_rng(seed)
    one, twin = subject.make(), subject.make()
    for t in range(rounds):
        seen, told = subject.act_on(rng), subject.told(rng)
        fault(count, one, "observe", told)  # too early
        if subject.bad_act:
            fault(count, one, "act", BAD_KINDS[rng.integers(len(BAD_KINDS))])
        decision, expected = one.act(*seen), twin.act(*seen)
        count.wrong += np.asarray(decision).tobytes() != np.asarray(expected).tobytes()
        fault(count, one, "observe", garbage(rng, told))
        if t % 5 == 0:
            one = dw.from_bytes(one.to_bytes())
            count.loads += 1
        one.observe(told)
        twin.observe(told)
        count.rounds += 1
    count.wrong += one.to_bytes() != twin.to_bytes()
    return count


def trained(subject: Subject, rounds: int) -> Any:
    who, rng = subject.make(), np.random.default_rng(1)
    for _ in range(rounds):
        who.act(*subject.act_on(rng))
        who.observe(subject.told(rng))
    return who


def loads(data: bytes) -> bool:
    """Tell whether bytes are taken for a checkpoint; whatever is raised besides the typed error ends the benchmark."""
    try:
        dw.from_bytes(data)
    except CheckpointError:
        return False
    return True


def damage(data: bytes) -> tuple[int, int, int]:
    """Flip every byte and cut at every length; return flips, cuts, and how many of these were loaded."""
    loaded = 0
    for i in range(len(data)):
        broken = bytearray(data)
        broken[i] ^= 0xFF
        loaded += loads(bytes(broken)) + loads(data[:i])
    return len(data), len(data), loaded


def craft(subject: Subject, data: bytes, times: int) -> tuple[int, int, int]:
    """Replace single numbers of a state under a digest that fits: return refused, loaded, and those that went wrong."""
    header, arrays = unpack("attack", data)
    rng, refused, went_on, wrong = np.random.default_rng(2), 0, 0, 0
    names = [name for name, part in arrays.items() if part.dtype == np.float64 and part.size]
    for _ in range(times):
        changed = {name: part.copy() for name, part in arrays.items()}
        part = changed[names[rng.integers(len(names))]].reshape(-1)
        part[rng.integers(part.size)] = HOSTILE[rng.integers(len(HOSTILE))]
        try:
            who = dw.from_bytes(b"".join(pack(header, changed)))
        except CheckpointError:
            refused += 1
            continue
        went_on += 1
        for _ in range(3):
            try:
                wrong += not np.isfinite(np.asarray(who.act(*subject.act_on(rng)))).all()
                who.observe(subject.told(rng))
            except DriftwiseError:
                break
    return refused, went_on, wrong


def kill(times: int, folder: Path) -> tuple[int, int]:
    """Kill a process that saves without a pause; return how many states were found, and how many were lost."""
    path, learner, rng = folder / "learner", trained(SUBJECTS["SelfTunedScream"], 3), random.Random(0)
    learner.save(path)
    seen, lost = set(), 0
    for _ in range(times):
        begun, say = os.pipe()
        child = os.fork()
        if child == 0:
            while True:
                learner.act()
                learner.observe(np.ones(2))
                learner.save(path)
                os.write(say, b"x")
        os.read(begun, 1)
        os.close(begun)
        os.close(say)
        time.sleep(rng.uniform(0.0, 0.006))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        try:
            learner = dw.load(path)
            seen.add(learner.round)
        except CheckpointError:
            lost += 1
    return len(seen), lost


def main() -> None:
    parser = argparse.ArgumentParser(description="Attack what driftwise promises, and count.")
    parser.add_argument("--rounds", type=int, default=3000, help="rounds of every subject among faults")
    parser.add_argument("--crafted", type=int, default=1000, help="crafted states of every subject")
    parser.add_argument("--kills", type=int, default=200, help="killed saves")
    parser.add_argument("--damage", type=int, default=1, help="damage every n-th subject only")
    parser.add_argument("--json", type=Path, help="write the totals to this file too")
    asked = parser.parse_args()
    total = dict.fromkeys(("rounds", "faults", "loads", "flipped", "cut", "crafted", "refused", "kills", "broken"), 0)

    print(f"{'among faults':28}{'rounds':>9}{'faults':>9}{'loads':>9}{'differ':>9}")
    for seed, (name, subject) in enumerate(SUBJECTS.items()):
        count = play_among_faults(subject, asked.rounds, seed)
        print(f"{name:28}{count.rounds:9}{count.faults:9}{count.loads:9}{count.wrong:9}", flush=True)
        for key in ("rounds", "faults", "loads"):
            total[key] += getattr(count, key)
        total["broken"] += count.wrong

    print(f"\n{'damaged checkpoints':28}{'flipped':>9}{'cut':>9}{'loaded':>18}")
    for name in list(SUBJECTS)[:: asked.damage]:
        flips, cuts, loaded = damage(trained(SUBJECTS[name], 7).to_bytes())
        print(f"{name:28}{flips:9}{cuts:9}{loaded:18}", flush=True)
        total["flipped"], total["cut"], total["broken"] = (
            total["flipped"] + flips,
            total["cut"] + cuts,
            total["broken"] + loaded,
        )

    print(f"\n{'crafted states':28}{'refused':>9}{'loaded':>9}{'decided NaN':>18}")
    for name, subject in SUBJECTS.items():
        refused, went_on, wrong = craft(subject, trained(subject, 25).to_bytes(), asked.crafted)
        print(f"{name:28}{refused:9}{went_on:9}{wrong:18}", flush=True)
        total["crafted"], total["refused"] = total["crafted"] + refused + went_on, total["refused"] + refused
        total["broken"] += wrong

    if hasattr(os, "fork"):
        with tempfile.TemporaryDirectory() as folder:
            different, lost = kill(asked.kills, Path(folder))
        print(f"\n{'killed during save':28}{asked.kills:9}{different:9}{lost:18}   (killed, different states, lost)")
        total["kills"], total["broken"] = asked.kills, total["broken"] + lost

    print("\nin all: " + ", ".join(f"{value} {key}" for key, value in total.items()))
    if asked.json:
        asked.json.write_text(json.dumps(total))
    sys.exit(total["broken"] > 0)


if __name__ == "__main__":
    main()
