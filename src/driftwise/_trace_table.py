"""A trace as a table: its columns, its prices among the settings, and whether all of it is of one run."""

from typing import Any

import numpy as np

from driftwise._frames import Part
from driftwise._round_prices import Prices, costs_along, read_prices, shown, varies
from driftwise._validate import Array, instance
from driftwise.errors import InputError, ParameterError
from driftwise.learners import Committee, Learner
from driftwise.losses import LossStream
from driftwise.movecost import MoveCost

LAYOUT = (
    Part("loss"),
    Part("move"),
    Part("move_cost", required=False),
    Part("w", 1),
    Part("weight", 1, required=False),
)
"""Columns of a trace as a table."""


def plain(price: Prices | None) -> Any:
    """Return a switching cost as settings hold it; a list where there is one for each round.

    Examples
    --------
    >>> plain(MoveCost(up=3.0, down=[1.0, 2.0]))
    {'up': 3.0, 'down': [1.0, 2.0], 'norm': 'l1'}
    """
    if isinstance(price, np.ndarray | tuple):
        return [plain(one) for one in price]
    if not isinstance(price, MoveCost):
        return price
    return {"up": np.asarray(price.up).tolist(), "down": np.asarray(price.down).tolist(), "norm": price.norm}


def price(owner: str, given: Any, decisions: Array) -> Prices | None:
    """Return a switching cost as it was given, or as settings hold it; None if there is none."""
    if given is None:
        return None
    try:
        every = given if varies(given) else [given]
        costs = [MoveCost(**one) if isinstance(one, dict) else one for one in every]
        return read_prices(owner, costs if varies(given) else costs[0], *decisions.shape)
    except (ParameterError, InputError, TypeError) as error:
        raise InputError(f"{owner}: the switching cost cannot be that of this run: {error}") from None


def check_moves(
    owner: str, decisions: Array, moves: Array, costs: Array | None, price: Prices | None
) -> None:
    """Refuse moves that are not the distances between decisions, and costs that are not those of the moves."""
    lengths = MoveCost(1.0, norm="l2").along(decisions)
    known = [("move", moves, lengths, "the distance from the decision before")]
    if costs is not None and price is not None:
        priced = costs_along(price, decisions, moves)
        known.append(("move_cost", costs, priced, f"what that move costs at {shown(price)}"))
    for name, values, expected, words in known:
        # Sums of squares are rounded in another order here, and squares of less than 1e-150 vanish.
        wrong = np.flatnonzero(~(np.abs(values - expected) <= 1e-9 * np.abs(expected) + 1e-150))
        if wrong.size:
            t = wrong[0]
            raise InputError(
                f"{owner}: {name} is {values[t]:.9g} in round {t}, and {words} is {expected[t]:.9g}; rows or columns "
                "are not those of one run."
            )


def check_played(
    owner: str, decisions: Array, losses: Array, learner: Learner | Committee | None, stream: LossStream | None
) -> None:
    """Refuse a learner of another dimension, and losses that are not those of the run."""
    rounds, dim = decisions.shape
    if learner is not None and not isinstance(learner, Committee):
        instance(owner, "learner", learner, Learner, "the one that was played, as it was before the run")
        if learner.domain.dim != dim:
            raise InputError(
                f"{owner}: the decisions have {dim} coordinates, the learner decides in {learner.domain!r}."
            )
    if stream is not None:
        instance(owner, "stream", stream, LossStream, "the one that was played")
        if (len(stream), stream.dim) != (rounds, dim):
            raise InputError(f"{owner}: the run has {rounds} rounds of {dim} coordinates, the stream is {stream!r}.")
        again = stream.policy_losses(decisions)
        size = np.abs(again) + np.abs(losses)
        wrong = np.flatnonzero(~(np.abs(again - losses) <= 1e-9 * size.max()))
        if wrong.size:
            t = wrong[0]
            raise InputError(
                f"{owner}: the loss of round {t} is {losses[t]:.9g}, and that of the stream {again[t]:.9g}; give the "
                "losses that were played."
            )
