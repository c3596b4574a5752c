"""Portfolios, and doing nothing
=============================

Shares of wealth drift with prices, trades cost something, and nobody knows what will rise.

Ten stocks are made up: a market that all follow, drifts that change every two years, and noise. Everybody begins with
the same share of each. `Portfolio` is a `SelfTunedLearner` that is told what a trade costs and how its holdings drift.
You see that rules that trade every day are ahead while that is free or cheap, and behind at half a per cent; doing
nothing costs nothing at any price, and the learner stays close to it. Nothing of this is evidence about real prices.
"""

import numpy as np
from matplotlib import pyplot as plt

from driftwise.adapters.portfolio import (
    Backtest,
    BuyAndHold,
    ExponentiatedGradient,
    OnlineNewton,
    Portfolio,
    Rebalanced,
    Rule,
    backtest,
)
from driftwise.applications.data import load

prices = load("synthetic-stocks").values
relatives = prices[1:] / prices[:-1]


def players(cost: float) -> dict[str, Rule]:
    """Return everybody, by name."""
    return {
        "SelfTunedLearner": Portfolio(10, cost=cost),
        "buy and hold": BuyAndHold(),
        "equal shares, every day": Rebalanced(),
        "exponentiated gradient": ExponentiatedGradient(),
        "online Newton step": OnlineNewton(),
    }


print("log-wealth after ten years, at a cost of   0 %   0.1 %   0.5 %")
runs: dict[str, list[Backtest]] = {}
for cost in (0.0, 0.001, 0.005):
    for name, rule in players(cost).items():
        runs.setdefault(name, []).append(backtest(rule, relatives, cost))
ax = plt.subplots(figsize=(9, 4), layout="constrained")[1]
still = runs["buy and hold"][-1]
for name, (free, cheap, dear) in runs.items():
    print(f"{name:38} {free.log_wealth:8.3f}{cheap.log_wealth:8.3f}{dear.log_wealth:8.3f}")
    ax.plot(np.cumsum(dear.growth - still.growth), label=name)
ax.set(xlabel="day", ylabel="log-wealth above buy and hold, at a cost of 0.5 %")
ax.legend()
plt.show()
