"""The report: one self-contained HTML page, and figures for print, from the findings in a folder."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from driftwise._extras import optional
from driftwise._files import write_atomically
from driftwise.experiments.findings.finding import Chapter, Finding, read_chapters
from driftwise.experiments.findings.provenance import provenance
from driftwise.report.figures import draw
from driftwise.report.page import Contents, page
from driftwise.report.palette import assign

__all__ = ["Report", "build", "publish", "require"]


@dataclass(frozen=True)
class Report:
    """The files of a report.

    Made by `publish` and `build`.

    Attributes
    ----------
    page : Path
        One HTML file that needs no other file and no network.
    figures : list of Path
        A PNG and a PDF of every finding that has panels, in the order of the page.

    Examples
    --------
    >>> import tempfile
    >>> from driftwise.experiments import Finding
    >>> from driftwise.report import publish
    >>> finding = Finding("Squares", "They grow.", tables=[], claims=[])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     report = publish(folder, "Numbers", [finding])
    ...     report.page.name, report.page.stat().st_size > 1000, report.figures
    ('report.html', True, [])
    """

    page: Path
    figures: list[Path]


def require() -> None:
    """Raise `MissingExtraError` if what draws a report is not installed: call it before a long run.

    Raises
    ------
    MissingExtraError
        With the command that installs it.

    Examples
    --------
    >>> from driftwise.report import require
    >>> require()
    """
    for module in ("plotly", "matplotlib"):
        optional("A report", module, "experiments")


def publish(
    folder: str | Path,
    title: str,
    findings: Sequence[Finding],
    *,
    name: str = "findings",
    command: str = "",
    seconds: float = 0.0,
    runs: int = 0,
) -> Report:
    """Write findings to a folder, and build its report.

    Parameters
    ----------
    folder : str or Path
        Folder to write to; chapters of other names that are there stay in the report.
    title : str
        Title of the chapter.
    findings : sequence of Finding
        Tables, claims and panels, each with a summary.
    name : str, default "findings"
        Name of the chapter's file.
    command, seconds, runs
        The command that made the findings, the seconds it took and the number of runs; shown at the end of the chapter.

    Returns
    -------
    Report
        The paths of the page and of its figures.

    Examples
    --------
    >>> import tempfile
    >>> from driftwise.experiments import Claim, Finding, Panel, Series, Table
    >>> squares = Series("squares", [1, 2, 3], [1, 4, 9])
    >>> finding = Finding(
    ...     title="Squares",
    ...     summary="They grow.",
    ...     tables=[Table("Squares", ["n", "square"], [["1", "1"], ["2", "4"]])],
    ...     claims=[Claim("Squares grow", True, "1, 4, 9")],
    ...     panels=[Panel("Growth", "n", "square", [squares])],
    ... )
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     report = publish(folder, "Numbers", [finding])
    ...     [path.name for path in (report.page, *report.figures)]
    ['report.html', 'findings-1-squares.png', 'findings-1-squares.pdf']
    """
    Chapter(name, title, provenance(command, seconds, runs), findings).write(Path(folder))
    return build(folder)


def build(folder: str | Path, *, order: Iterable[str] = ()) -> Report:
    """Build the report of the findings in a folder.

    The page is ``report.html`` in that folder, the figures are in ``figures`` beside it. The same findings give the
    same bytes. Pages and figures of an earlier report are overwritten.

    Parameters
    ----------
    folder : str or Path
        A folder with findings, such as ``driftwise reproduce --out FOLDER`` makes.
    order : iterable of str, optional
        Names of the chapters that come first.

    Returns
    -------
    Report
        The paths of the page and of its figures.

    Raises
    ------
    MissingExtraError
        If plotly or matplotlib is not installed.
    InputError
        If the folder has no findings, or damaged ones.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from driftwise.experiments.findings.finding import Chapter, Claim, Finding, Provenance
    >>> finding = Finding("Two and two", "They make 4.", [], [Claim("The sum is 4", True, "4")])
    >>> source = Provenance("driftwise compare", {"driftwise": "0.1"}, "a laptop", "2025-01-01 00:00", 1.0, 1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Chapter("sums", "Sums", source, [finding]).write(Path(folder))
    ...     report = build(folder)
    ...     print(report.page.name, len(report.figures), "1 claim holds" in report.page.read_text())
    report.html 0 True
    """
    require()
    folder = Path(folder)
    chapters = read_chapters(folder, order)
    looks, contents = assign(chapters), _contents(chapters)
    figures = [
        path
        for _, findings in contents
        for key, finding in findings.items()
        if finding.panels
        for path in draw(finding, looks, folder / "figures" / key)
    ]
    path = folder / "report.html"
    write_atomically("report", path, page(contents, looks).encode())
    return Report(path, figures)


def _contents(chapters: Sequence[Chapter]) -> Contents:
    """Give every finding a name that is fit for a file and for a link: chapter, number, title."""
    contents, used = [], set[str]()
    for chapter in chapters:
        first = name = _slug(chapter.name)
        number = 1
        while name in used:
            number += 1
            name = f"{first}-{number}"
        used.add(name)
        findings = {f"{name}-{n}-{_slug(finding.title)}": finding for n, finding in enumerate(chapter.findings, 1)}
        contents.append((chapter, findings))
    return contents


def _slug(text: str) -> str:
    """Return a text in lower-case letters, digits and single hyphens."""
    letters = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    return re.sub("[^a-z0-9]+", "-", letters)[:48].strip("-") or "untitled"
