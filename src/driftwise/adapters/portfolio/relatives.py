"""Price relatives: read, and told from prices and from returns, which look like them and mean something else."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from driftwise._frames.given import library_of
from driftwise._validate import Array, array
from driftwise.adapters.portfolio.names import Names, PerAsset, lined_up, read_table
from driftwise.drift import above_zero
from driftwise.errors import InputError

FAR = 5.0
"""Not more than half of the relatives of a table, or of a round, may be above this, or below one over it.

One asset may do whatever it likes, and so may all of them in some rounds of a table. But in no day, week or month does
more than half of a market rise fivefold or lose four fifths, and in no table of them is that usual.
"""

_LOOKED_AT: ContextVar[bool] = ContextVar("looked_at", default=False)


@contextmanager
def looked_at() -> Iterator[None]:
    """Let rounds pass as they are, since the table that they come from has been looked at as a whole."""
    token = _LOOKED_AT.set(True)
    try:
        yield
    finally:
        _LOOKED_AT.reset(token)


def read_relatives(owner: str, given: PerAsset) -> Array:
    """Return price relatives of many rounds, checked, and nobody else's."""
    return above_zero(owner, _likely(owner, read_table(owner, "relatives", given), library_of(given)))


def read_round(owner: str, given: PerAsset, dim: int, names: Names | None = None) -> Array:
    """Return the price relatives of one round, checked, nobody else's, and in the order of the names."""
    x = array(owner, "relatives", lined_up(owner, "relatives", given, names), (dim,), copy=True)
    return above_zero(owner, x if _LOOKED_AT.get() else _likely(owner, x))


def _likely(owner: str, x: Array, library: str = "") -> Array:
    """Return numbers that can be relatives; raise for what must be prices or returns.

    Examples
    --------
    >>> import numpy as np
    >>> _likely("backtest", np.array([[101.0, 17.0], [102.0, 16.5]]))
    Traceback (most recent call last):
    ...
    driftwise.errors.InputError: backtest: relatives are prices at the end of a round over prices at its beginning, so
    near 1, and of these 4 of 4 are above 5. If they are prices, give prices[1:] / prices[:-1].
    """
    if x.size < 2:
        return x
    high, low = int((x > FAR).sum()), int((x < 1.0 / FAR).sum())
    if 2 * max(high, low) <= x.size:
        return x
    ratio = {
        "pandas": "(prices / prices.shift(1)).iloc[1:]",
        "polars": "prices.select(pl.all() / pl.all().shift(1))[1:]",
    }.get(library, "prices[1:] / prices[:-1]")
    if high > low:
        found, remedy = f"{high} of {x.size} are above {FAR:g}", f"If they are prices, give {ratio}."
    else:
        found = f"{low} of {x.size} are below {1.0 / FAR:g}"
        remedy = f"If they are returns, give 1 + returns; if they are prices, {ratio}."
    raise InputError(
        f"{owner}: relatives are prices at the end of a round over prices at its beginning, so near 1, and of these "
        f"{found}. {remedy}"
    )
