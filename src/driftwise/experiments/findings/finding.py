"""What an experiment says, as data: tables, claims, and panels that any renderer can draw."""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from driftwise._files import make_folder, read_limited, write_atomically
from driftwise.errors import InputError, ParameterError


class Claim(NamedTuple):
    """A statement with the numbers that decide it.

    Attributes
    ----------
    text : str
        What is claimed.
    holds : bool or None
        Verdict; None if it could not be checked.
    measured : str
        The numbers that decide it.
    paper : bool, default False
        Whether the claim is the paper's; ours if not.

    Examples
    --------
    >>> from driftwise.experiments import Claim
    >>> print(Claim("Squares grow", True, "1, 4, 9"))
    Squares grow: holds (1, 4, 9)
    """

    text: str
    holds: bool | None
    measured: str
    paper: bool = False

    @property
    def title(self) -> str:
        """The statement, and whose it is if it is not ours."""
        return f"The paper: {self.text}" if self.paper else self.text

    @property
    def verdict(self) -> str:
        """Whether it holds, in words."""
        return {True: "holds", False: "does not hold", None: "not checked"}[self.holds]

    def __str__(self) -> str:
        return f"{self.title}: {self.verdict} ({self.measured})"


class Table(NamedTuple):
    """Rows of text under a header; the first column names the row.

    Attributes
    ----------
    title : str
        Heading, which says what the numbers are.
    header : sequence of str
        Name of every column.
    rows : sequence of sequences of str
        Rows of texts, one for each column.
    detail : bool, default False
        Whether it is a detail: folded up in the report, and not printed.

    Examples
    --------
    >>> from driftwise.experiments import Table
    >>> table = Table("Squares", ["n", "square"], [["1", "1"], ["2", "4"]])
    >>> [row[1] for row in table.rows]
    ['1', '4']
    """

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    detail: bool = False


class Series(NamedTuple):
    """One curve of a panel. The same name has the same colour in every panel.

    Attributes
    ----------
    name : str
        Name in the legend.
    x : sequence of float
        Points at which it was measured.
    y : sequence of float
        Values measured there.
    spread : sequence of float, optional
        Standard deviation over runs, drawn as a band around the curve.
    style : {"line", "dashed", "points"}, default "line"
        "dashed" is for references and bounds, "points" for measurements, which are joined by a thin line.

    Examples
    --------
    >>> from driftwise.experiments import Series
    >>> Series("squares", [1, 2, 3], [1, 4, 9]).style
    'line'
    """

    name: str
    x: Sequence[float]
    y: Sequence[float]
    spread: Sequence[float] | None = None
    style: str = "line"


class Panel(NamedTuple):
    """One pair of axes.

    Attributes
    ----------
    title : str
        Text above the axes.
    x_label : str
        Text below the axes.
    y_label : str
        Text beside the axes.
    series : sequence of Series
        The curves.
    log : bool, default False
        Whether both axes are logarithmic.

    Examples
    --------
    >>> from driftwise.experiments import Panel, Series
    >>> panel = Panel("Growth", "n", "square", [Series("squares", [1, 2, 3], [1, 4, 9])])
    >>> [curve.name for curve in panel.series]
    ['squares']
    """

    title: str
    x_label: str
    y_label: str
    series: Sequence[Series]
    log: bool = False


@dataclass(frozen=True)
class Finding:
    """What a study found.

    Attributes
    ----------
    title : str
        Heading of the finding.
    summary : str or sequence of str
        Three to six short sentences with their numbers, as a sequence or as a text with one in a line. It is kept as a
        text.
    tables : sequence of Table
        The numbers.
    claims : sequence of Claim
        Claims about the numbers, each with its verdict.
    panels : sequence of Panel
        The figure: pairs of axes.
    columns : int, default 3
        Panels in a row.

    Examples
    --------
    >>> finding = Finding("Squares", ["The largest is 81.", "All of them are positive."], tables=[], claims=[])
    >>> finding.bullets
    ['The largest is 81.', 'All of them are positive.']
    """

    title: str
    summary: str | Sequence[str]
    tables: Sequence[Table]
    claims: Sequence[Claim]
    panels: Sequence[Panel] = ()
    columns: int = 3

    def __post_init__(self) -> None:
        if not isinstance(self.summary, str):
            object.__setattr__(self, "summary", "\n".join(" ".join(bullet.split()) for bullet in self.summary))

    @property
    def bullets(self) -> list[str]:
        """The sentences of the summary, one by one."""
        return [line.strip() for line in str(self.summary).splitlines() if line.strip()]


