"""What a reproduction is going to run, and how long it will take, roughly."""

from collections.abc import Sequence

from driftwise._extras import optional
from driftwise.experiments.contests.words import counted, joined
from driftwise.experiments.studies.catalogue import Experiment, find_experiment
from driftwise.experiments.studies.study import FULL, Size


def plan(
    names: Sequence[str],
    size: Size,
    *,
    workers: int | None = None,
    dask: str | None = None,
    resume: bool = False,
) -> str:
    """Say what is going to be run, and estimate how long it takes from the time on another machine.

    Parameters
    ----------
    names : sequence of str
        Experiments of the catalogue.
    size : Size
        How much of them.
    workers, dask, resume
        As in `sweep`.
    """
    chosen = {name: find_experiment(name) for name in names}
    runs = {name: sum(len(study.tasks(size)) for study in experiment.studies) for name, experiment in chosen.items()}
    text = "Running " + joined([f"{name} ({counted(count, 'run')})" for name, count in runs.items()])
    seconds = sum(core_seconds(experiment, size) for experiment in chosen.values())
    if not seconds:
        return f"{text}."
    cores = 1 if dask else workers or int(optional("sweep", "joblib", "experiments").cpu_count())
    where = "of one core's time" if dask else f"on {counted(cores, 'core')}"
    kept = " if nothing is kept" if resume else ""
    return (
        f"{text}: about {_rounded(seconds / cores)} {where}{kept}, an estimate. Each finding is shown when it is done."
    )


def core_seconds(experiment: Experiment, size: Size) -> float:
    """Return the measured time of an experiment on one core, in seconds."""
    quick, full = experiment.core_seconds
    if not experiment.seeded:
        return quick if size.quick else full
    return quick * len(size.seeds) if size.quick else full * len(size.seeds) / len(FULL.seeds)


def _rounded(seconds: float) -> str:
    """Return a time with the few digits of an estimate.

    >>> _rounded(0.7), _rounded(47.0), _rounded(130.0)
    ('5 s', '50 s', '2 min')
    """
    return f"{max(5, 10 * round(seconds / 10.0))} s" if seconds < 90.0 else f"{seconds / 60.0:.0f} min"
