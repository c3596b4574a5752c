"""The page says what the findings say, in order, and nothing in them can break out."""

import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from driftwise.experiments.findings.finding import Chapter, Claim, Finding
from driftwise.report import Report, build
from tests.report import chapters
from tests.report.reading import Node, Reader

FIGURE1 = "figure1-1-figure-1-three-prices-of-moving"


@pytest.fixture(scope="module")
def page(report: Report) -> Node:
    return Reader.read(report.page.read_text(encoding="utf-8"))


def _findings() -> list[Finding]:
    return [*chapters.figure1().findings, *chapters.theory().findings]


def test_is_one_document_with_a_language_and_a_title(page: Node) -> None:
    (html,) = page.all("html")
    assert html.attributes["lang"] == "en"
    assert page.all("title")[0].text == "driftwise report: Figure 1 of the paper, Theory & <practice>"
    assert len(page.all("h1")) == 1


def test_headings_do_not_skip_a_level(page: Node) -> None:
    levels = [int(node.tag[1]) for node in page.all("h1", "h2", "h3", "h4")]
    assert levels[0] == 1
    assert all(below <= above + 1 for above, below in pairwise(levels))


def test_loads_nothing(page: Node, report: Report) -> None:
    assert [node for node in page.all("script", "img", "iframe") if "src" in node.attributes] == []
    assert [node.attributes["href"] for node in page.all("link")] == ["data:,"]
    (policy,) = page.all("meta", http_equiv="Content-Security-Policy")
    assert policy.attributes["content"].startswith("default-src 'none'; ")
    assert report.page.read_text(encoding="utf-8").count("plotly.js v") == 1


def test_every_link_leads_somewhere(page: Node, folder: Path) -> None:
    identities = [node.attributes["id"] for node in _everything(page) if "id" in node.attributes]
    assert len(identities) == len(set(identities))
    for link in page.all("a"):
        target = link.attributes["href"]
        assert target[1:] in identities if target.startswith("#") else (folder / target).is_file()


def test_the_head_counts_the_claims_and_leads_to_the_verdict(page: Node) -> None:
    (about,) = page.all("p", class_="about")
    assert about.text.startswith("5 claims hold, 1 does not hold, 1 was not checked.")
    assert about.all("a")[0].attributes["href"] == "#verdict"


def test_the_page_opens_with_figure_1_and_its_table_and_ends_with_the_verdict(page: Node) -> None:
    (main,) = page.all("main")
    assert next(node.text for node in main.all("h2", "h3")) == "Figure 1 of the paper"
    order = [node.tag for node in main.all("figure", "table", "ul") if node.attributes.get("class") != "legend"]
    assert order[:4] == ["figure", "table", "ul", "ul"]  # picture, main table, bullets, claims
    assert main.all("section")[-1].attributes["aria-labelledby"] == "verdict"


def test_the_verdict_counts_the_claims_and_names_those_that_do_not_hold_first(page: Node) -> None:
    (verdict,) = page.all("section", aria_labelledby="verdict")
    assert verdict.all("p", class_="count")[0].text == "5 claims hold, 1 does not hold, 1 was not checked."
    (fails,) = verdict.all("li", class_="no")
    assert fails.text == (
        "✗ does not hold At λ = 2, Scream is no worse than OGD "
        "on 13 of 20 streams; Scream / OGD from 0.97 to 1.06, mean 1.01"
    )
    assert fails.all("a")[0].attributes["href"] == f"#{FIGURE1}"
    (unknown,) = verdict.all("li", class_="unknown")
    assert "? not checked" in unknown.text
    assert len(verdict.all("li", class_="yes")) == 5
    assert verdict.text.index("What does not hold") < verdict.text.index("What holds", 30)


def test_every_finding_has_a_section_in_the_order_asked_for(page: Node) -> None:
    sections = page.all("section", class_="finding")
    assert [section.all("h3")[0].text for section in sections] == [finding.title for finding in _findings()]
    for section, finding in zip(sections, _findings(), strict=True):
        (said,) = section.all("ul", class_="said")
        assert [node.text for node in said.all("li")] == finding.bullets
        verdicts = [node.text for node in section.all("span", class_="verdict")]
        assert [text.split(" ", 1)[1] for text in verdicts] == [claim.verdict for claim in finding.claims]
        assert [node.text for node in section.all("span", class_="measured")] == [c.measured for c in finding.claims]
        assert len(section.all("figure")) == bool(finding.panels)


