"""Saving and loading: bit for bit, in this process and in another, and nothing that is not a checkpoint."""

import ast
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

import driftwise as dw
from driftwise import movers
from driftwise._container import pack, unpack
from driftwise._validate import Array
from driftwise.checkpoint import up_to_date
from driftwise.engine import layout
from driftwise.errors import CheckpointError, DriftwiseError, InputError, ParameterError, StorageError
from driftwise.estimators import EACH, Estimator
from tests.cases import DOMAINS, EUCLIDEAN, PRICES, self_tuned

SOURCE = Path(dw.__file__).parent


class Mean(dw.Learner):
    """A learner of somebody else: minus the mean gradient, put into the domain."""

    state_names: ClassVar[tuple[str, ...] | None] = ("total", "count")

    def __init__(self, domain: dw.Domain, *, rate: float = 1.0) -> None:
        super().__init__(domain)
        self.rate, self.total, self.count = rate, np.zeros(domain.dim), 0

    def _decide(self) -> Array:
        return self.domain.project(-self.rate * self.total / max(self.count, 1))

    def _learn(self, gradient: Array) -> None:
        self.total = self.total + gradient
        self.count += 1


class Forgetful(Mean):
    """The same, but one of its attributes is not named."""

    state_names = ("count",)


class Silent(Mean):
    """The same, but it says nothing about what to save."""

    state_names = None


class Level(Estimator):
    """An estimator of somebody else, in Python."""

    name, forms, state_names = "level", (EACH,), ("mean",)

    def begin(self, point: Array, domain: dw.Domain) -> None:
        self.mean = point

    def learn(self, seen: Any) -> None:
        self.mean = 0.9 * self.mean + 0.1 * seen.targets

    def propose(self) -> Array:
        return self.mean


class Half(movers.Mover):
    """A mover of somebody else, in Python."""

    name = "half"

    def share(self, step: movers.Step) -> float:
        return 0.5


OWN = (Mean, Forgetful, Silent, Level, Half)

BOX = dw.Box([0.0, -1.0], [9.0, 4.0])

LEARNERS: dict[str, Callable[[], Any]] = {
    **{
        f"{name} on {where}": partial(kind, DOMAINS[where], **settings)
        for (name, (kind, settings)), where in zip(EUCLIDEAN.items(), list(DOMAINS) * 2, strict=False)
        if name != "Ader original"
    },
    **{
        f"SelfTunedScream, {price}": partial(dw.SelfTunedScream, BOX, switching_cost=PRICES[price](2))
        for price in PRICES
    },
    **{f"SelfTunedLearner, {price}": partial(self_tuned, BOX, price) for price in PRICES},
    "SelfTunedLearner on a product": lambda: self_tuned(DOMAINS["product"]),
    "SelfTunedLearner with a start and a period": lambda: self_tuned(BOX, start=[1.0, 1.0], period=7),
    "SelfTunedLearner with parts in Python": lambda: self_tuned(
        BOX, estimators=[Level(), dw.estimators.Smoothing(0.3)], movers=[movers.Follow(), Half()]
    ),
    "StronglyAdaptive": lambda: dw.StronglyAdaptive(BOX, switching_cost=1.0, gradient_bound=3.0),
    "Hedge": lambda: dw.Hedge(4, loss_bound=2.0),
    "entropy": lambda: dw.MirrorDescent(dw.Simplex(3), mirror=dw.mirror.NegativeEntropy(), gradient_bound=1.0),
    "p-norm": lambda: dw.MirrorDescent(dw.Simplex(3), mirror=dw.mirror.PNorm(1.5), gradient_bound=1.0),
    "Ensemble": lambda: dw.Ensemble(
        BOX, pool=dw.learners.Pool([0.1, 0.2]), meta=dw.learners.Meta(0.5, prior=[0.9, 0.1]), start=[1.0, 1.0]
    ),
    "rounded": lambda: dw.rounded(dw.OGD(BOX, step=0.3), seed=5),
    "rounded, self-tuned": lambda: dw.rounded(self_tuned(BOX), seed=np.random.default_rng(3)),
    "own": lambda: Mean(BOX, rate=0.5),
}


def slopes(dim: int, rounds: int, seed: int) -> Array:
    return np.asarray(np.random.default_rng(seed).standard_normal((rounds, dim)) * np.array([1.0, 3.0] * dim)[:dim])


