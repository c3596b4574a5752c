"""What a rule for portfolios is: shares of wealth before a round, prices after it."""

from abc import abstractmethod

from driftwise._settings import Fixed
from driftwise._validate import Array
from driftwise.adapters.portfolio.names import Names, PerAsset
from driftwise.errors import OrderError


class Rule(Fixed):
    """A way to invest: shares of wealth before each round, and what the prices did, after it.

    One of your own is a subclass with these two methods. If it counts on what trades cost, let its attribute `cost`
    say how much: `backtest` then refuses any other cost.

    Examples
    --------
    All in the asset that did best in the last round:

    >>> import numpy as np
    >>> from driftwise.adapters.portfolio import Rule, backtest
    >>> class Chase(Rule):
    ...     best = 0
    ...
    ...     def act(self, holdings):
    ...         return np.eye(len(holdings))[self.best]
    ...
    ...     def observe(self, relatives):
    ...         self.best = int(np.argmax(relatives))
    >>> round(backtest(Chase(), [[2.0, 1.0], [0.5, 1.0]], cost=0.01).log_wealth, 3)
    -0.01
    """

    _names: Names | None = None
    """What its assets are called, in its own order; None where it takes them by position."""

    @abstractmethod
    def act(self, holdings: Array) -> PerAsset:
        """Return the shares of wealth to go to.

        Parameters
        ----------
        holdings : array of shape (d,)
            Shares of wealth as they are, after prices have moved them.
        """

    @abstractmethod
    def observe(self, relatives: Array) -> None:
        """Take in a round.

        Parameters
        ----------
        relatives : array of shape (d,)
            Price at its end over price at its beginning, for every asset.
        """


def too_early(rule: Rule) -> OrderError:
    """Return the error to raise where prices come before there are shares."""
    return OrderError(f"{type(rule).__name__}: observe was called before act; call act first, once a round.")
