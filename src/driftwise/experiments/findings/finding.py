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
    """A statement with the numbers that decide it."""

    text: str
    """What is claimed."""
    holds: bool | None
    """Verdict; None if it could not be checked."""
    measured: str
    """The numbers that decide it."""
    paper: bool = False
    """Whether the claim is the paper's; ours if not."""

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
    """Rows of text under a header; the first column names the row."""

    title: str
    """Heading, which says what the numbers are."""
    header: Sequence[str]
    """Name of every column."""
    rows: Sequence[Sequence[str]]
    """Rows of texts, one for each column."""
    detail: bool = False
    """Whether it is a detail: folded up in the report, and not printed."""


class Series(NamedTuple):
    """One curve of a panel. The same name has the same colour in every panel."""

    name: str
    """Name in the legend."""
    x: Sequence[float]
    """Points at which it was measured."""
    y: Sequence[float]
    """Values measured there."""
    spread: Sequence[float] | None = None
    """Standard deviation over runs, drawn as a band around the curve."""
    style: str = "line"
    """"line", "dashed" for references and bounds, or "points" for measurements, which are joined by a thin line."""


class Panel(NamedTuple):
    """One pair of axes."""

    title: str
    """Text above the axes."""
    x_label: str
    """Text below the axes."""
    y_label: str
    """Text beside the axes."""
    series: Sequence[Series]
    """The curves."""
    log: bool = False
    """Whether both axes are logarithmic."""


@dataclass(frozen=True)
class Finding:
    """What a study found.

    Examples
    --------
    >>> finding = Finding("Squares", ["The largest is 81.", "All of them are positive."], tables=[], claims=[])
    >>> finding.bullets
    ['The largest is 81.', 'All of them are positive.']
    """

    title: str
    """Heading of the finding."""
    summary: str | Sequence[str]
    """Three to six short sentences with their numbers, as a sequence or as a text with one in a line. It is kept as a
    text."""
    tables: Sequence[Table]
    """The numbers."""
    claims: Sequence[Claim]
    """Claims about the numbers, each with its verdict."""
    panels: Sequence[Panel] = ()
    """The figure: pairs of axes."""
    columns: int = 3
    """Panels in a row."""

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
    """The findings of one experiment, as they are kept in a folder."""

    name: str
    """Name of its file: letters, digits, - and _."""
    title: str
    """Heading of the chapter."""
    provenance: Provenance
    """Origin of the numbers."""
    findings: Sequence[Finding]
    """Findings, in the order in which they are shown."""

    def write(self, folder: Path) -> Path:
        """Write it to ``folder/findings/NAME.json``, whole or not at all, and return the path."""
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
