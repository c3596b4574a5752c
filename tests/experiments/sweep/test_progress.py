import io
import time
from typing import Any

import pytest
from rich.console import Console

from driftwise.experiments.sweep.progress import short, tracking
from driftwise.experiments.sweep.sweep import run_all


def terminal(width: int = 120) -> Console:
    return Console(file=io.StringIO(), force_terminal=True, width=width, color_system=None)


def written(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0"), (950, "950"), (999, "999"), (1000, "1.0k"), (11_300_000, "11.3M"), (250_000, "250k"), (5e12, "5000G")],
)
def test_short_counts(count: float, text: str) -> None:
    assert short(count) == text


def test_it_counts_runs_and_rounds() -> None:
    console = terminal()
    tasks: list[dict[str, Any]] = [
        {"rounds": 1000, "seed": 0},
        {"rounds": 3000, "seed": 0},
        {"rounds": 4000, "seed": 0},
    ]
    with tracking("Scream [fast]", tasks, tasks[:1], console) as advance:
        time.sleep(0.15)
        advance(tasks[1])
        time.sleep(0.15)
    text = written(console)
    assert "Scream [fast], 1 kept" in text
    assert "1/3 runs" in text
    assert "1.0k/8.0k rounds" in text
    assert "2/3 runs" in text
    assert "4.0k/8.0k rounds" in text
    assert "0:00:00 left" in text


def test_it_counts_runs_alone_when_rounds_are_not_known() -> None:
    console = terminal()
    with tracking("title", [{"rounds": 10}, {}], [], console) as advance:
        advance({})
    assert "1/2 runs" in written(console)
    assert "rounds" not in written(console)
    assert "kept" not in written(console)


def test_it_disappears_when_done() -> None:
    console = terminal()
    with tracking("title", [{}], [], console) as advance:
        advance({})
    # The last thing written clears the line and moves up.
    assert written(console).endswith("\x1b[2K")


@pytest.mark.parametrize("workers", [1, 2])
def test_a_sweep_shows_it_on_a_console(workers: int) -> None:
    console = terminal()
    tasks = [{"rounds": 500, "seed": seed} for seed in range(4)]
    run_all(lambda rounds, seed: seed, tasks, title="squares", workers=workers, progress=console)
    assert "4/4 runs" in written(console)
    assert "2.0k/2.0k rounds" in written(console)


def test_it_is_silent_where_there_is_no_terminal(capfd: pytest.CaptureFixture[str]) -> None:
    console = Console(file=io.StringIO())
    for show in (None, False, console):
        run_all(lambda seed: seed, [{"seed": 0}], title="squares", workers=1, progress=show)
    assert capfd.readouterr() == ("", "")
    assert written(console) == ""


def test_it_can_be_forced(capfd: pytest.CaptureFixture[str]) -> None:
    run_all(lambda seed: seed, [{"seed": 0}], title="squares", workers=1, progress=True)
    output, errors = capfd.readouterr()
    assert output == ""
    assert "squares" in errors
    assert "1/1 runs" in errors
