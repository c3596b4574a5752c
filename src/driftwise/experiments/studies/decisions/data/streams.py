"""Which real streams there are, and which of them were used to design the learner."""

from driftwise.experiments.studies.decisions.data.problems import Level, Past, Regression

POLLSTERS = ("gallup", "ipsos", "morning_consult", "rasmussen", "you_gov")
FLOW, VIEWS, VOLUME = "Water flow [l/s]", "wiki_United_States", "traffic_volume"
POLLUTANTS = ("tempr", "rh", "co", "so2", "no2", "part")
CLIMATE = ("Temp", "DewPt", "CldCvr", "WndSpd", "Precip")


def own(column: str, *lags: int) -> tuple[Past, ...]:
    """Return a column at several lags."""
    return tuple(Past(column, lag) for lag in lags)


def together(*columns: str, lag: int = 0) -> tuple[Past, ...]:
    """Return several columns at the same lag."""
    return tuple(Past(column, lag) for column in columns)


DESIGN: dict[str, Regression | Level] = {
    "approval from five polls": Regression("polls", "five_thirty_eight", together(*POLLSTERS)),
    "water flow from its past": Regression("water", FLOW, own(FLOW, 1, 2, 24), ((24.0, 2),)),
    "traffic from weather and the clock": Regression(
        "traffic", VOLUME, (*own(VOLUME, 1, 24, 168), *together("temp", "clouds_all", lag=1)), ((24.0, 2),)
    ),
    "page views from the calendar": Regression(
        "pageviews", VIEWS, own(VIEWS, 1, 7), ((7.0, 2), (365.25, 1)), trend=True, log=True
    ),
    "carbon dioxide from trend and season": Regression("co2", "value", (), ((12.0, 2),), trend=True),
    "new fish from the sea": Regression(
        "recruits", "value", (*own("value", 1), *(Past("value", lag, "soi") for lag in (5, 6, 7, 8)))
    ),
    "water flow": Level("water", FLOW),
    "road traffic": Level("traffic", VOLUME),
    "page views": Level("pageviews", VIEWS, log=True),
    "southern oscillation": Level("soi", "value"),
    "sulfur dioxide": Level("pollution", "so2"),
}
"""Streams on which the learner was designed: they prove nothing."""

HELD_OUT: dict[str, Regression | Level] = {
    "deaths from weather and pollution": Regression(
        "pollution", "cmort", together(*POLLUTANTS), ((52.18, 1),), trend=True
    ),
    "inflow of a lake from the weather": Regression("lake", "Inflow", together(*CLIMATE), ((12.0, 1),), log=True),
    "gasoline price from the oil price": Regression(
        "gas", "value", (*own("value", 1), Past("value", 0, "oil"), Past("value", 1, "oil"))
    ),
    "tomorrow's warmth in Seattle": Regression(
        "seattle", "temp_max", together("temp_max", "temp_min", "wind", "precipitation", lag=1), ((365.25, 1),)
    ),
    "tomorrow's temperature in Bellevue": Regression(
        "bellevue", "temperature", together("temperature", "dew point", "visibility", "average wind speed", lag=1)
    ),
    "glucose from its past": Regression("glucose", "glucose", own("glucose", 1, 2, 3), ((288.0, 1),)),
    "speed of a bicycle": Regression(
        "cycling", "speed", (*together("power", "cadence"), *own("altitude", 0, 5), *own("speed", 5))
    ),
    "gasoline demand from the calendar": Regression(
        "gasoline", "value", own("value", 1, 52), ((52.18, 2),), trend=True
    ),
    "varves of a glacier": Level("varve", "value", log=True),
    "unemployment": Level("unemployment", "value"),
    "volume of trade": Level("djia", "Volume", log=True),
    "wind in Seattle": Level("seattle", "wind"),
    "dew point in Bellevue": Level("bellevue", "dew point"),
    "temperature of the sea": Level("sea", "temperature (celsius)"),
    "use of refineries": Level("refineries", "value"),
    "births": Level("births", "value"),
}
"""Streams that settings were not chosen on; but the study was run on them more than once while the learner changed."""

EVERY = DESIGN | HELD_OUT
