"""The page in a real browser: it draws, it answers to clicks, and it asks nobody for anything."""

import io
import os
import shutil
from collections.abc import Iterator
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NoReturn

import pytest
from PIL import Image

from driftwise.experiments.findings.finding import Finding
from driftwise.report import Report
from tests.report import chapters

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")

DRAWN = [
    finding for chapter in (chapters.figure1(), chapters.theory()) for finding in chapter.findings if finding.panels
]
"""The findings that have a figure, in the order of the page."""


@pytest.fixture(scope="module")
def browser() -> "Iterator[Browser]":
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        _do_without("pip install playwright")
    if path is None:
        _do_without("install Chromium or Google Chrome, so that one of these is on the PATH: " + ", ".join(BROWSERS))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


def _do_without(remedy: str) -> NoReturn:
    """Skip, except where nobody would read why."""
    reason = f"The report is not seen in a browser; {remedy}."
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="module")
def page(browser: "Browser", report: Report) -> "Iterator[Page]":
    """Give one page that is wide and light; tests leave it as they found it."""
    page = _open(browser, report)
    yield page
    page.close()


def _open(browser: "Browser", report: Report, width: int = 1280, scheme: Any = "light") -> "Page":
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page.goto(report.page.resolve().as_uri())
    page.wait_for_selector("html[data-drawn=all]", timeout=60_000)
    return page


def test_asks_for_nothing_and_complains_of_nothing(browser: "Browser", report: Report) -> None:
    page, requests, complaints = browser.new_page(), list[str](), list[str]()
    page.on("request", lambda request: requests.append(request.url))
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(report.page.resolve().as_uri())
    page.wait_for_selector("html[data-drawn=all]", timeout=60_000)
    page.locator("#theme").click()
    page.locator(".legend button").first.click()
    page.locator(".plot").first.hover()
    page.wait_for_timeout(200)
    assert requests == [report.page.resolve().as_uri()]
    assert complaints == []
    assert page.evaluate("window.broken") is None
    page.close()


def _traces(page: "Page", figure: int) -> list[int]:
    """Return the number of curves and bands that are drawn in every panel of a figure."""
    count = "panels => panels.map(panel => panel.querySelectorAll('.scatterlayer > .trace').length)"
    return list(page.locator("figure").nth(figure).locator(".cartesianlayer .subplot").evaluate_all(count))


def _expected(finding: Finding, without: str | None = None) -> list[int]:
    return [
        sum(1 + (series.spread is not None) for series in panel.series if series.name != without)
        for panel in finding.panels
    ]


def test_every_panel_has_its_curves_and_bands(page: "Page") -> None:
    for number, finding in enumerate(DRAWN):
        assert _traces(page, number) == _expected(finding)
    lengths = page.locator(".plot .js-line").evaluate_all("lines => lines.map(line => line.getAttribute('d').length)")
    assert len(lengths) >= sum(len(panel.series) for finding in DRAWN for panel in finding.panels)
    assert min(lengths) > 0


def test_logarithmic_panels_have_logarithmic_axes(page: "Page") -> None:
    kinds = "plot => [1, 2].flatMap(k => ['x', 'y'].map(a => plot._fullLayout[`${a}axis${k > 1 ? k : ''}`].type))"
    assert page.locator(".plot").nth(0).evaluate(kinds) == ["linear"] * 4
    assert page.locator(".plot").nth(1).evaluate(kinds) == ["log"] * 4


@pytest.mark.parametrize(("figure", "name"), [(0, "Scream"), (1, "Scream, appendix"), (2, chapters.EVIL)])
def test_a_click_hides_a_name_in_all_panels_and_another_shows_it(page: "Page", figure: int, name: str) -> None:
    buttons = page.locator("figure").nth(figure).locator(".legend button")
    button = buttons.nth([entry.text_content() for entry in buttons.all()].index(name))
    everything = _traces(page, figure)
    button.click()
    assert button.get_attribute("aria-pressed") == "false"
    assert _traces(page, figure) == _expected(DRAWN[figure], without=name) != everything
    # The keyboard does it, too.
    button.press("Enter")
    assert button.get_attribute("aria-pressed") == "true"
    assert _traces(page, figure) == everything


def test_a_double_click_shows_a_name_alone_and_another_shows_all(page: "Page") -> None:
    button = page.locator("figure").first.locator(".legend button").nth(3)
    button.dblclick()
    assert _traces(page, 0) == [2] * 9
    button.dblclick()
    assert _traces(page, 0) == _expected(DRAWN[0])