def drive(learner: Any, gradients: Array) -> list[bytes]:
    decisions = []
    for gradient in gradients:
        decisions.append(learner.act().tobytes())
        learner.observe(gradient)
    return decisions


def losses_for(rounds: int) -> dw.TrackingLoss:
    return dw.TrackingLoss(np.random.default_rng(2).uniform(0.0, 4.0, (rounds, 2)))


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("acted", [False, True])
def test_a_learner_goes_on_bit_for_bit(name: str, acted: bool, tmp_path: Path) -> None:
    learner = LEARNERS[name]()
    dim = learner.domain.dim
    for rounds in (0, 1, 23):
        drive(learner, slopes(dim, rounds, seed=rounds))
        if acted:
            learner.act()
        learner.save(tmp_path / "learner")
        again = dw.load(tmp_path / "learner", classes=OWN)
        assert type(again) is type(learner)
        assert again.round == learner.round
        assert again.to_bytes() == learner.to_bytes()
        twin, later = learner.clone(), slopes(dim, 30, seed=99)
        assert drive(again, later) == drive(twin, later)
        assert again.weights.tobytes() == twin.weights.tobytes()


@pytest.mark.parametrize(
    "name", [name for name in LEARNERS if name.startswith("SelfTunedLearner") and "product" not in name]
)
def test_a_learner_of_whole_losses_and_proposals(name: str) -> None:
    learner, losses = LEARNERS[name](), losses_for(60)

    def rounds(who: Any, first: int, last: int, seed: int) -> list[bytes]:
        rng = np.random.default_rng(seed)
        found = []
        for t in range(first, last):
            mine = {"mine": rng.uniform(0.0, 4.0, 2), **({"late": rng.uniform(0.0, 4.0, 2)} if t > 20 else {})}
            found.append(who.act(proposal=mine if t % 3 else None).tobytes())
            who.observe(losses[t])
        return found

    rounds(learner, 0, 30, 0)
    again = dw.from_bytes(learner.to_bytes(), classes=OWN)
    assert again.members == learner.members
    assert rounds(again, 30, 60, 1) == rounds(learner, 30, 60, 1)
    assert again.overhead == learner.overhead
    assert str(again.explain()) == str(learner.explain())


@pytest.mark.parametrize("name", ["SelfTunedScream, number", "OGD on ball", "SelfTunedLearner, number"])
def test_hints_are_remembered(name: str) -> None:
    learner = LEARNERS[name]()
    dim = learner.domain.dim
    for gradient in slopes(dim, 10, 3):
        learner.act(hint=0.5 * gradient)
        learner.observe(gradient)
    learner.act(hint=np.ones(dim))
    again = dw.from_bytes(learner.to_bytes())
    assert again.weights.tobytes() == learner.weights.tobytes()
    assert drive(again, slopes(dim, 20, 4)) == drive(learner, slopes(dim, 20, 4))


@pytest.mark.parametrize("mode", ["mix", "follow"])
@pytest.mark.parametrize("ways", [False, True, [movers.Follow(), Half()]], ids=["plain", "movers", "own mover"])
@pytest.mark.parametrize("shape", [(), (2,), (2, 2)], ids=str)
def test_a_committee_goes_on_bit_for_bit(mode: str, ways: Any, shape: tuple[int, ...]) -> None:
    committee = dw.Committee(3, 0.5, mode=mode, seed=4, movers=ways, prior=[0.5, 0.3, 0.2])

    def rounds(who: dw.Committee, count: int, seed: int) -> list[bytes]:
        rng, found = np.random.default_rng(seed), []
        for t in range(count):
            rows: list[Any] = list(rng.standard_normal((3, *shape)))
            if t % 4 == 1:
                rows[t % 3] = None
            found.append(np.asarray(who.act(rows)).tobytes())
            who.observe(lambda w: float(np.sum((np.asarray(w) - 1.0) ** 2)))
        return found

    for count in (0, 1, 12):
        rounds(committee, count, count)
        again = dw.from_bytes(committee.to_bytes(), classes=OWN)
        assert again.to_bytes() == committee.to_bytes()
        assert rounds(again, 10, 7) == rounds(committee.clone(), 10, 7)
    proposals = np.random.default_rng(1).standard_normal((3, *shape))
    decision = committee.act(proposals)
    again = dw.from_bytes(committee.to_bytes(), classes=OWN)
    np.testing.assert_array_equal(again.act(proposals), decision)
    for one in (again, committee):
        one.observe(lambda w: float(np.sum(np.asarray(w) ** 2)))
    assert rounds(again, 10, 8) == rounds(committee, 10, 8)


