"""Figures for print: there, not blank, the same every time, and no business of the user's settings."""

from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.image import imread

from driftwise.experiments.findings.finding import Finding, Panel, Series
from driftwise.report import Report
from driftwise.report.figures import _label_logarithmic, draw
from driftwise.report.palette import assign
from tests.report import chapters

LOG = chapters.theory().findings[0]
LOOKS = assign([chapters.figure1(), chapters.theory()])


def test_every_finding_with_panels_has_a_png_and_a_pdf(report: Report, folder: Path) -> None:
    assert [path.relative_to(folder).as_posix() for path in report.figures] == [
        f"figures/{stem}.{kind}"
        for stem in (
            "figure1-1-figure-1-three-prices-of-moving",
            "theory-1-growth-of-the-regret-with-the-horizon",
            "theory-3-text-with-tags-script-script-window-broken-1-scr",
        )
        for kind in ("png", "pdf")
    ]


def test_png_is_as_wide_as_a_page_and_not_blank(report: Report) -> None:
    image = imread(report.figures[0])
    assert image.shape[1] == 7.0 * 300
    ink = np.any(image[:, :, :3] < 0.95, axis=2)
    assert 0.02 < ink.mean() < 0.5
    # All nine panels have curves in them.
    rows, columns = image.shape[0] // 4, image.shape[1] // 3
    for row in range(3):
        for column in range(3):
            assert ink[row * rows : (row + 1) * rows, column * columns : (column + 1) * columns].mean() > 0.01


def test_pdf_is_a_vector_file_without_a_date(report: Report) -> None:
    data = report.figures[1].read_bytes()
    assert data.startswith(b"%PDF-")
    assert data.rstrip().endswith(b"%%EOF")
    assert b"CreationDate" not in data
    assert b"/Subtype /Image" not in data


def test_the_same_finding_gives_the_same_bytes(tmp_path: Path) -> None:
    first = [path.read_bytes() for path in draw(LOG, LOOKS, tmp_path / "one")]
    second = [path.read_bytes() for path in draw(LOG, LOOKS, tmp_path / "two")]
    assert first == second


def test_the_users_settings_are_neither_used_nor_changed(tmp_path: Path) -> None:
    plain = [path.read_bytes() for path in draw(LOG, LOOKS, tmp_path / "plain")]
    with mpl.rc_context({"lines.linewidth": 9.0, "axes.facecolor": "black", "savefig.dpi": 20, "text.usetex": True}):
        before = dict(mpl.rcParams)
        mine = [path.read_bytes() for path in draw(LOG, LOOKS, tmp_path / "mine")]
        assert dict(mpl.rcParams) == before
    assert mine == plain


@pytest.mark.parametrize("count", [1, 2, 5, 7])
def test_any_number_of_panels_is_drawn(count: int, tmp_path: Path) -> None:
    panels = [Panel("$" * k, "x", "y", [Series(f"curve {k}", [1, 2], [k, 2])]) for k in range(count)]
    finding = Finding("", "", [], [], panels, columns=3)
    looks = {f"curve {k}": LOOKS["Scream"] for k in range(count)}
    png, pdf = draw(finding, looks, tmp_path / "a.b")
    assert (png.name, pdf.name) == ("a.b.png", "a.b.pdf")
    assert imread(png).shape[1] == (3.4 if count == 1 else 7.0) * 300


def test_a_panel_without_curves_is_drawn(tmp_path: Path) -> None:
    png, pdf = draw(Finding("", "", [], [], [Panel("Nothing", "x", "y", [])]), {}, tmp_path / "empty")
    assert imread(png).std() > 0.0  # axes at least
    assert pdf.read_bytes().startswith(b"%PDF")


def test_a_narrow_logarithmic_axis_is_labelled_with_plain_numbers_and_a_wide_one_with_powers() -> None:
    axes = Figure().add_subplot()
    axes.set(xscale="log", yscale="log", xlim=(1.9, 34.0), ylim=(0.5, 2e5))
    _label_logarithmic(axes)
    narrow, wide = (
        axis.get_major_formatter().format_ticks(axis.get_majorticklocs().tolist()) for axis in (axes.xaxis, axes.yaxis)
    )
    assert narrow == ["1", "2", "5", "10", "20", "50"]
    assert all("10^{" in label for label in wide)
    for axis in (axes.xaxis, axes.yaxis):
        assert set(axis.get_minor_formatter().format_ticks(axis.get_minorticklocs().tolist())) == {""}
