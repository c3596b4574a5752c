"""Many whole runs: one task is one seeded run, on this machine's cores or on a Dask cluster, kept as they finish."""

import contextlib
import itertools
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from driftwise._extras import optional
from driftwise._validate import describe, whole
from driftwise.errors import InputError, ParameterError
from driftwise.experiments.sweep.cluster import on_cluster
from driftwise.experiments.sweep.progress import tracking
from driftwise.experiments.sweep.result import Result, decode
from driftwise.experiments.sweep.store import Store
from driftwise.experiments.sweep.task import failure, name
from driftwise.experiments.sweep.workers import beside, here

if TYPE_CHECKING:
    import polars
    from rich.console import Console


@dataclass(frozen=True)
class Run:
    """One finished run.

    Attributes
    ----------
    configuration : dict
        Arguments of the function, the seed among them.
    result : float or dict
        Return value of the function: a number, or a dict of numbers, texts, None and arrays.

    Examples
    --------
    >>> from driftwise.experiments import Run
    >>> Run({"step": 0.5, "seed": 0}, {"cost": 3.0}).row
    {'step': 0.5, 'seed': 0, 'cost': 3.0}
    """

    configuration: dict[str, Any]
    result: Result

    @property
    def row(self) -> dict[str, Any]:
        """The arguments and the entries of the result in one dict; a number is called "result"."""
        found = self.result if isinstance(self.result, dict) else {"result": self.result}
        both = found.keys() & self.configuration.keys()
        if both:
            raise InputError(f"A run returns {min(both)!r}, which is also one of its arguments; rename one of the two.")
        return {**self.configuration, **found}


class Sweep(Sequence[Run]):
    """All runs of a sweep, in the order of the grid whatever the order in which they finished.

    A column is an argument of the function or an entry of its result; a number by itself is called "result".

    Parameters
    ----------
    runs : iterable of Run
        The runs.

    Examples
    --------
    >>> from driftwise.experiments import sweep
    >>> runs = sweep(lambda n, seed: {"square": n * n, "odd": n % 2}, {"n": [1, 2, 3]}, seeds=1, workers=1)
    >>> runs.column("square"), runs[-1].result, len(runs[:2])
    (array([1, 4, 9]), {'square': 9, 'odd': 1}, 2)
    """

    def __init__(self, runs: Iterable[Run]) -> None:
        self._runs = list(runs)
        self._rows = [run.row for run in self._runs]
        self._names = list(dict.fromkeys(itertools.chain.from_iterable(self._rows)))

    @overload
    def __getitem__(self, index: int) -> Run: ...
    @overload
    def __getitem__(self, index: slice) -> "Sweep": ...
    def __getitem__(self, index: int | slice) -> "Run | Sweep":
        return Sweep(self._runs[index]) if isinstance(index, slice) else self._runs[index]

    def __len__(self) -> int:
        return len(self._runs)

    def __repr__(self) -> str:
        return f"Sweep of {len(self)} runs" + (f" with {', '.join(self._names)}" if self._names else "")

    def column(self, name: str) -> np.ndarray[Any, Any]:
        """Return one column, a value for each run; arrays of one shape are stacked.

        Where runs lack the entry, or have arrays of different shapes, it is an array of objects.

        Parameters
        ----------
        name : str
            An argument of the function, an entry of its results, or "result".
        """
        if name not in self._names:
            raise ParameterError(f"Sweep.column: name must be one of {', '.join(self._names)}; got {describe(name)}.")
        values: list[Any] = [row.get(name) for row in self._rows]
        texts = {isinstance(value, str) for value in values}
        if all(value is not None for value in values) and len({np.shape(v) for v in values}) == len(texts) == 1:
            return np.array(values)
        objects = np.empty(len(values), dtype=object)
        objects[:] = values
        return objects

    def frame(self) -> "polars.DataFrame":
        """Return a polars frame with one row for each run; arrays become lists, and what a run lacks is null."""
        frames = optional("sweep", "polars", "experiments")
        columns = {
            name: [value.tolist() if isinstance(value, np.ndarray | np.generic) else value for value in values]
            for name, values in ((name, [row.get(name) for row in self._rows]) for name in self._names)
        }
        frame: polars.DataFrame = frames.DataFrame(columns, strict=False)
        return frame


