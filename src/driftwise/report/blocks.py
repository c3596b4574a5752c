"""The parts of the page: a finding with its figure, tables and claims, and where its numbers come from."""

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from html import escape
from typing import Any

from driftwise.experiments.findings.finding import Claim, Finding, Provenance, Table
from driftwise.report.curves import dash, entries
from driftwise.report.palette import MARKERS, Look
from driftwise.report.panels import figure

__all__ = ["claim_list", "finding_section", "provenance"]

LONG, LONG_MAIN = 12, 24
"""Most rows of a table that is shown unfolded, and of the main table of a finding."""

SHORT = 24
"""Most letters of a row's name that is kept on one line."""

MARKS = {True: ("yes", "✓"), False: ("no", "✗"), None: ("unknown", "?")}

NUMBER = re.compile(r"[-+\u2212±<>≤≥~≈]?\s*(\d|\.\d|nan\b|inf\b)|[-\u2013\u2014]?$", re.IGNORECASE)


def finding_section(finding: Finding, key: str, looks: Mapping[str, Look]) -> Iterator[str]:
    """Yield the section of a finding: its figure, its main table, what it says, its claims, and the other tables."""
    yield f'<section class="finding" aria-labelledby="{key}"><h3 id="{key}">{escape(finding.title)}</h3>'
    if finding.panels:
        yield from _figure(finding, key, looks)
    yield from (_table(table, LONG_MAIN) for table in finding.tables[:1])
    if finding.bullets:
        yield '<h4>What came out</h4><ul class="said">'
        yield from (f"<li>{escape(bullet)}</li>" for bullet in finding.bullets)
        yield "</ul>"
    if finding.claims:
        yield "<h4>Claims</h4>"
        yield from claim_list((claim, None) for claim in finding.claims)
    if finding.tables[1:]:
        yield "<h4>More tables</h4>"
        yield from map(_table, finding.tables[1:])
    yield "</section>"


def claim_list(claims: Iterable[tuple[Claim, str | None]]) -> Iterator[str]:
    """Yield claims with their verdicts, each as a link if it has a target."""
    yield '<ul class="claims">'
    yield from (_claim(claim, key) for claim, key in claims)
    yield "</ul>"


def _claim(claim: Claim, key: str | None) -> str:
    kind, mark = MARKS[claim.holds]
    text = escape(claim.title)
    return (
        f'<li class="{kind}"><span class="verdict"><span aria-hidden="true">{mark}</span> {claim.verdict}</span> '
        + (f'<a href="#{key}">{text}</a>' if key else text)
        + f' <span class="measured">{escape(claim.measured)}</span></li>'
    )


def provenance(source: Provenance) -> Iterator[str]:
    """Yield where the numbers of a chapter come from."""
    versions = ", ".join(f"{name} {version}" for name, version in source.versions.items())
    facts = {
        "Finished": source.finished,
        "Time": f"{_duration(source.seconds)} for {source.runs:,} {'run' if source.runs == 1 else 'runs'}",
        "Machine": source.machine,
        "Versions": versions,
    }
    yield '<section class="source"><h3>Where these numbers come from</h3>'
    yield f'<pre tabindex="0"><code>{escape(source.command)}</code></pre><dl>'
    yield from (f"<div><dt>{name}</dt><dd>{escape(fact)}</dd></div>" for name, fact in facts.items())
    yield "</dl></section>"


def _figure(finding: Finding, key: str, looks: Mapping[str, Look]) -> Iterator[str]:
    yield f'<figure id="figure-{key}" aria-label="{escape(finding.title)}">'
    yield '<ul class="legend" aria-label="Curves">'
    for name, series in entries(finding).items():
        yield (
            f'<li><button type="button" aria-pressed="true" data-name="{escape(name)}">'
            f"{_swatch(looks[name], dash(series, looks[name]), series.style != 'dashed')}{escape(name)}</button></li>"
        )
    yield "</ul>"
    titles = "; ".join(panel.title for panel in finding.panels)
    yield f'<div class="plot" role="img" aria-label="{escape(titles)}"></div>'
    yield f'<script type="application/json">{_json(figure(finding, looks))}</script>'
    spread = any(series.spread is not None for panel in finding.panels for series in panel.series)
    yield (
        f"<figcaption>{'Bands are one standard deviation over runs to either side. ' if spread else ''}"
        "Click a name to hide or show it in all panels, double-click to see it alone."
        '<span class="mouse"> Drag to zoom, double-click to zoom out.</span>'
        f'<span class="files"> For print: <a href="figures/{key}.pdf">PDF</a>, '
        f'<a href="figures/{key}.png">PNG</a>.</span></figcaption></figure>'
    )


def _json(data: Any) -> str:
    """Return JSON that is safe inside a script: nothing in it looks like a tag or a comment."""
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _table(table: Table, most: int = LONG) -> str:
    columns = list(zip(*table.rows, strict=False))
    numeric = [place > 0 and all(NUMBER.match(cell.strip()) for cell in column) for place, column in enumerate(columns)]
    kinds = [' class="number"' if right else "" for right in numeric] + [""] * len(table.header)
    head = "".join(
        f'<th scope="col"{kind}>{escape(text)}</th>' for text, kind in zip(table.header, kinds, strict=False)
    )
    lines = "\n".join(
        f'<tr><th scope="row">{escape(first)}</th>'
        + "".join(f"<td{kind}>{escape(text)}</td>" for text, kind in zip(rest, kinds[1:], strict=False))
        + "</tr>"
        for first, *rest in table.rows
    )
    title, folded = escape(table.title), table.detail or len(table.rows) > most
    hidden = ' class="spoken"' if folded else ""
    short = ' class="short"' if all(len(row[0]) <= SHORT for row in table.rows) else ""
    body = (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{title}"><table{short}>'
        f"<caption{hidden}>{title}</caption>"
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{lines}\n</tbody></table></div>"
    )
    if folded:
        kind = ' class="detail"' if table.detail else ""
        rows = f"{len(table.rows)} {'row' if len(table.rows) == 1 else 'rows'}"
        return f"<details{kind}><summary>{title} <small>({rows})</small></summary>{body}</details>"
    return body


def _swatch(look: Look, pattern: tuple[float, ...], marked: bool) -> str:
    """Return a piece of the curve, as it is drawn."""
    lengths = " ".join(f"{length:g}" for length in pattern)
    dashes = f' stroke-dasharray="{lengths}"' if pattern else ""
    fill = f'class="hollow" stroke="{look.colour}" stroke-width="1.4"' if look.hollow else f'fill="{look.colour}"'
    marker = f'<polygon points="{_outline(look.marker)}" {fill}/>' if marked else ""
    return (
        '<svg width="30" height="12" viewBox="0 0 30 12" aria-hidden="true">'
        f'<path d="M0 6H30" stroke="{look.colour}" stroke-width="2"{dashes}/>{marker}</svg>'
    )


def _outline(marker: str) -> str:
    """Return the corners of a marker around the middle of a swatch."""
    corners, turn, inner = MARKERS[marker][1]
    radii = [4.5 if k % 2 == 0 else 4.5 * inner for k in range(corners)]
    angles = [2.0 * math.pi * (turn + k / corners) for k in range(corners)]
    return " ".join(
        f"{15 + r * math.sin(angle):.2f},{6 - r * math.cos(angle):.2f}" for r, angle in zip(radii, angles, strict=True)
    )


def _duration(seconds: float) -> str:
    """Return a time in its two largest units.

    >>> _duration(0.25), _duration(62.0), _duration(7260.0)
    ('0.2 s', '1 min 2 s', '2 h 1 min')
    """
    if seconds < 10.0:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
