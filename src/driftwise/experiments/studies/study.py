"""What a study is made of: tasks, a run for each, and a conclusion from all of them."""

import inspect
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from driftwise.experiments.findings.finding import Finding

Arguments = tuple[Any, ...]
"""Arguments of one whole seeded run."""


class Size(NamedTuple):
    """How much of an experiment to run."""

    quick: bool = False
    seeds: Sequence[int] = range(5)
    """Seeds of the paper's figures; every other study has seeds of its own."""


FULL = Size()


@dataclass(frozen=True)
class Study:
    """A question and how it is answered: its tasks, at full size or quick, what each measures, and the answer.

    `run` returns a number, or a dict of numbers, texts and arrays, so that it can be kept in a file.
    """

    name: str
    """Name of the folder that its runs are kept in."""
    title: str
    tasks: Callable[[Size], list[Arguments]]
    run: Callable[..., Any]
    conclude: Callable[[list[Arguments], list[Any]], Finding]

    def configurations(self, size: Size) -> list[dict[str, Any]]:
        """Return every task as the arguments of `run`, by name."""
        names = list(inspect.signature(self.run).parameters)
        return [dict(zip(names, task, strict=True)) for task in self.tasks(size)]


def exponent(x: Iterable[float], y: Iterable[float]) -> float:
    """Return the slope of the straight line fitted to the logarithms; nan if a value is not positive."""
    across, up = np.array(list(x)), np.array(list(y))
    if min(across.min(), up.min()) <= 0.0:
        return math.nan
    return float(np.polyfit(np.log(across), np.log(up), 1)[0])


def within(value: float, middle: float, margin: float) -> bool:
    """Tell whether a value differs from the middle by at most a margin."""
    return abs(value - middle) <= margin


def group(keys: Iterable[Any], values: Iterable[Any]) -> dict[Any, list[Any]]:
    """Return the values of every key, in the order in which keys first appear."""
    grouped: dict[Any, list[Any]] = {}
    for key, value in zip(keys, values, strict=True):
        grouped.setdefault(key, []).append(value)
    return grouped


def means(keys: Iterable[Any], results: Iterable[dict[str, float]]) -> dict[Any, dict[str, float]]:
    """Return the mean of every number of the results, by key."""
    return {
        key: {name: float(np.mean([result[name] for result in values])) for name in values[0]}
        for key, values in group(keys, results).items()
    }