def test_hovering_shows_the_values(page: "Page") -> None:
    box = page.locator(".plot").first.locator(".subplot.xy").first.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.wait_for_selector(".hoverlayer .legendtext")
    shown = page.locator(".hoverlayer .legendtext").all_text_contents()
    assert [text.split(" : ")[0] for text in shown] == list(chapters.COSTS)
    assert all("±" in text for text in shown)
    page.mouse.move(0, 0)


def _colours(page: "Page") -> tuple[str, str, str]:
    """Return the colours of the page, of its text and of the text in figures."""
    background, text = (
        page.evaluate(f"getComputedStyle(document.body).{name}") for name in ("backgroundColor", "color")
    )
    ticks = page.locator(".plot .xtick text").first.evaluate("tick => getComputedStyle(tick).fill")
    return background, text, ticks


LIGHT = ("rgb(253, 253, 252)", "rgb(27, 30, 34)", "rgb(86, 93, 102)")
DARK = ("rgb(21, 24, 29)", "rgb(229, 231, 234)", "rgb(163, 170, 180)")


def test_follows_the_systems_colours_and_the_button(browser: "Browser", report: Report) -> None:
    page = _open(browser, report, scheme="dark")
    assert _colours(page) == DARK
    button = page.get_by_role("button", name="Switch to light colours")
    button.click()
    assert _colours(page) == LIGHT
    page.get_by_role("button", name="Switch to dark colours").click()
    assert _colours(page) == DARK
    page.emulate_media(color_scheme="light")
    page.wait_for_selector("html[data-theme=light]")
    assert _colours(page) == LIGHT
    paper = page.locator(".plot .main-svg").first.evaluate("svg => getComputedStyle(svg).backgroundColor")
    assert paper == "rgba(0, 0, 0, 0)"
    page.close()


PAGES = {"light": (253, 253, 252), "dark": (21, 24, 29)}


@pytest.mark.parametrize(
    ("width", "columns", "scheme"),
    [
        (1280, 3, "light"),
        (390, 1, "dark"),
        pytest.param(1280, 3, "dark", marks=pytest.mark.full),
        pytest.param(390, 1, "light", marks=pytest.mark.full),
    ],
)
def test_fits_and_is_not_blank(browser: "Browser", report: Report, width: int, columns: int, scheme: str) -> None:
    page = _open(browser, report, width, scheme)
    page.locator("details").evaluate_all("all => all.forEach(details => { details.open = true; })")
    assert page.evaluate("document.documentElement.scrollWidth") == width
    starts = page.locator(".plot").first.evaluate(
        "plot => new Set(Object.entries(plot._fullLayout).filter(([name]) => /^xaxis/.test(name))"
        ".map(([, axis]) => axis.domain[0].toFixed(4))).size"
    )
    assert starts == columns
    for shot in (page.screenshot(), page.locator("figure").first.screenshot()):
        image = Image.open(io.BytesIO(shot)).convert("RGB")
        colours = image.getcolors(maxcolors=image.width * image.height)
        assert colours is not None
        most, background = max(colours, key=itemgetter(0))
        assert background == PAGES[scheme]
        assert len(colours) > 50
        assert 0.02 < 1.0 - most / (image.width * image.height) < 0.6
    page.close()


def test_figures_follow_the_width_of_the_window(browser: "Browser", report: Report) -> None:
    page = _open(browser, report)
    page.set_viewport_size({"width": 640, "height": 900})
    page.wait_for_selector(".plot .main-svg[width='600']")
    assert page.evaluate("document.documentElement.scrollWidth") == 640
    page.close()


def test_prints_in_light_colours_with_every_table_open_that_is_no_detail(browser: "Browser", report: Report) -> None:
    page = _open(browser, report, scheme="dark")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert _colours(page) == LIGHT
    assert page.locator("details:not([open])").count() == page.locator("details.detail").count() == 1
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert _colours(page) == DARK
    assert page.locator("details:not([open])").count() == 3
    assert page.pdf().startswith(b"%PDF-")
    page.close()


def test_without_a_browser_tests_are_skipped_but_fail_where_nobody_reads_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "")
    with pytest.raises(pytest.skip.Exception, match="install Chromium"):
        _do_without("install Chromium")
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="install Chromium"):
        _do_without("install Chromium")
