"""The first rounds of a series."""

import dataclasses

from driftwise.applications.data import load


def test_the_first_rounds_say_so_and_keep_their_gaps() -> None:
    data = dataclasses.replace(load("synthetic-traffic"), gaps=(3, 700))
    part = data.first(500)
    assert len(part) == 500
    assert part.title == "Synthetic demand, first 500 hours"
    assert part.gaps == (3,)
    assert data.first(4000) is data
    assert (data.cycle, dataclasses.replace(data, step="day").cycle) == (24, 7)
