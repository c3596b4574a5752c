"""The record of a run of trades."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from driftwise._frames import Part, Record
from driftwise._html import Card, Curve, Picture, counted, heaviest
from driftwise._validate import Array
from driftwise.adapters.portfolio.names import Names
from driftwise.adapters.portfolio.rule import Rule


@dataclass(frozen=True, repr=False, eq=False)
class Backtest(Record):
    """What became of one unit of wealth; made by `backtest`.

    `to_pandas` and `to_polars` make a table of it, one row a round; its `index` has the dates of a pandas frame.

    Attributes
    ----------
    growth : array of shape (T,)
        Logarithm of what wealth was multiplied by in each round, trade and prices together.
    traded : array of shape (T,)
        Part of the wealth that was bought or sold at the beginning of each round.
    paid : array of shape (T,)
        Logarithm of what trading left of the wealth, with its sign reversed.
    weights : array of shape (T, d)
        Shares of wealth in each round, after the trade.
    rule : Rule or None
        The copy of the rule that has played, as it is at the end; None where decisions were given.
    assets : tuple of str
        What the columns of the weights are called, in the order of the relatives; numbers where nothing says.

    Examples
    --------
    >>> from driftwise.adapters.portfolio import BuyAndHold, backtest
    >>> run = backtest(BuyAndHold(), {"gold": [2.0, 2.0], "cash": [1.0, 1.0]})
    >>> run
    Backtest(BuyAndHold, rounds=2, assets=2, log_wealth=0.916291)
    >>> round(run.wealth, 4), run.turnover
    (2.5, 0.0)
    >>> run.to_pandas()
       round    growth  traded  paid    w_gold    w_cash
    0      0  0.405465     0.0   0.0  0.500000  0.500000
    1      1  0.510826     0.0   0.0  0.666667  0.333333
    """

    growth: Array
    traded: Array
    paid: Array
    weights: Array
    rule: Rule | None = None
    assets: Names = ()

    _layout: ClassVar = (Part("growth"), Part("traded"), Part("paid"), Part("w", 1))
    _outside: ClassVar = ()

    def __post_init__(self) -> None:
        """Call assets by numbers where nothing says what they are called."""
        if not self.assets:
            object.__setattr__(self, "assets", tuple(str(k) for k in range(self.weights.shape[-1])))

    @property
    def log_wealth(self) -> float:
        """Logarithm of the final wealth."""
        return float(self.growth.sum())

    @property
    def wealth(self) -> float:
        """What one unit of wealth has become."""
        return float(np.exp(self.log_wealth))

    @property
    def turnover(self) -> float:
        """Sum of the parts of wealth that were bought or sold."""
        return float(self.traded.sum())

    def _parts(self) -> "Mapping[str, Array | None]":
        shares = {f"w_{name}": column for name, column in zip(self.assets, self.weights.T, strict=True)}
        return {"growth": self.growth, "traded": self.traded, "paid": self.paid, **shares}

    def _settings(self) -> Mapping[str, Any]:
        return {"rule": None if self.rule is None else type(self.rule).__name__, "assets": list(self.assets)}

    @property
    def _who(self) -> str:
        return "" if self.rule is None else f"{type(self.rule).__name__}, "

    def _card(self) -> Card:
        rows = [
            ("rounds", f"{counted(len(self.growth), 'round')}{self._span}"),
            ("log-wealth", f"{self.log_wealth:.6g}"),
            ("turnover", f"{self.turnover:.6g}"),
            ("paid for trades", f"{self.paid.sum():.6g} of log-wealth"),
        ]
        title = f"Backtest of {type(self.rule).__name__}" if self.rule is not None else "Backtest"
        grown = Picture("log-wealth", [Curve("log-wealth", np.cumsum(self.growth))])
        return Card(title, rows, "shares in the last round", heaviest(self.assets, self.weights[-1]), [grown])

    def __repr__(self) -> str:
        rounds, dim = self.weights.shape
        return f"Backtest({self._who}rounds={rounds}, assets={dim}, log_wealth={self.log_wealth:.6g})"
