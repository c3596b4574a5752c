"""A progress bar for many runs, which counts rounds where it can: runs differ in length, rounds much less."""

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, Task

NUMBERS = 60
"""Columns of a terminal for the counts and times; title and bar share the rest."""


@contextlib.contextmanager
def tracking(
    title: str,
    configurations: Sequence[Mapping[str, Any]],
    kept: Sequence[Mapping[str, Any]],
    show: "bool | Console | None",
) -> Iterator[Callable[[Mapping[str, Any]], None]]:
    """Show a bar, and give the function to call with the configuration of every run that finishes.

    Parameters
    ----------
    title
        What is being done.
    configurations
        Of all runs. If each has a whole number of ``rounds``, the bar and the time left go by rounds.
    kept
        Of those that need not be run again.
    show
        Whether to show it; None if standard error is a terminal; a console to show it there if it is a terminal.
    """
    console = _console(show)
    if console is None:
        yield lambda configuration: None
        return
    by_rounds = all(type(configuration.get("rounds")) is int for configuration in configurations)

    def size(configuration: Mapping[str, Any]) -> int:
        return configuration["rounds"] if by_rounds else 1

    finished, done, total = len(kept), sum(map(size, kept)), sum(map(size, configurations))

    def counts() -> str:
        rounds = f" {short(done)}/{short(total)} rounds" if by_rounds else ""
        return f"{finished}/{len(configurations)} runs{rounds}"

    title = _fitted(title, f", {finished} kept" if kept else "", console.width - NUMBERS - 5)
    with _bar(console, len(title)) as progress:
        task = progress.add_task(title, total=total, completed=done, before=done, counts=counts())

        def advance(configuration: Mapping[str, Any]) -> None:
            nonlocal finished, done
            finished, done = finished + 1, done + size(configuration)
            progress.update(task, completed=done, counts=counts())

        yield advance


def short(count: float) -> str:
    """Return a count in at most four digits: 950, 1.5k, 11.3M."""
    for unit in ("", "k", "M", "G"):
        if count < 999.5 or unit == "G":
            break
        count /= 1000
    return f"{count:.1f}{unit}" if unit and count < 99.95 else f"{count:.0f}{unit}"


def _console(show: "bool | Console | None") -> "Console | None":
    if show is False:
        return None
    from rich.console import Console

    if isinstance(show, Console):
        return show if show.is_terminal else None
    console = Console(stderr=True, force_terminal=show)
    return console if console.is_terminal else None


def _fitted(title: str, end: str, width: int) -> str:
    """Cut a title that is too long, but not what is said at its end."""
    room = max(width - len(end), 8)
    return (title if len(title) <= room else title[: room - 1].rstrip() + "…") + end


def _bar(console: "Console", title: int) -> "Progress":
    from rich.progress import BarColumn, Progress, ProgressColumn, TextColumn, TimeElapsedColumn
    from rich.table import Column
    from rich.text import Text

    class Left(ProgressColumn):
        def render(self, task: "Task") -> Text:
            # At the mean speed so far: rich's own estimate goes by the last 30 seconds, and a run may take longer. Not
            # at the very beginning, when the code may have to be compiled.
            done = task.completed - task.fields["before"]
            if done < 0.1 * ((task.total or 0) - task.fields["before"]) or not task.elapsed:
                return Text("", style="progress.remaining")
            seconds = round(task.elapsed * (task.remaining or 0) / done)
            shown = f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02} left"
            return Text(shown, style="progress.remaining")

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(min(40, max(4, console.width - NUMBERS - title))),
        TextColumn("{task.fields[counts]}", style="progress.download", table_column=Column(no_wrap=True)),
        TimeElapsedColumn(Column(no_wrap=True)),
        Left(Column(no_wrap=True)),
    )
    return Progress(*columns, console=console, transient=True)
