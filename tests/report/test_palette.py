"""A name has one look; every look is legible on both pages, and told apart by those who do not see all colours."""

import colorsys
import itertools
import re
from importlib.resources import files

import numpy as np
import pytest

from driftwise.experiments.findings.finding import Chapter, Finding, Panel, Series
from driftwise.report.palette import COLOURS, USUAL, Look, assign
from tests.report import chapters


def looks(*companies: list[str]) -> dict[str, Look]:
    """Return the looks of names that are drawn together, one list a finding."""
    findings = [
        Finding("", "", [], [], [Panel("", "", "", [Series(name, [1], [1]) for name in names])]) for names in companies
    ]
    return assign([Chapter("", "", chapters.SOURCE, findings)])


def test_usual_names_have_colours_of_their_own() -> None:
    for name, hue in USUAL.items():
        assert looks(["something", name, "another"])[name] == looks([name])[name]
        assert looks([name])[name].colour == COLOURS[hue]
        assert looks([name])[name].dash == ()


@pytest.mark.parametrize(
    "company",
    [
        ["OGD", "Ader, original", "Ader, improved", "Scream", "Lazy Scream", "Hindsight optimum"],
        ["OGD", "Ader", "Scream", "LQR", "Best linear gain", "Best fixed DAC", "Best DAC per stage"],
    ],
)
def test_the_papers_figures_have_no_colour_twice(company: list[str]) -> None:
    assert len({look.colour for look in looks(company).values()}) == len(company)


def test_variants_are_dashed_and_keep_the_hue() -> None:
    found = looks(["Scream, appendix", "Scream", "Scream (doubling)", "Scream.Control", "Screams"])
    assert found["Scream"] == looks(["Scream"])["Scream"]
    variants = [found[name] for name in ("Scream, appendix", "Scream (doubling)", "Scream.Control")]
    assert all(look.dash and look.hollow for look in variants)
    assert [_hue(look.colour) for look in variants] == pytest.approx([_hue(COLOURS["rust"])] * 3, abs=0.01)
    assert len({look.dash for look in variants}) == 3
    assert found["Screams"].colour == COLOURS["blue"]


def test_others_get_a_free_colour_first() -> None:
    found = looks(["OGD", "Scream", *"abcdef"])
    assert len({look.colour for look in found.values()}) == 8
    assert not any(look.dash for look in found.values())


def test_when_colours_run_out_dashes_tell_names_apart() -> None:
    found = looks([f"name {k}" for k in range(40)])
    assert len(set(found.values())) == 40
    assert len({(look.colour, look.dash) for look in list(found.values())[:32]}) == 32


def test_usual_names_that_share_a_colour_are_told_apart() -> None:
    found = looks(["Hindsight optimum", "Best linear gain"])
    assert found["Hindsight optimum"] != found["Best linear gain"]


def test_a_name_looks_the_same_in_every_finding() -> None:
    found = looks(["x", "y"], ["OGD", "y", "z"])
    assert list(found) == ["x", "y", "OGD", "z"]
    assert len(set(found.values())) == 4


def test_every_look_has_contrast_on_both_pages() -> None:
    style = (files("driftwise.report") / "page.css").read_text(encoding="utf-8")
    pages = re.findall(r"--page: (#\w{6});", style)
    assert len(pages) == 2
    colours = {look.colour for look in looks([f"name {k}" for k in range(16)]).values()}
    assert len(colours) == 16
    for colour, page in itertools.product(colours, pages):
        assert _contrast(colour, page) >= 3.0, (colour, page)


def test_text_has_contrast_on_both_pages() -> None:
    style = (files("driftwise.report") / "page.css").read_text(encoding="utf-8")
    for block in re.findall(r":root[^{]*\{(.*?)\}", style, re.DOTALL):
        colours = dict(re.findall(r"--(\w+): (#\w{6});", block))
        for name in ("ink", "quiet", "link", "yes", "no", "unknown"):
            assert _contrast(colours[name], colours["page"]) >= 4.5, name
            assert _contrast(colours[name], colours["box"]) >= 4.5, name


# What a colour looks like to those who lack one kind of cone (Machado, Oliveira and Fernandes 2009, full severity).
EYES = {
    "all cones": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    "no red": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "no green": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "no blue": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}


@pytest.mark.parametrize("eye", EYES)
def test_any_two_colours_are_told_apart(eye: str) -> None:
    seen = [_lab(np.array(EYES[eye]) @ _linear(colour)) for colour in COLOURS.values()]
    assert min(float(np.linalg.norm(a - b)) for a, b in itertools.combinations(seen, 2)) > 14.0


def _hue(colour: str) -> float:
    return colorsys.rgb_to_hsv(*(int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)))[0]


def _linear(colour: str) -> np.ndarray:
    parts = np.array([int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)])
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def _contrast(one: str, other: str) -> float:
    """Return the contrast ratio of WCAG 2."""
    dark, light = sorted(float(_linear(colour) @ [0.2126, 0.7152, 0.0722]) for colour in (one, other))
    return (light + 0.05) / (dark + 0.05)


def _lab(linear: np.ndarray) -> np.ndarray:
    """Return CIELAB coordinates (D65), in which equal distances look about equally large."""
    to_xyz = np.array(
        [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.072175], [0.0193339, 0.119192, 0.9503041]]
    )
    x, y, z = np.cbrt(to_xyz @ np.clip(linear, 0.0, 1.0) / [0.95047, 1.0, 1.08883])
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])
