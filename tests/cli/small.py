"""A study that takes no time, and a runner of commands."""

from typing import Any

import numpy as np
from typer.testing import CliRunner

from driftwise.cli import app
from driftwise.experiments.findings.finding import Claim, Finding, Panel, Series, Table
from driftwise.experiments.studies.study import Arguments, Size

RUNNER = CliRunner(env={"COLUMNS": "200"})


def noisy(rounds: int, seed: int) -> float:
    return float(np.random.default_rng(seed).normal(size=rounds).mean())


def tasks(size: Size) -> list[Arguments]:
    return [(10, seed) for seed in size.seeds]


def conclude(tasks: list[Arguments], results: list[Any]) -> Finding:
    rows = [[str(seed), f"{result:.6f}"] for (_, seed), result in zip(tasks, results, strict=True)]
    return Finding(
        "Means",
        "They are near 0, mostly.",
        [Table("Means of ten", ["seed", "mean"], rows), Table("Not printed", ["x"], [["hidden"]], detail=True)],
        [
            Claim("2 is odd", False, "it is not"),
            Claim("2 is even", True, "it is"),
            Claim("2 is large", None, "who knows"),
        ],
        [Panel("Means", "seed", "mean", [Series("mean", [0.0, 1.0], [0.0, 1.0])])],
    )


def reproduce(*arguments: str) -> str:
    result = RUNNER.invoke(app, ["reproduce", "--workers", "1", *arguments])
    assert result.exit_code == 0, result.output
    return result.output
