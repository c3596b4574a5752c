"""Every application by name, and the series that it can be played on."""

from collections.abc import Callable
from typing import NamedTuple

from driftwise.applications.capacity import capacity
from driftwise.applications.case import Case
from driftwise.applications.data import CATALOGUE, Dataset, missing
from driftwise.applications.energy import energy
from driftwise.applications.forecasts import forecasts


class Application(NamedTuple):
    """A problem that people have, and the series that we have for it."""

    title: str
    make: Callable[[Dataset], Case]
    real: tuple[str, ...]
    """Series that are used when they are there."""
    made_up: str
    """The series that is used when none of them is."""
    more: tuple[str, ...] = ()
    """Further series that can be asked for."""

    @property
    def series(self) -> tuple[str, ...]:
        """Every series that it can be played on."""
        return (*self.real, *self.more, self.made_up)


APPLICATIONS = {
    "capacity": Application(
        "Right-sizing capacity", capacity, ("traffic", "pageviews", "water"), "synthetic-traffic", ("peyton",)
    ),
    "forecasts": Application(
        "Combining forecasts", forecasts, ("polls", "traffic"), "synthetic-polls", ("pageviews", "water")
    ),
    "energy": Application("A set-point with a ramp", energy, ("prices",), "synthetic-prices"),
}
"""Problems by name."""

POLICIES, PORTFOLIOS = "policies", "portfolios"
NAMES = (*APPLICATIONS, POLICIES, PORTFOLIOS)
"""What `apply` takes: every problem, the committees of all of them, and portfolios, which are accounted for apart."""

UNIVERSES = ("nyse-old", "nyse-new", "sp500", "tse", "djia", "msci", "twenty", "stocks")
"""Universes of assets that portfolios are played on when they are there."""

MADE_UP = "synthetic-stocks"
"""The universe that is used when none of them is."""


def listing() -> list[list[str]]:
    """Return every application with every series, and whether that is there or which command brings it.

    Returns
    -------
    list of lists of str
        Application, key of the series, title of the series, and "built in", "installed" or the command.

    Examples
    --------
    >>> from driftwise.applications import listing
    >>> [row for row in listing() if row[1] == "synthetic-prices"]
    [['energy', 'synthetic-prices', 'Synthetic prices', 'built in']]
    """
    rows = []
    for name, application in APPLICATIONS.items():
        for series in application.series:
            rows.append([name, series, CATALOGUE[series].title, _state(series)])
    rows.append([POLICIES, "all of these", "Committees of the rules of all the others", ""])
    for series in (*UNIVERSES, MADE_UP):
        rows.append([PORTFOLIOS, series, CATALOGUE[series].title, _state(series)])
    return rows


def _state(series: str) -> str:
    """Return "built in", "installed" or the command that brings a series."""
    return missing(series) or ("installed" if CATALOGUE[series].package else "built in")
