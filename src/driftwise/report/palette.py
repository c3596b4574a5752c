"""The colour, dash and marker of every name: the same in every panel, on the page and in print.

The eight colours keep the hues of Okabe and Ito's palette. They are moved in lightness so that each has a contrast of
at least 3 to 1 on the light and on the dark page, and so that any two are told apart with any of the three kinds of
colour blindness. Dashes and markers repeat the distinction, for print in grey.
"""

from collections import Counter
from collections.abc import Iterable
from itertools import count
from typing import NamedTuple

from driftwise.experiments.findings.finding import Chapter

__all__ = ["COLOURS", "MARKERS", "Look", "assign"]

COLOURS = {
    "blue": "#1162ea",
    "orange": "#c88400",
    "green": "#00a677",
    "rust": "#b94416",
    "purple": "#a541aa",
    "sky": "#1e96f5",
    "brown": "#915f41",
    "grey": "#6f6f7d",
}

DASHES = ((), (7.0, 2.5), (2.0, 2.0), (8.0, 2.5, 2.0, 2.5))
"""Lengths of dashes and gaps, in multiples of the line width or so; the first is a solid line."""

MARKERS = {
    "circle": ("o", (20, 0.0, 1.0)),
    "square": ("s", (4, 0.125, 1.0)),
    "triangle-up": ("^", (3, 0.0, 1.0)),
    "diamond": ("D", (4, 0.0, 1.0)),
    "triangle-down": ("v", (3, 0.5, 1.0)),
    "star": ("*", (10, 0.0, 0.45)),
    "pentagon": ("p", (5, 0.0, 1.0)),
    "x": ("X", (8, 0.125, 0.35)),
}
"""Plotly's names in the order of the colours, each with matplotlib's letter and its outline: the number of corners, the
turn of the first, and the radius of every second one."""

# The learners that are compared most often are the furthest apart; references are grey, brown or sky.
USUAL = {
    "OGD": "blue",
    "Ader, original": "orange",
    "Ader, improved": "green",
    "Ader": "green",
    "Scream": "rust",
    "Lazy Scream": "purple",
    "Hindsight optimum": "grey",
    "LQR": "brown",
    "Best linear gain": "grey",
    "Best fixed DAC": "sky",
    "Best DAC per stage": "orange",
}


class Look(NamedTuple):
    """How a name is drawn."""

    colour: str
    """Colour as #rrggbb."""
    dash: tuple[float, ...]
    """Lengths of dashes and gaps; a solid line if empty."""
    marker: str
    """Plotly's name of the marker."""
    hollow: bool
    """Whether only the outline of the marker is drawn."""


def assign(chapters: Iterable[Chapter]) -> dict[str, Look]:
    """Give every name in the chapters its look.

    Usual names have a colour of their own. A name that begins with one, such as "Scream, appendix", is a variant: the
    same hue, dashed, with a hollow marker. Any other name gets, first come first served, the colour that is used
    least beside it and then least at all; where that is taken, too, it is told apart by its dash.

    Parameters
    ----------
    chapters : iterable of Chapter
        Everything that is shown together.

    Returns
    -------
    dict
        From names to looks, in the order in which names first appear.

    Examples
    --------
    >>> from driftwise.experiments.findings.finding import Chapter, Finding, Panel, Provenance, Series
    >>> curves = [Series(name, [1, 2], [3, 4]) for name in ("Scream", "Scream, appendix")]
    >>> finding = Finding("Both rates", "", [], [], [Panel("", "", "", curves)])
    >>> chapter = Chapter("rates", "Rates", Provenance("", {}, "", "", 0.0, 0), [finding])
    >>> for name, look in assign([chapter]).items():
    ...     print(name, look.colour, look.dash, look.hollow)
    Scream #b94416 () False
    Scream, appendix #c86d49 (7.0, 2.5) True
    """
    companies = [
        list(dict.fromkeys(series.name for panel in finding.panels for series in panel.series))
        for chapter in chapters
        for finding in chapter.findings
    ]
    names = list(dict.fromkeys(name for company in companies for name in company))
    beside = {name: {other for company in companies if name in company for other in company} for name in names}
    # Usual names come first: what they do not use is free for the others.
    hues = {name: hue for name in names if (hue := _usual(name))}
    ranks: dict[str, int] = {}
    for name in sorted(names, key=lambda name: name not in USUAL):
        if name not in hues:
            near = Counter(hues[other] for other in beside[name] if other in hues)
            anywhere = Counter(hues.values())
            hues[name] = min(COLOURS, key=lambda hue: (near[hue], anywhere[hue]))
        taken = {ranks[other] for other in beside[name] if other in ranks and hues[other] == hues[name]}
        least = 1 if name not in USUAL and _usual(name) else 0
        ranks[name] = next(rank for rank in count(least) if rank not in taken)
    return {name: _look(hues[name], ranks[name]) for name in names}


def _usual(name: str) -> str | None:
    """Return the hue of a usual name or of a variant of one."""
    bases = [base for base in USUAL if name == base or (name.startswith(base) and not name[len(base)].isalnum())]
    return USUAL[max(bases, key=len)] if bases else None


def _look(hue: str, rank: int) -> Look:
    """Return the look of a colour's first name, or of one of those that share it."""
    marker = list(MARKERS)[(list(COLOURS).index(hue) + 3 * rank) % len(MARKERS)]
    return Look(_shade(COLOURS[hue]) if rank % 2 else COLOURS[hue], DASHES[rank % len(DASHES)], marker, rank > 0)


def _shade(colour: str) -> str:
    """Return a neighbour of a colour: a lighter one of a dark colour, a darker one of a light colour."""
    parts = [int(colour[k : k + 2], 16) for k in (1, 3, 5)]
    luminance = sum(weight * (part / 255) ** 2.2 for weight, part in zip((0.21, 0.72, 0.07), parts, strict=True))
    light = luminance > 0.2
    return "#" + "".join(f"{round(0.75 * part if light else part + 0.22 * (255 - part)):02x}" for part in parts)
