"""Learners that are to join a fleet: a list of them, many copies of one, or copies that differ in a few settings."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from driftwise._saving import build
from driftwise._validate import Array, Indices, array, describe, loose
from driftwise.errors import CheckpointError, DriftwiseError, ParameterError
from driftwise.learners import Learner
from driftwise.movecost import MoveCost


class Source(NamedTuple):
    """Who is to join.

    Attributes
    ----------
    patterns : list of learners
        Those that differ by more than their first decision.
    which : array of int64, shape (count,)
        The pattern of each newcomer.
    starts : array of shape (count, dim), or None
        First decisions of newcomers that have not begun, if they are not those of their patterns.
    """

    patterns: list[Any]
    which: Indices
    starts: Array | None = None

    def learner(self, i: int) -> Any:
        """Return a newcomer."""
        pattern = self.patterns[self.which[i]]
        return pattern.clone() if self.starts is None else rebuilt("Fleet", pattern, start=self.starts[i].copy())

    def only(self, some: Indices) -> Self:
        """Return some of the newcomers."""
        used, which = np.unique(self.which[some], return_inverse=True)
        starts = None if self.starts is None else self.starts[some]
        return type(self)([self.patterns[i] for i in used.tolist()], which.astype(np.int64), starts)


def rebuilt(owner: str, learner: Any, **settings: Any) -> Any:
    """Return a new learner with the configuration of another one, except for some settings."""
    kind = type(learner)
    try:
        given = {**learner._configuration()}
        if "radius" in settings:
            domain, radius = given["domain"], settings.pop("radius")
            if "radius" not in domain._configuration():
                raise ParameterError(f"{owner}: radius goes with domains that have one, such as Ball, got {domain!r}.")
            given["domain"] = build(type(domain), {**domain._configuration(), "radius": radius})
        for name in settings.keys() - given.keys():
            raise ParameterError(f"{owner}: {kind.__name__} has no {name}, so members cannot differ in it.")
        return build(kind, {**given, **settings})
    except CheckpointError as error:
        raise ParameterError(
            f"{owner}: members differ in their settings, so each must be built anew. {error}"
        ) from None


def copies(
    learner: Any, count: int, switching_cost: Any = None, start: ArrayLike | None = None, radius: Any = None
) -> Source:
    """Return `count` copies of a learner, with a price, a first decision and a radius for each where they are given."""
    which = np.zeros(count, np.int64)
    if switching_cost is None and start is None and radius is None:
        return Source([learner], which)
    if learner.round or learner._acted is not None:
        raise ParameterError("Fleet: switching_cost, start and radius are for members that have not begun yet.")
    settings: dict[str, Sequence[Any]] = {}
    for name, given in (("switching_cost", switching_cost), ("radius", radius)):
        if given is not None:
            settings[name] = _each(name, given, count)
    starts = None
    if start is not None:
        if not isinstance(learner, Learner):
            raise ParameterError("Fleet: start goes with learners, and a committee begins with its proposals.")
        starts = array("Fleet", "start", loose("Fleet", "start", start), (count, learner.domain.dim), copy=True)
    made: dict[tuple[Any, ...], int] = {}
    patterns: list[Any] = []
    for i, values in enumerate(zip(*settings.values(), strict=True) if settings else ()):
        place = made.get(values)
        if place is None:
            place = made[values] = len(patterns)
            patterns.append(_member(learner, i, dict(zip(settings, values, strict=True))))
        which[i] = place
    patterns = patterns or [learner]
    if starts is not None:
        _check_starts(patterns, which, starts)
    return Source(patterns, which, starts)


def _each(name: str, given: Any, count: int) -> list[Any]:
    """Return one value for each member."""
    if isinstance(given, MoveCost):
        return [given] * count
    values = list(given) if isinstance(given, Sequence) and not isinstance(given, str) else None
    if values is not None and any(isinstance(value, MoveCost) for value in values):
        if len(values) != count:
            raise ParameterError(f"Fleet: {name} must be one for each of the {count} members, got {len(values)}.")
        return values
    numbers = loose("Fleet", name, given, f"{count} real numbers, one for each member")
    if numbers.shape == ():
        numbers = np.full(count, numbers)
    if numbers.shape != (count,) or numbers.dtype.kind not in "fiu":
        raise ParameterError(
            f"Fleet: {name} must be one number for each of the {count} members, got {describe(given)}."
        )
    return [float(number) for number in numbers.tolist()]


def _member(learner: Any, i: int, settings: dict[str, Any]) -> Any:
    try:
        return rebuilt("Fleet", learner, **settings)
    except DriftwiseError as error:
        raise type(error)(f"Fleet, member {i}: {error}") from None


def _check_starts(patterns: list[Any], which: Indices, starts: Array) -> None:
    """Raise unless every first decision is one that its learner may have."""
    for i, pattern in enumerate(patterns):
        mine = np.flatnonzero(which == i)
        if not pattern.domain.contains(starts[mine]):
            j = next(j for j in mine.tolist() if not pattern.domain.contains(starts[j]))
            raise ParameterError(f"Fleet: start of member {j} must lie in {pattern.domain!r}, got {starts[j]}.")
        least = mine[np.argmin(starts[mine].min(axis=1))]
        rebuilt("Fleet", pattern, start=starts[least].copy())  # whatever else a constructor asks of it
