"""Learners that stand in for ours where a test is about what is said of it, and problems that are made up."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import driftwise as dw
from driftwise._validate import Array
from driftwise.experiments.comparison.decisions.conclusion import READERS
from driftwise.experiments.comparison.decisions.problem import Options, Problem
from driftwise.experiments.comparison.sheet import read_sheet


class Replay(dw.Learner):
    """Decides what it was told, whatever it sees."""

    def __init__(self, domain: dw.Domain, rows: Array) -> None:
        super().__init__(domain)
        self.rows = rows

    def _decide(self) -> Array:
        return np.asarray(self.rows[self.round])

    def _learn(self, gradient: Array) -> None: ...


def steps(rounds: int = 60) -> Array:
    """Return a level that jumps twice, with a little noise."""
    levels = np.repeat([20.0, 50.0, 30.0], rounds // 3)
    return np.round(levels + np.random.default_rng(0).normal(0.0, 1.0, levels.size), 2)


def problem(folder: Path, kind: str, columns: dict[str, Any], price: Any = 2.0, **options: Any) -> Problem:
    """Return the problem of a file that holds these columns, of which the first is the target."""
    pl.DataFrame(columns).write_csv(folder / "d.csv")
    return READERS[kind](read_sheet(folder / "d.csv"), next(iter(columns)), price, Options(**options))


def optimum(played: Problem) -> Array:
    """Return the cheapest decisions in hindsight."""
    return dw.regret.hindsight_optimum(played.losses, played.domain, played.price).decisions
