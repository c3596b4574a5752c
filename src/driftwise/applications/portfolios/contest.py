"""Everyone on one universe of assets: ours, the rules of the field, and choices made in hindsight, at several costs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from driftwise._validate import Array
from driftwise.adapters.portfolio import (
    Backtest,
    BuyAndHold,
    ExponentiatedGradient,
    OnlineNewton,
    Portfolio,
    Rebalanced,
    Rule,
    account,
    backtest,
    best_constant,
)
from driftwise.applications.data import Dataset
from driftwise.domains import Simplex
from driftwise.experiments.contests.outcome import CAUTION, HINDSIGHT, OURS, RULE
from driftwise.learners import SelfTunedLearner
from driftwise.losses import LogWealthLoss
from driftwise.movecost import MoveCost
from driftwise.play import play

COSTS = (0.0, 0.001, 0.005)
"""Costs of trading one unit of wealth when none are given: nothing, a tenth and a half of a per cent."""

SELF_TUNED, ADVISED = "SelfTunedLearner", "SelfTunedLearner, told of equal shares"
UNAWARE = "SelfTunedLearner, blind to drift"
HOLD, UNIFORM, EG, NEWTON = "Buy and hold", "Equal shares, rebalanced", "EG, eta 0.05", "Online Newton step"
TUNED_EG, TUNED_NEWTON = "EG, tuned in hindsight", "Online Newton step, tuned in hindsight"
BEST_ASSET, BEST_CONSTANT = "Best asset in hindsight", "Best constant shares in hindsight"

ETAS = (0.01, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
DELTAS = (0.125, 0.25, 0.5, 1.0)
"""Settings that are tried in hindsight."""


@dataclass(frozen=True, eq=False)
class Entry:
    """Somebody's run at one cost of trading."""

    label: str
    kind: str
    run: Backtest
    setting: str = ""
    """What was picked in hindsight."""


@dataclass(frozen=True, eq=False)
class Universe:
    """Everyone on one universe: entries by cost of trading, in the order of final wealth, ours first."""

    data: Dataset
    rounds: int
    entries: dict[float, list[Entry]]

    def log_wealth(self, label: str, cost: float) -> float:
        """Return the logarithm of somebody's final wealth at a cost."""
        return next(one.run.log_wealth for one in self.entries[cost] if one.label == label)


def relatives_of(data: Dataset) -> Array:
    """Return price at the end of each day over price at its beginning."""
    return np.asarray(data.values[1:] / data.values[:-1])


def _unaware(x: Array, cost: float) -> Array:
    """Return the decisions of the learner if it is not told that its holdings drift."""
    dim = x.shape[1]
    learner = SelfTunedLearner(Simplex(dim), switching_cost=MoveCost(cost), start=np.full(dim, 1.0 / dim))
    return play(learner, LogWealthLoss(x)).decisions


def hold_universe(data: Dataset, costs: Sequence[float], progress: Callable[[str], None]) -> Universe:
    """Let everyone invest in a universe at every cost of trading."""
    x = relatives_of(data)
    dim = x.shape[1]

    def decided(what: str, rule: Rule) -> Array:
        progress(what)
        return backtest(rule, x).weights

    # The decisions of these are the same at every cost.
    rules = {
        HOLD: decided(HOLD, BuyAndHold()),
        UNIFORM: decided(UNIFORM, Rebalanced()),
        EG: decided(EG, ExponentiatedGradient()),
        NEWTON: decided(NEWTON, OnlineNewton()),
    }
    steps = {f"eta {eta:g}": decided(TUNED_EG, ExponentiatedGradient(eta)) for eta in ETAS}
    newtons = {f"delta {delta:g}": decided(TUNED_NEWTON, OnlineNewton(delta=delta)) for delta in DELTAS[1:]}
    tuned = {TUNED_EG: steps | {"eta 0.05": rules[EG]}, TUNED_NEWTON: newtons | {"delta 0.125": rules[NEWTON]}}
    best = int(np.log(x).sum(axis=0).argmax())
    progress(BEST_CONSTANT)
    constant = best_constant(x)
    fixed = {
        BEST_ASSET: (np.tile(np.eye(dim)[best], (len(x), 1)), data.columns[best]),
        BEST_CONSTANT: (np.tile(constant, (len(x), 1)), _in_words(constant, data.columns)),
    }
    entries = {}
    for cost in costs:
        progress(f"{SELF_TUNED} at a cost of {cost:g}")
        found = [
            Entry(ADVISED, OURS, backtest(Portfolio(dim, cost=cost, equal_shares=True), x, cost)),
            Entry(UNAWARE, CAUTION, account(_unaware(x, cost), x, cost)),
            *(Entry(label, RULE, account(rows, x, cost)) for label, rows in rules.items()),
            *(Entry(label, HINDSIGHT, account(rows, x, cost), which) for label, (rows, which) in fixed.items()),
        ]
        for label, grid in tuned.items():
            runs = {setting: account(rows, x, cost) for setting, rows in grid.items()}
            setting = max(runs, key=lambda name: runs[name].log_wealth)
            found.append(Entry(label, HINDSIGHT, runs[setting], setting))
        ranked = sorted(found, key=lambda one: -one.run.log_wealth)
        ours = Entry(SELF_TUNED, OURS, backtest(Portfolio(dim, cost=cost), x, cost))
        entries[cost] = [ours, *ranked]
    return Universe(data, len(x), entries)


def _in_words(shares: Array, names: Sequence[str]) -> str:
    """Return the shares that count, largest first."""
    order = [int(i) for i in np.argsort(-shares) if shares[i] >= 0.005]
    return ", ".join(f"{shares[i]:.0%} {names[i]}" for i in order)
