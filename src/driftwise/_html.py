"""Objects as notebooks show them: a card with a table, bars and small curves, in HTML that needs nothing from outside.

A class says what is on its card by `_card`; `Shown` makes HTML of it. Nothing is computed that is not there, nothing
changes, and a card has a size that does not grow with the run: a curve is drawn through `POINTS` points at most. All
text is escaped. There is no style sheet, since a page has one of its own: text has its colours, and lines and areas
have ones that can be seen on a light and on a dark page.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

COLOURS = ("#1e96f5", "#c88400", "#00a677", "#a541aa")
"""Colours with a contrast of at least 3 to 1 on white and on near-black, as in the report's palette."""

POINTS = 120
"""Points of a curve, at most."""

WORDS = 600
"""Characters of a text, at most."""

LINES = 8
"""Rows of bars, at most; the others are counted."""

_WIDTH, _HEIGHT = 320, 72
_FAINT = "rgba(128,128,128,.35)"


class Bar(NamedTuple):
    """A row of a table with a bar in it."""

    name: str
    share: float
    """Length of the bar, from 0 to 1."""
    text: str


class Curve(NamedTuple):
    """A line of a picture."""

    name: str
    values: NDArray[Any]
    filled: bool = False
    """Whether the area below it is filled."""


@dataclass(frozen=True)
class Picture:
    """Some curves in one frame.

    Parameters
    ----------
    title : str
        What they are of.
    curves : sequence of Curve
        Of the same length.
    """

    title: str
    curves: Sequence[Curve]


@dataclass(frozen=True)
class Card:
    """What a notebook shows of an object.

    Parameters
    ----------
    title : str
        The class, or whatever it is called.
    rows : sequence of (str, str)
        A name and what belongs to it.
    heading : str
        Heading of the bars.
    bars : sequence of Bar
        Of these the first ones are shown.
    pictures : sequence of Picture
        Small curves.
    notes : sequence of str
        Sentences below.

    Examples
    --------
    >>> card = Card("Trace<OGD>", [("rounds", "3")], pictures=[Picture("loss", [Curve("loss", np.arange(3.0))])])
    >>> text = card.render()
    >>> text[:5], "Trace&lt;OGD&gt;" in text, "<svg" in text
    ('<div ', True, True)
    """

    title: str
    rows: Sequence[tuple[str, str]] = ()
    heading: str = ""
    bars: Sequence[Bar] = ()
    pictures: Sequence[Picture] = ()
    notes: Sequence[str] = ()

    def render(self) -> str:
        """Return the card as HTML."""
        parts = [
            f'<div class="driftwise" style="display:inline-block;max-width:56em;padding:.6em .9em;'
            f'border:1px solid {_FAINT};border-radius:.5em;font-size:90%;line-height:1.45;text-align:left">',
            f'<div style="font-weight:600;margin-bottom:.3em">{words(self.title)}</div>',
        ]
        if self.rows:
            parts += ['<table style="border-collapse:collapse;margin:0">', *map(_row, self.rows), "</table>"]
        if self.bars:
            parts += _bars(self.heading, self.bars)
        if drawn := [svg for svg in map(_drawn, self.pictures) if svg]:
            parts += ['<div style="display:flex;flex-wrap:wrap;gap:.8em;margin-top:.5em">', *drawn, "</div>"]
        parts += [f'<div style="margin-top:.4em;opacity:.8">{words(note)}</div>' for note in self.notes]
        return "\n".join([*parts, "</div>"])


class Shown:
    """Base class of what notebooks show as a card."""

    def _card(self) -> Card:
        """Return what is shown; it may fail, for example where a subclass does, and then `repr` is shown."""
        return Card(type(self).__name__)

    def _repr_html_(self) -> str:
        """Return the object as HTML, for notebooks."""
        try:
            return self._card().render()
        except Exception:  # a notebook would show the error in place of the object
            return f"<pre>{words(_safe_repr(self))}</pre>"


def _safe_repr(what: object) -> str:
    try:
        return repr(what)
    except Exception:
        return f"<{type(what).__name__}>"


def words(text: object) -> str:
    """Return a text for HTML: escaped, in one line, and of bounded length.

    Examples
    --------
    >>> words("<script>alert(1)</script>")
    '&lt;script&gt;alert(1)&lt;/script&gt;'
    """
    short = " ".join(str(text)[: 4 * WORDS].split())
    return escape(short if len(short) <= WORDS else f"{short[: WORDS - 3]}...")


def counted(count: int, what: str) -> str:
    """Return a number and what is counted, as in "1 round" and "2 rounds"."""
    return f"{count} {what}{'' if count == 1 else 's'}"


def _row(row: tuple[str, str]) -> str:
    name, value = row
    cell = "border:0;background:none;padding:.05em 0;text-align:left;vertical-align:top"
    return (
        f'<tr style="background:none"><td style="{cell};padding-right:1.2em;opacity:.7;white-space:nowrap">'
        f'{words(name)}</td><td style="{cell}">{words(value)}</td></tr>'
    )


