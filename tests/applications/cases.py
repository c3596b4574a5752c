"""Short cases, so that everything can be played in a moment."""

import dataclasses
import functools

from driftwise.applications.capacity import capacity
from driftwise.applications.case import Case
from driftwise.applications.contest import CaseContest, hold_contests
from driftwise.applications.data import Dataset, load
from driftwise.applications.energy import energy
from driftwise.applications.forecasts import forecasts

ROUNDS = 240


def short(name: str, rounds: int = ROUNDS) -> Dataset:
    data = load(name)
    return dataclasses.replace(data, values=data.values[:rounds])


MAKERS = {
    "capacity": (capacity, "synthetic-traffic"),
    "forecasts": (forecasts, "synthetic-polls"),
    "energy": (energy, "synthetic-prices"),
}


@functools.cache
def case(application: str) -> Case:
    make, name = MAKERS[application]
    return make(short(name))


@functools.cache
def contest(application: str, move_cost: float) -> CaseContest:
    return hold_contests(case(application), [move_cost], lambda text: None)[0]
