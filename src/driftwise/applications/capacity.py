"""Right-sizing: how much capacity to keep for a demand that is known only afterwards.

Capacity x for a demand d costs x + 5 max(d - x, 0) a round, and moving it costs something for every unit. That is what
an autoscaler decides, and what its window, tolerance and target stand for without a unit.
"""

import numpy as np

from driftwise._validate import Array
from driftwise.applications.case import Case
from driftwise.applications.data import Dataset
from driftwise.applications.rules import autoscaler, descents, last, moving_average, quantile_so_far
from driftwise.domains import Box
from driftwise.losses import CapacityLoss

SHORTAGE = 5.0
"""What a unit of demand costs that is not met; a unit of capacity costs 1."""

ROOM = 3.0
"""The most capacity there is, in means of the demand."""

STAND_IN = (
    "This series stands in for requests to servers, of which no package that we know of ships a real trace: it shows "
    "what rules do on demand with days, weeks and surprises, not what they would do for your service."
)

WINDOWS, TOLERANCES, TARGETS = (1, 3, 6, 12, 24, 48, 168), (0.0, 0.1, 0.2, 0.4), (1.1, 1.0, 0.9, 0.8, 0.65, 0.5)
"""Settings of the autoscaler that are tried in hindsight."""


def capacity(data: Dataset) -> Case:
    """Return right-sizing on a series of demand, in units of its mean."""
    demand = data.values[:, 0] / data.values[:, 0].mean()
    losses, domain = CapacityLoss(demand, shortage=SHORTAGE), Box([0.0], [ROOM])
    start = np.clip(demand[:1], 0.0, ROOM)
    day, week = data.cycle, data.cycle * 7 if data.step == "hour" else 4 * data.cycle
    ago = {"yesterday": day, "a week ago": week} if data.step == "hour" else {"a week ago": day}
    rounds_ago = {f"Same {data.step} {when} + 10 %": rounds for when, rounds in ago.items()}
    seasonal = {name: 1.1 * last(demand, rounds) for name, rounds in rounds_ago.items()}
    nearest = next(iter(seasonal))
    rules = {
        "Last value": last(demand),
        "Last value + 10 %": 1.1 * last(demand),
        "Autoscaler, default": autoscaler(demand),
    }
    grid = {
        f"window {window}, tolerance {tolerance:.0%}, target {target:.0%}": autoscaler(
            demand, window=window, tolerance=tolerance, target=target
        )
        for window in WINDOWS
        for tolerance in TOLERANCES
        for target in TARGETS
    }
    members = rules | {
        "Last value + 25 %": 1.25 * last(demand),
        "Autoscaler, window 3": autoscaler(demand, window=3),
        f"Autoscaler, window {day}": autoscaler(demand, window=day),
        f"Autoscaler, window {week}": autoscaler(demand, window=week),
        f"Autoscaler, window {week}, no headroom": autoscaler(demand, window=week, target=1.0),
        f"Mean of {day} + 25 %": 1.25 * moving_average(demand, day),
        nearest: seasonal[nearest],
        "80 % quantile so far": quantile_so_far(demand, 0.8, day),
    }
    members = _within(members) | descents(losses, domain, SHORTAGE - 1.0, start)
    return Case(
        application="capacity",
        data=data,
        what=(
            f"Keep a capacity x between 0 and {ROOM:g} for a demand d, both in units of the mean demand. A round costs "
            f"x, and {SHORTAGE:g} for every unit that is short."
        ),
        moving=f"moving the capacity by one mean demand costs what keeping that much for one {data.step} costs",
        losses=losses,
        domain=domain,
        gradient_bound=SHORTAGE - 1.0,
        start=start,
        rules=_within(rules | seasonal),
        tuned={"Autoscaler, tuned in hindsight": _within(grid)},
        members=members,
        forecasts={name: _begun_after(rounds_ago[name], rows) for name, rows in _within(seasonal).items()},
        observed=demand,
        note="" if data.synthetic else STAND_IN,
    )


def _begun_after(rounds: int, rows: Array) -> Array:
    """Return forecasts without those of the first rounds, for which there was nothing to go by."""
    return np.where(np.arange(len(rows))[:, None] < rounds, np.nan, rows)


def _within(rules: dict[str, Array]) -> dict[str, Array]:
    """Return the decisions of rules as rows, cut to the capacity there is."""
    return {name: np.clip(levels, 0.0, ROOM)[:, None] for name, levels in rules.items()}
