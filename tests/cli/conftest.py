"""Small experiments instead of the real ones."""

from pathlib import Path

import pytest

from driftwise.experiments.studies import catalogue
from driftwise.experiments.studies.catalogue import Experiment
from driftwise.experiments.studies.study import Study
from tests.cli.small import conclude, noisy, tasks


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Let the experiments be quick ones, and return a folder for them."""
    study = Study("means", "Means", tasks, noisy, conclude)
    for name in catalogue.CATALOGUE:
        monkeypatch.setitem(catalogue.CATALOGUE, name, Experiment(f"About {name}", (study,)))
    return tmp_path / "out"
