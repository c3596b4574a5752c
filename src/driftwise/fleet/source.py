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
        Those that differ by more than single numbers.
    which : array of int64, shape (count,)
        The pattern of each newcomer.
    starts : array of shape (count, dim), or None
        First decisions of newcomers that have not begun, if they are not those of their patterns.
    prices, radii : array of shape (count,), or None
        Their switching costs and the radii of their domains, if they are not those of their patterns.
    """

    patterns: list[Any]
    which: Indices
    starts: Array | None = None
    prices: Array | None = None
    radii: Array | None = None

    def settings(self, i: int) -> dict[str, float]:
        """Return in what numbers a newcomer differs from its pattern, besides the first decision."""
        given = {"switching_cost": self.prices, "radius": self.radii}
        return {name: float(numbers[i]) for name, numbers in given.items() if numbers is not None}

    def learner(self, i: int) -> Any:
        """Return a newcomer."""
        settings: dict[str, Any] = {**self.settings(i)}
        if self.starts is not None:
            settings["start"] = self.starts[i].copy()
        pattern = self.patterns[self.which[i]]
        return rebuilt("Fleet", pattern, **settings) if settings else pattern.clone()

    def only(self, some: Indices) -> Self:
        """Return some of the newcomers."""
        used, which = np.unique(self.which[some], return_inverse=True)
        parts = (None if part is None else part[some] for part in (self.starts, self.prices, self.radii))
        return type(self)([self.patterns[i] for i in used.tolist()], which.astype(np.int64), *parts)


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
    patterns, prices = [learner], None
    if switching_cost is not None:
        costs = _each("switching_cost", switching_cost, count)
        if any(isinstance(cost, MoveCost) for cost in costs):
            made = {id(cost): i for i, cost in reversed(list(enumerate(costs)))}
            places = {i: place for place, i in enumerate(dict.fromkeys(made.values()))}
            patterns = [_member(learner, i, switching_cost=costs[i]) for i in places]
            which = np.array([places[made[id(cost)]] for cost in costs], np.int64)
        else:
            prices = np.array(costs)
    radii = None if radius is None else np.array(_each("radius", radius, count))
    starts = None
    if start is not None:
        if not isinstance(learner, Learner):
            raise ParameterError("Fleet: start goes with learners; a committee begins with its proposals.")
        starts = array("Fleet", "start", loose("Fleet", "start", start), (count, learner.domain.dim), copy=True)
    source = Source(patterns, which, starts, prices, radii)
    _try(source)
    return source


def _try(source: Source) -> None:
    """Build one of each kind, so that what a constructor refuses is refused before anybody has joined."""
    columns = [part for part in (source.prices, source.radii) if part is not None]
    keys = np.stack([source.which, *(part.view(np.int64) for part in columns)], axis=1)
    _, first, inverse = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    for k, i in enumerate(first.tolist()):
        pattern, settings = source.patterns[source.which[i]], source.settings(i)
        made = _member(pattern, i, **settings) if settings else pattern
        if source.starts is not None:
            mine = np.flatnonzero(inverse.reshape(-1) == k)
            if not made.domain.contains(source.starts[mine]):
                j = next(j for j in mine.tolist() if not made.domain.contains(source.starts[j]))
                raise ParameterError(f"Fleet: start of member {j} must lie in {made.domain!r}, got {source.starts[j]}.")
            least = mine[np.argmin(source.starts[mine].min(axis=1))]
            _member(made, int(least), start=source.starts[least].copy())  # whatever else is asked of it


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


def _member(learner: Any, i: int, **settings: Any) -> Any:
    try:
        return rebuilt("Fleet", learner, **settings)
    except DriftwiseError as error:
        raise type(error)(f"Fleet, member {i}: {error}") from None
