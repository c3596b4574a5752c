"""A dataflow that is stopped in the middle and resumed ends where one ends that was never stopped."""

import os
import signal
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("bytewax")

from bytewax import operators as op
from bytewax.dataflow import Dataflow
from bytewax.errors import BytewaxRuntimeError
from bytewax.recovery import RecoveryConfig, init_db_dir
from bytewax.testing import TestingSink, TestingSource, run_main

import driftwise as dw
from driftwise.adapters import bytewax as adapter
from driftwise.adapters.bytewax import decisions
from driftwise.errors import ArgumentError, CheckpointError, InputError, MissingExtraError, ParameterError
from tests.adapters.streams import aborted, events, learner, wrong_keys

LONG = timedelta(seconds=3600)


@pytest.mark.parametrize(
    "epoch", [timedelta(0), timedelta(milliseconds=20), LONG], ids=["each batch", "often", "never"]
)
def test_no_key_is_wrong_after_two_aborts(tmp_path: Path, epoch: timedelta) -> None:
    given = events(20_000, keys=2_000)
    last, counts = aborted(given, 2, tmp_path / "store", epoch)
    assert len(last) == len({key for key, _ in given})
    assert wrong_keys(given, last) == 0
    assert sum(counts) >= 20_000
    if epoch == LONG:  # all work before an abort was lost, and was done again
        assert sum(counts) > 30_000


@pytest.mark.full
def test_no_key_of_many_is_wrong_after_two_aborts(tmp_path: Path) -> None:
    given = events(1_000_000, keys=100_000)
    last, _ = aborted(given, 2, tmp_path / "store", timedelta(seconds=2))
    assert len(last) == len({key for key, _ in given})
    assert wrong_keys(given, last) == 0


RUN = """
import sys
from pathlib import Path
from datetime import timedelta
from bytewax import operators as op
from bytewax.connectors.files import FileSource
from bytewax.dataflow import Dataflow
from bytewax.recovery import RecoveryConfig
from bytewax.testing import run_main
from driftwise.adapters.bytewax import decisions
from tests.adapters.streams import Last, learner

folder, sink = Path(sys.argv[1]), Last()
flow = Dataflow("events")
lines = op.input("in", flow, FileSource(folder / "events", batch_size=100))

def read(line):
    key, gradient = line.split()
    return key, float(gradient)

def show(event):
    print(sink.count, flush=True)
    return event

pairs = op.map("read", lines, read)
op.output("out", op.map("show", decisions("learn", pairs, learner(), buckets=16), show), sink)
run_main(flow, epoch_interval=timedelta(milliseconds=50), recovery_config=RecoveryConfig(str(folder / "store")))
(folder / "last").write_text("".join(f"{key} {w[0].hex()}\\n" for key, w in sink.last.items()))
"""


def test_no_key_is_wrong_after_two_kills(tmp_path: Path) -> None:
    given = events(6_000, keys=300)
    (tmp_path / "events").write_text("".join(f"{key} {gradient!r}\n" for key, gradient in given))
    (tmp_path / "store").mkdir()
    init_db_dir(tmp_path / "store", 1)
    root = Path(__file__).parents[2]
    paths = os.pathsep.join([str(root), str(Path(dw.__file__).parents[1])])
    command = [sys.executable, "-c", RUN, str(tmp_path)]
    environment = os.environ | {"PYTHONPATH": paths}
    for kill in (True, True, False):
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=root, env=environment) as run:
            assert run.stdout is not None
            for line in run.stdout:
                if kill and int(line) >= 1_000:
                    run.send_signal(signal.SIGKILL)
                    break
            run.stdout.read()
        assert run.returncode == (-signal.SIGKILL if kill else 0)
    rows = dict(line.split() for line in (tmp_path / "last").read_text().splitlines())
    # Keys that had no event after the second kill are not in the last run's answer.
    assert (
        wrong_keys([event for event in given if event[0] in rows], {k: [float.fromhex(v)] for k, v in rows.items()})
        == 0
    )
    assert len(rows) > 250


def run(given: list[Any], out: list[Any], folder: Path | None = None, **options: Any) -> None:
    flow = Dataflow("events")
    stream = op.input("in", flow, TestingSource(given, batch_size=10))
    op.output("out", decisions("learn", stream, options.pop("learner", learner()), **options), TestingSink(out))
    run_main(flow, recovery_config=None if folder is None else RecoveryConfig(str(folder)))


def test_the_number_of_buckets_does_not_matter() -> None:
    given, found = events(500, keys=40), []
    for buckets in (1, 7, 64):
        out: list[Any] = []
        run(given, out, buckets=buckets)
        found.append({key: [float(w[0]) for name, w in out if name == key] for key, _ in given})
    assert found[0] == found[1] == found[2]


def test_another_number_of_buckets_is_refused_on_resuming(tmp_path: Path) -> None:
    init_db_dir(tmp_path, 1)
    given = [*events(50, keys=5), TestingSource.EOF(), *events(50, keys=5)]
    run(given, [], tmp_path, buckets=4)
    with pytest.raises(CheckpointError, match="written with buckets=4, and now there are 5"):
        run(given, [], tmp_path, buckets=5)


def test_state_is_bytes_without_pickle() -> None:
    bucket = adapter._logic()(learner(), None, "raise", 4, (), None)
    bucket.on_batch([[("a", 1.0)], [("b", 2.0), ("a", 1.0)]])
    saved = bucket.snapshot()
    assert type(saved) is bytes
    again = adapter._logic()(learner(), None, "raise", 4, (), saved)
    assert again.keyed.learner("a").round == 2
    assert again.snapshot() == saved


def test_bad_events_end_the_dataflow_or_are_passed_over() -> None:
    with pytest.raises(BytewaxRuntimeError) as caught:
        run([("a", float("nan"))], [])
    assert isinstance(cause := first(caught.value), InputError)
    assert "feedback of key 'a' must be finite" in str(cause)
    out: list[Any] = []
    run([("a", 0.5), ("a", float("nan")), ("a", None)], out, on_bad_input="skip")
    assert [w.tolist() for _, w in out] == [[-0.15], [-0.15], [-0.15]]
    with pytest.raises(BytewaxRuntimeError) as caught:
        run([(3, 1.0)], [])
    assert isinstance(cause := first(caught.value), InputError)
    assert "an event must be" in str(cause)


def first(error: BaseException) -> BaseException:
    """Return what an error that bytewax raises began with."""
    while error.__cause__ is not None:
        error = error.__cause__
    return error


@pytest.mark.parametrize(
    "options", [{"learner": 3}, {"buckets": 0}, {"on_bad_input": "hide"}], ids=lambda options: next(iter(options))
)
def test_what_cannot_be_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match=next(iter(options))):
        run([], [], **options)
    with pytest.raises(ArgumentError):
        run([], [], bucket=3)


def test_a_missing_package_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "bytewax.operators", None)
    with pytest.raises(MissingExtraError, match=r"driftwise\[bytewax\]"):
        decisions("learn", None, learner())
