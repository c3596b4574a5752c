"""What a study is made of: tasks, what each measures, and what they say together."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

Task = tuple[Any, ...]


class Claim(NamedTuple):
    """A statement with the numbers that decide it."""

    text: str
    holds: bool | None
    """None if it could not be checked."""
    measured: str

    def __str__(self) -> str:
        verdict = {True: "holds", False: "does not hold", None: "not checked"}[self.holds]
        return f"{self.text}: {verdict} ({self.measured})"


class Finding(NamedTuple):
    """What a study says: a table and its claims."""

    header: list[str]
    rows: list[list[str]]
    claims: list[Claim]


@dataclass(frozen=True)
class Study:
    """A question and how it is answered: its tasks, at full size or quick, what each measures, and the answer."""

    title: str
    tasks: Callable[[bool], list[Task]]
    run: Callable[..., Any]
    conclude: Callable[[list[Task], list[Any]], Finding]


def exponent(x: Iterable[float], y: Iterable[float]) -> float:
    """Return the slope of a straight line through the logarithms."""
    return float(np.polyfit(np.log(np.array(list(x))), np.log(np.array(list(y))), 1)[0])


def within(value: float, middle: float, margin: float) -> bool:
    """Tell whether a value is in the middle, give or take a margin."""
    return abs(value - middle) <= margin


def group(keys: Iterable[Any], values: Iterable[Any]) -> dict[Any, list[Any]]:
    """Return the values by key, in the order in which keys first come."""
    grouped: dict[Any, list[Any]] = {}
    for key, value in zip(keys, values, strict=True):
        grouped.setdefault(key, []).append(value)
    return grouped


def conclude(study: Study, quick: bool = False, progress: Callable[[], None] = lambda: None) -> Finding:
    """Run every task of a study and return what they say; `progress` is called after each."""
    tasks = study.tasks(quick)
    results = []
    for task in tasks:
        results.append(study.run(*task))
        progress()
    return study.conclude(tasks, results)
