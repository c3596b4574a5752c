"""What is said before anything is run."""

import pytest

from driftwise.experiments.studies.catalogue import CATALOGUE, Experiment
from driftwise.experiments.studies.plan import core_seconds, plan
from driftwise.experiments.studies.study import FULL, Size, Study


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    study = Study("s", "S", lambda size: [(seed,) for seed in size.seeds], float, lambda tasks, results: None)  # type: ignore[arg-type, return-value]
    monkeypatch.setitem(CATALOGUE, "figure1", Experiment("One", (study,), (60.0, 600.0), seeded=True))
    monkeypatch.setitem(CATALOGUE, "theory", Experiment("Two", (study, study), (20.0, 200.0)))
    monkeypatch.setitem(CATALOGUE, "control", Experiment("Three", (study,)))


@pytest.mark.usefixtures("small")
def test_the_estimate_goes_by_what_was_measured_and_the_number_of_workers() -> None:
    quick = Size(quick=True, seeds=range(1))
    assert plan(["figure1", "theory"], quick, workers=2) == (
        "Running figure1 (1 run) and theory (2 runs): about 40 s on 2 cores, an estimate. Each finding is shown when "
        "it is done."
    )
    assert "about 13 min on 1 core, an" in plan(["figure1", "theory"], FULL, workers=1)
    assert "about 13 min of one core's time, an" in plan(["figure1", "theory"], FULL, dask="tcp://x:1")
    assert "about 7 min on 2 cores if nothing is kept" in plan(["figure1", "theory"], FULL, workers=2, resume=True)


@pytest.mark.usefixtures("small")
def test_nothing_is_said_of_what_was_not_measured() -> None:
    assert plan(["control"], FULL) == "Running control (5 runs)."


@pytest.mark.usefixtures("small")
def test_figures_take_longer_with_more_seeds() -> None:
    assert core_seconds(CATALOGUE["figure1"], Size(seeds=range(10))) == 1200.0
    assert core_seconds(CATALOGUE["theory"], Size(seeds=range(10))) == 200.0


def test_every_experiment_was_measured() -> None:
    assert all(min(experiment.core_seconds) > 0.0 for experiment in CATALOGUE.values())