PLAY_ON = """
import sys, numpy as np, driftwise as dw
from tests.test_checkpoint import LEARNERS, OWN, drive, slopes
for i, name in enumerate(LEARNERS):
    learner = dw.load(f"{sys.argv[1]}/{i}", classes=OWN)
    print(b"".join(drive(learner, slopes(learner.domain.dim, 20, seed=5))).hex())
"""


def test_a_new_process_goes_on_bit_for_bit(tmp_path: Path) -> None:
    expected = []
    for i, make in enumerate(LEARNERS.values()):
        learner = make()
        drive(learner, slopes(learner.domain.dim, 17, seed=i))
        learner.save(tmp_path / str(i))
        expected.append(b"".join(drive(learner, slopes(learner.domain.dim, 20, seed=5))).hex())
    root = Path(__file__).parents[1]
    ran = subprocess.run(
        [sys.executable, "-c", PLAY_ON, str(tmp_path)], cwd=root, capture_output=True, text=True, check=True
    )
    assert ran.stdout.split() == expected


def test_play_goes_on_where_it_was() -> None:
    losses = dw.streams.drifting_regression(rounds=200, dim=2, segment=50, seed=1)
    parts = [dw.SquaredLoss(losses.data.features[i : i + 100], losses.data.targets[i : i + 100]) for i in (0, 100)]
    for make in (
        lambda: dw.SelfTunedScream(dw.Ball(2), switching_cost=1.0),
        lambda: dw.SelfTunedLearner(dw.Ball(2), switching_cost=1.0),
    ):
        one = make()
        dw.play(one, parts[0])
        again = dw.from_bytes(one.to_bytes())
        assert dw.play(again, parts[1]).decisions.tobytes() == dw.play(one, parts[1]).decisions.tobytes()


def test_later_changes_of_an_argument_are_not_saved() -> None:
    start, low = np.array([1.0, 1.0]), np.array([0.0, -1.0])
    learner = dw.OGD(dw.Box(low, [9.0, 4.0]), step=0.1, start=start)
    start[:], low[:] = 3.0, 2.0
    again = dw.from_bytes(learner.to_bytes())
    np.testing.assert_array_equal(again.act(), [1.0, 1.0])
    np.testing.assert_array_equal(again.domain.low, [0.0, -1.0])


def test_a_learner_that_forgets_to_name_an_attribute_does_not_go_on() -> None:
    learner = Forgetful(BOX)
    drive(learner, slopes(2, 5, 0))
    again = dw.from_bytes(learner.to_bytes(), classes=OWN)
    assert drive(again, slopes(2, 5, 1)) != drive(learner, slopes(2, 5, 1))


def test_a_learner_that_names_nothing_is_told_what_to_do() -> None:
    with pytest.raises(CheckpointError, match=r"Silent: to be saved, .* state_names"):
        Silent(BOX).to_bytes()


def test_a_class_of_ones_own_must_be_given() -> None:
    data = Mean(BOX).to_bytes()
    with pytest.raises(CheckpointError, match=r"tests.test_checkpoint:Mean.*classes="):
        dw.from_bytes(data)
    with pytest.raises(ParameterError, match="classes must be"):
        dw.from_bytes(data, classes=Mean)  # type: ignore[arg-type]


def test_code_is_not_saved() -> None:
    class Odd(Mean):
        def __init__(self, domain: dw.Domain, rule: Callable[[float], float]) -> None:
            super().__init__(domain)

    with pytest.raises(CheckpointError, match="a function is code"):
        Odd(BOX, lambda x: x).to_bytes()


def test_saving_replaces_the_file_and_leaves_no_other(tmp_path: Path) -> None:
    learner = dw.OGD(BOX, step=0.1)
    for _ in range(3):
        drive(learner, slopes(2, 2, 0))
        learner.save(tmp_path / "learner")
    assert [path.name for path in tmp_path.iterdir()] == ["learner"]
    assert dw.load(str(tmp_path / "learner")).round == 6


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match=r"OGD\.save"):
        dw.OGD(BOX, step=0.1).save(tmp_path / "no" / "learner")
    with pytest.raises(StorageError, match="load"):
        dw.load(tmp_path / "no")


