"""A learner for every key of a bytewax stream, which recovery brings back exactly as it was.

bytewax keeps the state of an operator by key, and in Python an event costs it some twenty microseconds. So keys are
gathered in *buckets* by a hash: a bucket is what bytewax knows as a key, its state is one fleet with a member for each
of our keys, and the events of a batch that fall into it are one item. bytewax saves a bucket that had events, at the
end of an epoch, as bytes that `to_bytes` made, so that nothing of driftwise is ever pickled into the recovery store.
"""

import zlib
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any

import numpy as np

from driftwise._container import pack, unpack
from driftwise._extras import optional
from driftwise._validate import checked, choice, describe, whole
from driftwise.adapters.keyed import Keyed, Maker, Reading
from driftwise.errors import CheckpointError, InputError, ParameterError
from driftwise.learners import Learner

__all__ = ["decisions"]

OWNER = "bytewax.decisions"
BUCKETS = 64


@checked
def decisions(
    step_id: str,
    up: Any,
    learner: Maker,
    *,
    feedback: Reading | None = None,
    buckets: int = BUCKETS,
    on_bad_input: str | None = None,
    classes: Sequence[type] = (),
) -> Any:
    """Give every key of a stream a learner of its own: events in, decisions out.

    The event ``(key, value)`` tells the learner of this key what its present decision has cost, and ``(key, decision)``
    follows, the decision of the next round, in the order of the key's events. The first event of a key is about the
    learner's first decision. An event with the value None asks for the present decision and teaches nothing.

    After a crash the dataflow goes on from the last epoch that was saved, and every learner is bit for bit the one that
    never stopped, if the source reads again what came after (as Kafka's or a file's does).

    Parameters
    ----------
    step_id : str
        Name of the step in the dataflow; the same in every run.
    up : KeyedStream
        Of ``(key, value)``, where keys are texts.
    learner : Learner or callable
        What the learner of a new key begins as; or a function of the key that makes it.
    feedback : callable, optional
        ``feedback(decision, value)`` returns the gradient at the decision, or a loss, or None. By default the value
        itself is the gradient (a number, if decisions have one coordinate), a loss such as ``stream[t]``, or None.
    buckets : int, default 64
        Groups of keys. A bucket lives on one worker of the dataflow and is saved as a whole; it cannot be changed while
        there is a recovery store. Use 20 or more for each worker.
    on_bad_input : {"raise", "skip"}, optional
        By default as a learner that is given has it, or "raise". What to do with feedback of the wrong shape, NaN or
        infinity: end the dataflow with an `InputError` that names the key, or let the key's round end without feedback.
    classes : sequence of types, optional
        Classes of learners that are not driftwise's own, as for `load`.

    Returns
    -------
    KeyedStream
        Of ``(key, decision)``; a decision is a read-only array of shape (d,).

    Examples
    --------
    >>> import numpy as np
    >>> import bytewax.operators as op
    >>> from bytewax.dataflow import Dataflow
    >>> from bytewax.testing import TestingSink, TestingSource, run_main
    >>> import driftwise as dw
    >>> from driftwise.adapters.bytewax import decisions
    >>> sales = [("tea", 7.0), ("milk", 1.0), ("tea", 8.0), ("milk", 2.0), ("tea", 8.0)]
    >>> stock = dw.OGD(dw.Box([0.0], [10.0]), step=1.0)
    >>> flow, out = Dataflow("shop"), []
    >>> events = op.input("sales", flow, TestingSource(sales))
    >>> decided = decisions("stock", events, stock, feedback=lambda w, sold: np.sign(w - sold))
    >>> op.output("out", decided, TestingSink(out))
    >>> run_main(flow)
    >>> [(key, w.round(2).tolist()) for key, w in out]
    [('tea', [1.0]), ('milk', [1.0]), ('tea', [2.0]), ('milk', [2.0]), ('tea', [3.0])]
    """
    op = optional(OWNER, "bytewax.operators", "bytewax")
    if not isinstance(learner, Learner) and not callable(learner):
        raise ParameterError(
            f"{OWNER}: learner must be a Learner, or a function that makes one, got {describe(learner)}."
        )
    count = whole(OWNER, "buckets", buckets)
    if on_bad_input is not None:
        choice(OWNER, "on_bad_input", on_bad_input, ("raise", "skip"))
    logic = _logic()

    def build(saved: bytes | None) -> Any:
        return logic(learner, feedback, on_bad_input, count, classes, saved)

    routed = op.flat_map_batch(f"{step_id}_route", up, _router(count))
    told = op.stateful_batch(step_id, routed, build)
    return op.flat_map_batch(f"{step_id}_decisions", told, _flat)


def _router(buckets: int) -> Callable[[list[Any]], Iterable[tuple[str, list[tuple[str, Any]]]]]:
    def route(batch: list[Any]) -> Iterable[tuple[str, list[tuple[str, Any]]]]:
        """Gather the events of a batch by bucket; those of a key stay in their order."""
        gathered: dict[int, list[tuple[str, Any]]] = {}
        for event in batch:
            try:
                # Not hash(), which differs from process to process.
                bucket = zlib.crc32(event[0].encode()) % buckets
            except (TypeError, AttributeError, IndexError, KeyError):
                raise InputError(
                    f"{OWNER}: an event must be (key, value) with a text as key, got {event!r:.80}."
                ) from None
            gathered.setdefault(bucket, []).append(event)
        return [(str(bucket), events) for bucket, events in gathered.items()]

    return route


def _flat(batch: list[tuple[str, list[Any]]]) -> list[Any]:
    return [decided for _, events in batch for decided in events]


@cache
def _logic() -> type:
    """Return the class of a bucket's state; bytewax wants one derived from its own."""
    base: Any = optional(OWNER, "bytewax.operators", "bytewax").StatefulBatchLogic

    class Bucket(base):  # type: ignore[misc]
        def __init__(
            self,
            learner: Maker,
            feedback: Reading | None,
            on_bad_input: str | None,
            buckets: int,
            classes: Sequence[type],
            saved: bytes | None,
        ) -> None:
            self.keyed, self.buckets = Keyed(learner, feedback, on_bad_input), buckets
            if saved is not None:
                self.keyed.resume(_opened(saved, buckets), classes)

        def on_batch(self, values: list[list[tuple[str, Any]]]) -> tuple[list[Any], bool]:
            return [self.keyed.play([event for events in values for event in events])], False

        def snapshot(self) -> bytes:
            inner = np.frombuffer(self.keyed.to_bytes(), np.uint8)
            return b"".join(pack({"buckets": self.buckets}, {"keyed": inner}))

    return Bucket


def _opened(saved: bytes, buckets: int) -> bytes:
    header, arrays = unpack(OWNER, saved)
    if header.get("buckets") != buckets or arrays.keys() != {"keyed"}:
        raise CheckpointError(
            f"{OWNER}: the recovery store was written with buckets={header.get('buckets')}, and now there are {buckets}"
            ": keys would be looked for in other buckets. Give the number that it was."
        )
    return arrays["keyed"].tobytes()
