"""The best fixed capacity on a box: a quantile of the demands, coordinate by coordinate."""

import numpy as np

from driftwise._validate import Array
from driftwise.losses.base import DataLoss


def best_capacity(losses: DataLoss, low: Array, high: Array, rounds: range | None = None) -> Array:
    """Return the capacity between two limits with the least loss over all rounds, or over some.

    One more unit costs `price` in every round and saves `shortage` where it is missing. So it pays while more than
    ``rounds * price / shortage`` demands are above, and the best capacity is the demand that many from the top.
    """
    demands = losses.data.features if rounds is None else losses.data.features[rounds.start : rounds.stop]
    count = len(demands)
    price, shortage = losses.data.prices
    with np.errstate(divide="ignore", invalid="ignore"):
        allowed = np.nan_to_num(np.floor(count * price / shortage), nan=count, posinf=count)
    above = np.minimum(allowed, count).astype(np.int64)
    ranked = np.vstack([-np.sort(-demands, axis=0), low])  # with more than all of them above, the least will do
    return np.asarray(np.clip(ranked[above, np.arange(losses.dim)], low, high))