def sweep(
    function: Callable[..., Result],
    grid: Mapping[str, Any] | Iterable[Mapping[str, Any]],
    seeds: int | Iterable[int] = 5,
    *,
    out: str | Path | None = None,
    resume: bool = False,
    workers: int | None = None,
    dask: str | None = None,
    progress: "bool | Console | None" = None,
) -> Sweep:
    """Run a function for every point of a grid and every seed.

    One task is one whole run, which depends on its arguments alone, so that the results are the same bit for bit
    whatever the number of workers. A worker that dies costs only the runs it was at, which are started again.

    Parameters
    ----------
    function
        Called with the arguments of the grid and ``seed``, all by name. It returns a number, or a dict of
        numbers, texts, None and arrays. It may be a lambda, or be defined in a script.
    grid
        The values of every argument, all of which are combined; or the arguments of one run after the other.
    seeds
        How many, counted from 0; or which.
    out
        A folder to keep every run in as soon as it is finished: an `.npz` file, and a line in ``manifest.jsonl``.
    resume
        Whether to take runs from `out` that are there unharmed and were made by the same driftwise and the same
        function, with all that it uses of its own module; others are run again, with a warning. What the function uses
        of other modules is not compared: if that has changed, do not resume.
    workers
        Processes on this machine; all usable cores if None, and this process alone if 1.
    dask
        The address of a Dask scheduler, such as ``"tcp://10.0.0.1:8786"``, to run there.
    progress
        Whether to show a bar; None if standard error is a terminal. A rich console shows it there.

    Raises
    ------
    RunError
        If a run fails, or kills its workers. What had finished is kept in `out`.

    Examples
    --------
    >>> import driftwise as dw
    >>> from driftwise.experiments.sweep import sweep
    >>> def overall(switching_cost, seed):
    ...     losses = dw.streams.drifting_regression(rounds=500, dim=3, seed=seed)
    ...     learner = dw.Scream(dw.Ball(3), switching_cost=switching_cost, gradient_bound=2.0, horizon=500)
    ...     return dw.play(learner, losses, switching_cost).total
    >>> runs = sweep(overall, {"switching_cost": [0.2, 2.0]}, seeds=2, workers=1)
    >>> runs
    Sweep of 4 runs with switching_cost, seed, result
    >>> runs.column("result").round(2)
    array([ 4.26,  5.11, 10.41, 12.04])
    """
    configurations = _configurations(grid, seeds)
    results = run_all(
        function,
        configurations,
        title=name(function),
        out=None if out is None else Path(out),
        resume=resume,
        workers=workers,
        dask=dask,
        progress=progress,
    )
    return Sweep(map(Run, configurations, results))


def run_all(
    function: Callable[..., Result],
    configurations: Sequence[dict[str, Any]],
    *,
    title: str,
    out: Path | None = None,
    resume: bool = False,
    workers: int | None = None,
    dask: str | None = None,
    progress: "bool | Console | None" = None,
) -> list[Result]:
    """Run a function for every configuration, and return the results, in their order.

    The parameters are those of `sweep`; `title` stands before the progress bar.
    """
    if dask is not None and workers is not None:
        raise ParameterError("sweep: workers are of this machine and dask is a cluster; give one of the two.")
    if resume and out is None:
        raise ParameterError("sweep: resume needs out, the folder in which the earlier runs are kept.")
    if workers is not None:
        workers = whole("sweep", "workers", workers)
    store = None if out is None else Store(out, function)
    if store is not None:
        for configuration in configurations:
            store.text_of(configuration)
    results: dict[int, Result] = {}
    if store is not None and resume:
        found = ((index, store.find(configuration)) for index, configuration in enumerate(configurations))
        results = {index: result for index, result in found if result is not None}
        if store.outdated:
            warnings.warn(
                f"{store.outdated} of the runs in {out} were made by another version of {name(function)} or of "
                "driftwise; they are run again.",
                UserWarning,
                stacklevel=3,
            )
        if store.damaged:
            warnings.warn(
                f"{store.damaged} of the runs in {out} are missing, damaged or were changed; they are run again.",
                UserWarning,
                stacklevel=3,
            )
    kept = [configurations[index] for index in results]
    tasks = [(index, configuration) for index, configuration in enumerate(configurations) if index not in results]
    if not tasks:
        return [results[index] for index in range(len(configurations))]
    if dask is not None:
        attempts = on_cluster(function, tasks, dask)
    else:
        count = workers or optional("sweep", "joblib", "experiments").cpu_count()
        attempts = here(function, tasks) if count == 1 else beside(function, tasks, min(count, len(configurations)))
    with contextlib.closing(attempts), tracking(title, configurations, kept, progress) as advance:
        for index, tried in attempts:
            if tried.payload is None:
                raise failure(function, configurations[index], tried)
            if store is not None:
                store.keep(configurations[index], tried.payload, tried.seconds)
            results[index] = decode(tried.payload)
            advance(configurations[index])
    return [results[index] for index in range(len(configurations))]


def _configurations(grid: Any, seeds: Any) -> list[dict[str, Any]]:
    """Return the arguments of every run: every point of the grid, and for each every seed."""
    points: list[Any]
    if isinstance(grid, Mapping):
        for key, values in grid.items():
            if isinstance(values, str) or not isinstance(values, Iterable):
                raise ParameterError(f"sweep: grid[{key!r}] must be a list of values, got {describe(values)}.")
        points = [dict(zip(grid, values, strict=True)) for values in itertools.product(*grid.values())]
    else:
        points = [grid] if isinstance(grid, str) or not isinstance(grid, Iterable) else list(grid)
        for point in points:
            if not isinstance(point, Mapping):
                raise ParameterError(f"sweep: grid must be a dict of lists, or a list of dicts, got {describe(point)}.")
    numbers = range(whole("sweep", "seeds", seeds)) if not isinstance(seeds, Iterable) else seeds
    numbers = [whole("sweep", "seeds", seed, low=0, high=2**128) for seed in numbers]
    if not points or not numbers:
        raise ParameterError("sweep: there is nothing to run; grid and seeds must have values.")
    if any("seed" in point for point in points):
        raise ParameterError("sweep: the grid has a seed of its own; give seeds=... in its place.")
    return [{**point, "seed": seed} for point in points for seed in numbers]
