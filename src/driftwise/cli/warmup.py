"""`driftwise warmup`: compile beforehand."""

import time
from typing import TYPE_CHECKING, Annotated

import typer

from driftwise.errors import ParameterError, RunError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

FAMILIES = (
    *("learners", "self-tuned", "strongly-adaptive", "self-tuned-learner", "domains", "prices", "hints", "committee"),
    *("fleet", "losses"),
    *("control", "self-tuned-control", "regret", "hindsight-control"),
)
"""Names of `driftwise.warmup.FAMILIES`, not imported for help."""

Families = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME", help=f"What to compile; repeatable: {', '.join(FAMILIES)}. Everything if left out."),
]


def warmup(*, family: Families = None) -> None:
    """Compile what learners and controllers need, and keep the machine code on disk.

    Every kernel is compiled when it is first used, which takes seconds, and read from disk in later processes. That is
    all that most people need. Run this command beforehand where the first decision must not wait, or where what is
    compiled is lost: in the image of a container, in a serverless function, on a machine that cannot write to its disk,
    before a plant is switched on.

    The machine code is kept beside the installed package; set DRIFTWISE_CACHE_DIR to keep it in a folder of your own,
    now and when it is used. It is made for this processor; NUMBA_CPU_NAME=generic makes it for all of its kind.
    """
    from rich.console import Console

    from driftwise import _compile
    from driftwise.warmup import chosen_families, machine_code_folder

    names, folder = chosen_families(family), machine_code_folder()
    if _compile.INTERPRETED:
        raise ParameterError("warmup: NUMBA_DISABLE_JIT is set, so there is nothing to compile; unset it.")
    remedy = "set DRIFTWISE_CACHE_DIR to a folder that can be written to."
    if folder is None:
        raise RunError(f"warmup: what is compiled could not be kept; {remedy}")
    _compile.say_nothing()
    console, began = Console(highlight=False), time.monotonic()
    try:
        compiled, cpu_seconds = _compile_all(console, names)
    except KeyboardInterrupt:
        typer.echo(f"Stopped. What has been compiled is kept in {folder}.", err=True)
        raise typer.Exit(130) from None
    lost = len(_compile.lost())
    if lost:
        raise RunError(f"warmup: {lost} of {compiled} kernels could not be kept in {folder}; {remedy}")
    took = f"{time.monotonic() - began:.1f} s ({cpu_seconds:.1f} CPU s)"
    console.print(f"Ready: {compiled} kernels compiled in {took}, kept in {folder}", soft_wrap=True)


def _compile_all(console: "Console", names: "Sequence[str]") -> tuple[int, float]:
    """Compile one family after the other, and return how many kernels and how many CPU seconds that was."""
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    from driftwise.warmup import warm_up

    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    compiled, cpu_seconds = 0, 0.0
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        bar = progress.add_task("compiling", total=len(names))
        for name in names:
            progress.update(bar, description=f"compiling: {name}")
            (done,) = warm_up([name])
            compiled, cpu_seconds = compiled + done.compiled, cpu_seconds + done.cpu_seconds
            console.print(f"{name:<20}{done.compiled:>4} compiled{done.cpu_seconds:>8.1f} CPU s")
            progress.advance(bar)
    return compiled, cpu_seconds
