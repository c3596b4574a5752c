"""A year of daily series."""

import numpy as np
import pytest

from driftwise.experiments.studies.decisions.data.days import DEMANDS, LEVELS, YEAR, Daily, demand_of, level_of, year
from driftwise.experiments.studies.decisions.data.recordings import RECORDINGS, load


def test_there_are_forty_eight_of_each() -> None:
    assert len(LEVELS) == len(DEMANDS) == 48
    for spec in (*LEVELS.values(), *DEMANDS.values()):
        assert spec.column in RECORDINGS[spec.recording].columns


def test_the_last_year_is_not_the_first_one() -> None:
    polls = load("polls")["gallup"]
    np.testing.assert_array_equal(year(Daily("polls", "gallup")), polls[-YEAR:])
    np.testing.assert_array_equal(year(Daily("polls", "gallup"), first=True), polls[:YEAR])
    np.testing.assert_array_equal(year(Daily("polls", "gallup", log=True, back=1)), np.log(polls[-2 * YEAR : -YEAR]))


@pytest.mark.usefixtures("stand_ins")
def test_an_hour_of_every_day_is_taken() -> None:
    traffic = load("traffic")["traffic_volume"]
    np.testing.assert_array_equal(year(DEMANDS["traffic at eight"]), traffic[8::24][-YEAR:])


@pytest.mark.usefixtures("stand_ins")
@pytest.mark.parametrize("make", [level_of, demand_of])
def test_everyone_starts_where_the_last_value_does(make: type) -> None:
    p = make(year(DEMANDS["volume of IBM"]))
    assert len(p.losses) == len(p.last) == YEAR
    assert p.domain.contains(p.last)
    np.testing.assert_array_equal(p.last[1:], p.losses.data.features[:-1])
