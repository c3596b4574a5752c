"""A set-point with a ramp: at what level to run a plant that buys power at a price that is known only afterwards.

Running at level x costs price * x, and what is not produced has to be bought for 1 - x times what it is worth; ramping
up costs something for every unit, as it does for electrolysers, heat pumps and furnaces. Ramping down is free.
"""

import numpy as np

from driftwise._validate import Array
from driftwise.applications.case import Case
from driftwise.applications.data import Dataset
from driftwise.applications.rules import descents, last, moving_average, switch
from driftwise.domains import Box
from driftwise.losses import LinearLoss
from driftwise.movecost import MoveCost

WORTH = 1.0
"""What a unit of product is worth, in mean prices of the power that it takes."""

WINDOWS, TOLERANCES = (1, 3, 6, 12, 24, 48, 168), (0.0, 0.1, 0.2, 0.4, 0.8)
"""Settings of the window rule that are tried in hindsight."""


def energy(data: Dataset) -> Case:
    """Return the set-point on a series of prices, in units of their mean."""
    prices = data.values[:, 0] / data.values[:, 0].mean()
    losses, domain = LinearLoss(prices - WORTH), Box([0.0], [1.0])
    largest = float(np.abs(prices - WORTH).max())

    def window(length: int, tolerance: float) -> Array:
        return switch(moving_average(prices, length), WORTH, tolerance)

    rules = {
        "Last value": switch(last(prices), WORTH),
        "Last value + 10 %": switch(1.1 * last(prices), WORTH),
        "Window rule, default": window(20, 0.1),
    }
    start = rules["Last value"][:1]
    grid = {f"window {w}, tolerance {tol:.0%}": window(w, tol) for w in WINDOWS for tol in TOLERANCES}
    members = rules | {
        "Window rule, window 3": window(3, 0.1),
        "Window rule, window 6, wide": window(6, 0.4),
        "Window rule, window 168": window(168, 0.1),
        "Last value, wide band": switch(last(prices), WORTH, 0.4),
        "Same hour yesterday": switch(last(prices, 24), WORTH),
        "Same hour a week ago": switch(last(prices, 168), WORTH),
        "Always on": np.ones(len(prices)),
        "Always off": np.zeros(len(prices)),
    }
    return Case(
        application="energy",
        data=data,
        what=(
            "Run a plant at a level x between 0 and 1. A round costs the price of power times x, and what is not "
            "produced is bought for 1 - x; prices are in units of their mean, and the product is worth the mean price."
        ),
        moving="ramping up from 0 to 1 costs what an hour at full level and mean price costs; ramping down is free",
        losses=losses,
        domain=domain,
        gradient_bound=largest,
        start=start,
        rules=_rows(rules),
        tuned={"Window rule, tuned in hindsight": _rows(grid)},
        members=_rows(members) | descents(losses, domain, largest, start),
        constant=WORTH,
        price=lambda cost: MoveCost(up=cost, down=0.0),
        observed=prices,
    )


def _rows(rules: dict[str, Array]) -> dict[str, Array]:
    return {name: levels[:, None] for name, levels in rules.items()}
