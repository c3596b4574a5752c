"""A bytewax dataflow to be stopped in the middle: events, and the learners that they make when nothing stops."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
from bytewax import operators as op
from bytewax.dataflow import Dataflow
from bytewax.inputs import AbortExecution, FixedPartitionedSource, StatefulSourcePartition
from bytewax.outputs import DynamicSink, StatelessSinkPartition
from bytewax.recovery import RecoveryConfig, init_db_dir
from bytewax.testing import run_main

import driftwise as dw
from driftwise.adapters.bytewax import decisions

BATCH = 500


def learner() -> dw.Learner:
    return dw.OGD(dw.Box([-1.0], [1.0]), step=0.3)


def events(count: int, keys: int) -> list[tuple[str, float]]:
    rng = np.random.default_rng(11)
    return list(zip([f"k{key}" for key in rng.integers(0, keys, count)], rng.normal(size=count).tolist(), strict=True))


class Last(DynamicSink[Any]):
    """Keeps the last decision of each key, and counts."""

    def __init__(self) -> None:
        self.last: dict[str, Any] = {}
        self.count = 0

    def build(self, step_id: str, worker_index: int, worker_count: int) -> "Last.Part":
        return Last.Part(self)

    class Part(StatelessSinkPartition[Any]):
        def __init__(self, sink: "Last") -> None:
            self.sink = sink

        def write_batch(self, items: list[Any]) -> None:
            self.sink.last.update(items)
            self.sink.count += len(items)


class Events(FixedPartitionedSource[Any, int]):
    """Events from a list, with aborts before some of them, each once.

    Not bytewax's TestingSource: that does not count its own ABORT in the place that it saves, so that after a second
    abort it gives the event before the place where it was once more.
    """

    def __init__(self, given: list[Any], stops: list[int], batch: int = BATCH) -> None:
        self.given, self.stops, self.batch = given, stops, batch

    def list_parts(self) -> list[str]:
        return ["all"]

    def build_part(self, step_id: str, for_part: str, resume_state: int | None) -> "Events.Part":
        return Events.Part(self, resume_state or 0)

    class Part(StatefulSourcePartition[Any, int]):
        def __init__(self, source: "Events", place: int) -> None:
            self.source, self.place = source, place

        def next_batch(self) -> list[Any]:
            source, start = self.source, self.place
            if source.stops and source.stops[0] <= start:
                del source.stops[0]
                raise AbortExecution
            if start >= len(source.given):
                raise StopIteration
            self.place = min(start + source.batch, *source.stops[:1], len(source.given))
            return source.given[start : self.place]

        def snapshot(self) -> int:
            return self.place


def dataflow(source: Events, sink: Last) -> Dataflow:
    flow = Dataflow("events")
    stream = op.input("in", flow, source)
    op.output("out", decisions("learn", stream, learner(), buckets=16), sink)
    return flow


def aborted(given: list[Any], times: int, folder: Path, epoch: timedelta) -> tuple[dict[str, Any], list[int]]:
    """Run events through a dataflow that is aborted and resumed; return last decisions and events of each run."""
    source = Events(given, [len(given) * (i + 1) // (times + 1) for i in range(times)])
    folder.mkdir(exist_ok=True)
    init_db_dir(folder, 1)
    sink, counts = Last(), []
    for _ in range(times + 1):
        before = sink.count
        run_main(dataflow(source, sink), epoch_interval=epoch, recovery_config=RecoveryConfig(str(folder)))
        counts.append(sink.count - before)
    return sink.last, counts


def wrong_keys(given: list[Any], last: dict[str, Any]) -> int:
    """Return how many keys have another decision than a learner that is fed directly."""
    alone: dict[str, dw.Learner] = {}
    for key, gradient in given:
        one = alone.get(key)
        if one is None:
            one = alone[key] = learner()
        one.act()
        one.observe([gradient])
    return sum(key not in last or not np.array_equal(last[key], one.act()) for key, one in alone.items())
