"""Daily series, a year of each: forty-eight levels to be tracked, and forty-eight demands to keep capacity for."""

from typing import NamedTuple

import numpy as np

from driftwise._validate import Array
from driftwise.domains import Box, Domain
from driftwise.experiments.studies.decisions.data.demand import ROOM, SHORTAGE
from driftwise.experiments.studies.decisions.data.problems import level, scaled
from driftwise.experiments.studies.decisions.data.recordings import ARTICLES, STOCKS, WEATHER, load
from driftwise.losses import CapacityLoss, LossStream

YEAR = 365
"""Rounds of each."""
POLLSTERS = ("five_thirty_eight", "gallup", "ipsos", "rasmussen", "you_gov")
PAGES = ("United_States", *ARTICLES)
HOURS = {"midnight": 0, "eight": 8, "noon": 12}


class Daily(NamedTuple):
    """A column that has a value a day."""

    recording: str
    column: str
    log: bool = False
    hour: int | None = None
    """The hour that is taken of every day, where there is a value an hour."""
    back: int = 0
    """Years before the last one."""


VOLUMES = {f"volume of {name}": Daily(f"stock {name}", "Volume", log=True) for name in STOCKS}
VOLUMES["volume of the Dow Jones"] = Daily("djia", "Volume", log=True)

LEVELS: dict[str, Daily] = {
    **{f"views of {name}": Daily("pageviews", f"wiki_{name}", log=True) for name in PAGES},
    **{f"{name} in Bellevue": Daily("bellevue", name) for name in WEATHER},
    **{f"{name} in Seattle": Daily("seattle", name) for name in ("temp_max", "temp_min", "wind", "precipitation")},
    **{f"price of {name}": Daily(f"stock {name}", "Adj Close", log=True) for name in STOCKS},
    **VOLUMES,
    "Dow Jones": Daily("djia", "Close", log=True),
    **{f"poll of {name}": Daily("polls", name) for name in POLLSTERS},
    "traffic at midnight": Daily("traffic", "traffic_volume", hour=0),
}
"""Levels by name."""

DEMANDS: dict[str, Daily] = {
    **{
        f"views of {name}, {back} years before": Daily("pageviews", f"wiki_{name}", back=back)
        for name in PAGES
        for back in (0, 2)
    },
    **{name: daily._replace(log=False) for name, daily in VOLUMES.items()},
    **{f"traffic at {name}": Daily("traffic", "traffic_volume", hour=hour) for name, hour in HOURS.items()},
}
"""Demands by name."""


def year(spec: Daily, first: bool = False) -> Array:
    """Return the last year of a series, or the first one, on half of which the learner was designed."""
    values = load(spec.recording)[spec.column]
    if spec.hour is not None:
        values = values[spec.hour :: 24]
    begin = spec.back * YEAR if first else len(values) - (1 + spec.back) * YEAR
    values = values[begin : begin + YEAR]
    return np.log(values) if spec.log else values


class Year(NamedTuple):
    """A year as a problem: what is decided, and the rule that is to be beaten."""

    losses: LossStream
    domain: Domain
    last: Array
    """The last value, shape (T, 1); its first row is where everyone starts."""


def level_of(values: Array) -> Year:
    """Return the tracking of a year, in standard deviations of it; everyone starts at 0."""
    targets = scaled(values)
    losses, domain, *_ = level(targets)
    return Year(losses, domain, np.concatenate([[0.0], targets[:-1]])[:, None])


def demand_of(values: Array) -> Year:
    """Return the capacity for a year of demand, in means of it; everyone starts with what is right at first."""
    demand = values / values.mean()
    domain = Box([0.0], [ROOM * float(demand.max())])
    return Year(CapacityLoss(demand, shortage=SHORTAGE), domain, np.concatenate([demand[:1], demand[:-1]])[:, None])
