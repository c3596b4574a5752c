"""The page: one HTML file with its style, its script and plotly.js inside."""

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from importlib.resources import files

from driftwise.experiments.findings.finding import Chapter, Claim, Finding
from driftwise.report.blocks import claim_list, finding_section, provenance
from driftwise.report.palette import Look

__all__ = ["page"]

# Nothing may be loaded from anywhere, whatever a finding says.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data: blob:"

# Before anything is drawn, so that a dark window does not flash.
THEME = (
    'document.documentElement.dataset.theme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";'
)


Contents = Sequence[tuple[Chapter, Mapping[str, Finding]]]
"""Every chapter, with its findings by the names of their links and figures."""


def page(contents: Contents, looks: Mapping[str, Look]) -> str:
    """Return the page of some chapters."""
    from plotly.offline import get_plotlyjs

    claims = [(claim, key) for _, findings in contents for key, finding in findings.items() for claim in finding.claims]
    several = sum(len(findings) for _, findings in contents) > 1
    frame = "frame wide" if several else "frame"
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en" data-theme="light">',
            "<head>",
            '<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>driftwise report: {escape(', '.join(chapter.title for chapter, _ in contents))}</title>",
            '<link rel="icon" href="data:,">',
            f"<style>\n{_resource('page.css')}</style>",
            f"<script>{THEME}</script>",
            "</head>",
            "<body>",
            '<a class="skip" href="#chapter-1">Skip to the first chapter</a>',
            '<header class="bar"><a class="home" href="#top">driftwise report</a><a href="#verdict">What holds</a>'
            '<button type="button" id="theme">Dark</button></header>',
            f'<div class="{frame}" id="top">',
            *(_contents(contents) if several else ()),
            "<main>",
            "<h1>driftwise report</h1>",
            f'<p class="about">{_count([claim for claim, _ in claims])} '
            '<a href="#verdict">Which ones, at the end of the page.</a></p>',
            "<noscript><p>The figures of this page need JavaScript; text, claims and tables do not. The same figures "
            "are in the folder <code>figures</code> as PNG and PDF.</p></noscript>",
            *_chapters(contents, looks),
            *_verdict(claims),
            "</main>",
            "</div>",
            f"<script>{get_plotlyjs()}</script>",
            f"<script>\n{_resource('page.js')}</script>",
            "</body>",
            "</html>",
            "",
        ]
    )


def _resource(name: str) -> str:
    return (files(__package__) / name).read_text(encoding="utf-8")


def _contents(contents: Contents) -> Iterator[str]:
    yield '<nav aria-label="Contents"><ul>'
    for number, (chapter, findings) in enumerate(contents, 1):
        yield f'<li><a href="#chapter-{number}">{escape(chapter.title)}</a><ul>'
        for key, finding in findings.items():
            flag = " ✗" if any(claim.holds is False for claim in finding.claims) else ""
            spoken = '<span class="spoken"> (a claim does not hold)</span>' if flag else ""
            yield f'<li><a href="#{key}">{escape(finding.title)}<b class="no">{flag}</b>{spoken}</a></li>'
        yield "</ul></li>"
    yield '<li><a href="#verdict">What holds and what does not</a></li></ul></nav>'


def _verdict(claims: Sequence[tuple[Claim, str]]) -> Iterator[str]:
    """Say how many claims hold, and list all of them, those that do not hold first."""
    yield '<section class="chapter" aria-labelledby="verdict"><h2 id="verdict">What holds and what does not</h2>'
    yield f'<p class="count">{_count([claim for claim, _ in claims])}</p>'
    for holds, lead in ((False, "What does not hold"), (None, "What was not checked"), (True, "What holds")):
        listed = [(claim, key) for claim, key in claims if claim.holds is holds]
        if listed:
            yield f"<h3>{lead}</h3>"
            yield from claim_list(listed)
    yield "</section>"


def _count(claims: Sequence[Claim]) -> str:
    """Return how many claims hold, in words.

    >>> _count([Claim("", True, ""), Claim("", True, ""), Claim("", None, "")])
    '<b>2 claims hold</b>, <b>0</b> do not hold, <b>1</b> was not checked.'
    """
    if not claims:
        return "There are no claims to check here."
    yes, no, unknown = (sum(claim.holds is holds for claim in claims) for holds in (True, False, None))
    return (
        f"<b>{yes} {'claim holds' if yes == 1 else 'claims hold'}</b>, "
        f"<b>{no}</b> {'does' if no == 1 else 'do'} not hold, "
        f"<b>{unknown}</b> {'was' if unknown == 1 else 'were'} not checked."
    )


def _chapters(contents: Contents, looks: Mapping[str, Look]) -> Iterator[str]:
    for number, (chapter, findings) in enumerate(contents, 1):
        yield f'<section class="chapter" aria-labelledby="chapter-{number}">'
        yield f'<h2 id="chapter-{number}">{escape(chapter.title)}</h2>'
        for key, finding in findings.items():
            yield from finding_section(finding, key, looks)
        yield from provenance(chapter.provenance)
        yield "</section>"
