"""What is saved of controllers that identify plants: the rounds they have seen, estimates, models, and what they did."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from driftwise._saving import expect
from driftwise._validate import Array, array, instance, number, read_only, whole
from driftwise.control.controllers.base import Controller
from driftwise.control.controllers.guard import Event
from driftwise.control.costs.tables import rows_of, table_of
from driftwise.control.identification.identify import Identified
from driftwise.control.identification.past import Round
from driftwise.control.identification.tracking import TAPS, Model, Tracker
from driftwise.errors import CheckpointError


def saved_rounds(rounds: Sequence[Round]) -> dict[str, Any] | None:
    """Return rounds as arrays, None if there are none."""
    if not rounds:
        return None
    states, inputs, probes, costs = zip(*rounds, strict=True)
    return {"states": np.array(states), "inputs": np.array(inputs), "probes": np.array(probes), **table_of(costs)}


def resumed_rounds(owner: str, saved: dict[str, Any] | None, states: int, inputs: int) -> list[Round]:
    """Return the rounds that were saved, after checking them."""
    if saved is None:
        return []
    rows = array(owner, "states", saved["states"], ("rounds", states))
    applied, probes = (array(owner, name, saved[name], (len(rows), inputs)) for name in ("inputs", "probes"))
    costs = rows_of(owner, saved, len(rows))
    for cost in {id(cost): cost for cost in costs}.values():
        cost.probe(states, inputs)
    return [Round(*each) for each in zip(rows, applied, probes, costs, strict=True)]


def saved_events(events: Iterable[Event]) -> list[list[Any]]:
    """Return events as plain values."""
    return [list(event) for event in events]


def resumed_events(owner: str, saved: list[list[Any]]) -> list[Event]:
    """Return the events that were saved, after checking them."""
    events = [Event(whole(owner, "round", played, low=0), status, text) for played, status, text in saved]
    expect(owner, "a log", {"texts": all(isinstance(part, str) for event in events for part in event[1:])})
    return events


def resumed_inside(owner: str, saved: Any, states: int, inputs: int) -> Controller | None:
    """Return a controller that was saved inside another, None if there was none."""
    if saved is None:
        return None
    if not isinstance(saved, Controller) or (saved.state_dim, saved.input_dim) != (states, inputs):
        raise CheckpointError(f"{owner}: a controller of {states} states and {inputs} inputs was expected inside.")
    return saved


def whole_or_none(owner: str, name: str, saved: Any) -> int | None:
    """Return a count that was saved, or None."""
    return None if saved is None else whole(owner, name, saved, low=0)


def saved_estimate(found: Identified | None) -> dict[str, Any] | None:
    """Return an estimate by the names of its parts; copies forget which arrays are read-only, and so does this."""
    if found is None:
        return None
    return {name: part.copy() if isinstance(part, np.ndarray) else part for name, part in vars(found).items()}


def resumed_estimate(owner: str, saved: dict[str, Any] | None, states: int, inputs: int) -> Identified | None:
    """Return the estimate that was saved, after checking it."""
    if saved is None:
        return None
    changes = saved["changes"]
    if changes is not None:
        changes = read_only(array(owner, "changes", changes, ("any", states, states + inputs)))
    A, B = (
        read_only(array(owner, name, saved[name], (states, n))) for name, n in zip("AB", (states, inputs), strict=True)
    )
    names = ("error", "error_A", "error_B", "error_loop")
    errors = [number(owner, name, saved[name], low=0.0) for name in names]
    counts = [whole(owner, name, saved[name]) for name in ("order", "rounds")]
    method = instance(owner, "method", saved["method"], str, "'iv'")
    return Identified(A, B, *errors, method, *counts, changes)


_SHAPES: Mapping[str, tuple[str, ...]] = {
    "matrix": ("n", "both"),
    "taps": ("taps",),
    "offset": ("n",),
    "spread": ("n", "n"),
    "largest": ("n",),
    "energy": ("n",),
    "noise": ("n", "n"),
    "doubt": ("both", "both"),
}
"""Shapes of the arrays of a model, and of a tracker, in letters."""

_OF_MODEL, _OF_TRACKER = ("matrix", "taps", "offset", "spread"), ("largest", "energy", "noise", "doubt")


def saved_tracker(tracker: Tracker) -> dict[str, Any]:
    """Return what a tracker knows."""
    models = [tracker.nominal, tracker.current, tracker.fitted]
    return {
        "models": [None if one is None else [getattr(one, name) for name in _OF_MODEL] for one in models],
        "arrays": [getattr(tracker, name) for name in _OF_TRACKER],
        "watched": tracker.watched,
        "rounds": tracker.rounds,
    }


def resume_tracker(owner: str, tracker: Tracker, saved: dict[str, Any]) -> None:
    """Let a new tracker know what was saved, after checking it."""
    n, both = tracker.nominal.matrix.shape
    sides = {"n": n, "both": both, "taps": TAPS}

    def read(names: tuple[str, ...], given: Sequence[Any]) -> list[Array]:
        for name, part in zip(names, given, strict=True):
            shape = tuple(sides[side] for side in _SHAPES[name])
            # Squares of states may be beyond what an argument may be.
            fits = isinstance(part, np.ndarray) and part.dtype == np.float64 and part.shape == shape
            expect(owner, "a model", {name: fits and np.isfinite(part).all()})
        return list(given)

    models = [None if one is None else Model(*read(_OF_MODEL, one)) for one in saved["models"]]
    nominal, current, fitted = models
    if nominal is None or current is None or not np.array_equal(nominal.matrix, tracker.nominal.matrix):
        raise CheckpointError(f"{owner}: it goes by another plant than the one that it was made for.")
    tracker.nominal, tracker.current, tracker.fitted = nominal, current, fitted
    for name, part in zip(_OF_TRACKER, read(_OF_TRACKER, saved["arrays"]), strict=True):
        setattr(tracker, name, part)
    tracker.watched = whole(owner, "watched", saved["watched"], low=0)
    tracker.rounds = number(owner, "rounds", saved["rounds"], low=0.0)
