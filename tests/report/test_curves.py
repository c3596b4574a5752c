"""Bands, dashes and legends."""

import math

import pytest

from driftwise.experiments.findings.finding import Finding, Panel, Series
from driftwise.report.curves import Band, bands, dash, entries
from driftwise.report.palette import Look

NAN = math.nan


def test_a_band_is_one_standard_deviation_to_either_side() -> None:
    assert bands(Series("", [1, 2], [3, 4], [0.5, 1]), [], log=False) == [Band((1, 2), (2.5, 3), (3.5, 5))]
    assert bands(Series("", [1, 2], [3, 4]), [], log=False) == []


def test_a_band_has_gaps_where_the_curve_has_gaps() -> None:
    series = Series("", [1, 2, 3, 4, 5, 6], [1, 1, NAN, 1, 1, math.inf], [0.0] * 6)
    assert [piece.x for piece in bands(series, [], log=False)] == [(1, 2), (4, 5)]
    assert bands(Series("", [1, 2], [3, 4], [NAN, NAN]), [], log=False) == []


def test_a_band_does_not_reach_zero_on_logarithmic_axes() -> None:
    series = Series("", [1, 2], [4.0, 4.0], [1.0, 9.0])
    (piece,) = bands(series, [series, Series("", [1, 2, 3, 4], [2.0, -1.0, NAN, math.inf])], log=True)
    assert piece == Band((1, 2), (3.0, 1.0), (5.0, 13.0))
    assert bands(Series("", [0, 1], [1.0, 1.0], [0.1, 0.1]), [series], log=True) == []


@pytest.mark.parametrize(
    ("own", "style", "drawn"), [((), "line", ()), ((), "dashed", (4, 3)), ((7, 2), "dashed", (7, 2))]
)
def test_references_are_dashed(own: tuple[float, ...], style: str, drawn: tuple[float, ...]) -> None:
    assert dash(Series("", [], [], None, style), Look("#000000", own, "x", False)) == drawn


def test_a_legend_has_every_name_once() -> None:
    a, b, other = Series("a", [1], [1]), Series("b", [1], [1]), Series("a", [2], [2])
    panels = [Panel("", "", "", [a, b]), Panel("", "", "", [other])]
    assert entries(Finding("", "", [], [], panels)) == {"a": a, "b": b}
