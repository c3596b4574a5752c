"""Portfolios: wealth spread over assets, whose shares drift with prices, and where every trade costs something.

A cautionary example above all: on daily prices doing nothing is hard to beat, and most rules trade their gains away.
"""

from driftwise.adapters.portfolio.accounts import account, backtest
from driftwise.adapters.portfolio.front import Portfolio
from driftwise.adapters.portfolio.newton import OnlineNewton
from driftwise.adapters.portfolio.outcome import Backtest
from driftwise.adapters.portfolio.rule import Rule
from driftwise.adapters.portfolio.rules import BuyAndHold, ExponentiatedGradient, Rebalanced, best_constant
from driftwise.adapters.portfolio.trades import rebalance

__all__ = [
    "Backtest",
    "BuyAndHold",
    "ExponentiatedGradient",
    "OnlineNewton",
    "Portfolio",
    "Rebalanced",
    "Rule",
    "account",
    "backtest",
    "best_constant",
    "rebalance",
]