def test_legend_has_every_name_once(page: Node) -> None:
    legend = page.all("ul", class_="legend")[0]
    assert [button.attributes["data-name"] for button in legend.all("button")] == list(chapters.COSTS)
    assert [button.text for button in legend.all("button")] == list(chapters.COSTS)


def test_tables_have_captions_and_scopes_and_long_ones_and_details_are_closed(page: Node) -> None:
    tables = [table for finding in _findings() for table in finding.tables]
    nodes = page.all("table")
    assert [node.all("caption")[0].text for node in nodes] == [table.title for table in tables]
    for node, table in zip(nodes, tables, strict=True):
        assert [cell.text for cell in node.all("th", scope="col")] == list(table.header)
        assert [cell.text for cell in node.all("th", scope="row")] == [row[0] for row in table.rows]
        assert [cell.text for cell in node.all("td")] == [cell for row in table.rows for cell in row[1:]]
    closed = page.all("details")
    assert [node.all("summary")[0].text for node in closed] == [
        "Overall cost on every stream (20 rows)",
        "Every case: regret and bound (40 rows)",
        f"{chapters.EVIL} (1 row)",
    ]
    assert not any("open" in node.attributes for node in closed)


def test_numbers_stand_to_the_right_and_words_to_the_left(page: Node) -> None:
    exponents = next(node for node in page.all("table") if "Exponents" in node.text)
    assert [cell.attributes.get("class") for cell in exponents.all("th", scope="col")] == [None, "number", None]
    costs = page.all("table")[0]
    assert {cell.attributes.get("class") for cell in costs.all("td")} == {"number"}


def test_says_where_the_numbers_come_from(page: Node) -> None:
    sources = page.all("section", class_="source")
    assert len(sources) == 2
    for source in sources:
        assert source.all("pre")[0].text == chapters.SOURCE.command
        assert [node.text for node in source.all("dd")] == [
            "2025-03-14 15:09:26 UTC",
            "31 min 13 s for 480 runs",
            "Linux x86_64, 8 cores, Intel(R) Core(TM) i7-1185G7 @ 3.00GHz",
            "driftwise 0.4.0, Python 3.12.3, numpy 2.1.0, numba 0.61.2, scipy 1.14.1",
        ]


def test_text_stays_text(page: Node) -> None:
    # Two parts of the theme, plotly and ours, three figures: no other script, and no tag from a name.
    assert len(page.all("script")) == 3 + 3
    assert page.all("em") == page.all("i") == []
    data = json.loads(page.all("figure")[2].all("script")[0].text)
    assert data["panels"][0]["title"].startswith(chapters.EVIL)
    assert {trace["legendgroup"] for trace in data["traces"]} == {chapters.EVIL, "Scream"}
    # Plotly reads names as HTML.
    assert "<" not in data["traces"][0]["name"]


def test_the_same_findings_give_the_same_page(report: Report, tmp_path: Path) -> None:
    for chapter in (chapters.figure1(), chapters.theory()):
        chapter.write(tmp_path)
    assert build(tmp_path, order=["figure1"]).page.read_bytes() == report.page.read_bytes()


def test_one_finding_needs_no_contents(tmp_path: Path) -> None:
    finding = Finding("Alone", "One.", [], [Claim("It is so", True, "1"), Claim("And so", True, "2")])
    Chapter("alone", "Alone", replace(chapters.SOURCE, runs=1, seconds=0.4), [finding]).write(tmp_path)
    page = Reader.read(build(tmp_path).page.read_text(encoding="utf-8"))
    assert page.all("nav") == page.all("figure") == []
    assert page.all("p", class_="count")[0].text == "2 claims hold, 0 do not hold, 0 were not checked."
    assert "0.4 s for 1 run" in page.text


def _everything(node: Node) -> list[Node]:
    below = [part for part in node.parts if isinstance(part, Node)]
    return below + [deeper for part in below for deeper in _everything(part)]
