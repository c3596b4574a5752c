"""Everything public in `driftwise.regret`: arguments are documented, and unknown ones are refused."""

import inspect
import re
from collections.abc import Callable
from typing import Any

import pytest

from driftwise import regret
from driftwise.errors import ArgumentError

FUNCTIONS = [
    function
    for module, names in (
        (regret, regret.__all__),
        (regret.bounds, vars(regret.bounds)),
        (regret.adversaries, vars(regret.adversaries)),
        (regret.plots, vars(regret.plots)),
    )
    for name in names
    if inspect.isfunction(function := getattr(module, name))
    and not name.startswith("_")
    and function.__module__.startswith(("driftwise.regret", "driftwise.optimum"))
]
PUBLIC = [function for function in dict.fromkeys(FUNCTIONS) if hasattr(function, "__wrapped__")]


def test_all_of_them_were_found() -> None:
    names = {function.__name__ for function in PUBLIC}
    assert {"hindsight_optimum", "certificate", "scream", "ogd_static", "moving_blocks", "costs", "decompose"} <= names


@pytest.mark.parametrize("function", PUBLIC, ids=lambda function: function.__name__)
def test_an_unknown_keyword_is_refused(function: Callable[..., Any]) -> None:
    given = dict.fromkeys(inspect.signature(function).parameters)
    with pytest.raises(ArgumentError, match="no_such_argument"):
        function(**given, no_such_argument=1)


@pytest.mark.parametrize("function", PUBLIC, ids=lambda function: function.__name__)
def test_every_argument_is_documented(function: Callable[..., Any]) -> None:
    text = inspect.getdoc(function)
    assert text is not None
    borrowed = re.search(r"parameters as in `(\w+)`", text)  # the one function that points to another
    assert borrowed is None or getattr(regret, borrowed[1])
    headings = " ".join(re.findall(r"^[\w, ]+(?= : |$)", text, re.MULTILINE))
    missing = [name for name in inspect.signature(function).parameters if not re.search(rf"\b{name}\b", headings)]
    assert borrowed or missing == []
