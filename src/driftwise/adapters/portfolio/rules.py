"""The rules of the field: hold, rebalance, exponentiated gradient; and the best constant portfolio, in hindsight."""

import numpy as np

from driftwise._validate import Array, checked, number, read_only
from driftwise.adapters.portfolio.names import PerAsset, agreed
from driftwise.adapters.portfolio.relatives import read_relatives, read_round
from driftwise.adapters.portfolio.rule import Rule, too_early
from driftwise.adapters.portfolio.trades import shares
from driftwise.domains import Simplex
from driftwise.losses import LogWealthLoss
from driftwise.optimum import best_fixed


class BuyAndHold(Rule):
    """Buy once, and do nothing.

    The rule to beat: it never pays for a trade after the first, and its winners grow by themselves.

    Parameters
    ----------
    weights : array of shape (d,), optional
        Shares to begin with; what is held already when left out. By name where they and the relatives have names.

    Examples
    --------
    >>> from driftwise.adapters.portfolio import BuyAndHold, backtest
    >>> backtest(BuyAndHold(), [[3.0, 1.0], [1.0, 1.0]]).weights[1]
    array([0.75, 0.25])
    """

    def __init__(self, weights: PerAsset | None = None) -> None:
        self.weights = None if weights is None else read_only(shares("BuyAndHold", "weights", weights))
        self._names = agreed("BuyAndHold", "weights", weights)
        self._acted = self._bought = False

    def act(self, holdings: Array) -> Array:
        """Return the holdings as they are, or at first the shares to begin with.

        Parameters
        ----------
        holdings : array of shape (d,)
            Shares of wealth as they are.
        """
        self.__dict__["_acted"] = True
        return holdings if self.weights is None or self._bought else self.weights.copy()

    def observe(self, relatives: Array) -> None:
        """Note that the shares have been bought.

        Parameters
        ----------
        relatives : array of shape (d,)
            Price at the end of the round over price at its beginning, for every asset.
        """
        if not self._acted:
            raise too_early(self)
        self.__dict__["_bought"] = True


class Rebalanced(Rule):
    """Go back to the same shares in every round.

    It sells what rose and buys what fell. Without costs it gains where prices wobble, and the best of its kind in
    hindsight is what universal portfolios are held against [1]_.

    Parameters
    ----------
    weights : array of shape (d,), optional
        The shares; the same of each asset when left out. By name where they and the relatives have names.

    References
    ----------
    .. [1] T. M. Cover, "Universal portfolios", Mathematical Finance 1, 1991.

    Examples
    --------
    >>> from driftwise.adapters.portfolio import Rebalanced, backtest
    >>> round(backtest(Rebalanced(), [[2.0, 1.0], [0.5, 1.0]]).wealth, 4)
    1.125
    """

    def __init__(self, weights: PerAsset | None = None) -> None:
        self.weights = None if weights is None else read_only(shares("Rebalanced", "weights", weights))
        self._names = agreed("Rebalanced", "weights", weights)

    def act(self, holdings: Array) -> Array:
        """Return the shares.

        Parameters
        ----------
        holdings : array of shape (d,)
            Shares of wealth as they are.
        """
        return np.full(len(holdings), 1.0 / len(holdings)) if self.weights is None else self.weights.copy()

    def observe(self, relatives: Array) -> None:
        """Do nothing.

        Parameters
        ----------
        relatives : array of shape (d,)
            Price at the end of the round over price at its beginning, for every asset.
        """


class ExponentiatedGradient(Rule):
    """``w_i <- w_i exp(eta x_i / <w, x>)``, and the shares are scaled to one in all.

    Close to daily rebalancing for the small steps that are usual: it leans a little towards what has risen.

    Parameters
    ----------
    eta : float, default 0.05
        Step size; the default is that of the paper's experiments.

    References
    ----------
    .. [1] Helmbold, Schapire, Singer, Warmuth, "On-line portfolio selection using multiplicative updates",
       Mathematical Finance 8, 1998.

    Examples
    --------
    >>> from driftwise.adapters.portfolio import ExponentiatedGradient, backtest
    >>> backtest(ExponentiatedGradient(0.5), [[2.0, 1.0], [1.0, 1.0]]).weights[1].round(4)
    array([0.5826, 0.4174])
    """

    def __init__(self, eta: float = 0.05) -> None:
        self.eta = number("ExponentiatedGradient", "eta", eta, low=0.0)
        self._powers: Array | None = None
        """Logarithms of the shares, which do not underflow, less that of the largest."""

    def act(self, holdings: Array) -> Array:
        """Return the shares; the same of each asset at first.

        Parameters
        ----------
        holdings : array of shape (d,)
            Shares of wealth as they are.
        """
        if self._powers is None:
            self.__dict__["_powers"] = np.zeros(len(holdings))
        return _shares_of(self.__dict__["_powers"])

    def observe(self, relatives: Array) -> None:
        """Multiply every share by the exponential of its slope.

        Parameters
        ----------
        relatives : array of shape (d,)
            Price at the end of the round over price at its beginning, for every asset.
        """
        if self._powers is None:
            raise too_early(self)
        x = read_round("ExponentiatedGradient.observe", relatives, self._powers.size)
        powers = self._powers + self.eta * x / float(_shares_of(self._powers) @ x)
        self.__dict__["_powers"] = powers - powers.max()


def _shares_of(powers: Array) -> Array:
    """Return the shares that have these logarithms, but for a common addend."""
    shares = np.exp(powers)
    return np.asarray(shares / shares.sum())


@checked
def best_constant(relatives: PerAsset) -> Array:
    """Return the shares that would have been the best to rebalance to in every round, costs aside, in hindsight.

    Parameters
    ----------
    relatives : array of shape (T, d)
        Price at the end of a round over price at its beginning, for every asset, above zero.

    Examples
    --------
    >>> from driftwise.adapters.portfolio import best_constant
    >>> best_constant([[2.0, 1.0], [0.5, 1.0]]).round(6)
    array([0.5, 0.5])
    """
    losses = LogWealthLoss(read_relatives("best_constant", relatives))
    return best_fixed(losses, Simplex(losses.dim))
