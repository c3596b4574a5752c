"""One number is decided a row: a level that follows a column, or a capacity that meets a demand."""

import numpy as np

from driftwise._validate import Array, number, whole
from driftwise.domains import Box
from driftwise.errors import InputError, ParameterError
from driftwise.experiments.comparison.cells import read_numbers
from driftwise.experiments.comparison.decisions.limits import limits
from driftwise.experiments.comparison.decisions.problem import Mine, Options, Problem, columns, smallest_move
from driftwise.experiments.comparison.options import CAPACITY, LEVEL
from driftwise.experiments.comparison.sheet import Sheet
from driftwise.experiments.contests.words import show
from driftwise.losses import CapacityLoss, TrackingLoss
from driftwise.movecost import MoveCost, move_cost_for


def read_level(sheet: Sheet, target: str, switching_cost: float | MoveCost, options: Options) -> Problem:
    """Return the problem of a level that follows a column, at half the square of the distance."""
    return _read(LEVEL, sheet, target, switching_cost, options)


def read_capacity(sheet: Sheet, target: str, switching_cost: float | MoveCost, options: Options) -> Problem:
    """Return the problem of a capacity for a demand, at a price for every unit held and one for every unit short."""
    return _read(CAPACITY, sheet, target, switching_cost, options)


def _read(kind: str, sheet: Sheet, target: str, switching_cost: float | MoveCost, options: Options) -> Problem:
    price = move_cost_for("compare", switching_cost, 1)
    held, short = _prices(options) if kind == CAPACITY else (0.0, 0.0)
    target, mine, names = columns(sheet, target, options)
    used = [target, *([mine] if mine else []), *names]
    table = read_numbers(sheet, used, used)
    values, forecasts = np.ascontiguousarray(table[:, 0]), table[:, len(used) - len(names) :].T
    own = table[:, 1:2].copy() if mine else None
    if kind == CAPACITY and values.min() < 0.0:
        row = int(np.argmax(values < 0.0))
        raise InputError(
            f"{sheet.file}, {sheet.place(row)}, column {target!r}: a demand of {values[row]:g} is below 0; correct it, "
            "or use --problem level to follow a column that may be negative."
        )
    seen = values if own is None else np.concatenate([values, own[:, 0]])
    natural = min(0.0, float(seen.min())) if kind == CAPACITY else None
    low, high = limits(seen, options.low, options.high, floor=natural, whole=options.whole)
    if own is not None:
        _check_inside(sheet, str(mine), own[:, 0], low, high)
    if options.period is not None:
        whole("compare", "period", options.period, low=2, high=max(2, len(values) - 1))
    start, began = _start(options, values, own, low, high)
    losses = CapacityLoss(values, shortage=short, price=held) if kind == CAPACITY else TrackingLoss(values)
    now = values[-1:] if own is None else own[-1]
    return Problem(
        kind=kind,
        sheet=sheet,
        target=target,
        values=values,
        forecasts={name: np.clip(column, low, high) for name, column in zip(names, forecasts, strict=True)},
        losses=losses,
        domain=Box([low], [high]),
        price=price,
        start=start,
        mine=None if own is None else Mine(own, losses.policy_losses(own)),
        options=options,
        counted=smallest_move(float(np.ptp(seen)) or high - low, own),
        decided=f"a {'capacity' if kind == CAPACITY else 'level'} w for {target!r}, before its row is seen",
        row=_row(kind, held, short),
        limits=f"{show(low)} to {show(high)}: {_source(options, natural is not None)}",
        began=began,
        outcome=(
            f"dw.CapacityLoss([demand], shortage={short}, price={held})[0]"
            if kind == CAPACITY
            else "dw.TrackingLoss([value])[0]"
        ),
        now=np.clip(now, low, high),
    )


def _prices(options: Options) -> tuple[float, float]:
    """Return what a unit costs that is held, and one that is short."""
    if options.shortage is None:
        raise ParameterError(
            "compare: a capacity needs --shortage, what a unit of demand costs that is not met; --idle is what a unit "
            "costs that is held, 1 if left out."
        )
    short = number("compare", "shortage", options.shortage, low=0.0)
    held = 1.0 if options.idle is None else number("compare", "idle", options.idle, low=0.0)
    if short <= held:
        raise ParameterError(
            f"compare: --shortage, {short:g}, must be above --idle, {held:g}: otherwise it is best to hold nothing, "
            "whatever the demand."
        )
    return held, short


def _check_inside(sheet: Sheet, name: str, own: Array, low: float, high: float) -> None:
    """Raise if the user's decisions go beyond limits that were chosen."""
    outside = (own < low) | (own > high)
    if outside.any():
        row = int(np.argmax(outside))
        option, limit = ("--low", low) if own[row] < low else ("--high", high)
        raise InputError(
            f"{sheet.file}, {sheet.place(row)}, column {name!r}: your decision {own[row]:g} is beyond {option}, "
            f"{limit:g}; correct one of the two."
        )


def _start(options: Options, values: Array, own: Array | None, low: float, high: float) -> tuple[Array, str]:
    """Return the first decision, and where it comes from."""
    if options.start is not None:
        chosen = number("compare", "start", options.start)
        if not low <= chosen <= high:
            raise ParameterError(f"compare: --start must be from --low, {low:g}, to --high, {high:g}; got {chosen:g}.")
        return np.array([chosen]), "chosen with --start"
    if own is not None:
        return own[0].copy(), "where you began yourself"
    return np.clip(values[:1], low, high), "the first value of the column, as if it were known; choose with --start"


def _row(kind: str, held: float, short: float) -> str:
    if kind == LEVEL:
        return "half the square of the distance from the level to the value"
    return f"{show(held)} for every unit held, and {show(short)} for every unit of demand that is not met"


def _source(options: Options, capacity: bool) -> str:
    """Say where the limits come from."""
    if options.low is not None and options.high is not None:
        return "chosen"
    spare = "half as much again as the largest value" if capacity else "the range of the column and half its width more"
    if options.low is None and options.high is None:
        return f"{spare}, which takes hindsight; choose with --low and --high"
    one, other = ("--high", "--low") if options.low is None else ("--low", "--high")
    return f"{one} is chosen, the other comes from the file, which takes hindsight; choose with {other}"
