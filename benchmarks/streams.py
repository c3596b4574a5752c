"""Count the keys that are wrong after a bytewax dataflow was aborted and resumed, and the events a second.

Run with ``python benchmarks/streams.py``. Every event is the gradient of a learner of one of many keys; recovery is on,
and the dataflow is aborted in the middle. The decisions at the end are compared with those of learners that are fed
directly. Beside it, in the same run and with the same recovery, the same events through an operator that counts the
events of each key and does nothing else.
"""

import argparse
import platform
import tempfile
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
from bytewax import operators as op
from bytewax.dataflow import Dataflow
from bytewax.inputs import AbortExecution, FixedPartitionedSource, StatefulSourcePartition
from bytewax.operators import StatefulBatchLogic
from bytewax.outputs import DynamicSink, StatelessSinkPartition
from bytewax.recovery import RecoveryConfig, init_db_dir
from bytewax.testing import run_main

import driftwise as dw
from driftwise.adapters.bytewax import decisions

EPOCH = timedelta(seconds=10)
"""bytewax's own default: state is saved this often."""

BATCH = 1000
"""Events that the source gives at once, as a Kafka consumer does."""


class Events(FixedPartitionedSource[Any, int]):
    """Events from a list; the run is aborted at some places, at each once."""

    def __init__(self, given: list[Any], stops: list[int]) -> None:
        """Return the count."""
        self.given, self.stops = given, stops

    def list_parts(self) -> list[str]:
        """Return the name of the only part."""
        return ["all"]

    def build_part(self, step_id: str, for_part: str, resume_state: int | None) -> "Part":
        """Begin, or go on from a place that was saved."""
        return Part(self, resume_state or 0)


class Part(StatefulSourcePartition[Any, int]):
    """The place in the list."""

    def __init__(self, source: Events, place: int) -> None:
        """Return the place."""
        self.source, self.place = source, place

    def next_batch(self) -> list[Any]:
        """Return the next events, or abort."""
        source, start = self.source, self.place
        if source.stops and source.stops[0] <= start:
            del source.stops[0]
            raise AbortExecution
        if start >= len(source.given):
            raise StopIteration
        self.place = min(start + BATCH, *source.stops[:1], len(source.given))
        return source.given[start : self.place]

    def snapshot(self) -> int:
        """Return the place."""
        return self.place


class Last(DynamicSink[Any]):
    """Keeps the last item of each key."""

    def __init__(self) -> None:
        self.last: dict[str, Any] = {}
        self.count = 0

    def build(self, step_id: str, worker_index: int, worker_count: int) -> "Keeper":
        """Return what writes for a worker."""
        return Keeper(self)


class Keeper(StatelessSinkPartition[Any]):
    """Writes to its sink."""

    def __init__(self, sink: Last) -> None:
        """Return the count."""
        self.sink = sink

    def write_batch(self, items: list[Any]) -> None:
        """Keep items."""
        self.sink.last.update(items)
        self.sink.count += len(items)


class Counter(StatefulBatchLogic[Any, int, int]):
    """The state of a key in the empty operator: how many events it had."""

    def __init__(self, count: int | None) -> None:
        """Return the count."""
        self.count = count or 0

    def on_batch(self, values: list[Any]) -> tuple[list[int], bool]:
        """Count events."""
        self.count += len(values)
        return [self.count] * len(values), False

    def snapshot(self) -> int:
        """Return the count."""
        return self.count


def counting(step_id: str, stream: Any) -> Any:
    """Return the empty operator."""
    return op.stateful_batch(step_id, stream, Counter)


def deciding(step_id: str, stream: Any) -> Any:
    """Return the operator with a learner for every key."""
    return decisions(step_id, stream, learner())


def learner() -> dw.Learner:
    """Return what every key begins with."""
    return dw.SelfTunedScream(dw.Box([-1.0], [1.0]), switching_cost=0.2)


def events(count: int, keys: int) -> list[tuple[str, float]]:
    """Return events of keys that are drawn at random."""
    rng = np.random.default_rng(0)
    names = [f"key-{i}" for i in rng.integers(0, keys, count)]
    return list(zip(names, rng.normal(size=count).tolist(), strict=True))


def run(operator: Any, given: list[Any], aborts: int) -> tuple[Last, float, float]:
    """Run all events, with aborts; return what came out, seconds of the processors and of the clock."""
    source, sink = Events(given, [len(given) * (i + 1) // (aborts + 1) for i in range(aborts)]), Last()
    with tempfile.TemporaryDirectory() as folder:
        init_db_dir(Path(folder), 1)
        start, clock = time.process_time(), time.perf_counter()
        for _ in range(aborts + 1):
            flow = Dataflow("events")
            stream = op.input("in", flow, source)
            op.output("out", operator("keys", stream), sink)
            run_main(flow, epoch_interval=EPOCH, recovery_config=RecoveryConfig(folder))
        return sink, time.process_time() - start, time.perf_counter() - clock


def wrong_keys(given: list[tuple[str, float]], last: dict[str, Any]) -> int:
    """Return for how many keys the last decision is not that of a learner that is fed directly, bit for bit."""
    gradients: dict[str, list[float]] = {}
    for key, gradient in given:
        gradients.setdefault(key, []).append(gradient)
    wrong = 0
    for key, numbers in gradients.items():
        one = learner()
        for gradient in numbers:
            one.act()
            one.observe([gradient])
        wrong += key not in last or last[key].tobytes() != one.act().tobytes()
    return wrong


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--keys", type=int, default=100_000)
    parser.add_argument("--aborts", type=int, default=2)
    options = parser.parse_args()
    given = events(options.events, options.keys)
    run(deciding, given[: BATCH // 10], 0)  # compiles
    print(
        f"{platform.machine()}, Python {platform.python_version()}, "
        f"state saved every {EPOCH.seconds} s, batches of {BATCH}\n"
    )
    print(f"{'operator':<34}{'events':>9}{'done':>9}{'aborts':>7}{'us/event':>10}{'events/s':>10}")
    rows = [
        ("empty, one state a key", counting, 0),
        ("a learner a key", deciding, 0),
        ("a learner a key, aborted", deciding, options.aborts),
    ]
    for name, operator, aborts in rows:
        sink, seconds, clock = run(operator, given, aborts)
        # Seconds of the processors: a busy machine does not change them much. Work that is lost is done again.
        each = seconds / sink.count * 1e6
        print(f"{name:<34}{len(given):>9}{sink.count:>9}{aborts:>7}{each:>10.1f}{sink.count / clock:>10.0f}")
    print(f"\nkeys {len(sink.last)}, wrong after {options.aborts} aborts: {wrong_keys(given, sink.last)}")


if __name__ == "__main__":
    main()