@dataclass(frozen=True)
class Provenance:
    """Where the numbers come from."""

    command: str
    versions: dict[str, str]
    """Versions of driftwise, Python and the packages that compute."""
    machine: str
    finished: str
    """Date and time of the end, in UTC."""
    seconds: float
    runs: int


@dataclass(frozen=True)
class Chapter:
    """The findings of one experiment, as they are kept in a folder.

    Made by `reproduce`, by `driftwise.applications.apply` and by `driftwise.report.publish`.

    Attributes
    ----------
    name : str
        Name of its file: letters, digits, - and _.
    title : str
        Heading of the chapter.
    provenance : Provenance
        Origin of the numbers: command, versions, machine, date, seconds and number of runs.
    findings : sequence of Finding
        Findings, in the order in which they are shown.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from driftwise.experiments import Chapter, Finding
    >>> from driftwise.experiments.findings.provenance import provenance
    >>> finding = Finding("Squares", "They grow.", tables=[], claims=[])
    >>> chapter = Chapter("numbers", "Numbers", provenance("by hand", seconds=0.0, runs=0), [finding])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     chapter.write(Path(folder)).name
    'numbers.json'
    """

    name: str
    title: str
    provenance: Provenance
    findings: Sequence[Finding]

    def write(self, folder: Path) -> Path:
        """Write it to ``folder/findings/NAME.json``, whole or not at all, and return the path.

        Parameters
        ----------
        folder : Path
            Folder of a report.
        """
        if not re.fullmatch(r"[\w-]+", self.name):
            raise ParameterError(f"Chapter: name must be of letters, digits, - and _, got {self.name!r}.")
        for finding in self.findings:
            _check(finding)
        path = folder / "findings" / f"{self.name}.json"
        text = json.dumps(asdict(self), indent=1, default=lambda value: value.tolist())
        make_folder("Chapter", path.parent)
        write_atomically("Chapter", path, text.encode())
        return path


MAX_BYTES = 2**29
"""Largest file of a chapter that is read."""

STYLES = ("line", "dashed", "points")


def _check(finding: Finding) -> None:
    """Raise an error that says what in a finding cannot be shown."""
    for table in finding.tables:
        for row in table.rows:
            if len(row) != len(table.header) or not all(isinstance(cell, str) for cell in row):
                raise InputError(
                    f"The table {table.title!r} needs a text for each of its {len(table.header)} columns in every row; "
                    f"got {row!r}."
                )
    for claim in finding.claims:
        if not isinstance(claim.holds, bool | np.bool_ | None):
            raise InputError(f"The claim {claim.text!r} must have True, False or None as holds, got {claim.holds!r}.")
    for panel in finding.panels:
        for series in panel.series:
            if not len(series.x) == len(series.y) == len(series.y if series.spread is None else series.spread):
                raise InputError(f"The series {series.name!r} of {panel.title!r} needs x, y and spread of one length.")
            if series.style not in STYLES:
                raise InputError(f"The series {series.name!r} has the style {series.style!r}; there are {STYLES}.")


def read_chapters(folder: Path, order: Iterable[str] = ()) -> list[Chapter]:
    """Return the chapters in a folder, those named in `order` first."""
    ranks = {name: rank for rank, name in enumerate(order)}
    chapters = [_read(path) for path in sorted((folder / "findings").glob("*.json"))]
    if not chapters:
        raise InputError(
            f"{folder} has no findings to show; `driftwise reproduce --out {folder}` makes some, and so do "
            "`driftwise compare` and `driftwise apply`."
        )
    return sorted(chapters, key=lambda chapter: (ranks.get(chapter.name, len(ranks)), chapter.name))


def _read(path: Path) -> Chapter:
    try:
        data = json.loads(read_limited("report", path, MAX_BYTES))
        for found in data["findings"]:
            found["tables"] = [Table(*table) for table in found["tables"]]
            found["claims"] = [Claim(*claim) for claim in found["claims"]]
            panels = [Panel(*panel) for panel in found["panels"]]
            found["panels"] = [panel._replace(series=[Series(*each) for each in panel.series]) for panel in panels]
        data["findings"] = [Finding(**found) for found in data["findings"]]
        data["provenance"] = Provenance(**data["provenance"])
        return Chapter(**data)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InputError(
            f"{path} is damaged ({type(error).__name__}: {error}); make it again with `driftwise reproduce {path.stem} "
            f"--out {path.parents[1]} --resume`, or delete it."
        ) from None
