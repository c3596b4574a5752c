"""What a committee is given, read and checked: one proposal and one loss per member, with None for who sleeps."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from driftwise._validate import Array, array, describe, loose
from driftwise.errors import InputError
from driftwise.learners.committee.weights import Flags
from driftwise.losses import LossStream, RoundLoss

KINDS: tuple[tuple[str, ...], ...] = ((), ("d",), ("rows", "columns"))
"""Sides of a number, a vector and a matrix."""

Proposals = Sequence[ArrayLike | None] | ArrayLike


def read_proposals(n: int, given: Proposals, shape: tuple[int, ...] | None) -> tuple[Flags, Array, tuple[int, ...]]:
    """Return who is awake, the proposals as rows (0 for sleepers), and the shape of one of them.

    `shape` is that of the rounds before, None in the first one.
    """
    owner = "Committee.act"
    items = _members(owner, "proposals", n, given)
    awake = np.fromiter((item is not None for item in items), bool, n)
    count = int(np.count_nonzero(awake))
    if count == 0:
        raise InputError(
            f"{owner}: all {n} members sleep, so there is nothing to decide by; keep the last decision, or add a "
            "member that always has a proposal."
        )
    given = given if count == n else [item for item in items if item is not None]  # type: ignore[misc]
    name = "proposals" if count == n else "proposals of those awake"
    values = loose(owner, name, given, "real numbers, vectors or matrices of one shape")  # type: ignore[arg-type]
    wanted = KINDS[min(max(values.ndim - 1, 0), 2)] if shape is None else shape
    checked = array(owner, name, values, (count, *wanted), copy=True)
    rows = np.zeros((n, checked[0].size))
    rows[awake] = checked.reshape(count, -1)
    return awake, rows, checked.shape[1:]


def read_losses(given: object, awake: Flags, rows: Array, shape: tuple[int, ...], now: int) -> Array:
    """Return the losses of those awake (0 for sleepers), asking the loss at every proposal if it is one."""
    owner, n = "Committee.observe", awake.size
    if isinstance(given, LossStream):
        if now >= len(given):
            raise InputError(
                f"{owner}: a whole stream is read at the committee's own round, {now}, and this one has "
                f"{len(given)}; give the loss of one round, such as stream[0]."
            )
        given = given[now]
    value = getattr(given, "value", None)
    function = value if callable(value) else given
    if callable(function):
        return _ask(function, isinstance(given, RoundLoss), awake, rows, shape)
    items = _members(owner, "losses", n, given)
    missing = [i for i, item in enumerate(items) if item is None and awake[i]]
    if missing:
        raise InputError(f"{owner}: member {missing[0]} was awake in round {now}, so its loss must be a number, got None.")
    known = [item if here else 0.0 for item, here in zip(items, awake, strict=True)]
    return array(owner, "losses", known, (n,))


def _ask(function: Callable[..., Any], flat: bool, awake: Flags, rows: Array, shape: tuple[int, ...]) -> Array:
    """Return the loss of every proposal of those awake; a loss stream's own losses want flat vectors."""
    losses = np.zeros(awake.size)
    for i in np.flatnonzero(awake):
        point: Any = rows[i].copy()
        if not flat:
            point = point.reshape(shape) if shape else float(point[0])
        losses[i] = array("Committee.observe", f"the loss of member {i}", function(point), ())
    return losses


def _members(owner: str, name: str, n: int, given: object) -> list[Any]:
    """Return what was given for each of the n members."""
    try:
        if isinstance(given, str | bytes | dict):
            raise TypeError
        items = list(given)  # type: ignore[call-overload]
    except TypeError:
        items = None  # type: ignore[assignment]
    if items is None or len(items) != n:
        raise InputError(f"{owner}: {name} must be {n}, one for each member, got {describe(given)}.")
    return items