@pytest.mark.parametrize("flip", [0x01, 0xFF])
def test_every_flipped_byte_and_every_cut_of_a_learner_is_refused(flip: int) -> None:
    learner = dw.OGD(dw.Ball(1), step=0.1)
    drive(learner, slopes(1, 3, 0))
    data = learner.to_bytes()
    for i in range(len(data)):
        damaged = bytearray(data)
        damaged[i] ^= flip
        with pytest.raises(CheckpointError):
            dw.from_bytes(bytes(damaged))
        with pytest.raises(CheckpointError):
            dw.from_bytes(data[:i])


class Bomb:
    """Would run code if it were unpickled."""

    ran: ClassVar[list[int]] = []

    def __reduce__(self) -> tuple[Any, ...]:
        return Bomb.ran.append, (1,)


def test_a_pickle_or_an_object_array_is_refused_and_not_run(tmp_path: Path) -> None:
    (tmp_path / "pickle").write_bytes(pickle.dumps(Bomb()))
    np.save(tmp_path / "objects.npy", np.array([Bomb()]), allow_pickle=True)
    np.savez(tmp_path / "objects.npz", x=np.array([Bomb()]))
    for path in tmp_path.iterdir():
        with pytest.raises(CheckpointError):
            dw.load(path)
    assert Bomb.ran == []
    with pytest.raises(InputError, match="must be bytes"):
        dw.from_bytes("text")  # type: ignore[arg-type]


def edited(data: bytes, change: Callable[[dict[str, Any], dict[str, Array]], None]) -> bytes:
    """Return a checkpoint in which something was changed, with a digest that fits."""
    header, arrays = unpack("test", data)
    change(header, arrays)
    return b"".join(pack(header, arrays))


def put(*path: Any) -> Callable[[dict[str, Any], dict[str, Array]], None]:
    """Return a change: the value behind a path of keys in the header is replaced by the last item."""
    *keys, last, value = path

    def change(header: dict[str, Any], arrays: dict[str, Array]) -> None:
        at = header
        for key in keys:
            at = at[key]
        at[last] = value

    return change


def deeper(header: dict[str, Any], arrays: dict[str, Array]) -> None:
    inner = header["what"]
    for _ in range(200):
        inner = {"!": "object", "class": "learners.Rounded", "with": {"learner": inner, "seed": 0}, "state": {}}
    header["what"] = inner


def twice(header: dict[str, Any], arrays: dict[str, Array]) -> None:
    header["what"]["with"]["start"] = header["what"]["state"]["known"]


