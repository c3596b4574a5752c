"""Ratios of costs on the same seed: seeds differ by as much as some margins, so means alone would prove little."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from driftwise._validate import Array
from driftwise.experiments.findings.finding import Claim, Table


class Ratio(NamedTuple):
    """One cost over another, and the range that a claim says it lies in."""

    top: str
    bottom: str
    low: float = 0.0
    high: float = float("inf")

    def __str__(self) -> str:
        return f"{self.top} / {self.bottom}"

    def of(self, costs: Mapping[str, ArrayLike]) -> Array:
        """Return the ratio for every seed, from the costs of every contender."""
        return np.asarray(np.divide(costs[self.top], costs[self.bottom]))


def paired(text: str, ratios: Sequence[Ratio], costs: Mapping[str, ArrayLike], *, paper: bool = False) -> Claim:
    """Check on every seed by itself that all ratios lie in their ranges; the claim holds if it does on all."""
    values = [ratio.of(costs) for ratio in ratios]
    inside = np.all([(r.low < v) & (v < r.high) for r, v in zip(ratios, values, strict=True)], axis=0)
    ranges = "; ".join(f"{ratio} {_range(v)}" for ratio, v in zip(ratios, values, strict=True))
    seeds = "seeds" if inside.size > 1 else "seed"
    return Claim(text, bool(inside.all()), f"on {inside.sum()} of {inside.size} {seeds}; {ranges}", paper)


def ratio_table(title: str, seeds: Sequence[int], columns: Mapping[str, Array]) -> Table:
    """Show ratios seed by seed, and their means."""
    rows = [[f"{seed}", *(f"{values[k]:.4f}" for values in columns.values())] for k, seed in enumerate(seeds)]
    return Table(title, ["seed", *columns], [*rows, ["mean", *(f"{values.mean():.4f}" for values in columns.values())]])


def _range(values: Array) -> str:
    low, middle, high = map(_shown, (values.min(), values.mean(), values.max()))
    return low if low == high else f"{low} to {high}, mean {middle}"


def _shown(ratio: float) -> str:
    """Return a ratio with as many digits as it takes to see on which side of 1 it is."""
    return next((text for digits in (3, 4, 5) if float(text := f"{ratio:.{digits}f}") != 1.0), "1.000")
