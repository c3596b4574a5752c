"""What a committee is given, read and checked: one proposal and one loss per member, None for those that sleep."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from driftwise._validate import Array, array, describe, loose
from driftwise.errors import InputError
from driftwise.learners.committee.layout import Flags
from driftwise.losses import LossStream, RoundLoss
from driftwise.losses.base import DataLoss
from driftwise.losses.kernels import unary_values

KINDS: tuple[tuple[str, ...], ...] = ((), ("d",), ("rows", "columns"))
"""Sides of a number, a vector and a matrix."""

Proposals = Sequence[ArrayLike | None] | ArrayLike


def read_proposals(n: int, given: Proposals, shape: tuple[int, ...] | None) -> tuple[Flags, Array, tuple[int, ...]]:
    """Return who is awake, the proposals as rows (0 for sleepers), and the shape of one of them.

    `shape` is that of the rounds before, None in the first one.
    """
    owner, name = "Committee.act", "proposals"
    awake, items = _members(owner, name, n, given)
    count = len(items)
    if count == 0:
        raise InputError(
            f"{owner}: all {n} members sleep, so there is nothing to decide by; keep the last decision, or add a "
            "member that always has a proposal."
        )
    if count < n:
        name = f"proposals of those awake (members {np.flatnonzero(awake).tolist()})"
    values = loose(owner, name, items, "real numbers, vectors or matrices of one shape")
    wanted = KINDS[min(max(values.ndim - 1, 0), 2)] if shape is None else shape
    checked = array(owner, name, values, (count, *wanted), copy=True)
    if count == n:
        return awake, checked.reshape(n, -1), checked.shape[1:]
    rows = np.zeros((n, checked[0].size))
    rows[awake] = checked.reshape(count, -1)
    return awake, rows, checked.shape[1:]


def read_losses(given: object, awake: Flags, rows: Array, shape: tuple[int, ...], now: int) -> Array:
    """Return the losses of those awake (0 for sleepers), asking the loss at every proposal if it is one."""
    owner, n = "Committee.observe", awake.size
    given, function = _loss(given, now)
    if function is not None:
        return _ask(function, given, awake, rows, shape)
    known, items = _members(owner, "losses", n, given)
    if not known[awake].all():
        i = int(np.flatnonzero(awake & ~known)[0])
        raise InputError(f"{owner}: member {i} was awake in round {now}, so its loss must be a number, got None.")
    if awake.all():
        return array(owner, "losses", items, (n,))
    of_awake = [item for item, here in zip(items, awake[known], strict=True) if here]
    losses = np.zeros(n)
    losses[awake] = array(owner, "losses of those awake", of_awake, (len(of_awake),))
    return losses


def read_pair_losses(
    given: object, awake: Flags, rows: Array, points: Array, shape: tuple[int, ...], now: int
) -> tuple[Array, Array]:
    """Return the losses of the proposals, (n,), and of the points of their pairs, (n M,), by asking; 0 for sleepers."""
    given, function = _loss(given, now)
    if function is None:
        raise InputError(
            "Committee.observe: with movers every pair has a point of its own, so losses must be a loss that can be "
            "asked anywhere: a function of a decision, an object with a method value(w), losses[t] or a stream; got "
            f"{describe(given)}."
        )
    n, count, dim = points.shape
    proposed = _ask(function, given, awake, rows, shape)
    away = awake[:, None] & (points != rows[:, None]).any(axis=2)  # at its proposal a pair costs what that costs
    elsewhere = _ask(function, given, away.ravel(), points.reshape(-1, dim), shape, count).reshape(n, count)
    return proposed, np.where(away, elsewhere, proposed[:, None]).ravel()


def _loss(given: object, now: int) -> tuple[object, Callable[..., Any] | None]:
    """Return what was given, a stream as its loss of this round, and the function that it is, if it is one."""
    if isinstance(given, LossStream):
        if now >= len(given):
            raise InputError(
                f"Committee.observe: a whole stream is read at the committee's own round, {now}, and this one has "
                f"{len(given)}; give the loss of one round, such as stream[0]."
            )
        given = given[now]
    value = getattr(given, "value", None)
    function = value if callable(value) else given
    return given, function if callable(function) else None


def _ask(
    function: Callable[..., Any], given: object, which: Flags, rows: Array, shape: tuple[int, ...], movers: int = 1
) -> Array:
    """Return the loss of some rows, of which each member has `movers`; loss streams want flat vectors."""
    losses, places = np.zeros(which.size), np.flatnonzero(which)
    if type(given) is RoundLoss and isinstance(given._stream, DataLoss) and given._stream.dim == rows.shape[1]:
        losses[places] = _ask_at_once(given._stream, given._t, rows[places])
        return losses
    for j in places:
        point: Any = rows[j].copy()
        if not isinstance(given, RoundLoss):
            point = point.reshape(shape) if shape else float(point[0])
        losses[j] = array("Committee.observe", f"the loss of member {j // movers}", function(point), ())
    return losses


def _ask_at_once(stream: DataLoss, t: int, points: Array) -> Array:
    """Return the loss of one round of a built-in stream at many points."""
    terms, features, targets = stream._parts
    count = len(points)
    values = np.empty(count)
    unary_values(terms, np.tile(features[t], (count, 1)), np.full(count, targets[t]), 0, points, values)
    return array("Committee.observe", "the losses", values, (count,)) if count else values


def _members(owner: str, name: str, n: int, given: Any) -> tuple[Flags, Any]:
    """Return for whom of the n members something was given, and what."""
    try:
        if isinstance(given, str | bytes | dict | set):
            raise TypeError
        count = len(given)
    except TypeError:
        count = -1
    if count != n:
        raise InputError(f"{owner}: {name} must be {n}, one for each member, got {describe(given)}.")
    if isinstance(given, np.ndarray) and given.dtype != object:
        return np.ones(n, bool), given
    return np.array([item is not None for item in given]), [item for item in given if item is not None]
