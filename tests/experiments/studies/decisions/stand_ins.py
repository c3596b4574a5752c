"""Tables that stand in for the files of packages, so that every study can be played without any of them."""

from collections.abc import Sequence

import numpy as np
import pytest

from driftwise._validate import Array
from driftwise.experiments.studies.decisions.data import recordings

ROWS = 24 * 730
"""Two years of hours, or many of days."""


def table(package: str, file: str, columns: Sequence[str], rows: tuple[str, str] | None = None) -> Array:
    """Return numbers above 0 that have a level that wanders, a week and noise, for every column others."""
    rng, t = np.random.default_rng(len(package) + 7 * len(file)), np.arange(ROWS)[:, None]
    level = np.cumsum(0.01 * rng.standard_normal((ROWS, len(columns))), axis=0)
    return np.asarray(np.exp(level + 0.3 * np.sin(2.0 * np.pi * t / 7.0) + 0.1 * rng.standard_normal(level.shape)))


@pytest.fixture
def stand_ins(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every package be there, with made-up tables in its files."""
    monkeypatch.setattr(recordings, "installed", lambda package: True)
    monkeypatch.setattr(recordings, "read_columns", table)


@pytest.fixture
def river_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let river be the only package that is there; its files are the real ones."""
    monkeypatch.setattr(recordings, "installed", lambda package: package == "river")


@pytest.fixture
def nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no package be there."""
    monkeypatch.setattr(recordings, "installed", lambda package: False)
