"""Forecasts and rules of the user's: read, checked and put into the domain."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from driftwise._validate import Array, array, loose
from driftwise.domains import Domain
from driftwise.errors import InputError

Proposals = ArrayLike | Mapping[str, ArrayLike | None] | None

UNNAMED = "proposal"
"""Name of a proposal that was given without one."""


def read_proposals(domain: Domain, given: Proposals) -> dict[str, Array]:
    """Return proposals by name, each the nearest point of the domain; those that are missing are left out."""
    owner = "SelfTunedLearner.act"
    named = given if isinstance(given, Mapping) else {UNNAMED: given}
    found = {}
    for name, value in named.items():
        if not isinstance(name, str) or not name:
            raise InputError(f"{owner}: the names of proposals must be words, got {name!r}.")
        if value is not None:
            what = "proposal" if named is not given else f"proposal {name!r}"
            if domain.dim == 1 and isinstance(value, int | float) and not isinstance(value, bool):
                value = [value]  # a level may be a plain number
            if np.isscalar(value) or isinstance(value, list | np.ndarray):
                _refuse_missing(owner, what, value)
            found[name] = domain.project(array(owner, what, value, (domain.dim,), copy=True))
    return found


def _refuse_missing(owner: str, what: str, value: Any) -> None:
    """Say what to give instead of NaN, which is how tables say that something is missing."""
    try:
        missing = bool(np.isnan(np.asarray(value, float)).any())
    except (TypeError, ValueError):  # it is no number at all: that is said elsewhere
        return
    if missing:
        raise InputError(
            f"{owner}: {what} must be finite, got NaN; give None in a round in which there is no proposal."
        )


def read_table(owner: str, domain: Domain, given: Any, rounds: int) -> dict[str, Array]:
    """Return the proposals of every round by name, (T, d) each; a row of NaN is one that is missing."""
    named = given if isinstance(given, Mapping) else {UNNAMED: given}
    found = {}
    for name, values in named.items():
        if not isinstance(name, str) or not name:
            raise InputError(f"{owner}: the names of proposals must be words, got {name!r}.")
        what = f"proposals {name!r}"
        rows = loose(owner, what, values)
        if rows.dtype.kind not in "fiu":
            array(owner, what, rows, (rounds, domain.dim))
        rows = rows[:, None] if rows.ndim == 1 and domain.dim == 1 else rows
        missing = np.isnan(rows).all(axis=1) if rows.ndim == 2 else np.zeros(len(np.atleast_1d(rows)), bool)
        filled = rows if rows.ndim != 2 else np.where(missing[:, None], 0.0, rows)
        checked = array(owner, what, filled, (rounds, domain.dim), copy=True)
        found[name] = np.where(missing[:, None], np.nan, domain.project(checked))
    return found
