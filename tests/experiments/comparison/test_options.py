"""Which options go with which problem."""

import inspect

import pytest

from driftwise.errors import ParameterError
from driftwise.experiments.comparison import compare
from driftwise.experiments.comparison.decisions import Options as Decisions
from driftwise.experiments.comparison.options import PROBLEMS, TAKES, check_options, one_price
from driftwise.experiments.comparison.regression import Options as Regression
from driftwise.movecost import MoveCost


def test_every_option_says_which_problems_it_goes_with() -> None:
    named = {*inspect.signature(Decisions).parameters, *inspect.signature(Regression).parameters}
    assert set(TAKES) == named <= set(inspect.signature(compare).parameters)
    assert all(set(problems) <= set(PROBLEMS) for problems in TAKES.values())


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("name", TAKES)
def test_an_option_of_another_problem_is_refused_with_a_remedy(problem: str, name: str) -> None:
    check_options(problem, dict.fromkeys(TAKES))
    check_options(problem, {name: False})
    if problem in TAKES[name]:
        check_options(problem, {name: "x"})
        return
    with pytest.raises(ParameterError, match=rf"this one is {problem}; choose another with --problem {TAKES[name][0]}"):
        check_options(problem, {name: "x"})


def test_what_is_said() -> None:
    with pytest.raises(ParameterError) as caught:
        check_options("regression", {"shortage": 5.0})
    assert str(caught.value) == (
        "compare: --shortage goes with the problem capacity, and this one is regression; choose another with --problem "
        "capacity, or leave --shortage out."
    )
    with pytest.raises(ParameterError, match=r"problem must be one of 'regression', 'level', .*, got 'levels'"):
        check_options("levels", {})


def test_a_regression_has_one_price() -> None:
    assert one_price(2.0) == one_price(MoveCost(2.0, norm="l2")) == 2.0
    with pytest.raises(ParameterError, match="a regression takes one --switching-cost"):
        one_price(MoveCost(up=2.0, down=1.0))
    with pytest.raises(ParameterError, match="switching_cost must be a number that is at least 0"):
        one_price(-1.0)
