"""Runs of a whole fleet: a loss stream for each member."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from driftwise._validate import Array, describe
from driftwise.errors import HorizonError, InputError, ParameterError
from driftwise.fleet.crew import Crew
from driftwise.fleet.trace import FleetTrace
from driftwise.losses import LossStream
from driftwise.movecost import MoveCost, move_cost_for
from driftwise.play import play


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
    losses_of, switching = np.zeros(len(crew)), np.zeros(len(crew))
    decisions: list[Array] = []
    played: list[Any] = []
    for place, stream in enumerate(streams):
        learner = crew.member(place)
        try:
            trace = play(learner, stream, cost.simplest)
        except InputError as error:
            raise InputError(f"play, member {columns.ids[place]}: {error} Nobody has played.") from error
        losses_of[place], switching[place] = trace.total_loss, trace.total_switching
        played.append(learner)
        if record:
            decisions.append(trace.decisions)
    for place, learner in enumerate(played):
        skipped, refused = columns.skipped[place], columns.refused[place]
        crew.replace(place, learner)
        columns.skipped[place], columns.refused[place] = skipped, refused
    kept = tuple(decisions) if record else None
    return FleetTrace(columns.ids.copy(), lengths, losses_of, switching, cost.simplest, kept)


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
                f"play: stream {i} must be a LossStream of dim {crew.width}, such as SquaredLoss(features, targets), got "
                f"{describe(stream)}."
            )
    return losses
