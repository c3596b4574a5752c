"""Bars of costs: there, not blank, the same every time, and long ones are cut."""

from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.image import imread

from driftwise.report.bars import Bar, draw_bars
from driftwise.report.palette import COLOURS

BARS = [Bar("You", 60.0, 40.0, "100"), Bar("Ours, $5", 50.0, 10.0, "60"), Bar("Hindsight", 40.0, 5.0, "45")]


def extent(path: Path, colour: str) -> int:
    """Return the number of columns of an image in which a colour occurs."""
    red, green, blue = (int(COLOURS[colour][k : k + 2], 16) / 255 for k in (1, 3, 5))
    image = imread(path)
    return int(np.any(np.abs(image[:, :, :3] - [red, green, blue]).max(axis=2) < 0.01, axis=0).sum())


def test_both_parts_are_drawn_and_the_same_again(tmp_path: Path) -> None:
    mpl.rcParams["axes.titlesize"] = 40.0
    first, again = (draw_bars(BARS, "Costs at $5", tmp_path / name / "costs") for name in ("a", "b"))
    mpl.rcdefaults()
    assert [path.name for path in first] == ["costs.png", "costs.pdf"]
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in again]
    assert imread(first[0]).shape[1] == 7.0 * 300
    running, moving = (extent(first[0], colour) for colour in ("blue", "orange"))
    assert 0.9 < running / moving < 1.2  # from 0 to 60, and from 40 to 100
    assert running > 400


def test_a_bar_that_would_dwarf_the_others_is_cut(tmp_path: Path) -> None:
    long = [Bar("You", 1e6, 1e6, "2e+06"), *BARS]
    short, _ = draw_bars(BARS, "Costs", tmp_path / "short")
    cut, _ = draw_bars(long, "Costs", tmp_path / "long")
    assert extent(cut, "orange") > 0.1 * extent(short, "orange")


def test_nothing_but_zeros(tmp_path: Path) -> None:
    png, _ = draw_bars([Bar("You", 0.0, 0.0, "0"), Bar("Ours", 0.0, 0.0, "0")], "Costs", tmp_path / "zero")
    assert png.exists()
