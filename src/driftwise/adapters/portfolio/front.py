"""A portfolio that a self-tuned learner looks after: prices in, shares out."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from driftwise._html import Card, Shown, heaviest
from driftwise._validate import Array, array, read_only
from driftwise.adapters.portfolio.names import PerAsset, lined_up, read_assets
from driftwise.adapters.portfolio.relatives import read_round
from driftwise.adapters.portfolio.rule import Rule, too_early
from driftwise.adapters.portfolio.trades import read_cost, settle, shares
from driftwise.domains import Simplex
from driftwise.drift import Growth
from driftwise.errors import InputError, ParameterError
from driftwise.learners import SelfTunedLearner
from driftwise.losses import LogWealthLoss
from driftwise.movecost import MoveCost

UNIFORM = "the same of each"

NEAR = 1e-9
"""Holdings that differ by less are the same."""


class Portfolio(Rule, Shown):
    """Shares of wealth that drift with prices, and a `SelfTunedLearner` that decides when a trade is worth its cost.

    It is a `Rule` for `backtest` too. Nothing is tuned. Nine tenths of its trust are in doing nothing, so its charges,
    where trades count linearly, end at most ln(1 / 0.9) behind buy and hold in log-wealth, plus what the overhead of
    its learner grows by; it learns from there.

    Parameters
    ----------
    assets : int or sequence of str
        How many there are, or their names, as in a list or in ``prices.columns``. A portfolio with names takes
        relatives and shares with names, of a dict, series or frame, by name, and refuses other names; plain arrays go
        by position. One that is made of a number takes whatever names there are by position.
    cost : float, default 0.0
        Price of buying or selling one unit of wealth: 0.001 for a tenth of a per cent.
    start : array of shape (d,), optional
        Shares of wealth before the first round; the same of each when left out.
    equal_shares : bool, default False
        Whether the learner is also told to consider going back to the same share of each asset.

    Attributes
    ----------
    assets : tuple of str
        Names of the assets.
    learner : SelfTunedLearner
        The learner inside; its `explain` says who is in charge.
    holdings : array of shape (d,)
        Shares of wealth as they are.
    log_wealth : float
        Logarithm of what one unit of wealth has become, costs paid.
    turnover : float
        Sum of the parts of wealth that were bought or sold.

    See Also
    --------
    driftwise.LogWealthLoss : what the learner is charged.
    driftwise.Growth : how its holdings drift.

    Examples
    --------
    >>> from driftwise.adapters.portfolio import Portfolio
    >>> portfolio = Portfolio(["bonds", "stocks"], cost=0.001)
    >>> for relatives in [[1.001, 1.02], [1.0, 0.99], [1.001, 1.03]]:
    ...     weights = portfolio.act()
    ...     portfolio.observe(relatives)
    >>> round(portfolio.log_wealth, 3), round(portfolio.turnover, 3)
    (0.02, 0.101)
    """

    def __init__(
        self,
        assets: int | Iterable[str],
        *,
        cost: float = 0.0,
        start: PerAsset | None = None,
        equal_shares: bool = False,
    ) -> None:
        self.assets, named = read_assets("Portfolio", assets)
        self._names = self.assets if named else None
        dim = len(self.assets)
        if dim < 2:
            raise ParameterError(f"Portfolio: there must be at least two assets to choose from, got {dim}.")
        self.cost, self.equal_shares = read_cost("Portfolio", cost), bool(equal_shares)
        begin = np.full(dim, 1.0 / dim) if start is None else shares("Portfolio", "start", start, dim, self._names)
        self.learner = SelfTunedLearner(Simplex(dim), switching_cost=MoveCost(self.cost), start=begin)
        self.holdings, self.log_wealth, self.turnover = read_only(begin.copy()), 0.0, 0.0

    def act(self, holdings: PerAsset | None = None) -> Array:
        """Return the shares of wealth to go to, read-only, and the same until `observe`.

        Parameters
        ----------
        holdings : array of shape (d,), optional
            What `backtest` takes to be held; an error if it is not what is held here.
        """
        if holdings is not None:
            self._check_held(holdings)
        if self.learner._acted is not None or not self.equal_shares:
            return self.learner.act()
        return self.learner.act(proposal={UNIFORM: np.full(len(self.assets), 1.0 / len(self.assets))})

    def _check_held(self, holdings: PerAsset) -> None:
        read = lined_up("Portfolio.act", "holdings", holdings, self._names)
        given = array("Portfolio.act", "holdings", read, (len(self.assets),))
        if not np.allclose(given, self.holdings, rtol=NEAR, atol=NEAR):
            told, own = (np.array2string(one, threshold=8, precision=4) for one in (given, self.holdings))
            raise InputError(
                f"Portfolio.act: holdings must be its own, {own}, got {told}; build it with start= what you begin "
                "with, and give backtest the same start."
            )

    def observe(self, relatives: PerAsset) -> None:
        """Take in what prices did: the trade is paid for, and the holdings drift.

        Parameters
        ----------
        relatives : array of shape (d,)
            Price at the end of the round over price at its beginning, for every asset, above zero. A dict, a pandas
            series or a frame of one row goes by name where the portfolio has names.
        """
        x = read_round("Portfolio.observe", relatives, len(self.assets), self._names)
        target = self.learner._acted
        if target is None:
            raise too_early(self)
        growth, loss = Growth(x), LogWealthLoss(x[None])
        left, traded = settle(self.holdings[None], target[None], self.cost)
        grown = float(left[0]) * float(target @ x)
        self.learner.observe(loss[0], held=growth)
        state = self.__dict__
        state["holdings"] = read_only(growth(target))
        state["log_wealth"] += float(np.log(grown))
        state["turnover"] += float(traded[0])

    def __setstate__(self, saved: dict[str, Any]) -> None:
        """Go on after copying, where NumPy forgets which arrays are read-only."""
        self.__dict__.update(saved)
        read_only(self.holdings)

    def _card(self) -> Card:
        state = "waits for prices" if self.learner._acted is not None else "ready to act"
        rows = [
            ("assets", f"{len(self.assets)}"),
            ("cost", f"{self.cost:g}"),
            ("round", f"{self.learner.round}, {state}"),
            ("log-wealth", f"{self.log_wealth:.6g}"),
            ("turnover", f"{self.turnover:.6g}"),
        ]
        return Card("Portfolio", rows, "holdings, the largest first", heaviest(self.assets, self.holdings))

    def __repr__(self) -> str:
        return f"Portfolio({len(self.assets)} assets, cost={self.cost:g}, round={self.learner.round})"
