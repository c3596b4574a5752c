"""The problems that a file can hold, and which options go with which of them."""

from collections.abc import Mapping

from driftwise._validate import choice
from driftwise.errors import ParameterError
from driftwise.movecost import MoveCost, move_cost_for

REGRESSION, LEVEL, CAPACITY, FORECASTS = PROBLEMS = ("regression", "level", "capacity", "forecasts")
"""Weights of features, a level that follows a column, a capacity for a demand, weights of forecasts."""

TAKES: dict[str, tuple[str, ...]] = {
    "mine": (LEVEL, CAPACITY, FORECASTS),
    "forecasts": (LEVEL, CAPACITY, FORECASTS),
    "shortage": (CAPACITY,),
    "idle": (CAPACITY,),
    **dict.fromkeys(("low", "high", "start", "period", "whole"), (LEVEL, CAPACITY)),
    **dict.fromkeys(("features", "intercept", "standardise", "radius"), (REGRESSION,)),
}
"""Problems that an option goes with, for every option that does not go with all of them."""


def flag(name: str) -> str:
    """Return an option as it is typed.

    Examples
    --------
    >>> flag("shortage"), flag("forecasts")
    ('--shortage', '--forecast')
    """
    return f"--{name.removesuffix('s') if name in ('forecasts', 'features') else name}"


def check_options(problem: str, given: Mapping[str, object]) -> None:
    """Raise an error that says what to do if an option was given that does not go with the problem."""
    choice("compare", "problem", problem, PROBLEMS)
    for name, value in given.items():
        fitting = TAKES[name]
        if value is not None and value is not False and problem not in fitting:
            others = " or ".join(fitting)
            raise ParameterError(
                f"compare: {flag(name)} goes with the problem {others}, and this one is {problem}; choose another with "
                f"--problem {fitting[0]}, or leave {flag(name)} out."
            )


def one_price(price: "float | MoveCost") -> float:
    """Return the price of moving the weights of a regression, which is one number."""
    cost = move_cost_for("compare", price)
    if cost.plain is None:
        raise ParameterError(
            "compare: prices up and down go with the problems level, capacity and forecasts; a regression takes one "
            "--switching-cost."
        )
    return cost.plain
