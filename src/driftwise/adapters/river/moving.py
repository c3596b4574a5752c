"""What all models for river share: what a move costs, what moves have come to, and targets that are numbers."""

import math
from typing import Any, Self

from river import base

from driftwise._validate import describe
from driftwise.adapters._linear import LARGEST, Scorer, Settings
from driftwise.errors import InputError, ParameterError


class Moving(base.Base):
    """What all three share: what a move costs, and what moves have come to."""

    @property
    def _settings(self) -> Settings:
        raise NotImplementedError

    @property
    def switching_cost(self) -> float:
        """Price of moving the coefficients by one unit of Euclidean distance; `mutate` may change it."""
        return self._settings.price

    @switching_cost.setter
    def switching_cost(self, price: float) -> None:
        self._settings.reprice(price)

    @property
    def _mutable_attributes(self) -> set[str]:
        return {"switching_cost"}

    @property
    def _scorers(self) -> list[Scorer]:
        raise NotImplementedError

    @property
    def moved(self) -> float:
        """How far the coefficients have moved: the sum of the Euclidean lengths of all moves."""
        return math.fsum(one.moved for one in self._scorers)

    @property
    def moving_cost(self) -> float:
        """What all moves have cost: each length times the price at the time."""
        return math.fsum(one.paid for one in self._scorers)

    def mutate(self, new_attrs: dict[str, Any]) -> None:
        """Change the price of a move, from the next round on.

        Parameters
        ----------
        new_attrs : dict
            ``{"switching_cost": price}``; nothing else can be changed.
        """
        super().mutate(new_attrs)

    def clone(self, new_params: dict[str, Any] | None = None, include_attributes: bool = False) -> Self:
        """Return one that has not learnt anything.

        Parameters
        ----------
        new_params : dict, optional
            Parameters to be changed.
        include_attributes : bool, default False
            Whether to copy what was learnt after all; of the parameters, only `switching_cost` may be changed then.
        """
        changed = dict(new_params or {})
        if include_attributes and not changed.keys() <= self._mutable_attributes:
            raise ParameterError(
                f"{type(self).__name__}: what was learnt cannot be kept with another {sorted(changed)[0]}; clone "
                "without include_attributes."
            )
        copied: Self = super().clone(changed, include_attributes)
        if include_attributes:
            copied.switching_cost = changed.get("switching_cost", self.switching_cost)
        return copied


def target_of(owner: str, y: Any) -> float:
    """Return a target, checked."""
    try:
        if -LARGEST <= y <= LARGEST:
            return float(y)
    except (TypeError, ValueError):
        pass
    raise InputError(
        f"{owner}: y must be a finite number of at most {LARGEST:g} in size, got {describe(y)}; nothing was learnt."
    )