def _bars(heading: str, bars: Sequence[Bar]) -> Iterator[str]:
    yield f'<div style="margin-top:.5em;opacity:.7">{words(heading)}</div>'
    yield '<table style="border-collapse:collapse;margin:0">'
    cell = "border:0;background:none;padding:.05em 1em .05em 0;text-align:left"
    for bar in bars[:LINES]:
        width = 8.0 * min(max(float(bar.share), 0.0), 1.0) if np.isfinite(bar.share) else 0.0
        length = f"display:inline-block;height:.7em;width:{width:.2f}em;background:{COLOURS[0]};border-radius:.15em"
        yield (
            f'<tr style="background:none"><td style="{cell}">{words(bar.name)}</td>'
            f'<td style="{cell};min-width:8em"><span style="{length}"></span></td>'
            f'<td style="{cell};font-variant-numeric:tabular-nums">{words(bar.text)}</td></tr>'
        )
    yield "</table>"
    if len(bars) > LINES:
        yield f'<div style="opacity:.7">and {len(bars) - LINES} more</div>'


def _drawn(picture: Picture) -> str:
    """Return curves as a drawing with a legend; nothing where there is nothing to draw."""
    curves = [Curve(curve.name, thinned(curve.values), curve.filled) for curve in picture.curves]
    every = np.concatenate([curve.values for curve in curves]) if curves else np.empty(0)
    every = every[np.isfinite(every)]
    if not every.size:
        return ""
    low, high = float(every.min()), float(every.max())
    if any(curve.filled for curve in curves):
        low, high = min(low, 0.0), max(high, 0.0)
    colours = dict(zip([curve.name for curve in curves], COLOURS * len(curves), strict=False))
    shapes = [_shape(curve, colours[curve.name], low, high) for curve in curves]
    legend = "".join(
        f'<span style="margin-right:.9em"><span style="color:{colours[curve.name]}">&#9632;</span> {words(curve.name)}'
        "</span>"
        for curve in curves
    )
    title = words(picture.title)
    return (
        f'<figure style="margin:0"><figcaption style="opacity:.7">{title}, from {low:.6g} to {high:.6g}</figcaption>'
        f'<svg width="{_WIDTH}" height="{_HEIGHT}" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
        f'aria-label="{title}" style="display:block;max-width:100%;border-bottom:1px solid {_FAINT}">'
        f'{"".join(shapes)}</svg><div style="font-size:90%">{legend}</div></figure>'
    )


def _shape(curve: Curve, colour: str, low: float, high: float) -> str:
    """Return a curve as a line, or as the area below it."""
    known = np.flatnonzero(np.isfinite(curve.values))
    # Halves, since the difference of two numbers may be beyond what a number can be.
    span = (high / 2.0 - low / 2.0) or 1.0
    across = _WIDTH / max(curve.values.size - 1, 1) * known
    down = (_HEIGHT - 4) * (1.0 - (curve.values[known] / 2.0 - low / 2.0) / span) + 2.0
    if known.size == 1:
        across, down = np.array([0.0, _WIDTH]), np.repeat(down, 2)
    points = " ".join(f"{x:.4g},{y:.3g}" for x, y in zip(across, down, strict=True))
    if not curve.filled:
        return f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.5"/>'
    floor = (_HEIGHT - 4) * (1.0 + (low / 2.0) / span) + 2.0
    return (
        f'<polygon points="{across[0]:.4g},{floor:.3g} {points} {across[-1]:.4g},{floor:.3g}" fill="{colour}" '
        f'fill-opacity=".45" stroke="{colour}" stroke-width="1"/>'
    )


def thinned(values: NDArray[Any]) -> NDArray[Any]:
    """Return a curve through few points: the least and the largest of each stretch, in turn; all of a short one.

    Examples
    --------
    >>> thinned(np.arange(1e6)).size <= POINTS
    True
    >>> spike = np.zeros(10_000)
    >>> spike[1234] = 9.0
    >>> float(thinned(spike).max())
    9.0
    """
    if values.size <= POINTS:
        return np.asarray(values, np.float64)
    stretches = np.array_split(np.asarray(values, np.float64), POINTS // 2)
    return np.array([end for part in stretches for end in _ends(part)])


def _ends(part: NDArray[np.float64]) -> tuple[float, float]:
    """Return the least and the largest value of a stretch, in the order in which they come."""
    low, high = sorted((int(part.argmin()), int(part.argmax())))
    return float(part[low]), float(part[high])


def heaviest(names: Sequence[str], weights: NDArray[Any]) -> list[Bar]:
    """Return weights as bars, the largest first.

    Examples
    --------
    >>> [bar.text for bar in heaviest(["a", "b"], np.array([0.25, 0.75]))]
    ['75.0%', '25.0%']
    """
    order = np.argsort(-weights, kind="stable")
    return [Bar(names[i], float(weights[i]), f"{weights[i]:.1%}") for i in order]


def paths(values: NDArray[Any], name: str, most: int = 3) -> Iterable[Curve]:
    """Return the first coordinates of vectors, one a row, as curves."""
    rows = values.reshape(len(values), -1)
    return [Curve(f"{name}_{k}", rows[:, k]) for k in range(min(rows.shape[1], most))]
