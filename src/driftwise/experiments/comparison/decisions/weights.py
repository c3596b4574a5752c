"""Weights of forecasts are decided: how much to believe each of several columns."""

import numpy as np

from driftwise._validate import Array
from driftwise.domains import Simplex
from driftwise.errors import InputError
from driftwise.experiments.comparison.cells import read_numbers
from driftwise.experiments.comparison.decisions.limits import LARGEST
from driftwise.experiments.comparison.decisions.problem import Mine, Options, Problem, columns, smallest_move
from driftwise.experiments.comparison.options import FORECASTS
from driftwise.experiments.comparison.sheet import Sheet, listed
from driftwise.losses import SquaredLoss
from driftwise.movecost import MoveCost, move_cost_for


def read_forecasts(sheet: Sheet, target: str, switching_cost: float | MoveCost, options: Options) -> Problem:
    """Return the problem of weighing forecasts, at half the square of the error of the combined one."""
    target, mine, names = columns(sheet, target, options)
    chosen = [target, *names]
    if options.forecasts is None:
        names = [name for name in sheet.usable if name not in (target, mine)]
    if len(names) < 2:
        raise InputError(
            f"compare: weights need at least two forecasts of {target!r}, got {listed(names) or 'none'}; name columns "
            "with --forecast."
        )
    price = move_cost_for("compare", switching_cost, len(names))
    table = read_numbers(sheet, [target, *names], chosen, "forecast")
    if np.abs(table).max() > LARGEST:
        raise InputError(f"{sheet.file}: values beyond {LARGEST:g} are beyond computing; use a larger unit.")
    values, features = np.ascontiguousarray(table[:, 0]), np.ascontiguousarray(table[:, 1:])
    losses, count = SquaredLoss(features, values), len(names)
    own = None if mine is None else _mine(sheet, mine, names, values, losses)
    return Problem(
        kind=FORECASTS,
        sheet=sheet,
        target=target,
        values=values,
        forecasts=dict(zip(names, features.T, strict=True)),
        losses=losses,
        domain=Simplex(count),
        price=price,
        start=np.full(count, 1.0 / count),
        mine=own,
        options=options,
        counted=smallest_move(1.0, own.decisions if own else None),
        decided=f"weights of {count} forecasts of {target!r} ({listed(names, 8)}), before its row is seen",
        row="half the square of the combined forecast's error",
        limits="at least 0, and 1 in all",
        began="equal weights",
        outcome="dw.SquaredLoss([forecasts], [target])[0]",
        now=None,
    )


def _mine(sheet: Sheet, mine: str, names: list[str], values: Array, losses: SquaredLoss) -> Mine:
    """Return what the user did: which forecast was followed, by name, or the forecast that was used, as a number."""
    if mine in names:
        followed = np.tile(np.eye(len(names))[names.index(mine)], (len(values), 1))
        return Mine(followed, losses.policy_losses(followed))
    import polars as pl

    cells = sheet.frame[mine].cast(pl.String).to_list()
    if any(cell in names for cell in cells):
        wrong = [row for row, cell in enumerate(cells) if cell not in names]
        if wrong:
            raise InputError(
                f"{sheet.file}, {sheet.place(wrong[0])}, column {mine!r}: {cells[wrong[0]]!r} is not one of the "
                f"forecasts {listed(names)}; put in the one that you followed."
            )
        followed = np.eye(len(names))[[names.index(cell) for cell in cells]]
        return Mine(followed, losses.policy_losses(followed))
    used = read_numbers(sheet, [mine], [mine])[:, 0]
    return Mine(None, 0.5 * (used - values) ** 2)