WITH, STATE = ("what", "with"), ("what", "state")
CHANGES: dict[str, Callable[[dict[str, Any], dict[str, Array]], None]] = {
    "a schema to come": put("schema", 99),
    "no schema": put("schema", None),
    "no class": put("what", "class", "learners.Nobody"),
    "a class of Python": put("what", "class", "builtins:exec"),
    "a class of the operating system": put("what", "class", "posix:system"),
    "a class that is no learner": put("what", "class", "domains.Ball"),
    "an unknown part": put("what", "!", "pickle"),
    "an unknown argument": put(*WITH, "colour", 3),
    "an impossible argument": put(*WITH, "step", -1.0),
    "a huge domain": put(*WITH, "domain", "with", "dim", 10**12),
    "a huge dimension": put(*WITH, "domain", "with", "dim", 10**300),
    "an unknown state": put(*STATE, "colour", 3),
    "no state": put("what", "state", {}),
    "a round that is none": put(*STATE, "round", -1),
    "another round": put(*STATE, "round", 2),
    "a decision of another shape": put(*STATE, "acted", [0.0, 1.0]),
    "a decision that is no number": put(*STATE, "acted", "far"),
    "an array that is not there": put(*STATE, "known", {"!": "array", "is": "none"}),
    "a state of another size": lambda header, arrays: arrays.update(known=np.zeros(3)),
    "a state of integers": lambda header, arrays: arrays.update(known=np.zeros(arrays["known"].shape, np.int64)),
    "an array too many": lambda header, arrays: arrays.update(more=np.zeros(3)),
    "an array used twice": twice,
    "objects in objects": deeper,
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_crafted_checkpoint_whose_digest_fits_is_refused(name: str) -> None:
    learner = dw.OGD(dw.Ball(1), step=0.1)
    drive(learner, slopes(1, 3, 0))
    crafted = edited(learner.to_bytes(), CHANGES[name])
    with pytest.raises(CheckpointError):
        dw.from_bytes(crafted)


GROWING: dict[str, Callable[[], Any]] = {
    "time-varying": lambda: dw.Scream(BOX, switching_cost=1.0, gradient_bound=3.0),
    "doubling": lambda: dw.Scream(BOX, switching_cost=1.0, gradient_bound=3.0, horizon_free="doubling"),
    "self-tuned": lambda: dw.SelfTunedScream(BOX, switching_cost=1.0),
    "adaptive": lambda: dw.StronglyAdaptive(BOX, switching_cost=1.0, gradient_bound=3.0),
    "epochs": lambda: dw.LazyScream(BOX, switching_cost=30.0, gradient_bound=3.0),
}


@pytest.mark.parametrize("name", GROWING)
def test_a_crafted_count_lets_no_pool_grow_past_its_lanes(name: str) -> None:
    learner = GROWING[name]()
    drive(learner, slopes(2, 25, 0))
    data = learner.to_bytes()
    for place, value, wrong in (
        (layout.POWER, 1.0, "powers"),
        (layout.POWER, 0.0, "powers"),
        (layout.POWER, 2.0**50, "powers"),
        (layout.ACTIVE, 1.0, "powers"),
        (layout.UPDATES, 2.0**62, "updates"),
        (layout.UPDATES, 0.0, "updates"),
    ):

        def change(header: dict[str, Any], arrays: dict[str, Array], at: int = place, to: float = value) -> None:
            arrays["known"][at] = to

        with pytest.raises(CheckpointError, match=wrong):
            dw.from_bytes(edited(data, change))
    again = dw.from_bytes(data)
    assert drive(again, slopes(2, 40, 1)) == drive(learner, slopes(2, 40, 1))


HOSTILE = (np.nan, np.inf, -np.inf, -1.0, 0.5, 1e18, 1e300)


def hostile_states(name: str, places: int) -> list[bytes]:
    """Return checkpoints in which one number of the state is replaced, with digests that fit."""
    learner = LEARNERS[name]()
    drive(learner, slopes(learner.domain.dim, 25, seed=1))
    data, rng = learner.to_bytes(), np.random.default_rng(0)
    _, arrays = unpack("test", data)
    state = [key for key in arrays if arrays[key].dtype == np.float64 and arrays[key].size]
    found = []
    for key in state:
        size = arrays[key].size
        chosen = range(size) if size <= places else [*range(100), *rng.integers(100, size, places - 100).tolist()]
        for place in chosen:
            value = HOSTILE[int(rng.integers(len(HOSTILE)))]

            def change(
                header: dict[str, Any], arrays: dict[str, Array], place: int = place, value: float = value
            ) -> None:
                arrays[key].reshape(-1)[place] = value  # noqa: B023

            found.append(edited(data, change))
    return found


ATTACKED = [
    "Scream appendix on ball",
    "LazyScream appendix on box",
    "SelfTunedScream, each",
    "SelfTunedLearner, number",
]

ATTACK = """
import sys, numpy as np, driftwise as dw
from driftwise.errors import CheckpointError, DriftwiseError
from tests.test_checkpoint import OWN, drive, hostile_states, slopes
refused = went_on = 0
for name in sys.argv[2:]:
    for data in hostile_states(name, int(sys.argv[1])):
        try:
            learner = dw.from_bytes(data, classes=OWN)
        except CheckpointError:
            refused += 1
            continue
        try:
            drive(learner, slopes(learner.domain.dim, 3, seed=2))
        except DriftwiseError:
            pass
        went_on += 1
print(refused, went_on)
"""


def attack(names: list[str], places: int, **environment: str) -> tuple[int, int]:
    root = Path(__file__).parents[1]
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", ATTACK, str(places), *names],
        cwd=root,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    refused, went_on = map(int, ran.stdout.split())
    return refused, went_on


def test_numbers_of_a_crafted_state_lead_no_kernel_astray() -> None:
    refused, went_on = attack(ATTACKED, 150)
    assert refused > 100
    assert went_on > 10


BUSY = """
import numpy as np
import driftwise as dw
from driftwise._container import pack, unpack
from tests.test_checkpoint import LEARNERS, drive, slopes
learner = LEARNERS["SelfTunedLearner, number"]()
drive(learner, slopes(2, 25, seed=1))
header, arrays = unpack("test", learner.to_bytes())
(pool,) = (name for name in arrays if name.endswith("pool"))
# Half the number of observations of a hypothesis, and 1: nothing else in a pool is 12 or 13 after 25 rounds.
(places,) = np.nonzero((arrays[pool] == 12.0) | (arrays[pool] == 13.0))
for place in places:
    changed = {name: part.copy() for name, part in arrays.items()}
    changed[pool][place] = -np.inf
    try:
        drive(dw.from_bytes(b"".join(pack(header, changed))), slopes(2, 3, seed=2))
    except dw.errors.DriftwiseError:
        pass
print(len(places))
"""


def test_no_crafted_number_of_observations_keeps_a_learner_busy_for_ever() -> None:
    command = [sys.executable, "-W", "ignore", "-c", BUSY]
    ran = subprocess.run(
        command, cwd=Path(__file__).parents[1], capture_output=True, text=True, check=True, timeout=300
    )
    assert int(ran.stdout) > 0


@pytest.mark.full
def test_numbers_of_a_crafted_state_lead_no_kernel_astray_with_every_index_checked() -> None:
    refused, _ = attack(ATTACKED, 400, NUMBA_DISABLE_JIT="1")
    assert refused > 100


LITTLE_MEMORY = """
import resource, sys
import driftwise as dw
from driftwise.errors import CheckpointError
dw.OGD(dw.Ball(1), step=0.1).act()
import driftwise.checkpoint
now = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (now + 300_000_000, now + 300_000_000))
for path in sys.argv[1:]:
    try:
        dw.load(path)
    except CheckpointError as error:
        print("refused")
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory limits are Linux's")
def test_no_file_makes_loading_take_much_memory(tmp_path: Path) -> None:
    learner = dw.OGD(dw.Ball(1), step=0.1)
    sizes = [put(*WITH, "domain", "with", "dim", size) for size in (10**6, 10**9, 10**12)]
    horizon = edited(dw.rounded(dw.OGD(BOX, step=0.1)).to_bytes(), put(*WITH, "learner", "state", "round", 10**15))
    for i, data in enumerate([*(edited(learner.to_bytes(), change) for change in sizes), horizon]):
        (tmp_path / str(i)).write_bytes(data)
    paths = sorted(map(str, tmp_path.iterdir()))
    ran = subprocess.run([sys.executable, "-c", LITTLE_MEMORY, *paths], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.split() == ["refused"] * len(paths)


KILLED = """
import os, random, signal, sys, time
import numpy as np
import driftwise as dw
from driftwise.errors import DriftwiseError

path, times = sys.argv[1], int(sys.argv[2])
learner = dw.SelfTunedScream(dw.Box(np.zeros(100), np.ones(100)), switching_cost=1.0)
learner.act()
learner.observe(np.ones(100))  # what is compiled now need not be compiled in every child
learner.save(path)
rng = random.Random(0)
seen = set()
for _ in range(times):
    begun, say = os.pipe()
    child = os.fork()
    if child == 0:
        while True:
            learner.act()
            learner.observe(np.ones(100))
            learner.save(path)
            os.write(say, b"x")
    os.read(begun, 1)  # one save is over, and the next ones are on their way
    os.close(begun), os.close(say)
    time.sleep(rng.uniform(0.0, 0.006))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    learner = dw.load(path)
    seen.add(learner.round)
drafts = [name for name in os.listdir(os.path.dirname(path)) if name.endswith(".part")]
print(len(seen), learner.round, len(drafts))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_save_that_is_killed_loses_nothing(tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", KILLED, str(tmp_path / "learner"), "200"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    different, rounds, _ = map(int, ran.stdout.split())
    assert 200 == different <= rounds


def imports_of(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.split(".")[0])
    return found


def test_no_pickle_but_in_the_talk_with_workers() -> None:
    unsafe = {"pickle", "cPickle", "cloudpickle", "dill", "marshal", "shelve", "joblib", "_pickle"}
    users = {path.relative_to(SOURCE).as_posix() for path in SOURCE.rglob("*.py") if imports_of(path) & unsafe}
    assert users <= {"experiments/sweep/task.py"}


def test_no_code_of_ours_reads_pickles_of_numpy() -> None:
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.keyword) and node.arg == "allow_pickle":
                assert isinstance(node.value, ast.Constant), path
                assert node.value.value is False, path
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id not in ("eval", "exec"), path


def test_a_header_of_this_schema_is_up_to_date() -> None:
    header, arrays = unpack("test", dw.OGD(BOX, step=0.1).to_bytes())
    assert up_to_date("test", header, arrays) is header
    assert header["driftwise"] == dw.__version__
    assert issubclass(CheckpointError, DriftwiseError)
