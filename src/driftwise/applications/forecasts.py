"""Forecast combination: how much to believe each of several forecasts when the best of them changes.

The weights are on the simplex, the loss is that of the combined forecast, and moving weight costs something: every
revision of a forecast is work for those who plan by it.
"""

import numpy as np

from driftwise._validate import Array
from driftwise.applications.case import Case
from driftwise.applications.data import Dataset
from driftwise.applications.rules import descents, follow, inverse_errors, last, moving_average, smoothed
from driftwise.domains import Simplex
from driftwise.losses import SquaredLoss

WINDOWS, TOLERANCES = (1, 5, 20, 60, 200, 1000), (0.0, 0.1, 0.3, 0.6)
"""Settings of the window rule that are tried in hindsight."""

LONGEST = 3000
"""Rounds of a series that are played: the first ones; the hindsight optimum of more weights takes long."""


def forecasts(data: Dataset) -> Case:
    """Return the combination of the forecasts of a table, or of simple forecasts of a series."""
    data = data.first(LONGEST)
    target, given = data.values[:, 0], data.values[:, 1:]
    named = dict(zip(data.columns[1:], given.T, strict=True)) if given.size else _simple(data)
    features = np.column_stack(list(named.values()))
    count = features.shape[1]
    equal = np.full((len(target), count), 1.0 / count)
    # In these units equal weights cost 1 a round on average, whatever the series is measured in.
    unit = float(np.sqrt(np.mean((features.mean(axis=1) - target) ** 2) / 2.0))
    losses, domain = SquaredLoss(features / unit, target / unit), Simplex(count)
    errors = 0.5 * ((features - target[:, None]) / unit) ** 2
    bound = losses.gradient_bound(domain)
    rules = {
        "Equal weights": equal,
        "Best of the last round": follow(errors, window=1, tolerance=0.0),
        "Window rule, default": follow(errors),
    }
    grid = {f"window {w}, tolerance {tol:.0%}": follow(errors, w, tol) for w in WINDOWS for tol in TOLERANCES}
    members = rules | {
        "Window rule, window 5": follow(errors, 5),
        "Window rule, window 200": follow(errors, 200),
        "Inverse errors, window 20": inverse_errors(errors, 20),
        "Inverse errors, all rounds": inverse_errors(errors, len(errors)),
    }
    members |= {f"Only {name}": np.tile(np.eye(count)[k], (len(target), 1)) for k, name in enumerate(named)}
    return Case(
        application="forecasts",
        data=data,
        what=(
            f"Weigh {count} forecasts ({', '.join(named)}). A round costs half the square of the combined forecast's "
            "error, in units in which equal weights cost 1 a round."
        ),
        moving="moving weights by a Euclidean distance of 1 costs what equal weights cost in a round",
        losses=losses,
        domain=domain,
        gradient_bound=bound,
        start=equal[0],
        rules=rules,
        tuned={"Window rule, tuned in hindsight": grid},
        members=members | descents(losses, domain, bound, equal[0]),
        free={"Last value, no weights": 0.5 * ((target - last(target)) / unit) ** 2},
        note="The last value of the target itself is no mixture of the forecasts, so it can be below the optimum.",
    )


def _simple(data: Dataset) -> dict[str, Array]:
    """Return simple forecasts of a series, each from the rounds before only."""
    values, cycle = data.values[:, 0], data.cycle
    week = 7 * cycle if data.step == "hour" else cycle
    before = last(values, week + 1)
    return {
        "last value": last(values),
        **({f"same {data.step} yesterday": last(values, cycle)} if data.step == "hour" else {}),
        f"same {data.step} last week": last(values, week),
        "last week's change": last(values) + last(values, week) - before,
        f"mean of {cycle}": moving_average(values, cycle),
        "exponential smoothing": smoothed(values, 0.3),
    }
