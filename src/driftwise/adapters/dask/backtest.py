"""Backtests of many series: what learners would have decided and paid, with one task for each shard of the series."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from driftwise._validate import checked, describe, instance, number, whole
from driftwise.adapters.dask.link import PATIENCE, Cluster
from driftwise.adapters.dask.shard import Buffer, Outcome, as_buffer, tried
from driftwise.checkpoint import from_bytes
from driftwise.errors import InputError, ParameterError
from driftwise.fleet import Fleet, FleetTrace
from driftwise.learners import Learner
from driftwise.losses import LossStream
from driftwise.movecost import MoveCost
from driftwise.play import play

OWNER = "backtest"
TASKS = 4
"""Tasks for each worker, so that one that is slow does not keep all others waiting."""


@checked
def backtest(
    client: Any,
    learner: Learner | Fleet,
    losses: Sequence[LossStream],
    switching_cost: float | MoveCost = 0.0,
    *,
    record: bool = False,
    shards: int | None = None,
    patience: float = PATIENCE,
    classes: Sequence[type] = (),
) -> FleetTrace:
    """Play many series on a Dask cluster, each with a learner of its own, and return the costs of all of them.

    One task plays the series of one shard. The result is that of ``play(fleet, losses, switching_cost)``, bit for bit,
    however many workers and shards there are; the task of a worker that is killed is run again on another.

    Parameters
    ----------
    client : distributed.Client
        A client of the cluster.
    learner : Learner or Fleet
        What every series is played with a copy of; or a fleet with a member for each. It is left as it was.
    losses : sequence of LossStream
        The series, of any lengths.
    switching_cost : float or MoveCost, default 0.0
        As for `play`.
    record : bool, default False
        Keep all decisions, and not only totals.
    shards : int, optional
        Number of tasks; by default 4 for each worker.
    patience : float, default 60.0
        Longest time in seconds to be without any worker.
    classes : sequence of types, optional
        Classes of learners that are not driftwise's own, as for `load`.

    Returns
    -------
    FleetTrace
        Totals for each series, in their order.

    Examples
    --------
    >>> import distributed
    >>> import driftwise as dw
    >>> from driftwise.adapters.dask import backtest
    >>> series = [dw.TrackingLoss([[0.5, 0.1 * k]] * 20) for k in range(3)]
    >>> learner = dw.SelfTunedScream(dw.Ball(2), switching_cost=1.0)
    >>> with distributed.Client(processes=False, n_workers=1, dashboard_address=None, set_as_default=False) as client:
    ...     trace = backtest(client, learner, series, switching_cost=1.0)
    >>> trace.total.round(3), bool((trace.total == dw.play(dw.Fleet(learner, 3), series, 1.0).total).all())
    (array([1.386, 1.429, 1.556]), True)
    """
    cluster = Cluster(OWNER, client, number(OWNER, "patience", patience, low=0.0, exclusive=True))
    if not isinstance(learner, Learner | Fleet):
        raise ParameterError(f"{OWNER}: learner must be a Learner or a Fleet, got {describe(learner)}.")
    if isinstance(losses, LossStream) or not isinstance(losses, Sequence) or not losses:
        raise InputError(f"{OWNER}: losses must be loss streams, one for each series, got {describe(losses)}.")
    for stream in losses:
        instance(OWNER, "every one of losses", stream, LossStream, "TrackingLoss(series)")
    if isinstance(learner, Fleet) and len(learner) != len(losses):
        raise InputError(f"{OWNER}: there are {len(losses)} series for the {len(learner)} members of the fleet.")
    instance(OWNER, "record", record, bool, "True")
    count = None if shards is None else whole(OWNER, "shards", shards)
    count = min(count or TASKS * cluster.wait_for_workers(), len(losses))
    futures = [
        client.submit(
            _play_shard,
            _part(learner, places),
            [losses[i] for i in places.tolist()],
            switching_cost,
            record,
            classes,
            pure=False,
        )
        for places in np.array_split(np.arange(len(losses)), count)
    ]
    try:
        traces = [cluster.result(future) for future in futures]
    finally:
        for future in futures:
            future.release()
    return _joined(traces, learner)


def _part(learner: Learner | Fleet, places: Any) -> Buffer:
    """Return who plays some of the series, as bytes."""
    if isinstance(learner, Learner):
        return as_buffer(learner.to_bytes())
    part, ids = learner.clone(), learner.ids
    part.remove(np.setdiff1d(ids, ids[places], assume_unique=True))
    return as_buffer(part.to_bytes())


def _play_shard(
    who: Buffer, losses: list[LossStream], switching_cost: float | MoveCost, record: bool, classes: Sequence[type]
) -> Outcome:
    return tried(_played, who, losses, switching_cost, record, classes)


def _played(
    who: Buffer, losses: list[LossStream], switching_cost: float | MoveCost, record: bool, classes: Sequence[type]
) -> FleetTrace:
    learner = from_bytes(who.tobytes(), classes=classes)
    fleet = learner if isinstance(learner, Fleet) else Fleet(learner, len(losses))
    trace: FleetTrace = play(fleet, losses, switching_cost, record=record)
    return trace


def _joined(traces: list[FleetTrace], learner: Learner | Fleet) -> FleetTrace:
    rounds = np.concatenate([trace.rounds for trace in traces])
    return FleetTrace(
        learner.ids if isinstance(learner, Fleet) else np.arange(rounds.size),
        rounds,
        np.concatenate([trace.total_loss for trace in traces]),
        np.concatenate([trace.total_switching for trace in traces]),
        traces[0].switching_cost,
        None if traces[0].decisions is None else tuple(one for trace in traces for one in trace.decisions or ()),
        None if traces[0].indexes is None else tuple(one for trace in traces for one in trace.indexes or ()),
    )
