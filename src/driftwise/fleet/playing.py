"""Runs of a whole fleet: a loss stream for each member."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from driftwise._validate import describe
from driftwise.errors import HorizonError, InputError, ParameterError
from driftwise.fleet.crew import Crew
from driftwise.fleet.threads import run_jobs, undisturbed
from driftwise.fleet.trace import FleetTrace
from driftwise.losses import LossStream
from driftwise.movecost import MoveCost, move_cost_for
from driftwise.play import play
from driftwise.trace import Trace


def play_all(crew: Crew, losses: Any, switching_cost: float | MoveCost, record: bool, workers: int) -> FleetTrace:
    """Play every member's own stream; every member continues from its state, and nobody does if one fails."""
    streams = _streams(crew, losses)
    cost = move_cost_for("play", switching_cost, crew.width)
    columns, lengths = crew.columns, np.array([len(stream) for stream in streams], np.int64)
    over = columns.rounds + lengths > columns.limits
    if over.any():
        raise HorizonError(
            f"play: members {crew.named(over, None)} would play more rounds than their horizon; build them with a "
            "larger one, or with horizon=None."
        )
    shape = () if crew.shape is None else crew.shape
    records = [np.zeros((length, *shape)) for length in lengths.tolist()] if record else []
    totals, commits = np.zeros((2, len(crew))), list[Callable[[], None]]()
    run = partial(run_jobs, workers=workers)
    for part in crew.parts(None):
        compiled = np.array([part.block.plays(streams[place]) for place in part.places.tolist()], bool)
        places = part.places[compiled]
        if places.size:
            mine = [streams[place] for place in places.tolist()]
            kept = [records[place] for place in places.tolist()] if record else []
            played = part.block.play(part.rows[compiled], mine, cost, kept, run)
            if played.failed.size:
                place = int(places[played.failed[0]])
                _one(crew, place, streams[place], cost)  # it says what is wrong, and where
            totals[0, places], totals[1, places] = played.losses, played.switching
            commits.append(played.commit)
        for place in part.places[~compiled].tolist():
            learner, trace = _one(crew, place, streams[place], cost)
            # Added in the order of the rounds, as compiled loops do.
            totals[:, place] = [float(np.cumsum(costs)[-1]) for costs in (trace.losses, trace.move_costs)]
            if record:
                records[place][:] = trace.decisions
            commits.append(partial(_come_back, crew, place, learner))
    with undisturbed():
        for commit in commits:
            commit()
        columns.rounds += lengths
        columns.acted[:] = columns.current[:] = False
    decisions, indexes = (tuple(records), tuple(stream.index for stream in streams)) if record else (None, None)
    return FleetTrace(columns.ids.copy(), lengths, totals[0], totals[1], cost.simplest, decisions, indexes)


def _one(crew: Crew, place: int, stream: LossStream, cost: MoveCost) -> tuple[Any, Trace]:
    """Play one member by itself."""
    learner = crew.member(place)
    try:
        return learner, play(learner, stream, cost.simplest)
    except InputError as error:
        raise InputError(
            f"play, member {crew.columns.ids[place]}: {error} That goes for the whole fleet: nobody has played."
        ) from error


def _come_back(crew: Crew, place: int, learner: Any) -> None:
    """Put a member back that has played by itself."""
    columns = crew.columns
    kept = columns.rounds[place]
    crew.replace(place, learner)
    columns.rounds[place] = kept  # the run is counted for everybody at once


def _streams(crew: Crew, losses: Any) -> Sequence[LossStream]:
    """Return one stream for each member."""
    if crew.committees:
        raise ParameterError("play: committees need proposals; play them one by one, as play(fleet.member(id), ...).")
    if isinstance(losses, LossStream) or not isinstance(losses, Sequence):
        raise InputError(
            f"play: a fleet plays a sequence of loss streams, one for each of its {len(crew)} members, got "
            f"{describe(losses)}; for the same stream for all give [losses] * {len(crew)}."
        )
    if len(losses) != len(crew):
        raise InputError(f"play: there must be {len(crew)} streams, one for each member, got {len(losses)}.")
    for i, stream in enumerate(losses):
        if not isinstance(stream, LossStream) or stream.dim != crew.width:
            raise InputError(
                f"play: stream {i} must be a LossStream of dim {crew.width}, such as SquaredLoss(x, y), got "
                f"{describe(stream)}."
            )
    return losses
