"""Series of demand with a season, and the forecast that people have: the same hour or day a season ago."""

from typing import NamedTuple

import numpy as np

from driftwise._validate import Array
from driftwise.domains import Box
from driftwise.experiments.studies.decisions.data.problems import ROUNDS
from driftwise.experiments.studies.decisions.data.recordings import load
from driftwise.losses import CapacityLoss

SHORTAGE = 5.0
"""Cost of a unit of demand that is not met; a unit of capacity costs 1."""
ROOM = 2.0
"""The most capacity there is, in largest demands."""
HEADROOM = 1.1
"""Factor on the demand of a season ago."""


class Demand(NamedTuple):
    """A column of demand and its season."""

    recording: str
    column: str
    season: int
    """Rounds."""
    what: str
    """Where the forecast is from."""


DESIGN: dict[str, Demand] = {
    "road traffic": Demand("traffic", "traffic_volume", 168, "same hour a week ago"),
    "water flow": Demand("water", "Water flow [l/s]", 24, "same hour yesterday"),
    "page views": Demand("pageviews", "wiki_United_States", 7, "same day a week ago"),
}
HELD_OUT: dict[str, Demand] = {
    "views of Standard deviation": Demand("pageviews", "wiki_Standard_deviation", 7, "same day a week ago"),
    "views of Periodic table": Demand("pageviews", "wiki_Periodic_table", 7, "same day a week ago"),
    "views of Google Chrome": Demand("pageviews", "wiki_Google_Chrome", 7, "same day a week ago"),
    "gasoline demand": Demand("gasoline", "value", 52, "same week a year ago"),
    "births": Demand("births", "value", 12, "same month a year ago"),
    "shared bicycles": Demand("bikes", "count", 168, "same hour a week ago"),
    "electricity": Demand("electricity", "y", 168, "same hour a week ago"),
    "Bay area roads": Demand("bay", "y", 168, "same hour a week ago"),
}
EVERY = DESIGN | HELD_OUT


class Provision(NamedTuple):
    """Capacity for a demand in units of its mean, and a forecast of every round."""

    losses: CapacityLoss
    domain: Box
    demand: Array
    forecast: Array
    """Shape (T, 1)."""


def provision(spec: Demand, most: int = ROUNDS) -> Provision:
    """Return the problem of a demand, of at most so many rounds; a season of history comes before the first one."""
    values = load(spec.recording)[spec.column][: most + spec.season]
    values = values / values.mean()
    demand, past = values[spec.season :], values[: -spec.season]
    top = ROOM * float(values.max())
    forecast = np.minimum(HEADROOM * past, top)
    return Provision(CapacityLoss(demand, shortage=SHORTAGE), Box([0.0], [top]), demand, forecast[:, None])
